"""How a cluster is reached: by a kubeconfig, or from inside a pod. The one place that knows the client library."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from anyio import to_thread
from kubernetes_asyncio import config
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config.config_exception import ConfigException
from msgspec import Struct, structs

from engine.model.errors import BadInput

_NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"


@dataclass(frozen=True, slots=True)
class Login:
    """Which cluster, and as whom."""

    kubeconfig: str | None = None
    """Path; None: what KUBECONFIG names, the service account of the pod that this runs in, or ~/.kube/config."""
    context: str | None = None
    """None: the file's current one."""


class Access(Struct, frozen=True):
    """What every call needs."""

    url: str
    headers: Mapping[str, str]
    tls: ssl.SSLContext | bool
    proxy: str | None
    server_hostname: str | None
    configuration: Configuration


async def log_in(login: Login) -> Access:
    """Addresses, certificates and tokens, read anew. Raises BadInput naming the file or context."""
    return await to_thread.run_sync(asyncio.run, _log_in(login))


async def renewed(access: Access) -> Access:
    """With the token as it is now, by the client library's own rules: a mounted one is replaced now and then."""
    headers = await to_thread.run_sync(asyncio.run, _authorization(access.configuration))
    return structs.replace(access, headers=headers)


async def _log_in(login: Login) -> Access:
    found: Configuration = Configuration()
    try:
        if login.kubeconfig is None and login.context is None and "KUBECONFIG" not in os.environ and in_a_pod():
            config.load_incluster_config(client_configuration=found)
        else:
            await config.load_kube_config(
                config_file=login.kubeconfig,
                context=login.context,
                client_configuration=found,
                persist_config=False,
            )
        headers, tls = await _authorization(found), _tls(found)
    except (ConfigException, OSError, ValueError) as error:
        where = login.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
        which = f", context {login.context!r}," if login.context else ""
        raise BadInput(f"the cluster can't be reached: kubeconfig {where}{which} can't be used: {error}") from error
    return Access(str(found.host), headers, tls, found.proxy, found.tls_server_name, found)


def in_a_pod() -> bool:
    return "KUBERNETES_SERVICE_HOST" in os.environ


async def _authorization(configuration: Configuration) -> dict[str, str]:
    token = await configuration.get_api_key_with_prefix("BearerToken")
    if token:
        return {"Authorization": str(token)}
    return {"Authorization": str(configuration.get_basic_auth_token())} if configuration.username else {}


def _tls(configuration: Configuration) -> ssl.SSLContext | bool:
    if not str(configuration.host).startswith("https"):
        return True
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def own_namespace() -> str:
    """Of the pod that this runs in, else `default`."""
    try:
        with open(_NAMESPACE_FILE) as file:
            return file.read().strip() or "default"
    except OSError:
        return "default"
