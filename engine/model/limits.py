"""Numbers that bound the engine's work.

`app.py` takes them from the settings, so that no other room sees a settings object.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

MIB = 1024 * 1024
EVENT_BYTES = 256 * 1024
"""The most that one event takes which somebody hands in: well below what brokers carry. Values travel as files."""


class IncompatibleRuntime(StrEnum):
    """What happens when a task can't read an offloaded value it would receive."""

    FAIL = "fail"
    MATERIALISE = "materialise"


class OffloadLimits(Struct, frozen=True):
    enabled: bool = True
    min_size: int = 10 * MIB
    """Bytes of the serialized literal; at or above, it becomes a reference."""
    max_size: int = 1000 * MIB
    """Bytes; at or above, the node fails (USER)."""
    supported_runtimes: Mapping[str, str] = field(default_factory=lambda: {"FLYTE_SDK": "1.13.14"})
    """Runtime type -> lowest version that reads references."""
    incompatible_runtime: IncompatibleRuntime = IncompatibleRuntime.MATERIALISE
    materialise_max: int = 256 * MIB
    """Bytes; the most that is inlined for one task."""


class RetryLimits(Struct, frozen=True):
    max_system_failures: int = 3
    """Extra attempts per node (or map element) for SYSTEM failures; they never use up the author's retries."""
    interruptible_failure_threshold: int = -1
    """SYSTEM failures of a node after which its attempts are no longer interruptible; negative: counted from the last
    attempt that such failures leave (-1 = only that one runs on regular capacity); 0 = never."""
    system_wait_seconds: float = 1.0
    """Before the attempt that follows the second SYSTEM failure of a node, then twice as long each time; the first one
    is followed at once."""
    user_wait_seconds: float = 0.0
    """Before a retry that the author asked for, then twice as long each time; 0 = at once."""
    max_wait_seconds: float = 60.0
    jitter: float = 0.2
    """Share of a wait by which it is longer or shorter: by the attempt's key, so that a restart does not change it."""


class ExecutionLimits(Struct, frozen=True):
    max_parallelism: int = 25
    """Nodes of an execution at once, where neither its submission nor its launch plan says; 0 = any number."""
    max_nesting: int = 50
    """Levels of child executions below the first one."""


class ArrayLimits(Struct, frozen=True):
    max_in_flight: int = 1000
    """Elements of one map node at once, whatever its author asked for (bounds the engine's memory)."""
