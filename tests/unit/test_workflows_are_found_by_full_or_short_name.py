"""`propwash run wf.py my_wf`: the whole name or an unambiguous ending of it."""

from __future__ import annotations

import pytest

from engine.model.errors import BadInput
from engine.wire.lookup import find_entity
from tests.packages import compiled, node, plan, plan_id, task, workflow, workflow_id

MAIN, OTHER, LONE = workflow("pkg.main.wf"), workflow("pkg.other.wf"), workflow("pkg.main.lone")
TAKEN = workflow("pkg.main.taken")
PROGRAM = compiled(
    MAIN,
    OTHER,
    LONE,
    TAKEN,
    task("pkg.main.step"),
    plan("pkg.main.wf", MAIN),
    plan("pkg.other.wf", OTHER),
    plan("nightly", MAIN),
    plan("pkg.main.taken", MAIN),
).program


def test_the_default_launch_plan_stands_for_its_workflow() -> None:
    assert find_entity(PROGRAM, "pkg.main.wf") == plan_id("pkg.main.wf")


def test_a_workflow_without_launch_plan() -> None:
    assert find_entity(PROGRAM, "pkg.main.lone") == workflow_id("pkg.main.lone")


def test_a_launch_plan_of_another_workflow_does_not_hide_one() -> None:
    assert find_entity(PROGRAM, "pkg.main.taken") == workflow_id("pkg.main.taken")


def test_a_launch_plan_by_its_own_name() -> None:
    assert find_entity(PROGRAM, "nightly") == plan_id("nightly")


def test_endings() -> None:
    assert find_entity(PROGRAM, "lone") == workflow_id("pkg.main.lone")
    assert find_entity(PROGRAM, "other.wf") == plan_id("pkg.other.wf")


def test_the_file_that_was_given_decides_between_several() -> None:
    assert find_entity(PROGRAM, "wf", "pkg.other") == plan_id("pkg.other.wf")
    with pytest.raises(BadInput, match=r"'wf' may mean any of pkg\.main\.wf, pkg\.other\.wf: give the whole name"):
        find_entity(PROGRAM, "wf")


def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(BadInput) as caught:
        find_entity(PROGRAM, "wrong")
    assert str(caught.value) == (
        "there is no workflow or launch plan 'wrong'. "
        "There are: nightly, pkg.main.lone, pkg.main.taken, pkg.main.wf, pkg.other.wf."
    )


def test_part_of_a_word_is_no_ending() -> None:
    with pytest.raises(BadInput):
        find_entity(PROGRAM, "one")


def test_a_task_is_told_from_nothing() -> None:
    with pytest.raises(BadInput, match="'step' is a task; only workflows and launch plans can be run"):
        find_entity(PROGRAM, "step")


def test_of_many_names_the_closest_are_listed() -> None:
    many = compiled(task("m.t", inputs={}), *(workflow(f"m.flow{i}", node("n0")) for i in range(30))).program
    with pytest.raises(BadInput, match=r"There are: m\.flow7, .* and 10 more\.") as caught:
        find_entity(many, "flwo7")
    assert str(caught.value).count("m.flow") == 20
