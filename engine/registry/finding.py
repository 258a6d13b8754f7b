"""Finds what a person means by a name: the whole of it or a unique ending, with or without a version."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from engine.model.errors import BadInput
from engine.model.ids import EntityId, EntityKind
from engine.registry.entries import Entry, Registry

RUNNABLE = (EntityKind.LAUNCH_PLAN, EntityKind.WORKFLOW, EntityKind.TASK)
"""A workflow and its default launch plan share a name: the launch plan is meant, which knows the defaults."""
_SHOWN = 20
"""Names or versions that a message lists."""


async def find(registry: Registry, text: str, project: str, domain: str, kinds: Sequence[EntityKind]) -> Entry:
    """`text`: NAME or NAME:VERSION; without a version the one that was registered last. `kinds`: the first one wins.

    Raises BadInput that says what there is.
    """
    head, colon, version = text.rpartition(":")
    for name, wanted in [(text, ""), (head, version)] if colon else [(text, "")]:
        for kind in kinds:
            if versions := await registry.versions(kind, project, domain, name):
                return _of_version(versions, wanted)
    there = [entry for kind in kinds for entry in await registry.every(kind)]
    here = [entry for entry in there if (entry.id.project, entry.id.domain) == (project, domain)]
    for name, wanted in [(text, ""), (head, version)] if colon else [(text, "")]:
        full = sorted({entry.id.name for entry in here if entry.id.name.endswith(f".{name}")})
        if len(full) > 1:
            raise BadInput(f"{name!r} may mean any of {', '.join(full)}: give the whole name")
        if full:
            named = [entry for entry in here if entry.id.name == full[0]]
            kind = next(kind for kind in kinds if any(entry.id.kind is kind for entry in named))
            return _of_version([entry for entry in named if entry.id.kind is kind], wanted)
    raise BadInput(f"no {_either(kinds)} {text!r} is registered in {project}:{domain}. {_known(here, there, text)}")


def _of_version(versions: Sequence[Entry], wanted: str) -> Entry:
    """`versions`: the latest first."""
    if not wanted:
        return versions[0]
    for entry in versions:
        if entry.id.version == wanted:
            return entry
    more = f" and {len(versions) - _SHOWN} more" if len(versions) > _SHOWN else ""
    listed = ", ".join(entry.id.version for entry in versions[:_SHOWN])
    raise BadInput(f"{versions[0].id} has no version {wanted!r}; there are: {listed}{more}")


def _known(here: Sequence[Entry], there: Sequence[Entry], text: str) -> str:
    names = sorted({entry.id.name for entry in here})
    if not names:
        places = sorted({f"{entry.id.project}:{entry.id.domain}" for entry in there})
        return f"There is something in: {', '.join(places[:_SHOWN])}." if places else "Nothing is registered."
    if len(names) > _SHOWN:
        names = get_close_matches(text, names, _SHOWN, cutoff=0.0)
    return f"There are: {', '.join(names)}."


def _either(kinds: Sequence[EntityKind]) -> str:
    words = [kind.value.replace("_", " ") for kind in kinds]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def full_name(id: EntityId) -> str:
    """For people: with everything but its kind."""
    return f"{id.project}:{id.domain}:{id.name}, version {id.version}"
