"""How large an event may be that somebody hands in: states and brokers must hold what it says."""

from __future__ import annotations

from engine.model.errors import BadInput
from engine.model.events import Event
from engine.model.limits import EVENT_BYTES
from engine.wire.codec import pack_event


def refuse_large(event: Event) -> None:
    """Raises BadInput for one above EVENT_BYTES."""
    size = len(pack_event(event))
    if size > EVENT_BYTES:
        raise BadInput(
            f"what was asked of execution {event.execution.name} takes {size} bytes beside its inputs; at most "
            f"{EVENT_BYTES} can be kept. Give long texts as inputs; nothing was started"
        )
