"""What would fail every task later, with the author blamed for it, is refused with the settings."""

from __future__ import annotations

import pytest

from config.load import SettingsError, load


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("pods.template={spec: {containers: 5}}", "expected a map whose spec.containers is a list of maps with a name"),
        ("pods.template={spec: {initContainers: [{}]}}", "spec.initContainers is a list of maps with a name"),
        ("pods.template={metadata: 3}", "expected a map with the maps metadata and spec"),
        ("pods.template=hello", "expected a map"),
        ("pods.requests={cpu: banana}", "expected a map of resource to quantity, such as 500m or 2Gi: cpu is none"),
        ("pods.limits={memory: '-1'}", "memory is none"),
        (
            'kubernetes.namespace="{{ foo }}-x"',
            "expected a namespace: a-z, 0-9 and '-', with the variables {{ project }}",
        ),
        ("kubernetes.namespace=Bad_NS", "expected a namespace"),
        (
            "architectures.default=arm-v7",
            "expected an architecture that is configured, and architectures.arm_v7 is null",
        ),
        ("architectures.defaults={p:d: arm64}", "architectures.arm64 is null"),
        ("interruptible.tolerations=[{foo: 1}]", "expected a known key"),
    ],
)
def test_a_mistake_is_named(argument: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, [argument], {})
    assert expected in str(caught.value.problems[0])


@pytest.mark.parametrize(
    "argument",
    [
        "pods.template={spec: {containers: [{name: default, env: []}], tolerations: []}, metadata: {labels: {a: b}}}",
        "pods.requests={cpu: 250m, memory: 1.5Gi, 'nvidia.com/gpu': '1', ephemeral-storage: 1e9}",
        "kubernetes.namespace=team-{{ domain }}",
    ],
)
def test_what_works_is_taken(argument: str) -> None:
    assert load(None, [argument], {})
