"""What a pod spec says of the nodes its pod may run on, and whether that contradicts where it is to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.placement import CONFLICT, NODE_LABEL, Placement, node_label

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def check_pod(placement: Placement, spec: Mapping[str, object], author: str) -> None:
    """Raises Permanent (USER) where a pod spec pins its pod to nodes that the placement does not lead to: by its node
    selector, or by a node affinity that no node of the architecture can meet.

    spec: a Kubernetes PodSpec as JSON. author: who wrote it, for the message (`the pod template of task m.t`).
    """
    for key, value in _mapping(spec.get("nodeSelector")).items():
        wanted = placement.node_selector.get(key, value)
        if wanted != value:
            raise _contradicts(placement, author, f"{key}={value}", f"{key}={wanted}")
    wanted = placement.node_selector.get(NODE_LABEL) or node_label(placement.architecture)
    pinned = pinned_architectures(spec)
    if wanted and pinned is not None and wanted not in pinned:
        raise _contradicts(placement, author, f"{NODE_LABEL}={' or '.join(sorted(pinned))}", f"{NODE_LABEL}={wanted}")


def _contradicts(placement: Placement, author: str, pinned: str, wanted: str) -> Permanent:
    why = f"architecture {placement.architecture}" if placement.architecture else "an attempt that may be interrupted"
    message = f"{author} asks for nodes with {pinned}, but {why} needs {wanted}; nothing was started"
    return Permanent(Failure(CONFLICT, ErrorKind.USER, message))


def pinned_architectures(spec: Mapping[str, object]) -> frozenset[str] | None:
    """The values of `kubernetes.io/arch` that a pod spec leaves open; None: it says nothing of it.

    Terms of a node affinity are alternatives, so one that says nothing leaves all open.
    """
    pinned = _mapping(spec.get("nodeSelector")).get(NODE_LABEL)
    if pinned is not None:
        return frozenset({str(pinned)})
    required = _mapping(_mapping(_mapping(spec.get("affinity")).get("nodeAffinity")).get(REQUIRED))
    terms = [_mapping(term) for term in _items(required.get("nodeSelectorTerms"))]
    found = [_term_architectures(term) for term in terms]
    named = [values for values in found if values is not None]
    return frozenset().union(*named) if named and len(named) == len(found) else None


def _term_architectures(term: Mapping[str, object]) -> frozenset[str] | None:
    rules = [_mapping(rule) for rule in _items(term.get("matchExpressions"))]
    named = [
        frozenset(str(value) for value in _items(rule.get("values")))
        for rule in rules
        if rule.get("key") == NODE_LABEL and rule.get("operator") == "In"
    ]
    return frozenset.intersection(*named) if named else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
