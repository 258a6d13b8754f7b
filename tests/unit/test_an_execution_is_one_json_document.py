"""What `--json` prints of an execution: exactly these keys, nodes in the order of the graph."""

from __future__ import annotations

from pathlib import Path

from engine.gateway.document import document, iso
from engine.model.events import AbortRequested
from engine.model.state import Snapshot
from tests import programs
from tests.simulation import EXECUTION, Simulation, recoverable, user_error

HOME = Path("/somewhere/home")


def snapshot(world: Simulation) -> Snapshot:
    return Snapshot(world.state.record, tuple(sorted(world.nodes().values(), key=lambda node: node.path)))


def test_a_finished_chain() -> None:
    world = Simulation(programs.chain(2))
    world.run()
    found = document(snapshot(world), world.program, {"o0": 3}, HOME)
    assert list(found) == ["execution", "entity", "labels", "phase", "outputs", "error", "nodes", "home"]
    assert found["execution"] == {"project": "p", "domain": "d", "name": EXECUTION.name}
    assert (found["entity"], found["labels"]) == ({"kind": "workflow", "name": "wf", "version": "v1"}, {})
    assert (found["phase"], found["outputs"], found["error"], found["home"]) == (
        "SUCCEEDED",
        {"o0": 3},
        None,
        "/somewhere/home",
    )
    nodes = found["nodes"]
    assert isinstance(nodes, list)
    first = nodes[0]
    assert isinstance(first, dict)
    node = world.nodes()["n0"]
    assert first == {
        "path": "n0",
        "kind": "task",
        "task": "work",
        "phase": "SUCCEEDED",
        "attempts": 1,
        "started_at": iso(node.started_at),
        "ended_at": iso(node.ended_at),
        "inputs_uri": node.inputs_uri or None,
        "outputs_uri": node.outputs_uri or None,
        "cache": None,
        "cached_elements": None,
        "error": None,
    }
    assert len(nodes) == 2, "start and end nodes are no nodes of the author's"


def test_a_failure_stands_at_the_execution_and_at_its_node() -> None:
    world = Simulation(programs.chain(1, retries=2), lambda key: recoverable() if key.attempt < 2 else user_error())
    world.run()
    found = document(snapshot(world), world.program, None, HOME)
    error = {"code": "USER:RuntimeError", "kind": "USER", "message": "boom", "node": "n0"}
    assert (found["phase"], found["outputs"], found["error"]) == ("FAILED", None, error)
    nodes = found["nodes"]
    assert isinstance(nodes, list)
    assert isinstance(nodes[0], dict)
    assert (nodes[0]["attempts"], nodes[0]["error"]) == (3, error)


def test_without_its_program_a_document_still_names_paths_and_phases() -> None:
    world = Simulation(programs.chain(11))
    world.run()
    nodes = document(snapshot(world), None, {}, HOME)["nodes"]
    assert isinstance(nodes, list)
    paths = [node["path"] for node in nodes if isinstance(node, dict)]
    assert paths == [f"n{k}" for k in range(11)]
    assert all(isinstance(node, dict) and node["task"] is None for node in nodes)


def test_moments_are_iso_8601_in_utc() -> None:
    assert iso(0.0) is None
    assert iso(1_700_000_000.25) == "2023-11-14T22:13:20.250000Z"
    assert iso(1_700_000_000.9999999) == "2023-11-14T22:13:21.000000Z"


def test_an_error_of_the_execution_itself_has_no_node() -> None:
    world = Simulation(programs.chain(1), lambda key: "hang")
    world.apply(AbortRequested(EXECUTION, "told to"))
    world.run()
    error = document(snapshot(world), world.program, None, HOME)["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["node"]) == ("Aborted", None)
