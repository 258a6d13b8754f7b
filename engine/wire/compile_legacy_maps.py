"""Map tasks of flytekit's old kind (`container_array`), as what `flytekit.map_task` writes today.

Both kinds of resolver take the same arguments; the old one alone writes an element's outputs into a folder of its own
below the one it is told, where nobody looks.
"""

from __future__ import annotations

from flyteidl.core.tasks_pb2 import TaskTemplate
from google.protobuf.struct_pb2 import Value

from engine.model.graph import ArraySpec

LEGACY_MAP = "container_array"
_OLD = "flytekit.core.legacy_map_task.MapTaskResolver"
_NEW = "flytekit.core.array_node_map_task.ArrayNodeMapTaskResolver"


def modern(template: TaskTemplate) -> tuple[TaskTemplate, ArraySpec] | None:
    """The task as one element runs it, and what the map adds to it; None where no resolver of that kind loads it."""
    args = list(template.container.args)
    if _OLD not in args or args[args.index(_OLD) + 2 : args.index(_OLD) + 3] != ["vars"]:
        return None
    at = args.index(_OLD)
    task = TaskTemplate()
    task.CopyFrom(template)
    task.type = "python-task"
    task.container.args[at] = _NEW
    said = template.custom.fields
    array = ArraySpec(
        parallelism=int(_number(said["parallelism"])) if "parallelism" in said else None,
        min_success_ratio=_number(said["minSuccessRatio"]) if "minSuccessRatio" in said else None,
        min_successes=int(_number(said["minSuccesses"])) if "minSuccesses" in said else None,
        bound_inputs=frozenset(filter(None, args[at + 3].split(","))),
    )
    return task, array


def _number(value: Value) -> float:
    """Whole numbers of 64 bits are texts in JSON."""
    return float(value.string_value) if value.WhichOneof("kind") == "string_value" else value.number_value
