"""What a pod has printed so far, for somebody who looks once and watches nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from engine.adapters.kubernetes.access import Login
from engine.adapters.kubernetes.classify import Do, on_read
from engine.adapters.kubernetes.cluster import CallFailed, Cluster, decoded
from engine.adapters.kubernetes.clusters import context_of, namespace_of
from engine.adapters.kubernetes.logs import printed
from engine.adapters.kubernetes.naming import pod_name
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.pace import Pace
from engine.adapters.kubernetes.status import Pod
from engine.model.errors import Transient
from engine.model.ids import AttemptKey


async def look(options: ClusterOptions, key: AttemptKey) -> AsyncGenerator[bytes, None]:
    """Nothing where there is no pod of the attempt, or it has not begun. Raises BadInput for a login that can't be
    used, Transient."""
    login = Login(options.kubeconfig, context_of(options, key.execution))
    path = f"/api/v1/namespaces/{namespace_of(options, key.execution)}/pods"
    async with Cluster.open(login, Pace(options.per_second, options.burst), 1) as cluster:
        try:
            pod = decoded(await cluster.get(f"{path}/{pod_name(key)}"), Pod)
        except CallFailed as problem:
            if on_read(problem.answer).do is Do.GONE:
                return
            raise Transient(f"pod {pod_name(key)} can't be looked at: {login}: {problem}") from problem
        if pod.key != key:
            return
        async with aclosing(printed(cluster, path, pod)) as pieces:
            async for piece in pieces:
                yield piece
