"""Compiles what tasks say about caching, and what nodes say over them (`with_overrides`)."""

from __future__ import annotations

from flyteidl.core.tasks_pb2 import TaskTemplate
from flyteidl.core.workflow_pb2 import NodeMetadata
from msgspec import Struct

from engine.model.cache import CachePolicy


class Caching(Struct, frozen=True):
    """What a task says, or a node, which then wins field by field; None and "" = not said."""

    enabled: bool | None = None
    version: str = ""
    serialize: bool | None = None
    ignored: frozenset[str] = frozenset()

    def over(self, task: Caching) -> Caching:
        """This node's caching; what it does not say is the task's."""
        return Caching(
            task.enabled if self.enabled is None else self.enabled,
            self.version or task.version,
            task.serialize if self.serialize is None else self.serialize,
            task.ignored,
        )

    def policy(self) -> CachePolicy | None:
        """None: not cached. Caching without a version is none either, and `lacks_version` tells of it."""
        if not self.enabled or not self.version:
            return None
        return CachePolicy(self.version, bool(self.serialize), self.ignored)

    @property
    def lacks_version(self) -> bool:
        return bool(self.enabled) and not self.version


def caching_of_task(template: TaskTemplate) -> Caching:
    metadata = template.metadata
    ignored = frozenset(metadata.cache_ignore_input_vars)
    return Caching(metadata.discoverable, metadata.discovery_version, metadata.cache_serializable, ignored)


def caching_of_node(metadata: NodeMetadata) -> Caching:
    return Caching(
        metadata.cacheable if metadata.WhichOneof("cacheable_value") else None,
        metadata.cache_version,
        metadata.cache_serializable if metadata.WhichOneof("cache_serializable_value") else None,
    )
