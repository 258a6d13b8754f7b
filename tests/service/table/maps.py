"""Map tasks: bound inputs, success ratios, concurrency, empty maps, maps of maps, elements that try again."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

TEN = list(range(10))
LENGTHS = "local execution raises an IndexError"
NO_RETRIES = "local execution ignores retries"


def _too_few(message: str) -> Wrong:
    return Wrong("USER:RuntimeError", message, local="ValueError")


def _lengths(given: str) -> Wrong:
    return Wrong("InvalidArrayLength", f"input arrays have different lengths: 'a' has 3 items, 'b' has {given}")


CASES = {
    "a-map": Case("mapping", "plain", {"ns": [3, 1, 2]}),
    "maps-of-maps": Case("mapping", "chained", {"ns": [1, 2]}),
    "empty-maps-of-empty-maps": Case("mapping", "chained", {"ns": []}),
    "a-map-of-a-literal-list": Case("mapping", "literal"),
    "a-map-of-a-list-of-promises": Case("mapping", "of_promises", {"n": 3}),
    "a-map-of-two-lists": Case("mapping", "two_lists", {"ns": [1, 2], "texts": ["a", "é"]}),
    "a-map-of-two-empty-lists": Case("mapping", "two_lists", {"ns": [], "texts": []}),
    "bound-inputs": Case("mapping", "partials", {"ns": [1, 2], "b": [4]}),
    "bound-inputs-of-empty-maps": Case("mapping", "partials", {"ns": [], "b": [4]}),
    "a-bound-list-of-a-promise": Case("mapping", "bound_list"),
    "half-is-enough": Case("mapping", "half", {"ns": TEN[:5], "bad": [1, 4]}),
    "exactly-half": Case("mapping", "half", {"ns": TEN[:4], "bad": [0, 1]}),
    "half-of-nothing": Case("mapping", "half", {"ns": [], "bad": []}),
    "exactly-six-tenths": Case("mapping", "six_tenths", {"ns": TEN, "bad": [0, 2, 5, 9]}),
    "exactly-eight-tenths": Case("mapping", "eight_tenths", {"ns": TEN, "bad": [0, 9]}),
    "elements-that-are-references": Case("mapping", "elements_by_reference", {"ns": [1, 2]}),
    "maps-of-the-old-kind": Case("mapping", "the_old_way", {"ns": [3, 1]}),
    "a-map-without-outputs": Case("mapping", "no_outputs", {"ns": [1, 2]}),
    "no-elements-and-no-outputs": Case("mapping", "no_outputs", {"ns": []}),
    "mapped-dataclasses": Case("mapped_records", "dataclasses", {"n": 2}),
    "maps-to-lists": Case("mapping", "of_lists", {"ns": [0, 1, 3]}),
    "elements-that-may-be-none": Case("mapping", "optional_items", {"ns": [1, 2, 3]}),
    "a-map-four-workflows-deep": Case("mapping", "depth", {"ns": [1, 2]}),
    "an-empty-map-four-workflows-deep": Case("mapping", "depth", {"ns": []}),
    "a-renamed-map": Case("mapping", "renamed", {"ns": [2]}),
    "the-same-map-twice": Case("mapping", "same_map_twice", {"ns": [1, 2]}),
    "mapped-rows": Case("features", "wf_rows", {"rows": [[1], [], [2, 3]]}),
    "mapped-files": Case("mapped_records", "files", {"ns": [0, 1, 2]}),
    "mapped-folders": Case("features", "wf_folders"),
    "twelve-elements": Case("mapping", "wide", {"n": 12}),
    "less-than-half": Case(
        "mapping",
        "half",
        {"ns": TEN[:4], "bad": [0, 1, 2]},
        right=_too_few("2 must succeed. First error, at n0["),
    ),
    "less-than-six-tenths": Case(
        "mapping",
        "six_tenths",
        {"ns": TEN, "bad": [0, 1, 2, 3, 4]},
        right=_too_few("5 elements of 10 failed: [0-4]; 6 must succeed. First error, at n0["),
    ),
    "less-than-eight-tenths": Case(
        "mapping",
        "eight_tenths",
        {"ns": TEN, "bad": [0, 1, 9]},
        right=_too_few("3 elements of 10 failed: [0-1,9]; 8 must succeed. First error, at n0["),
    ),
    "less-than-all": Case(
        "mapping",
        "strict",
        {"ns": TEN[:3], "bad": [1]},
        right=_too_few("1 element of 3 failed: [1]; 3 must succeed. First error, at n0[1]"),
    ),
    "three-are-enough": Case(
        "mapping",
        "at_least_three",
        {"ns": TEN[:5], "bad": [0, 3]},
        local=False,
        right={"o0": [None, 1, 4, None, 16]},
        why="local execution does not know min_successes",
    ),
    "two-are-too-few": Case(
        "mapping",
        "at_least_three",
        {"ns": TEN[:5], "bad": [0, 3, 4]},
        right=_too_few("3 elements of 5 failed: [0,3-4]; 3 must succeed. First error, at n0["),
    ),
    "unequal-lengths": Case(
        "mapping",
        "two_lists",
        {"ns": [1, 2, 3], "texts": ["a", "b"]},
        local=False,
        right=_lengths("2 items"),
        why=LENGTHS,
    ),
    "one-list-is-empty": Case(
        "mapping", "two_lists", {"ns": [1, 2, 3], "texts": []}, local=False, right=_lengths("no items"), why=LENGTHS
    ),
    "an-element-fails-twice": Case(
        "mapping",
        "retried",
        {"folder": "{here}", "times": 2},
        local=False,
        right={"o0": [0, 10, 20, 30, 40], "o1": {"0": 1, "1": 1, "2": 3, "3": 1, "4": 1}},
        why=NO_RETRIES,
    ),
    "an-element-fails-always": Case(
        "mapping",
        "retried",
        {"folder": "{here}", "times": 9},
        local=False,
        right=Wrong(
            "RetriesExhausted|USER:Recoverable",
            "1 element of 5 failed: [2]; 5 must succeed. First error, at n0[2]: [3/3]",
        ),
        why=NO_RETRIES,
    ),
    "one-at-a-time": Case("mapping", "one_at_a_time", {"ns": [1, 2, 3, 4], "folder": "{here}"}),
}
