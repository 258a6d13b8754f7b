"""Tasks of several images side by side: each on the Python that the settings give to its image, warm or plain."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from engine.adapters.processes.programs import Programs
from engine.adapters.processes.runner import LocalRunner
from engine.model.errors import BadInput
from engine.ports.taskrunner import Exit, TaskRequest
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]


def environment(folder: Path) -> str:
    """A virtual environment that finds all that this one has; the path of its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib"))
    script = (Path(sys.executable).parent / "pyflyte-execute").read_text().splitlines()
    (folder / "bin" / "pyflyte-execute").write_text("\n".join([f"#!{folder}/bin/python", *script[1:]]))
    (folder / "bin" / "pyflyte-execute").chmod(0o755)
    return str(folder / "bin" / "python")


@pytest.mark.parametrize("fork", [True, False], ids=["warm", "plain"])
async def test_tasks_of_two_images_at_once(tmp_path: Path, fork: bool) -> None:
    other = await anyio.to_thread.run_sync(environment, tmp_path / "other")
    bench = Bench(tmp_path)
    programs = Programs(environments=(("registry/other:*", other),))

    async with LocalRunner(tmp_path / "work", programs=programs, fork=fork) as runner:

        async def run(request: TaskRequest, image: str) -> None:
            ended = await runner.run(structs.replace(request, image=image), nothing)
            assert ended == Exit(ended.reason, 0, "", ended.started_at, ended.ended_at)

        async with anyio.create_task_group() as group:
            for node, image in (("n0", "registry/other:v1"), ("n1", "registry/mine:v1"), ("n2", "registry/other:v2")):
                group.start_soon(run, bench.task("prefix_of_python", node=node), image)
    assert [bench.outputs(node) for node in ("n0", "n1", "n2")] == [
        str(tmp_path / "other"),
        sys.prefix,
        str(tmp_path / "other"),
    ]


async def test_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        async with LocalRunner(tmp_path, programs=Programs(environments=(("a:*", "no-such-python"),))):
            pass
    assert str(refused.value) == (
        "processes.environments['a:*'] is 'no-such-python'; there is no such program, so no task can be run"
    )
