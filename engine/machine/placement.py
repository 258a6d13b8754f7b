"""Which architecture a task is for, and what its pod must say because of it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.placement import CONFLICT, NOT_CONFIGURED, UNKNOWN, NodePool, Placement, PlacementRules, Toleration


class Said(Struct, frozen=True):
    """Who says which architecture, by rank: the first who says one wins."""

    execution: Architecture | None = None
    launch_plan: Architecture | None = None
    task: Architecture | None = None
    """What it declares of its image (engine.data.placed)."""
    project_domain: Architecture | None = None
    platform: Architecture | None = None

    @property
    def chosen(self) -> Architecture | None:
        return self.execution or self.launch_plan or self.task or self.project_domain or self.platform

    @property
    def by(self) -> str:
        """Who said what was chosen, for messages."""
        ranks = {
            "the execution": self.execution,
            "its launch plan": self.launch_plan,
            "the task": self.task,
            "the default of its project and domain": self.project_domain,
            "the platform's default": self.platform,
        }
        return next((who for who, said in ranks.items() if said), "nobody")


def place(said: Said, rules: PlacementRules, *, interruptible: bool) -> Placement:
    """Where an attempt is to run. Raises Permanent (USER) for an architecture without nodes, and for selectors of the
    operator's that contradict each other."""
    chosen = said.chosen
    pool = NodePool() if chosen is None else rules.architectures.get(chosen)
    if pool is None:
        raise _wrong(NOT_CONFIGURED, not_configured(said, rules))
    spot = rules.interruptible if interruptible else NodePool()
    for key, value in spot.node_selector.items():
        if pool.node_selector.get(key, value) != value:
            raise _wrong(
                CONFLICT,
                f"no node can be both for {chosen} and for attempts that may be interrupted: the settings select "
                f"{key}={pool.node_selector[key]} for the one and {key}={value} for the other; nothing was started",
            )
    return Placement(
        chosen,
        {**pool.node_selector, **spot.node_selector},
        distinct([*pool.tolerations, *spot.tolerations]),
        pool.affinity,
        pool.runtime_class,
    )


def not_configured(said: Said, rules: PlacementRules) -> str:
    configured = ", ".join(sorted(rules.architectures)) or "none"
    return (
        f"{said.by} asks for architecture {said.chosen}, for which no nodes are configured (architectures in the "
        f"settings); configured: {configured}; nothing was started"
    )


def named(name: str, where: str) -> Architecture | None:
    """None for the empty text. where: who says it, for the message. Raises Permanent (USER) for a name of none."""
    if not name:
        return None
    try:
        return Architecture(name)
    except ValueError:
        known = ", ".join(Architecture)
        raise _wrong(
            UNKNOWN, f"{where} says architecture {name!r}; expected one of {known}; nothing was started"
        ) from None


def distinct(tolerations: Iterable[Toleration]) -> tuple[Toleration, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(tolerations))


def _wrong(code: str, message: str) -> Permanent:
    return Permanent(Failure(code, ErrorKind.USER, message))
