"""etcd, kube-apiserver and kube-scheduler: those of KUBEBUILDER_ASSETS, or built once a machine from Go modules."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

from tests.backing import server

MODULE = Path(__file__).parent
"""Holds the go.mod that names all versions."""
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
ASSETS = "KUBEBUILDER_ASSETS"
"""controller-runtime's name for the folder that holds them."""


def missing() -> str:
    """Why they can't be had here; empty = they can. Nothing is built: that takes many minutes."""
    folder = where()
    lacking = [name for name in PACKAGES if not os.access(folder / name, os.X_OK)]
    if not lacking:
        return ""
    remedy = f"as {ASSETS} says" if ASSETS in os.environ else "`make services-kubernetes` builds them, with Go"
    return f"no {', '.join(lacking)} in {folder}; {remedy}"


def where() -> Path:
    """The folder of the programs, which may not be there."""
    given = os.environ.get(ASSETS)
    return Path(given) if given else server.cache() / f"kubernetes-{version()}"


@cache
def version() -> str:
    """Of Kubernetes and etcd, as the module says."""
    text = (MODULE / "go.mod").read_text()
    found = [re.search(rf"{re.escape(name)} v(\S+)", text) for name in ("k8s.io/kubernetes", PACKAGES["etcd"])]
    return "-etcd-".join(match[1] for match in found if match)


def build() -> Path:
    """What is not built yet, for every checkout of this user; the folder. Raises CalledProcessError."""
    folder = where()
    folder.mkdir(exist_ok=True)
    with open(server.cache() / "kubernetes.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, package in PACKAGES.items():
            if not (folder / name).exists():
                _build(package, folder / name)
    return folder


def _build(package: str, program: Path) -> None:
    began = time.monotonic()
    print(f"# building {program.name} {version()}", flush=True)
    release = version().partition("-")[0]
    flags = f"-s -w -X k8s.io/component-base/version.gitVersion=v{release}"
    unfinished = program.with_suffix(".unfinished")
    words = ["go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(unfinished)]
    subprocess.run([*words, package], cwd=MODULE, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    shutil.move(unfinished, program)
    print(f"# {program.name} took {time.monotonic() - began:.0f} s", flush=True)
