"""What anybody may ask for by an event, in words of their own; the loop makes of it what the machine knows.

What an asker leaves open is filled in when its turn comes: which version of a workflow, the defaults of its inputs, the
type of a signal's value.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from engine.model.ids import ExecutionId
from engine.model.overrides import NONE, Overrides


class ExecutionRequested(Struct, frozen=True, omit_defaults=True, tag="execution.requested", tag_field="type"):
    """Somebody asks for an execution of what is registered, or of a package in the store.

    The same request of a name again is the same as once. Whatever comes of it is answered by a fact in the history.
    """

    execution: ExecutionId
    """Three DNS labels: at most 63 of a-z, 0-9 and '-', neither first nor last a dash."""
    entity: str
    """NAME or NAME:VERSION of a launch plan, workflow or task; a unique ending of the name will do. Without a version:
    the one that was registered last."""
    package: str = ""
    """Digest (SHA-256, hex) of a package in the store where the name is looked up; empty: in the registry."""
    inputs: dict[str, object] | bytes = {}
    """By name as natural JSON; or the bytes of a serialized flyteidl `LiteralMap` (in JSON: base64). Defaults and fixed
    inputs are filled in."""
    inputs_uri: str = ""
    """Where such a `LiteralMap` lies in the store, in place of `inputs`."""
    overwrite_cache: bool = False
    """Run every task whose results are cached, and keep the new results; child executions do the same."""
    overrides: Overrides = NONE
    """What wins over the launch plan and the tasks."""
    request: str = ""
    """Chosen by the asker, at most 128 characters, so that the answer names it. It does not count for what is the
    same."""


class SignalGiven(Struct, frozen=True, omit_defaults=True, tag="signal.given", tag_field="type"):
    """Somebody answers the gates of one id, by exactly one of `value` and `approve`.

    The execution must be there by then; its gate need not have begun to wait.
    """

    execution: ExecutionId
    signal_id: str
    value: object | UnsetType = UNSET
    """For `wait_for_input`: natural JSON; or, in msgpack, the bytes of a serialized flyteidl `Literal`."""
    approve: bool | UnsetType = UNSET
    """For `approve`: true lets it pass, false refuses it."""
    request: str = ""
    """Chosen by the asker, so that the answer names it."""


Asked = ExecutionRequested | SignalGiven
