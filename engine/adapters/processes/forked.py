"""The first and the last steps of a task's process: from the fork in the zygote to exec, or to flytekit and os._exit.

Standard library only, flytekit where the zygote has imported it: it runs in the author's Python. A forked task must not
be told from a plain start of the same command: environment, import path, temporary folder, random numbers, signals and
the way the interpreter ends are made anew.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import errno
import gc
import os
import signal
import sys
import tempfile
import threading
import time
import types
from collections.abc import Mapping, Sequence

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CONNECTORS = "flytekit.extend.backend.base_connector"
"""Makes an event loop when it is imported; the zygote closes it, and every fork makes its own."""
_STATUS = 3
"""The descriptor of the status pipe in the task's process."""
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


kept: set[int] = set()
"""Descriptors that flytekit's import left open in the zygote: a plain start has them too."""


def prctl(option: int, value: int) -> None:
    """A switch of this process. Linux only; elsewhere nothing happens."""
    if _libc is not None and _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value}) failed")


def become(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    pipes: tuple[int, int, int],
    zygote: int,
    *,
    warm: bool,
) -> None:
    """Turn this freshly forked process into the task. Never returns.

    `pipes`: the ends for stdout, stderr and status, all above 3. Status closes when the task begins; if it can't begin,
    "<errno> <what>" is written to it first.
    """
    try:
        _move_descriptors(pipes)
        _detach(zygote)
        os.chdir(cwd)
        if not warm:
            for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(ignored, signal.SIG_DFL)
            os.execvpe(argv[0], list(argv), dict(env))
        _replace_environment(env)
    except (OSError, ValueError) as error:
        number, text = (error.errno, error.strerror) if isinstance(error, OSError) else (errno.EINVAL, str(error))
        os.write(_STATUS, f"{number} {text}".encode(errors="replace"))
        os._exit(127)
    os.close(_STATUS)
    _run_flytekit(argv)


def _move_descriptors(pipes: tuple[int, int, int]) -> None:
    """Put the pipes on 1, 2 and 3 and close whatever else this process got from the zygote; 0 is /dev/null already."""
    for target, source in enumerate(pipes, start=1):
        os.dup2(source, target, inheritable=target != _STATUS)
    for descriptor in descriptors() - kept - {0, 1, 2, _STATUS}:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def descriptors() -> set[int]:
    """Every descriptor that is open in this process."""
    try:
        names = os.listdir("/proc/self/fd")
    except FileNotFoundError:
        return set(range(os.sysconf("SC_OPEN_MAX")))
    return {number for number in map(int, names) if _is_open(number)}  # the one behind the listing is closed again


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _detach(zygote: int) -> None:
    """A session and group of its own and default signals; it dies with the zygote, and adopts its own orphans."""
    os.setsid()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != zygote:
        os._exit(127)
    signal.set_wakeup_fd(-1)
    for handled in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(handled, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _replace_environment(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    tempfile.tempdir = None
    gc.enable()


def _run_flytekit(argv: Sequence[str]) -> None:
    """Run pyflyte-execute or pyflyte-map-execute and leave as a Python that was started for it would."""
    code = 1
    try:
        try:
            _look_started(argv)
            _reseed()
            _renew_flytekit()
            import flytekit.bin.entrypoint as entrypoint

            map_task = os.path.basename(argv[0]) == "pyflyte-map-execute"
            (entrypoint.map_execute_task_cmd if map_task else entrypoint.execute_task_cmd).main(list(argv[1:]))
        except SystemExit as stop:
            code = _status(stop)
        except BaseException:  # noqa: BLE001  nothing is above this frame: it is reported as Python reports it, and ends
            sys.excepthook(*sys.exc_info())
        code = _finish(code)
    finally:
        os._exit(code)


def _look_started(argv: Sequence[str]) -> None:
    """`sys.argv`, `sys.path` and `__main__` as `<bin>/pyflyte-execute ...` has them."""
    folder = os.path.dirname(sys.executable)
    script = os.path.join(folder, os.path.basename(argv[0]))
    sys.argv = [script, *argv[1:]]
    added = [os.path.abspath(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:0] = dict.fromkeys([folder, *added])
    main = types.ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    if os.environ.get("PYTHONUNBUFFERED"):
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(write_through=True)  # type: ignore[union-attr]


def _reseed() -> None:
    """Two forks of one parent must not draw the same numbers; Python sees to its own `random` at every fork."""
    if numpy := sys.modules.get("numpy.random"):
        numpy.seed()
    if torch := sys.modules.get("torch"):
        torch.seed()


def _renew_flytekit() -> None:
    """Make anew what flytekit made when it was imported, from the zygote's environment and for the zygote's process."""
    import asyncio

    from flytekit import loggers
    from flytekit.configuration import DataConfig
    from flytekit.core import context_manager, data_persistence

    if _logging_settings() != _ZYGOTES_LOGGING:
        for logger in (loggers.logger, loggers.user_space_logger, loggers.developer_logger):
            logger.handlers.clear()
        loggers.initialize_global_loggers()
    folder = data_persistence.flyte_tmp_dir = tempfile.mkdtemp(prefix="flyte-")
    access = data_persistence.FileAccessProvider(
        local_sandbox_dir=os.path.join(folder, "sandbox"),
        raw_output_prefix=os.path.join(folder, "raw"),
        data_config=DataConfig.auto(),
    )
    data_persistence.default_local_file_access_provider = access
    context_manager.default_local_file_access_provider = access  # type: ignore[attr-defined]
    context_manager.FlyteContextManager.initialize()
    if connectors := sys.modules.get(CONNECTORS):
        connectors.local_connector_loop = asyncio.new_event_loop()  # type: ignore[attr-defined]


def _logging_settings() -> tuple[str | bool | None, ...]:
    """What flytekit's loggers depend on. That an execution is named at all switches from rich text to JSON."""
    names = ("LOGGING_LEVEL", "DEV_LOGGING_LEVEL", "LOGGING_FORMAT", "RICH_TRACEBACKS")
    return "FLYTE_INTERNAL_EXECUTION_ID" in os.environ, *(os.environ.get(f"FLYTE_SDK_{name}") for name in names)


_ZYGOTES_LOGGING = _logging_settings()


def _status(stop: SystemExit) -> int:
    """The exit status that Python gives for `raise SystemExit(...)`."""
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code & 0xFF
    print(stop.code, file=sys.stderr)
    return 1


def _finish(code: int) -> int:
    """What Python does before it ends: wait for threads, call atexit, flush; 120 if the flush fails."""
    getattr(threading, "_shutdown")()  # noqa: B009  not in the type stubs, there in every Python
    getattr(atexit, "_run_exitfuncs")()  # noqa: B009
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = code or 120
    return code
