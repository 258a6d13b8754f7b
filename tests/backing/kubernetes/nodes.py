"""Nodes as the API knows them: how they are made, and how the test kubelet keeps them ready."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from tests.backing.kubernetes.api import STRATEGIC, Api, ApiError, Document
from tests.backing.kubernetes.specs import NODE_LABEL
from tests.backing.kubernetes.statuses import stamp

ARM_TAINT = {"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}
SPOT_TAINT = {"key": "propwash.dev/spot", "value": "true", "effect": "NoSchedule"}
SPOT_LABEL = {"propwash.dev/spot": "true"}
BROKEN = "propwash.dev/test-broken"
"""An annotation with which a node is not ready."""
ROOM = {"cpu": "4000", "memory": "16Ti", "pods": "20000", "ephemeral-storage": "100Ti"}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def node(
    name: str,
    architecture: str,
    *,
    labels: Mapping[str, str] = {},
    taints: Iterable[Document] = (),
    room: Mapping[str, str] = ROOM,
) -> Document:
    """What is asked of the API; `room` is what all pods of the node may ask for."""
    own = {NODE_LABEL: "true", "kubernetes.io/arch": architecture, "kubernetes.io/os": "linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**own, "kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": list(taints)},
        "status": {"capacity": dict(room), "allocatable": dict(room)},
    }


USUAL = (
    node("amd64", "amd64"),
    node("arm64", "arm64", taints=[ARM_TAINT]),
    node("spot-amd64", "amd64", labels=SPOT_LABEL, taints=[SPOT_TAINT]),
    node("spot-arm64", "arm64", labels=SPOT_LABEL, taints=[ARM_TAINT, SPOT_TAINT]),
)


async def make_ready(api: Api, found: Document, port: int) -> None:
    """Write the status a kubelet writes, and take off the taints that a controller takes off of a ready node."""
    meta = found["metadata"]
    path = f"/api/v1/nodes/{meta['name']}"
    ready = BROKEN not in meta.get("annotations", {})
    told = {"status": str(ready), "reason": "KubeletReady" if ready else "KubeletNotReady"}
    room = found["status"].get("allocatable") or ROOM
    condition = {"type": "Ready", "lastHeartbeatTime": stamp(time.time()), **told}
    architecture = meta["labels"]["kubernetes.io/arch"]
    status: Document = {
        "capacity": room,
        "allocatable": room,
        "conditions": [condition],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": _INFO | {"architecture": architecture},
    }
    await api.patch(f"{path}/status", {"status": status}, STRATEGIC)
    others = [each for each in found["spec"].get("taints", []) if each["key"] != "node.kubernetes.io/not-ready"]
    added = [] if ready else [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    await api.patch(path, {"spec": {"taints": others + added}})


async def renew_lease(api: Api, name: str) -> None:
    now = stamp(time.time()).replace("Z", ".000000Z")
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now}
    try:
        await api.patch(f"{LEASES}/{name}", {"spec": spec})
    except ApiError as error:
        if error.status != 404:
            raise
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}
        await api.create(LEASES, lease)


_INFO = {
    "architecture": "",
    "bootID": "",
    "containerRuntimeVersion": "test://1",
    "kernelVersion": "",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.3-test",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "",
    "systemUUID": "",
}
