"""An author's folder may hold modules named like the engine's own packages, on PYTHONPATH or as the working folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAYS_VERSION = f"propwash, version {version('propwash')}\n"

pytestmark = pytest.mark.service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules that end whatever imports them, as packages and as files."""
    for name in ("engine", "handlers", "config"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the author is imported')")
    for name in ("click", "yaml", "pydantic"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the author is imported')")
    return tmp_path


def run(*argv: str, cwd: Path, pythonpath: str | None = None) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    if pythonpath is not None:
        environ["PYTHONPATH"] = pythonpath
    done = subprocess.run(argv, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60, check=False)
    return f"{done.stdout}{done.stderr}" + (f"(exit code {done.returncode})" if done.returncode else "")


COMMANDS = [["propwash"], ["python", "-m", "propwash"]]


def command(words: list[str], scripts: str) -> list[str]:
    return [os.path.join(scripts, words[0]), *words[1:], "--version"]


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("pythonpath", [None, "", "{folder}", ".", "{folder}:/nonexistent"])
def test_the_command_starts_with_its_own_modules(folder: Path, words: list[str], pythonpath: str | None) -> None:
    pythonpath = None if pythonpath is None else pythonpath.format(folder=folder)
    assert run(*command(words, sysconfig.get_path("scripts")), cwd=folder, pythonpath=pythonpath) == SAYS_VERSION


def test_the_authors_folder_elsewhere_on_pythonpath(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere")
    for words in COMMANDS:
        argv = command(words, sysconfig.get_path("scripts"))
        assert run(*argv, cwd=other, pythonpath=f"{other}:{folder}") == SAYS_VERSION


def test_tasks_still_get_pythonpath(folder: Path) -> None:
    script = (
        "import os, sys; from propwash import main; sys.argv = ['propwash', '--version']; main();"
        "import engine; print(os.environ['PYTHONPATH'], engine.__file__)"
    )
    said = run(sys.executable, "-P", "-c", script, cwd=folder, pythonpath=str(folder))
    assert said == f"{SAYS_VERSION}{folder} {ROOT / 'engine/__init__.py'}\n"


@pytest.fixture(scope="module")
def wheel_scripts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The scripts folder of an environment into which a wheel of this tree was installed."""
    work = tmp_path_factory.mktemp("wheel")
    source, environment = work / "source", work / "environment"
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("engine", "handlers", "config"):
        shutil.copytree(ROOT / name, source / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    flags = ["--no-deps", "--no-index"]
    subprocess.run(
        [*pip, "wheel", *flags, "--no-build-isolation", "--wheel-dir", work, source], check=True, timeout=100
    )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=60)
    (wheel,) = work.glob("*.whl")
    python = environment / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", *flags, wheel], check=True, timeout=60)
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # The dependencies come from this environment; a folder named in a .pth file does not bring its editable installs.
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return str(environment / "bin")


@pytest.mark.parametrize("words", COMMANDS)
def test_a_wheel_starts_with_its_own_modules(folder: Path, words: list[str], wheel_scripts: str) -> None:
    argv = command(words, wheel_scripts)
    for pythonpath in (str(folder), ".", None):
        assert run(*argv, cwd=folder, pythonpath=pythonpath) == SAYS_VERSION


def test_a_wheel_brings_its_settings_and_only_its_own_packages(folder: Path, wheel_scripts: str) -> None:
    script = (
        "import sys; sys.argv = ['propwash', '--version']; from propwash import main; main();"
        "from config.load import load; print(load(None, [], {}).array.max_in_flight);"
        "import importlib.util as u; print(u.find_spec('tests'), u.find_spec('benchmarks'))"
    )
    said = run(os.path.join(wheel_scripts, "python"), "-P", "-c", script, cwd=folder, pythonpath=str(folder))
    assert said == f"{SAYS_VERSION}1000\nNone None\n"
