"""Maps over launch plans: of lists, of lists of lists, with fixed inputs, with failures."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

NO_INPUTS = "local execution can't map a launch plan over promises"
TABLE = [[1, 2], [], [3]]


def _given(entity: str, inputs: dict[str, object], right: dict[str, object] | Wrong) -> Case:
    return Case("mapped_plans", entity, inputs, local=False, right=right, why=NO_INPUTS)


CASES = {
    "a-plan-for-each-literal": Case("mapped_plans", "literal"),
    "a-plan-for-each-input": _given("of_inputs", {"ns": [3, 4]}, {"o0": 25}),
    "a-plan-for-no-input": _given("of_inputs", {"ns": []}, {"o0": 0}),
    "a-plan-for-each-output": _given("of_outputs", {"n": 4}, {"o0": [0, 1, 4, 9]}),
    "a-plan-for-each-pair": Case("mapped_plans", "two_lists"),
    "a-plan-with-a-fixed-input-for-each": Case("mapped_plans", "with_fixed"),
    "maps-in-plans-in-a-map": _given("rows", {"table": TABLE}, {"o0": [[1, 4], [], [9]]}),
    "three-maps-deep": _given("three_deep", {"cube": [TABLE, []]}, {"o0": [[[1, 4], [], [9]], []]}),
    "half-of-the-children-is-enough": _given("half", {"ns": [1, -2, 3, -4]}, {"o0": [1, None, 3, None]}),
    "two-children-are-enough": _given("two_of_them", {"ns": [-1, 2, 3]}, {"o0": [None, 2, 3]}),
    "children-one-by-one": Case("mapped_plans", "one_by_one"),
    "children-without-outputs": _given("no_outputs", {"ns": [1, 2]}, {}),
    "a-plan-for-each-dataclass": Case("mapped_plans", "dataclasses"),
    "a-map-over-a-plan-between-maps": _given("between_maps", {"ns": [1, 2]}, {"o0": [1, 256]}),
    "all-children-are-run": _given("all_of_them", {"ns": [4, 5]}, {"o0": [4, 5]}),
    "too-many-children-fail": _given(
        "half",
        {"ns": [1, -2, -3, -4]},
        Wrong("USER:RuntimeError", "of 4 failed: ["),
    ),
    "all-children-are-run-though-one-fails": _given(
        "all_of_them",
        {"ns": [-4, 5, -6]},
        Wrong("USER:RuntimeError", "2 elements of 3 failed: [0,2]; 3 must succeed. First error, at n0["),
    ),
}
