"""An engine that was killed has told its home which containers may still run; the next one there ends them first."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec import structs

from engine.adapters.processes.programs import Programs
from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import ContainerRun, ExitReason, Mount
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("fork")]


def podman(folder: Path) -> str:
    folder.mkdir()
    script = folder / "podman"
    script.write_text(f"#!{sys.executable}\n{(Path(__file__).parent / 'podman.py').read_text()}")
    script.chmod(0o755)
    return str(script)


def calls(folder: Path, verb: str) -> list[list[str]]:
    found = [json.loads(line) for line in (folder / "calls").read_text().splitlines()]
    return [words for words in found if words[0] == verb]


async def test_they_are_found_by_their_label(tmp_path: Path) -> None:
    engine = podman(tmp_path / "bin")
    programs = Programs(container_engine=engine)
    mark = tmp_path / "work" / "containers-used"
    request = structs.replace(Bench(tmp_path).shell("exit 0"), container=ContainerRun("alpine:3"))
    async with LocalRunner(tmp_path / "work", programs=programs) as runner:
        ended = await runner.run(structs.replace(request, argv=("true",)), nothing)
        assert (ended.reason, ended.code) == (ExitReason.EXITED, 0)
        assert mark.read_text() == engine, "it may be killed at any moment"
    assert not mark.exists()
    assert calls(tmp_path / "bin", "rm") == []

    mark.write_text(engine)
    (tmp_path / "bin" / "left").write_text("abc\ndef\n")
    async with LocalRunner(tmp_path / "work", programs=programs):
        assert not mark.exists()
    ((_, *run),) = calls(tmp_path / "bin", "run")
    label = run[run.index("--label") + 1]
    assert calls(tmp_path / "bin", "ps") == [["ps", "--all", "--quiet", "--filter", f"label={label}"]]
    assert calls(tmp_path / "bin", "rm") == [["rm", "--force", "abc", "def"]]


@pytest.mark.parametrize(
    ("mount", "reason"),
    [
        (Mount("s3://bucket/x", "/in/x"), "s3://bucket/x can't be put into a container of this machine"),
        (Mount("/no/such/file", "/in/x"), "/no/such/file, which its container is to find at /in/x, is not there"),
        (Mount("/a,b", "/in/x"), "/a,b can't be put into a container: podman and docker read the comma"),
    ],
)
async def test_what_can_t_be_put_into_a_container(tmp_path: Path, mount: Mount, reason: str) -> None:
    programs = Programs(container_engine=podman(tmp_path / "bin"))
    request = structs.replace(Bench(tmp_path).shell("exit 0"), container=ContainerRun("alpine:3", (mount,)))
    async with LocalRunner(tmp_path / "work", programs=programs) as runner:
        ended = await runner.run(request, nothing)
    assert ended.reason is ExitReason.REFUSED
    assert ended.message.startswith(reason)
    assert calls(tmp_path / "bin", "run") == []
