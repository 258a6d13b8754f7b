"""The words of the views: durations, names of tasks, progress of maps."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.cli.pace import Pace
from engine.cli.wording import duration, elapsed, padded, plain, progress, short, width
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


def running(size: int, **phases: int) -> Node:
    """A map that began at 100 s, with so many elements in each phase and the others not started."""
    elements, index = created(size), 0
    for name, many in phases.items():
        for _ in range(many):
            elements, index = with_element(elements, index, NodePhase[name]), index + 1
    return Node(
        "n0", NodeKind.ARRAY, NodePhase.RUNNING, started_at=100.0, elements=structs.replace(elements, next=index)
    )


def test_progress_counts_what_ended_and_what_really_runs() -> None:
    node = running(30, SUCCEEDED=4, FAILED=1, RUNNING=2, QUEUED=3)
    assert progress(node, 110.0) == "5 of 30 done, 1 of them failed, 2 running, 0.5/s, 50 s left"
    assert progress(node, 110.0, rate=25.0) == "5 of 30 done, 1 of them failed, 2 running, 25/s, 1.0 s left"
    assert progress(node, 100.0) == "5 of 30 done, 1 of them failed, 2 running", "no time has passed"
    kept = structs.replace(node.elements, recovered=3) if node.elements else None
    assert progress(structs.replace(node, elements=kept), 110.0) == (
        "5 of 30 done, 1 of them failed, 2 running, 3 taken over, 0.2/s, 2 min 05 s left"
    ), "what was taken over took no time, and says nothing about the rest"
    assert progress(running(30, QUEUED=3), 110.0) == "0 of 30 done"
    assert progress(Node("n0", NodeKind.TASK), 1.0) == ""


def test_an_element_that_is_tried_again_runs_like_any_other() -> None:
    elements = with_element(created(3), 1, NodePhase.RUNNING, attempt=2, system_failures=2)
    node = Node("n0", NodeKind.ARRAY, NodePhase.RUNNING, elements=elements)
    assert progress(node, 1.0) == "0 of 3 done, 1 running"


def test_progress_of_a_map_that_has_ended_is_its_average() -> None:
    node = running(30, SUCCEEDED=29, ABORTED=1)
    assert progress(node, 115.0) == "29 of 30 done, 1.9/s, 517 ms left"
    ended = structs.replace(node, phase=NodePhase.ABORTED, ended_at=102.0)
    assert progress(ended, 999.0) == "29 of 30 done, 14/s"


def test_all_elements_are_done_and_gathered() -> None:
    assert progress(running(3, SUCCEEDED=3), 110.0) == "3 of 3 done"


def test_the_pace_of_late_is_told_and_not_that_since_the_start() -> None:
    pace = Pace()
    counts = [(1000.0, 100), (1000.5, 101), (1002.0, 104), (1060.0, 104), (1090.0, 134)]
    found = [pace.rate("n0", running(200, SUCCEEDED=many), now) for now, many in counts]
    assert found == [None, None, 2.0, pytest.approx(4 / 60), pytest.approx(34 / 90)]
    for second in range(1, 31):
        last = pace.rate("n0", running(200, SUCCEEDED=134 + second), 1090.0 + second)
    assert last == 1.0, "30 looks back, not before"


def test_words_of_others_do_not_steer_the_terminal() -> None:
    assert plain("flows.\x1b[2Jtäsk") == "flows.?[2Jtäsk"


def test_columns_are_those_of_the_terminal() -> None:
    assert [width(text) for text in ("", "abc", "täsk", "任务")] == [0, 3, 4, 4]
    assert padded("任", 4) == "任  "
