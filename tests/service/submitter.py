"""Submits one execution and acknowledges it: `python -m tests.service.submitter HOME PACKAGE ACKNOWLEDGEMENTS`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import msgspec

from config.load import load
from engine.cli.workflows import choose
from engine.homes import open_home
from engine.model.ids import ExecutionId
from engine.wire.inputs import inputs_for
from engine.wire.package import PackageFiles


async def main(home: Path, files: PackageFiles, acknowledged: int) -> None:
    async with open_home(home, load(None, ["processes.warm=false"], {})) as engine:
        chosen = await choose(files, "five", "p", "d", home)
        digest = await engine.store_package(chosen.package)
        inputs = inputs_for(chosen.target, {"n": 3})
        await engine.submit(ExecutionId("p", "d", "e1"), chosen.entity, digest, inputs)
        os.write(acknowledged, b"e1\n")
        # Whatever comes later is not the submission's concern any more.
        os._exit(0)


if __name__ == "__main__":
    read = msgspec.msgpack.decode(Path(sys.argv[2]).read_bytes(), type=PackageFiles)
    anyio.run(main, Path(sys.argv[1]), read, os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT))
