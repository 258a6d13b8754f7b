from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from engine.adapters.s3.blobs import S3Blobs
from engine.adapters.s3.options import S3Options
from engine.model.errors import BadInput, StoreFailed
from tests.contract.s3_world import Place, credentials

pytestmark = pytest.mark.service("s3")


async def attempt(place: Place, root: str, options: S3Options | None = None) -> None:
    with credentials(place):
        await _open(root, options or place.options)


async def _open(root: str, options: S3Options) -> None:
    async with S3Blobs.open(root, options):
        pytest.fail("it was opened")


async def test_a_bucket_that_is_not_there() -> None:
    with pytest.raises(BadInput) as caught:
        await attempt(Place.found(), "s3://no-such-bucket/flyte")
    assert str(caught.value).startswith("the store s3://no-such-bucket/flyte can't be used: ")
    assert "NoSuchBucket" in str(caught.value)
    assert str(caught.value).endswith("nothing was started")


async def test_credentials_that_are_wrong() -> None:
    place = Place.found()
    with pytest.raises(BadInput, match=r"can't be used: .*the service answers 40\d"):
        await attempt(replace(place, secret="wrong"), place.fresh())


async def test_no_credentials_at_all() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        patch.setenv("AWS_CONFIG_FILE", "/dev/null")
        patch.delenv("AWS_ACCESS_KEY_ID", raising=False)
        with pytest.raises(BadInput, match="Unable to locate credentials"):
            await _open(Place.found().fresh(), Place.found().options)


async def test_nobody_at_the_endpoint() -> None:
    place, options = Place.found(), S3Options(endpoint="http://127.0.0.1:9", patience_seconds=0.2)
    with anyio.fail_after(10), pytest.raises(StoreFailed) as caught:
        await attempt(place, place.fresh(), options)
    assert "at http://127.0.0.1:9 can't be reached: " in str(caught.value)
