from __future__ import annotations

import json
from collections.abc import Mapping

from flyteidl.core import security_pb2, tasks_pb2, workflow_pb2
from google.protobuf import json_format, text_format
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.podneeds import encoded, pod_needs
from engine.model.effects import Origin, RunTask
from engine.model.graph import NodeKind, NodeSpec
from engine.model.ids import EntityId, EntityKind
from engine.model.overrides import Overrides
from engine.model.podneeds import Accelerator, PodNeeds, SharedMemory
from tests.podworld import TASK, key

WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "proj.wf", "v")
_BASE32 = "abcdefghijklmnopqrstuvwxyz123456"


async def needs(
    template: tasks_pb2.TaskTemplate, overrides: Overrides = Overrides(), node: bytes = b"", inputs: bytes = b""
) -> PodNeeds:
    task = structs.replace(TASK, template=template.SerializeToString())
    spec = NodeSpec("n0", NodeKind.TASK, overrides=node)
    effect = RunTask(key(), spec, task, {}, Origin(WORKFLOW, WORKFLOW, "pkg", overrides=overrides))
    return await pod_needs(MemoryBlobs(), effect, 0, inputs)


def in_a_pod(spec: Mapping[str, object], **config: str) -> tasks_pb2.TaskTemplate:
    template = tasks_pb2.TaskTemplate(config=config)
    json_format.ParseDict({**spec}, template.k8s_pod.pod_spec)
    return template


async def test_resources_by_their_names_in_kubernetes() -> None:
    template = tasks_pb2.TaskTemplate()
    entry = tasks_pb2.Resources.ResourceEntry
    asked = template.container.resources
    asked.requests.extend([entry(name="CPU", value="2"), entry(name="EPHEMERAL_STORAGE", value="1Gi")])
    asked.limits.extend([entry(name="GPU", value="1")])
    node = workflow_pb2.TaskNodeOverrides()
    node.resources.requests.add(name=tasks_pb2.Resources.CPU, value="4")
    found = await needs(template, node=node.SerializeToString())
    assert found.requests == {"cpu": "4", "ephemeral-storage": "1Gi"}
    assert found.limits == {"gpu": "1"}


async def test_numbers_of_a_pod_stay_whole() -> None:
    spec = {"containers": [{"name": "a", "ports": [{"containerPort": 8080}], "x": 0.5}]}
    assert json.loads((await needs(in_a_pod(spec))).pod) == spec
    assert b"8080}" in (await needs(in_a_pod(spec))).pod


async def test_the_only_container_is_the_primary_one() -> None:
    one = {"containers": [{"name": "a"}]}
    two = {"containers": [{"name": "a"}, {"name": "b"}]}
    assert (await needs(in_a_pod(one))).primary == "a"
    assert (await needs(in_a_pod(two, primary_container_name="b"))).primary == "b"


async def test_commands_of_the_other_containers_are_rendered() -> None:
    spec = {
        "initContainers": [{"name": "i", "command": ["get", "{{ .input }}"]}],
        "containers": [{"name": "a", "args": ["{{ .input }}"]}, {"name": "b", "args": ["--to={{.outputPrefix}}"]}],
    }
    found = json.loads((await needs(in_a_pod(spec, primary_container_name="a"))).pod)
    assert found["initContainers"][0]["command"] == [
        "get",
        MemoryBlobs().uri("metadata/propeller/p-d-e/n0/data/inputs.pb"),
    ]
    assert found["containers"][1]["args"] == ["--to=" + MemoryBlobs().uri("metadata/propeller/p-d-e/n0/data/0")]
    assert found["containers"][0]["args"] == ["{{ .input }}"]


async def test_a_nodes_own_pod_replaces_the_tasks() -> None:
    node = workflow_pb2.TaskNodeOverrides()
    node.pod_template.primary_container_name = "z"
    node.pod_template.metadata.labels["from"] = "node"
    json_format.ParseDict({"containers": [{"name": "z"}, {"name": "y"}]}, node.pod_template.pod_spec)
    found = await needs(in_a_pod({"containers": [{"name": "a"}]}), node=node.SerializeToString())
    assert (found.primary, found.labels) == ("z", {"from": "node"})
    assert [it["name"] for it in json.loads(found.pod)["containers"]] == ["z", "y"]


async def test_labels_of_the_execution_win_over_those_of_the_task() -> None:
    template = tasks_pb2.TaskTemplate()
    template.metadata.metadata.labels.update({"a": "task", "b": "task"})
    template.metadata.metadata.annotations["n"] = "task"
    found = await needs(template, Overrides(labels={"a": "execution"}, annotations={"m": "execution"}))
    assert found.labels == {"a": "execution", "b": "task"}
    assert found.annotations == {"n": "task", "m": "execution"}


async def test_the_service_account_of_the_execution_wins() -> None:
    template = tasks_pb2.TaskTemplate()
    template.security_context.run_as.k8s_service_account = "of-task"
    assert (await needs(template)).service_account == "of-task"
    assert (await needs(template, Overrides(service_account="of-execution"))).service_account == "of-execution"


async def test_extended_resources() -> None:
    template = tasks_pb2.TaskTemplate()
    template.extended_resources.gpu_accelerator.device = "a100"
    template.extended_resources.gpu_accelerator.unpartitioned = True
    template.extended_resources.shared_memory.size_limit = "1Gi"
    found = await needs(template)
    assert found.accelerator == Accelerator("a100", unpartitioned=True)
    assert found.shared_memory == SharedMemory("/dev/shm", "flyte-shared-memory", "1Gi")


async def test_secrets_can_be_read_by_flytes_webhook() -> None:
    secret = security_pb2.Secret(group="User-Info", key="name", mount_requirement=security_pb2.Secret.FILE)
    text = encoded(secret)
    assert set(text) <= set(_BASE32)
    bits = "".join(f"{_BASE32.index(letter):05b}" for letter in text)
    data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
    assert text_format.Parse(data.decode(), security_pb2.Secret()) == secret


async def test_the_rest_of_a_template() -> None:
    template = tasks_pb2.TaskTemplate(config={"link_type": "x"})
    template.metadata.pod_template_name = "large"
    template.custom.update({"workers": 3})
    found = await needs(template)
    assert (found.pod_template, found.config, found.workflow) == ("large", {"link_type": "x"}, "proj.wf")
    assert json.loads(found.custom) == {"workers": 3}
