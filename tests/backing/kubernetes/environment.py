"""The environment of a container: its own variables, and what they refer to."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

from tests.backing.kubernetes.api import Api, ApiError
from tests.backing.kubernetes.specs import Container, KeyOf, Pod, Variable, expanded, fields_of


class NotConfigured(Exception):
    """What a variable refers to is not there."""


async def environment(api: Api, pod: Pod, container: Container) -> dict[str, str]:
    """Raises NotConfigured. The programs of the tests' own environment are what the image holds."""
    folder = str(Path(sys.executable).parent)
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": "/tmp", "HOSTNAME": pod.metadata.name}
    for each in container.env:
        value = await _value(api, pod, each, env)
        if value is not None:
            env[each.name] = value
    return env


async def _value(api: Api, pod: Pod, variable: Variable, env: dict[str, str]) -> str | None:
    source = variable.value_from
    if source is None:
        return expanded(variable.value, env)
    if source.field_ref:
        return fields_of(pod).get(source.field_ref.field_path, "")
    space = f"/api/v1/namespaces/{pod.metadata.namespace}"
    if source.secret_key_ref:
        value = await _looked_up(api, f"{space}/secrets/{source.secret_key_ref.name}", source.secret_key_ref)
        return None if value is None else base64.b64decode(value).decode()
    if source.config_map_key_ref:
        return await _looked_up(api, f"{space}/configmaps/{source.config_map_key_ref.name}", source.config_map_key_ref)
    return None


async def _looked_up(api: Api, path: str, of: KeyOf) -> str | None:
    kind = path.split("/")[-2].removesuffix("s")
    try:
        data: dict[str, str] = (await api.get(path)).get("data") or {}
    except ApiError as error:
        if error.status != 404:
            raise
        if of.optional:
            return None
        raise NotConfigured(f'{kind} "{of.name}" not found') from error
    if of.key not in data and not of.optional:
        raise NotConfigured(f"couldn't find key {of.key} in {kind} {of.name}")
    return data.get(of.key)
