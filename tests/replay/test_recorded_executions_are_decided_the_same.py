"""Executions of real homes, recorded once: today's code must decide them as they were decided then.

What to do where it does not: record.py.
"""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.model.events import AttemptSucceeded
from tests.replay.recordings import FOLDER, read

NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def test_there_are_recordings() -> None:
    assert {"every-kind", "gates", "recovered-map", "recovered-plan"} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_history_comes_out(name: str) -> None:
    recording = read(name)
    assert recording.facts
    assert recording.replayed() is None


def test_a_recording_that_was_tampered_with_does_not_pass() -> None:
    """The one that must fail: a result that never came must not go unnoticed."""
    recording = read("every-kind")
    place, (offset, event) = next(
        (place, found) for place, found in enumerate(recording.events) if isinstance(found[1], AttemptSucceeded)
    )
    assert isinstance(event, AttemptSucceeded)
    del recording.events[place]
    missing = recording.replayed()
    assert missing is not None
    assert f"node {event.key.path}" in missing.recorded
    assert missing.recorded.endswith("SUCCEEDED")

    recording.events.insert(place, (offset, structs.replace(event, outputs_uri="elsewhere")))
    changed = recording.replayed()
    assert changed is not None
    assert (changed.what, changed.decided) == (f"outputs_uri of node {event.key.path}", "'elsewhere'")
