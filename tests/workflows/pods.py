"""Tasks with pod templates."""

import os

from flytekit import PodTemplate, map_task, task, workflow
from kubernetes.client import V1Container, V1EnvVar, V1PodSpec


@task(
    pod_template=PodTemplate(
        primary_container_name="main",
        labels={"team": "green"},
        annotations={"note": "é"},
        pod_spec=V1PodSpec(
            containers=[
                V1Container(name="main", env=[V1EnvVar(name="OF_THE_TEMPLATE", value="yes ✓")]),
                V1Container(name="sidecar", image="sidecar:1"),
            ],
            node_selector={"pool": "large"},
        ),
    ),
    environment={"OF_THE_TASK": "mine"},
)
def in_a_pod(n: int) -> str:
    return f"{n} {os.environ.get('OF_THE_TEMPLATE')} {os.environ.get('OF_THE_TASK')}"


@task(pod_template_name="some-template")
def named_template(n: int) -> int:
    return n * 3


@workflow
def pods(n: int) -> tuple[str, int]:
    return in_a_pod(n=n), named_template(n=n)


@workflow
def mapped_pods(ns: list[int]) -> list[str]:
    return map_task(in_a_pod)(n=ns)


@workflow
def overridden_pod(n: int) -> str:
    template = PodTemplate(
        primary_container_name="other",
        pod_spec=V1PodSpec(
            containers=[V1Container(name="other", env=[V1EnvVar(name="OF_THE_TEMPLATE", value="overridden")])]
        ),
    )
    return in_a_pod(n=n).with_overrides(pod_template=template)
