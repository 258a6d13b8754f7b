"""One execution that the views show, and its nodes as rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from engine.cli.answers import Place, question
from engine.cli.wording import Group
from engine.gateway.document import target_name
from engine.gateway.order import Key, NodeOrder
from engine.machine.execution import ExecutionState
from engine.model.ids import owner, split
from engine.model.state import Node

ARROW = " > "
"""Between a launch plan node and a node of its child execution."""


class Row(Struct, frozen=True):
    place: str
    """`n1/0/n0`, or `n1 > n0` for node n0 of the child execution that node n1 started."""
    label: str
    """The path in its own execution; it stands below what contains the node or started its execution."""
    depth: int
    node: Node
    target: str
    child: str
    """Name of the child execution that the node started last."""
    question: str = ""
    """What a gate waits for, and how to answer."""


@dataclass(slots=True, eq=False)
class Followed:
    order: NodeOrder
    title: str
    """What precedes the paths of its nodes."""
    depth: int
    key: Key
    parent: Spot | None = None
    """The launch plan node that started it."""
    mark: str = ""
    """`[3] ` for the child execution of a map's element."""
    place: Place | None = None
    """Where its gates are answered; None: nobody is told how."""
    state: ExecutionState | None = None
    """As the engine holds it. None: not seen yet, or its nodes are only counted by now."""
    ended: defaultdict[Group, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Paths in the order in which the nodes ended."""
    children: dict[str, str] = field(default_factory=dict)
    """Names of the child executions, by the paths of the nodes that started them."""
    known: dict[str, tuple[Key, str]] = field(default_factory=dict)
    """Of nodes that were drawn: what sorts them, and what they run."""

    def let_go(self) -> None:
        """From now on its nodes are only counted."""
        self.state = None
        self.ended.clear()
        self.children.clear()
        self.known.clear()


class Spot(NamedTuple):
    """One node."""

    at: Followed
    path: str

    def line(self) -> list[Spot]:
        """The node below those that contain it or started its execution, the outermost first."""
        if self.at.parent is None and "/" not in self.path:
            return [self]
        frame, _ = split(self.path)
        containing = owner(frame)
        above = self.at.parent if containing is None else Spot(self.at, containing)
        return [*above.line(), self] if above and above.at.state is not None else [self]

    def key(self) -> Key:
        """Sorts nodes as the graphs run, what lies inside a node right after it."""
        return self._known()[0]

    def row(self) -> Row:
        at, path = self
        assert at.state is not None
        return Row(
            place=at.title + path,
            label=at.mark + path if at.parent else at.title + path,
            depth=at.depth + path.count("/") // 2,
            node=at.state.nodes[path],
            target=self._known()[1],
            child=at.children.get(path, ""),
            question=question(at.state, path, at.place) if at.place else "",
        )

    def _known(self) -> tuple[Key, str]:
        at, path = self
        assert at.state is not None
        if path not in at.known:
            at.known[path] = (*at.key, *at.order.key(path, at.state)), target_name(path, at.state) or ""
        return at.known[path]
