"""The graphs of the workloads, compiled by hand, and the values that their tasks write."""

from __future__ import annotations

from flyteidl.core import literals_pb2, types_pb2

from engine.model.graph import ArraySpec, Program
from tests.programs import INT, constant, graph, interface, list_of, mapped, node, plan, program, promise, task

STR = types_pb2.LiteralType(simple=types_pb2.STRING)


def integer(value: int) -> literals_pb2.Literal:
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=literals_pb2.Primitive(integer=value)))


def text(length: int) -> literals_pb2.Literal:
    primitive = literals_pb2.Primitive(string_value="x" * length)
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))


def collection(items: list[literals_pb2.Literal]) -> literals_pb2.Literal:
    return literals_pb2.Literal(collection=literals_pb2.LiteralCollection(literals=items))


def literal_map(**values: literals_pb2.Literal) -> bytes:
    return bytes(literals_pb2.LiteralMap(literals=values).SerializeToString())


def map_of(item: types_pb2.LiteralType) -> Program:
    """A map over the input list xs, its list given out."""
    many = mapped(task("work", interface({"a": INT}, {"o0": item})))
    wf = graph(
        "wf",
        [node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")])],
        outputs=[promise("o0", "n0")],
        face=interface({"xs": list_of(INT)}, {"o0": list_of(item)}),
    )
    return program([wf], [many])


def map_to_launch_plan() -> Program:
    """A map of texts whose list goes to a launch plan and there to a task."""
    many = mapped(task("work", interface({"a": INT}, {"o0": STR})))
    count = task("count", interface({"texts": list_of(STR)}, {}))
    child = graph(
        "child",
        [node("n0", count.id, bindings=[promise("texts", "", "texts")])],
        face=interface({"texts": list_of(STR)}, {}),
    )
    child_plan = plan("child_plan", child)
    wf = graph(
        "wf",
        [
            node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")]),
            node("n1", child_plan.id, after=["n0"], bindings=[promise("texts", "n0")]),
        ],
        face=interface({"xs": list_of(INT)}, {}),
    )
    return program([wf, child], [many, count], [child_plan])


def lattice(size: int, width: int = 100) -> Program:
    """`size` nodes: node k follows node k - width, so that up to `width` are at work at once."""
    work = task("work")
    nodes = [
        node(
            f"n{k}",
            work.id,
            after=[f"n{k - width}"] if k >= width else [],
            bindings=[promise("a", f"n{k - width}") if k >= width else constant("a", 1)],
        )
        for k in range(size)
    ]
    return program([graph("wf", nodes)], [work])
