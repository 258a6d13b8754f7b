"""What a submission, or a launch plan for its executions, says beyond the inputs."""

from __future__ import annotations

from msgspec import Struct


class Overrides(Struct, frozen=True, omit_defaults=True):
    """Each field wins as a whole over the same field of what it is laid over; a default says nothing."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    envs: dict[str, str] = {}
    """Environment variables of every task; they win over the task's own."""
    interruptible: bool | None = None
    max_parallelism: int = 0
    """Nodes that may run at once; 0 = not said."""
    raw_output_prefix: str = ""
    """URI below which tasks put raw data, in place of the store's own folder."""
    architecture: str = ""
    """amd64, arm64, arm-v6 or arm-v7, for every task of the execution."""
    service_account: str = ""
    """Of the cluster that runs the tasks, for their pods."""

    def over(self, other: Overrides) -> Overrides:
        return Overrides(
            labels=self.labels or other.labels,
            annotations=self.annotations or other.annotations,
            envs=self.envs or other.envs,
            interruptible=other.interruptible if self.interruptible is None else self.interruptible,
            max_parallelism=self.max_parallelism or other.max_parallelism,
            raw_output_prefix=self.raw_output_prefix or other.raw_output_prefix,
            architecture=self.architecture or other.architecture,
            service_account=self.service_account or other.service_account,
        )


NONE = Overrides()
