"""The table of small workflows that run through the engine and through flytekit's local execution: one file an area.

A case gives what local execution gives. Where that is no oracle, the right outputs stand in the case, with the reason
(`local=False`, `right`, `why`). Workflows that fail, fail in both. The workflows are those of tests/workflows, and
`table.py` there imports them all, so that they are packaged as one.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.service.cases import Case
from tests.service.table import (
    caching,
    cleanups,
    conditions,
    dynamic_forms,
    dynamics,
    engine_tasks,
    frames,
    gates,
    graphs,
    mapped_plans,
    maps,
    odd_forms,
    odd_types,
    odd_values,
    overriding,
    plans,
    pods,
    references,
    tasks,
    values,
)
from tests.services import missing

AREAS: tuple[Mapping[str, Case], ...] = (
    graphs.CASES,
    values.CASES,
    odd_values.CASES,
    odd_types.CASES,
    frames.CASES,
    maps.CASES,
    plans.CASES,
    mapped_plans.CASES,
    dynamics.CASES,
    dynamic_forms.CASES,
    caching.CASES,
    conditions.CASES,
    cleanups.CASES,
    gates.CASES,
    references.CASES,
    tasks.CASES,
    engine_tasks.CASES,
    pods.CASES,
    overriding.CASES,
    odd_forms.CASES,
)
TABLE: dict[str, Case] = {name: case for area in AREAS for name, case in area.items()}
assert len(TABLE) == sum(map(len, AREAS)), "two cases of one name"


def table_here() -> dict[str, Case]:
    """The cases whose services are here."""
    return {name: case for name, case in TABLE.items() if not case.needs or not missing(case.needs)}
