"""Rare values."""

from __future__ import annotations

from tests.service.cases import Case, Wrong
from tests.service.conformance import WORKFLOWS

CASES = {
    "edges-of-numbers": Case("odd_values", "wf_edges"),
    "an-int-of-65-bits": Case(
        "odd_values", "wf_too_large", right=Wrong("RetriesExhausted|SYSTEM", "9223372036854775808", kind="SYSTEM")
    ),
    "given-edges-of-numbers": Case(
        "odd_values", "wf_given_edges", {"a": "nan", "b": "-inf", "n": -(2**63), "text": "\x00 ✓ \"'\\ {{.inputs.n}}"}
    ),
    "odd-texts": Case("odd_values", "wf_texts"),
    "a-text-of-a-million": Case("odd_values", "wf_long_text", {"n": 1_000_000}),
    "a-given-text-of-ten-thousand": Case(
        "odd_values", "wf_given_edges", {"a": 0, "b": -0.0, "n": 0, "text": "ä✓" * 5_000}
    ),
    "empty-containers": Case("odd_values", "wf_empties"),
    "empty-containers-as-constants": Case("odd_values", "wf_literal_empties"),
    "forty-levels": Case("odd_values", "wf_deep", {"levels": 40}),
    "odd-keys": Case("odd_values", "wf_keys"),
    "dataclasses-with-files": Case("odd_records", "wf_outer", {"text": "hé"}),
    "pickles-in-containers": Case("odd_files", "wf_pickles", {"n": 2}),
    "anything": Case("odd_files", "wf_anything"),
    "iterators": Case("odd_files", "wf_iterators", {"n": 3}),
    "empty-iterators": Case(
        "odd_files", "wf_iterators", {"n": 0}, right=Wrong("SYSTEM", "The iterator is empty", kind="SYSTEM", node="n2")
    ),
    "a-value-with-a-hash": Case("odd_values", "wf_hashed", {"n": 4}),
    "edges-of-time": Case("odd_values", "wf_instants"),
    "a-union-of-seven": Case("odd_records", "wf_matched"),
    "a-map-over-unions": Case("odd_records", "wf_mapped_unions"),
    "optionals-in-containers": Case(
        "odd_records", "wf_optional_lists", {"a": ["x", None], "c": {"k": {"none": 3}, "n": None}}
    ),
    "optionals-in-containers-left-out": Case("odd_records", "wf_optional_lists"),
    "bytes-in-files": Case("odd_files", "wf_images", {"n": 256}),
    "an-empty-file": Case("odd_files", "wf_images", {"n": 0}),
    "files-and-folders-passed-on": Case("odd_files", "wf_made_files", {"n": 3}),
    "given-files-and-folders": Case(
        "odd_files", "wf_given_files", {"file": __file__, "folder": str(WORKFLOWS / "nested")}
    ),
    "no-annotation": Case("odd_values", "wf_no_annotation", {"n": 1}),
    "defaults-of-every-type": Case("odd_records", "with_defaults"),
    "defaults-of-every-type-overridden": Case(
        "odd_records",
        "with_defaults",
        {
            "n": 1,
            "f": 1,
            "none": "x",
            "ns": [1],
            "table": {},
            "whole": "a",
            "inner": {"none": None, "files": [], "deep": {}},
            "either": 3,
            "flag": True,
        },
    ),
}
