"""Two processes on Kafka and S3: nodes of every kind, children on other partitions, requests to either process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.kafka_service import Operator, ends, until
from tests.service.test_the_http_api_does_what_commands_do import Caller, one

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Caller, Caller]]:
    operator = Operator(tmp_path)
    operator.register("every_kind.py", "gates.py", "recovering.py")
    with operator.serving("one") as first, operator.serving("two") as second:
        until(lambda: (first.owns(), second.owns()) == (2, 2))
        yield first.call, second.call


def submit(call: Caller, entity: str, name: str, **inputs: object) -> None:
    status, told = call("POST", "/executions", {"entity": entity, "name": name, "inputs": inputs})
    assert status == 201, told


def test_whatever_is_asked_of_whichever_process(both: tuple[Caller, Caller], tmp_path: Path) -> None:
    here, there = both
    for number in range(4):
        folder = tmp_path / f"f{number}"
        folder.mkdir()
        submit(here, "every_kind.wf", f"all{number}", n=4, folder=str(folder))
    submit(there, "gates.asks_by_a_child", "asking", n=5)
    child = _child_that_waits(there, "asking")
    assert here("POST", f"{one(child)}/signals/inner", {"approve": True})[0] == 202
    assert ends(here, "asking") == "SUCCEEDED"
    assert here("GET", one("asking"))[1]["outputs"] == {"o0": 10}
    for number in range(4):
        assert ends(there, f"all{number}") == "SUCCEEDED"
        outputs = there("GET", one(f"all{number}"))[1]["outputs"]
        assert outputs == {"o0": 4, "o1": [101, 102, 103], "o2": [2, 3, 4]}

    submit(here, "gates.impatient", "never")
    submit(here, "gates.takes_lists", "stopped")
    assert there("POST", f"{one('stopped')}/abort", {"reason": "not needed"})[0] == 202
    assert ends(here, "stopped") == "ABORTED"
    assert ends(there, "never") == "FAILED"

    folder = tmp_path / "mend"
    folder.mkdir()
    submit(here, "recovering.maps", "broken", folder=str(folder), xs=[1, 2, 3])
    assert ends(here, "broken") == "FAILED"
    (folder / "mended").touch()
    assert there("POST", f"{one('broken')}/recover", {"name": "mended"})[0] == 201
    assert ends(here, "mended") == "SUCCEEDED"
    assert here("GET", one("mended"))[1]["outputs"]["o0"] == there("GET", one("mended"))[1]["outputs"]["o0"]
    ran = (folder / "ran").read_text().split("\n")
    assert (ran.count("square 1"), ran.count("square 3")) == (1, 2)


def _child_that_waits(call: Caller, parent: str) -> str:
    found: list[str] = []

    def look() -> bool:
        listed = call("GET", "/executions?children=true")[1]["executions"]
        found[:] = [
            each["execution"]["name"]
            for each in listed
            if each["parent"] and each["parent"]["name"] == parent and each["phase"] == "RUNNING"
        ]
        return bool(found) and bool(call("GET", one(found[0]))[1].get("waiting"))

    until(look)
    return found[0]
