"""Behaviour reference, section 3.2: people and tools look for these files."""

from __future__ import annotations

import re

from engine.adapters.memory.blobs import MemoryBlobs
from engine.model import layout
from engine.model.ids import AttemptKey, ExecutionId, inner_frame, join

EXECUTION = ExecutionId("flytesnacks", "development", "a1b2c3")
BASE = "metadata/propeller/flytesnacks-development-a1b2c3"


def key(path: str, attempt: int = 0, index: int | None = None, node_attempt: int = 0) -> AttemptKey:
    return AttemptKey(EXECUTION, path, attempt, index, node_attempt)


def test_a_workflows_inputs_are_the_outputs_of_its_start_node() -> None:
    assert layout.workflow_inputs(EXECUTION) == f"{BASE}/start-node/data/0/outputs.pb"
    assert layout.workflow_inputs(EXECUTION) == layout.outputs(key("start-node"))


def test_a_workflows_outputs_are_those_of_its_end_node() -> None:
    assert layout.outputs(key("end-node")) == f"{BASE}/end-node/data/0/outputs.pb"


def test_a_node_has_one_inputs_file_and_a_folder_an_attempt() -> None:
    assert layout.node_inputs(EXECUTION, "n0") == f"{BASE}/n0/data/inputs.pb"
    assert layout.attempt_inputs(key("n0", attempt=2)) == f"{BASE}/n0/data/inputs.pb"
    assert layout.attempt_prefix(key("n0", attempt=2)) == f"{BASE}/n0/data/2"
    assert layout.outputs(key("n0", attempt=2)) == f"{BASE}/n0/data/2/outputs.pb"


def test_nested_nodes_lie_in_the_attempt_of_the_node_that_contains_them() -> None:
    inner = join(inner_frame("n2", 1), "n0")
    assert layout.node_inputs(EXECUTION, inner) == f"{BASE}/n2/data/1/n0/inputs.pb"
    assert layout.outputs(key(inner, attempt=3)) == f"{BASE}/n2/data/1/n0/3/outputs.pb"
    innermost = join(inner_frame(inner, 4), "dn5")
    assert layout.outputs(key(innermost)) == f"{BASE}/n2/data/1/n0/4/dn5/0/outputs.pb"


def test_an_element_lies_in_the_attempt_of_its_map_node() -> None:
    element = key("n1", attempt=2, index=9999, node_attempt=1)
    assert layout.attempt_prefix(element) == f"{BASE}/n1/data/1/9999/2"
    assert layout.outputs(element) == f"{BASE}/n1/data/1/9999/2/outputs.pb"
    assert layout.attempt_inputs(element) == f"{BASE}/n1/data/1/9999/2/inputs.pb"


def test_the_deepest_nodes_have_names_that_stores_take() -> None:
    deep = "/".join(["dn0/0"] * 300 + ["dn1"])
    deeper, other = f"{deep}/0/dn1", deep.replace("dn0", "dn2", 1)
    places = {layout.outputs(key(path, attempt)) for path in (deep, deeper, other) for attempt in (0, 1)}
    assert len(places) == 6
    assert max(map(len, places)) < 200
    shallow = "/".join(["dn0/0"] * 60 + ["dn1"])
    assert layout.node_prefix(EXECUTION, shallow).count("/dn0/") == 60


def test_no_two_attempts_share_a_folder() -> None:
    keys = [
        key(path, attempt, index, node_attempt)
        for path in ("n1", "n1/0/n1", "n1/0/n1/0/n1", "n1/1/n1")
        for attempt in range(3)
        for index, node_attempt in [(None, 0), (0, 0), (1, 0), (10, 0), (0, 1), (1, 1)]
    ]
    for where in (layout.attempt_prefix, layout.outputs, layout.raw_prefix, layout.checkpoint_prefix):
        assert len({where(each) for each in keys}) == len(keys)


def test_raw_data_is_spread_over_1296_folders_and_found_again() -> None:
    places = [layout.raw_prefix(key("n1", index=index)) for index in range(5000)]
    assert places == [layout.raw_prefix(key("n1", index=index)) for index in range(5000)]
    for place in places:
        assert re.fullmatch(r"raw/[0-9a-z]{2}/flytesnacks-development-a1b2c3-[0-9a-f]{32}", place)
    assert len({place.split("/")[1] for place in places}) > 1200
    assert layout.checkpoint_prefix(key("n1")) == layout.raw_prefix(key("n1")) + "/_flytecheckpoints"


def test_every_place_is_a_name_that_stores_take() -> None:
    store = MemoryBlobs()
    long = ExecutionId("p" * 63, "d" * 63, "e" * 63)
    deep = "n0"
    for _ in range(5):
        deep = join(inner_frame(deep, 10), "node-with-quite-a-long-name")
    for each in (key("n0"), AttemptKey(long, deep, 3), AttemptKey(long, deep, 3, 99_999, 2)):
        for place in (layout.outputs(each), layout.attempt_inputs(each), layout.checkpoint_prefix(each)):
            assert store.uri(place).endswith(place)
    assert layout.package("ab12") == "metadata/packages/ab12.pkg"
