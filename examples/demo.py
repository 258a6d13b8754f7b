"""`make demo`: runs examples/big_map.py on the embedded default and explains what happened."""

from __future__ import annotations

import contextlib
import io
import json
import resource
import shutil
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.cli.main import main as propwash_main
from engine.wire.natural import natural_map

WORKFLOW = Path("examples") / "big_map.py"
HOME = Path(".propwash") / "demo"


def main() -> int:
    shutil.rmtree(HOME, ignore_errors=True)
    command = ["run", "--home", str(HOME), "--name", "demo", "--json", str(WORKFLOW), "big_map"]
    print(f"$ propwash {' '.join(command)}\n", flush=True)
    began = time.monotonic()
    parent, code = propwash(command)
    seconds = time.monotonic() - began
    if code:
        print(json.dumps(parent, indent=2))
        return code
    documents, _ = propwash(["list", "--home", str(HOME), "--json"])
    child = next(document for document in documents if document["execution"] != parent["execution"])
    timeline(parent, child)
    reference(child)
    print(f"Result     {parent['outputs']}: execution {parent['execution']['name']} has {parent['phase']}.")
    print(f"Engine     {seconds:.1f} s in all, packaging by flytekit included; peak memory {peak_megabytes():.0f} MB.")
    print(f"Look on    propwash get demo --home {HOME}")
    return 0


def propwash(arguments: list[str]) -> tuple[Any, int]:
    """One command, in this process so that its memory can be read: what it prints with --json, and its exit code."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = propwash_main(arguments)
    return json.loads(printed.getvalue() or "null"), code


def timeline(parent: dict[str, Any], child: dict[str, Any]) -> None:
    rows = [(1, node) for node in parent["nodes"]] + [(2, node) for node in child["nodes"]]
    begin = min(stamp(node["started_at"]) for _, node in rows)
    print("Timeline   seconds since the first node started")
    for depth, node in sorted(rows, key=lambda row: stamp(row[1]["started_at"])):
        span = f"{stamp(node['started_at']) - begin:6.2f} to {stamp(node['ended_at']) - begin:6.2f}"
        name = "  " * (depth + node["path"].count("/") // 2) + node["path"]
        print(f"  {span} {name:<14} {node['kind']:<13} {node['phase']:<10} {node['task'] or ''}")
    print()


def reference(child: dict[str, Any]) -> None:
    """What the child's task received, and where the value itself lies."""
    inputs = Path(child["nodes"][0]["inputs_uri"].removeprefix("file://"))
    value = natural_map(inputs.read_bytes())
    offloaded = value["texts"]["offloaded"]
    print(f"Reference  the launch plan's task received {inputs.stat().st_size} bytes:")
    print(f"           {json.dumps(value)}")
    print(f"Value      {offloaded['size_bytes']:,} bytes, written once by the gather, at {offloaded['uri']}\n")


def stamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def peak_megabytes() -> float:
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    sys.exit(main())
