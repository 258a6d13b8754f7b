"""The process that carries small objects to and from the disk, as its engine sees it. Started when there is much to do.

It only saves time: while it is not there, and when it dies, the thread does its work.
"""

from __future__ import annotations

import asyncio
import logging
import marshal
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.adapters.files.thread import IoThread

log = logging.getLogger(__name__)

_Started = tuple[subprocess.Popen[bytes], socket.socket]
Group = list[tuple["asyncio.Future[Any]", tuple[Any, ...]]]
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from engine.adapters.files.carrying import main; main()"
CODE = str(Path(__file__).parents[3])
AT_ONCE = 256 * 1024
"""Bytes taken from the socket in one step."""
HEAD = 4
"""Bytes of a message's length, little-endian, before the message."""
END_SECONDS = 5.0


class Porter:
    """Belongs to the event loop it was made in."""

    def __init__(self, root: str, thread: IoThread, *, durable: bool) -> None:
        self._root, self._thread, self._durable = root, thread, durable
        self._loop = asyncio.get_running_loop()
        self._start: asyncio.Future[_Started] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._given: deque[tuple[Group, Callable[[Group], None]]] = deque()
        """Groups that it works on, in order, and what becomes of them if it dies."""
        self._unsent, self._received = bytearray(), bytearray()

    def start(self) -> asyncio.Future[_Started]:
        """Once; done when it is there."""
        if self._start is None:
            self._start = self._thread.call(lambda known: _started(self._root, durable=self._durable))
            self._start.add_done_callback(self._connect)
        return self._start

    def take(self, group: Group, otherwise: Callable[[Group], None]) -> bool:
        """Have a group done, or False: then it is not there yet. `otherwise` gets the group back if it dies."""
        if self._socket is None:
            self.start()
            return False
        wanted = [(future, errand) for future, errand in group if not future.cancelled()]
        message = marshal.dumps([errand for _, errand in wanted])
        self._given.append((wanted, otherwise))
        self._unsent += len(message).to_bytes(HEAD, "little") + message
        self._send()
        return True

    async def close(self) -> None:
        """End it, and wait for that. What it has not finished goes to the thread."""
        if self._start is not None:
            await asyncio.wait([self._start])
        self._disconnect()
        if self._process is not None:
            await self._thread.call(lambda known: _ended(self._process))

    def _connect(self, start: asyncio.Future[_Started]) -> None:
        if start.cancelled() or (problem := start.exception()) is not None:
            log.warning("the store has no porter", extra={"cause": "" if start.cancelled() else str(problem)})
            return
        self._process, self._socket = start.result()
        self._loop.add_reader(self._socket, self._receive)

    def _send(self) -> None:
        if self._socket is None:
            return
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError as problem:
            self._lose(problem)
            return
        if self._unsent:
            self._loop.add_writer(self._socket, self._send)
        else:
            self._loop.remove_writer(self._socket)

    def _receive(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(AT_ONCE)
        except BlockingIOError:
            return
        except OSError as problem:
            self._lose(problem)
            return
        if not data:
            self._lose(EOFError("it has ended"))
            return
        self._received += data
        while len(self._received) >= HEAD:
            end = HEAD + int.from_bytes(self._received[:HEAD], "little")
            if len(self._received) < end:
                return
            answers = marshal.loads(self._received[HEAD:end])
            del self._received[:end]
            group, _ = self._given.popleft()
            for (future, _), answer in zip(group, answers, strict=True):
                _deliver(future, *answer)

    def _lose(self, problem: Exception) -> None:
        """From now on the thread does everything, first of all what was not finished."""
        log.warning("the porter of the store is gone", extra={"cause": str(problem)})
        self._disconnect()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
            self._socket = None
        while self._given:
            group, otherwise = self._given.popleft()
            otherwise(group)


def _deliver(future: asyncio.Future[Any], value: Any, error: tuple[int, str, str | None] | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(OSError(*error))


def _started(root: str, *, durable: bool) -> _Started:
    """Blocking. Raises OSError."""
    ours, theirs = socket.socketpair()
    try:
        told = [str(theirs.fileno()), root, "durable" if durable else "", str(os.getpid())]
        command = [sys.executable, "-I", "-c", PROGRAM, CODE, *told]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True, cwd="/"
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    ours.setblocking(False)
    return process, ours


def _ended(process: subprocess.Popen[bytes] | None) -> None:
    """Blocking: it ends when its socket is closed, else it is killed."""
    if process is None:
        return
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
