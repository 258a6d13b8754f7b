"""The words of the views: durations, names of tasks, progress of maps."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.cli.wording import duration, elapsed, progress, short
from engine.machine.arrays import created, with_element
from engine.model.graph import NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1.0, "0 ms"),
        (0.0404, "40 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185.0, "3 min 05 s"),
        (7620.0, "2 h 07 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_map_task_goes_by_the_name_of_the_task_it_maps() -> None:
    assert short("flows.chain.add") == "add"
    assert short("flows.map_make_text_6b3bd0353da5de6e84d7982921ead2b3-arraynode") == "make_text"
    assert short("map_reduce") == "map_reduce"


def test_a_skipped_node_took_no_time() -> None:
    assert elapsed(Node("n0", NodeKind.TASK, NodePhase.SKIPPED, queued_at=1.0, ended_at=5.0), 9.0) == ""
    assert elapsed(Node("n0", NodeKind.TASK, NodePhase.RUNNING, started_at=4.0), 6.5) == "2.5 s"


def test_progress_counts_every_end() -> None:
    elements = created(3)
    for index, phase in enumerate((NodePhase.FAILED, NodePhase.RUNNING)):
        elements = with_element(elements, index, phase)
    elements = structs.replace(elements, next=2)
    assert (
        progress(Node("n0", NodeKind.ARRAY, NodePhase.RUNNING, elements=elements)) == "1 of 3 done, 1 failed, 1 running"
    )
    assert progress(Node("n0", NodeKind.TASK)) == ""
