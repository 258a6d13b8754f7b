from __future__ import annotations

from msgspec import structs

from engine.wire.registration import register
from tests.packages import files, node, task, workflow

PACKAGE = files(task("m.t"), workflow("m.w", node("n0")))


def version(code_archive: str) -> str:
    return register(structs.replace(PACKAGE, code_archive=code_archive), project="p", domain="d").version


def test_the_same_content_has_the_same_version() -> None:
    assert version("fast1.tar.gz") == version("fast1.tar.gz")


def test_edited_code_is_another_version() -> None:
    assert len({version(""), version("fast1.tar.gz"), version("fast2.tar.gz")}) == 3


def test_a_version_that_was_given_stays() -> None:
    found = register(structs.replace(PACKAGE, code_archive="fast1.tar.gz"), project="p", domain="d", version="v1")
    assert found.version == "v1"
