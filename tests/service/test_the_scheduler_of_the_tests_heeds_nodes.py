"""Pods are bound by the real scheduler: by architecture, by taints, and not at all where nothing fits."""

from __future__ import annotations

import pytest

from tests.backing.kubernetes.nodes import ARM_TAINT, SPOT_LABEL, SPOT_TAINT
from tests.backing.kubernetes.specs import Script
from tests.clusters import Document, Pods, ended, pod, space

pytestmark = pytest.mark.service("kubernetes")
ARM, SPOT = {**ARM_TAINT, "operator": "Equal"}, {**SPOT_TAINT, "operator": "Equal"}


def reason_of(found: Document) -> Document:
    """The condition that says whether it is scheduled."""
    return next(({**each} for each in found["status"].get("conditions", []) if each["type"] == "PodScheduled"), {})


async def test_selectors_and_taints_choose_the_node() -> None:
    async with space() as at:
        arch = "kubernetes.io/arch"
        await at.run(pod("any", script=Script()))
        await at.run(pod("amd", script=Script(), node={arch: "amd64"}))
        await at.run(pod("arm", script=Script(), node={arch: "arm64"}, tolerations=[ARM]))
        await at.run(pod("spot", script=Script(), node={arch: "arm64", **SPOT_LABEL}, tolerations=[ARM, SPOT]))
        done = await at.until(lambda pods: len(pods) == 4 and ended(pods))
        nodes = {name: each["spec"]["nodeName"] for name, each in done.items()}
        assert nodes == {"any": "amd64", "amd": "amd64", "arm": "arm64", "spot": "spot-arm64"}


async def test_a_pod_that_fits_nowhere_says_why() -> None:
    async with space() as at:
        await at.run(pod("nowhere", script=Script(), node={"kubernetes.io/arch": "arm64"}))

        def told(pods: Pods) -> bool:
            return bool(pods) and reason_of(pods["nowhere"]).get("reason") == "Unschedulable"

        found = (await at.until(told))["nowhere"]
        assert found["status"]["phase"] == "Pending"
        assert "untolerated taint" in reason_of(found)["message"]
