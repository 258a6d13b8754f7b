"""The HTTP API of several processes on one broker and one store: what one of them accepts, the others show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.kafka_service import Operator, ends
from tests.service.test_the_http_api_does_what_commands_do import Caller, one

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]


def submit(call: Caller, name: str, n: int = 1) -> None:
    status, told = call("POST", "/executions", {"entity": "even", "name": name, "inputs": {"n": n}})
    assert status == 201, told


def pages(call: Caller, query: str, size: int) -> list[list[str]]:
    found, page = [], ""
    while True:
        status, told = call("GET", f"/executions?{query}limit={size}&page={page}")
        assert status == 200, told
        found.append([each["execution"]["name"] for each in told["executions"]])
        if not told["next"]:
            return found
        page = told["next"]


def without_home(document: Any) -> Any:
    return {**document, "home": None}


def test_what_one_process_accepts_the_other_shows(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.register("endings.py")
    with operator.serving("one") as first, operator.serving("two") as second:
        a, b = first.call, second.call
        for number in range(6):
            name = f"e{number}"
            submit(a, name, number)
            assert a("GET", one(name))[0] == 200, "who submits finds it at once"
            assert b("GET", one(name))[0] == 200, "and so does everybody else"
        phases = {name: ends(b, name) for name in [f"e{number}" for number in range(6)]}
        assert set(phases.values()) == {"SUCCEEDED", "FAILED"}
        for name, phase in phases.items():
            there, here = a("GET", one(name)), b("GET", one(name))
            assert there[1]["phase"] == phase
            assert without_home(there[1]) == without_home(here[1])
            assert list(a.events(one(name))) == list(b.events(one(name)))
        assert pages(b, "", 4) == pages(a, "", 4) == [["e5", "e4", "e3", "e2"], ["e1", "e0"]]
        assert all(each.metrics()["propwash_view_delay_seconds_count", ()] > 0 for each in (first, second))
        failed = [name for name in reversed(phases) if phases[name] == "FAILED"]
        assert pages(b, "phase=FAILED&", 2) == [failed[:2], failed[2:]]
        assert b("POST", f"{one(failed[0])}/relaunch", {"name": "again"})[0] == 201
        assert ends(a, "again") == "FAILED"


def test_a_view_that_was_deleted_is_made_anew(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.register("endings.py")
    with operator.serving("one") as first:
        submit(first.call, "first", 2)
        assert ends(first.call, "first") == "SUCCEEDED"
        before = first.call("GET", one("first"))
        facts = list(first.call.events(one("first")))
    view = operator.propwash.folder / "one" / "view.db"
    assert view.exists()
    for name in ("view.db", "view.db-wal", "view.db-shm"):
        view.with_name(name).unlink(missing_ok=True)
    with operator.serving("one") as first:
        assert first.call("GET", one("first")) == before
        assert list(first.call.events(one("first"))) == facts
        assert pages(first.call, "workflow=even&", 10) == [["first"]]
