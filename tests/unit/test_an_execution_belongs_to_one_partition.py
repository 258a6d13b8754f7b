from __future__ import annotations

import pytest
from aiokafka.partitioner import DefaultPartitioner, murmur2
from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.kafka.keys import CLAIM, key_of, node_key, partition_of, split_key
from engine.model.ids import ExecutionId

TEXTS = st.text(st.characters(), max_size=12)


@pytest.mark.parametrize(("name", "of_24"), [("e1", 9), ("order-7", 21), ("a" * 63, 21)])
def test_it_is_the_one_that_kafkas_own_clients_choose(name: str, of_24: int) -> None:
    execution = ExecutionId("flytesnacks", "development", name)
    assert key_of(execution) == f"flytesnacks:development:{name}".encode()
    chosen = DefaultPartitioner()(key_of(execution), list(range(24)), list(range(24)))
    assert partition_of(execution, 24) == chosen == of_24


@pytest.mark.parametrize(
    ("key", "hashed"), [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536)]
)
def test_the_hash_is_that_of_the_java_client(key: bytes, hashed: int) -> None:
    """Values of Apache Kafka's own tests (UtilsTest.testMurmur2)."""
    assert murmur2(key) == hashed & 0xFFFFFFFF


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_keys_lead_back_and_are_never_the_claims(project: str, domain: str, name: str, path: str) -> None:
    key = key_of(ExecutionId(project, domain, name))
    assert split_key(key) == (key, None)
    assert split_key(node_key(key, path)) == (key, path)
    assert key != CLAIM


def test_ids_that_look_alike_have_different_keys() -> None:
    ids = [
        ("a:b", "c", "n"),
        ("a", "b:c", "n"),
        ("a%3Ab", "c", "n"),
        ("a|b", "c", "n"),
        ("ä", "\udc80", ""),
        ("", "", ""),
    ]
    assert len({key_of(ExecutionId(*parts)) for parts in ids}) == len(ids)
