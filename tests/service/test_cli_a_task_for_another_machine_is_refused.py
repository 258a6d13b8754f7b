"""`propwash run --architecture`: another one than this machine's starts nothing, unless it is to be ignored."""

from __future__ import annotations

import pytest

from engine.model.architectures import Architecture
from engine.routing import this_machine
from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")

OTHER = next(it for it in Architecture if it is not this_machine())


def test_it_fails_before_anything_runs(propwash: Propwash, endings: str) -> None:
    command = ("run", "--json", "--code-root", endings, "--architecture", OTHER.value, endings, "even", "--n", "2")
    done = propwash(*command)
    assert done.code == 1
    error = done.document["error"]
    assert (error["code"], error["kind"], error["node"]) == ("ArchitectureUnavailable", "USER", "n0")
    assert f"is for {OTHER.value}, and tasks run here as processes of a machine that is" in error["message"]
    assert not list(propwash.home.rglob("stdout"))

    done = propwash(*command[:1], "--set", "processes.ignore_architecture=true", *command[1:])
    assert done.code == 0, done.err
