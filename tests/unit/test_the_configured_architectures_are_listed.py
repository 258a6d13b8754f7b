"""`propwash architectures` without a cluster: the configuration, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli.architectures import architectures, document
from engine.model.architectures import Architecture
from engine.model.placement import NodePool, PlacementRules
from tests.environment import no_settings_of_others

__all__ = ["no_settings_of_others"]

FILE = """
architectures:
  amd64: {}
  arm64:
    node_selector: {pool: arm, zone: a}
    tolerations:
      - {key: kubernetes.io/arch, value: arm64, effect: NoSchedule}
      - {key: spot, operator: Exists}
    autoscaled: true
  default: amd64
  defaults: {"p:production": arm64}
"""


def shown(text: str, folder: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> str:
    path = folder / "propwash.yaml"
    path.write_text(text)
    assert architectures(path, [], as_json=as_json) == 0
    return capsys.readouterr().out


def test_as_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(FILE, tmp_path, capsys) == (
        "ARCHITECTURE  AUTOSCALED  NODE SELECTOR             TOLERATIONS\n"
        "amd64         no          kubernetes.io/arch=amd64\n"
        "arm64         yes         pool=arm,zone=a           kubernetes.io/arch=arm64:NoSchedule spot:*\n"
        "tasks that say nothing run on arm64 in p:production\n"
        "tasks that say nothing run on amd64\n"
    )


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(shown(FILE, tmp_path, capsys, as_json=True))
    assert told["architectures"][1] == {
        "architecture": "arm64",
        "ready_nodes": None,
        "autoscaled": True,
        "node_selector": {"pool": "arm", "zone": "a"},
        "tolerations": [
            {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"},
            {"key": "spot", "operator": "Exists"},
        ],
    }
    assert (told["default"], told["defaults"]) == ("amd64", {"p:production": "arm64"})


def test_nothing_configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("", tmp_path, capsys).startswith("no architectures are configured: tasks run anywhere")


def test_ready_nodes_stand_beside_them() -> None:
    rules = PlacementRules({Architecture.AMD64: NodePool(), Architecture.ARM64: NodePool()})
    told = document(rules, {Architecture.AMD64: 12, Architecture.ARM64: 0})
    assert isinstance(told, dict)
    listed = told["architectures"]
    assert isinstance(listed, list)
    assert [it["ready_nodes"] for it in listed if isinstance(it, dict)] == [12, 0]
