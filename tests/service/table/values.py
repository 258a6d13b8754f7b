"""Every type of value, in and out of a task."""

from __future__ import annotations

from tests.service.cases import Case
from tests.service.table.graphs import TREE

FULL = {
    "name": "n",
    "leaf": {"n": 1, "rate": 2},
    "leaves": [{"n": 2}],
    "table": {"a": [1]},
    "words": ["é"],
    "limit": 3,
    "level": "high",
    "by_name": {"x": {"n": 4}},
}
RECORDS = {"one": FULL, "many": [FULL, TREE], "named": {"k": TREE}}
MODEL = {
    "n": -1,
    "inner": {},
    "leaf": {"weight": 1, "tags": {"é": 2}},
    "leaves": [{"weight": 0.5}],
    "level": "high",
    "either": 3,
    "lasts": "1h",
}
CASES = {
    "scalars": Case("natures", "wf_numbers", {"i": -5, "f": 3, "b": True, "s": "ünï ✓ \n"}),
    "large-numbers": Case("natures", "wf_numbers", {"i": 2**62, "f": 1e300, "b": False, "s": ""}),
    "moments": Case(
        "natures", "wf_moments", {"at": "2024-05-17T11:30:00.123456+02:00", "lasts": "1h30m", "day": "2024-02-29"}
    ),
    "lists": Case("natures", "wf_lists", {"ns": [], "fs": [1, 2.5], "texts": [["a"], []]}),
    "dicts": Case("natures", "wf_dicts", {"ns": {"a": 1}, "deep": {"x": {"y": [1, 2]}, "z": {}}}),
    "any-dict": Case("natures", "wf_loose", {"table": {"a": [1, 2.5, None, {"b": True}]}, "rows": [{"a": 1}, {}]}),
    "optionals-left-out": Case("natures", "wf_optionals"),
    "optionals": Case("natures", "wf_optionals", {"n": 3, "s": None, "ns": [1, 2]}),
    "unions": Case("natures", "wf_unions", {"a": 3, "b": None, "c": [1, "x"]}),
    "other-variants": Case("natures", "wf_unions", {"a": "x", "b": 2.5, "c": []}),
    "enums-left-out": Case("natures", "wf_enums"),
    "enums": Case("natures", "wf_enums", {"one": "red", "many": [], "maybe": "green"}),
    "records": Case("records", "through", RECORDS),
    "optional-records": Case("records", "through", {**RECORDS, "many": [], "named": {}, "maybe": FULL}),
    "models": Case("models", "through", {"model": {"n": 3, "words": ["a"]}}),
    "models-with-all-their-fields": Case("models", "through", {"model": MODEL, "maybe": MODEL}),
    "pickles": Case("natures", "wf_anything", {"n": 3}),
    "files": Case("natures", "wf_files", {"text": "hé"}),
    "lists-of-files": Case("natures", "wf_many_files", {"texts": ["a", "b", "c"]}),
    "folders": Case("natures", "wf_folders"),
    "a-file-as-an-output": Case("natures", "wf_file_out", {"text": "x✓"}),
    "a-given-file": Case("natures", "wf_given_file", {"file": __file__}),
}
