from __future__ import annotations

import io
import tarfile
from pathlib import Path

from engine.adapters.kubernetes.sources import Sources
from engine.data.template import unfilled

COMMAND = ("pyflyte-execute", "--inputs", "i")


async def test_a_copy_in_the_home_is_packed_once(tmp_path: Path) -> None:
    stored: dict[str, bytes] = {}

    async def store(key: str, data: bytes) -> str:
        assert key not in stored
        stored[key] = data
        return f"s3://b/{key}"

    code = tmp_path / "code" / "fast123"
    (code / "pkg").mkdir(parents=True)
    (code / "pkg" / "wf.py").write_text("x = 1")
    sources = Sources(tmp_path / "code", store)
    for _ in range(2):
        assert await sources.fetched(COMMAND, str(code)) == (
            *("pyflyte-fast-execute", "--additional-distribution", "s3://b/metadata/sources/fast123.tar.gz"),
            *("--dest-dir", ".", "--"),
            *COMMAND,
        )
    [data] = stored.values()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert "pkg/wf.py" in archive.getnames()


async def test_what_is_no_copy_is_expected_in_the_image(tmp_path: Path) -> None:
    async def store(key: str, data: bytes) -> str:
        raise AssertionError(key)

    sources = Sources(tmp_path / "code", store)
    assert await sources.fetched(COMMAND, str(tmp_path)) == COMMAND
    assert await sources.fetched(COMMAND, "") == COMMAND
    assert await sources.fetched(COMMAND, str(tmp_path / "code" / "missing")) == COMMAND
    assert await sources.fetched(("sh", "-c", "true"), str(tmp_path / "code")) == ("sh", "-c", "true")


def test_a_command_whose_code_nobody_has_placed() -> None:
    assert unfilled(["pyflyte-fast-execute", "--additional-distribution", "{{ .remote_package_path }}"])
    assert not unfilled(["pyflyte-fast-execute", "--additional-distribution", "s3://b/fast.tar.gz"])
