"""A resume reads the package from the store: the author's file may be gone by then."""

from __future__ import annotations

import msgspec
import pytest

from engine.model.errors import BadPackage
from engine.wire.package import FORMAT, pack, unpack
from tests.packages import node, plan, registered, task, workflow

FLOW = workflow("m.w", node("n0"))
PACKAGE = registered(task("m.t"), FLOW, plan("m.w", FLOW))


def test_what_was_packed_is_unpacked() -> None:
    assert unpack(pack(PACKAGE), "x.pkg") == PACKAGE
    assert unpack(pack(PACKAGE), "x.pkg").digest == PACKAGE.digest


def test_a_newer_format_is_refused() -> None:
    newer = msgspec.msgpack.encode({"format": FORMAT + 1, "parts": []})
    with pytest.raises(BadPackage, match=f"stored in format {FORMAT + 1}; this version reads format 1") as caught:
        unpack(newer, "x.pkg")
    assert caught.value.where == "x.pkg"


@pytest.mark.parametrize("data", [b"", b"hello", pack(PACKAGE)[:-7], msgspec.msgpack.encode({"format": FORMAT})])
def test_bytes_that_are_no_package_are_refused_by_name(data: bytes) -> None:
    with pytest.raises(BadPackage, match=r"not a stored package") as caught:
        unpack(data, "x.pkg")
    assert caught.value.where == "x.pkg"
