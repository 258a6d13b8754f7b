"""`propwash serve` beside a service of another group, or with another store: exit code 2 and a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.kafka_service import Operator, get

pytestmark = [pytest.mark.service("kafka"), pytest.mark.service("s3")]


def test_it_is_told_what_the_topics_have(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    with operator.serving("home") as served:
        asked = ("serve", "--config", str(operator.config), "--home", str(tmp_path / "other"))
        done = operator.propwash(*asked, "--set", "kafka.group=second", environ=operator.place.environ)
        assert (done.code, done.out) == (2, "")
        assert f"belong to the consumer group '{operator.name}', and kafka.group here is 'second'" in done.err
        done = operator.propwash(*asked, "--set", "store.uri=" + operator.place.fresh(), environ=operator.place.environ)
        assert (done.code, done.out) == (2, "")
        assert "the engines of these topics keep their values in s3://" in done.err
        assert get(f"{served.urls[0]}/readyz")[0] == 200
