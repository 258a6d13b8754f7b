"""Values that are rare: edges of numbers, odd texts, deep and empty containers, hashes, iterators, anything at all."""

import datetime as dt
import math
import typing as t

from flytekit import HashMethod, task, workflow


def length(texts: list) -> str:
    return str(len(texts))


Hashed = t.Annotated[list, HashMethod(length)]


@task
def edges() -> tuple[float, float, float, float, float, int, int, float]:
    return math.nan, math.inf, -math.inf, -0.0, 5e-324, 2**63 - 1, -(2**63), 0.1 + 0.2


@task
def shown_edges(a: float, b: float, c: float, d: float, e: float, f: int, g: int, h: float) -> str:
    return f"{a} {b} {c} {d} {e} {f} {g} {h!r}"


@task
def too_large() -> int:
    return 2**63


@task
def texts() -> list[str]:
    return [
        "",
        " ",
        "\n\t\r",
        "\x00\x01",
        "ünï ✓ 🎈 \u202e",
        "'\"\\{}{{.inputs.x}}$HOME %s",
        "a" * 10_000,
        "\ud7ff\ue000",
    ]


@task
def measured(texts: list[str]) -> tuple[list[int], list[str]]:
    return [len(text) for text in texts], [repr(text[:40]) for text in texts]


@task
def long_text(n: int) -> str:
    return "ä" * n


@task
def length_of(text: str) -> int:
    return len(text)


@task
def empties() -> tuple[list[int], dict[str, int], list[list[str]], dict, str, t.Optional[str], list[t.Optional[int]]]:
    return [], {}, [[], []], {}, "", None, [None, None]


@task
def shown_empties(
    a: list[int],
    b: dict[str, int],
    c: list[list[str]],
    d: dict,
    e: str,
    f: t.Optional[str],
    g: list[t.Optional[int]],
) -> str:
    return repr([a, b, c, d, e, f, g])


@task
def deep(levels: int) -> dict:
    made: t.Any = levels
    for k in range(levels):
        made = {"k": made} if k % 2 else [made]
    return {"top": made}


@task
def depth_of(table: dict) -> int:
    found, levels = table["top"], 0
    while not isinstance(found, int):
        found, levels = (found["k"] if isinstance(found, dict) else found[0]), levels + 1
    return levels


@task
def odd_keys() -> dict[str, int]:
    return {"": 1, "ключ ✓": 2, "a.b[0]": 3, "o0": 4, "a" * 300: 5, "null": 6}


@task
def shown_keys(table: dict[str, int], one: int, other: int) -> str:
    return f"{sorted((key[:20], n) for key, n in table.items())} {one} {other}"


@task
def hashed(n: int) -> t.Annotated[str, HashMethod(lambda text: str(len(text)))]:
    return "x" * n


@task
def instants() -> tuple[dt.datetime, dt.datetime, dt.timedelta, dt.timedelta, dt.date, dt.date]:
    return (
        dt.datetime(1, 1, 2, tzinfo=dt.timezone.utc),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=dt.timezone.utc),
        dt.timedelta(microseconds=-1),
        dt.timedelta(days=36500, microseconds=1),
        dt.date(1969, 12, 31),
        dt.date(2024, 2, 29),
    )


@task
def shown_instants(a: dt.datetime, b: dt.datetime, c: dt.timedelta, d: dt.timedelta, e: dt.date, f: dt.date) -> str:
    return " ".join(map(repr, (a, b, c, d, e, f)))


@task
def no_annotation(n: int):
    print(n)


@workflow
def wf_edges() -> tuple[float, float, float, float, float, int, int, float, str]:
    a, b, c, d, e, f, g, h = edges()
    return a, b, c, d, e, f, g, h, shown_edges(a=a, b=b, c=c, d=d, e=e, f=f, g=g, h=h)


@workflow
def wf_too_large() -> int:
    return too_large()


@workflow
def wf_given_edges(a: float, b: float, n: int, text: str) -> tuple[float, float, int, str, int]:
    return a, b, n, text, length_of(text=text)


@workflow
def wf_texts() -> tuple[list[str], list[int], list[str]]:
    made = texts()
    lengths, shown = measured(texts=made)
    return made, lengths, shown


@workflow
def wf_long_text(n: int) -> int:
    return length_of(text=long_text(n=n))


@workflow
def wf_empties() -> str:
    a, b, c, d, e, f, g = empties()
    return shown_empties(a=a, b=b, c=c, d=d, e=e, f=f, g=g)


@workflow
def wf_literal_empties() -> str:
    return shown_empties(a=[], b={}, c=[[], ["x"]], d={}, e="", f=None, g=[None, 1])


@workflow
def wf_deep(levels: int) -> int:
    return depth_of(table=deep(levels=levels))


@workflow
def wf_keys() -> str:
    made = odd_keys()
    return shown_keys(table=made, one=made["ключ ✓"], other=made["a.b[0]"])


@workflow
def wf_hashed(n: int) -> tuple[str, int]:
    made = hashed(n=n)
    return made, length_of(text=made)


@workflow
def wf_instants() -> tuple[dt.datetime, dt.timedelta, str]:
    a, b, c, d, e, f = instants()
    return b, d, shown_instants(a=a, b=b, c=c, d=d, e=e, f=f)


@workflow
def wf_no_annotation(n: int):
    no_annotation(n=n)
