"""One attempt of a task, from its resolved inputs to the event that ends it."""

from __future__ import annotations

from engine.model.effects import Origin
from engine.model.errors import Defect
from engine.model.events import NodeEvent
from engine.model.graph import NodeSpec, TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.services import Services


async def run_attempt(
    services: Services,
    key: AttemptKey,
    spec: NodeSpec,
    task: TaskSpec,
    inputs: bytes,
    origin: Origin,
    *,
    resumed: bool = False,
) -> list[NodeEvent]:
    """Gate and store the inputs (a serialized `LiteralMap`), run the task, judge it.

    Returns the events still to be appended: `AttemptSucceeded` or `AttemptFailed` last, and before it `AttemptStarted`
    where the task ended before that could be reported on its own. A Permanent becomes AttemptFailed; a Transient
    is raised.
    `resumed`: an engine may have died after this attempt ended; a finished folder is believed, not run again.
    """
    raise Defect("run_attempt is not written yet")
