"""On which nodes a pod may run: what its author, the operator and its placement say, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import to_builtins

from engine.adapters.kubernetes.naming import Json
from engine.adapters.kubernetes.options import PodOptions
from engine.machine.affinity import both, requiring
from engine.machine.podpins import check_pod
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.placement import CONFLICT, Placement
from engine.model.podneeds import Accelerator


def place(spec: Json, placement: Placement, author: str) -> None:
    """Lay a placement over a pod spec. Raises Permanent (USER) where what stands there contradicts it."""
    check_pod(placement, spec, author)
    if placement.node_selector:
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), **placement.node_selector}
    tolerate(spec, to_builtins(placement.tolerations))
    if placement.affinity:
        spec["affinity"] = both(spec.get("affinity", {}), placement.affinity)
    if placement.runtime_class:
        own = spec.setdefault("runtimeClassName", placement.runtime_class)
        if own != placement.runtime_class:
            message = f"{author} has runtimeClassName {own}, its architecture needs {placement.runtime_class}"
            raise Permanent(Failure(CONFLICT, ErrorKind.USER, f"{message}; nothing was started"))


def tolerate(spec: Json, tolerations: Iterable[Json]) -> None:
    """Each once, in order."""
    wanted = [*spec.get("tolerations", []), *tolerations]
    kept = [it for place, it in enumerate(wanted) if it not in wanted[:place]]
    if kept:
        spec["tolerations"] = kept


def require_label(spec: Json, key: str, operator: str, *values: str) -> None:
    rule: Json = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    spec["affinity"] = requiring(spec.get("affinity", {}), [{"matchExpressions": [rule]}])


def accelerate(spec: Json, wanted: Accelerator | None, options: PodOptions) -> None:
    """Nodes with the right GPU, for a pod of which a container asks for one."""
    if wanted is None or not any(options.gpu_resource in _limits(container) for container in spec["containers"]):
        return
    labels = options.gpu_labels
    if wanted.device:
        _tied(spec, labels.device, wanted.device)
    if wanted.partition:
        _tied(spec, labels.partition, wanted.partition)
    elif wanted.unpartitioned:
        require_label(spec, labels.partition, "DoesNotExist")


def _tied(spec: Json, key: str, value: str) -> None:
    require_label(spec, key, "In", value)
    tolerate(spec, [{"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}])


def _limits(container: Json) -> Json:
    found: Json = container.get("resources", {}).get("limits", {})
    return found
