"""What a registry says of an image decides, and what it does not say decides nothing."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from engine.adapters.images.check import TAG_SECONDS, ImageCheck
from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Failure
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.placement import Placement
from engine.ports.taskrunner import TaskRequest
from tests import programs
from tests.contract.registries import Door, TestRegistry, docker_config, registry

ARM64 = Architecture.ARM64


def request(image: str, architecture: Architecture | None = ARM64) -> TaskRequest:
    key = AttemptKey(ExecutionId("p", "d", "e"), "n0")
    return TaskRequest(key, programs.task("m.t"), (), {}, "", image=image, placement=Placement(architecture))


async def asked(check: ImageCheck, image: str, architecture: Architecture | None = ARM64) -> Failure | None:
    return await check.refuses(request(image, architecture), resumed=False)


async def test_an_image_without_a_build_for_it_is_refused() -> None:
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        there.push("team/x86:v1", ["linux/amd64", "linux/arm/v6", "unknown/unknown"])
        image = there.image("team/x86:v1")
        assert await asked(check, image, Architecture.AMD64) is None
        assert await asked(check, image, Architecture.ARM_V6) is None
        assert await asked(check, image, None) is None
        there.push("team/win:v1", ["linux/amd64", "windows/arm64"])
        assert await asked(check, there.image("team/win:v1")) == Failure(
            "ImageNotBuiltForArchitecture",
            ErrorKind.USER,
            f"image {there.image('team/win:v1')} is not built for arm64: it is built for linux/amd64, windows/arm64; "
            "nothing was started",
        )


async def test_one_platform_stands_in_the_image_s_configuration() -> None:
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        there.push("one:v1", ["linux/arm64/v8"], listed=False)
        there.push("other:v1", ["linux/amd64"], listed=False)
        assert await asked(check, there.image("one:v1")) is None
        failure = await asked(check, there.image("other:v1"))
        assert failure is not None
        assert "is built for linux/amd64" in failure.message


@pytest.mark.parametrize("door", ["token", "basic"])
async def test_a_registry_gets_the_proof_it_asks_for(door: Door, tmp_path: Path) -> None:
    async with registry(door) as there:
        there.push("team/x:v1", ["linux/amd64"])
        file = anyio.Path(tmp_path / "config.json")
        await file.write_text(docker_config(there.address))
        async with ImageCheck.open(str(file), 5.0) as check:
            assert await asked(check, there.image("team/x:v1")) is not None
        assert there.asked["GET token"] == (2 if door == "token" else 0)


@pytest.mark.parametrize("trouble", ["none", "wrong", "missing", "closed", "broken", "gone"])
async def test_what_can_t_be_found_out_fails_no_task(trouble: str, tmp_path: Path) -> None:
    async with registry("closed" if trouble == "closed" else "token") as there:
        there.push("team/x:v1", ["linux/amd64"])
        file, image = anyio.Path(tmp_path / "config.json"), there.image("team/x:v1")
        await file.write_text({"wrong": "{}", "broken": "{"}.get(trouble, docker_config(there.address)))
        name = None if trouble == "none" else str(tmp_path / "no") if trouble == "missing" else str(file)
        image = there.image("team/other:v1") if trouble == "gone" else image
        async with ImageCheck.open(name, 5.0) as check:
            assert await asked(check, image) is None


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_registry_in_trouble_fails_no_task(status: int) -> None:
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        there.push("x:v1", ["linux/amd64"])
        there.fails = status
        assert await asked(check, there.image("x:v1")) is None


async def test_a_registry_that_is_not_there_or_says_nothing_fails_no_task() -> None:
    async with AsyncExitStack() as stack:
        check = await stack.enter_async_context(ImageCheck.open(None, 0.2))
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        silent = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with listener:
            assert await asked(check, f"127.0.0.1:{silent}/x:v1") is None
        assert await asked(check, f"127.0.0.1:{silent}/y:v1") is None
        assert await asked(check, "no image at all") is None


async def test_many_who_ask_at_once_are_one_question() -> None:
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        there.push("x:v1", ["linux/amd64"])
        found: list[Failure | None] = []

        async def ask() -> None:
            found.append(await asked(check, there.image("x:v1")))

        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(ask)
        assert len(found) == 50
        assert None not in found
        assert there.asked == {"HEAD manifests": 1, "GET manifests": 1}


async def test_a_tag_is_looked_up_again_and_a_digest_never() -> None:
    now = [0.0]
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        check._now = lambda: now[0]
        digest = there.push("x:v1", ["linux/amd64"])
        image = there.image("x:v1")
        assert await asked(check, image) is not None
        now[0] = TAG_SECONDS
        assert await asked(check, image) is not None
        assert there.asked == {"HEAD manifests": 2, "GET manifests": 1}, "the digest is known"
        assert await asked(check, there.image(f"x@{digest}")) is not None
        assert there.asked == {"HEAD manifests": 2, "GET manifests": 1}
        there.push("x:v1", ["linux/arm64"])
        assert await asked(check, image) is not None, "for a minute the tag stands for what it stood for"
        now[0] = 2 * TAG_SECONDS
        assert await asked(check, image) is None


async def test_a_trouble_is_no_answer_for_ever() -> None:
    now = [0.0]
    async with registry() as there, ImageCheck.open(None, 5.0) as check:
        check._now = lambda: now[0]
        there.push("x:v1", ["linux/amd64"])
        there.fails = 500
        assert await asked(check, there.image("x:v1")) is None
        there.fails = 0
        assert await asked(check, there.image("x:v1")) is None
        now[0] = TAG_SECONDS
        assert await asked(check, there.image("x:v1")) is not None


def test_the_registry_of_the_test_keeps_what_is_pushed() -> None:
    one, other = TestRegistry("open"), TestRegistry("open")
    assert one.push("x:v1", ["linux/amd64"]) == other.push("y:v1", ["linux/amd64"])
