"""Every map output is a reference here, and every consumer uses it: steps, maps, lists, sub-workflows, plans."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from flyteidl.admin.task_pb2 import TaskSpec
from msgspec import structs

from engine.wire.package import PackageFiles
from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

CASES = {
    "all-consumers": Case("mapping", "uses", {"ns": [1, 2, 3]}),
    "maps-of-maps": Case("mapping", "chained", {"ns": [1, 2]}),
    "empty-maps": Case("mapping", "chained", {"ns": []}),
    "nones-in-place": Case("mapping", "half", {"ns": [1, 2, 3, 4], "bad": [2, 4]}),
    "lists-of-lists": Case("mapping", "of_lists", {"ns": [0, 1, 3]}),
    "four-workflows-deep": Case("mapping", "depth", {"ns": [1, 2]}),
    "dataclasses": Case("mapped_records", "dataclasses", {"n": 2}),
    "files": Case("mapped_records", "files", {"ns": [0]}),
    "records": Case("promises", "mapped", {"n": 1}),
    "elements-by-reference": Case("mapping", "elements_by_reference", {"ns": [1, 2]}),
    "inside-plans": Case("dynamics", "wf_everything", {"n": 3}),
    "maps-over-plans": Case("mapped_plans", "literal"),
    "maps-over-plans-in-plans": Case("dynamics", "wf_over_plan", {"n": 3}),
}
BY_HAND = {
    "too-far": Case("mapping", "too_far", {"ns": [1, 2, 3]}, local=False),
    "to-a-plan": Case("sizes", "to_a_plan", {"ns": [1, 2]}, local=False),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_cases({**CASES, **BY_HAND}, tmp_path_factory.mktemp("references") / "home", "offloading.min_size=0")


@pytest.mark.parametrize("name", CASES)
def test_the_values_are_those_of_local_execution(results: Results, name: str) -> None:
    found = {
        key: results.referred(value) if isinstance(value, Mapping) and "offloaded" in value else value
        for key, value in results.outputs(name).items()
    }
    assert found == results.local[name]


def test_the_stored_value_stays_a_reference(results: Results) -> None:
    outputs = results.outputs("all-consumers")
    stored = results.stored(results.node("all-consumers", "n0")["outputs_uri"])
    assert stored == {"o0": outputs["o5"]}
    assert results.referred(outputs["o5"]) == [1, 4, 9]
    assert (outputs["o0"], outputs["o1"]) == (10, 10)


def test_an_index_beyond_the_end_starts_nothing(results: Results) -> None:
    error = results.error("too-far")
    assert (error["code"], error["kind"], error["node"]) == ("BindingResolutionFailure", "USER", "n1")
    assert "index 7 is out of range: the list has 3 items" in error["message"]
    assert results.node("too-far", "n1")["outputs_uri"] is None


def test_a_launch_plan_gets_the_reference(results: Results) -> None:
    outputs = results.outputs("to-a-plan")
    assert outputs["o0"] == [2, 3]
    assert results.stored(results.node("to-a-plan", "n1")["inputs_uri"]) == {"texts": outputs["o1"]}


def of_an_old_flytekit(files: PackageFiles) -> PackageFiles:
    """The task that measures texts was registered with flytekit 1.10.0."""

    def aged(name: str, data: bytes) -> bytes:
        if "sizes.measured" not in name:
            return data
        spec = TaskSpec.FromString(data)
        spec.template.metadata.runtime.version = "1.10.0"
        return spec.SerializeToString()

    return structs.replace(files, files={name: aged(name, data) for name, data in files.files.items()})


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """By the setting offloading.incompatible_runtime."""

    def run(setting: str) -> Results:
        sets = ("offloading.min_size=0", f"offloading.incompatible_runtime={setting}")
        cases = {
            "direct": Case("sizes", "by_size", {"ns": [1, 2]}, local=False),
            "in-a-plan": Case("sizes", "to_a_plan", {"ns": [1, 2]}, local=False),
        }
        return run_cases(cases, tmp_path_factory.mktemp(setting) / "home", *sets, edit=of_an_old_flytekit)

    return {setting: run(setting) for setting in ("materialise", "fail")}


def test_an_old_flytekit_gets_the_value_itself(old: dict[str, Results]) -> None:
    results = old["materialise"]
    outputs = results.outputs("direct")
    assert (outputs["o1"], results.referred(outputs["o0"])) == ([2, 3], ["a", "aa"])
    assert results.stored(results.node("direct", "n1")["inputs_uri"]) == {"texts": ["a", "aa"]}
    assert results.outputs("in-a-plan")["o0"] == [2, 3]


@pytest.mark.parametrize(("name", "node"), [("direct", "n1"), ("in-a-plan", "n1")])
def test_an_old_flytekit_is_refused_if_told_so(old: dict[str, Results], name: str, node: str) -> None:
    error = old["fail"].error(name)
    assert (error["code"], error["kind"], error["node"]) == ("LiteralOffloadingNotSupported", "USER", node)
    for part in ("sizes.measured", "1.10.0", "1.13.14"):
        assert part in error["message"]
    assert old["fail"].node(name, node)["outputs_uri"] is None
