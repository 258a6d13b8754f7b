"""Tasks that end in every way a task can end. `folder` arguments are absolute: a task's working folder is its own."""

import atexit
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading

from flytekit import current_context, dynamic, task
from flytekit.core import data_persistence
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
def hash_of(text: str) -> int:
    return hash(text) % 1_000_000_007


@task
def prints(text: str) -> int:
    sys.stdout.write(text)
    return len(text)


@task
def hangs(lifeline: str) -> int:
    """Holds a named pipe open as long as it lives, and never ends."""
    with open(lifeline, "w", buffering=1) as pipe:
        pipe.write("task\n")
        while True:
            signal.pause()


@task
def ignores_sigterm(lifeline: str) -> int:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return hangs.task_function(lifeline)


@task
def leaves_a_daemon(lifeline: str) -> int:
    """The daemon has a session of its own, holds the task's stdout and stderr open, and does not mind SIGTERM."""
    script = f"trap '' TERM HUP; exec 9> {lifeline}; echo daemon >&9; while :; do sleep 3600; done"
    subprocess.Popen(["setsid", "sh", "-c", f"({script}) &"]).wait()
    with open(lifeline, "w", buffering=1) as pipe:
        pipe.write("task\n")
    return 1


@task
def at_exit(path: str) -> int:
    """Both writers come after the task: the thread when the main thread is at its end, the handler after that."""

    def say(word: str) -> None:
        with pathlib.Path(path).open("a") as file:
            file.write(word)

    def last() -> None:
        threading.main_thread().join()
        say("thread;")

    atexit.register(say, "atexit;")
    threading.Thread(target=last).start()
    return 1


@task
def floods(megabytes: int, line_megabytes: int) -> int:
    """As much on stdout as on stderr, invalid UTF-8, and one long line without an end."""
    chunk = b"0123456789abcde\n" * 65536
    for _ in range(megabytes):
        sys.stdout.buffer.write(chunk)
        sys.stderr.buffer.write(chunk)
    sys.stderr.buffer.write(b"\xff\xfe" + b"x" * (line_megabytes * 1024 * 1024) + b"\xff the end")
    return 1


@task
def draws() -> list[float]:
    return [random.random() for _ in range(3)]


@task
def leaves_things() -> int:
    os.environ["LEFT"] = "behind"
    pathlib.Path("left.txt").write_text("in the working folder")
    sys.path.append("/left")
    return len(os.listdir("."))


@task
def looks_around() -> dict[str, str]:
    access = data_persistence.default_local_file_access_provider
    return {
        "argv0": os.path.basename(sys.argv[0]),
        "main": os.path.basename(sys.modules["__main__"].__file__ or ""),
        "path": os.pathsep.join(sys.path),
        "cwd": os.getcwd(),
        "tmpdir": os.environ["TMPDIR"],
        "left": os.environ.get("LEFT", "") + ("/left" if "/left" in sys.path else ""),
        "mine": os.environ.get("MINE", ""),
        "attempt": os.environ.get("FLYTE_ATTEMPT_NUMBER", ""),
        "files": ",".join(sorted(os.listdir("."))),
        "fds": ",".join(sorted(os.listdir("/proc/self/fd"))),
        "sigpipe": str(signal.getsignal(signal.SIGPIPE)),
        "sigterm": str(signal.getsignal(signal.SIGTERM)),
        "sigmask": str(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "executable": sys.executable,
        "own sandbox": str(str(access.local_sandbox_dir).startswith(os.environ["TMPDIR"])),
        "own workspace": str(current_context().working_directory.startswith(os.environ["TMPDIR"])),
        "log level": str(logging.getLogger("flytekit").level),
        "log handlers": str(logging.getLogger("flytekit").handlers),
        "child": subprocess.run(
            ["python", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True
        ).stdout,
    }


@task
def prefix_of_python() -> str:
    return sys.prefix
