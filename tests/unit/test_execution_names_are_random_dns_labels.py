from __future__ import annotations

from engine.gateway.names import random_name
from engine.model.ids import DNS_LABEL


def test_a_random_name_is_a_letter_and_19_signs() -> None:
    names = [random_name() for _ in range(200)]
    assert all(len(name) == 20 and DNS_LABEL.match(name) and name[0].isalpha() for name in names)
    assert len(set(names)) == 200
