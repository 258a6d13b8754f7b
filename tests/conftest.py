"""What holds for every test: no blocking call in the loop, nothing left behind, missing services named at the end."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.backing.session import KINDS, Servers
from tests.blocking import blocking_calls_refused
from tests.leftovers import no_children_left, no_tasks_left
from tests.services import SERVICES, missing

SKIPPED = pytest.StashKey[Counter[tuple[str, str]]]()
"""(service, why it can't be had) -> tests that were skipped for it."""
SERVERS = pytest.StashKey[Servers]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SKIPPED] = Counter()
    config.stash[SERVERS] = Servers()
    # A plugin asks for the current loop even in tests without one; Python 3.11 would make one then that nobody closes.
    asyncio.set_event_loop(None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("service"):
        for name in mark.args:
            if name not in SERVICES:
                raise pytest.UsageError(f"{item.nodeid}: no service {name!r} in tests/services.py")
            if reason := missing(name):
                item.config.stash[SKIPPED][name, reason] += 1
                pytest.skip(f"service {name}: {reason}")
            if name in KINDS:
                # Before any fixture: what a fixture starts later would be taken for the test's own leftovers.
                item.config.stash[SERVERS].ensure(name)


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[SERVERS].stop()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Of several processes that run the tests, each tells the one that reports."""
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told["skipped"] = [(name, reason, count) for (name, reason), count in session.config.stash[SKIPPED].items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, reason, count in getattr(node, "workeroutput", {}).get("skipped", ()):
        node.config.stash[SKIPPED][name, reason] += count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for (name, reason), count in sorted(config.stash[SKIPPED].items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        terminalreporter.write_line(f"service {name}: skipped, {reason} ({tests})")


@pytest.fixture(scope="session", autouse=True)
def _temporary_files_stay_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What flytekit leaves in the temporary folder goes into pytest's own, which pytest clears."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_blocking_calls() -> Iterator[None]:
    # Its import looks at the interpreter's file, and the engine imports what it needs when it starts, in the loop.
    importlib.import_module("croniter")
    with blocking_calls_refused():
        yield


@pytest.fixture
async def _no_tasks_left() -> AsyncIterator[None]:
    async with no_tasks_left():
        yield


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    if inspect.iscoroutinefunction(getattr(request, "function", None)):
        request.getfixturevalue("_no_tasks_left")
    with no_children_left():
        yield
