"""The zygote: a small parent process that starts tasks, keeps what they print, and cleans up behind them.

Run by path with the author's interpreter (`python -P zygote.py <socket fd> warm|plain`); it needs the standard library
alone and never imports the engine or a user's module. `warm` imports flytekit first, so that a task is a fork and not a
new interpreter. One thread, no event loop: neither would survive a fork.

Messages are JSON behind a 4-byte big-endian length, on a Unix socket.
  in   start:   id, argv, env, cwd, stdout, stderr, log_limit         signal: id, signal
  out  ready:   problem (why it can't fork tasks), modules (top-level names imported here)
       started: id, pid, at        failed: id, errno, message
       ended:   id, status (as wait(2) gives it), at, maxrss (bytes), tail (of stderr), left_behind, log_problem

"ended" and "failed" mean that nothing of the task runs any more. When the engine's end of the socket closes, however it
died, every task is killed and the zygote ends. When the zygote is killed, the kernel kills its tasks.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
import traceback
import types
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.adapters.processes import child, forked
else:
    # The modules beside this file, as a package with a name that no author's module has.
    _package = sys.modules["_propwash_tasks"] = types.ModuleType("_propwash_tasks")
    _package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    from _propwash_tasks import child, forked

NEEDED = (
    "flytekit.bin.entrypoint",
    "flytekit.core.array_node_map_task",
    "flytekit.core.python_auto_container",
    "flytekit.core.type_engine",
)
"""What a trivial task would import after the fork."""
OF_DATACLASSES = "mashumaro.jsonschema"
"""What flytekit imports at the first dataclass that it sees; not part of every version."""
PATIENCE_SECONDS = 5.0
"""For what a task left behind to be gone after SIGKILL; then the task's end is reported all the same."""


class Zygote:
    def __init__(self, engine: socket.socket, *, warm: bool) -> None:
        self.engine, self.warm = engine, warm
        self.received = bytearray()
        self.tasks: dict[int, child.Child] = {}
        """By process id, as long as the process is there."""
        self.dead: list[child.Child] = []
        """Their processes are gone; what these left behind may not be."""
        self.orphans: set[int] = set()
        """Left behind by the dead and killed."""
        self.untouchable: set[int] = set()
        """Orphans under another user, or stuck in the kernel."""
        self.deadline = 0.0
        """Until when to wait for orphans to be gone (monotonic seconds)."""
        self.told_to_leave = self.leaving = False
        self.selector = selectors.DefaultSelector()
        self.selector.register(engine, selectors.EVENT_READ, self.on_message)
        self.watch_signals()

    def watch_signals(self) -> None:
        """SIGCHLD and SIGTERM wake the selector; what they mean is looked up after that."""

        def leave(*_: object) -> None:
            self.told_to_leave = True

        wakeup, write = os.pipe()
        os.set_blocking(wakeup, False)
        os.set_blocking(write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, leave)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self.selector.register(wakeup, selectors.EVENT_READ, partial(os.read, wakeup, child.CHUNK))

    def run(self) -> None:
        """Serve until the engine is gone, and every process with it."""
        while not self.leaving or self.tasks or self.dead:
            patience = max(0.0, self.deadline - time.monotonic()) if self.orphans else None
            for key, _ in self.selector.select(patience):
                key.data()
            if self.told_to_leave:
                self.leave()
            self.bury()

    def on_message(self) -> None:
        try:
            data = self.engine.recv(child.CHUNK)
        except OSError:
            data = b""
        if not data:
            self.told_to_leave = True
        self.received += data
        while len(self.received) >= (end := 4 + int.from_bytes(self.received[:4], "big")):
            message = json.loads(self.received[4:end])
            del self.received[:end]
            if message["op"] == "start":
                self.start(message)
            else:
                self.pass_on(message["id"], message["signal"])

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        try:
            self.engine.sendall(len(data).to_bytes(4, "big") + data)
        except OSError:
            self.told_to_leave = True

    def leave(self) -> None:
        """The engine is gone: nothing that it started may outlive it."""
        if not self.leaving:
            self.leaving = True
            self.selector.unregister(self.engine)
            self.engine.close()
            signal.alarm(round(2 * PATIENCE_SECONDS))
        for task in self.tasks.values():
            task.kill(signal.SIGKILL)

    def start(self, request: dict[str, Any]) -> None:
        try:
            task = child.start(request, self.selector.unregister, warm=self.warm)
        except OSError as error:
            message = f"can't fork: {error.strerror}"
            self.send({"op": "failed", "id": request["id"], "errno": error.errno, "message": message})
            return
        self.tasks[task.pid] = task
        for pipe in task.pipes:
            self.selector.register(pipe, selectors.EVENT_READ, partial(self.on_output, task, pipe))

    def pass_on(self, task_id: int, number: int) -> None:
        for task in self.tasks.values():
            if task.id == task_id:
                task.kill(number)

    def on_output(self, task: child.Child, pipe: int) -> None:
        if begun := task.read(pipe):
            self.send(begun)

    def bury(self) -> None:
        """Collect processes that ended, kill what they left behind, and report each task of which nothing is left."""
        while ended := _wait(self.kill_group):
            self.collect(*ended)
        if self.dead and not self.orphans_remain():
            for task in self.dead:
                for message in task.report(len(self.orphans)):
                    self.send(message)
            self.dead.clear()
            self.orphans.clear()

    def kill_group(self, pid: int) -> None:
        if pid in self.tasks:
            self.tasks[pid].kill_group()

    def collect(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        self.untouchable.discard(pid)
        task = self.tasks.pop(pid, None)
        if task is not None:
            task.died(status, usage)
            self.dead.append(task)

    def orphans_remain(self) -> bool:
        """Kill the orphans of dead tasks: while its process lives, a task keeps its own, and then they come here."""
        found = _children() - self.tasks.keys() - self.untouchable
        for pid in tuple(found):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                found.discard(pid)
            except PermissionError:
                found.discard(pid)
                self.untouchable.add(pid)
        if found and not self.orphans:
            self.deadline = time.monotonic() + PATIENCE_SECONDS
        self.orphans |= found
        if found and time.monotonic() >= self.deadline:
            self.untouchable |= found
            return False
        return bool(found)


def _wait(before: Callable[[int], None]) -> tuple[int, int, resource.struct_rusage] | None:
    """Wait for one child that has ended, if there is one. `before` is called while its number is still its own."""
    try:
        if not hasattr(os, "waitid"):  # macOS
            ended = os.wait4(-1, os.WNOHANG)
            before(ended[0])
            return ended if ended[0] else None
        dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if dead is None:
        return None
    before(dead.si_pid)
    return os.wait4(dead.si_pid, 0)


def _children() -> set[int]:
    """Process ids of this process's children. Read twice: the kernel may skip one while another one ends."""
    found: set[int] = set()
    try:
        for _ in range(2):
            with open(f"/proc/self/task/{os.getpid()}/children") as children:
                found.update(map(int, children.read().split()))
    except FileNotFoundError:
        return _children_by_search()
    return found


def _children_by_search() -> set[int]:
    """The same from the whole process table, for kernels without the list. Empty where there is no /proc."""
    names = os.listdir("/proc") if os.path.isdir("/proc") else []
    return {int(name) for name in names if name.isdigit() and _parent_of(name) == os.getpid()}


def _parent_of(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _import_flytekit() -> str:
    """Import what every flytekit task needs. The reason why tasks can't be forked from here, or "" if they can."""
    try:
        for name in NEEDED:
            importlib.import_module(name)
        sys.modules["flytekit.core.type_engine"].TypeEngine.lazy_import_transformers()
        importlib.import_module("docstring_parser").parse("Compiles its patterns once, here.")
        with contextlib.suppress(ImportError):
            importlib.import_module(OF_DATACLASSES)
        _rehearse(sys.modules["flytekit.bin.entrypoint"].execute_task_cmd)
        if connectors := sys.modules.get(forked.CONNECTORS):
            connectors.local_connector_loop.close()
    except Exception:  # noqa: BLE001  whatever the author's environment raises, the answer is a plain start
        return traceback.format_exc(limit=-3)
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        return f"importing flytekit started {threads - 1} threads, which a fork would lose"
    return ""


def _rehearse(command: Any) -> None:
    """Go as far as the command goes without a task: what it caches and specialises then need not be in every fork."""
    path = sys.path[:]
    options = ("inputs", "output-prefix", "raw-output-data-prefix", "checkpoint-path", "prev-checkpoint")
    words = [word for option in options for word in (f"--{option}", "nothing")]
    resolver = "flytekit.core.python_auto_container.default_task_resolver"
    command.main(["--test", *words, "--resolver", resolver, "--", "task-module", "none"], standalone_mode=False)
    sys.stdout.flush()
    sys.path[:] = path  # the command adds the working folder


def main(descriptor: int, mode: str) -> None:
    engine = socket.socket(fileno=descriptor)
    engine.set_inheritable(False)
    if descriptor != 3:
        os.dup2(0, 3, inheritable=False)  # a task's status pipe goes to 3: no other pipe may get that number
    forked.prctl(forked.PR_SET_CHILD_SUBREAPER, 1)
    gc.disable()
    problem = _import_flytekit() if mode == "warm" else ""
    forked.kept = forked.descriptors() - {descriptor}
    zygote = Zygote(engine, warm=mode == "warm")
    gc.collect()
    gc.freeze()
    zygote.send({"op": "ready", "problem": problem, "modules": sorted({n.partition(".")[0] for n in sys.modules})})
    zygote.run()
    os._exit(0)  # nothing of flytekit's needs an end, and it would take its time


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
