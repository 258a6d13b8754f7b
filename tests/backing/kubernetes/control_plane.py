"""etcd, API server and scheduler as three processes: TLS, tokens, roles and admission as in a cluster."""

from __future__ import annotations

import secrets
import shutil
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable

import yaml

from tests.backing import server
from tests.backing.kubernetes import programs
from tests.backing.kubernetes.certificates import self_signed

ADMIN, ENGINE = "admin", "engine"
"""Users, and the contexts of the kubeconfig: who may do anything, and who may do what roles say."""


class ControlPlane:
    """Its data goes with it. The API server can be killed and begun again: etcd keeps what it knew."""

    def __init__(self) -> None:
        self._etcd = server.Server("etcd", server.new_data("etcd"))
        self.api = server.Server("kube-apiserver", server.new_data("kube-apiserver"))
        self._scheduler = server.Server("kube-scheduler", server.new_data("kube-scheduler"))
        self._etcd_port, self._peers, self._port = server.free_ports(3)
        self.url = f"https://127.0.0.1:{self._port}"
        self._token = secrets.token_hex(16)
        self._certificate, self._key = self_signed(self.api.data)
        self.kubeconfig = self.api.data / "kubeconfig"

    def start(self) -> None:
        """Raises NotStarted."""
        self._write_users()
        try:
            self._etcd.start(self._etcd_words(), {}, answers(f"http://127.0.0.1:{self._etcd_port}/readyz"))
            self.begin()
            self._scheduler.start(self._scheduler_words(), {}, self._knows_the_scheduler)
        except server.NotStarted:
            self.stop()
            raise

    def begin(self) -> None:
        """Start the API server, for the first time or again. Raises NotStarted."""
        self.api.start(self._api_words(), {}, self._is_ready)

    def stop(self) -> None:
        for each in (self._scheduler, self.api, self._etcd):
            each.stop()

    def _etcd_words(self) -> list[str]:
        clients, peers = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peers}"
        options = {
            "data-dir": self._etcd.data / "data",
            "listen-client-urls": clients,
            "advertise-client-urls": clients,
            "listen-peer-urls": peers,
            "initial-advertise-peer-urls": peers,
            "initial-cluster": f"default={peers}",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        return _words("etcd", options)

    def _api_words(self) -> list[str]:
        options = {
            "etcd-servers": f"http://127.0.0.1:{self._etcd_port}",
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "secure-port": self._port,
            "tls-cert-file": self._certificate,
            "tls-private-key-file": self._key,
            "token-auth-file": self.api.data / "tokens.csv",
            "anonymous-auth": "false",
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self._key,
            "service-account-signing-key-file": self._key,
            "service-cluster-ip-range": "10.0.0.0/24",
            "kubelet-preferred-address-types": "InternalIP",
            "profiling": "false",
        }
        return _words("kube-apiserver", options)

    def _scheduler_words(self) -> list[str]:
        (port,) = server.free_ports(1)
        options = {
            "kubeconfig": self.kubeconfig,
            "authentication-kubeconfig": self.kubeconfig,
            "authorization-kubeconfig": self.kubeconfig,
            "bind-address": "127.0.0.1",
            "secure-port": port,
            "leader-elect": "false",
            "kube-api-qps": 5000,
            "kube-api-burst": 5000,
        }
        self._scheduler_ready = answers(f"https://127.0.0.1:{port}/readyz", ssl._create_unverified_context())
        return _words("kube-scheduler", options)

    def _is_ready(self) -> bool:
        trust = ssl.create_default_context(cafile=str(self._certificate))
        return answers(f"{self.url}/readyz", trust, self._token)()

    def _knows_the_scheduler(self) -> bool:
        return self._scheduler_ready()

    def _write_users(self) -> None:
        tokens = {ADMIN: self._token, ENGINE: secrets.token_hex(16)}
        groups = {ADMIN: ',"system:masters"', ENGINE: ""}
        lines = [f"{token},{user},{user}{groups[user]}\n" for user, token in tokens.items()]
        (self.api.data / "tokens.csv").write_text("".join(lines))
        self.kubeconfig.write_text(kubeconfig(self.url, tokens, str(self._certificate)))


def kubeconfig(url: str, tokens: dict[str, str], authority: str = "") -> str:
    """A context for each user, of the same name; the first one is the current one."""
    cluster = {"server": url, **({"certificate-authority": authority} if authority else {})}
    names = list(tokens)
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}} for name, token in tokens.items()],
        "contexts": [{"name": name, "context": {"cluster": "tests", "user": name}} for name in names],
        "current-context": names[0],
    }
    return yaml.safe_dump(document, sort_keys=False)


def answers(url: str, trust: ssl.SSLContext | None = None, token: str = "") -> Callable[[], bool]:
    """Whether a server says 200 there."""

    def ask() -> bool:
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=5, context=trust) as reply:
                return bool(reply.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    return ask


def _words(program: str, options: dict[str, object]) -> list[str]:
    path = shutil.which(programs.where() / program)
    return [str(path or program), *(f"--{name}={value}" for name, value in options.items())]
