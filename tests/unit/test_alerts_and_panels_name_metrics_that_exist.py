"""config/prometheus and config/grafana, against what an engine really tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.gateway.metrics import Metrics
from engine.gateway.partitions import Standing

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "config/prometheus/alerts.yml"
BOARD = ROOT / "config/grafana/propwash.json"
_NAME = re.compile(r"\b(?:propwash|process)_\w+")
_DURATION = re.compile(r"\d+[smhd]")


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """Every series that there may be, with the names of its labels."""
    metrics = Metrics()
    metrics.tell_of_process()
    metrics.tell_of_partitions(lambda: Standing(rebalances=0, lost=0, restoring=0, lags={0: 0}))
    found: dict[str, set[str]] = {}
    for collector in list(metrics.registry._collector_to_names):
        labels = set(getattr(collector, "_labelnames", ()))
        for family in collector.collect():
            for sample in family.samples:
                labels = labels | set(sample.labels)
            suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
            for suffix in suffixes:
                found[family.name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    return list(group["rules"])


def panels() -> list[dict[str, Any]]:
    return list(json.loads(BOARD.read_text())["panels"])


def expressions() -> Iterator[str]:
    for rule in rules():
        yield rule["expr"]
    for panel in panels():
        for target in panel["targets"]:
            yield target["expr"]


def test_every_expression_names_metrics_and_labels_that_exist(known: dict[str, set[str]]) -> None:
    for text in expressions():
        names = set(_NAME.findall(text)) or {"up"}
        assert names - {"up"} <= set(known), text
        there = set().union(*(known.get(name, set()) for name in names)) | {"job", "instance"}
        matched = set(re.findall(r"(\w+)(?:=~|!~|!=|=)\"", text))
        grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", text) for label in group.split(",")}
        assert matched | grouped <= there, text


def test_every_expression_is_balanced() -> None:
    for text in expressions():
        for opening, closing in ("()", "{}", "[]"):
            assert text.count(opening) == text.count(closing), text
        assert text.count('"') % 2 == 0, text


def test_every_alert_has_what_promtool_asks_for() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}, rule
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert _DURATION.fullmatch(rule.get("for", "1m"))
        assert rule["annotations"]["summary"]


def test_the_scrape_configuration_reads_the_alerts() -> None:
    config = yaml.safe_load((ALERTS.parent / "prometheus.yml").read_text())
    assert config["rule_files"] == [ALERTS.name]
    assert [job["job_name"] for job in config["scrape_configs"]] == ["propwash"]


def test_every_panel_has_a_place_of_its_own() -> None:
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()}
    assert len(places) == len(panels()) == len({panel["id"] for panel in panels()})


def test_every_metric_and_alert_is_documented(known: dict[str, set[str]]) -> None:
    page = (ROOT / "docs/operations.md").read_text()
    ours = {re.sub(r"_(bucket|sum|count)$", "", name) for name in known if name.startswith("propwash_")}
    assert [name for name in sorted(ours) if f"`{name.removeprefix('propwash_')}`" not in page] == []
    assert [rule["alert"] for rule in rules() if f"`{rule['alert']}`" not in page] == []
