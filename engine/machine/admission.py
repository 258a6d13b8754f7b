"""What a pod that somebody else creates needs because of its label: the rule of our own pods, as a JSON patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import to_builtins

from engine.machine.affinity import both
from engine.machine.placement import Said, named, place
from engine.machine.podpins import check_pod
from engine.model.architectures import PLAN_LABEL
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.placement import CONFLICT, Placement, PlacementRules

INTERRUPTIBLE_LABEL = "interruptible"
"""Flyte's, of pods of attempts that may be interrupted; its value is `true` then."""
Step = Mapping[str, object]
"""One operation of a JSON patch (RFC 6902)."""


def amend(pod: Mapping[str, object], rules: PlacementRules) -> list[Step]:
    """The steps that give a pod (as JSON) what its architecture asks for; none where it has it, or has no label.

    Raises Permanent (USER) for an architecture that there is not or that is not configured, and for a pod that
    contradicts it.
    """
    metadata, spec = _mapping(pod.get("metadata")), _mapping(pod.get("spec"))
    labels = _mapping(metadata.get("labels"))
    architecture = named(str(labels.get(PLAN_LABEL) or ""), f"label {PLAN_LABEL} of the pod")
    if architecture is None:
        return []
    spot = str(labels.get(INTERRUPTIBLE_LABEL)).lower() == "true"
    placement = place(Said(task=architecture), rules, interruptible=spot)
    check_pod(placement, spec, "the pod")
    return [
        *_selector(spec, placement),
        *_tolerations(spec, placement),
        *_affinity(spec, placement),
        *_runtime_class(spec, placement),
    ]


def _selector(spec: Mapping[str, object], placement: Placement) -> list[Step]:
    own = _mapping(spec.get("nodeSelector"))
    missing = {key: value for key, value in placement.node_selector.items() if key not in own}
    if not own:
        return [_add("/spec/nodeSelector", missing)] if missing else []
    return [_add(f"/spec/nodeSelector/{_escaped(key)}", value) for key, value in missing.items()]


def _tolerations(spec: Mapping[str, object], placement: Placement) -> list[Step]:
    own = spec.get("tolerations")
    there = [_full(it) for it in own if isinstance(it, Mapping)] if isinstance(own, Sequence) else []
    missing = [it for it in to_builtins(placement.tolerations) if _full(it) not in there]
    if not there:
        return [_add("/spec/tolerations", missing)] if missing else []
    return [_add("/spec/tolerations/-", it) for it in missing]


def _full(toleration: Mapping[str, object]) -> dict[str, object]:
    """With what is understood where it is not said."""
    return {"operator": "Equal", **{key: value for key, value in toleration.items() if value not in ("", None)}}


def _affinity(spec: Mapping[str, object], placement: Placement) -> list[Step]:
    """As a whole, in place of what is there: a step for each list would depend on which of them the pod has."""
    own = _mapping(spec.get("affinity"))
    wanted = both(own, placement.affinity)
    return [] if wanted == own else [_add("/spec/affinity", wanted)]


def _runtime_class(spec: Mapping[str, object], placement: Placement) -> list[Step]:
    own, wanted = spec.get("runtimeClassName"), placement.runtime_class
    if not wanted or own == wanted:
        return []
    if own:
        message = f"the pod has runtimeClassName {own}, but architecture {placement.architecture} needs {wanted}"
        raise Permanent(Failure(CONFLICT, ErrorKind.USER, message))
    return [_add("/spec/runtimeClassName", wanted)]


def _add(path: str, value: object) -> Step:
    return {"op": "add", "path": path, "value": value}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
