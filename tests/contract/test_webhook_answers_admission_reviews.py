"""The admission webhook over TLS: what a real API server sends, what it gets, and certificates that are replaced."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest
import yaml
from anyio import to_thread

from config.load import load
from engine.cli.webhook import print_configuration
from engine.gateway.tls import Certificate
from engine.gateway.webhook import Webhook, answering
from engine.model.errors import BadInput
from engine.routing import placement_rules
from tests.backing.kubernetes.certificates import self_signed
from tests.environment import no_settings_of_others

__all__ = ["no_settings_of_others"]

SETS = ["architectures.amd64={}", "architectures.arm64={tolerations: [{key: kubernetes.io/arch, value: arm64}]}"]
RULES = placement_rules(load(None, SETS, {}))


def review(labels: dict[str, str], **spec: object) -> dict[str, Any]:
    """As an API server of Kubernetes 1.36 sends it when a pod is created (managed fields left out)."""
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "driver", "namespace": "spark", "creationTimestamp": None, "labels": labels},
        "spec": {
            "containers": [{"name": "c", "image": "spark", "resources": {}}],
            "restartPolicy": "Never",
            "schedulerName": "default-scheduler",
            **spec,
        },
        "status": {},
    }
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": "driver",
            "namespace": "spark",
            "operation": "CREATE",
            "userInfo": {"username": "admin", "groups": ["system:authenticated"]},
            "object": pod,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    }


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Webhook, Path, Certificate]]:
    certificate, key = await to_thread.run_sync(self_signed, folder)
    loaded = await to_thread.run_sync(Certificate, str(certificate), str(key))
    async with answering(RULES, loaded, "127.0.0.1:0") as webhook:
        yield webhook, certificate, loaded


async def ask(webhook: Webhook, trusted: Path, body: object, path: str = "/mutate") -> tuple[int, Any]:
    context = ssl.create_default_context(cafile=str(trusted))
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session,
        session.post(f"https://{webhook.address}{path}", json=body) as reply,
    ):
        text = await reply.text()
        return reply.status, json.loads(text) if reply.content_type == "application/json" else text


async def test_a_labelled_pod_is_patched(tmp_path: Path) -> None:
    async with serving(tmp_path) as (webhook, certificate, _):
        status, told = await ask(webhook, certificate, review({"propwash.dev/architecture": "arm64"}))
    assert status == 200
    patch = json.loads(base64.b64decode(told["response"].pop("patch")))
    assert told == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": True, "patchType": "JSONPatch"},
    }
    assert patch == [
        {"op": "add", "path": "/spec/nodeSelector", "value": {"kubernetes.io/arch": "arm64"}},
        {"op": "add", "path": "/spec/tolerations", "value": [{"key": "kubernetes.io/arch", "value": "arm64"}]},
    ]


async def test_a_pod_that_has_it_all_and_one_without_label_are_let_through(tmp_path: Path) -> None:
    labelled = review({"propwash.dev/architecture": "amd64"}, nodeSelector={"kubernetes.io/arch": "amd64"})
    async with serving(tmp_path) as (webhook, certificate, _):
        for body in (labelled, review({"app": "x"})):
            _, told = await ask(webhook, certificate, body)
            assert told["response"] == {"uid": body["request"]["uid"], "allowed": True}


async def test_a_contradiction_is_refused_with_the_reason(tmp_path: Path) -> None:
    body = review({"propwash.dev/architecture": "arm64"}, nodeSelector={"kubernetes.io/arch": "amd64"})
    async with serving(tmp_path) as (webhook, certificate, _):
        _, told = await ask(webhook, certificate, body)
    assert told["response"] == {
        "uid": body["request"]["uid"],
        "allowed": False,
        "status": {
            "code": 403,
            "reason": "Forbidden",
            "message": "ArchitectureConflict: the pod asks for nodes with kubernetes.io/arch=amd64, but architecture "
            "arm64 needs kubernetes.io/arch=arm64; nothing was started",
        },
    }


@pytest.mark.parametrize("body", [{}, [], {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"}])
async def test_what_is_no_review_is_no_answer(body: object, tmp_path: Path) -> None:
    async with serving(tmp_path) as (webhook, certificate, _):
        status, told = await ask(webhook, certificate, body)
    assert status == 400
    assert told.startswith("this is no AdmissionReview of admission.k8s.io/v1: ")


async def test_a_certificate_that_is_replaced_is_shown_to_whoever_connects_then(tmp_path: Path) -> None:
    old, new, kept = tmp_path / "old", tmp_path / "new", tmp_path / "kept.crt"
    await anyio.Path(old).mkdir()
    await anyio.Path(new).mkdir()
    async with serving(old) as (webhook, certificate, loaded):
        await anyio.Path(kept).write_bytes(await anyio.Path(certificate).read_bytes())
        other, key = await to_thread.run_sync(self_signed, new)

        await anyio.Path(certificate).write_bytes(b"half a certif")
        await to_thread.run_sync(loaded.refresh)
        assert (await ask(webhook, kept, review({})))[0] == 200

        await anyio.Path(key).replace(old / key.name)
        await anyio.Path(other).replace(certificate)
        await to_thread.run_sync(loaded.refresh)
        assert (await ask(webhook, certificate, review({})))[0] == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(webhook, kept, review({}))


@pytest.mark.looptime
async def test_it_is_looked_for_every_five_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = await to_thread.run_sync(self_signed, tmp_path)
    loaded = await to_thread.run_sync(Certificate, str(certificate), str(key))
    looks: list[float] = []
    monkeypatch.setattr(loaded, "refresh", lambda: looks.append(anyio.current_time()))

    async def at_once(look: Callable[[], None]) -> None:
        look()

    monkeypatch.setattr("engine.gateway.tls.to_thread.run_sync", at_once)
    with anyio.move_on_after(12):
        await loaded.keep_fresh()
    assert looks == pytest.approx([5, 10])


async def test_a_certificate_that_can_t_be_used_starts_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"certificate .*/none\.crt with key .*/none\.key can't be used: .*No such file"):
        await to_thread.run_sync(Certificate, str(tmp_path / "none.crt"), str(tmp_path / "none.key"))


async def test_a_port_that_is_taken_starts_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as (webhook, _, loaded):
        with pytest.raises(BadInput, match=f"the webhook can't listen at {webhook.address}: "):
            async with answering(RULES, loaded, webhook.address):
                pass


def test_the_configuration_of_a_cluster_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, _ = self_signed(tmp_path)
    sets = [f"webhook.certificate_file={certificate}", "webhook.fail_open=true"]
    assert print_configuration(None, sets, url=None, service="engines/hook") == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    (hook,) = printed["webhooks"]
    assert hook["clientConfig"] == {
        "service": {"namespace": "engines", "name": "hook", "path": "/mutate"},
        "caBundle": base64.b64encode(certificate.read_bytes()).decode(),
    }
    assert hook["failurePolicy"] == "Ignore"
    assert hook["objectSelector"] == {
        "matchExpressions": [{"key": "propwash.dev/architecture", "operator": "Exists"}],
    }
    assert print_configuration(None, sets[:1], url="https://127.0.0.1:9443/mutate", service="x/y") == 0
    (hook,) = yaml.safe_load(capsys.readouterr().out)["webhooks"]
    assert hook["clientConfig"]["url"] == "https://127.0.0.1:9443/mutate"
    assert hook["failurePolicy"] == "Fail"


def test_what_is_no_certificate_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "x.crt").write_text("nothing")
    with pytest.raises(BadInput, match="can't be used"):
        print_configuration(None, [f"webhook.ca_file={tmp_path}/x.crt"], url=None, service="a/b")
