"""config/kubernetes, built by kubectl: what the objects name is there, and what they start is a command of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from config.load import load
from engine.cli.main import cli
from engine.gateway.webhook import configuration
from engine.routing import placement_rules
from tests.manifests import BASES, KUBECTL, ROOT, Manifest, built, one

needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
PROGRAMS = [("engine", "StatefulSet", "propwash"), ("webhook", "Deployment", "propwash-webhook")]
SETTINGS = sorted(ROOT.rglob("propwash.yaml"))


def test_every_file_is_yaml_and_belongs_to_a_kustomization() -> None:
    for path in ROOT.rglob("*.yaml"):
        assert list(yaml.safe_load_all(path.read_text())), path
        folder = path.parent
        if path.name not in ("kustomization.yaml", "propwash.yaml"):
            named = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
            assert path.name in named, path


@pytest.mark.parametrize("path", SETTINGS, ids=lambda path: path.parent.name)
def test_the_settings_can_be_used(path: Path) -> None:
    assert load(path, [], {}).kafka.bootstrap == "kafka:9092"


def test_the_example_has_both_architectures() -> None:
    rules = placement_rules(load(ROOT / "example" / "propwash.yaml", [], {}))
    assert {it.value: pool.autoscaled for it, pool in rules.architectures.items()} == {"amd64": False, "arm64": True}


@needs_kubectl
@pytest.mark.parametrize("base", BASES)
def test_what_an_object_names_is_there(base: str) -> None:
    objects = built(base)
    there = {(it["kind"], it["metadata"]["name"]) for it in objects}
    outside = {("Secret", name) for name in ("propwash-api", "propwash-s3", "propwash-webhook-tls")}
    outside |= {("ServiceAccount", "propwash"), ("ClusterRole", "propwash-tasks")} if base == "tasks" else set()
    outside |= {("ConfigMap", "propwash-settings")} if base == "webhook" else set()
    assert {found for it in objects for found in references(it)} <= there | outside


def references(manifest: Manifest) -> set[tuple[str, str]]:
    text = yaml.safe_dump(manifest, default_flow_style=False)
    kinds = {"configMap": "ConfigMap", "secretRef": "Secret"}
    found = {(kinds[kind], name) for kind, name in re.findall(r"(configMap|secretRef):\s+name: (\S+)", text)}
    found |= {("Secret", name) for name in re.findall(r"secretName: (\S+)", text)}
    found |= {("ServiceAccount", name) for name in re.findall(r"serviceAccountName: (\S+)", text)}
    if "roleRef" in manifest:
        found |= {(manifest["roleRef"]["kind"], manifest["roleRef"]["name"])}
        found |= {(it["kind"], it["name"]) for it in manifest["subjects"]}
    return found


@needs_kubectl
@pytest.mark.parametrize(
    ("base", "kind", "name"), [("engine", "StatefulSet", "propwash"), ("webhook", "Deployment", "propwash-webhook")]
)
def test_a_pod_starts_a_command_of_ours_and_has_no_rights_it_does_not_need(base: str, kind: str, name: str) -> None:
    spec = one(base, kind, name)["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "propwash:0.1.0"
    done = CliRunner().invoke(cli, [*container["args"], "--help"])
    assert done.exit_code == 0, done.output
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    labels = spec["template"]["metadata"]["labels"]
    for selects in (spec["selector"], one(base, "PodDisruptionBudget", name)["spec"]["selector"]):
        assert selects["matchLabels"].items() <= labels.items()
    assert one(base, "Service", name)["spec"]["selector"].items() <= labels.items()
    assert one(base, "NetworkPolicy", name)["spec"]["podSelector"]["matchLabels"].items() <= labels.items()


@needs_kubectl
def test_the_engine_has_longer_to_stop_than_it_takes() -> None:
    pod = one("engine", "StatefulSet", "propwash")["spec"]["template"]["spec"]
    settings = load(ROOT / "engine" / "propwash.yaml", [], {})
    assert pod["terminationGracePeriodSeconds"] > settings.shutdown.deadline_seconds


@needs_kubectl
def test_variables_of_the_pod_are_settings() -> None:
    for base, kind, name in PROGRAMS:
        (container,) = one(base, kind, name)["spec"]["template"]["spec"]["containers"]
        environ = {it["name"]: it["value"] for it in container["env"]}
        environ["PROPWASH_CONFIG"] = str(ROOT / "engine" / "propwash.yaml")
        load(None, [], environ)


@needs_kubectl
def test_the_webhook_s_configuration_is_the_one_that_the_command_prints() -> None:
    service = {"service": {"namespace": "propwash", "name": "propwash-webhook", "path": "/mutate"}}
    printed = configuration(service, b"", fail_open=False, timeout_seconds=5)
    manifest = one("webhook", "MutatingWebhookConfiguration", "propwash-architecture")
    del manifest["metadata"]["labels"]
    assert manifest["webhooks"][0]["clientConfig"] == service
    manifest["webhooks"][0]["clientConfig"]["caBundle"] = ""
    assert printed == manifest


@needs_kubectl
def test_the_engine_s_rights_are_few() -> None:
    tasks, nodes = one("engine", "ClusterRole", "propwash-tasks"), one("engine", "ClusterRole", "propwash-nodes")
    assert nodes["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]
    for rule in tasks["rules"]:
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
        assert not {"secrets", "configmaps"} & set(rule["resources"])
    binding = one("example", "RoleBinding", "propwash-tasks")
    assert binding["metadata"]["namespace"] == "flytesnacks-development"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "propwash", "namespace": "propwash"}]
