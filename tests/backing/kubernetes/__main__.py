"""make services-kubernetes: see to it that the programs are there; says where."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.backing.kubernetes import programs


def main() -> int:
    if not (reason := programs.missing()):
        print(f"# Kubernetes for tests: {programs.where()}")
        return 0
    if programs.ASSETS in os.environ:
        print(reason, file=sys.stderr)
        return 1
    if shutil.which("go") is None:
        print(
            "there is no go on PATH: Go 1.26 or newer builds etcd, kube-apiserver and kube-scheduler", file=sys.stderr
        )
        return 1
    try:
        print(f"# Kubernetes for tests: {programs.build()}")
    except subprocess.CalledProcessError as error:
        print(f"{error}; its reason stands above", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
