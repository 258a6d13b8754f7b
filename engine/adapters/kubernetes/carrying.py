"""A raw container in a pod: what it finds is fetched before it runs, what it leaves is stored once it has ended.

An init container and a sidecar from the engine's own image do that (engine.copilot); the data lies in empty volumes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.adapters.kubernetes.naming import Json, literal
from engine.adapters.kubernetes.options import PodOptions
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.ports.taskrunner import ContainerRun, Mount

OWN = "propwash-"
"""How the names of the engine's own containers begin."""
COMMAND = ("python", "-m", "engine.copilot")
STARTED_SECONDS = 60
UPLOAD_SECONDS = 3600
"""That what a container has left may take to be stored."""
NO_IMAGE = (
    "raw containers need the engine's own image beside them, to carry their inputs and outputs; set pods.engine_image"
)


def carry(own: Json, primary: str, run: ContainerRun, options: PodOptions, name: str) -> None:
    """Add what a raw container needs to its author's pod. `name`: of the pod.

    Raises Permanent where the settings name no image for it.
    """
    if not run.mounts:
        return
    if not options.engine_image:
        raise Permanent(Failure("FailedToBuildResource", ErrorKind.USER, NO_IMAGE))
    folders = _volumes(run.mounts)
    volumes = [{"name": name, "emptyDir": {}} for name in folders.values()]
    mounted = [{"name": name, "mountPath": path} for path, name in folders.items()]
    own["volumes"] = [*own.get("volumes", []), *volumes]
    for container in own["containers"]:
        if container["name"] == primary:
            container["volumeMounts"] = [*container.get("volumeMounts", []), *mounted]
    fetched = [word for mount in run.mounts for word in (mount.uri, mount.path)]
    made = [word for mount in run.mounts[-1:] for word in ("-", mount.path)]
    ready = f"/tmp/{name}"
    stored = [ready, run.mounts[-1].path, run.mounts[-1].uri]
    # The task's container starts when this holds, so that its end is never missed.
    probe = {"exec": {"command": ["test", "-e", ready]}, "periodSeconds": 1, "failureThreshold": STARTED_SECONDS}
    own["initContainers"] = [
        *own.get("initContainers", []),
        _container("download", ("in", *fetched[:-2], *made), mounted, options),
        {
            **_container("upload", ("out", *stored), mounted, options),
            "restartPolicy": "Always",
            "startupProbe": probe,
        },
    ]
    own["terminationGracePeriodSeconds"] = max(UPLOAD_SECONDS, own.get("terminationGracePeriodSeconds", 0))


def _volumes(mounts: Sequence[Mount]) -> Mapping[str, str]:
    """Path -> name of a volume; what lies inside another one needs none of its own."""
    found: dict[str, str] = {}
    for mount in mounts:
        if not any(mount.path.startswith(f"{path.rstrip('/')}/") for path in found):
            found.setdefault(mount.path, f"{OWN}data-{len(found)}")
    return found


def _container(name: str, words: Sequence[str], mounted: list[Json], options: PodOptions) -> Json:
    return {
        "name": f"{OWN}{name}",
        "image": options.engine_image,
        "command": [*COMMAND],
        "args": [literal(word) for word in words],
        "env": [{"name": key, "value": value} for key, value in options.env.items()],
        "volumeMounts": mounted,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": dict(options.requests), "limits": dict(options.requests)},
    }
