"""The webhook, asked by a real API server: labelled pods of anybody are placed, contradictions are refused."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from config.load import load
from engine.gateway.tls import Certificate
from engine.gateway.webhook import PATH, answering, configuration
from engine.routing import placement_rules
from tests.backing.kubernetes.api import ApiError, Document
from tests.backing.kubernetes.certificates import self_signed
from tests.backing.kubernetes.nodes import SPOT_LABEL
from tests.backing.kubernetes.specs import Script
from tests.clusters import Space, ended, pod, space

pytestmark = pytest.mark.service("kubernetes")

HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
TERM = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}}
SETS = [
    "architectures.amd64={}",
    f"architectures.arm64={json.dumps({'tolerations': [TAINT], 'affinity': AFFINITY})}",
    'interruptible.node_selector={propwash.dev/spot: "true"}',
    'interruptible.tolerations=[{key: propwash.dev/spot, value: "true", effect: NoSchedule}]',
]
ARM = {"propwash.dev/architecture": "arm64"}


def labelled(name: str, labels: Mapping[str, str], node: Mapping[str, str] = {}) -> Document:
    made = pod(name, script=Script(), node=node)
    made["metadata"]["labels"] = dict(labels)
    return made


@asynccontextmanager
async def hooked(at: Space, folder: Path, *, fail_open: bool = False) -> AsyncIterator[None]:
    """The webhook serves, and the API server asks it about pods of this namespace."""
    certificate, key = await to_thread.run_sync(self_signed, folder)
    loaded = await to_thread.run_sync(Certificate, str(certificate), str(key))
    rules = placement_rules(await to_thread.run_sync(load, None, SETS, {}))
    async with answering(rules, loaded, "127.0.0.1:0") as webhook:
        client = {"url": f"https://{webhook.address}{PATH}"}
        ca = await anyio.Path(certificate).read_bytes()
        async with registered(at, configuration(client, ca, fail_open=fail_open, timeout_seconds=5)):
            yield


@asynccontextmanager
async def registered(at: Space, made: Document) -> AsyncIterator[None]:
    made["metadata"]["name"] = f"t-{uuid.uuid4().hex[:8]}"
    made["webhooks"][0]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": at.name}}
    await at.api.create(HOOKS, made)
    try:
        # An API server takes a moment to know of a new webhook: until then a label of no architecture is let through.
        await refused_in_the_end(at, **{"propwash.dev/architecture": "sparc"})
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await at.api.delete(f"{HOOKS}/{made['metadata']['name']}")


async def test_pods_run_on_the_nodes_of_their_label(tmp_path: Path) -> None:
    async with space() as at, hooked(at, tmp_path):
        await at.run(labelled("arm", ARM))
        await at.run(labelled("spot", {**ARM, "interruptible": "true"}, node={"kubernetes.io/os": "linux"}))
        await at.run(labelled("amd", {"propwash.dev/architecture": "amd64"}))
        await at.run(labelled("none", {"app": "x"}, node={"kubernetes.io/arch": "amd64"}))
        done = await at.until(lambda pods: len(pods) == 4 and ended(pods))
        assert {name: each["spec"]["nodeName"] for name, each in done.items()} == {
            "arm": "arm64",
            "spot": "spot-arm64",
            "amd": "amd64",
            "none": "amd64",
        }
        assert done["arm"]["spec"]["affinity"] == done["spot"]["spec"]["affinity"] == AFFINITY
        assert "affinity" not in done["amd"]["spec"]
        assert done["spot"]["spec"]["nodeSelector"] == {
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "arm64",
            **SPOT_LABEL,
        }


async def test_a_second_webhook_of_ours_finds_nothing_to_add(tmp_path: Path) -> None:
    (first, second) = tmp_path / "a", tmp_path / "b"
    await anyio.Path(first).mkdir()
    await anyio.Path(second).mkdir()
    async with space() as at, hooked(at, first), hooked(at, second):
        await at.run(labelled("arm", ARM))
        (found,) = [each for name, each in (await at.pods()).items() if name == "arm"]
        own = [it for it in found["spec"]["tolerations"] if it["key"] == "kubernetes.io/arch"]
        assert own == [TAINT]
        assert found["spec"]["affinity"] == AFFINITY


async def test_a_contradiction_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with space() as at, hooked(at, tmp_path):
        with pytest.raises(ApiError) as caught:
            await at.run(labelled("arm", ARM, node={"kubernetes.io/arch": "amd64"}))
        assert caught.value.status == 403
        assert "ArchitectureConflict: the pod asks for nodes with kubernetes.io/arch=amd64" in caught.value.body
        with pytest.raises(ApiError, match="403") as caught:
            await at.run(labelled("v6", {"propwash.dev/architecture": "arm-v6"}))
        assert "configured: amd64, arm64" in caught.value.body
        assert "arm" not in await at.pods()


@pytest.mark.parametrize("fail_open", [True, False])
async def test_while_no_webhook_answers_the_policy_decides(fail_open: bool, tmp_path: Path) -> None:
    async with space() as at:
        certificate, _ = await to_thread.run_sync(self_signed, tmp_path)
        ca, nobody = await anyio.Path(certificate).read_bytes(), {"url": "https://127.0.0.1:1/mutate"}
        made = configuration(nobody, ca, fail_open=fail_open, timeout_seconds=1)
        made["metadata"]["name"] = f"t-{uuid.uuid4().hex[:8]}"  # type: ignore[index]
        made["webhooks"][0]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": at.name}}  # type: ignore[index]
        await at.api.create(HOOKS, made)
        try:
            if fail_open:
                await at.run(labelled("arm", ARM))
            else:
                refusal = await refused_in_the_end(at)
                assert refusal.status == 500
                assert "failed calling webhook" in refusal.body
            await at.run(labelled("plain", {}))
        finally:
            await at.api.delete(f"{HOOKS}/{made['metadata']['name']}")  # type: ignore[index]


async def refused_in_the_end(at: Space, **labels: str) -> ApiError:
    """The first refusal of a labelled pod. Raises TimeoutError."""
    with anyio.fail_after(30):
        for number in range(10_000):
            try:
                await at.run(labelled(f"try-{number}", labels or ARM))
            except ApiError as error:
                return error
            await at.delete(f"try-{number}", 0)
    raise AssertionError("it was never refused")
