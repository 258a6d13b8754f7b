from __future__ import annotations

import pytest

from engine.adapters.kubernetes.sources import Sources
from engine.data.template import unfilled

COMMAND = ("pyflyte-execute", "--inputs", "i")
COPY = "fast" + "0a" * 16


async def found(name: str) -> str:
    return f"s3://b/{name}"


async def nothing(name: str) -> str:
    return ""


async def test_a_registered_copy_is_fetched_first() -> None:
    assert await Sources(found).fetched(COMMAND, f"/anywhere/{COPY}") == (
        *("pyflyte-fast-execute", "--additional-distribution", f"s3://b/{COPY}", "--dest-dir", ".", "--"),
        *COMMAND,
    )


async def test_kubernetes_expands_nothing_in_where_it_is() -> None:
    async def odd(name: str) -> str:
        return "s3://b/pre$$fix"

    assert (await Sources(odd).fetched(COMMAND, f"/anywhere/{COPY}"))[2] == "s3://b/pre$$$$fix"


@pytest.mark.parametrize("code_root", ["", "/anywhere/src", f"/anywhere/{COPY}x"])
async def test_what_is_no_copy_is_expected_in_the_image(code_root: str) -> None:
    assert await Sources(found).fetched(COMMAND, code_root) == COMMAND


async def test_what_is_not_in_the_store_is_too() -> None:
    assert await Sources(nothing).fetched(COMMAND, f"/anywhere/{COPY}") == COMMAND
    assert await Sources(found).fetched(("sh", "-c", "true"), f"/anywhere/{COPY}") == ("sh", "-c", "true")


def test_a_command_whose_code_nobody_has_placed() -> None:
    assert unfilled(["pyflyte-fast-execute", "--additional-distribution", "{{ .remote_package_path }}"])
    assert not unfilled(["pyflyte-fast-execute", "--additional-distribution", "s3://b/fast.tar.gz"])
