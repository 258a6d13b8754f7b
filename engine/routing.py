"""From settings to what architecture routing decides with."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.model.architectures import Architecture
from engine.model.placement import NODE_LABEL, NodePool, PlacementRules, Toleration, node_label

if TYPE_CHECKING:
    from config import architectures as configured
    from config.settings import Settings

_MACHINES = {
    "x86_64": Architecture.AMD64,
    "amd64": Architecture.AMD64,
    "aarch64": Architecture.ARM64,
    "arm64": Architecture.ARM64,
    "armv6l": Architecture.ARM_V6,
    "armv7l": Architecture.ARM_V7,
    "armv8l": Architecture.ARM_V7,
}
"""What Linux and macOS call them (`uname -m`)."""


def this_machine() -> Architecture | None:
    """None: one that no task can be for."""
    return _MACHINES.get(platform.machine().lower())


def placement_rules(settings: Settings) -> PlacementRules:
    """Of a cluster."""
    said = settings.architectures
    pools = {
        Architecture.AMD64: said.amd64,
        Architecture.ARM64: said.arm64,
        Architecture.ARM_V6: said.arm_v6,
        Architecture.ARM_V7: said.arm_v7,
    }
    spot = settings.interruptible
    return PlacementRules(
        {architecture: _pool(architecture, pool) for architecture, pool in pools.items() if pool is not None},
        Architecture(said.default) if said.default else None,
        {place: Architecture(name) for place, name in said.defaults.items()},
        NodePool(dict(spot.node_selector), _tolerations(spot.tolerations)),
    )


def local_rules(settings: Settings) -> PlacementRules:
    """Of processes on this machine: every architecture can be chosen, and none needs a node."""
    rules = placement_rules(settings)
    return PlacementRules({it: NodePool() for it in Architecture}, rules.default, rules.defaults)


def _pool(architecture: Architecture, pool: configured.Pool) -> NodePool:
    selector = {NODE_LABEL: node_label(architecture)} if pool.node_selector is None else dict(pool.node_selector)
    return NodePool(
        selector, _tolerations(pool.tolerations), dict(pool.affinity), pool.runtime_class or "", pool.autoscaled
    )


def _tolerations(said: Sequence[configured.Toleration]) -> tuple[Toleration, ...]:
    return tuple(Toleration(**toleration.model_dump()) for toleration in said)
