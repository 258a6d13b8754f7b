from __future__ import annotations

import pytest

from engine.adapters.s3.names import Names
from engine.model.errors import BadInput, StoreRefused


@pytest.mark.parametrize(
    ("root", "bucket", "key"),
    [
        ("s3://bucket", "bucket", "a/b"),
        ("s3://bucket/", "bucket", "a/b"),
        ("s3://bucket/flyte", "bucket", "flyte/a/b"),
        ("s3://my.bucket_1/flyte/prod/", "my.bucket_1", "flyte/prod/a/b"),
    ],
)
def test_keys_lie_below_the_root(root: str, bucket: str, key: str) -> None:
    names = Names(root)
    assert names.bucket == bucket
    assert names.uri("a/b") == f"s3://{bucket}/{key}"
    assert names.key(f"s3://{bucket}/{key}") == key
    assert names.folder(f"s3://{bucket}/{key}") == f"{key}/"
    assert names.folder(names.root) == key.removesuffix("a/b")
    assert names.uri_of(key) == f"s3://{bucket}/{key}"


@pytest.mark.parametrize(
    "root",
    ["", "bucket", "/a", "file:///a", "s3://", "s3:///a", "s3://b", "s3://-bucket", "s3://bucket//a", "s3://bucket/a/../b",
     f"s3://{'b' * 64}", f"s3://bucket/{'p' * 129}"],
)  # fmt: skip
def test_what_can_be_no_root_is_refused_by_name(root: str) -> None:
    with pytest.raises(BadInput) as caught:
        Names(root)
    assert str(caught.value).startswith(f"{root!r} can't be a store; expected s3://BUCKET or s3://BUCKET/PREFIX")


def test_what_others_put_there_under_odd_names_has_no_uri() -> None:
    names = Names("s3://bucket/flyte")
    for key in ("flyte/folder/", "flyte/a//b", "flyte/a::b", "flytes/a", "flyte/"):
        assert names.uri_of(key) == ""


def test_other_buckets_and_prefixes_are_not_touched() -> None:
    names = Names("s3://bucket/flyte")
    for uri in ("s3://bucket/flytes/a", "s3://bucket/a", "s3://buckets/flyte/a", "s3://bucket/flyte"):
        with pytest.raises(StoreRefused, match="not below s3://bucket/flyte/"):
            names.key(uri)
