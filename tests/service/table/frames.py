"""Tables and arrays."""

from __future__ import annotations

from tests.service.cases import Case

CASES = {
    "frames": Case("frames", "wf_people", {"n": 3}, needs="pandas"),
    "empty-frames": Case("frames", "wf_people", {"n": 0}, needs="pandas"),
    "datasets": Case("frames", "wf_datasets", {"n": 3}, needs="pandas"),
    "mapped-frames": Case("frames", "wf_many", {"ns": [1, 0, 3]}, needs="pandas"),
    "datasets-in-dataclasses": Case("frames", "wf_report", {"n": 3}, needs="pandas"),
    "arrays": Case("frames", "wf_arrays", {"n": 3}, needs="pandas"),
    "queries": Case("sql_tasks", "queried", {"year": 1999}, needs="pandas"),
    "queries-that-find-nothing": Case("sql_tasks", "queried", {"year": 2050, "n": 1}, needs="pandas"),
}
