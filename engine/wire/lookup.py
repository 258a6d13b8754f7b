"""Finds what a person asked for in a compiled package, and tells whether it can be run."""

from __future__ import annotations

from engine.model.errors import BadInput
from engine.model.graph import Program
from engine.model.ids import EntityId
from engine.wire.compile import Compiled
from engine.wire.problems import Problem


def find_entity(program: Program, name: str) -> EntityId:
    """A launch plan or workflow by its full name, or by a unique ending of it: `my_wf` for `mod.my_wf`.

    Raises BadInput that says which names there are.
    """
    raise BadInput(f"{name}: no such entity")


def reachable_problems(compiled: Compiled, entity: EntityId) -> tuple[Problem, ...]:
    """Every structural problem of the package, and the capability problems of what running `entity` would reach."""
    return compiled.problems


def ensure_runnable(compiled: Compiled, entity: EntityId, where: str) -> None:
    """Raises BadPackage with all `reachable_problems`, if there are any."""
