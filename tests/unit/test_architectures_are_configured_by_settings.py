"""The settings `architectures` and `interruptible`, and the rules they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.load import SettingsError, load
from engine.model.architectures import Architecture
from engine.model.ids import ExecutionId
from engine.model.placement import NodePool, PlacementRules, Toleration
from engine.routing import local_rules, placement_rules

FILE = """
architectures:
  amd64: {}
  arm64:
    node_selector: {pool: arm}
    tolerations:
      - {key: kubernetes.io/arch, value: arm64, effect: NoSchedule}
      - {operator: Exists, tolerationSeconds: 30}
    affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}
    runtime_class: crun
  arm_v7: {}
  default: amd64
  defaults: {"p:d": arm64}
interruptible:
  node_selector: {spot: "true"}
  tolerations: [{key: spot, operator: Exists}]
"""


def rules(text: str, sets: list[str], environ: dict[str, str], folder: Path) -> PlacementRules:
    path = folder / "propwash.yaml"
    path.write_text(text)
    return placement_rules(load(path, sets, environ))


def test_a_cluster_is_described(tmp_path: Path) -> None:
    arm = NodePool(
        {"pool": "arm"},
        (
            Toleration("kubernetes.io/arch", value="arm64", effect="NoSchedule"),
            Toleration(operator="Exists", toleration_seconds=30),
        ),
        {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "crun",
    )
    found = rules(FILE, [], {}, tmp_path)
    assert found == PlacementRules(
        {
            Architecture.AMD64: NodePool({"kubernetes.io/arch": "amd64"}),
            Architecture.ARM64: arm,
            Architecture.ARM_V7: NodePool({"kubernetes.io/arch": "arm"}),
        },
        Architecture.AMD64,
        {"p:d": Architecture.ARM64},
        NodePool({"spot": "true"}, (Toleration("spot", "Exists"),)),
    )
    assert found.default_of(ExecutionId("p", "d", "x")) is Architecture.ARM64
    assert found.default_of(ExecutionId("p", "other", "x")) is None


def test_nothing_is_configured_by_default() -> None:
    settings = load(None, [], {})
    assert placement_rules(settings) == PlacementRules()
    assert set(local_rules(settings).architectures) == set(Architecture)


def test_one_key_of_a_pool_is_set_by_itself(tmp_path: Path) -> None:
    found = rules(FILE, ["architectures.arm64.autoscaled=true", "architectures.arm_v6.runtime_class=x"], {}, tmp_path)
    assert found.architectures[Architecture.ARM64].autoscaled
    assert found.architectures[Architecture.ARM64].node_selector == {"pool": "arm"}
    assert found.architectures[Architecture.ARM_V6].runtime_class == "x"
    by_variable = rules("", [], {"PROPWASH_ARCHITECTURES__ARM64__AUTOSCALED": "true"}, tmp_path)
    assert by_variable.architectures == {Architecture.ARM64: NodePool({"kubernetes.io/arch": "arm64"}, autoscaled=True)}


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("architectures.default=sparc", "expected 'amd64', 'arm64', 'arm-v6' or 'arm-v7'"),
        ("architectures.defaults={p: arm64}", "expected a map whose keys are PROJECT:DOMAIN"),
        ("architectures.arm64.autoscale=true", "expected a known key"),
        (
            "architectures.arm64={affinity: {nodes: 1}}",
            "expected a map with nodeAffinity, podAffinity,",
        ),
        ("architectures.arm64={tolerations: [{operator: In}]}", "expected 'Equal' or 'Exists'"),
    ],
)
def test_a_mistake_is_named(argument: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, [argument], {})
    assert expected in str(caught.value.problems[0])
