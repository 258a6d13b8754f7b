"""Misspelt and misplaced fields of pods are named before anything starts, by the types of Kubernetes' API."""

from __future__ import annotations

import pytest
import yaml

from config.load import load
from engine.adapters.kubernetes.fields import KNOWN, mistakes
from engine.clusters import check_manifests
from engine.model.errors import BadInput


def found(spec: str) -> list[str]:
    return [it.removeprefix("spec.").replace(KNOWN, "K") for it in mistakes(yaml.safe_load(spec), "V1PodSpec", "spec")]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("nodeSelektor: {a: b}", "nodeSelektor: K knows no such field; did you mean nodeSelector?"),
        ("node_selector: {a: b}", "node_selector: K knows no such field; did you mean nodeSelector?"),
        ("qqq: 1", "qqq: K knows no such field"),
        (
            "containers: [{name: a}, {name: default, resorces: {}}]",
            "containers[1].resorces: K knows no such field; did you mean resources?",
        ),
        (
            "containers: [{name: default, resources: {limit: {cpu: 1}}}]",
            "containers[0].resources.limit: K knows no such field; did you mean limits?",
        ),
        (
            "tolerations: [{key: a, efect: NoSchedule}]",
            "tolerations[0].efect: K knows no such field; did you mean effect?",
        ),
        (
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}}",
            "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: expected a map, not [{}]",
        ),
        ("tolerations: {key: a}", "tolerations: expected a list, not {'key': 'a'}"),
        ("nodeSelector: [a]", "nodeSelector: expected a map, not ['a']"),
        ("nodeSelector: {gpu: true}", "nodeSelector.gpu: expected text, not True"),
        ("containers: [{env: [{name: A, value: 5}]}]", "containers[0].env[0].value: expected text, not 5"),
        ("hostNetwork: 'yes'", "hostNetwork: expected true or false, not 'yes'"),
        ("terminationGracePeriodSeconds: 1m", "terminationGracePeriodSeconds: expected a whole number, not '1m'"),
        ("securityContext: {runAsUser: true}", "securityContext.runAsUser: expected a whole number, not True"),
        ("containers: [hello]", "containers[0]: expected a map, not 'hello'"),
        ("overhead: {cpu: [1]}", "overhead.cpu: expected a quantity, not [1]"),
    ],
)
def test_the_field_is_named(spec: str, expected: str) -> None:
    assert found(spec) == [expected]


@pytest.mark.parametrize(
    "spec",
    [
        "containers: [{name: default, resources: {limits: {nvidia.com/gpu: 1, cpu: 1.5, memory: 2Gi}}}]",
        "volumes: [{name: a, emptyDir: {sizeLimit: 1, medium: Memory}}]",
        "containers: [{livenessProbe: {httpGet: {port: 80}}}, {name: b, startupProbe: {httpGet: {port: http}}}]",
        "tolerations: [{key: a, tolerationSeconds: 5}]",
        "securityContext: {fsGroup: 5, seccompProfile: {type: RuntimeDefault}}",
        "affinity: null",
    ],
)
def test_what_kubernetes_understands_is_taken(spec: str) -> None:
    assert found(spec) == []


def test_all_mistakes_of_the_settings_are_told_at_once() -> None:
    settings = load(
        None,
        [
            "pods.template={spec: {tolerationz: []}, metadata: {lables: {}}}",
            "pods.owner={apiVersion: v1, kind: ConfigMap, name: x, uid: y, ownerUid: z}",
            "architectures.arm64={affinity: {nodeAffinity: {prefered: []}}}",
        ],
        {},
    )
    with pytest.raises(BadInput) as caught:
        check_manifests(settings)
    head, *listed = str(caught.value).split("\n  - ")
    assert head.startswith("pods can't be made of these settings; nothing was started.")
    assert [it.partition(": ")[0] for it in listed] == [
        "pods.template.metadata.lables",
        "pods.template.spec.tolerationz",
        "pods.owner.ownerUid",
        "architectures.arm64.affinity.nodeAffinity.prefered",
    ]


def test_no_template_has_no_mistakes() -> None:
    check_manifests(load(None, [], {}))
