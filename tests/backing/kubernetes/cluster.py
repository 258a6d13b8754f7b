"""The cluster of a run: control plane, test kubelet and its nodes; or these two only, in a cluster that is there."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import yaml

from tests.backing import server
from tests.backing.kubernetes import programs
from tests.backing.kubernetes.api import Document, connect
from tests.backing.kubernetes.control_plane import ENGINE, ControlPlane
from tests.backing.kubernetes.nodes import USUAL

ROOT = Path(__file__).parents[3]
EXISTING = "USE_EXISTING_CLUSTER"
"""controller-runtime's name: with `true`, the cluster of KUBECONFIG gets the test's nodes, and pods on them."""
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
ROLE: Document = {
    "metadata": {"name": "propwash-test-engine"},
    "rules": [
        rule
        for made in yaml.safe_load_all((ROOT / "config/kubernetes/engine/roles.yaml").read_text())
        if made["kind"] == "ClusterRole"
        for rule in made["rules"]
    ],
}
"""What the engine may do: the rights that an operator gives it, and no others."""


class Cluster:
    """`plane` is None where the cluster is not ours."""

    def __init__(self) -> None:
        self.plane = None if _there_is_one() else ControlPlane()
        given = os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config"
        self.kubeconfig = self.plane.kubeconfig if self.plane else Path(given)
        self._kubelet = server.Server("kubelet", server.new_data("kubelet"))

    def start(self) -> None:
        """Raises NotStarted."""
        try:
            if self.plane:
                self.plane.start()
                asyncio.run(self._let_the_engine_in())
            words = [sys.executable, "-m", "tests.backing.kubernetes.kubelet", str(self.kubeconfig)]
            self._kubelet.start(words, {"PYTHONPATH": str(ROOT)}, lambda: asyncio.run(self._nodes_are_ready()))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._kubelet.stop()
        if self.plane:
            self.plane.stop()

    async def _let_the_engine_in(self) -> None:
        reference = {"kind": "ClusterRole", "name": ROLE["metadata"]["name"], "apiGroup": GROUP}
        subject = {"kind": "User", "name": ENGINE, "apiGroup": GROUP}
        async with connect(self.kubeconfig) as api:
            await api.create(f"{RBAC}/clusterroles", ROLE)
            binding = {"metadata": ROLE["metadata"], "subjects": [subject], "roleRef": reference}
            await api.create(f"{RBAC}/clusterrolebindings", binding)

    async def _nodes_are_ready(self) -> bool:
        async with connect(self.kubeconfig) as api:
            nodes = {node["metadata"]["name"]: node for node in (await api.get("/api/v1/nodes"))["items"]}
        mine = [nodes[each["metadata"]["name"]] for each in USUAL if each["metadata"]["name"] in nodes]
        return len(mine) == len(USUAL) and not any(
            "not-ready" in taint["key"] for node in mine for taint in node["spec"].get("taints", [])
        )


def missing() -> str:
    """Why it can't be had here; empty = it can."""
    return "" if _there_is_one() else programs.missing()


def start() -> tuple[Cluster, str]:
    """A fresh cluster and its kubeconfig."""
    started = Cluster()
    started.start()
    return started, str(started.kubeconfig)


def _there_is_one() -> bool:
    return os.environ.get(EXISTING) == "true"
