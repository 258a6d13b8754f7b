from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.wire.literals import to_literal
from engine.wire.natural import natural

if TYPE_CHECKING or find_spec("flytekit"):
    from tests.flytekit_cases import CASES, FlyteDirectory, FlyteFile, read, type_of, written
else:
    CASES = {"all": None}

pytestmark = pytest.mark.service("flytekit")


@pytest.mark.parametrize("name", CASES)
def test_flytekit_reads_what_was_typed(name: str) -> None:
    case = CASES[name]
    assert read(to_literal(case.typed, type_of(case.python_type), "--x"), case.python_type) == case.value


@pytest.mark.parametrize("name", CASES)
def test_natural_is_the_same_for_what_was_typed_and_what_flytekit_writes(name: str) -> None:
    case = CASES[name]
    typed = natural(to_literal(case.typed, type_of(case.python_type), "--x"))
    assert typed == natural(written(case.value, case.python_type))
    assert typed == case.natural


def test_files_and_directories(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("hello")
    file = read(to_literal(f"{tmp_path}/data.txt", type_of(FlyteFile), "--f"), FlyteFile)
    assert Path(file).read_text() == "hello"
    folder = read(to_literal(str(tmp_path), type_of(FlyteDirectory), "--d"), FlyteDirectory)
    assert Path(folder, "data.txt").read_text() == "hello"


def test_a_struct_for_an_old_flytekit_is_read_by_a_new_one() -> None:
    case = CASES["nested dataclass"]
    declared = type_of(case.python_type)
    declared.ClearField("annotation")
    literal = to_literal(case.typed, declared, "--x")
    assert literal.scalar.WhichOneof("value") == "generic"
    assert read(literal, case.python_type) == case.value
