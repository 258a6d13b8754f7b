"""Selectors, tolerations and affinity of pods with an architecture, beside what authors and templates say."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec import structs

from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.spec import pod_of
from engine.machine.placement import Said, place
from engine.model.architectures import Architecture
from engine.model.errors import Permanent
from engine.model.placement import NodePool, Placement, PlacementRules, Toleration
from engine.model.podneeds import PodNeeds
from tests.podworld import request

TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONE = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
RULES = PlacementRules(
    {
        Architecture.AMD64: NodePool({"kubernetes.io/arch": "amd64"}),
        Architecture.ARM64: NodePool(
            {"kubernetes.io/arch": "arm64"},
            (Toleration("kubernetes.io/arch", value="arm64", effect="NoSchedule"),),
            {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [ZONE]}}},
        ),
    }
)
ARM64 = place(Said(task=Architecture.ARM64), RULES, interruptible=False)


def built(placement: Placement, template: dict[str, Any] | None = None, needs: PodNeeds = PodNeeds()) -> dict[str, Any]:
    asked = structs.replace(request("run", needs=needs), placement=placement)
    made: dict[str, Any] = pod_of(asked, "g", PodOptions(), template)
    return made


def test_an_arm_pod_has_selector_toleration_affinity_and_label() -> None:
    made = built(ARM64)
    assert made["metadata"]["labels"]["propwash.dev/architecture"] == "arm64"
    assert made["spec"]["nodeSelector"] == {"kubernetes.io/arch": "arm64"}
    assert made["spec"]["tolerations"] == [TAINT]
    assert made["spec"]["affinity"]["nodeAffinity"][REQUIRED] == {"nodeSelectorTerms": [ZONE]}


def test_an_x86_pod_has_nothing_of_arm_and_one_for_any_has_nothing() -> None:
    amd = built(place(Said(task=Architecture.AMD64), RULES, interruptible=False))["spec"]
    assert amd["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
    assert "tolerations" not in amd
    anywhere = built(Placement())
    assert "nodeSelector" not in anywhere["spec"]
    assert "propwash.dev/architecture" not in anywhere["metadata"]["labels"]


def test_what_a_template_says_stays_and_nothing_stands_twice() -> None:
    template = {"spec": {"nodeSelector": {"disk": "ssd"}, "tolerations": [TAINT], "containers": []}}
    before = copy.deepcopy(template)
    made = built(ARM64, template)["spec"]
    assert made["nodeSelector"] == {"disk": "ssd", "kubernetes.io/arch": "arm64"}
    assert made["tolerations"] == [TAINT]
    assert template == before


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"kubernetes.io/arch": "amd64"}},
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ],
)
def test_a_template_of_the_cluster_that_pins_another_one_is_a_conflict(spec: dict[str, Any]) -> None:
    with pytest.raises(Permanent, match=r"asks for nodes with kubernetes\.io/arch=amd64") as caught:
        built(ARM64, {"spec": {**spec, "containers": []}})
    assert caught.value.failure.code == "ArchitectureConflict"
    assert not caught.value.recoverable


def test_the_thousandth_pod_equals_the_first() -> None:
    template = {"spec": {"tolerations": [{"key": "gpu", "operator": "Exists"}], "containers": []}}
    first = built(ARM64, template)
    assert all(built(ARM64, template) == first for _ in range(999))
    assert place(Said(task=Architecture.ARM64), RULES, interruptible=False) == ARM64
