"""Compiles a registered package into a `Program`, and collects everything that is wrong with it."""

from __future__ import annotations

from msgspec import Struct

from engine.model.graph import Program
from engine.wire.package import Package
from engine.wire.problems import Problem


class Compiled(Struct, frozen=True):
    program: Program
    problems: tuple[Problem, ...] = ()
    """Structural ones first, then capability ones, each in order of entity and node."""


def compile_package(package: Package) -> Compiled:
    """Never raises for what an author wrote: an entity with structural problems may be missing from the program."""
    return Compiled(Program(package.digest, {}, {}, {}, package.code_root))
