from __future__ import annotations

import pytest

from engine.model.errors import BadInput
from engine.wire.inputs import inputs_for
from tests.unit.test_inputs_are_defaults_then_given_then_fixed import PLAN


def test_every_problem_of_every_input() -> None:
    with pytest.raises(BadInput) as caught:
        inputs_for(PLAN, {"xs": '[1, "a"]', "rte": "1", "mode": "slow", "rate": "high"})
    assert str(caught.value) == "\n".join(
        [
            "the inputs of launch plan m.lp can't be used, 5 problems; nothing was started:",
            '  - --xs[1]: expected int, got "a"',
            "  - --rte: no such input; did you mean rate? there are name, note, rate, xs",
            '  - --mode: fixed to "fast" by launch plan m.lp, it can\'t be given',
            '  - --rate: expected float, got "high"',
            "  - --name: missing, expected str",
        ]
    )


def test_other_doors_name_inputs_their_own_way() -> None:
    with pytest.raises(BadInput, match=r"\n  - inputs\.xs: missing"):
        inputs_for(PLAN, {"name": "n"}, prefix="inputs.")


def test_an_input_with_many_problems_does_not_hide_those_of_the_others() -> None:
    with pytest.raises(BadInput) as caught:
        inputs_for(PLAN, {"xs": ["x"] * 1000, "rate": "high"})
    lines = str(caught.value).splitlines()
    assert lines[0] == "the inputs of launch plan m.lp can't be used, 1002 problems; nothing was started:"
    assert lines[10:] == [
        '  - --xs[9]: expected int, got "x"',
        '  - --rate: expected float, got "high"',
        "  - --name: missing, expected str",
        "  - ... and 990 more",
    ]
