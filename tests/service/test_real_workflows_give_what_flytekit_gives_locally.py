"""Graphs, bindings, promises and values of every kind, against flytekit's own local execution of the same workflow."""

from __future__ import annotations

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

TREE = {"name": "t", "leaf": {"n": 3}, "leaves": [{"n": 1}], "table": {"a": [1]}, "words": ["w"], "by_name": {}}
FULL = {
    "name": "n",
    "leaf": {"n": 1, "rate": 2},
    "leaves": [{"n": 2}],
    "table": {"a": [1]},
    "words": ["é"],
    "limit": 3,
    "level": "high",
    "by_name": {"x": {"n": 4}},
}
RECORDS = {"one": FULL, "many": [FULL, TREE], "named": {"k": TREE}, "model": {"n": 3, "words": ["a"]}}
TABLE = {"k": [1, 2, 3], "other": [4]}
CASES = {
    "a-chain-of-ten": Case("shapes", "chain_of_ten", {"n": 3}),
    "fan-out-and-in": Case("shapes", "fan", {"n": 2}),
    "a-diamond": Case("shapes", "diamond", {"n": 1}),
    "named-outputs": Case("shapes", "named_outputs", {"n": 4}),
    "one-of-each": Case("shapes", "one_of_each", {"n": 4}),
    "a-named-tuple-of-one": Case("shapes", "single_field", {"n": 4}),
    "inputs-and-literals-passed-on": Case("shapes", "passed", {"n": 4}),
    "a-default-overridden": Case("shapes", "passed", {"n": 4, "text": "ü"}),
    "only-an-input-passed-on": Case("shapes", "only_passed", {"n": 4}),
    "only-literals": Case("shapes", "only_literals"),
    "an-empty-workflow": Case("shapes", "empty"),
    "lists-and-dicts-of-promises": Case("shapes", "bindings", {"n": 4}),
    "defaults": Case("shapes", "defaults"),
    "no-defaults": Case("shapes", "defaults", {"a": -1, "b": 4}),
    "nones-and-tasks-without-outputs": Case("shapes", "nothings", {"n": 4}),
    "a-workflow-without-outputs": Case("shapes", "just_effects", {"n": 4}),
    "sub-workflows": Case("shapes", "nested", {"n": 4}),
    "sub-workflows-in-order": Case("shapes", "ordered_subs", {"n": 4}),
    "a-sub-workflow-twice": Case("shapes", "same_sub_twice", {"n": 4}),
    "renamed-nodes": Case("shapes", "renamed", {"n": 4}),
    "fields": Case("promises", "fields", {"n": 3}),
    "indexes-and-keys": Case("promises", "indexes", {"n": 3}),
    "untyped-dicts": Case("promises", "looseness"),
    "fields-of-models": Case("promises", "of_models", {"n": 3}),
    "fields-of-inputs": Case(
        "promises",
        "of_inputs",
        {"made": TREE, "named": {"k": [1, 2]}, "many": [{"n": 5}, {"n": 6, "rate": 2}]},
    ),
    "fields-as-outputs": Case("promises", "as_outputs", {"n": 3}),
    "fields-mapped": Case("promises", "mapped", {"n": 1}),
    "a-file-in-a-dataclass": Case("promises", "of_files"),
    "fields-into-sub-workflows": Case("promises", "into_subs", {"n": 3}),
    "scalars": Case("natures", "wf_numbers", {"i": -5, "f": 3, "b": True, "s": "ünï ✓ \n"}),
    "large-numbers": Case("natures", "wf_numbers", {"i": 2**62, "f": 1e300, "b": False, "s": ""}),
    "moments": Case(
        "natures", "wf_moments", {"at": "2024-05-17T11:30:00.123456+02:00", "lasts": "1h30m", "day": "2024-02-29"}
    ),
    "lists": Case("natures", "wf_lists", {"ns": [], "fs": [1, 2.5], "texts": [["a"], []]}),
    "dicts": Case("natures", "wf_dicts", {"ns": {"a": 1}, "deep": {"x": {"y": [1, 2]}, "z": {}}}),
    "any-dict": Case("natures", "wf_loose", {"table": {"a": [1, 2.5, None, {"b": True}]}, "rows": [{"a": 1}, {}]}),
    "optionals-left-out": Case("natures", "wf_optionals"),
    "optionals": Case("natures", "wf_optionals", {"n": 3, "s": None, "ns": [1, 2]}),
    "unions": Case("natures", "wf_unions", {"a": 3, "b": None, "c": [1, "x"]}),
    "other-variants": Case("natures", "wf_unions", {"a": "x", "b": 2.5, "c": []}),
    "enums-left-out": Case("natures", "wf_enums"),
    "enums": Case("natures", "wf_enums", {"one": "red", "many": [], "maybe": "green"}),
    "records": Case("promises", "through", RECORDS),
    "optional-records": Case("promises", "through", {**RECORDS, "many": [], "named": {}, "maybe": FULL}),
    "pickles": Case("natures", "wf_anything", {"n": 3}),
    "files": Case("natures", "wf_files", {"text": "hé"}),
    "lists-of-files": Case("natures", "wf_many_files", {"texts": ["a", "b", "c"]}),
    "folders": Case("natures", "wf_folders"),
    "a-given-file": Case("natures", "wf_given_file", {"file": __file__}),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("real")
    by_hand = {
        "furnished": Case("features", "wf_furnished", {"n": 1}, local=False),
        "context": Case("features", "wf_context", local=False),
        "checkpoints": Case("features", "wf_resumes", local=False),
        "a-shell": Case("features", "wf_shell", {"text": "hé", "path": str(folder / "said")}, local=False),
        "folders-mapped": Case("features", "wf_folders", local=False),
        "rows-mapped": Case("features", "wf_rows", {"rows": [[1], [], [2, 3]]}, local=False),
        "an-odd-plan": Case("features", "wf_odd_plan", local=False),
        "imperative": Case("features", "my.imperative", {"n": 3}, local=False),
        "in-order": Case("shapes", "ordered", {"path": str(folder / "in-order")}, local=False),
        "nodes-in-order": Case("shapes", "ordered_nodes", {"path": str(folder / "nodes-in-order")}, local=False),
        "a-file-as-an-output": Case("natures", "wf_file_out", {"text": "x✓"}, local=False),
        "an-index-too-far": Case("promises", "out_of_range", {"table": TABLE}, local=False),
        "an-index-too-low": Case("promises", "below_range", {"table": TABLE}, local=False),
        "no-such-key": Case("promises", "no_such_key", {"table": TABLE}, local=False),
    }
    return run_cases({**CASES, **by_hand}, folder / "home")


@pytest.mark.parametrize("name", CASES)
def test_the_outputs_are_those_of_local_execution(results: Results, name: str) -> None:
    assert results.outputs(name) == results.local[name]


def test_order_without_data(results: Results) -> None:
    assert results.outputs("in-order") == {"o0": "123"}
    assert results.outputs("nodes-in-order") == {"o0": "ab"}


def test_a_file_is_an_output(results: Results) -> None:
    with open(results.outputs("a-file-as-an-output")["o0"], encoding="utf8") as file:
        assert file.read() == "x✓"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("an-index-too-far", "table['k'][7]: index 7 is out of range: the list has 3 items"),
        ("an-index-too-low", "table['k'][-4]: index -4 is out of range: the list has 3 items"),
        ("no-such-key", "table['nope'][0]: key 'nope' is not in the map, which has: 'k', 'other'"),
    ],
)
def test_a_step_into_nothing_fails_the_node_that_asks(results: Results, name: str, message: str) -> None:
    error = results.error(name)
    assert (error["code"], error["kind"], error["node"]) == ("BindingResolutionFailure", "USER", "n0")
    assert error["message"] == f"PromiseAttributeResolveError: input 'n': workflow input {message}"
    assert results.node(name, "n0")["outputs_uri"] is None


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("furnished", {"o0": "mine 1"}),
        ("context", {"o0": "p d context features.context"}),
        ("checkpoints", {"o0": 2}),
        ("a-shell", {"o0": "hé\n"}),
        ("folders-mapped", {"o0": [1, 2]}),
        ("rows-mapped", {"o0": [1, 0, 5]}),
        ("an-odd-plan", {"o0": [1, 2]}),
        ("imperative", {"sum_of_both": 6}),
    ],
)
def test_what_flytekit_offers_beside_plain_tasks(results: Results, name: str, outputs: dict[str, object]) -> None:
    assert results.outputs(name) == outputs
