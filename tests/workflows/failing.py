"""Tasks that fail in every way, alone and beside others."""

import atexit
import os
import pathlib
import signal
import sys
import time
from datetime import timedelta
from typing import Optional

from flyteidl.core.errors_pb2 import ContainerError, ErrorDocument
from flytekit import WorkflowFailurePolicy, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException


@task
def one(n: int) -> int:
    return n + 1


@task
def raises(n: int) -> int:
    """Never comes to return."""
    raise ValueError(f"boom {n} ✗")


@task(retries=2)
def raises_with_retries(path: str) -> int:
    """Never comes to return."""
    tried(path)
    raise ValueError("final at once")


@task(retries=2)
def recoverable(path: str, times: int) -> int:
    if tried(path) <= times:
        raise FlyteRecoverableException(f"try {os.path.getsize(path)}")
    return 9


@task(retries=1)
def exits(path: str, code: int) -> int:
    """Never comes to return."""
    tried(path)
    sys.exit(code)


@task
def vanishes(code: int) -> int:
    """Never comes to return."""
    os._exit(code)


@task
def killed(number: int) -> int:
    os.kill(os.getpid(), number)
    time.sleep(60)
    return 1


@task(timeout=timedelta(seconds=1), retries=1)
def slow(path: str) -> int:
    tried(path)
    time.sleep(600)
    return 1


@task
def forever(n: int) -> int:
    signal.pause()
    return n


@task
def wrong_type() -> int:
    return "three"


@task
def append(path: str, after: int) -> int:
    tried(path)
    return after


def tried(path: str) -> int:
    with open(path, "a") as file:
        file.write("x")
    return os.path.getsize(path)


@workflow
def wf_raises(n: int) -> int:
    return one(n=raises(n=n))


@workflow
def wf_raises_with_retries(path: str) -> int:
    return raises_with_retries(path=path)


@workflow
def wf_recoverable(path: str, times: int) -> int:
    return recoverable(path=path, times=times)


@workflow
def wf_exits(path: str, code: int) -> int:
    return exits(path=path, code=code)


@workflow
def wf_vanishes(code: int) -> int:
    return vanishes(code=code)


@workflow
def wf_killed(number: int) -> int:
    return killed(number=number)


@workflow
def wf_slow(path: str) -> int:
    return slow(path=path)


@workflow
def wf_wrong_type() -> int:
    return wrong_type()


@workflow
def at_once(path: str) -> int:
    """The failure ends the one that would run for ever."""
    _, long = raises(n=1), forever(n=2)
    return append(path=path, after=one(n=long))


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def in_the_end(path: str, never: str) -> tuple[int, int]:
    bad = raises(n=1)
    return append(path=path, after=one(n=one(n=one(n=5)))), append(path=never, after=bad)


@workflow
def inner(n: int) -> int:
    return one(n=raises(n=n))


@workflow
def in_a_sub(n: int) -> int:
    return one(n=inner(n=n))


@workflow
def unequal(ns: list[int], more: list[int]) -> list[int]:
    return map_task(both)(a=ns, b=more)


@task
def both(a: int, b: int) -> int:
    return a + b


@task
def spoils(how: str) -> int:
    """What it leaves in its output folder is changed after flytekit wrote it."""
    atexit.register(spoil, how)
    return 7


@task
def spoils_some(n: int) -> int:
    if n == 1:
        atexit.register(spoil, "lacks")
    return n


def spoil(how: str) -> None:
    folder = pathlib.Path(sys.argv[sys.argv.index("--output-prefix") + 1].removeprefix("file://"))
    outputs = folder / "outputs.pb"
    match how:
        case "cut":
            outputs.write_bytes(outputs.read_bytes()[:-3])
        case "garbage":
            outputs.write_bytes(b"\xff\xfe no protobuf")
        case "gone":
            outputs.unlink()
        case "lacks":
            outputs.write_bytes(b"")
        case "both":
            document = ErrorDocument(error=ContainerError(code="USER:Odd", message="both were written"))
            (folder / "error.pb").write_bytes(document.SerializeToString())
        case "odd error":
            (folder / "error.pb").write_bytes(b"\xff\xfe no protobuf")


@workflow
def wf_spoils(how: str) -> int:
    return one(n=spoils(how=how))


@workflow
def map_spoils(ns: list[int]) -> list[Optional[int]]:
    return map_task(spoils_some, min_success_ratio=0.5)(n=ns)
