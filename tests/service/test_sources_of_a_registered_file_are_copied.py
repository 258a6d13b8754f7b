"""What `register` copies of a file's modules: those that importing it has loaded from its root, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model.errors import BadInput
from engine.wire.packaging import package_file

pytestmark = pytest.mark.service("flytekit")

FLOW = """
import sys
from flytekit import task, workflow
from shop import prices
sys.path.insert(0, __file__.rpartition("/")[0] + "/env/site-packages")
import vendored

@task
def price() -> int:
    return prices.PRICE

@workflow
def wf() -> int:
    return price()
"""
TASKS_ONLY = """
from flytekit import task

@task
def one() -> int:
    return 1
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name, text in {
        "flow.py": FLOW,
        "tasks.py": TASKS_ONLY,
        "shop/__init__.py": "",
        "shop/prices.py": "PRICE = 3\n",
        "shop/unused.py": "",
        "data.csv": "1,2\n",
        "env/site-packages/vendored.py": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_what_was_loaded_from_the_root_is_copied(root: Path, tmp_path: Path) -> None:
    files = await package_file(root / "flow.py", sources=tmp_path / "code")
    copy = Path(files.code_root)
    assert copy.parent == tmp_path / "code"
    assert inside(copy) == ["flow.py", "shop/__init__.py", "shop/prices.py"]
    assert files.code_archive == f"{copy.name}.tar.gz"


def inside(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))


async def test_equal_sources_have_one_name_and_others_another(root: Path, tmp_path: Path) -> None:
    first = await package_file(root / "flow.py", sources=tmp_path / "code")
    again = await package_file(root / "flow.py", sources=tmp_path / "code")
    (root / "shop" / "prices.py").write_text("PRICE = 4\n")
    other = await package_file(root / "flow.py", sources=tmp_path / "code")
    assert first.code_root == again.code_root != other.code_root
    assert first.files == again.files


async def test_without_a_folder_for_them_nothing_is_copied(root: Path) -> None:
    files = await package_file(root / "flow.py")
    assert (files.code_root, files.code_archive) == (str(root), "")


async def test_a_file_of_tasks_can_be_registered_and_not_run(root: Path, tmp_path: Path) -> None:
    files = await package_file(root / "tasks.py", sources=tmp_path / "code")
    assert len(files.files) == 1
    with pytest.raises(BadInput, match=r"defines no workflow, only the tasks tasks\.one"):
        await package_file(root / "tasks.py")
