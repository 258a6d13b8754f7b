"""ContainerTask: values go in and come out as files, through whatever answers to the name of podman."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.wire.packaging import package_file
from tests.service.command import WORKFLOWS, Done, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("package")
    files = anyio.run(partial(package_file, WORKFLOWS / "contained.py"))
    for name, data in files.files.items():
        (folder / name).write_bytes(data)
    shutil.copy(WORKFLOWS / "contained.py", folder)
    return str(folder)


class Contained:
    def __init__(self, propwash: Propwash, package: str) -> None:
        self.propwash, self.package = propwash, package
        self.bin = propwash.folder / "bin"
        self.bin.mkdir()
        script = (Path(__file__).parent / "podman.py").read_text()
        (self.bin / "podman").write_text(f"#!{sys.executable}\n{script}")
        (self.bin / "podman").chmod(0o755)

    def __call__(self, workflow: str, *words: str) -> Done:
        ran = ["run", "--code-root", self.package, self.package, workflow, *words, "--json"]
        return self.propwash(*ran, environ={"PATH": f"{self.bin}:/usr/bin:/bin"})

    def outputs(self, workflow: str, *words: str) -> Any:
        done = self(workflow, *words)
        assert done.code == 0, done.err + done.out
        return done.document["outputs"]

    def error(self, workflow: str, *words: str) -> Any:
        done = self(workflow, *words)
        assert done.code == 1, done.err
        return done.document["error"]

    def calls(self, verb: str) -> Sequence[list[str]]:
        found = [json.loads(line) for line in (self.bin / "calls").read_text().splitlines()]
        return [words for words in found if words[0] == verb]


@pytest.fixture
def contained(propwash: Propwash, package: str) -> Contained:
    return Contained(propwash, package)


def test_values_in_the_command_and_in_files(contained: Contained) -> None:
    assert contained.outputs("doubles", "--n", "21", "--word", "hey you") == {"o0": 42, "o1": "hey you"}
    ((_, *words),) = contained.calls("run")
    assert words[: words.index("--name")] == ["--rm"]
    assert words[words.index("--entrypoint") + 1] == "sh"
    assert words[words.index("alpine:3") + 1] == "-c"
    assert contained.calls("rm") == []


def test_every_type(contained: Contained) -> None:
    given = {
        "i": -7,
        "f": 2.5,
        "b": True,
        "s": " spaces \n",
        "t": "2024-05-17T09:30:00.123456Z",
        "d": 3723.5,
        "j": {"a": [1, "x"]},
        "many": ["one", "two"],
    }
    (contained.propwash.folder / "inputs.json").write_text(json.dumps(given))
    found = contained.outputs("everything", "--inputs-file", "inputs.json")
    assert [found[f"o{k}"] for k in range(4)] == [-7, 2.5, True, " spaces \n"]
    assert found["o4"] == "2024-05-17T09:30:00.123456Z"
    assert found["o6"] == {"a": [1, "x"]}
    assert found["o7"] == {**given, "d": "1h2m3.5s"}
    assert found["o8"] == "onetwo"
    assert contained.outputs("everything", "--inputs-file", "inputs.json")["o5"] == found["o5"]


def test_files_and_directories(contained: Contained) -> None:
    assert contained.outputs("files", "--text", "quiet") == {"o0": "QUIETQUIET"}


def test_what_is_missing_is_named(contained: Contained) -> None:
    error = contained.error("is_silent")
    assert (error["code"], error["kind"]) == ("RetriesExhausted|OutputsNotFound", "USER")
    assert error["message"].endswith(
        "task silent has ended, but not all of its outputs are there: output 'file': there is no file file; "
        "output 'number': there is no file number"
    )


def test_what_is_of_another_type_is_shown(contained: Contained) -> None:
    error = contained.error("is_wrong")
    assert error["code"] == "RetriesExhausted|OutputsNotFound"
    assert error["message"].endswith("output 'number': expected a whole number of 64 bits, its file holds 'many\\n'")


def test_an_error_file_is_the_error(contained: Contained) -> None:
    error = contained.error("complaint")
    assert (error["code"], error["kind"]) == ("RetriesExhausted|Error", "USER")
    assert error["message"].endswith("USER::too hot\n")


def test_an_exit_status(contained: Contained) -> None:
    error = contained.error("exit_status")
    assert (error["code"], error["kind"]) == ("RetriesExhausted|Error", "USER")
    assert "the task exited with status 3: sorry" in error["message"]


def test_an_image_that_is_not_there(contained: Contained) -> None:
    error = contained.error("no_image", "--set", "retries.max_system_failures=1")
    assert (error["code"], error["kind"]) == ("RetriesExhausted|FailedToStart", "SYSTEM")
    assert "no such image" in error["message"]
    assert len(contained.calls("run")) == 2


def test_one_that_is_too_slow_is_removed(contained: Contained) -> None:
    error = contained.error("too_slow")
    assert error["code"] == "RetriesExhausted|TimeoutExpired"
    ((_, *words),) = contained.calls("run")
    assert contained.calls("rm") == [["rm", "--force", words[words.index("--name") + 1]]]


def test_a_nodes_own_image_and_the_environment(contained: Contained) -> None:
    assert contained.outputs("other_image", "--name", "named") == {"o0": "named-mine\n"}
    ((_, *words),) = contained.calls("run")
    assert "other:2" in words
    assert "alpine:3" not in words


def test_without_an_engine_it_is_refused_before_anything_starts(contained: Contained) -> None:
    (contained.bin / "down").touch()
    done = contained("doubles", "--n", "1", "--word", "x")
    assert done.code == 2
    assert "task double: it runs in a container of its own, which needs podman or docker" in done.err
    assert "Cannot connect to the daemon" in done.err
    assert done.err.rstrip().endswith("nothing was started")
    assert contained.outputs("sound", "--n", "1")
