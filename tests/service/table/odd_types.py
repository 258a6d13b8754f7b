"""Types that few authors use."""

from __future__ import annotations

from tests.service.cases import Case

CASES = {
    "literal-types": Case("odd_types", "wf_modes"),
    "given-literal-types": Case("odd_types", "wf_modes", {"mode": "slow"}),
    "batches-of-pickles": Case("odd_types", "wf_batches", {"n": 5}),
    "dicts-with-pickles": Case("odd_types", "wf_loose", {"n": 5}),
    "protobuf-messages": Case("odd_types", "wf_messages", {"text": "é"}),
    "protobuf-structs": Case("odd_types", "wf_structs", {"n": 5}),
    "formats-of-files": Case("odd_types", "wf_formats", {"n": 3}),
    "tuples-in-dataclasses": Case("odd_types", "wf_pairs", {"n": 3}),
    "given-tuples-in-dataclasses": Case("odd_types", "wf_given_pair", {"pair": {"both": [1, "x"], "either": "s"}}),
    "sets-and-bytes": Case("odd_types", "wf_sets", {"n": 3}),
}
