"""`propwash architectures`: what is configured of architectures, and how many nodes of each a cluster has ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import to_builtins

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.report import columns
from engine.cli.request import load_settings
from engine.cli.screen import say, tell
from engine.cli.session import Session, run_session
from engine.cli.show import as_text
from engine.model.architectures import Architecture
from engine.model.placement import NodePool, PlacementRules, Toleration
from engine.routing import placement_rules
from engine.vetting import count_nodes
from engine.wire.natural import Json

HEAD = ("ARCHITECTURE", "READY NODES", "AUTOSCALED", "NODE SELECTOR", "TOLERATIONS")


def architectures(config: Path | None, sets: Sequence[str], *, as_json: bool) -> int:
    """Raises BadInput."""
    return run_session(partial(_show, load_settings(config, sets), as_json))


async def _show(settings: Settings, as_json: bool, session: Session) -> int:
    rules = placement_rules(settings)
    nodes = await count_nodes(settings, rules)
    if nodes.problem:
        tell(f"the nodes can't be counted: {nodes.problem}")
    if as_json:
        say(as_text(document(rules, nodes.ready)))
        return ExitCode.SUCCEEDED
    if rules.architectures:
        say(columns([HEAD, *(_row(it, pool, nodes.ready) for it, pool in rules.architectures.items())]))
    else:
        say("no architectures are configured: tasks run anywhere, and one that asks for an architecture fails")
    for who, architecture in _defaults(rules).items():
        say(f"tasks that say nothing run on {architecture} {who}".rstrip())
    return ExitCode.SUCCEEDED


def document(rules: PlacementRules, nodes: Mapping[Architecture, int]) -> Json:
    return {
        "architectures": [
            {
                "architecture": it.value,
                "ready_nodes": nodes.get(it),
                "autoscaled": pool.autoscaled,
                "node_selector": dict(pool.node_selector),
                "tolerations": [to_builtins(toleration) for toleration in pool.tolerations],
            }
            for it, pool in rules.architectures.items()
        ],
        "default": rules.default,
        "defaults": {place: it.value for place, it in rules.defaults.items()},
    }


def _row(architecture: Architecture, pool: NodePool, nodes: Mapping[Architecture, int]) -> tuple[str, ...]:
    ready = str(nodes[architecture]) if architecture in nodes else ""
    selector = ",".join(f"{key}={value}" for key, value in pool.node_selector.items())
    tolerations = " ".join(_text(it) for it in pool.tolerations)
    return (architecture.value, ready, "yes" if pool.autoscaled else "no", selector, tolerations)


def _text(toleration: Toleration) -> str:
    """As kubectl writes a taint."""
    value = f"={toleration.value}" if toleration.operator == "Equal" else ""
    return f"{toleration.key}{value}:{toleration.effect or '*'}"


def _defaults(rules: PlacementRules) -> dict[str, Architecture]:
    platform = {"": rules.default} if rules.default else {}
    return {**{f"in {place}": it for place, it in rules.defaults.items()}, **platform}
