"""The fixtures of all ports: one file of adapters each."""

from __future__ import annotations

from tests.contract.blob_adapters import files, store
from tests.contract.clusterworld import world
from tests.contract.log_adapters import keeping_world, log_world, sqlite_world
from tests.contract.runner_adapters import runner_world

__all__ = ["files", "keeping_world", "log_world", "runner_world", "sqlite_world", "store", "world"]
