"""The kinds of value a setting may hold, beyond numbers and text: sizes, versions, names, interpreters."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>[A-Za-z]*)\Z")
_VERSION = re.compile(r"\d+\.\d+\.\d+\Z")
_URL = re.compile(r"https?://[^\s/@]+(:\d+)?/?\Z")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})\Z")
_STORE = re.compile(r"(s3://\S+|file:///.*[^/])\Z")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,200}\Z")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True)
class Named:
    """What people call a kind of value, in the documentation and in messages."""

    name: str


def parse_size(value: object) -> int:
    """Bytes, from a whole number or text such as `10MiB`, `1.5GiB`, `500kB`. Raises ValueError."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.match(value) if isinstance(value, str) else None
    factor = UNITS.get(match["unit"]) if match else None
    if match is None or factor is None or not (number := float(match["number"]) * factor).is_integer():
        raise PydanticCustomError(
            "size", "Input should be a size: a whole number of bytes, or a number with kB, MB, GB, KiB, MiB or GiB"
        )
    return int(number)


def size_text(size: int) -> str:
    """A size as a person writes it: the largest binary unit that divides it, else plain bytes."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)


def _version(value: str) -> str:
    if not _VERSION.match(value):
        raise PydanticCustomError("version", "Input should be a version N.N.N, such as 1.13.14")
    return value


def _label(value: str) -> str:
    if not _LABEL.match(value):
        raise PydanticCustomError("label", "Input should be 1 to 63 of a-z, 0-9 and '-', neither first nor last a dash")
    return value


def _topic(value: str) -> str:
    if not _TOPIC.match(value):
        raise PydanticCustomError("topic", "Input should be 1 to 200 of a-z, A-Z, 0-9, '.', '_' and '-'")
    return value


def _url(value: str) -> str:
    if not _URL.match(value):
        raise PydanticCustomError("url", "Input should be the URL of a service, such as http://127.0.0.1:9000")
    return value


def _address(value: str) -> str:
    match = _ADDRESS.match(value)
    if match is None or int(match["port"]) > 65535:
        raise PydanticCustomError("address", "Input should be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080")
    return value


def _brokers(value: str) -> str:
    for part in value.split(","):
        match = _ADDRESS.match(part.strip())
        if match is None or not 0 < int(match["port"]) <= 65535:
            raise PydanticCustomError(
                "brokers",
                "Input should be HOST:PORT of a broker, such as kafka-1:9092; several with commas between them",
            )
    return value


def _store(value: str) -> str:
    if not _STORE.match(value):
        raise PydanticCustomError("store", "Input should be s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER")
    return value


def by_project(value: Mapping[str, str]) -> Mapping[str, str]:
    """A map whose keys are PROJECT:DOMAIN."""
    if wrong := sorted(key for key in value if not all(key.partition(":")) or key.count(":") != 1):
        raise PydanticCustomError(
            "project", "Input should be a map whose keys are PROJECT:DOMAIN, not {key}", {"key": wrong[0]}
        )
    return value


def _interpreter(value: str) -> str:
    found = shutil.which(os.path.expanduser(value))
    if found is None:
        raise PydanticCustomError(
            "interpreter", "Input should be the path of an executable Python, or its name on PATH"
        )
    # Links stay: the interpreter of a virtual environment is a link, and following it leaves the environment.
    return os.path.abspath(found)


Size = Annotated[int, BeforeValidator(parse_size), Named("size")]
"""Bytes."""
Seconds = Annotated[float, Field(ge=0), Named("seconds")]
Count = Annotated[int, Field(ge=1), Named("whole number")]
Version = Annotated[str, AfterValidator(_version), Named("version")]
Label = Annotated[str, AfterValidator(_label), Named("name")]
TopicName = Annotated[str, AfterValidator(_topic), Named("name")]
Text = Annotated[str, Field(min_length=1), Named("text")]
Url = Annotated[str, AfterValidator(_url), Named("URL")]
Address = Annotated[str, AfterValidator(_address), Named("HOST:PORT")]
Brokers = Annotated[str, AfterValidator(_brokers), Named("HOST:PORT,...")]
StoreUri = Annotated[str, AfterValidator(_store), Named("URI")]
Interpreter = Annotated[str, AfterValidator(_interpreter), Named("path")]
