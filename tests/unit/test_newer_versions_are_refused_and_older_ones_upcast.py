from __future__ import annotations

from collections.abc import Callable

import msgpack
import pytest

from engine.model.events import AbortRequested
from engine.model.ids import ExecutionId
from engine.wire import codec
from engine.wire.codec import Fields, Unreadable

ABORT: Fields = {
    "v": 1,
    "type": "execution.abort_requested",
    "execution": {"project": "p", "domain": "d", "name": "e1"},
    "cause": "c",
}


@pytest.mark.parametrize("unpack", [codec.unpack_event, codec.unpack_node, codec.unpack_fact, codec.unpack_execution])
def test_a_newer_version_is_refused_naming_both(unpack: Callable[[bytes], object]) -> None:
    with pytest.raises(Unreadable, match=r"of version 2 can't be read: this engine reads versions up to 1$"):
        unpack(msgpack.packb({**ABORT, "v": 2}))


def test_an_older_version_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(fields: Fields) -> Fields:
        return {**fields, "reason": fields["why"]}

    def second(fields: Fields) -> Fields:
        return {**fields, "cause": f"{fields['reason']}!"}

    monkeypatch.setattr(codec, "EVENT_VERSION", 3)
    monkeypatch.setattr(codec, "EVENT_UPCASTS", {1: first, 2: second})
    old = msgpack.packb({**ABORT, "why": "w"})
    assert codec.unpack_event(old) == AbortRequested(ExecutionId("p", "d", "e1"), "w!")


def test_an_older_version_without_an_upcast_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"^an event of version 0 can't be read: there is no upcast from version 0$"):
        codec.unpack_event(msgpack.packb({**ABORT, "v": 0}))
