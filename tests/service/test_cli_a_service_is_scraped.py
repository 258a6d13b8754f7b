"""`propwash serve --listen`: metrics and probes over HTTP, as Prometheus and Kubernetes ask for them."""

from __future__ import annotations

import signal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash
from tests.service.serving import listening

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")


def get(url: str, accept: str = "*/*") -> tuple[int, str, str]:
    """Status, content type, text."""
    try:
        with urlopen(Request(url, headers={"Accept": accept}), timeout=LIMIT_SECONDS) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in plain_text(text)
        for sample in family.samples
    }


def test_a_service_is_scraped_and_probed(propwash: Propwash) -> None:
    assert propwash("register", str(WORKFLOWS / "endings.py"), "--version", "v1").code == 0
    with listening(propwash) as (service, url):
        assert propwash("submit", "doubled", "--input", "n=4", "--name", "measured").code == 0
        code, kind, text = get(f"{url}/metrics")
        assert (code, kind.partition(";")[0]) == (200, "text/plain")
        found = samples(text)
        assert found["propwash_execution_transitions_total", ("SUCCEEDED",)] == 1
        assert found["propwash_node_transitions_total", ("task", "SUCCEEDED")] == 1
        assert found["propwash_ready", ()] == 1
        assert found["propwash_tasks", ("running",)] == 0
        assert found["process_open_fds", ()] > 0
        assert "measured" not in text

        code, kind, text = get(f"{url}/metrics", "application/openmetrics-text; version=1.0.0")
        assert (code, kind.partition(";")[0]) == (200, "application/openmetrics-text")
        assert "propwash_turns" in [family.name for family in open_metrics(text)]  # type: ignore[no-untyped-call]

        assert get(f"{url}/healthz")[::2] == (200, "ok\n")
        assert get(f"{url}/readyz")[::2] == (200, "ok\n")
        assert get(f"{url}/nothing")[0] == 404
        service.send_signal(signal.SIGTERM)
        _, err = service.communicate(timeout=LIMIT_SECONDS)
    assert (service.returncode, err) == (0, "SIGTERM: stopping; once more leaves at once\n")


def test_a_port_that_is_taken_is_told(propwash: Propwash) -> None:
    with listening(propwash) as (_, url):
        address = url.removeprefix("http://")
        done = propwash("serve", "--home", str(propwash.folder / "other"), "--listen", address)
    assert done.code == 2
    assert f"http.listen: can't listen at {address}: " in done.err


def test_an_address_that_is_none_is_refused(propwash: Propwash) -> None:
    done = propwash("serve", "--listen", "8080")
    assert done.code == 2
    assert "http.listen" in done.err
    assert "HOST:PORT" in done.err
