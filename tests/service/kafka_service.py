"""`propwash serve` on Kafka and S3, as an operator starts it: a settings file, a home for each process."""

from __future__ import annotations

import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.backing.session import address
from tests.contract.s3_world import Place
from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash
from tests.service.test_the_http_api_does_what_commands_do import Caller, one


class Operator:
    """Somebody with a settings file, in a folder of the test's own."""

    def __init__(self, folder: Path, **kafka: object) -> None:
        self.propwash, self.place = Propwash(folder), Place.found()
        self.name, self.config = f"o{uuid.uuid4().hex[:12]}", folder / "service.yaml"
        settings = {
            "kafka": {"bootstrap": address("kafka"), "prefix": self.name, "group": self.name, "partitions": 4, **kafka},
            "store": {"uri": self.place.fresh()},
            "s3": {"endpoint": self.place.endpoint},
        }
        self.config.write_text(yaml.safe_dump(settings))

    def register(self, *files: str) -> None:
        for file in files:
            done = self.propwash(
                "register", str(WORKFLOWS / file), "--version", "v1", "--config", str(self.config),
                environ=self.place.environ,
            )  # fmt: skip
            assert done.code == 0, done.err

    @contextmanager
    def serving(self, home: str, *words: str, count: int = 1) -> Iterator[Served]:
        """The service, once `count` processes of it are ready."""
        asked = ("serve", "--config", str(self.config), "--home", str(self.propwash.folder / home), *words)
        with self.propwash.started(*asked, "--listen", "127.0.0.1:0", environ=self.place.environ) as process:
            served = Served(process, list(_addresses(process, count)))
            for url in served.urls:
                until(lambda url=url: get(f"{url}/readyz")[0] == 200)  # type: ignore[misc]
            yield served


class Served:
    def __init__(self, process: subprocess.Popen[str], urls: list[str]) -> None:
        self.process, self.urls = process, urls

    @property
    def call(self) -> Caller:
        return Caller(self.urls[0])

    def metrics(self, which: int = 0) -> dict[tuple[str, tuple[str, ...]], float]:
        text = get(f"{self.urls[which]}/metrics")[1]
        return {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def owns(self) -> float:
        return self.metrics()["propwash_partitions", ("working",)]

    def succeeded(self) -> float:
        return self.metrics().get(("propwash_execution_transitions_total", ("SUCCEEDED",)), 0.0)


def ends(call: Caller, name: str) -> str:
    """The phase that an execution ends in, whoever works on it."""
    return [fact.phase for fact in call.events(one(name)) if not fact.path][-1]


def get(url: str) -> tuple[int, str]:
    """Status and text; 0: nobody answers."""
    try:
        with urlopen(url, timeout=LIMIT_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except (URLError, ConnectionError):
        return 0, ""


def until(holds: Callable[[], bool]) -> None:
    """Probes are asked again and again, as those do who use them."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _addresses(process: subprocess.Popen[str], count: int) -> Iterator[str]:
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if found := re.search(r"answers HTTP at (http://\S+)", line):
            yield found[1]
            count -= 1
        if not count:
            return
    raise AssertionError(f"the service did not start: {seen}")
