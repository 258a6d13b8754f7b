"""Real flytekit tasks: what was computed once is not computed again, and `propwash get` says why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.wire.packaging import package_file
from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("package")
    files = anyio.run(partial(package_file, WORKFLOWS / "cached.py"))
    for name, data in files.files.items():
        (folder / name).write_bytes(data)
    shutil.copy(WORKFLOWS / "cached.py", folder)
    return str(folder)


class Cached:
    """Runs the workflows of cached.py one after another in one home."""

    def __init__(self, propwash: Propwash, package: str) -> None:
        self.propwash, self.package = propwash, package
        self.starts_file = propwash.folder / "starts"
        self.environ = {"STARTS": str(self.starts_file)}

    def words(self, workflow: str, *words: str) -> list[str]:
        return ["run", "--code-root", self.package, self.package, workflow, *words]

    def run(self, workflow: str, *words: str) -> Any:
        """Its JSON document."""
        done = self.propwash(*self.words(workflow, *words, "--json"), environ=self.environ)
        assert done.code == 0, done.err
        return done.document

    def at(self, gate: Path) -> dict[str, str]:
        """The environment in which `slow` waits there."""
        return {**self.environ, "GATE": str(gate)}

    def starts(self) -> Sequence[str]:
        """What has run since the last time this was asked."""
        found = self.starts_file.read_text().split("\n")[:-1] if self.starts_file.exists() else []
        self.starts_file.unlink(missing_ok=True)
        return sorted(found)


@pytest.fixture
def cached(propwash: Propwash, package: str) -> Cached:
    return Cached(propwash, package)


def caches(document: Any) -> list[str | None]:
    return [node["cache"] for node in document["nodes"]]


def test_tasks(cached: Cached) -> None:
    first = cached.run("both", "--n", "3", "--note", "a")
    assert (first["outputs"], cached.starts()) == ({"o0": 6, "o1": "a 3"}, ["double 3", "noted"])
    assert caches(first) == ["CACHE_POPULATED"] * 2
    second = cached.run("both", "--n", "3", "--note", "b")
    assert (second["outputs"], cached.starts()) == ({"o0": 6, "o1": "a 3"}, [])
    assert caches(second) == ["CACHE_HIT"] * 2
    third = cached.run("both", "--n", "3", "--note", "b", "--overwrite-cache")
    assert (third["outputs"], cached.starts()) == ({"o0": 6, "o1": "b 3"}, ["double 3", "noted"])
    assert cached.run("both", "--n", "3", "--note", "c")["outputs"] == {"o0": 6, "o1": "b 3"}


def test_elements_of_maps(cached: Cached) -> None:
    assert cached.run("mapped", "--ns", "[1,2,3]")["outputs"] == {"o0": [2, 4, 6]}
    assert cached.starts() == ["double 1", "double 2", "double 3"]
    assert cached.run("mapped", "--ns", "[3,9,1]")["outputs"] == {"o0": [6, 18, 2]}
    assert cached.starts() == ["double 9"]
    assert cached.run("mapped_otherwise", "--ns", "[1,9]")["outputs"] == {"o0": [2, 18]}
    assert cached.run("both", "--n", "2", "--note", "a")["outputs"]["o0"] == 4
    assert cached.starts() == ["noted"], "the task alone finds what a map has kept"


def test_values_that_authors_hash(cached: Cached) -> None:
    assert cached.run("hashed", "--words", '["ab","c"]')["outputs"] == {"o0": "ab c"}
    assert cached.run("hashed", "--words", '["xy","z"]')["outputs"] == {"o0": "ab c"}
    assert cached.starts() == ["joined"]
    assert cached.run("hashed", "--words", '["xy","zz"]')["outputs"] == {"o0": "xy zz"}


def test_values_that_the_sdk_offloads(cached: Cached) -> None:
    size, mib = 2_000_000, "offloading.min_size=1MiB"
    assert cached.run("of_large", "--size", str(size), "--set", mib)["outputs"] == {"o0": size}
    assert cached.starts() == ["length"]
    (cached.propwash.folder / "inputs.json").write_text('{"text": "' + "x" * size + '"}')
    assert cached.run("of_text", "--inputs-file", "inputs.json")["outputs"] == {"o0": size}
    assert cached.run("of_large", "--size", str(size))["outputs"] == {"o0": size}
    assert cached.starts() == [], "inline or not, it is the same value"

    first = cached.run("produces", "--size", str(size), "--set", mib)
    second = cached.run("produces", "--size", str(size), "--set", mib)
    assert second["outputs"] == first["outputs"] == {"o0": size}
    assert cached.starts() == ["produced"]


def test_what_a_node_says_of_caching(cached: Cached) -> None:
    for _ in range(2):
        assert cached.run("overridden", "--n", "4")["outputs"] == {"o0": 4, "o1": 8}
    assert cached.starts() == ["double 4", "double 4", "plain"]


def test_an_engine_that_is_killed_frees_what_it_reserved(cached: Cached) -> None:
    first, second = (cached.propwash.folder / name for name in ("first", "second"))
    for path in (first, second):
        os.mkfifo(path)
    words = cached.words("three_slow", "--n", "5", "--name", "killed")
    # The opening of a pipe waits until a task stands at its other end.
    with cached.propwash.started(*words, environ=cached.at(first)) as process, open(first, "w"):
        process.kill()
        process.wait(timeout=LIMIT_SECONDS)
    assert cached.starts() == ["slow"]
    with cached.propwash.started("resume", "--json", environ=cached.at(second)) as process:
        with open(second, "w"):
            pass
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0
    assert '"o2": 5' in out
    assert cached.starts() == ["slow"]
    statuses = caches(cached.propwash("get", "killed", "--json").document)
    assert (statuses.count("CACHE_HIT"), statuses.count("CACHE_POPULATED")) == (2, 1)
    assert cached.propwash("check").code == 0
