from flytekit import task

from .texts import SUFFIX


@task
def shout(text: str) -> str:
    return text + SUFFIX
