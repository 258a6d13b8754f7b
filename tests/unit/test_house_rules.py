"""The rules of the house that no linter knows: sizes, names, signs, and what no tracked file may say."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "handlers", "config")

NORM_LINES, WALL_LINES, WITHIN_NORM = 200, 300, 0.9
WALL_FUNCTION_LINES, WALL_PARAMETERS = 60, 7
LONG_FILES: dict[str, str] = {}
"""Path -> why this file may pass the wall."""
LONG_FUNCTIONS: dict[str, str] = {}
"""`path:function` -> why this function may pass the wall."""
SAYS_NOTHING = re.compile(r"(^|_)(util|utils|helper|helpers|common|misc|stuff|tools)$")
SIGNS_WITH_CODE = {
    "engine/launcher/__init__.py": "it is the package propwash, where the command begins (decision 0001)"
}

MACHINE_PATH = re.compile(r"(?<![\w.$}/])/(?:work|root|home/\w+|Users/\w+)/")
REGISTRY_HOST = re.compile(
    r"(?i)\b(?:pypi|pythonhosted|npmjs|crates|(?:proxy|sum)\.golang|maven|debian|ubuntu)\.(?:org|com|io|net)\b"
)
"""`golang.org` itself begins the names of Go modules."""
UNFINISHED = re.compile(r"#\s*(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\bNotImplemented" r"Error\b")


@cache
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in listed.split("\0") if path and (ROOT / path).is_file()]


def python_files(*folders: str) -> list[str]:
    return [path for path in tracked() if path.endswith(".py") and path.split("/")[0] in folders]


@cache
def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def parsed(path: str) -> ast.Module:
    return ast.parse(source(path), path)


def functions(path: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


CODE = (*ROOMS, "tests", "benchmarks", "examples")


def test_no_file_passes_the_wall() -> None:
    long = {path for path in python_files(*CODE) if len(source(path).splitlines()) > WALL_LINES}
    assert long == set(LONG_FILES), f"above {WALL_LINES} lines; split it, or give a reason in LONG_FILES"


def test_most_files_are_within_the_norm() -> None:
    lengths = [len(source(path).splitlines()) for path in python_files(*ROOMS)]
    assert sum(length <= NORM_LINES for length in lengths) >= WITHIN_NORM * len(lengths)
    assert statistics.median(lengths) <= 120


def test_no_function_passes_the_wall() -> None:
    long = {
        f"{path}:{function.name}"
        for path in python_files(*CODE)
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > WALL_FUNCTION_LINES
    }
    assert long == set(LONG_FUNCTIONS), f"above {WALL_FUNCTION_LINES} lines; split it, or give a reason"


def test_no_function_has_too_many_parameters() -> None:
    many = []
    for path in python_files(*ROOMS):
        for function in functions(path):
            given = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
            if len([name for name in given if name.arg not in ("self", "cls")]) > WALL_PARAMETERS:
                many.append(f"{path}:{function.name}")
    assert many == []


def test_every_file_name_says_what_is_in_it() -> None:
    assert [path for path in python_files(*CODE) if SAYS_NOTHING.search(Path(path).stem)] == []


def test_every_room_has_a_sign_and_no_code_in_it() -> None:
    wrong = []
    for package in sorted({str(Path(path).parent) for path in python_files(*ROOMS)}):
        path = f"{package}/__init__.py"
        assert path in tracked(), f"{package} has no __init__.py"
        if len((ast.get_docstring(parsed(path)) or "").splitlines()) < 2:
            wrong.append(f"{path}: the sign does not say what comes in, goes out and never belongs here")
        if len(parsed(path).body) != 1 and path not in SIGNS_WITH_CODE:
            wrong.append(f"{path}: holds more than a sign")
    assert wrong == []


def test_annotations_are_never_evaluated_at_import() -> None:
    wanted = "from __future__ import annotations"
    code = [path for path in python_files(*ROOMS, "tests", "benchmarks") if not path.startswith("tests/workflows/")]
    assert [path for path in code if len(parsed(path).body) > 1 and wanted not in source(path)] == []


def test_every_package_is_in_the_distribution() -> None:
    project = tomllib.loads(source("pyproject.toml"))["tool"]["setuptools"]
    packages = {str(Path(path).parent).replace("/", ".") for path in python_files(*ROOMS)}
    assert set(project["packages"]) == {"propwash"} | packages - {"engine.launcher"}


def test_every_pin_is_one_version_and_in_order() -> None:
    pins = [line for line in source("constraints.txt").splitlines() if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin)] == []
    names = [pin.split("==")[0].lower() for pin in pins]
    assert names == sorted(set(names))


@pytest.mark.parametrize(
    ("pattern", "what"),
    [(MACHINE_PATH, "path of a machine"), (REGISTRY_HOST, "package registry's host"), (UNFINISHED, "unfinished mark")],
)
def test_no_tracked_file_says_what_does_not_belong_in_it(pattern: re.Pattern[str], what: str) -> None:
    found = []
    for path in tracked():
        try:
            text = source(path)
        except UnicodeDecodeError:
            continue  # a package of protobuf files or the like
        found += [
            f"{path}:{number}: {line.strip()}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    assert found == [], f"a {what}"


PAGES = [
    path for path in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md") if (ROOT / path).is_file()
]


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    text = source(page)
    named = set(re.findall(r"`((?:engine|handlers|config|tests|docs|examples)/[\w/.-]+\.\w+)`", text))
    linked = {str(Path(page).parent / link) for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)}
    assert [name for name in sorted(named | linked) if not (ROOT / name).exists()] == []
