"""Values in a command come out of Kubernetes' expansion as they were; what the author wrote is expanded as ever."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from engine.data.dollars import escaped

ENV = {"A": "1", "B": "$(A)", "": "nothing"}
text = st.lists(st.sampled_from(["$", "$$", "(", ")", "$(", "$(A)", "$(B)", "$(C)", "$()", "A", "é", " "]), max_size=5)
words = st.builds("".join, text)
parts = st.builds(
    lambda first, rest: [first, *(part for pair in rest for part in pair)],
    words,
    st.lists(st.tuples(words.filter(bool), words), max_size=3),
)
HOLE = "\N{REPLACEMENT CHARACTER}"


def expanded(word: str) -> str:
    """As k8s.io/kubernetes/third_party/forked/golang/expansion does."""
    found, at = "", 0
    while at < len(word):
        if word[at] != "$" or at + 1 == len(word):
            found, at = found + word[at], at + 1
        elif word[at + 1] == "$":
            found, at = f"{found}$", at + 2
        elif word[at + 1] == "(" and (end := word.find(")", at)) > 0:
            name = word[at + 2 : end]
            found, at = found + ENV.get(name, f"$({name})"), end + 1
        else:
            found, at = found + word[at : at + 2], at + 2
    return found


def meant(parts: list[str]) -> str:
    """The author's text as Kubernetes expands it around the values."""
    pieces = expanded(HOLE.join(parts[::2])).split(HOLE)
    return "".join(piece + value for piece, value in zip(pieces, [*parts[1::2], ""], strict=True))


@given(parts)
@example(["echo ", "$(A) $$ $", ""])
@example(["$", "(A)", " $$ $(A)"])
@example(["$(cat ", "$(A)", " $(A)) $(A)"])
@example(["$(A", ")", ""])
def test_the_container_gets_what_was_meant(parts: list[str]) -> None:
    assert expanded(escaped(parts)) == meant(parts)


@given(words)
def test_a_word_without_values_is_the_authors(word: str) -> None:
    assert escaped([word]) == word


@given(words, st.lists(words, max_size=2))
def test_values_alone_come_out_as_they_are(value: str, more: list[str]) -> None:
    parts = ["", value, *(part for it in more for part in ("/", it)), ""]
    assert expanded(escaped(parts)) == "".join(parts)
