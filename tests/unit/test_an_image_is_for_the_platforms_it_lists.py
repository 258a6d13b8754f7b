"""Names of images, and which nodes run which platforms (containerd's rules)."""

from __future__ import annotations

import pytest

from engine.adapters.images.names import ImageName, parse
from engine.adapters.images.platforms import Platform, known, listed, runs_on
from engine.model.architectures import Architecture

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "expected", "url"),
    [
        (
            "python",
            ImageName("docker.io", "library/python", "latest", ""),
            "https://registry-1.docker.io/v2/library/python",
        ),
        ("me/x:1", ImageName("docker.io", "me/x", "1", ""), "https://registry-1.docker.io/v2/me/x"),
        (
            "docker.io/python:3",
            ImageName("docker.io", "library/python", "3", ""),
            "https://registry-1.docker.io/v2/library/python",
        ),
        ("ghcr.io/a/b/c:v1.2_x", ImageName("ghcr.io", "a/b/c", "v1.2_x", ""), "https://ghcr.io/v2/a/b/c"),
        ("r.example:5000/a", ImageName("r.example:5000", "a", "latest", ""), "https://r.example:5000/v2/a"),
        ("localhost/a:x", ImageName("localhost", "a", "x", ""), "http://localhost/v2/a"),
        ("127.0.0.1:5000/a", ImageName("127.0.0.1:5000", "a", "latest", ""), "http://127.0.0.1:5000/v2/a"),
        (f"r.io/a:x@{DIGEST}", ImageName("r.io", "a", "x", DIGEST), "https://r.io/v2/a"),
        (f"r.io/a@{DIGEST}", ImageName("r.io", "a", "latest", DIGEST), "https://r.io/v2/a"),
    ],
)
def test_a_name_is_read_as_runtimes_read_it(image: str, expected: ImageName, url: str) -> None:
    found = parse(image)
    assert found == expected
    assert found.api == url


@pytest.mark.parametrize(
    "image", ["", "UPPER", "a b", "r.io/../x", "r.io/a@sha256:12", "r.io/a:", "{{.image}}", "r.io/a?b=c"]
)
def test_what_is_no_name_is_asked_of_nobody(image: str) -> None:
    assert parse(image) is None


def test_a_digest_says_more_than_a_tag() -> None:
    assert ImageName("r", "a", "x", DIGEST).reference == DIGEST
    assert ImageName("r", "a", "x", "").reference == "x"


@pytest.mark.parametrize(
    ("platform", "runs"),
    [
        (Platform("amd64", "linux"), {"amd64"}),
        (Platform("386", "linux"), {"amd64"}),
        (Platform("arm64", "linux", "v8"), {"arm64"}),
        (Platform("arm", "linux"), {"arm64", "arm-v7"}),
        (Platform("arm", "linux", "v7"), {"arm64", "arm-v7"}),
        (Platform("arm", "linux", "v6"), {"arm64", "arm-v7", "arm-v6"}),
        (Platform("amd64", "windows"), set()),
        (Platform("riscv64", "linux"), set()),
    ],
)
def test_a_node_runs_what_its_cpu_runs(platform: Platform, runs: set[str]) -> None:
    assert {it.value for it in Architecture if runs_on([platform], it)} == runs


def test_attestations_are_no_images() -> None:
    image = Platform("arm", "linux")
    assert known([image, Platform("unknown", "unknown"), Platform()]) == [image]
    assert listed([image, Platform("amd64", "linux"), image]) == "linux/amd64, linux/arm/v7"
