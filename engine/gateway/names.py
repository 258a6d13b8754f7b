"""Names of executions that nobody named.

A name is part of every path and key of an execution, so it must never have been there before.
"""

from __future__ import annotations

import secrets
import string

_LETTERS, _SIGNS = string.ascii_lowercase, string.ascii_lowercase + string.digits


def random_name() -> str:
    """A letter and 19 small letters or digits, as Flyte names executions; a DNS label, and never seen before."""
    return secrets.choice(_LETTERS) + "".join(secrets.choice(_SIGNS) for _ in range(19))
