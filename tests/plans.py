"""Plans of @dynamic tasks for tests: what flytekit writes to futures.pb, put together by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core import literals_pb2, workflow_pb2
from flyteidl.core.dynamic_job_pb2 import DynamicJobSpec

from tests.packages import bound


def futures(
    *nodes: workflow_pb2.Node,
    gives: Mapping[str, literals_pb2.BindingData] | None = None,
    tasks: Sequence[TaskSpec] = (),
    workflows: Sequence[WorkflowSpec] = (),
    successes: int | None = None,
) -> bytes:
    """A serialized `DynamicJobSpec`; its ids may be empty, as an author's own process leaves them."""
    job = DynamicJobSpec(
        nodes=nodes,
        min_successes=len(nodes) if successes is None else successes,
        outputs=bound(gives or {}),
        tasks=[spec.template for spec in tasks],
        subworkflows=[spec.template for spec in workflows],
    )
    return bytes(job.SerializeToString())
