from __future__ import annotations

import re

from engine.adapters.kubernetes.naming import label_value, pod_name, read_key, written
from engine.model.ids import AttemptKey, ExecutionId

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?\Z")


def key(path: str, attempt: int = 0, index: int | None = None, run: str = "") -> AttemptKey:
    return AttemptKey(ExecutionId("p", "d", "order-7"), path, attempt, index, 0, run)


def test_any_name_becomes_a_label() -> None:
    long = "N" * 150
    paths = ["n0", "_x._", "Übung", f"{long}a/0/n1", f"{long}b/0/n1", "n0/0/n1/0/n2/1/n3/0/n4"]
    names = [pod_name(key(path, index=index)) for path in paths for index in (None, 0, 9_999)]
    assert len(set(names)) == len(names)
    assert all(LABEL.match(name) for name in names)


def test_a_hundred_thousand_attempts_have_names_of_their_own() -> None:
    keys = [key(f"n{node}", attempt, index) for node in range(10) for attempt in range(4) for index in range(2_500)]
    assert len({pod_name(it) for it in keys}) == 100_000


def test_another_run_of_a_name_has_other_pods() -> None:
    assert pod_name(key("n0", run="a")) != pod_name(key("n0", run="b"))


def test_the_same_attempt_has_the_same_pod() -> None:
    assert pod_name(key("n0", 1, 5, "r")) == pod_name(key("n0", 1, 5, "r"))


def test_the_whole_key_is_kept() -> None:
    whole = key("n0/0/n1", 3, 7, "r")
    assert read_key(written(whole)) == whole
    assert read_key("") is None
    assert read_key('{"path": 3}') is None


def test_values_of_labels() -> None:
    assert label_value("proj.tasks.t") == "proj.tasks.t"
    for text in ("n0/0/n1", "x" * 64, "ü", "-a"):
        assert VALUE.match(label_value(text))
        assert label_value(text) != text
