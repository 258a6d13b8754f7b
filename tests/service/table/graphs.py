"""Shapes of graphs, every way to bind an input, and steps into a promise."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

TREE = {"name": "t", "leaf": {"n": 3}, "leaves": [{"n": 1}], "table": {"a": [1]}, "words": ["w"], "by_name": {}}
TABLE = {"k": [1, 2, 3], "other": [4]}
IN_ORDER = "local execution runs nodes in the order of their calls"
NOWHERE = "local execution raises Python's own IndexError or KeyError, outside of any node"


def _nowhere(message: str) -> Wrong:
    text = f"PromiseAttributeResolveError: input 'n': workflow input {message}"
    return Wrong("BindingResolutionFailure", text)


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
    "order-without-data": Case(
        "shapes", "ordered", {"path": "{here}/said"}, local=False, right={"o0": "123"}, why=IN_ORDER
    ),
    "order-of-created-nodes": Case(
        "shapes", "ordered_nodes", {"path": "{here}/said"}, local=False, right={"o0": "ab"}, why=IN_ORDER
    ),
    "fields": Case("promises", "fields", {"n": 3}),
    "indexes-and-keys": Case("promises", "indexes", {"n": 3}),
    "untyped-dicts": Case("promises", "looseness"),
    "fields-of-models": Case("models", "fields", {"n": 3}),
    "mapped-fields-of-models": Case(
        "models",
        "mapped",
        {"n": 2},
        local=False,
        right={"o0": [{"weight": 1.0, "tags": {"k": 0}}, {"weight": 1.5, "tags": {"k": 1}}]},
        why="local execution can't map over a list inside a pydantic model",
    ),
    "fields-of-inputs": Case(
        "promises",
        "of_inputs",
        {"made": TREE, "named": {"k": [1, 2]}, "many": [{"n": 5}, {"n": 6, "rate": 2}]},
    ),
    "fields-as-outputs": Case("promises", "as_outputs", {"n": 3}),
    "fields-mapped": Case("promises", "mapped", {"n": 1}),
    "a-file-in-a-dataclass": Case("promises", "of_files"),
    "fields-into-sub-workflows": Case("promises", "into_subs", {"n": 3}),
    "an-index-too-far": Case(
        "promises",
        "out_of_range",
        {"table": TABLE},
        local=False,
        right=_nowhere("table['k'][7]: index 7 is out of range: the list has 3 items"),
        why=NOWHERE,
    ),
    "an-index-too-low": Case(
        "promises",
        "below_range",
        {"table": TABLE},
        local=False,
        right=_nowhere("table['k'][-4]: index -4 is out of range: the list has 3 items"),
        why=NOWHERE,
    ),
    "no-such-key": Case(
        "promises",
        "no_such_key",
        {"table": TABLE},
        local=False,
        right=_nowhere("table['nope'][0]: key 'nope' is not in the map, which has: 'k', 'other'"),
        why=NOWHERE,
    ),
}
