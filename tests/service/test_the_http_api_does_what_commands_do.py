"""The JSON API of `propwash serve`, used by plain HTTP: what commands can do, with the documents that they print."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec
import pytest

from engine.gateway.bodies import ExecutionDocument, Page, Transition
from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash
from tests.service.serving import listening

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

Told = tuple[int, Any]


class Caller:
    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.root = url, f"{url}/api/v1"
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Told:
        """Status and the JSON that was answered."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **self.headers, **headers}
        try:
            with urlopen(Request(self.root + path, data, sent, method=method), timeout=LIMIT_SECONDS) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)["error"]

    def events(self, path: str, after: int = 0) -> Iterator[Transition]:
        headers = {**self.headers, "Last-Event-ID": str(after)}
        with urlopen(Request(f"{self.root}{path}/events", headers=headers), timeout=LIMIT_SECONDS) as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            for line in answer:
                if line.startswith(b"data: "):
                    yield msgspec.json.decode(line.removeprefix(b"data: "), type=Transition)


def one(name: str) -> str:
    return f"/executions/flytesnacks/development/{name}"


def register(propwash: Propwash, *files: str) -> None:
    for file in files:
        assert propwash("register", str(WORKFLOWS / file), "--version", "v1").code == 0


def test_an_execution_is_submitted_followed_and_read(propwash: Propwash) -> None:
    register(propwash, "endings.py")
    with listening(propwash) as (_, url):
        call = Caller(url)
        asked = {"entity": "doubled", "name": "first", "inputs": {"n": 4}, "labels": {"team": "x"}}
        name = {"project": "flytesnacks", "domain": "development", "name": "first"}
        assert call("POST", "/executions", asked) == (201, {"execution": name})
        facts = list(call.events(one("first")))
        assert [fact.sequence for fact in facts] == list(range(1, len(facts) + 1))
        assert [fact.phase for fact in facts if not fact.path] == ["RUNNING", "SUCCEEDED"]
        assert [fact.phase for fact in facts if fact.path == "n0"] == ["QUEUED", "RUNNING", "SUCCEEDED"]
        assert list(call.events(one("first"), after=facts[-2].sequence)) == facts[-1:]

        status, document = call("GET", one("first"))
        assert status == 200
        assert document == propwash("get", "first", "--json").document
        checked = msgspec.convert(document, ExecutionDocument)
        assert (checked.outputs, checked.labels) == ({"o0": 8}, {"team": "x"})
        assert call("GET", f"{one('first')}/inputs") == (200, {"values": {"n": 4}})
        assert call("GET", f"{one('first')}/outputs?node=n0") == (200, {"values": {"o0": 8}})

        assert call("POST", "/executions", asked)[0] == 201  # the same once more is the same
        status, problem = call("POST", "/executions", {**asked, "inputs": {"n": 5}})
        assert (status, problem["code"], problem["kind"]) == (400, "BadInput", "USER")
        assert "execution first exists already (SUCCEEDED)" in problem["cause"]
        status, problem = call("POST", "/executions", {"entity": "doubled", "inputs": {"m": 1, "n": "four"}})
        assert status == 400
        assert "inputs.m: no such input" in problem["cause"]
        assert "inputs.n:" in problem["cause"]

        assert call("POST", f"{one('first')}/relaunch", {"name": "second"})[0] == 201
        assert [fact.phase for fact in call.events(one("second")) if not fact.path][-1] == "SUCCEEDED"
        status, problem = call("POST", f"{one('first')}/recover")
        assert (status, "has SUCCEEDED: there is nothing to recover" in problem["cause"]) == (400, True)
    assert propwash("check").code == 0


def test_executions_are_listed_page_by_page(propwash: Propwash) -> None:
    register(propwash, "endings.py")
    with listening(propwash) as (_, url):
        call = Caller(url)
        for k in range(5):
            assert call("POST", "/executions", {"entity": "doubled", "name": f"e{k}", "inputs": {"n": k}})[0] == 201
            list(call.events(one(f"e{k}")))
        found, page = [], ""
        while True:
            status, told = call("GET", f"/executions?limit=2&page={page}")
            assert status == 200
            checked = msgspec.convert(told, Page)
            found.append([record.execution.name for record in checked.executions])
            if checked.next is None:
                break
            page = checked.next
        assert found == [["e4", "e3"], ["e2", "e1"], ["e0"]]
        assert call("GET", "/executions?phase=FAILED&phase=ABORTED") == (200, {"executions": [], "next": None})
        assert len(call("GET", "/executions?workflow=doubled&phase=SUCCEEDED")[1]["executions"]) == 5
        for wrong in ("limit=0", "limit=many", "phase=ODD", "sort=name", "page=odd"):
            status, problem = call("GET", f"/executions?{wrong}")
            assert (status, problem["code"]) == (400, "BadInput"), wrong


def test_executions_are_stopped_recovered_and_answered(propwash: Propwash, tmp_path: Path) -> None:
    register(propwash, "endings.py")
    flag = tmp_path / "go"
    with listening(propwash) as (_, url):
        call = Caller(url)
        assert call("POST", "/executions", {"entity": "waits", "name": "w", "inputs": {"path": str(flag)}})[0] == 201
        for fact in call.events(one("w")):
            if (fact.path, fact.phase) == ("n0", "RUNNING"):
                assert call("POST", f"{one('w')}/abort", {"reason": "not needed"})[0] == 202
        status, document = call("GET", one("w"))
        assert (status, document["phase"], document["error"]["message"]) == (200, "ABORTED", "not needed")
        assert call("POST", f"{one('w')}/abort")[0] == 202
        flag.touch()
        assert call("POST", f"{one('w')}/recover", {"name": "w2"})[0] == 201
        assert [fact.phase for fact in call.events(one("w2")) if not fact.path][-1] == "SUCCEEDED"
        assert call("POST", f"{one('w2')}/abort")[0] == 400
    assert propwash("check").code == 0


def test_gates_are_answered(propwash: Propwash) -> None:
    register(propwash, "gates.py")
    with listening(propwash) as (_, url):
        call = Caller(url)
        assert call("POST", "/executions", {"entity": "takes_lists", "name": "g"})[0] == 201
        signals = f"{one('g')}/signals"
        for name, body, expected in [
            ("numbers", {"value": ["one"]}, 400),
            ("numbers", {"approve": True}, 400),
            ("numbers", {}, 400),
            ("nothing", {"value": 1}, 400),
            ("numbers", {"value": [1, 2]}, 202),
            ("label", {"value": None}, 202),
        ]:
            assert call("POST", f"{signals}/{name}", body)[0] == expected, (name, body)
        assert [fact.phase for fact in call.events(one("g")) if not fact.path][-1] == "SUCCEEDED"


def test_a_token_is_asked_for(propwash: Propwash, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("abc\n")
    secret.chmod(0o600)
    with listening(propwash, "--set", f"http.token_file={secret}") as (service, url):
        for call in (Caller(url), Caller(url, "ab"), Caller(url, "abcd")):
            status, problem = call("GET", "/executions")
            assert (status, problem["code"]) == (401, "Unauthorized")
        assert Caller(url, "abc")("GET", "/executions") == (200, {"executions": [], "next": None})
        with urlopen(f"{url}/readyz", timeout=LIMIT_SECONDS) as answer:  # probes need none
            assert answer.status == 200
        service.send_signal(signal.SIGTERM)
        assert "abc" not in service.communicate(timeout=LIMIT_SECONDS)[1].replace(str(tmp_path), "")


def test_without_a_token_only_this_machine_is_served(propwash: Propwash) -> None:
    done = propwash("serve", "--listen", "0.0.0.0:0")
    assert done.code == 2
    assert "http.token_file" in done.err
    with listening(propwash) as (_, url):
        call = Caller(url)
        status, problem = call("GET", "/executions", Host="evil.example")
        assert (status, problem["code"]) == (403, "Forbidden")
        status, problem = call("POST", "/executions", {"entity": "x"}, **{"Content-Type": "text/plain"})
        assert (status, problem["code"]) == (415, "UnsupportedMediaType")


def test_what_is_wrong_is_told_as_json(propwash: Propwash) -> None:
    with listening(propwash, "--set", "http.max_body=1KiB") as (_, url):
        call = Caller(url)
        assert call("GET", one("nobody"))[1] == {
            "code": "NotFound",
            "kind": "USER",
            "cause": "there is no execution flytesnacks:development:nobody",
        }
        wrong: list[tuple[str, str, object, int]] = [
            ("GET", "/nothing", None, 404),
            ("DELETE", "/executions", None, 405),
            ("POST", "/executions", {"entity": "x" * 2000}, 413),
            ("POST", "/executions", {"entity": "x", "extra": 1}, 400),
            ("POST", "/executions", {"entity": "x", "name": "Not A Label"}, 400),
            ("POST", "/executions", [], 400),
            ("POST", f"{one('nobody')}/signals/x", {"value": 1}, 404),
        ]
        for method, path, body, expected in wrong:
            status, problem = call(method, path, body)
            assert (status, set(problem)) == (expected, {"code", "kind", "cause"}), (method, path, problem)


def test_the_openapi_document_names_every_operation(propwash: Propwash) -> None:
    with listening(propwash) as (_, url):
        status, document = Caller(url)("GET", "/openapi.json")
    assert status == 200
    assert document["openapi"] == "3.1.0"
    found = {f"{method} {path}" for path, item in document["paths"].items() for method in item}
    base = "/api/v1/executions"
    single = f"{base}/{{project}}/{{domain}}/{{name}}"
    parts = ["inputs", "outputs", "events"], ["abort", "recover", "relaunch", "signals/{signal}"]
    expected = {f"get {single}/{part}" for part in parts[0]} | {f"post {single}/{part}" for part in parts[1]}
    assert found == expected | {f"get {base}", f"post {base}", f"get {single}"}
    references = set(json.dumps(document).split('"#/components/schemas/')[1:])
    assert {text.partition('"')[0] for text in references} <= set(document["components"]["schemas"])
