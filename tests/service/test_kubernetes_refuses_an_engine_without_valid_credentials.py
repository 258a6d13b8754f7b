"""A real API server, asked by an engine that starts: a wrong token, none at all, a user without rights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.model.errors import BadInput
from tests.clusters import Space, space

pytestmark = pytest.mark.service("kubernetes")
VARIABLE = "{{ project }}-{{ domain }}"


async def nothing(uri: str, data: bytes) -> None:
    raise AssertionError(f"nothing is to be stored: {uri}")


async def as_user(at: Space, folder: Path, user: dict[str, Any]) -> str:
    """A kubeconfig for the same server."""
    config = yaml.safe_load(await anyio.Path(at.kubeconfig).read_text())
    config["users"] = [{"name": "u", "user": user}]
    config["contexts"] = [{"name": "c", "context": {"cluster": config["clusters"][0]["name"], "user": "u"}}]
    config["current-context"] = "c"
    path = anyio.Path(folder / "config")
    await path.write_text(yaml.safe_dump(config))
    return str(path)


async def refused(options: ClusterOptions) -> str:
    with pytest.raises(BadInput) as caught:
        async with PodRunner(options, PodOptions(), put=nothing):
            raise AssertionError("it has started")
    return str(caught.value)


@pytest.mark.parametrize("namespace", [VARIABLE, "fixed"])
@pytest.mark.parametrize("user", [{"token": "wrong"}, {}])
async def test_its_credentials(user: dict[str, Any], namespace: str, tmp_path: Path) -> None:
    async with space() as at:
        kubeconfig = await as_user(at, tmp_path, user)
        said = await refused(ClusterOptions(kubeconfig, namespace=namespace))
        assert said.startswith("the API server https://")
        assert f" of the current context of kubeconfig {kubeconfig} does not " in said
        # A server may let people in who say no name; they may see nothing that counts.
        assert "401 Unauthorized" in said or (not user and "system:anonymous" in said)


async def test_its_rights_where_the_namespace_is_known(tmp_path: Path) -> None:
    """The account of a pod that nobody has given any rights."""
    async with space() as at:
        made = await at.api.create(f"{at.path}/serviceaccounts/default/token", {"spec": {}})
        kubeconfig = await as_user(at, tmp_path, {"token": made["status"]["token"]})
        said = await refused(ClusterOptions(kubeconfig, namespace=at.name))
        assert f'cannot list resource "pods" in API group "" in the namespace "{at.name}"' in said
        assert said.endswith("expected a user with the rights that docs/kubernetes.md lists; nothing was started")
        async with PodRunner(ClusterOptions(kubeconfig), PodOptions(), put=nothing) as runner:
            assert runner.trouble() == "", "where the namespace is not known, its rights are not either"
