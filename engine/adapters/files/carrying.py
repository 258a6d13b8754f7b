"""What a porter does: groups of errands from its socket, and their answers back, until the socket is closed.

It imports little, so that it is there in some 30 ms.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any, BinaryIO

from engine.adapters.files.disk import Disk, Problem, problem_of, run
from engine.adapters.files.folders import Known
from engine.adapters.files.staging import Staging

HEAD = 4
LIGHT = 16 * 1024
"""Bytes; what is larger is read by the engine itself, so that it is copied less."""


def main() -> None:
    """Arguments: the socket's number, the store's root, "durable" or "", the engine's process id."""
    # The engine says when to end: what is sent to all processes of a terminal or of a service is not meant.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    number, root, durable, engine = sys.argv[2:6]
    staging = Staging(root)
    try:
        with closing(socket.socket(fileno=int(number))) as connection, connection.makefile("rb") as stream:
            disk = Disk(root, staging, durable=bool(durable), at_most=LIGHT)
            serve(disk, stream, connection, lambda: os.getppid() != int(engine))
    except ConnectionError:
        return
    finally:
        staging.close(set())


def serve(disk: Disk, stream: BinaryIO, connection: socket.socket, orphaned: Callable[[], bool]) -> None:
    """Raises ConnectionError when the engine is gone: what it still wanted is for the next one to decide."""
    while len(head := stream.read(HEAD)) == HEAD:
        message = stream.read(int.from_bytes(head, "little"))
        known: Known = set()
        answers = []
        for errand in marshal.loads(message):
            if orphaned():
                raise ConnectionError("the engine is gone")
            answers.append(_answer(disk, errand, known))
        answer = marshal.dumps(answers)
        connection.sendall(len(answer).to_bytes(HEAD, "little") + answer)


def _answer(disk: Disk, errand: tuple[Any, ...], known: Known) -> tuple[Any, Problem | None]:
    try:
        return run(disk, errand, known), None
    except OSError as error:
        return None, problem_of(error)
