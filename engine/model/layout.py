"""Where things lie in the store: FlytePropeller 1.16's own layout, because tools and people look there.

Every function returns a key relative to the store's root.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from engine.model.cache import CacheKey
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId, label, owner, split

METADATA_PREFIX = "metadata/propeller"
DEEP = 400
"""Characters of a frame's path."""
NOTE = "waiting"
"""In the folder of an attempt that does not run yet: for what it waits, in words; empty, once it does not."""
CHECKPOINTS = "_flytecheckpoints"
"""In the folder of an attempt's raw data."""
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def execution_prefix(execution: ExecutionId) -> str:
    return f"{METADATA_PREFIX}/{execution.project}-{execution.domain}-{execution.name}"


def workflow_inputs(execution: ExecutionId) -> str:
    return f"{execution_prefix(execution)}/start-node/data/0/outputs.pb"


def inputs_of_request(execution: ExecutionId, digest: str) -> str:
    """The inputs of an execution that somebody has requested: other inputs lie elsewhere, whoever writes them when."""
    return f"{execution_prefix(execution)}/start-node/data/0/{digest[:32]}.pb"


def submission(execution: ExecutionId) -> str:
    """Says that a name is taken, where several processes may be asked for it at once."""
    return f"{execution_prefix(execution)}/submission.json"


def signal(execution: ExecutionId, signal_id: str, value: bytes) -> str:
    """Where the value of a signal lies: the same value has one place, another value another."""
    return f"{execution_prefix(execution)}/signals/{label(signal_id)}/{hashlib.sha256(value).hexdigest()[:32]}.pb"


@lru_cache(maxsize=1024)
def node_prefix(execution: ExecutionId, path: str) -> str:
    """The data folder of a node: `<base>/n2/data`, or `<base>/n2/data/0/n0` for a nested one.

    Below DEEP a frame has a folder of its own beside them: stores take only so long names.
    """
    frame, node_id = split(path)
    if not frame:
        return f"{execution_prefix(execution)}/{node_id}/data"
    if len(frame) > DEEP:
        return f"{execution_prefix(execution)}/{label(frame)}/{node_id}"
    containing = owner(frame)
    assert containing is not None
    assert frame.startswith(containing)
    attempt = frame[len(containing) + 1 :]
    return f"{node_prefix(execution, containing)}/{attempt}/{node_id}"


def node_inputs(execution: ExecutionId, path: str) -> str:
    return f"{node_prefix(execution, path)}/inputs.pb"


@lru_cache(maxsize=1024)
def attempt_prefix(key: AttemptKey) -> str:
    """The folder of one attempt: outputs.pb, error.pb, futures.pb, stdout and stderr lie in it. Never shared."""
    prefix = node_prefix(key.execution, key.path)
    if key.index is None:
        return f"{prefix}/{key.attempt}"
    return f"{prefix}/{key.node_attempt}/{key.index}/{key.attempt}"


def outputs(key: AttemptKey) -> str:
    return f"{attempt_prefix(key)}/outputs.pb"


def attempt_inputs(key: AttemptKey) -> str:
    """Inputs of an attempt: the node's (not attempt specific), or the element's own one-item lists."""
    return node_inputs(key.execution, key.path) if key.index is None else f"{attempt_prefix(key)}/inputs.pb"


def raw_prefix(key: AttemptKey) -> str:
    """Where a task puts raw data, unless its execution says where."""
    return f"raw/{raw_folder(key)}"


def raw_folder(key: AttemptKey) -> str:
    """The folder of an attempt's raw data: two characters spread the load over the store's partitions."""
    unique = f"{key.execution.project}-{key.execution.domain}-{key.execution.name}-{key.digest()}"
    number = int.from_bytes(hashlib.sha256(unique.encode()).digest()[:4], "big") % 1296
    return f"{_BASE36[number // 36]}{_BASE36[number % 36]}/{unique}"


def checkpoint_prefix(key: AttemptKey) -> str:
    return f"{raw_prefix(key)}/{CHECKPOINTS}"


def sources(name: str) -> str:
    """An archive of tasks' modules, for pods to fetch."""
    return f"metadata/sources/{name}.tar.gz"


def package(digest: str) -> str:
    """A registered package in canonical form."""
    return f"metadata/packages/{digest}.pkg"


def requested_inputs(digest: str) -> str:
    """Inputs that were handed in beside a request; the same bytes have one place."""
    return f"metadata/requests/{digest}.pb"


CACHE_PREFIX = "metadata/cache"
CACHE_ENTRY = "entry"


def cache_prefix(key: CacheKey) -> str:
    """What is kept of one task for one set of inputs. It lies outside of every execution, so that it outlives them."""
    return f"{CACHE_PREFIX}/{key.project}/{key.domain}/{label(key.task)}/{key.digest}"


def cached_values(key: CacheKey, source: AttemptKey) -> str:
    """Values too large for the entry itself; never written again, since who has used the entry refers to them."""
    return f"{cache_prefix(key)}/{source.digest()}"


REGISTRY_PREFIX = "metadata/registry"
_PLAIN_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,119}\Z")


def registered(entity: EntityId) -> str:
    """What is known of a registered entity: one object a version."""
    return f"{registered_versions(entity)}/{part(entity.version)}"


def registered_versions(entity: EntityId) -> str:
    """The folder with every version of an entity."""
    return f"{registered_kind(entity.kind)}/{part(entity.project)}/{part(entity.domain)}/{part(entity.name)}"


def registered_kind(kind: EntityKind) -> str:
    return f"{REGISTRY_PREFIX}/{kind.value}"


def version_lists(project: str, domain: str, version: str) -> str:
    """The folder with the lists of what a version holds; the last one counts."""
    return f"{REGISTRY_PREFIX}/versions/{part(project)}/{part(domain)}/{part(version)}"


def activations() -> str:
    return f"{REGISTRY_PREFIX}/active"


def activation(project: str, domain: str, name: str) -> str:
    """Which version of a launch plan is active."""
    return f"{activations()}/{part(project)}/{part(domain)}/{part(name)}"


def fired(project: str, domain: str, name: str) -> str:
    """Up to when the schedule of an active launch plan has been kept."""
    return f"{REGISTRY_PREFIX}/fired/{part(project)}/{part(domain)}/{part(name)}"


def part(text: str) -> str:
    """A part of a key that stands for any text: the text itself where it is plain."""
    return text if _PLAIN_PART.match(text) else "." + label(text)
