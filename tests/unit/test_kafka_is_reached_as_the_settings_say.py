"""The settings of `kafka.*` become the options of the adapter; secrets come from files or the environment."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from config.kafka import Kafka
from config.load import SettingsError, load
from engine.adapters.kafka.options import KafkaOptions
from engine.brokers import PASSWORD, instance_name, options_of
from engine.model.errors import BadInput


def kafka(*sets: str) -> Kafka:
    return load(None, [f"kafka.{each}" for each in ("bootstrap=b:9092", *sets)], {}).kafka


def test_the_defaults_are_the_adapters_own() -> None:
    assert options_of(kafka()) == KafkaOptions("b:9092")


def test_every_option_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\n")
    given = {
        "prefix": "p", "group": "g", "partitions": "3", "replication": "2", "min_insync": "1", "compression": "lz4",
        "max_record": "2MiB", "events_seconds": "1.5", "history_seconds": "2.5", "keep_finished_seconds": "3.5",
        "instance": "i", "session_seconds": "4.5", "transaction_seconds": "5.5", "commit_seconds": "6.5",
        "request_seconds": "7.5", "watchdog_seconds": "8.5", "tls": "true", "ca_file": "ca", "certificate_file": "c",
        "key_file": "k", "mechanism": "SCRAM-SHA-512", "username": "u", "password_file": str(tmp_path / "secret"),
        "token_file": "t", "takes_over": "o",
    }  # fmt: skip
    assert {"bootstrap", *given} == set(Kafka.model_fields)
    found = options_of(
        kafka(*(f"{key}={value}" for key, value in given.items())), environ={PASSWORD: "other"}, store="file:///s"
    )
    default = KafkaOptions("b:9092")
    for field in fields(KafkaOptions):
        if field.name != "bootstrap":
            assert getattr(found, field.name) != getattr(default, field.name), field.name
    assert (found.max_record_bytes, found.session_seconds, found.instance) == (2 * 2**20, 4.5, "i")
    assert (found.security.username, found.security.password) == ("u", "hunter2")
    assert (found.security.ca_file, found.security.token_file) == (Path("ca"), Path("t"))


def test_the_password_may_stand_in_the_environment_and_is_never_shown() -> None:
    found = options_of(kafka("mechanism=PLAIN", "username=u"), environ={PASSWORD: "hunter2"})
    assert found.security.password == "hunter2"
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        (("mechanism=PLAIN",), "kafka.username: PLAIN needs a user's name"),
        (("mechanism=PLAIN", "username=u"), f"needs a password, in a file or in the environment variable {PASSWORD}"),
        (("mechanism=PLAIN", "username=u", "password_file=/no/such"), "kafka.password_file: /no/such can't be read"),
    ],
)
def test_a_login_that_lacks_something_says_what(sets: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        options_of(kafka(*sets), environ={})


def test_a_member_has_one_name_for_each_home(tmp_path: Path) -> None:
    first, second = instance_name(tmp_path / "a"), instance_name(tmp_path / "b")
    assert first == instance_name(tmp_path / "b" / ".." / "a") != second
    assert options_of(kafka(), tmp_path / "a").instance == first
    assert options_of(kafka("instance=mine"), tmp_path / "a").instance == "mine"


@pytest.mark.parametrize("given", ["localhost", "a:9092,b", "a:0", "a:65536", "a:9092,", "http://a:9092"])
def test_a_broker_without_a_port_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match=r"kafka\.bootstrap = .*HOST:PORT of a broker"):
        load(None, [f"kafka.bootstrap={given}"], {})
    assert load(None, ["kafka.bootstrap=a:9092,[::1]:9093"], {}).kafka.bootstrap == "a:9092,[::1]:9093"
