"""What to do where a command finds no home: it lies elsewhere, or the log is on Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.settings import Settings

AT_HOME = (
    ". A home is made in the folder where `propwash run` or `serve` is called: go there, or name it with --home "
    "(engines on Kafka: --kafka HOST:PORT)"
)
ON_KAFKA = (
    ". If its engines work on Kafka ({where}), their log is there, and a folder of theirs holds none: `list`, `get`, "
    "`logs`, `check`, `watch`, `submit`, `signal`, `abort`, `retry-node`, `recover`, `relaunch` and `dead-letters` "
    "take --kafka HOST:PORT"
)


def refuse_on_kafka(settings: Settings, command: str, why: str) -> None:
    """Raises BadInput where the settings say Kafka; without this the command would look for a home."""
    from engine.model.errors import BadInput

    if settings.kafka.bootstrap is not None:
        raise BadInput(f"{command} does not work on Kafka (kafka.bootstrap = {settings.kafka.bootstrap}): {why}")


def advice() -> str:
    """To be put behind the message that there is no home."""
    from engine.model.errors import BadInput
    from engine.stores import settings_around

    try:
        bootstrap = settings_around().kafka.bootstrap
    except BadInput:
        bootstrap = None
    return ON_KAFKA.format(where=f"kafka.bootstrap = {bootstrap}") if bootstrap else AT_HOME
