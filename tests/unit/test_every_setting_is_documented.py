"""The models, defaults.yaml and docs/configuration.md say the same."""

from __future__ import annotations

from pathlib import Path

import yaml

from config.load import DEFAULTS, load
from config.reference import describe, page
from config.settings import Settings

ROOT = Path(__file__).parents[2]


def test_the_page_is_the_one_that_the_models_make() -> None:
    assert (ROOT / "docs/configuration.md").read_text() == page(), "run `make docs`"


def test_every_setting_has_a_text_of_its_own() -> None:
    docs = [doc for _, _, _, doc in describe()]
    assert all(len(doc) > 20 for doc in docs)
    assert len(set(docs)) == len(docs)


def test_the_defaults_file_names_every_setting_and_gives_the_models_defaults() -> None:
    tree = yaml.safe_load(DEFAULTS.read_text())
    assert [f"{group}.{name}" for group in tree for name in tree[group]] == [key for key, _, _, _ in describe()]
    assert load(None, [], {}) == Settings()


def test_a_setting_is_described_with_type_and_default() -> None:
    described = {key: (kind, default) for key, kind, default, _ in describe()}
    assert described["offloading.min_size"] == ("size", "10MiB")
    assert described["processes.max_concurrent"] == ("whole number or null", "null")
    assert described["log.synchronous"] == ("full | normal", "full")
    assert described["offloading.supported_runtimes"] == (
        "map of runtime type to version",
        "{FLYTE_SDK: 1.13.14}",
    )
