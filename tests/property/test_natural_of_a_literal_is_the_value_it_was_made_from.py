from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

from flyteidl.core.literals_pb2 import Literal
from flyteidl.core.types_pb2 import LiteralType
from hypothesis import given
from hypothesis import strategies as st

from engine.wire.literals import to_literal
from engine.wire.natural import natural
from tests.literal_types import (
    BOOL,
    COLOUR,
    DATETIME,
    DICT,
    DURATION,
    FLOAT,
    INNER,
    INT,
    STR,
    list_of,
    map_of,
    optional,
    record,
    union,
)
from tests.property.values import literals

texts = st.text(max_size=9)
INT64 = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
instants = st.datetimes(timezones=st.just(UTC)).map(lambda at: at.isoformat().replace("+00:00", "Z"))
seconds = st.timedeltas(timedelta(days=-10_000), timedelta(days=10_000)).map(
    lambda delta: delta.total_seconds() if delta.microseconds else int(delta.total_seconds())
)
plain: st.SearchStrategy[tuple[LiteralType, Any]] = st.one_of(
    INT64.map(lambda it: (INT, it)),
    FINITE.map(lambda it: (FLOAT, it)),
    st.sampled_from(["NaN", "Infinity", "-Infinity"]).map(lambda it: (list_of(FLOAT), [it])),
    st.booleans().map(lambda it: (BOOL, it)),
    texts.map(lambda it: (STR, it)),
    instants.map(lambda it: (DATETIME, it)),
    seconds.map(lambda it: (DURATION, it)),
    st.sampled_from([(COLOUR, "red"), (COLOUR, "green"), (optional(INT), None)]),
    st.dictionaries(texts, st.one_of(INT64, FINITE, texts, st.none(), st.lists(st.booleans()))).map(
        lambda it: (DICT, it)
    ),
    st.builds(lambda a, b: (record(INNER), {"a": a, "b": b}), INT64, FINITE),
)


def wrapped(inner: st.SearchStrategy[tuple[LiteralType, Any]]) -> st.SearchStrategy[tuple[LiteralType, Any]]:
    return st.one_of(
        inner.map(lambda it: (list_of(it[0]), [it[1]] * 2)),
        st.builds(lambda it, key: (map_of(it[0]), {key: it[1]}), inner, texts),
        inner.map(lambda it: (list_of(optional(it[0])), [it[1], None])),
        st.builds(lambda it, other: (list_of(union(it[0], other[0])), []), inner, inner),
    )


@given(st.recursive(plain, wrapped, max_leaves=3))
def test_round_trip(case: tuple[LiteralType, Any]) -> None:
    declared, value = case
    literal = to_literal(value, declared, "--x")
    assert natural(literal) == value
    assert natural(Literal.FromString(literal.SerializeToString())) == value


@given(st.datetimes(timezones=st.timezones()))
def test_a_datetime_is_the_same_moment_in_utc(moment: datetime) -> None:
    try:
        expected = moment.astimezone(UTC)
    except OverflowError:
        return
    assert datetime.fromisoformat(str(natural(to_literal(moment.isoformat(), DATETIME, "--x")))) == expected


@given(st.floats())
def test_a_float_survives_as_typed_text(number: float) -> None:
    found = float(natural(to_literal(repr(number), FLOAT, "--x")))  # type: ignore[arg-type]
    assert found == number or (math.isnan(found) and math.isnan(number))


@given(literals)
def test_every_literal_is_valid_json(literal: Literal) -> None:
    json.dumps(natural(literal), allow_nan=False)
