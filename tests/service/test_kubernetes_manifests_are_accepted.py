"""config/kubernetes on a real API server: every object is taken, and the engine's rights are exactly those it needs."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests.backing.kubernetes.api import Api, ApiError
from tests.clusters import Space, ended, pod, space
from tests.manifests import KUBECTL, built, one

pytestmark = [
    pytest.mark.service("kubernetes"),
    pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed"),
]

PLACES = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "Namespace": "/api/v1/namespaces",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "Service": "/api/v1/namespaces/{}/services",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
}
STRANGERS = {"Certificate", "Issuer", "PodMonitor"}
"""Kinds that other operators define."""


async def test_every_object_is_taken() -> None:
    """As a dry run, in a namespace of the test's own: nothing stays."""
    async with space() as at:
        for made in built("example"):
            kind = made["kind"]
            if kind in STRANGERS:
                continue
            if "namespace" in made["metadata"]:
                made = {**made, "metadata": {**made["metadata"], "namespace": at.name}}
            path = PLACES[kind].format(at.name)
            # Strict: a field that the API does not know is an error, and not left out.
            await at.api.create(f"{path}?dryRun=All&fieldValidation=Strict", made)


async def test_a_field_that_there_is_not_would_be_found() -> None:
    wrong = one("engine", "StatefulSet", "propwash")
    wrong = {**wrong, "metadata": {"name": "propwash"}, "spec": {**wrong["spec"], "replica": 2}}
    async with space() as at:
        with pytest.raises(ApiError, match="unknown field"):
            await at.api.create(f"{PLACES['StatefulSet'].format(at.name)}?dryRun=All&fieldValidation=Strict", wrong)


@asynccontextmanager
async def as_the_engine(at: Space, tasks: Space) -> AsyncIterator[Api]:
    """The API as the service account of an engine in one namespace, with rights in another, by our own manifests."""
    created = []
    subject = {"kind": "ServiceAccount", "name": "propwash", "namespace": at.name}
    for kind, name in (
        ("ClusterRole", "propwash-tasks"),
        ("ClusterRole", "propwash-nodes"),
        ("ClusterRoleBinding", "propwash-nodes"),
        ("RoleBinding", "propwash-tasks"),
    ):
        made = {**one("example", kind, name)}
        own = f"{name}-{at.name}"
        if "roleRef" in made:
            role = {**made["roleRef"], "name": f"{made['roleRef']['name']}-{at.name}"}
            made |= {"roleRef": role, "subjects": [subject]}
        made["metadata"] = {"name": own}
        path = PLACES[kind].format(tasks.name)
        await at.api.create(path, made)
        created.append(f"{path}/{own}")
    try:
        await at.api.create(PLACES["ServiceAccount"].format(at.name), {"metadata": {"name": "propwash"}})
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = (await at.api.create(f"{at.path}/serviceaccounts/propwash/token", asked))["status"]["token"]
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        headers = {"Authorization": f"Bearer {token}"}
        connector = aiohttp.TCPConnector(ssl=trust)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            yield Api(session, at.api.url)
    finally:
        for path in created:
            await at.api.delete(path)


async def refused(call: Awaitable[object]) -> None:
    with pytest.raises(ApiError) as caught:
        await call
    assert caught.value.status == 403


async def test_the_engine_may_run_pods_where_it_is_bound_and_nothing_else() -> None:
    async with space("e") as at, space("t") as tasks, as_the_engine(at, tasks) as api:
        path = f"{tasks.path}/pods"
        await api.create(path, pod("one", "echo", "done"))
        await api.patch(f"{path}/one", {"metadata": {"annotations": {"a": "b"}}})
        await tasks.until(ended)
        assert (await api.get(f"{path}/one"))["metadata"]["annotations"]["a"] == "b"
        assert len((await api.list(path)).items) == 1
        async with api.session.get(f"{api.url}{path}/one/log") as reply:
            assert await reply.text() == "done\n"
        watched = api.watch(path, timeoutSeconds="1", resourceVersion="0")
        assert (await anext(watched)).type == "ADDED"
        await watched.aclose()  # type: ignore[attr-defined]
        await api.delete(f"{path}/one")
        assert (await api.list("/api/v1/nodes", limit="1")).items
        with pytest.raises(ApiError, match="404"):
            await api.get(f"{tasks.path}/podtemplates/none")

        for other in (
            f"{at.path}/pods",
            "/api/v1/pods",
            f"{tasks.path}/secrets",
            f"{tasks.path}/configmaps",
            f"{tasks.path}/podtemplates",
            "/api/v1/nodes/amd64",
            "/api/v1/namespaces",
        ):
            await refused(api.get(other))
        await refused(api.create(f"{at.path}/pods", pod("no")))
        await refused(api.delete(path))
