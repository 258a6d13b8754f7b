"""Tasks as pods, as the settings say: the runner, and what it needs to know of clusters and pods."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec
from msgspec import to_builtins

from engine.machine.wanted import wanted
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.ids import AttemptKey
from engine.model.placement import Toleration
from engine.ports.blobstore import BlobStore

if TYPE_CHECKING:
    from config.kubernetes import CustomResource, Pods
    from config.settings import Settings
    from engine.adapters.kubernetes.custom import Rule
    from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
    from engine.adapters.kubernetes.runner import PodRunner
    from engine.app import Engine

GROUP_FILE = "pods-group"
"""In a home: the name that its pods carry."""
TIDY_SECONDS = 10.0
"""Between two looks at pods that nobody waits for."""


def pod_runner(home: Path, settings: Settings, blobs: BlobStore, environment: Mapping[str, str]) -> PodRunner:
    """Blocking. `environment`: what tasks need to reach the store. Raises BadInput."""
    from engine.adapters.kubernetes.runner import PodRunner
    from engine.adapters.kubernetes.sources import Sources

    check_store(settings, blobs.uri("metadata"))
    check_manifests(settings)

    async def find(name: str) -> str:
        uri = blobs.uri(layout.sources(name))
        return "" if await blobs.size(uri) is None else uri

    shared = settings.pods.shared_folders
    return PodRunner(
        cluster_options(settings, _group(home, settings)),
        pod_options(settings.pods, environment),
        put=blobs.put,
        max_pods=settings.kubernetes.max_pods,
        rules={name: _rule(it) for name, it in settings.kubernetes.custom_resources.items()},
        sources=None if shared else Sources(find),
    )


def check_store(settings: Settings, uri: str) -> None:
    """`uri`: of something in the store. Raises BadInput where pods could not reach it."""
    if not settings.pods.shared_folders and not uri.startswith("s3://"):
        raise BadInput(
            f"values are kept in a folder ({uri}), which pods can't reach: give store.uri s3://BUCKET/PREFIX; or set "
            "pods.shared_folders, where pods see the folders of this machine; nothing was started"
        )


def check_manifests(settings: Settings) -> None:
    """Blocking. Raises BadInput for parts of pods that Kubernetes would not understand, all of them at once."""
    from engine.adapters.kubernetes.fields import mistakes

    template, said = settings.pods.template, settings.architectures
    parts: dict[str, tuple[str, object]] = {
        "pods.template.metadata": ("V1ObjectMeta", template.get("metadata")),
        "pods.template.spec": ("V1PodSpec", template.get("spec")),
        "pods.owner": ("V1OwnerReference", settings.pods.owner),
    }
    for name, pool in (("amd64", said.amd64), ("arm64", said.arm64), ("arm_v6", said.arm_v6), ("arm_v7", said.arm_v7)):
        parts[f"architectures.{name}.affinity"] = ("V1Affinity", pool.affinity if pool else None)
    if found := [problem for path, (kind, part) in parts.items() for problem in mistakes(part, kind, path)]:
        more = " A field that kubernetes-asyncio is too old for goes into a PodTemplate (pods.template_name)."
        listed = "".join(f"\n  - {problem}" for problem in found)
        raise BadInput(f"pods can't be made of these settings; nothing was started.{more}{listed}")


def cluster_options(settings: Settings, group: str) -> ClusterOptions:
    from engine.adapters.kubernetes.options import ClusterOptions

    said = settings.kubernetes
    return ClusterOptions(
        kubeconfig=said.kubeconfig,
        context=said.context,
        contexts=dict(said.contexts),
        namespace=said.namespace,
        group=group,
        per_second=said.calls_per_second,
        burst=said.burst,
        calls=said.parallel_creations,
        idle_seconds=said.idle_seconds,
        resync_seconds=said.resync_seconds,
        trouble_seconds=said.trouble_seconds,
    )


def _group(home: Path, settings: Settings) -> str:
    """Blocking."""
    shared = settings.kafka.group if settings.kafka.bootstrap else None
    return settings.kubernetes.group or shared or _own_group(home)


def _own_group(home: Path) -> str:
    """Another home's engine must not take this one's pods for its own. It stays the same while the home is there."""
    path = home / GROUP_FILE
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        home.mkdir(parents=True, exist_ok=True)
        path.write_text(f"home-{secrets.token_hex(8)}")
        return path.read_text()


def pod_options(said: Pods, environment: Mapping[str, str]) -> PodOptions:
    from engine.adapters.kubernetes.options import GpuLabels, LogLink, PodOptions

    tolerations = {
        resource: [to_builtins(Toleration(**it.model_dump())) for it in tolerations]
        for resource, tolerations in said.resource_tolerations.items()
    }
    return PodOptions(
        template=_json(said.template),
        template_name=said.template_name or "",
        requests=dict(said.requests),
        limits=dict(said.limits),
        gpu_resource=said.gpu_resource,
        gpu_labels=GpuLabels(said.accelerator_label, said.partition_label),
        resource_tolerations=msgspec.json.encode(tolerations),
        labels=dict(said.labels),
        annotations=dict(said.annotations),
        env={**environment, **said.env},
        service_account=said.service_account or "",
        priority_class=said.priority_class or "",
        image_grace_seconds=said.image_grace_seconds,
        create_grace_seconds=said.create_grace_seconds,
        config_grace_seconds=said.config_grace_seconds,
        pending_seconds=said.pending_seconds,
        keep_failed_seconds=said.keep_failed,
        keep_succeeded_seconds=said.keep_succeeded,
        stop_seconds=said.stop_seconds,
        finalizer=said.finalizer,
        owner=_json(said.owner),
        engine_image=said.engine_image or "",
        shared_folders=said.shared_folders,
        log_limit=said.log_limit,
        log_links=tuple(LogLink(name, uri) for name, uri in said.log_links.items()),
    )


def _rule(said: CustomResource) -> Rule:
    from engine.adapters.kubernetes.custom import Rule

    return Rule(
        _json(said.template), said.plural, said.succeeded, said.failed, said.message or "", said.container or ""
    )


def _json(value: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(value) if value else b""


def printed(settings: Settings, key: AttemptKey) -> AsyncGenerator[bytes, None]:
    """What the pod of an attempt has printed so far, asked of its cluster. Raises BadInput, Transient."""
    from engine.adapters.kubernetes.looking import look

    return look(cluster_options(settings, ""), key)


async def tidy(runner: PodRunner, engine: Engine) -> None:
    """For ever: let go of the pods of attempts that an execution of this engine has no use for any more.

    Pods of executions that this engine does not hold are another's to judge.
    """
    while True:
        await anyio.sleep(TIDY_SECONDS)
        runner.done_with(await done(engine, runner.left()))


async def done(engine: Engine, keys: Sequence[AttemptKey]) -> list[AttemptKey]:
    """Those that are over for good, as far as this engine can tell."""
    here = {key.execution: engine.residents.get(key.execution) for key in keys}
    away = [execution for execution, state in here.items() if state is None]
    ended = {id for id, record in (await engine.log.find(away)).items() if record.terminal} if away else set()
    return [
        key
        for key in keys
        if (not wanted(state, key) if (state := here[key.execution]) is not None else key.execution in ended)
    ]
