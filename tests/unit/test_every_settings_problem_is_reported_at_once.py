"""Each problem names the key, the value, where it came from and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from config.load import SettingsError, load
from config.settings import Offloading


def problems(sets: Sequence[str] = (), environ: Mapping[str, str] | None = None, text: str = "") -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(None, sets, environ or {})
    return [str(problem) for problem in caught.value.problems]


def test_problems_of_all_sources_come_together(tmp_path: Path) -> None:
    file = tmp_path / "propwash.yaml"
    file.write_text("offloading: {min_sise: 1MiB}\narray: {max_in_flight: 0}\n")
    with pytest.raises(SettingsError) as caught:
        load(file, ["retries.max_system_failures=16", "effects"], {"PROPWASH_LOG__SYNCHRONOUS": "maybe"})
    assert str(caught.value) == (
        "the settings can't be used, 5 problems; nothing was started:\n"
        f"  - offloading.min_sise = '1MiB' (from file {file}): there is no such setting; "
        "did you mean offloading.min_size?\n"
        "  - --set effects: expected KEY=VALUE, such as offloading.min_size=1MiB\n"
        "  - log.synchronous = 'maybe' (from environment variable PROPWASH_LOG__SYNCHRONOUS): "
        "expected 'full' or 'normal'\n"
        "  - retries.max_system_failures = 16 (from --set): expected at most 15\n"
        f"  - array.max_in_flight = 0 (from file {file}): expected at least 1"
    )


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("array.max_in_flight=true", "array.max_in_flight = True (from --set): expected a whole number"),
        ("array.max_in_flight=2.5", "array.max_in_flight = 2.5 (from --set): expected a whole number"),
        ("effects.jitter=2", "effects.jitter = 2 (from --set): expected at most 1.0"),
        ("effects.max_seconds=.inf", "effects.max_seconds = inf (from --set): expected a finite number"),
        ("shutdown.deadline_seconds=0", "shutdown.deadline_seconds = 0 (from --set): expected more than 0.0"),
        ("store.durable=perhaps", "store.durable = 'perhaps' (from --set): expected true or false"),
        (
            "offloading.incompatible_runtime=ignore",
            "offloading.incompatible_runtime = 'ignore' (from --set): expected 'fail' or 'materialise'",
        ),
        (
            "offloading.supported_runtimes.FLYTE_SDK=1.10",
            "offloading.supported_runtimes.FLYTE_SDK = '1.10' (from --set): expected a version N.N.N, such as 1.13.14",
        ),
        (
            "execution.project=My Project",
            "execution.project = 'My Project' (from --set): "
            "expected 1 to 63 of a-z, 0-9 and '-', neither first nor last a dash",
        ),
        (
            "processes.python=/no/such/python",
            "processes.python = '/no/such/python' (from --set): "
            "expected the path of an executable Python, or its name on PATH",
        ),
        ("log=full", "log = 'full' (from --set): expected a section with synchronous"),
        (
            "offloading.min_size.x=1",
            "offloading.min_size.x = '1' (from --set): there is no such setting; did you mean offloading.min_size?",
        ),
        ("min_size=1", "min_size = '1' (from --set): there is no such setting; did you mean offloading.min_size?"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(argument: str, expected: str) -> None:
    assert problems([argument]) == [expected]


def test_text_that_is_not_yaml_is_reported() -> None:
    assert "store.durable = '[' (from --set): is not valid YAML" in problems(["store.durable=["])[0]


def test_limits_that_contradict_each_other_name_both_and_their_origins() -> None:
    assert problems(["offloading.min_size=2000MiB"]) == [
        "offloading.max_size = '1000MiB' (from defaults): "
        "expected at least offloading.min_size, which is 2000MiB (from --set)"
    ]


def test_a_wrong_limit_does_not_hide_the_other_problems_of_its_section() -> None:
    found = problems(["offloading.min_size=2000MiB", "offloading.enabled=5", "effects.max_seconds=0.01"])
    assert [problem.split(" ")[0] for problem in found] == [
        "offloading.enabled",
        "offloading.max_size",
        "effects.max_seconds",
    ]


def test_a_limit_that_is_wrong_itself_is_reported_once() -> None:
    found = problems(["offloading.min_size=big"])
    assert len(found) == 1
    assert found[0].startswith("offloading.min_size = 'big' (from --set): expected a size")


def test_models_check_themselves_without_the_loader() -> None:
    with pytest.raises(ValueError, match="at least min_size"):
        Offloading(min_size=2, max_size=1)
    with pytest.raises(ValueError, match="frozen"):
        Offloading().enabled = False
