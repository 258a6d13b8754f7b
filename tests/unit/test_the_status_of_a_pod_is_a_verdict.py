from __future__ import annotations

import pytest

from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.states import Ended, Never, Pending, Runs
from engine.adapters.kubernetes.verdict import state_of
from engine.model.errors import ErrorKind
from engine.ports.taskrunner import ExitReason
from tests.podworld import (
    NOON_SECONDS,
    RUNNING,
    SCHEDULED,
    Json,
    condition,
    container,
    pod,
    terminated,
    waiting,
)

OPTIONS = PodOptions(image_grace_seconds=180.0)
TAKEN = condition("DisruptionTarget", "True", "PreemptionByScheduler", "a more important pod")


def ended(phase: str, *states: Json, **said: object) -> tuple[ExitReason, int]:
    found = state_of(pod(phase, *states, **said), NOON_SECONDS, OPTIONS)  # type: ignore[arg-type]
    assert isinstance(found, Ended), found
    return found.exit.reason, found.exit.code


@pytest.mark.parametrize(
    ("code", "reason", "meant"),
    [
        (0, "Completed", (ExitReason.EXITED, 0)),
        (1, "Error", (ExitReason.EXITED, 1)),
        (137, "Error", (ExitReason.SIGNALLED, 9)),
        (247, "Error", (ExitReason.SIGNALLED, 9)),
        (143, "Error", (ExitReason.SIGNALLED, 15)),
        (139, "Error", (ExitReason.SIGNALLED, 11)),
        (200, "Error", (ExitReason.EXITED, 200)),
        (137, "OOMKilled", (ExitReason.OOM_KILLED, 137)),
        (128, "StartError", (ExitReason.REFUSED, 128)),
        (137, "ContainerStatusUnknown", (ExitReason.LOST, 0)),
    ],
)
def test_an_end_means_the_same_whenever_it_is_seen(code: int, reason: str, meant: tuple[ExitReason, int]) -> None:
    """The pod's phase follows its container's end a moment later."""
    phase = "Succeeded" if code == 0 else "Failed"
    assert ended("Running", terminated(code, reason)) == meant
    assert ended(phase, terminated(code, reason)) == meant


def test_the_primary_container_decides() -> None:
    assert ended("Running", terminated(0), RUNNING) == (ExitReason.EXITED, 0)
    assert ended("Failed", terminated(0), terminated(137, "OOMKilled")) == (ExitReason.EXITED, 0)
    running = state_of(pod("Running", RUNNING, terminated(1)), NOON_SECONDS, OPTIONS)
    assert running == Runs(NOON_SECONDS)


@pytest.mark.parametrize("reason", ["Evicted", "Shutdown", "Terminated", "NodeShutdown", "NodeAffinity", "Preempting"])
def test_what_is_taken_away_is_nobodys_fault(reason: str) -> None:
    assert ended("Failed", terminated(143), reason=reason) == (ExitReason.LOST, 0)
    assert ended("Failed", reason=reason) == (ExitReason.LOST, 0)


def test_a_disruption_says_so_itself() -> None:
    found = state_of(pod("Failed", terminated(137), conditions=[TAKEN]), NOON_SECONDS, OPTIONS)
    assert isinstance(found, Ended)
    assert (found.exit.reason, found.exit.condition) == (ExitReason.LOST, "Interrupted")
    assert "PreemptionByScheduler): a more important pod" in found.exit.message
    assert ended("Failed", terminated(137, "OOMKilled"), conditions=[TAKEN]) == (ExitReason.LOST, 0)
    assert ended("Succeeded", terminated(0), conditions=[TAKEN]) == (ExitReason.EXITED, 0)


def test_an_end_while_it_is_deleted_is_no_fault_either() -> None:
    assert ended("Failed", terminated(143), deleted=True) == (ExitReason.LOST, 0)
    assert ended("Succeeded", terminated(0), deleted=True) == (ExitReason.EXITED, 0)
    still = state_of(pod("Running", RUNNING, deleted=True), NOON_SECONDS, OPTIONS)
    assert still == Runs(NOON_SECONDS)


def test_a_pods_own_deadline_is_a_timeout() -> None:
    assert ended("Failed", terminated(143), reason="DeadlineExceeded") == (ExitReason.TIMED_OUT, 0)


def test_a_pod_that_failed_without_a_word_is_lost() -> None:
    found = state_of(pod("Failed", reason="OutOfcpu", message="Node didn't have enough cpu"), NOON_SECONDS, OPTIONS)
    assert isinstance(found, Ended)
    assert found.exit.reason is ExitReason.LOST
    assert "OutOfcpu Node didn't have enough cpu" in found.exit.message


def test_an_init_container_that_failed_is_named() -> None:
    found = state_of(
        pod("Failed", waiting("PodInitializing"), init=[container("fetch", terminated(3, message="no network"))]),
        NOON_SECONDS,
        OPTIONS,
    )
    assert isinstance(found, Ended)
    assert (found.exit.reason, found.exit.code) == (ExitReason.EXITED, 3)
    assert "init container fetch" in found.exit.message
    assert "no network" in found.exit.message


def test_the_last_lines_are_told() -> None:
    found = state_of(pod("Failed", terminated(1, message="KeyError: 'x'\n")), NOON_SECONDS, OPTIONS)
    assert isinstance(found, Ended)
    assert found.exit.message.endswith("it said last:\nKeyError: 'x'")
    assert (found.exit.started_at, found.exit.ended_at) == (NOON_SECONDS, NOON_SECONDS + 9)


@pytest.mark.parametrize(("code", "reason"), [(1, "Error"), (128, "StartError"), (255, "Error")])
def test_the_wrong_architecture_is_said_clearly(code: int, reason: str) -> None:
    state = terminated(code, reason, "exec /usr/bin/python: exec format error")
    found = state_of(pod("Failed", state), NOON_SECONDS, OPTIONS, "arm64")
    assert isinstance(found, Ended)
    assert found.exit.reason is ExitReason.REFUSED
    assert found.exit.message == (
        "image repo/image:1 is not built for arm64: node node1 can't execute its program: "
        "exec /usr/bin/python: exec format error"
    )
    assert found.exit.condition == "ImageNotBuiltForArchitecture"


@pytest.mark.parametrize("place", ["init", "main"])
def test_an_image_has_its_grace_period_wherever_it_is_missing(place: str) -> None:
    stuck = waiting("ImagePullBackOff", "no matching manifest for linux/arm64")
    found = (
        pod("Pending", waiting("PodInitializing"), init=[container("fetch", stuck)], conditions=[SCHEDULED])
        if place == "init"
        else pod("Pending", stuck, conditions=[SCHEDULED])
    )
    early = state_of(found, NOON_SECONDS + 179, OPTIONS, "arm64")
    assert isinstance(early, Pending)
    assert early.until == NOON_SECONDS + 180
    late = state_of(found, NOON_SECONDS + 180, OPTIONS, "arm64")
    assert isinstance(late, Never)
    assert (late.failure.code, late.failure.kind) == ("ContainersNotReady|ImagePullBackOff", ErrorKind.USER)
    assert late.recoverable
    for word in ("repo/image:1", "arm64", "no matching manifest", "grace period of 180 s exceeded"):
        assert word in late.failure.message


def test_the_time_of_an_init_container_is_not_the_images() -> None:
    """It ran for nine seconds before the image was asked for."""
    done = container("fetch", terminated(0, "Completed"))
    found = pod("Pending", waiting("ErrImagePull"), init=[done], conditions=[SCHEDULED])
    state = state_of(found, NOON_SECONDS + 185, OPTIONS)
    assert isinstance(state, Pending)
    assert state.until == NOON_SECONDS + 189


@pytest.mark.parametrize(
    ("reason", "after", "kind", "recoverable"),
    [
        ("InvalidImageName", 0.0, ErrorKind.USER, False),
        ("CreateContainerConfigError", 0.0, ErrorKind.USER, False),
        ("CreateContainerError", 180.0, ErrorKind.USER, False),
        ("ErrImageNeverPull", 0.0, ErrorKind.SYSTEM, True),
        ("RunContainerError", 0.0, ErrorKind.SYSTEM, True),
    ],
)
def test_what_can_not_start(reason: str, after: float, kind: ErrorKind, recoverable: bool) -> None:
    found = pod("Pending", waiting(reason, "why"), conditions=[SCHEDULED])
    if after:
        assert isinstance(state_of(found, NOON_SECONDS + after - 1, OPTIONS), Pending)
    state = state_of(found, NOON_SECONDS + after, OPTIONS)
    assert isinstance(state, Never)
    assert (state.failure.code, state.failure.kind) == (f"ContainersNotReady|{reason}", kind)
    assert state.recoverable is recoverable


def test_a_pod_without_a_node_says_why_and_has_its_time() -> None:
    options = PodOptions(pending_seconds=3600)
    found = pod("Pending", conditions=[condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")])
    state = state_of(found, NOON_SECONDS + 3599, options)
    assert state == Pending("a node (Unschedulable): 0/3 nodes are available", NOON_SECONDS + 3600)
    late = state_of(found, NOON_SECONDS + 3600, options)
    assert isinstance(late, Never)
    assert (late.failure.code, late.recoverable) == ("PodPendingTimeout", True)
    assert "0/3 nodes are available" in late.failure.message
    assert state_of(found, NOON_SECONDS + 1e6, PodOptions()) == Pending(state.why, None)


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing"])
def test_what_begins_may_take_any_time(reason: str) -> None:
    found = pod("Pending", waiting(reason), conditions=[SCHEDULED])
    assert isinstance(state_of(found, NOON_SECONDS + 1e6, OPTIONS), Pending)


def test_a_raw_container_has_ended_when_its_files_are_stored() -> None:
    done = terminated(0, "Completed")
    storing = pod("Running", done, init=[container("propwash-upload", RUNNING)], uploads=True)
    assert isinstance(state_of(storing, NOON_SECONDS, OPTIONS), Runs)
    stored = pod("Succeeded", done, init=[container("propwash-upload", terminated(0))], uploads=True)
    assert state_of(stored, NOON_SECONDS, OPTIONS).exit.well  # type: ignore[union-attr]
    failed = pod("Succeeded", done, init=[container("propwash-upload", terminated(1, message="no S3"))], uploads=True)
    lost = state_of(failed, NOON_SECONDS, OPTIONS)
    assert isinstance(lost, Ended)
    assert lost.exit.reason is ExitReason.LOST
    assert "no S3" in lost.exit.message
    own = pod("Failed", terminated(3), init=[container("propwash-upload", RUNNING)], uploads=True)
    assert state_of(own, NOON_SECONDS, OPTIONS).exit.code == 3  # type: ignore[union-attr]


def test_inputs_that_can_not_be_fetched_are_not_the_tasks_fault() -> None:
    fetching = container("propwash-download", terminated(1, message="no S3"))
    assert ended("Failed", waiting("PodInitializing"), init=[fetching]) == (ExitReason.LOST, 0)
