"""compose.yaml, Dockerfile and config/compose: no container engine is needed to see that they name what there is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.load import load
from config.settings import Settings
from engine.gateway.access import token_for

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
ENGINES = ["engine-1", "engine-2"]
ENDS = {"bucket", "demo"}
"""Services that nobody waits for to be healthy."""


def mounts(name: str) -> Iterator[tuple[Path, str]]:
    """File or folder of the repository, and where the service finds it."""
    for volume in SERVICES[name].get("volumes", []):
        here, there, *_ = volume.split(":")
        if here.startswith("./"):
            yield ROOT / here, there


def settings_of(name: str) -> Settings:
    """As an engine of this service would read them."""
    environ = dict(SERVICES[name]["environment"])
    (config,) = [here for here, there in mounts(name) if there == environ["PROPWASH_CONFIG"]]
    return load(None, [], {**environ, "PROPWASH_CONFIG": str(config)})


@pytest.mark.parametrize("name", ENGINES)
def test_the_engines_accept_their_settings(name: str) -> None:
    settings = settings_of(name)
    broker, _, port = str(settings.kafka.bootstrap).partition(":")
    assert f"INSIDE://{broker}:{port}" in SERVICES[broker]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert str(settings.s3.endpoint).startswith("http://s3:9000")
    (bucket,) = SERVICES["bucket"]["command"]
    assert re.search(r"mc mb --ignore-existing s3/(\S+)$", bucket)[1] == str(settings.store.uri).split("/")[2]  # type: ignore[index]
    secret = ROOT / yaml.safe_load((ROOT / "compose.yaml").read_text())["secrets"]["propwash-token"]["file"]
    assert settings.http.token_file == "/run/secrets/propwash-token"
    assert token_for("127.0.0.1:8080", str(secret)) == "not-a-secret-on-this-machine"
    assert SERVICES[name]["secrets"] == ["propwash-token"]
    root = SERVICES["s3"]["environment"]
    environ = SERVICES[name]["environment"]
    assert environ["AWS_SECRET_ACCESS_KEY"] == root["MINIO_ROOT_PASSWORD"]
    assert environ["AWS_ACCESS_KEY_ID"] == root["MINIO_ROOT_USER"]
    assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > settings.shutdown.deadline_seconds


def test_what_is_mounted_is_there() -> None:
    found = [here for name in SERVICES for here, _ in mounts(name)]
    assert len(found) >= 10
    assert [here for here in found if not here.exists()] == []


def test_only_this_machine_reaches_the_ports() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


def test_every_image_is_pinned() -> None:
    images = {service["image"] for service in SERVICES.values()} - {"propwash:compose"}
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert set(bases) == {"python:${PYTHON}"}
    images.add(f"python:{re.search(r'^ARG PYTHON=(.+)$', DOCKERFILE, re.MULTILINE)[1]}")  # type: ignore[index]
    for image in images:
        assert re.fullmatch(r"[a-z/]+:(v?\d+\.\d+\.\d+|RELEASE\.\d{4}-)\S*", image), image


def test_who_waits_for_a_healthy_service_can_see_its_health() -> None:
    assert {name for name, service in SERVICES.items() if "healthcheck" not in service} == ENDS
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] == ("service_completed_successfully" if other in ENDS else "service_healthy")


def test_prometheus_scrapes_the_engines_and_grafana_asks_it() -> None:
    listen = str(settings_of("engine-1").http.listen)
    places = {there: here for here, there in mounts("prometheus")}
    scrape = yaml.safe_load(places["/etc/prometheus/prometheus.yml"].read_text())
    (job,) = scrape["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{name}:{listen.partition(':')[2]}" for name in ENGINES]}]
    assert job["job_name"] == "propwash"  # the alerts ask for it
    assert scrape["rule_files"] == ["alerts.yml"]
    assert places["/etc/prometheus/alerts.yml"] == ROOT / "config/prometheus/alerts.yml"
    given = {there: here for here, there in mounts("grafana")}
    (source,) = yaml.safe_load(given["/etc/grafana/provisioning/datasources/propwash.yml"].read_text())["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    (provider,) = yaml.safe_load(given["/etc/grafana/provisioning/dashboards/propwash.yml"].read_text())["providers"]
    assert f"{provider['options']['path']}/propwash.json" in given
    assert given[f"{provider['options']['path']}/propwash.json"] == ROOT / "config/grafana/propwash.json"


def test_the_demo_runs_what_the_examples_hold() -> None:
    folders = {there: here for here, there in mounts("demo")}
    program = Path(SERVICES["demo"]["entrypoint"][1])
    assert (folders[str(program.parent)] / program.name).is_file()
    port = str(settings_of("demo").http.listen).partition(":")[2]
    assert SERVICES["demo"]["command"] == [f"http://{name}:{port}" for name in ENGINES]


def test_the_image_runs_as_nobody_and_holds_every_package() -> None:
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["setuptools"]["packages"])
    there = {
        ".".join(init.parent.relative_to(ROOT).parts)
        for folder in ("engine", "handlers", "config")
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert there - {"engine.launcher"} == packages - {"propwash"}
    copied = {line.split()[1] for line in DOCKERFILE.splitlines() if re.match(r"COPY \w+ \w+$", line)}
    assert copied == {name.split(".")[0] for name in packages} - {"propwash"}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied < kept
    assert not any("flytekit" in line for line in project["project"]["dependencies"])
    assert 'ARG EXTRAS=""' in DOCKERFILE
