"""The admission webhook: Kubernetes asks it about each labelled pod that somebody creates.

https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import msgspec
from aiohttp import web
from msgspec import Struct

from engine.gateway.tls import Certificate
from engine.machine.admission import amend
from engine.model.architectures import PLAN_LABEL
from engine.model.errors import BadInput, Permanent
from engine.model.placement import PlacementRules

log = logging.getLogger(__name__)

PATH = "/mutate"
NAME = "architecture.propwash.dev"
LARGEST = 8 * 2**20
"""Bytes of a question; an object in etcd has 1.5 MiB at most, and an update brings the old one, too."""
SHUTDOWN_SECONDS = 5.0


class _Question(Struct):
    uid: str
    pod: dict[str, object] | None = msgspec.field(name="object", default=None)
    """None where something is deleted."""


class _Review(Struct):
    request: _Question
    api_version: Literal["admission.k8s.io/v1"] = msgspec.field(name="apiVersion")
    kind: Literal["AdmissionReview"]


class Webhook:
    def __init__(self, rules: PlacementRules) -> None:
        self._rules = rules
        self.address = ""
        """HOST:PORT where it really listens."""

    def app(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST)
        app.router.add_post(PATH, self._mutate)
        app.router.add_get("/healthz", _healthy)
        return app

    async def _mutate(self, request: web.Request) -> web.Response:
        try:
            review = msgspec.json.decode(await request.read(), type=_Review)
        except msgspec.MsgspecError as problem:
            return web.Response(status=400, text=f"this is no AdmissionReview of admission.k8s.io/v1: {problem}")
        return web.json_response(answer(review.request.uid, review.request.pod, self._rules))


async def _healthy(request: web.Request) -> web.Response:
    return web.Response(text="ok")


def answer(uid: str, pod: dict[str, object] | None, rules: PlacementRules) -> dict[str, object]:
    """The AdmissionReview that answers a question about a pod."""
    response: dict[str, object] = {"uid": uid, "allowed": True}
    try:
        steps = amend(pod or {}, rules)
    except Permanent as verdict:
        failure = verdict.failure
        log.info("a pod is refused", extra={"uid": uid, "code": failure.code, "cause": failure.message})
        status = {"code": 403, "reason": "Forbidden", "message": f"{failure.code}: {failure.message}"}
        response |= {"allowed": False, "status": status}
    else:
        if steps:
            patch = base64.b64encode(msgspec.json.encode(steps)).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@asynccontextmanager
async def answering(rules: PlacementRules, certificate: Certificate, listen: str) -> AsyncIterator[Webhook]:
    """Raises BadInput where it can't listen."""
    host, _, port = listen.rpartition(":")
    webhook = Webhook(rules)
    runner = web.AppRunner(webhook.app(), access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host.strip("[]"), int(port), ssl_context=certificate.context)
        try:
            await site.start()
        except OSError as problem:
            raise BadInput(f"the webhook can't listen at {listen}: {problem}; nothing was started") from problem
        webhook.address = f"{host}:{runner.addresses[0][1]}"
        async with anyio.create_task_group() as group:
            group.start_soon(certificate.keep_fresh)
            yield webhook
            group.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(2 * SHUTDOWN_SECONDS, shield=True):
            await runner.cleanup()


def configuration(
    client: Mapping[str, object], ca: bytes, *, fail_open: bool, timeout_seconds: int
) -> dict[str, object]:
    """The MutatingWebhookConfiguration. client: `{"url": ...}` or `{"service": {...}}`. ca: PEM."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "*"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "propwash-architecture"},
        "webhooks": [
            {
                "name": NAME,
                "clientConfig": {**client, "caBundle": base64.b64encode(ca).decode()},
                "rules": [rule],
                "objectSelector": {"matchExpressions": [{"key": PLAN_LABEL, "operator": "Exists"}]},
                "failurePolicy": "Ignore" if fail_open else "Fail",
                "reinvocationPolicy": "IfNeeded",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "timeoutSeconds": timeout_seconds,
            }
        ],
    }
