"""Gates: signals, approvals and sleeps."""

from __future__ import annotations

from tests.service.cases import Case, Wrong

ASKS = "local execution asks on the terminal"
SIGNALS: dict[str, object] = {
    "a": 3,
    "b": 2.5,
    "c": "é ✓",
    "d": True,
    "e": "2024-05-17T11:30:00.5+02:00",
    "f": "1h30m",
    "g": [1, 2],
    "h": {"x": 1},
    "i": "green",
    "j": {"n": 4},
    "k": None,
    "m": "x",
}
SHOWN = (
    "3 2.5 é ✓ True 2024-05-17 09:30:00.500000+00:00 1:30:00 [1, 2] {'x': 1.0} Colour.GREEN "
    "Knob(n=4, name='k') None 'x'"
)
YES = {"the list": True, "the field": True}


def _asked(entity: str, inputs: dict[str, object], right: dict[str, object] | Wrong, **signals: object) -> Case:
    return Case("gate_forms", entity, inputs, local=False, right=right, why=ASKS, signals=signals)


CASES = {
    "signals-of-every-type": _asked("every_type", {}, {"o0": SHOWN}, **SIGNALS),
    "approved-lists-and-fields": _asked("approved", {"n": 3}, {"o0": 2, "o1": [1, 2, 3], "o2": 4}, **YES),
    "rejected": _asked(
        "approved",
        {"n": 3},
        Wrong("ReceivedRejectSignal", "the approval 'the field' was rejected", node="n3"),
        **{**YES, "the field": False},
    ),
    "a-signal-for-two-gates": _asked("same_id_twice", {"n": 1}, {"o0": 8, "o1": 8, "o2": 1}, shared=7),
    "signals-with-odd-names": _asked("oddly_named", {}, {"o0": 4, "o1": 5}, **{"Größe? (50%/../x) ✓": 3, "a" * 200: 4}),
    "sleeps-in-order": _asked("in_order", {"path": "{here}/said"}, {"o0": "abc"}),
    "an-approval-in-sub-workflows": _asked("in_a_sub", {"n": 1}, {"o0": 5}, inside=True),
    "an-approval-in-an-arm": _asked("in_an_arm", {"n": 4}, {"o0": 6}, inside=True),
    "an-approval-in-the-other-arm": _asked("in_an_arm", {"n": 3}, {"o0": 4}),
    "a-signal-is-compared": _asked("compared", {}, {"o0": 6}, which=5),
    "signals-as-outputs": _asked("passed_on", {}, {"o0": 5, "o1": 6}, **{"to outputs": 5, "maybe": 6}),
    "an-approval-in-a-dynamic": _asked("in_a_dynamic", {"n": 1}, {"o0": 3}, **{"in a plan": True}),
    "nobody-approves": _asked(
        "impatient", {"n": 1}, Wrong("RetriesExhausted|TimeoutExpired", "the signal 'never'", node="n1")
    ),
    "children-that-sleep": Case("gate_forms", "sleeping_children"),
}
