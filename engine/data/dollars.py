"""Commands for Kubernetes, which expands `$(NAME)` and `$$` in them: what was filled in comes out as it was.

What the author has written keeps the meaning that it has in a pod, in Flyte as well: a reference to a variable of the
container, or a dollar sign. https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
"""

from __future__ import annotations

from collections.abc import Sequence


def escaped(parts: Sequence[str]) -> str:
    """`parts`: text of the author and values by turns. A reference that a value has a part in is none."""
    word = "".join(parts)
    if len(parts) == 1 or "$" not in word:
        return word
    filled = [bool(place % 2) for place, part in enumerate(parts) for _ in part]
    made: list[str] = []
    at = 0
    while at < len(word):
        length, as_it_is = _next(word, filled, at)
        piece = word[at : at + length]
        made.append(piece if as_it_is else piece.replace("$", "$$"))
        at += length
    return "".join(made)


def _next(word: str, filled: Sequence[bool], at: int) -> tuple[int, bool]:
    """How many characters go together here, as Kubernetes would read what the author has written, and whether they may
    be left to it. `filled`: which characters are a value's."""
    if word[at] != "$":
        return 1, True
    if filled[at] or at + 1 == len(word) or filled[at + 1]:
        return 1, False
    if word[at + 1] != "(":
        return 2, True  # a dollar sign written twice, or one that begins nothing
    end = next((it for it in range(at + 2, len(word)) if word[it] == ")" and not filled[it]), None)
    if end is None:
        return 2, ")" not in word[at:]  # the bracket of a value must not become the end
    return end + 1 - at, not any(filled[at:end])
