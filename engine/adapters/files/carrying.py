"""What a porter does: groups of errands from its socket, and their answers back, until the socket is closed.

It imports little, so that it is there in some 30 ms.
"""

from __future__ import annotations

import marshal
import signal
import socket
import sys
from contextlib import closing
from typing import Any, BinaryIO

from engine.adapters.files.disk import Disk, Problem, problem_of, run
from engine.adapters.files.folders import Known
from engine.adapters.files.staging import Staging

HEAD = 4
LIGHT = 16 * 1024
"""Bytes; what is larger is read by the engine itself, so that it is copied less."""


def main() -> None:
    """Arguments: the socket's number, the store's root, "durable" or ""."""
    # The engine says when to end: what is sent to all processes of a terminal or of a service is not meant.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    number, root, durable = sys.argv[2:5]
    staging = Staging(root)
    try:
        with closing(socket.socket(fileno=int(number))) as connection, connection.makefile("rb") as stream:
            serve(Disk(root, staging, durable=bool(durable), at_most=LIGHT), stream, connection)
    except ConnectionError:
        return
    finally:
        staging.close(set())


def serve(disk: Disk, stream: BinaryIO, connection: socket.socket) -> None:
    while len(head := stream.read(HEAD)) == HEAD:
        message = stream.read(int.from_bytes(head, "little"))
        known: Known = set()
        answers = marshal.dumps([_answer(disk, errand, known) for errand in marshal.loads(message)])
        connection.sendall(len(answers).to_bytes(HEAD, "little") + answers)


def _answer(disk: Disk, errand: tuple[Any, ...], known: Known) -> tuple[Any, Problem | None]:
    try:
        return run(disk, errand, known), None
    except OSError as error:
        return None, problem_of(error)
