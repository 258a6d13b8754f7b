"""Map outputs just below, at and above the limits of offloading; sizes are those of the serialized literal."""

from __future__ import annotations

import pytest

from tests.service.conformance import Case, Results, run_cases

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

MIB = 1024 * 1024
LARGE = 900_000
"""Characters of all strings but the last. Flytekit offloads single values of 1 MiB by itself."""
SIZES = [MIB - 1, MIB, MIB + 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1]


def lengths(size: int) -> list[int]:
    """Of strings whose list is a literal of `size` bytes: 4 for the list, 16 for each string."""
    larger = [LARGE] * (size // LARGE)
    last = size - 4 - 16 * (len(larger) + 1) - sum(larger)
    return [*larger, last]


def run(sizes: list[int], folder: str, factory: pytest.TempPathFactory, *sets: str) -> Results:
    cases = {f"bytes-{size}": Case("sizes", "by_size", {"ns": lengths(size)}, local=False) for size in sizes}
    return run_cases(cases, factory.mktemp(folder) / "home", *sets)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(SIZES, "limits", tmp_path_factory, "offloading.min_size=1MiB", "offloading.max_size=2MiB")


@pytest.mark.parametrize("size", SIZES[:4])
def test_a_value_is_used_wherever_it_lies(results: Results, size: int) -> None:
    outputs, texts = results.outputs(f"bytes-{size}"), lengths(size)
    assert (outputs["o1"], outputs["o2"]) == ([len(texts), sum(texts)], texts[-1])


def test_below_the_minimum_it_is_inline(results: Results) -> None:
    assert [len(text) for text in results.outputs(f"bytes-{MIB - 1}")["o0"]] == lengths(MIB - 1)


@pytest.mark.parametrize("size", SIZES[1:4])
def test_from_the_minimum_it_is_a_reference(results: Results, size: int) -> None:
    value = results.outputs(f"bytes-{size}")["o0"]
    assert value["offloaded"]["size_bytes"] == size
    assert [len(text) for text in results.referred(value)] == lengths(size)


@pytest.mark.parametrize("size", SIZES[4:])
def test_from_the_maximum_the_node_fails(results: Results, size: int) -> None:
    error = results.error(f"bytes-{size}")
    assert (error["code"], error["kind"], error["node"]) == ("OffloadTooLarge", "USER", "n0")
    assert str(size) in error["message"]
    assert str(2 * MIB) in error["message"]
    nodes = {node["path"]: node["attempts"] for node in results.documents[f"bytes-{size}"]["nodes"]}
    assert nodes == {"n0": 1}


def test_without_offloading_it_is_always_inline(tmp_path_factory: pytest.TempPathFactory) -> None:
    results = run([2 * MIB], "off", tmp_path_factory, "offloading.enabled=false", "offloading.min_size=1MiB")
    assert [len(text) for text in results.outputs(f"bytes-{2 * MIB}")["o0"]] == lengths(2 * MIB)
