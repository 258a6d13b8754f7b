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
from kubernetes_asyncio.config.kube_config import KubeConfigMerger
from msgspec import Struct, structs
from yaml import YAMLError

from engine.model.errors import BadInput

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_NAMESPACE_FILE = f"{_ACCOUNT}/namespace"
_STARTED = "nothing was started"


@dataclass(frozen=True, slots=True)
class Login:
    """Which cluster, and as whom."""

    kubeconfig: str | None = None
    """Path; None: what KUBECONFIG names, the service account of the pod that this runs in, or ~/.kube/config."""
    context: str | None = None
    """None: the file's current one."""
    asked_by: str = "kubernetes.context"
    """Setting that names the context, for messages."""

    def __str__(self) -> str:
        """As messages name it."""
        if self.by_service_account:
            return "the cluster of this pod's service account"
        context = f"context {self.context!r} ({self.asked_by})" if self.context else "the current context"
        return f"{context} of kubeconfig {os.pathsep.join(self.files)}"

    @property
    def by_service_account(self) -> bool:
        return self.kubeconfig is None and self.context is None and "KUBECONFIG" not in os.environ and in_a_pod()

    @property
    def files(self) -> list[str]:
        """That are looked for; the first ones win."""
        named = self.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
        return [os.path.expanduser(path) for path in named.split(os.pathsep)]


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
    if not login.by_service_account and not any(map(os.path.exists, login.files)):
        raise BadInput(_no_file(login))
    try:
        if login.by_service_account:
            config.load_incluster_config(client_configuration=found)
        else:
            await config.load_kube_config(
                config_file=os.pathsep.join(login.files),
                context=login.context,
                client_configuration=found,
                persist_config=False,
            )
        headers, tls = await _authorization(found), _tls(found)
    except (ConfigException, YAMLError, OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        # What is no kubeconfig at all makes the library stumble in any of these ways.
        raise BadInput(_problem(login, error)) from error
    return Access(str(found.host), headers, tls, found.proxy, found.tls_server_name, found)


def _no_file(login: Login) -> str:
    if login.kubeconfig:
        said = "kubernetes.kubeconfig"
    elif "KUBECONFIG" in os.environ:
        said = "KUBECONFIG"
    else:
        said = "kubernetes.kubeconfig is null, KUBECONFIG is not set, and this is no pod of a cluster"
    expected = "expected a file with clusters and users, as kubectl reads it"
    return f"{said}: there is no kubeconfig {os.pathsep.join(login.files)}; {expected}; {_STARTED}"


def _problem(login: Login, error: Exception) -> str:
    if login.by_service_account:
        return f"{login} can't be used: {error}; expected its token and certificate in {_ACCOUNT}; {_STARTED}"
    known = _contexts(login)
    if known and login.context and login.context not in known:
        said = f"{login.asked_by}: kubeconfig {os.pathsep.join(login.files)} has no context {login.context!r}"
        return f"{said}; expected one of {', '.join(known)}; {_STARTED}"
    there = f", with one of the contexts {', '.join(known)}" if known and not login.context else ""
    return f"{login} can't be used: {error}; expected a file with clusters and users{there}; {_STARTED}"


def _contexts(login: Login) -> list[str]:
    """Names; empty where the file is no kubeconfig."""
    try:
        merged = KubeConfigMerger(os.pathsep.join(login.files)).config
        return [str(context["name"]) for context in merged.value["contexts"]] if merged else []
    except (YAMLError, OSError, ValueError, AttributeError, TypeError, KeyError):
        return []


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
