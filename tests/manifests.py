"""The manifests of config/kubernetes as kubectl builds them."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1] / "config" / "kubernetes"
BASES = ("engine", "tasks", "webhook", "monitoring", "example")
KUBECTL = shutil.which("kubectl")
Manifest = dict[str, Any]


@cache
def built(base: str) -> list[Manifest]:
    """The objects of one kustomization. Needs KUBECTL."""
    assert KUBECTL is not None
    done = subprocess.run(
        [KUBECTL, "kustomize", str(ROOT / base)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return [it for it in yaml.safe_load_all(done.stdout) if it]


def one(base: str, kind: str, name: str) -> Manifest:
    (found,) = [it for it in built(base) if (it["kind"], it["metadata"]["name"]) == (kind, name)]
    return found
