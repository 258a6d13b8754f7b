"""What compose.yaml starts, without containers: two engines with its settings, and its submitter."""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backing.session import address
from tests.contract.s3_world import Place
from tests.service.command import LIMIT_SECONDS, Propwash
from tests.service.kafka_service import get, until
from tests.service.serving import listening

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kafka"), pytest.mark.service("s3")]
ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "config/compose"


class Elsewhere(Propwash):
    """With the settings of compose.yaml, but for the addresses and names that are this test's own."""

    def __init__(self, folder: Path, place: Place, name: str, store: str) -> None:
        super().__init__(folder)
        self.ours = place.environ | {
            "PROPWASH_CONFIG": str(COMPOSE / "service.yaml"),
            "PROPWASH_KAFKA__BOOTSTRAP": address("kafka"),
            "PROPWASH_KAFKA__PREFIX": name,
            "PROPWASH_KAFKA__GROUP": name,
            "PROPWASH_STORE__URI": store,
            "PROPWASH_S3__ENDPOINT": place.endpoint,
            "PROPWASH_HTTP__TOKEN_FILE": str(COMPOSE / "token"),
        }

    def environ(self, more: object = None) -> dict[str, str]:
        return super().environ(self.ours)


def test_two_engines_do_what_the_submitter_asks(tmp_path: Path) -> None:
    place, name = Place.found(), f"c{uuid.uuid4().hex[:12]}"
    store = place.fresh()
    with ExitStack() as stack:
        urls = []
        for number in (1, 2):
            engine = Elsewhere(tmp_path / f"engine-{number}", place, name, store)
            engine.folder.mkdir()
            urls.append(stack.enter_context(listening(engine, "--home", str(engine.home)))[1])
        until(lambda: [get(f"{url}/readyz")[0] for url in urls] == [200, 200])  # as compose.yaml waits for their health
        demo = Elsewhere(tmp_path / "demo", place, name, store)
        demo.folder.mkdir()
        words = ["--count", "2", "--pause", "0", "--size", "2", "--token-file", str(COMPOSE / "token")]
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples/submitter.py"), *urls, *words],
            cwd=demo.folder, env=demo.environ(), capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = re.findall(r"^\S+: (SUCCEEDED .*)$", done.stdout, re.MULTILINE)
    assert told == ['SUCCEEDED {"o0": 2000000}'] * 2
    assert {(taken, told) for taken, told in re.findall(r"submitted at (\S+), followed at (\S+)", done.stdout)} == {
        (urls[1], urls[0]),
        (urls[0], urls[1]),
    }
