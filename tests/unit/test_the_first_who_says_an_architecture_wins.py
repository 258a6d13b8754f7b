"""Execution, launch plan, task, project and domain, platform: who is chosen, and what is told of a bad choice."""

from __future__ import annotations

import pytest

from engine.machine.placement import Said, place
from engine.model.architectures import Architecture
from engine.model.errors import ErrorKind, Permanent
from engine.model.placement import ANYWHERE, NodePool, Placement, PlacementRules, Toleration

AMD64, ARM64 = Architecture.AMD64, Architecture.ARM64
TAINT = Toleration("kubernetes.io/arch", value="arm64", effect="NoSchedule")
SPOT = Toleration("spot", "Exists")
ARM = NodePool({"kubernetes.io/arch": "arm64"}, (TAINT,), {"nodeAffinity": {}}, "crun", autoscaled=True)
RULES = PlacementRules(
    {AMD64: NodePool({"kubernetes.io/arch": "amd64"}), ARM64: ARM},
    interruptible=NodePool({"lifecycle": "spot"}, (SPOT, TAINT)),
)
RANKS = ("execution", "launch_plan", "task", "project_domain", "platform")


@pytest.mark.parametrize("rank", range(len(RANKS)))
def test_a_higher_rank_wins_over_all_lower_ones(rank: int) -> None:
    said = Said(**{name: ARM64 if place == rank else AMD64 for place, name in enumerate(RANKS) if place >= rank})
    assert place(said, RULES, interruptible=False).architecture is ARM64


def test_nothing_said_is_no_constraint() -> None:
    assert place(Said(), RULES, interruptible=False) == ANYWHERE
    assert ANYWHERE.labels == {}


def test_a_pod_gets_what_is_configured() -> None:
    placed = place(Said(task=ARM64), RULES, interruptible=False)
    assert placed == Placement(ARM64, {"kubernetes.io/arch": "arm64"}, (TAINT,), {"nodeAffinity": {}}, "crun")
    assert placed.labels == {"propwash.dev/architecture": "arm64"}
    assert place(Said(task=AMD64), RULES, interruptible=False).tolerations == ()


def test_what_may_be_interrupted_gets_both_and_nothing_twice() -> None:
    placed = place(Said(task=ARM64), RULES, interruptible=True)
    assert placed.node_selector == {"kubernetes.io/arch": "arm64", "lifecycle": "spot"}
    assert placed.tolerations == (TAINT, SPOT)
    anywhere = place(Said(), RULES, interruptible=True)
    assert anywhere == Placement(None, {"lifecycle": "spot"}, (SPOT, TAINT))


def test_a_thousand_placements_leave_the_settings_alone() -> None:
    first = place(Said(task=ARM64), RULES, interruptible=True)
    assert all(place(Said(task=ARM64), RULES, interruptible=True) == first for _ in range(1000))
    assert RULES.architectures[ARM64].tolerations == (TAINT,)
    assert RULES.architectures[ARM64].node_selector == {"kubernetes.io/arch": "arm64"}


@pytest.mark.parametrize(
    ("said", "who"),
    [
        (Said(execution=Architecture.ARM_V7, task=AMD64), "the execution"),
        (Said(launch_plan=Architecture.ARM_V7, task=AMD64), "its launch plan"),
        (Said(task=Architecture.ARM_V7, platform=AMD64), "the task"),
        (Said(project_domain=Architecture.ARM_V7), "the default of its project and domain"),
        (Said(platform=Architecture.ARM_V7), "the platform's default"),
    ],
)
def test_one_that_is_not_configured_is_refused_with_those_that_are(said: Said, who: str) -> None:
    with pytest.raises(Permanent) as caught:
        place(said, RULES, interruptible=False)
    failure = caught.value.failure
    assert (failure.code, failure.kind, caught.value.recoverable) == (
        "ArchitectureNotConfigured",
        ErrorKind.USER,
        False,
    )
    assert failure.message == (
        f"{who} asks for architecture arm-v7, for which no nodes are configured (architectures in the settings); "
        "configured: amd64, arm64; nothing was started"
    )


def test_settings_that_contradict_each_other_are_no_pod_that_waits_for_ever() -> None:
    rules = PlacementRules({ARM64: NodePool({"pool": "arm"})}, interruptible=NodePool({"pool": "spot"}))
    assert place(Said(task=ARM64), rules, interruptible=False).node_selector == {"pool": "arm"}
    with pytest.raises(Permanent, match="pool=arm for the one and pool=spot for the other") as caught:
        place(Said(task=ARM64), rules, interruptible=True)
    assert caught.value.failure.code == "ArchitectureConflict"
