"""The affinity of a pod, laid together from what its author says and what its nodes ask for: pure, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.machine.podpins import REQUIRED

Json = Mapping[str, object]
NODE = "nodeAffinity"
_TERMS, _PARTS = "nodeSelectorTerms", ("matchExpressions", "matchFields")


def both(own: Json, other: Json) -> dict[str, object]:
    """What both require holds, and what either prefers is preferred. Neither is changed; a second time adds nothing."""
    found = dict(own)
    for kind, rules in other.items():
        mine = dict(_mapping(own.get(kind)))
        for name, wanted in _mapping(rules).items():
            if (kind, name) == (NODE, REQUIRED):
                terms = _items(_mapping(wanted).get(_TERMS))
                mine = dict(_mapping(requiring({NODE: mine}, [_mapping(it) for it in terms])[NODE]))
            else:
                there = _items(mine.get(name))
                mine[name] = [*there, *(it for it in _items(wanted) if it not in there)]
        found[kind] = mine
    return found


def requiring(own: Json, terms: Sequence[Json]) -> dict[str, object]:
    """A node that one of the terms fits, and one of those that stand there already: every pair of them is a term."""
    node = _mapping(own.get(NODE))
    before = [_mapping(it) for it in _items(_mapping(node.get(REQUIRED)).get(_TERMS))]
    if not terms or (before and all(any(_holds(it, term) for term in terms) for it in before)):
        return {**own, NODE: dict(node)}
    pairs = [_pair(one, term) for one in before or [{}] for term in terms]
    return {**own, NODE: {**node, REQUIRED: {_TERMS: pairs}}}


def _pair(one: Json, other: Json) -> dict[str, object]:
    joined: dict[str, object] = {}
    for part in _PARTS:
        mine = _items(one.get(part))
        rules = [*mine, *(it for it in _items(other.get(part)) if it not in mine)]
        if rules:
            joined[part] = rules
    return joined


def _holds(one: Json, term: Json) -> bool:
    """Whether a term says all that another one does."""
    return all(it in _items(one.get(part)) for part in _PARTS for it in _items(term.get(part)))


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
