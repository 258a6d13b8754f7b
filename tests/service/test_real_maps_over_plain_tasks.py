"""A map may run a task as it is, as flytekit writes it for reference tasks: elements are given items, not lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.workflow_pb2 import ArrayNode
from msgspec import structs

from engine.wire.package import PackageFiles
from tests.service.conformance import Case, Results, Wrong, run_cases

pytestmark = pytest.mark.service("flytekit")

CASES = {
    "one-list": Case("mapping", "plain", {"ns": [3, 1, 2]}),
    "no-items": Case("mapping", "plain", {"ns": []}),
    "two-lists": Case("mapping", "two_lists", {"ns": [1, 2], "texts": ["a", "é"]}),
    "maps-of-maps": Case("mapping", "chained", {"ns": [1, 2]}),
    "lists-of-two-lengths": Case(
        "mapping",
        "two_lists",
        {"ns": [1, 2], "texts": ["a"]},
        local=False,
        right=Wrong("InvalidArrayLength", "input arrays have different lengths: 'a' has 2 items, 'b' has 1 item"),
        why="local execution knows of no such maps",
    ),
}


def with_plain_tasks(files: PackageFiles) -> PackageFiles:
    """The maps of these workflows run the tasks themselves, and not the map tasks over them."""
    changed = dict(files.files)
    for name, data in files.files.items():
        if name.endswith("_2.pb"):
            spec = WorkflowSpec.FromString(data)
            if spec.template.id.name in ("mapping.plain", "mapping.two_lists", "mapping.chained"):
                _change(spec)
                changed[name] = spec.SerializeToString()
    return structs.replace(files, files=changed)


def _change(spec: WorkflowSpec) -> None:
    for node in spec.template.nodes:
        if node.WhichOneof("target") == "array_node":
            array = node.array_node
            array.is_original_sub_node_interface.value = True
            array.data_mode = ArrayNode.INDIVIDUAL_INPUT_FILES
            reference = array.node.task_node.reference_id
            reference.name = re.sub(r"map_(\w+)_[0-9a-f]{32}-arraynode", r"\1", reference.name)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_cases(CASES, tmp_path_factory.mktemp("plain") / "maps", edit=with_plain_tasks)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.right is None])
def test_the_outputs_are_those_of_local_execution(results: Results, name: str) -> None:
    assert results.outputs(name) == results.local[name]


def test_an_element_reads_its_item(results: Results) -> None:
    store = Path(results.node("one-list", "n0")["outputs_uri"].removeprefix("file://")).parent
    assert [results.stored(str(store / str(k) / "0" / "inputs.pb")) for k in range(3)] == [{"a": 3}, {"a": 1}, {"a": 2}]
    assert results.node("one-list", "n0")["task"] == "mapping.sq"


def test_lists_of_different_lengths_start_nothing(results: Results) -> None:
    error, right = results.error("lists-of-two-lengths"), CASES["lists-of-two-lengths"].right
    assert isinstance(right, Wrong)
    assert (error["code"], error["kind"]) == (right.code, right.kind)
    assert right.message in error["message"]
