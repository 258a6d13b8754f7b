"""Tasks that another operator runs (Spark, PyTorch, Ray ...): the custom resource of an attempt, and what its status
means. One rule for each task type, from the settings; no code for any operator. Pure.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, json

from engine.adapters.kubernetes.naming import GROUP, KEY, UPLOADS, Json
from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.spec import PRIMARY, pod_of
from engine.adapters.kubernetes.states import Ended, Pending, Runs, State
from engine.adapters.kubernetes.status import Resource
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

_WHOLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}\Z")
_INSIDE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_STEP = re.compile(r"([^.\[\]]+)(?:\[([^=\]]+)=([^\]]+)\])?(?:\.|\Z)")
_MISSING = object()


class Rule(Struct, frozen=True):
    """How tasks of one type are run."""

    template: bytes
    """JSON of the custom resource; see `resource_of` for its variables."""
    plural: str
    """Its name in the API, e.g. `pytorchjobs`."""
    succeeded: str
    failed: str
    """PATH=VALUE, e.g. `status.conditions[type=Failed].status=True`."""
    message: str = ""
    """The path of a text that says why it failed."""
    container: str = ""
    """What the operator wants the container to be called that runs the task; empty = as it is."""

    def path(self, namespace: str) -> str:
        """Of the collection, in the API."""
        version = json.decode(self.template, type=Json)["apiVersion"]
        return f"/apis/{version}/namespaces/{namespace}/{self.plural}"


def resource_of(
    request: TaskRequest, rule: Rule, group: str, options: PodOptions, template: Json | None, namespace: str
) -> Json:
    """The custom resource of an attempt: the rule's template, filled in.

    A value that is one variable takes what that stands for, whatever its type: `pod` (a pod template: metadata and
    spec), `spec`, `container`, `labels`, `annotations`, `command`, `args`, `env`, `image`, `name`, `namespace`,
    `serviceAccount`, `nodeSelector`, `tolerations`, `affinity`, and `custom.PATH` in what the task's plugin has said;
    where there is no such thing the key is left out. Inside a text a variable stands for its text.
    Raises Permanent (USER) as `pod_of` does, and for a variable that is not known.
    """
    pod = pod_of(request, group, options, template)
    own, spec = pod["metadata"], pod["spec"]
    metadata: Json = {
        "labels": {name: value for name, value in own["labels"].items() if name != GROUP},
        "annotations": {
            name: value for name, value in own["annotations"].items() if name not in (KEY, UPLOADS, PRIMARY)
        },
    }
    container = next(it for it in spec["containers"] if it["name"] == own["annotations"][PRIMARY])
    container["name"] = rule.container or container["name"]
    values: Json = {
        "pod": {"metadata": metadata, "spec": spec},
        "spec": spec,
        "container": container,
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
        **{name: container.get(name, _MISSING) for name in ("command", "args", "env", "image")},
        "name": own["name"],
        "namespace": namespace,
        "serviceAccount": spec.get("serviceAccountName", _MISSING),
        **{name: spec.get(name, _MISSING) for name in ("nodeSelector", "tolerations", "affinity")},
        "custom": json.decode(request.pod.custom) if request.pod.custom else {},
    }
    made: Json = _filled(json.decode(rule.template), values)
    made["metadata"] = {**made.get("metadata", {}), **own}
    return made


def _filled(value: Any, values: Json) -> Any:
    match value:
        case dict():
            filled = {key: _filled(item, values) for key, item in value.items()}
            return {key: item for key, item in filled.items() if item is not _MISSING}
        case list():
            return [item for item in (_filled(it, values) for it in value) if item is not _MISSING]
        case str() if found := _WHOLE.match(value):
            return _looked_up(found[1], values)
        case str():
            return _INSIDE.sub(lambda found: str(_looked_up(found[1], values)), value)
    return value


def _looked_up(name: str, values: Json) -> Any:
    first, *rest = name.split(".")
    if first not in values:
        known = ", ".join(sorted(values))
        message = f"the template of its custom resource has the variable {name!r}; known are: {known}"
        raise Permanent(Failure("BadTaskSpecification", ErrorKind.SYSTEM, message))
    found = values[first]
    for step in rest:
        found = found.get(step, _MISSING) if isinstance(found, dict) else _MISSING
    return found


def state_of(resource: Resource, rule: Rule) -> State:
    """Its files decide in the end, as with every task."""
    seen: Json = {"status": resource.status}
    if _holds(rule.succeeded, seen):
        return Ended(Exit(ExitReason.EXITED, 0))
    if _holds(rule.failed, seen):
        why = _at(rule.message, seen) if rule.message else None
        said = f": {why}" if why else ""
        return Ended(Exit(ExitReason.EXITED, 1, f"({resource.metadata.namespace}/{resource.name} has failed){said}"))
    if not resource.status:
        return Pending("its operator to take it up")
    return Runs(0.0)


def _holds(condition: str, seen: Json) -> bool:
    path, _, wanted = condition.rpartition("=")
    found = _at(path, seen)
    return found is not None and str(found) == wanted


def _at(path: str, seen: Any) -> Any:
    """What stands at a path; None: nothing does. `items[type=Failed]` is the item of a list with that value."""
    for name, key, wanted in _STEP.findall(path):
        seen = seen.get(name) if isinstance(seen, dict) else None
        if key and isinstance(seen, list):
            seen = next((it for it in seen if isinstance(it, dict) and str(it.get(key)) == wanted), None)
    return seen
