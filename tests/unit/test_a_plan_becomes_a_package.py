"""What a @dynamic task planned is a package of its own: its names win, and what it only refers to is copied."""

from __future__ import annotations

import pytest
from flyteidl.admin.task_pb2 import TaskSpec as TaskMessage
from flyteidl.core.literals_pb2 import BindingData
from flyteidl.core.types_pb2 import LiteralType
from msgspec import structs

from engine.model.errors import ErrorKind, Permanent
from engine.model.graph import END_NODE, START_NODE, NodeKind, Program, TaskSpec
from engine.wire.compile import compile_package
from engine.wire.package import Package, pack, unpack
from engine.wire.plan import read_plan
from tests.literal_types import INT, STR
from tests.packages import (
    calls,
    compiled,
    constant,
    given,
    items,
    map_node,
    node,
    output,
    plan,
    plan_id,
    registered,
    task,
    task_id,
    workflow,
    workflow_id,
)
from tests.plans import futures

DYNAMIC = task("m.dyn", {"n": INT}, {"o0": INT})
SQUARE = task("m.t")
OTHER = task("m.other")
INNER = workflow("m.inner", node("n0", {"a": given("n")}), gives={"o0": (INT, output("n0"))})
PARENT = registered(DYNAMIC, SQUARE, OTHER, INNER, plan("m.plan", INNER, defaults={"n": 3}))


def spec(message: TaskMessage = DYNAMIC) -> TaskSpec:
    return compiled(message).program.tasks[task_id(message.template.id.name)]


def package(data: bytes, *, parent: Package = PARENT) -> Package:
    found = read_plan(data, spec())
    found.complete(parent)
    return found.package("/code")


def program(data: bytes, *, parent: Package = PARENT) -> Program:
    return compile_package(unpack(pack(package(data, parent=parent)), "here")).program


def refusal(data: bytes, *, parent: Package = PARENT) -> Permanent:
    with pytest.raises(Permanent) as caught:
        package(data, parent=parent)
    return caught.value


def test_its_nodes_stand_between_a_start_and_an_end_with_the_tasks_own_interface() -> None:
    chain = (node("dn0", {"a": constant(2)}), node("dn1", {"a": output("dn0")}))
    found = program(futures(*chain, gives={"o0": output("dn1")}, tasks=[SQUARE]))

    assert found.root == workflow_id("m.dyn")
    graph = found.workflows[found.root]
    assert list(graph.nodes) == [START_NODE, "dn0", "dn1", END_NODE]
    assert graph.nodes["dn1"].upstream == ("dn0",)
    assert graph.nodes[END_NODE].upstream == ("dn1",)
    assert (list(graph.interface.inputs), list(graph.interface.outputs)) == (["n"], ["o0"])
    assert (list(found.tasks), found.code_root) == ([task_id("m.t")], "/code")


def test_the_same_plan_has_the_same_digest() -> None:
    one, two = node("dn0", {"a": constant(2)}), node("dn1", {"a": constant(2)}, after=["dn0", "dn9"])
    two_again = node("dn1", {"a": constant(2)}, after=["dn9", "dn0"])
    nine = node("dn9", {"a": constant(2)})
    gives = {"o0": output("dn1")}
    first = package(futures(one, two, nine, gives=gives, tasks=[SQUARE, OTHER]))
    second = package(futures(one, two_again, nine, gives=gives, tasks=[OTHER, SQUARE]))
    assert first.digest == second.digest
    assert program(futures(one, two, nine, gives=gives, tasks=[SQUARE, OTHER])).digest == first.digest


def test_a_sub_workflow_of_a_registered_name_is_the_plans_own() -> None:
    own = workflow("m.inner", node("dn0", {"a": given("n")}), gives={"o0": (INT, output("dn0"))})
    data = futures(
        calls("dn0", {"n": constant(1)}, workflow="m.inner"),
        gives={"o0": output("dn0")},
        tasks=[SQUARE],
        workflows=[own],
    )
    assert list(program(data).workflows[workflow_id("m.inner")].nodes) == [START_NODE, "dn0", END_NODE]


def test_a_task_of_a_registered_name_is_the_plans_own() -> None:
    other = task("m.t")
    other.template.container.image = "other:2"
    found = program(futures(node("dn0", {"a": constant(1)}), gives={"o0": output("dn0")}, tasks=[other]))
    assert b"other:2" in found.tasks[task_id("m.t")].template


def test_launch_plans_come_from_the_parent_with_their_interface_and_without_their_workflow() -> None:
    found = program(
        futures(
            calls("dn0", {}, plan="m.plan"),
            node("dn1", {"a": output("dn0")}),
            gives={"o0": output("dn1")},
            tasks=[SQUARE],
        )
    )
    copied = found.launch_plans[plan_id("m.plan")]
    parent = compile_package(PARENT).program.launch_plans[plan_id("m.plan")]
    assert (copied.workflow, copied.interface, copied.defaults) == (parent.workflow, parent.interface, parent.defaults)
    assert list(found.workflows) == [workflow_id("m.dyn")]


def test_tasks_and_sub_workflows_that_are_only_named_come_from_the_parent_with_all_they_run() -> None:
    data = futures(calls("dn0", {"n": constant(1)}, workflow="m.inner"), gives={"o0": output("dn0")})
    found = program(data, parent=structs.replace(PARENT, code_root="/parent"))
    assert list(found.workflows[workflow_id("m.inner")].nodes) == [START_NODE, "n0", END_NODE]
    assert list(found.tasks) == [task_id("m.t")]
    assert (found.code_root, found.code_roots) == ("/code", {task_id("m.t"): "/parent"})


def test_maps_are_nodes_like_others() -> None:
    lifted = task("m.map_t", {"a": _list(INT)}, {"o0": _list(INT)})
    data = futures(
        map_node("dn0", {"a": constants(1, 2)}, runs="m.map_t"),
        node("dn1", {"a": output("dn0", "o0", 1)}),
        gives={"o0": output("dn1")},
        tasks=[lifted, SQUARE],
    )
    graph = program(data).workflows[workflow_id("m.dyn")]
    assert graph.nodes["dn0"].kind is NodeKind.ARRAY
    assert graph.nodes["dn1"].upstream == ("dn0",)


def test_everything_wrong_with_it_is_told_at_once() -> None:
    data = futures(
        node("dn0", {"a": constant("text")}),
        node("dn1", {"a": output("dn7")}),
        calls("dn2", {"n": constant(1)}, plan="m.nowhere"),
        gives={"o0": output("dn0"), "o9": output("dn0")},
        tasks=[SQUARE],
        successes=2,
    )
    problem = refusal(data)
    assert (problem.failure.code, problem.failure.kind) == ("DynamicWorkflowBuildFailed", ErrorKind.USER)
    assert not problem.recoverable
    head, *lines = problem.failure.message.split("\n")
    assert head == "the plan that task m.dyn wrote can't be run, 5 problems; none of its nodes was started:"
    assert [line.removeprefix("  - ") for line in lines] == [
        "it asks for 2 successes of its 3 nodes (min_successes); every node of a plan must succeed",
        "workflow m.dyn, node dn0: input 'a' is given str, but expects int",
        "workflow m.dyn, node dn1: input 'a' takes 'o0' from node dn7, which does not exist",
        "workflow m.dyn, node dn2: it runs the launch plan m.nowhere, which is not in the package",
        "workflow m.dyn: output 'o9' does not exist; there is o0",
    ]


def test_outputs_must_be_what_the_task_declares() -> None:
    texts = task("m.texts", {}, {"o0": STR})
    data = futures(node("dn0", runs="m.texts"), gives={"o0": output("dn0")}, tasks=[texts])
    assert "output 'o0' is given str by output 'o0' of node dn0, but expects int" in refusal(data).failure.message
    assert "output 'o0' (int) is required, but nothing is bound to it" in refusal(futures()).failure.message


@pytest.mark.parametrize("successes", [0, 1])
def test_all_nodes_must_succeed_whether_the_plan_says_so_or_nothing(successes: int) -> None:
    data = futures(node("dn0", {"a": constant(1)}), gives={"o0": output("dn0")}, tasks=[SQUARE], successes=successes)
    assert len(program(data).workflows[workflow_id("m.dyn")].nodes) == 3


def test_bytes_that_are_no_plan_are_worth_another_attempt() -> None:
    with pytest.raises(Permanent) as caught:
        read_plan(b"\xff\x00junk", spec())
    assert (caught.value.failure.code, caught.value.failure.kind) == ("DynamicWorkflowBuildFailed", ErrorKind.SYSTEM)
    assert caught.value.recoverable
    assert "futures.pb of task m.dyn can't be read: 6 bytes" in caught.value.failure.message


def _list(item: LiteralType) -> LiteralType:
    return LiteralType(collection_type=item)


def constants(*values: int) -> BindingData:
    return items(*map(constant, values))
