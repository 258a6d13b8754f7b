"""A file inside a package: its modules are imported from the folder above the package."""

from flytekit import workflow

from flows.tasks import shout


@workflow
def shouted(text: str) -> str:
    return shout(text=text)
