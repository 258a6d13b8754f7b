"""Which handler runs which kind of node. A new kind is a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Iterable

from engine.machine.handler import NodeHandler
from engine.model.effects import Effect
from engine.model.errors import Defect
from engine.model.graph import NodeKind
from handlers.array import ArrayHandler
from handlers.array_plans import ArrayOfPlansHandler
from handlers.branch import BranchHandler
from handlers.gate import GateHandler
from handlers.launchplan import LaunchPlanHandler
from handlers.start_end import EndHandler, StartHandler
from handlers.subworkflow import SubworkflowHandler
from handlers.task import TaskHandler


def default_handlers() -> dict[NodeKind, NodeHandler]:
    return register(
        [
            StartHandler(),
            EndHandler(),
            TaskHandler(),
            ArrayHandler(),
            ArrayOfPlansHandler(),
            SubworkflowHandler(),
            LaunchPlanHandler(),
            GateHandler(),
            BranchHandler(),
        ]
    )


def register(handlers: Iterable[NodeHandler]) -> dict[NodeKind, NodeHandler]:
    """Handlers by node kind. Raises Defect when two claim the same kind or the same effect."""
    by_kind: dict[NodeKind, NodeHandler] = {}
    for handler in handlers:
        if handler.kind in by_kind:
            raise Defect(f"two handlers for {handler.kind.value} nodes: {by_kind[handler.kind]}, {handler}")
        by_kind[handler.kind] = handler
    performers(by_kind.values())
    return by_kind


def performers(handlers: Iterable[NodeHandler]) -> dict[type[Effect], NodeHandler]:
    """Handlers by the effects they perform."""
    by_effect: dict[type[Effect], NodeHandler] = {}
    for handler in handlers:
        for effect in handler.performs:
            if effect in by_effect:
                raise Defect(f"two handlers for the effect {effect.__name__}")
            by_effect[effect] = handler
    return by_effect
