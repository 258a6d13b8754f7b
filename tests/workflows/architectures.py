"""Tasks for two architectures and for none, in every kind of node."""

from __future__ import annotations


ARM, AMD = {"kubernetes.io/arch": "arm64"}, {"kubernetes.io/arch": "amd64"}
