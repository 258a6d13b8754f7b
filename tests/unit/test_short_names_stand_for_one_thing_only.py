"""User case S25: names cut without a hash, or with too short a one, made one node read another one's results."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.ids import AttemptKey, ExecutionId, label

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z")
"""RFC 1123, as Kubernetes checks it; the length is checked apart."""
NAMES = {
    "200 characters": "a" * 200,
    "unicode": "Überprüfung_漢字",
    "only unicode": "漢字",
    "dotted": "my_package.my_module.My.task",
    "upper case": "MyTask",
    "underscores": "__my__task__",
    "dashes": "-a--b-",
    "only dashes": "---",
    "empty": "",
    "slashes": "n2/0/n0",
    "new line": "a\n",
    "lone surrogate": "a\udcff",
    "63 characters": "a" * 63,
    "64 characters": "a" * 64,
}


def valid(name: str, limit: int = 63) -> bool:
    return len(name) <= limit and LABEL.match(name) is not None


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_every_name_becomes_a_dns_label(name: str) -> None:
    for parts in ((name,), (name, "0"), ("e", name, name), (name,) * 10):
        assert valid(label(*parts)), label(*parts)


def test_a_plain_name_stays_as_it_is() -> None:
    for name in ("n0", "order-7", "a" * 63, "0"):
        assert label(name) == name


def test_a_cut_name_keeps_its_beginning_and_128_bits_of_hash() -> None:
    assert re.fullmatch(r"a{30}-[0-9a-f]{32}", label("a" * 64))
    assert re.fullmatch(r"my-execution-n2-0-n0-[0-9a-f]{32}", label("my-execution", "n2/0/n0"))


def test_equal_parts_give_equal_labels() -> None:
    assert label("Order", "n0", "3") == label("Order", "n0", "3")
    # A name that changed with the release would orphan what an older one started.
    assert label("Order", "n0", "3") == "order-n0-3-31c50128b7adc440a1de65b8c07371da"


def test_names_that_differ_far_behind_stay_apart() -> None:
    first = "n" * 150 + "a" + "n" * 49
    second = "n" * 150 + "b" + "n" * 49
    assert label("e", first) != label("e", second)


def test_a_hundred_thousand_attempts_have_as_many_names() -> None:
    execution = ExecutionId("p", "d", "order-7")
    keys = [
        AttemptKey(execution, path, attempt, index, node_attempt)
        for path in ("n0", "n0/0/n0", "n0/0/n00", "n" * 200, "n" * 199 + "m")
        for node_attempt in range(2)
        for attempt in range(2)
        for index in range(5000)
    ]
    assert len(keys) == 100_000
    assert len({key.digest() for key in keys}) == 100_000
    names = {label(key.execution.name, key.path, f"{key.node_attempt}-{key.index}", str(key.attempt)) for key in keys}
    assert len(names) == 100_000
    assert all(map(valid, names))


def test_where_one_part_ends_and_the_next_begins_counts() -> None:
    ambiguous = [("a-b",), ("a", "b"), ("a", "", "b"), ("a-", "b"), ("a", "-b"), ("a\0b",), ("a", "b", ""), ("A-b",)]
    assert len({label(*parts) for parts in ambiguous}) == len(ambiguous)


def test_a_label_taken_as_a_name_is_another_name() -> None:
    for parts in (("My Task",), ("漢",), ("a", "b")):
        assert label(label(*parts)) != label(*parts)


@pytest.mark.parametrize("limit", [1, 8, 20, 32, 33, 34, 35, 50, 63])
def test_the_limit_holds(limit: int) -> None:
    for name in NAMES.values():
        for parts in ((name,), ("some-execution", name, "0")):
            assert valid(label(*parts, limit=limit), limit), (parts, limit)
    assert label("n" * limit, limit=limit) == "n" * limit
    assert label("n" * (limit + 1), limit=limit) != "n" * limit


@given(st.lists(st.lists(st.text(max_size=80), min_size=1, max_size=4), min_size=2, max_size=2, unique_by=tuple))
def test_different_parts_give_different_valid_labels(two: list[list[str]]) -> None:
    first, second = (label(*parts) for parts in two)
    assert first != second
    assert valid(first)
    assert valid(second)
