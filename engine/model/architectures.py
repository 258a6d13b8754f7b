"""The architectures that a task, a launch plan or a submission may name: flyteidl's, by the names people write."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

PLAN_LABEL = "propwash.dev/architecture"
"""A launch plan's label of this name says for which architecture its tasks are."""
TASK_LABEL = "kubernetes.io/arch"
"""The same of a task, since flytekit can't set the field for it."""


ArchitectureName = Literal["", "amd64", "arm64", "arm-v6", "arm-v7"]
"""What a submission may say; empty = nothing."""


class Architecture(StrEnum):
    AMD64 = "amd64"
    ARM64 = "arm64"
    ARM_V6 = "arm-v6"
    ARM_V7 = "arm-v7"


def declared_by_label(value: str) -> str:
    """What a node label's value says of an image: `arm` alone is the version that images for it mostly are (containerd
    takes `linux/arm` for v7); any other text stands for itself."""
    return Architecture.ARM_V7.value if value == "arm" else value


def not_built_for(image: str, architecture: str) -> str:
    """What people are told of an image that is not for the nodes it is to run on; empty = nobody said which."""
    return f"image {image} is not built for {architecture or 'the architecture of its node'}"
