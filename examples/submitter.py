"""Submits a registered workflow now and then over HTTP: asks one engine, and follows the execution at the next one.

`python submitter.py URL [URL ...]`; in compose.yaml it is the service `demo`. It registers big_map.py, its neighbour,
by the command `propwash`; what it says to the engines needs nothing but Python.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

FOLDER = Path(__file__).parent
TOKEN_FILE = "/run/secrets/propwash-token"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+", metavar="URL", help="of an engine")
    parser.add_argument("--count", type=int, default=0, help="executions; 0 = for ever")
    parser.add_argument("--pause", type=float, default=10.0, metavar="SECONDS", help="between two of them")
    parser.add_argument("--size", type=int, default=4, help="elements of the map, 1 MB each")
    parser.add_argument("--token-file", default=TOKEN_FILE)
    asked = parser.parse_args()
    register()
    path = Path(asked.token_file)
    token = path.read_text().strip() if path.exists() else ""
    engines = [Engine(url, token) for url in asked.urls]
    for number in itertools.count(1):
        phase = submit_and_follow(engines[number % len(engines)], engines[(number + 1) % len(engines)], asked.size)
        if number == asked.count:
            return 0 if phase == "SUCCEEDED" else 1
        time.sleep(asked.pause)
    return 0


def register() -> None:
    """The same version with the same content again changes nothing."""
    words = ["register", str(FOLDER / "big_map.py"), "--version", "demo", "--code-root", str(FOLDER)]
    subprocess.run([str(Path(sys.executable).with_name("propwash")), *words], check=True)


def submit_and_follow(takes: Engine, tells: Engine, size: int) -> str:
    """The phase in which the execution ended."""
    name = takes.call("/executions", {"entity": "big_map", "inputs": {"count": size}})["execution"]
    place = f"/executions/{name['project']}/{name['domain']}/{name['name']}"
    print(f"{name['name']}: submitted at {takes.url}, followed at {tells.url}", flush=True)
    phase = ""
    for fact in tells.events(place):
        if not fact["path"]:
            phase = fact["phase"]
    print(f"{name['name']}: {phase} {json.dumps(tells.call(place)['outputs'])}", flush=True)
    return phase


class Engine:
    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._root = f"{url}/api/v1"
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def call(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self._root + path, data, self._headers), timeout=60) as answer:
            return json.load(answer)

    def events(self, place: str) -> Iterator[Any]:
        """What happens in an execution, until it ends."""
        with urlopen(Request(f"{self._root}{place}/events", headers=self._headers), timeout=600) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))


if __name__ == "__main__":
    sys.exit(main())
