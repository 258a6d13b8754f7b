"""Tasks that end in every way a task can end. `folder` arguments are absolute: a task's working folder is its own."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from flytekit import dynamic, task
from flytekit.exceptions.user import FlyteRecoverableException


@task
def add(a: int, b: int = 2) -> int:
    return a + b


@task
def nothing() -> None:
    print("nothing to give back")


@task
def raises() -> int:
    raise ValueError("boom 3")


@task
def recoverable() -> int:
    raise FlyteRecoverableException("try me again")


@task
def wrong_type() -> int:
    return "three"


@task
def exits(code: int) -> int:
    sys.exit(code)


@task
def vanishes() -> int:
    os._exit(7)


@task
def killed() -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 1


@dynamic
def planned(n: int) -> int:
    return add(a=n)


@task
def hangs() -> int:
    while True:
        time.sleep(3600)


@task
def at_exit(path: str) -> int:
    import atexit
    import threading

    atexit.register(lambda: pathlib.Path(path).open("a").write("atexit;"))
    threading.Thread(target=lambda: pathlib.Path(path).open("a").write("thread;")).start()
    return 1


@task
def draws() -> list[float]:
    return [random.random() for _ in range(3)]


@task
def looks_around() -> dict[str, str]:
    return {
        "argv0": os.path.basename(sys.argv[0]),
        "main": os.path.basename(sys.modules["__main__"].__file__ or ""),
        "path": os.pathsep.join(sys.path),
        "cwd": os.getcwd(),
        "tmpdir": os.environ["TMPDIR"],
        "mine": os.environ.get("MINE", ""),
        "attempt": os.environ.get("FLYTE_ATTEMPT_NUMBER", ""),
        "files": ",".join(sorted(os.listdir("."))),
        "fds": ",".join(sorted(os.listdir("/proc/self/fd"))),
        "sigpipe": str(signal.getsignal(signal.SIGPIPE)),
        "sigterm": str(signal.getsignal(signal.SIGTERM)),
        "sigmask": str(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "executable": sys.executable,
        "child": subprocess.run(["python", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True).stdout,
    }
