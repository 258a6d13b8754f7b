"""Defaults, then the file, then environment variables, then --set; key by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.load import load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "propwash.yaml"
    path.write_text("offloading:\n  min_size: 1MiB\n  max_size: 20MiB\narray:\n  max_in_flight: 7\nlog:\n")
    return path


def test_without_sources_the_defaults_hold() -> None:
    settings = load(None, [], {})
    assert settings.offloading.min_size == 10 * 2**20
    assert settings.log.synchronous == "full"


def test_a_file_beats_the_defaults_and_leaves_the_rest(file: Path) -> None:
    settings = load(file, [], {})
    assert (settings.offloading.min_size, settings.array.max_in_flight) == (2**20, 7)
    assert settings.offloading.materialise_max == 256 * 2**20


def test_a_variable_beats_the_file(file: Path) -> None:
    settings = load(file, [], {"PROPWASH_OFFLOADING__MIN_SIZE": "2MiB", "PATH": "/bin"})
    assert (settings.offloading.min_size, settings.offloading.max_size) == (2 * 2**20, 20 * 2**20)


def test_an_argument_beats_the_variable_and_the_last_one_counts(file: Path) -> None:
    sets = ["offloading.min_size=3MiB", "offloading.min_size=4 MiB"]
    assert load(file, sets, {"PROPWASH_OFFLOADING__MIN_SIZE": "2MiB"}).offloading.min_size == 4 * 2**20


def test_the_file_may_be_named_by_a_variable(file: Path) -> None:
    assert load(None, [], {"PROPWASH_CONFIG": str(file)}).array.max_in_flight == 7


def test_the_argument_beats_the_variable_that_names_a_file(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("")
    assert load(other, [], {"PROPWASH_CONFIG": str(file)}).array.max_in_flight == 1000


def test_a_bad_value_that_is_overridden_does_no_harm() -> None:
    settings = load(None, ["array.max_in_flight=9"], {"PROPWASH_ARRAY__MAX_IN_FLIGHT": "many"})
    assert settings.array.max_in_flight == 9


def test_one_entry_of_a_map_can_be_changed() -> None:
    environ = {"PROPWASH_OFFLOADING__SUPPORTED_RUNTIMES__OTHER": "0.1.0"}
    settings = load(None, ["offloading.supported_runtimes.FLYTE_SDK=1.15.0"], environ)
    assert settings.offloading.supported_runtimes == {"FLYTE_SDK": "1.15.0", "OTHER": "0.1.0"}


def test_a_map_given_whole_replaces_the_earlier_one() -> None:
    settings = load(None, ["offloading.supported_runtimes={MINE: 2.0.0}"], {})
    assert settings.offloading.supported_runtimes == {"MINE": "2.0.0"}


def test_text_stays_as_it_was_typed() -> None:
    assert load(None, ["execution.project=007"], {}).execution.project == "007"


def test_values_are_read_as_yaml() -> None:
    settings = load(None, ["offloading.enabled=no", "processes.max_concurrent=null", "effects.jitter=0"], {})
    assert settings.offloading.enabled is False
    assert settings.processes.max_concurrent is None
    assert settings.processes.slots >= 1
    assert settings.effects.jitter == 0.0
