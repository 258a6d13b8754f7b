"""For which architecture a task template says its image is, and how it is made to say so."""

from __future__ import annotations

from flyteidl.core.tasks_pb2 import Container, TaskTemplate

from engine.model.architectures import TASK_LABEL, Architecture, declared_by_label

_FIELD = {
    Architecture.AMD64: Container.AMD64,
    Architecture.ARM64: Container.ARM64,
    Architecture.ARM_V6: Container.ARM_V6,
    Architecture.ARM_V7: Container.ARM_V7,
}
_NAMES = {field: architecture for architecture, field in _FIELD.items()}


def declared(template: TaskTemplate) -> str:
    """By the container's field, else by a label of the task or of its pod; "" = not said."""
    if template.WhichOneof("target") == "container" and template.container.architecture in _NAMES:
        return _NAMES[template.container.architecture].value
    for labels in (template.metadata.metadata.labels, template.k8s_pod.metadata.labels):
        if TASK_LABEL in labels:
            return declared_by_label(labels[TASK_LABEL])
    return ""


def declaration(template: TaskTemplate) -> str:
    """The same, else by the node selector of its pod."""
    return declared(template) or declared_by_label(_selected(template))


def stamp(template: TaskTemplate, architecture: str) -> None:
    """Declare it for the image of a template that does not say, where it is one; else nothing changes.

    A pod has no field for it, so that its task gets the label.
    """
    if architecture not in list(Architecture) or declaration(template):
        return
    match template.WhichOneof("target"):
        case "container":
            template.container.architecture = _FIELD[Architecture(architecture)]
        case "k8s_pod":
            template.metadata.metadata.labels[TASK_LABEL] = architecture


def _selected(template: TaskTemplate) -> str:
    spec = template.k8s_pod.pod_spec
    if "nodeSelector" not in spec.fields:
        return ""
    selector = spec.fields["nodeSelector"].struct_value
    return str(selector.fields[TASK_LABEL].string_value) if TASK_LABEL in selector.fields else ""
