"""Compiles a conditional: its arms in order, and what they choose from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flyteidl.core.condition_pb2 import BooleanExpression
from flyteidl.core.workflow_pb2 import IfElseBlock, Node
from msgspec import structs

from engine.model.graph import Arm, BranchSpec, Graph, Interface, NodeSpec
from engine.model.ids import NODE_ID, EntityId, EntityKind
from engine.wire.built import Built, promises
from engine.wire.entities import branch_bodies
from engine.wire.interfaces import NodeInterface

_NUMBERED = re.compile(r"(\D*)(\d+)\Z")
_DROPPED = (
    "flytekit has dropped a call from it (a task or workflow called inside then(...) or in a condition), which is "
    "not in the package: call it before the conditional and use its result"
)


def build_branch(node: Node, spec: NodeSpec, home: tuple[str, str, str], build: Callable[[Node], Built]) -> Built:
    """`spec` knows what its conditions need: it waits for nothing else, each arm waits for its own.

    home: project, domain and version of the package. build: compiles what an arm runs, nested conditionals too.
    """
    bodies = _with_ids([build(body) for body in branch_bodies(node)])
    block = node.branch_node.if_else
    conditions = [block.case.condition, *(other.condition for other in block.other)]
    texts = [condition.SerializeToString(deterministic=True) for condition in conditions]
    arms = [Arm(body.spec.id, text) for body, text in zip(bodies, [*texts, b""], strict=False)]
    id = EntityId(EntityKind.WORKFLOW, home[0], home[1], f"conditional {node.metadata.name}", home[2])
    graph = Graph(id, Interface(), {body.spec.id: body.spec for body in bodies}, {})
    spec = structs.replace(
        spec,
        branch=BranchSpec(tuple(arms), graph, _refusal(block)),
        detail=f"conditional({node.metadata.name!r})",
    )
    wrong = [f"body {body.spec.id}: {text}" for body in bodies for text in _body_problems(body)]
    wrong += _unbound(node, conditions)
    if _dropped(node, bodies):
        wrong.append(_DROPPED)
    lacks = tuple(f"body {body.spec.id}: {text}" for body in bodies for text in body.lacks)
    return Built(node, spec, NodeInterface(outputs=_common_outputs(bodies)), tuple(wrong), lacks, tuple(bodies))


def _refusal(block: IfElseBlock) -> str:
    """What the author says where no condition holds; empty where there is an else arm."""
    return block.error.message or "no condition holds" if block.WhichOneof("default") == "error" else ""


def _with_ids(bodies: Sequence[Built]) -> list[Built]:
    """Bodies of one id get ids of their own: the second `n0` is `n0-1`. Nothing refers to a body by its id."""
    taken = {body.spec.id for body in bodies}
    seen: set[str] = set()
    found = []
    for body in bodies:
        id = body.spec.id
        if id in seen:
            id = next(other for n in range(1, len(bodies) + 1) if (other := f"{id}-{n}") not in taken)
            taken.add(id)
        seen.add(id)
        found.append(replace(body, spec=structs.replace(body.spec, id=id)))
    return found


def _body_problems(body: Built) -> Iterator[str]:
    yield from body.wrong
    if not NODE_ID.match(body.spec.id):
        yield f"the node id {body.spec.id!r} may hold only letters, digits, '.', '_' and '-'"


def _unbound(node: Node, conditions: Iterable[BooleanExpression]) -> Iterator[str]:
    """Names that a condition uses and nothing is bound to."""
    bound = {given.var for given in node.inputs}
    used = {name for condition in conditions for name in _variables(condition)}
    for name in sorted(used - bound):
        yield f"a condition uses {name!r}, but nothing is bound to it"


def _variables(condition: BooleanExpression) -> Iterator[str]:
    left = [condition]
    while left:
        expression = left.pop()
        if expression.WhichOneof("expr") == "conjunction":
            left += [expression.conjunction.left_expression, expression.conjunction.right_expression]
            continue
        for side in (expression.comparison.left_value, expression.comparison.right_value):
            if side.WhichOneof("val") == "var":
                yield side.var


def _dropped(node: Node, bodies: Sequence[Built]) -> bool:
    """Whether flytekit has left out a call that was nested in this conditional, but has kept what refers to it.

    It numbers the calls inside a conditional from 0, and keeps only those that are arms: a gap in their numbers is a
    call that was dropped, and a reference to such a number means that call, even where a node outside has the same id.
    """
    gaps: set[str] = set()
    expected = 0
    for body in bodies:
        numbered = _NUMBERED.match(body.spec.id)
        number = int(numbered[2]) if numbered else expected
        if numbered and expected <= number < expected + 1000:
            gaps |= {f"{numbered[1]}{gap}" for gap in range(expected, number)}
            expected = number
        expected += 1
    return not gaps.isdisjoint(_referred(node, bodies))


def _referred(node: Node, bodies: Sequence[Built]) -> set[str]:
    """Node ids that its conditions and its arms read from."""
    messages = [node, *(body.message for body in bodies)]
    return {promise.node_id for message in messages for given in message.inputs for promise in promises(given.binding)}


def _common_outputs(bodies: Sequence[Built]) -> Mapping[str, bytes | None] | None:
    """What every body gives, with the type that the first one gives it."""
    known = [built.interface.outputs for built in bodies]
    first = known[0]
    if first is None:
        return None
    return {name: kind for name, kind in first.items() if all(other is None or name in other for other in known)}
