"""The FLYTE_* variables: identity, attempt, place in a map, and from which size on a task offloads its outputs."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.data.environment import environment
from engine.model.graph import ArraySpec
from engine.model.ids import AttemptKey, EntityKind
from engine.model.limits import MIB, OffloadLimits
from tests.dataplane import EXECUTION, KEY, NEVER, ORIGIN
from tests.programs import entity, node, task

SPEC = task("work")
NODE = node("n1", SPEC.id)


def test_identity_and_attempt() -> None:
    found = environment(AttemptKey(EXECUTION, "n1", 3), NODE, SPEC, ORIGIN, NEVER)
    assert found == {
        "FLYTE_INTERNAL_EXECUTION_WORKFLOW": "p:d:wf",
        "FLYTE_INTERNAL_EXECUTION_ID": "e1",
        "FLYTE_INTERNAL_EXECUTION_PROJECT": "p",
        "FLYTE_INTERNAL_EXECUTION_DOMAIN": "d",
        "FLYTE_INTERNAL_TASK_PROJECT": "p",
        "FLYTE_INTERNAL_TASK_DOMAIN": "d",
        "FLYTE_INTERNAL_TASK_NAME": "work",
        "FLYTE_INTERNAL_TASK_VERSION": "v1",
        "FLYTE_ATTEMPT_NUMBER": "3",
    }


def test_the_launch_plan_is_named_where_there_is_one() -> None:
    origin = structs.replace(ORIGIN, entity=entity(EntityKind.LAUNCH_PLAN, "nightly"))
    assert environment(KEY, NODE, SPEC, origin, NEVER)["FLYTE_INTERNAL_EXECUTION_LAUNCHPLAN"] == "p:d:nightly"


@pytest.mark.parametrize(("own_interface", "offset"), [(False, "-7"), (True, None)])
def test_an_element_sees_its_index_and_finds_its_one_item(own_interface: bool, offset: str | None) -> None:
    array = node("n1", SPEC.id, array=ArraySpec(original_interface=own_interface))
    found = environment(AttemptKey(EXECUTION, "n1", 0, 7), array, SPEC, ORIGIN, NEVER)
    assert found["FLYTE_K8S_ARRAY_INDEX"] == "7"
    assert found["BATCH_JOB_ARRAY_INDEX_VAR_NAME"] == "FLYTE_K8S_ARRAY_INDEX"
    assert found.get("BATCH_JOB_ARRAY_INDEX_OFFSET") == offset


@pytest.mark.parametrize(
    ("minimum", "expected"), [(10 * MIB, "10"), (MIB, "1"), (MIB + 1, "2"), (MIB - 1, None), (0, None)]
)
def test_the_minimum_is_said_in_whole_mebibytes(minimum: int, expected: str | None) -> None:
    found = environment(KEY, NODE, SPEC, ORIGIN, OffloadLimits(min_size=minimum))
    assert found.get("_F_L_MIN_SIZE_MB") == expected
    assert ("_F_L_MAX_SIZE_MB" in found) == (expected is not None)


def test_the_maximum_is_left_to_the_judge() -> None:
    found = environment(KEY, NODE, SPEC, ORIGIN, OffloadLimits(min_size=MIB, max_size=2 * MIB))
    assert int(found["_F_L_MAX_SIZE_MB"]) * MIB > 2**40


def test_an_element_is_told_nothing_about_offloading_because_its_list_is_offloaded_whole() -> None:
    key = AttemptKey(EXECUTION, "n1", 0, 7)
    found = environment(key, node("n1", SPEC.id, array=ArraySpec()), SPEC, ORIGIN, OffloadLimits(min_size=MIB))
    assert not [name for name in found if name.startswith("_F_L_")]


def test_nothing_is_said_about_offloading_when_it_is_off() -> None:
    assert not [name for name in environment(KEY, NODE, SPEC, ORIGIN, NEVER) if name.startswith("_F_L_")]
