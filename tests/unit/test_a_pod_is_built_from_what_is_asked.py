from __future__ import annotations

import json
from typing import Any

import pytest

from engine.adapters.kubernetes.naming import pod_name
from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.spec import pod_of
from engine.model.architectures import Architecture
from engine.model.errors import Permanent
from engine.model.placement import Placement, Toleration
from engine.model.podneeds import Accelerator, PodNeeds, SharedMemory
from engine.ports.taskrunner import ContainerRun, Mount
from tests.podworld import Json, key, request

ARM = Placement(
    Architecture.ARM64,
    {"kubernetes.io/arch": "arm64"},
    (Toleration("kubernetes.io/arch", "Equal", "arm64", "NoSchedule"),),
)
TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}


def built(*argv: str, options: PodOptions = PodOptions(), template: Json | None = None, **asked: Any) -> Json:
    return pod_of(request(*argv, **asked), "g", options, template)


def author(spec: Json, **other: Any) -> PodNeeds:
    return PodNeeds(pod=json.dumps(spec).encode(), primary="main", **other)


def only(pod: Json) -> Json:
    container: Json
    [container] = pod["spec"]["containers"]
    return container


def test_a_plain_task() -> None:
    name = pod_name(key())
    assert built("pyflyte-execute", "--x", needs=PodNeeds(workflow="proj.wf")) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {
                "execution-id": "e",
                "project": "p",
                "domain": "d",
                "workflow-name": "proj.wf",
                "node-id": "n0",
                "task-name": "proj.tasks.t",
                "interruptible": "false",
                "propwash.dev/group": "g",
            },
            "annotations": {
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                "propwash.dev/attempt": '{"execution":{"project":"p","domain":"d","name":"e"},"path":"n0"}',
                "primary_container_name": name,
            },
        },
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": name,
                    "image": "repo/image:1",
                    "args": ["pyflyte-execute", "--x"],
                    "env": [{"name": "A", "value": "1"}],
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "500Mi"},
                        "limits": {"cpu": "100m", "memory": "500Mi"},
                    },
                }
            ],
        },
    }


def test_words_that_replace_the_entry_point_are_the_command() -> None:
    found = only(built("python", "-c", "1", needs=PodNeeds(command_words=1)))
    assert (found["command"], found["args"]) == (["python"], ["-c", "1"])


def test_an_authors_pod_keeps_what_is_his() -> None:
    spec = {
        "containers": [
            {"name": "side", "image": "side:1", "args": ["--own"]},
            {
                "name": "main",
                "args": ["{{ old }}"],
                "env": [{"name": "A", "value": "0"}, {"name": "S", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            },
        ],
        "nodeSelector": {"pool": "large"},
        "volumes": [{"name": "v", "emptyDir": {}}],
    }
    found = built("run", needs=author(spec, labels={"team": "green"}, annotations={"note": "é"}))
    side, main = found["spec"]["containers"]
    assert side == {"name": "side", "image": "side:1", "args": ["--own"]}
    assert main["args"] == ["run"]
    assert main["env"] == [
        {"name": "A", "value": "1"},
        {"name": "S", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
    ]
    assert main["volumeMounts"] == [{"name": "v", "mountPath": "/v"}]
    assert found["spec"]["nodeSelector"] == {"pool": "large"}
    assert found["metadata"]["labels"]["team"] == "green"
    assert found["metadata"]["annotations"]["note"] == "é"
    assert found["metadata"]["annotations"]["primary_container_name"] == "main"


def test_a_template_is_below_everything() -> None:
    template: Json = {
        "metadata": {"labels": {"from": "template", "execution-id": "other"}, "annotations": {"t": "1"}},
        "spec": {
            "containers": [
                {"name": "default", "env": [{"name": "D", "value": "d"}, {"name": "A", "value": "t"}]},
                {"name": "primary", "resources": {"requests": {"cpu": "2"}}},
                {"name": "proxy", "image": "proxy:1"},
            ],
            "tolerations": [{"key": "x", "operator": "Exists"}],
            "serviceAccountName": "of-template",
            "priorityClassName": "high",
        },
    }
    found = built("run", template=template, needs=PodNeeds(requests={"memory": "1Gi"}))
    spec = found["spec"]
    main, proxy = spec["containers"]
    assert proxy == {"name": "proxy", "image": "proxy:1"}
    assert main["env"] == [{"name": "D", "value": "d"}, {"name": "A", "value": "1"}]
    assert main["resources"] == {
        "requests": {"cpu": "2", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "1Gi"},
    }
    assert spec["tolerations"] == [{"key": "x", "operator": "Exists"}]
    assert spec["serviceAccountName"] == "of-template"
    assert found["metadata"]["labels"]["from"] == "template"
    assert found["metadata"]["labels"]["execution-id"] == "e"
    assert only(built("run"))["env"] == [{"name": "A", "value": "1"}]


def test_the_executions_service_account_wins() -> None:
    template: Json = {"spec": {"serviceAccountName": "of-template"}}
    found = built("run", template=template, needs=PodNeeds(service_account="of-execution"))
    assert found["spec"]["serviceAccountName"] == "of-execution"
    assert (
        built("run", options=PodOptions(service_account="of-settings"))["spec"]["serviceAccountName"] == "of-settings"
    )


@pytest.mark.parametrize(
    ("requests", "limits", "meant"),
    [
        ({"cpu": "2"}, {}, ("2", "2")),
        ({}, {"cpu": "3"}, ("3", "3")),
        ({"cpu": "500m"}, {"cpu": "2"}, ("500m", "2")),
        ({"cpu": "4"}, {"cpu": "2"}, ("2", "2")),
        ({"cpu": "16"}, {"cpu": "32"}, ("8", "8")),
        ({}, {}, ("100m", "100m")),
    ],
)
def test_resources_follow_flytes_rules(
    requests: dict[str, str], limits: dict[str, str], meant: tuple[str, str]
) -> None:
    needs = PodNeeds(requests=requests, limits=limits)
    found = only(built("run", options=PodOptions(limits={"cpu": "8"}), needs=needs))["resources"]
    assert (found["requests"]["cpu"], found["limits"]["cpu"]) == meant


def test_what_is_no_quantity_is_refused_by_name() -> None:
    with pytest.raises(Permanent, match=r"BadTaskSpecification: .*'lots' is no quantity"):
        built("run", needs=PodNeeds(requests={"cpu": "lots"}))


def test_a_gpu_brings_its_nodes() -> None:
    options = PodOptions(
        resource_tolerations=json.dumps({"nvidia.com/gpu": [{"key": "gpu", "operator": "Exists"}]}).encode()
    )
    needs = PodNeeds(limits={"gpu": "1"}, accelerator=Accelerator("nvidia-tesla-a100", "1g.5gb"))
    spec = built("run", options=options, needs=needs)["spec"]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    device, part = "k8s.amazonaws.com/accelerator", "k8s.amazonaws.com/gpu-partition-size"
    [term] = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": device, "operator": "In", "values": ["nvidia-tesla-a100"]},
        {"key": part, "operator": "In", "values": ["1g.5gb"]},
    ]
    assert spec["tolerations"] == [
        {"key": "gpu", "operator": "Exists"},
        {"key": device, "operator": "Equal", "value": "nvidia-tesla-a100", "effect": "NoSchedule"},
        {"key": part, "operator": "Equal", "value": "1g.5gb", "effect": "NoSchedule"},
    ]
    without = built("run", needs=PodNeeds(accelerator=Accelerator("nvidia-tesla-a100")))["spec"]
    assert "affinity" not in without


def test_shared_memory_is_a_folder_in_memory() -> None:
    spec = built("run", needs=PodNeeds(shared_memory=SharedMemory("/dev/shm", "shm", "1Gi")))["spec"]
    assert spec["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]


def test_secrets_are_asked_for_as_flyte_does() -> None:
    metadata = built("run", needs=PodNeeds(secrets=("mzzg", "onxw")))["metadata"]
    assert metadata["labels"]["inject-flyte-secrets"] == "true"
    assert metadata["annotations"]["flyte.secrets/s0"] == "mzzg"
    assert metadata["annotations"]["flyte.secrets/s1"] == "onxw"


def test_a_placement_stands_beside_the_authors_own() -> None:
    spec = {
        "containers": [{"name": "main"}],
        "nodeSelector": {"pool": "large"},
        "tolerations": [{"key": "mine", "operator": "Exists"}],
    }
    found = built("run", needs=author(spec), placement=ARM)
    assert found["spec"]["nodeSelector"] == {"pool": "large", "kubernetes.io/arch": "arm64"}
    assert found["spec"]["tolerations"] == [{"key": "mine", "operator": "Exists"}, TAINT]
    assert found["metadata"]["labels"]["propwash.dev/architecture"] == "arm64"


def test_the_same_toleration_twice_is_once() -> None:
    spec = {"containers": [{"name": "main"}], "tolerations": [TAINT]}
    assert built("run", needs=author(spec), placement=ARM)["spec"]["tolerations"] == [TAINT]


def test_a_contradicting_selector_is_refused() -> None:
    spec = {"containers": [{"name": "main"}], "nodeSelector": {"kubernetes.io/arch": "amd64"}}
    with pytest.raises(
        Permanent, match=r"kubernetes\.io/arch=amd64, but architecture arm64 needs kubernetes\.io/arch=arm64"
    ):
        built("run", needs=author(spec), placement=ARM)


def test_every_pod_is_the_same_and_nothing_piles_up() -> None:
    spec = {"containers": [{"name": "main"}], "tolerations": [{"key": "mine", "operator": "Exists"}]}
    options = PodOptions(template=json.dumps({"spec": {"tolerations": [{"key": "t", "operator": "Exists"}]}}).encode())
    pods = [built("run", options=options, needs=author(spec), placement=ARM) for _ in range(100)]
    assert all(pod == pods[0] for pod in pods)
    assert len(pods[0]["spec"]["tolerations"]) == 3


def test_a_pod_without_its_container_is_refused() -> None:
    with pytest.raises(Permanent, match="has no container 'main'"):
        built("run", needs=author({"containers": [{"name": "other"}]}))


def test_a_finalizer_and_an_owner_are_put_in_where_wanted() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "propwash", "uid": "u"}
    metadata = built("run", options=PodOptions(finalizer=True, owner=json.dumps(owner).encode()))["metadata"]
    assert metadata["finalizers"] == ["propwash.dev/kept-for-its-verdict"]
    assert metadata["ownerReferences"] == [owner]


def test_code_in_a_folder_is_found() -> None:
    found = only(built("run", options=PodOptions(shared_folders=True), code_root="/code/of/mine"))
    assert found["workingDir"] == "/code/of/mine"
    assert {"name": "PYTHONPATH", "value": "/code/of/mine"} in found["env"]


def test_a_raw_container_has_its_files_carried() -> None:
    run = ContainerRun(
        "alpine:3",
        (
            Mount("s3://b/in", "/var/inputs", writable=True),
            Mount("s3://x/file", "/var/inputs/f"),
            Mount("s3://b/out", "/var/outputs", writable=True),
        ),
    )
    options = PodOptions(engine_image="propwash:1", env={"FLYTE_AWS_ENDPOINT": "http://s3"})
    found = built("sh", options=options, container=run, needs=PodNeeds(command_words=1))
    spec, name = found["spec"], found["metadata"]["name"]
    mounted = [
        {"name": "propwash-data-0", "mountPath": "/var/inputs"},
        {"name": "propwash-data-1", "mountPath": "/var/outputs"},
    ]
    assert only(found)["volumeMounts"] == mounted
    assert spec["volumes"] == [{"name": f"propwash-data-{number}", "emptyDir": {}} for number in (0, 1)]
    download, upload = spec["initContainers"]
    assert download["args"] == [
        *("in", "s3://b/in", "/var/inputs", "s3://x/file", "/var/inputs/f", "-", "/var/outputs"),
    ]
    assert upload["args"] == ["out", f"/tmp/{name}", "/var/outputs", "s3://b/out"]
    assert (upload["restartPolicy"], upload["startupProbe"]["exec"]["command"][-1]) == ("Always", f"/tmp/{name}")
    for container in (download, upload):
        assert (container["image"], container["volumeMounts"]) == ("propwash:1", mounted)
        assert container["env"] == [{"name": "FLYTE_AWS_ENDPOINT", "value": "http://s3"}]
    assert found["metadata"]["annotations"]["propwash.dev/uploads"] == "true"
    with pytest.raises(Permanent, match=r"set pods\.engine_image"):
        built("sh", container=run)
