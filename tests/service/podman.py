"""Stands in for podman: runs the command in place, with the paths of mounts replaced by what is mounted there.

`propwash` finds it on PATH under the name podman. Each call is a line of the file `calls` beside it, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
_WITH_VALUE = ("--name", "--security-opt", "--label", "--mount", "--env", "--entrypoint")


def main(words: list[str]) -> None:
    with open(FOLDER / "calls", "a") as calls:
        calls.write(json.dumps(words) + "\n")
    if words[0] == "run":
        run(words[1:])
    if words[0] == "ps" and (FOLDER / "left").exists():
        print((FOLDER / "left").read_text())
    if words[0] == "version" and (FOLDER / "down").exists():
        sys.exit("Cannot connect to the daemon")


def run(words: list[str]) -> None:
    options: dict[str, list[str]] = {name: [] for name in _WITH_VALUE}
    while words[0].startswith("--"):
        option = words.pop(0)
        if option in options:
            options[option].append(words.pop(0))
    image, *argv = words
    if image == "missing:1":
        print("no such image", file=sys.stderr)
        sys.exit(125)
    argv = [*options["--entrypoint"], *argv]
    mounts = [dict(part.partition("=")[::2] for part in mount.split(",")) for mount in options["--mount"]]
    for mount in mounts:
        assert os.path.exists(mount["source"]), mount
    for mount in sorted(mounts, key=lambda mount: -len(mount["target"])):
        argv = [word.replace(mount["target"], mount["source"]) for word in argv]
    env = {"PATH": os.environ["PATH"], **dict(pair.partition("=")[::2] for pair in options["--env"])}
    os.execvpe(argv[0], argv, env)


if __name__ == "__main__":
    main(sys.argv[1:])
