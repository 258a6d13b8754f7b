"""The end of executions that were waited for: what is printed, and the exit code."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.cli.exitcodes import ExitCode
from engine.cli.report import failure_text, outcome, outputs_text
from engine.cli.screen import say_soon, tell
from engine.cli.show import as_text, tell_problems
from engine.cli.whereabouts import stderr_of_failure
from engine.gateway.documents import Documents
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Records

if TYPE_CHECKING:
    from engine.wire.natural import Json


def resume_command(home: Path) -> str:
    return f"propwash resume --home {shlex.quote(str(home))}"


def accepted(execution: ExecutionId) -> str:
    """The JSON document of an execution that nobody waits for."""
    named: dict[str, Json] = {"project": execution.project, "domain": execution.domain, "name": execution.name}
    return as_text({"execution": named})


class Seen(Protocol):
    """Where executions can be looked at: in a home (engine.homes.HomeView), or by the topics of Kafka."""

    @property
    def log(self) -> Records: ...

    @property
    def blobs(self) -> BlobStore: ...


async def finish(
    view: Seen, executions: Sequence[ExecutionId], home: Path, *, as_json: bool, many: bool = False
) -> int:
    """Print one document (`many`: a list of them), or for people the outputs or the error of each.

    The exit code is 0 only if all have SUCCEEDED and their outputs can be read.
    """
    documents = Documents(view.log, view.blobs, home)
    snapshots = [await documents.snapshot(execution) for execution in executions]
    if as_json:
        found = [await documents.made_of(snapshot) for snapshot in snapshots]
        await say_soon(as_text([*found] if many else found[0]))
    else:
        for snapshot in snapshots:
            record = snapshot.execution
            told = many and record.phase is ExecutionPhase.SUCCEEDED
            line = f"{outcome(record, time.time())}, {record.entity}" if told else ""
            outputs = await documents.outputs(snapshot)
            if text := "\n".join(filter(None, [line, outputs_text(outputs) if outputs else ""])):
                await say_soon(text)
            if record.phase is not ExecutionPhase.SUCCEEDED:
                stderr = await stderr_of_failure(view.log, view.blobs, snapshot)
                tell(f"{outcome(record, time.time())}\n{failure_text(record, stderr)}".rstrip())
    unreadable = tell_problems(documents)
    if any(snapshot.execution.phase is not ExecutionPhase.SUCCEEDED for snapshot in snapshots):
        return ExitCode.FAILED
    return unreadable
