"""What a pod spec says of its nodes, beside what the placement says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engine.machine.podpins import check_pod, pinned_architectures
from engine.model.architectures import Architecture
from engine.model.errors import Permanent
from engine.model.placement import ANYWHERE, Placement

ARM64 = Placement(Architecture.ARM64, {"kubernetes.io/arch": "arm64"})
OWN_LABELS = Placement(Architecture.ARM64, {"pool": "arm"})


def selects(**labels: str) -> Mapping[str, object]:
    return {"nodeSelector": {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}}


def requires(*terms: tuple[str, str, list[str]]) -> Mapping[str, object]:
    """Each term has one rule."""
    rules = [{"matchExpressions": [{"key": key, "operator": how, "values": values}]} for key, how, values in terms]
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": rules}},
        }
    }


ARCH = "kubernetes.io/arch"


@pytest.mark.parametrize(
    ("spec", "pinned", "wanted"),
    [
        (selects(kubernetes_io__arch="amd64"), "kubernetes.io/arch=amd64", "kubernetes.io/arch=arm64"),
        (requires((ARCH, "In", ["s390x", "amd64"])), "kubernetes.io/arch=amd64 or s390x", "kubernetes.io/arch=arm64"),
        (
            requires((ARCH, "In", ["amd64"]), (ARCH, "In", ["s390x"])),
            "kubernetes.io/arch=amd64 or s390x",
            "kubernetes.io/arch=arm64",
        ),
    ],
)
@pytest.mark.parametrize("placement", [ARM64, OWN_LABELS])
def test_another_architecture(spec: Mapping[str, object], pinned: str, wanted: str, placement: Placement) -> None:
    with pytest.raises(Permanent) as caught:
        check_pod(placement, spec, "the pod template of task m.t")
    assert caught.value.failure.code == "ArchitectureConflict"
    assert caught.value.failure.message == (
        f"the pod template of task m.t asks for nodes with {pinned}, but architecture arm64 needs {wanted}; "
        "nothing was started"
    )


def test_another_value_of_a_label_of_the_operators() -> None:
    with pytest.raises(Permanent, match="asks for nodes with pool=x86, but architecture arm64 needs pool=arm"):
        check_pod(OWN_LABELS, selects(pool="x86"), "it")
    with pytest.raises(Permanent, match="but an attempt that may be interrupted needs lifecycle=spot"):
        check_pod(Placement(None, {"lifecycle": "spot"}), selects(lifecycle="regular"), "it")


@pytest.mark.parametrize(
    "spec",
    [
        {},
        selects(kubernetes_io__arch="arm64", disk="ssd"),
        requires((ARCH, "In", ["arm64", "amd64"])),
        requires((ARCH, "In", ["amd64"]), ("disk", "In", ["ssd"])),
        requires((ARCH, "NotIn", ["s390x"])),
        {"nodeSelector": None, "affinity": {"nodeAffinity": None}},
    ],
)
def test_what_leaves_the_architecture_open_is_none(spec: Mapping[str, object]) -> None:
    check_pod(ARM64, spec, "it")
    check_pod(ANYWHERE, spec, "it")


def test_both_versions_of_arm_have_one_label() -> None:
    v6 = Placement(Architecture.ARM_V6, {"board": "zero"})
    check_pod(v6, selects(kubernetes_io__arch="arm"), "it")
    assert pinned_architectures(selects(kubernetes_io__arch="arm")) == frozenset({"arm"})
    assert pinned_architectures(requires(("disk", "In", ["ssd"]))) is None
