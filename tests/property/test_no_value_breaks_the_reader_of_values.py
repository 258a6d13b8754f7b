from __future__ import annotations

from contextlib import suppress
from typing import Any

from flyteidl.core.types_pb2 import LiteralType
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from tests.literal_types import (
    BOOL,
    BYTES,
    COLOUR,
    DATASET,
    DATETIME,
    DICT,
    DURATION,
    FILE,
    FLOAT,
    INNER,
    INT,
    NONE,
    PICKLE,
    STR,
    list_of,
    map_of,
    optional,
    record,
    union,
)

leaves = st.sampled_from(
    [
        *(INT, FLOAT, STR, BOOL, DATETIME, DURATION, NONE, BYTES, COLOUR, FILE, DATASET, PICKLE, DICT),
        *(record(INNER), record(INNER, annotation=None), LiteralType()),
    ]
)
types = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(list_of), inner.map(map_of), inner.map(optional), st.builds(lambda a, b: union(a, b), inner, inner)
    ),
    max_leaves=4,
)
typed = st.one_of(
    st.text(st.characters(), max_size=12),
    st.text("0123456789.:-+TZPhmsdw ,", max_size=12),
    st.text('[]{}",:0123456789truefalsenull', max_size=16),
)
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), typed, st.binary(max_size=3), st.dates(), st.timedeltas()
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(typed, st.integers(), st.sampled_from("ab")), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.one_of(typed, values), types)
def test_a_literal_or_bad_input(value: Any, declared: LiteralType) -> None:
    with suppress(BadInput):
        to_literal(value, declared, "--x").SerializeToString()
