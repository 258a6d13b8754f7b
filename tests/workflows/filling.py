"""Tasks that need room, or take it away."""

import os
import subprocess

from flytekit import task, workflow


@task
def large(megabytes: int) -> str:
    return "x" * (megabytes * 1_000_000)


@task
def size(text: str) -> int:
    return len(text)


@task
def seal(store: str) -> str:
    """Makes the store read-only for whoever opens a file of it from now on, once."""
    if os.path.exists(f"{store}.seal"):
        os.remove(f"{store}.seal")
        subprocess.run(["mount", "--bind", store, store], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", store], check=True)
    return store


@workflow
def filling(megabytes: int) -> int:
    return size(text=large(megabytes=megabytes))


@workflow
def sealing(store: str) -> str:
    return seal(store=store)
