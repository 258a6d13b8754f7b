"""The log in the home, the values on S3: real tasks read and write them there, and every command finds them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from engine.adapters.s3.blobs import S3Blobs
from tests.contract.s3_world import Place, credentials
from tests.service.command import WORKFLOWS, Done, Propwash

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("s3")]
BIG_MAP = Path(__file__).parents[2] / "examples" / "big_map.py"


@dataclass(frozen=True)
class OnS3:
    propwash: Propwash
    place: Place
    root: str

    def __call__(self, *words: str) -> Done:
        return self.propwash(*words, environ=self.place.environ)

    def run(self, *words: str) -> Done:
        return self("run", "--store", self.root, "--set", f"s3.endpoint={self.place.endpoint}", *words)

    def objects(self) -> list[str]:
        """Of all objects, below the root."""

        async def listed() -> list[str]:
            with credentials(self.place):
                async with S3Blobs.open(self.root, self.place.options) as store:
                    return sorted([uri.removeprefix(f"{self.root}/") async for uri in store.list(self.root)])

        return anyio.run(listed)


@pytest.fixture
def on_s3(tmp_path: Path) -> OnS3:
    place = Place.found()
    return OnS3(Propwash(tmp_path), place, place.fresh())


def test_a_chain_runs_and_can_be_looked_at(on_s3: OnS3) -> None:
    done = on_s3.run("--name", "first", str(WORKFLOWS / "chain.py"), "chain", "--n", "3", "--json")
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"text": "n=17", "total": 17})

    home = on_s3.propwash.home
    assert not (home / "store").exists()
    prefix = "metadata/propeller/flytesnacks-development-first"
    keys = on_s3.objects()
    assert {f"{prefix}/n0/data/0/outputs.pb", f"{prefix}/end-node/data/0/outputs.pb"} <= set(keys)
    assert f"{prefix}/n3/data/0/stdout.log" in keys

    assert on_s3("get", "first", "--json").document == document
    assert on_s3("list", "--json").document == [document]
    assert on_s3("logs", "first", "n3", "--stdout").out.strip() == "three"
    assert on_s3("check").code == 0
    assert on_s3("resume").out == f"nothing to resume in {home}\n"
    again = on_s3("run", str(WORKFLOWS / "chain.py"), "chain", "--n", "4", "--json")
    assert again.document["outputs"]["total"] == 19, "the home knows its store"


def test_a_map_whose_outputs_become_a_reference(on_s3: OnS3) -> None:
    done = on_s3.run("--name", "demo", "--json", str(BIG_MAP), "big_map")
    assert (done.code, done.err) == (0, "")
    assert done.document["phase"] == "SUCCEEDED"
    assert any(key.endswith("/o0_offloaded_metadata.pb") for key in on_s3.objects())
    local = on_s3.propwash("run", "--home", str(on_s3.propwash.folder / "local"), "--json", str(BIG_MAP), "big_map")
    assert done.document["outputs"] == local.document["outputs"]


def test_a_home_does_not_change_its_store(on_s3: OnS3) -> None:
    file = str(WORKFLOWS / "chain.py")
    assert on_s3.run(file, "nothing").code == 0
    other = replace(on_s3, root=on_s3.place.fresh()).run(file, "nothing")
    assert other.code == 2
    assert f"keeps its values at {on_s3.root}, and its executions refer to them there" in other.err


def test_a_store_that_is_not_there_is_bad_input_and_binds_nothing(on_s3: OnS3) -> None:
    file = str(WORKFLOWS / "chain.py")
    missing = replace(on_s3, root="s3://no-such-bucket/x").run(file, "nothing")
    assert missing.code == 2
    assert missing.err.startswith("Error: the store s3://no-such-bucket/x can't be used: ")
    assert on_s3.run(file, "nothing").code == 0
    local = on_s3("run", "--set", "store.uri=nonsense", file, "nothing")
    assert local.code == 2
    assert (
        "store.uri = 'nonsense' (from --set): expected s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER" in local.err
    )


def test_every_command_goes_by_the_settings_that_it_is_given(on_s3: OnS3) -> None:
    done = on_s3.run("--name", "first", str(WORKFLOWS / "chain.py"), "nothing")
    assert done.code == 0, done.err
    file = on_s3.propwash.folder / "settings.yaml"
    file.write_text("s3: {endpoint: 'http://127.0.0.1:9', patience_seconds: 0.2}\n")
    asked = (
        ("list", "--json"), ("list", "workflows"), ("get", "first"), ("logs", "first", "n0"), ("check",),
        ("watch", "first"), ("abort", "first"), ("signal", "first", "x", "1"), ("retry-node", "first", "n0"),
        ("recover", "first", "--dry-run"), ("replay", "first"),
    )  # fmt: skip
    for words in asked:
        assert "can't be reached" not in on_s3(*words).err, words
        told = on_s3(*words, "--config", str(file))
        assert told.code == 3, (words, told)
        assert "at http://127.0.0.1:9 can't be reached: " in told.err, words


def test_a_service_that_is_not_there_stops_the_engine(on_s3: OnS3) -> None:
    words = ["--set", "s3.endpoint=http://127.0.0.1:9", "--set", "s3.patience_seconds=0.2"]
    done = on_s3("run", "--store", on_s3.root, *words, str(WORKFLOWS / "chain.py"), "nothing")
    assert done.code == 3
    assert "at http://127.0.0.1:9 can't be reached: " in done.err
