"""The patch of a pod that another operator creates."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from engine.machine.admission import amend
from engine.model.architectures import Architecture
from engine.model.errors import Permanent
from engine.model.placement import NodePool, PlacementRules, Toleration

TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
SPOT = {"key": "spot", "operator": "Exists"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def term(key: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {REQUIRED: {"nodeSelectorTerms": list(terms)}}


ZONES = {
    "nodeAffinity": {**required(term("zone", "a"), term("zone", "b")), PREFERRED: [{"weight": 1, "preference": {}}]},
    "podAntiAffinity": {REQUIRED: [{"topologyKey": "host"}]},
}
RULES = PlacementRules(
    {
        Architecture.AMD64: NodePool({"kubernetes.io/arch": "amd64"}),
        Architecture.ARM64: NodePool(
            {"kubernetes.io/arch": "arm64", "a~b/c": "x"},
            (Toleration("kubernetes.io/arch", value="arm64", effect="NoSchedule"),),
            runtime_class="crun",
        ),
        Architecture.ARM_V7: NodePool({}, affinity=ZONES),
    },
    default=Architecture.AMD64,
    interruptible=NodePool({"lifecycle": "spot"}, (Toleration("spot", "Exists"),)),
)


def pod(architecture: str = "arm64", *, spot: bool = False, **spec: object) -> dict[str, Any]:
    labels = {"propwash.dev/architecture": architecture} if architecture else {}
    return {"metadata": {"labels": {**labels, **({"interruptible": "true"} if spot else {})}}, "spec": spec}


def patched(made: Mapping[str, Any]) -> dict[str, Any]:
    """The pod with its patch applied, by the three forms of steps that there are."""
    spec: dict[str, Any] = deepcopy(made["spec"])
    for step in amend(made, RULES):
        assert step["op"] == "add"
        field, *rest = str(step["path"]).removeprefix("/spec/").split("/")
        if not rest:
            assert field == "affinity" or not spec.get(field)
            spec[field] = step["value"]
        elif rest == ["-"]:
            spec[field].append(step["value"])
        else:
            spec[field][rest[0].replace("~1", "/").replace("~0", "~")] = step["value"]
    return {**made, "spec": spec}


def test_an_empty_spec_gets_everything() -> None:
    assert patched(pod())["spec"] == {
        "nodeSelector": {"kubernetes.io/arch": "arm64", "a~b/c": "x"},
        "tolerations": [TAINT],
        "runtimeClassName": "crun",
    }


def test_what_is_there_stays_beside_it() -> None:
    other = {"key": "gpu", "operator": "Exists"}
    made = pod("amd64", spot=True, nodeSelector={"disk": "ssd"}, tolerations=[other])
    assert patched(made)["spec"] == {
        "nodeSelector": {"disk": "ssd", "kubernetes.io/arch": "amd64", "lifecycle": "spot"},
        "tolerations": [other, SPOT],
    }


FULL: dict[str, Any] = {"nodeSelector": {"disk": "ssd"}, "tolerations": [{**TAINT, "operator": "Equal"}]}


@pytest.mark.parametrize("made", [pod(), pod(**FULL)])
def test_a_second_look_finds_nothing_to_do(made: dict[str, Any]) -> None:
    once = patched(made)
    assert amend(once, RULES) == []
    assert len(once["spec"]["tolerations"]) == 1


def test_the_affinity_of_the_architecture_holds_beside_its_own() -> None:
    assert patched(pod("arm-v7"))["spec"] == {"affinity": ZONES}
    other = {"weight": 2, "preference": {}}
    own = {
        "nodeAffinity": {**required(term("disk", "ssd"), term("disk", "nvme")), PREFERRED: [other]},
        "podAffinity": {PREFERRED: [{"weight": 3}]},
    }
    made = pod("arm-v7", affinity=own)
    found = patched(made)["spec"]["affinity"]
    ssd, nvme, a, b = (
        it["matchExpressions"][0]
        for it in (term("disk", "ssd"), term("disk", "nvme"), term("zone", "a"), term("zone", "b"))
    )
    pairs = [{"matchExpressions": pair} for pair in ([ssd, a], [ssd, b], [nvme, a], [nvme, b])]
    assert found == {
        "nodeAffinity": {**required(*pairs), PREFERRED: [other, {"weight": 1, "preference": {}}]},
        "podAffinity": {PREFERRED: [{"weight": 3}]},
        "podAntiAffinity": ZONES["podAntiAffinity"],
    }
    assert made["spec"]["affinity"] == own, "what is asked about is left as it is"


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"nodeAffinity": required(term("disk", "ssd"), term("zone", "a"))},
        {"nodeAffinity": required(term("zone", "b"))},
        {"podAntiAffinity": ZONES["podAntiAffinity"]},
    ],
)
def test_a_second_look_at_an_affinity_finds_nothing_to_do(own: dict[str, Any]) -> None:
    once = patched(pod("arm-v7", affinity=own))
    assert amend(once, RULES) == []


def test_a_pod_without_the_label_is_left_alone_whatever_the_default_is() -> None:
    assert amend(pod(""), RULES) == []
    assert amend({}, RULES) == []


@pytest.mark.parametrize(
    ("made", "code", "message"),
    [
        (
            pod(nodeSelector={"kubernetes.io/arch": "amd64"}),
            "ArchitectureConflict",
            "the pod asks for nodes with kubernetes.io/arch=amd64",
        ),
        (pod(runtimeClassName="gvisor"), "ArchitectureConflict", "the pod has runtimeClassName gvisor"),
        (pod("arm-v6"), "ArchitectureNotConfigured", "configured: amd64, arm-v7, arm64"),
        (pod("sparc"), "ArchitectureUnknown", "label propwash.dev/architecture of the pod says architecture 'sparc'"),
    ],
)
def test_a_contradiction_is_refused(made: dict[str, object], code: str, message: str) -> None:
    with pytest.raises(Permanent, match=message) as caught:
        amend(made, RULES)
    assert caught.value.failure.code == code
