"""`execution.submitted.architecture` is typed: bytes that say another name are no event."""

from __future__ import annotations

import msgpack
import pytest

from engine.model.errors import EngineError
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.overrides import Overrides
from engine.wire.codec import pack_event, unpack_event
from tests.packages import workflow_id

EVENT = ExecutionSubmitted(
    ExecutionId("p", "d", "e"), workflow_id("m.w"), "digest", overrides=Overrides(architecture="arm64")
)


def test_the_known_ones_come_back() -> None:
    assert unpack_event(pack_event(EVENT)) == EVENT


def test_another_one_is_refused() -> None:
    assert pack_event(EVENT).count(msgpack.packb("arm64")) == 1
    with pytest.raises((EngineError, ValueError), match="sparc"):
        unpack_event(pack_event(EVENT).replace(msgpack.packb("arm64"), msgpack.packb("sparc")))
