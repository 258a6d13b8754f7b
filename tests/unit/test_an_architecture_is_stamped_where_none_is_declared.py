"""`register --architecture`: container tasks that do not say their own get it; whatever an author said stays."""

from __future__ import annotations

from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core.tasks_pb2 import Container

from engine.model.architectures import Architecture
from engine.wire.registration import register
from tests import packages
from tests.packages import task


def stamped(entity: TaskSpec, architecture: Architecture = Architecture.ARM64) -> TaskSpec:
    package = register(packages.files(entity), project="p", domain="d", architecture=architecture)
    (data,) = package.tasks
    return TaskSpec.FromString(data)


def test_a_task_that_says_nothing_gets_it() -> None:
    assert stamped(task("m.t")).template.container.architecture == Container.ARM64
    for architecture, value in [
        (Architecture.AMD64, Container.AMD64),
        (Architecture.ARM_V6, Container.ARM_V6),
        (Architecture.ARM_V7, Container.ARM_V7),
    ]:
        assert stamped(task("m.t"), architecture).template.container.architecture == value


def test_a_declared_field_stays() -> None:
    declared = task("m.t")
    declared.template.container.architecture = Container.AMD64
    assert stamped(declared).template.container.architecture == Container.AMD64


def test_a_declared_label_stays() -> None:
    declared = task("m.t")
    declared.template.metadata.metadata.labels["kubernetes.io/arch"] = "amd64"
    assert stamped(declared).template.container.architecture == Container.UNKNOWN


def test_a_task_without_a_container_stays_without() -> None:
    pod = task("m.t")
    pod.template.ClearField("container")
    pod.template.k8s_pod.primary_container_name = "main"
    assert stamped(pod).template.WhichOneof("target") == "k8s_pod"


def test_the_version_of_the_content_tells_architectures_apart() -> None:
    versions = {
        register(packages.files(task("m.t")), project="p", domain="d", architecture=architecture).version
        for architecture in (None, Architecture.AMD64, Architecture.ARM64)
    }
    assert len(versions) == 3
