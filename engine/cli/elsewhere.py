"""What to do where a command looks for the log of a home, and the log is on Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.settings import Settings

ADVICE = (
    ". If its engines work on Kafka ({where}), their log is there, and a folder of theirs holds none: `list`, `get`, "
    "`logs`, `check`, `watch`, `submit`, `signal`, `abort`, `retry-node`, `recover`, `relaunch` and `dead-letters` "
    "take --kafka HOST:PORT"
)


def refuse_on_kafka(settings: Settings, command: str, why: str) -> None:
    """Raises BadInput where the settings say Kafka; without this the command would look for a home."""
    from engine.model.errors import BadInput

    if settings.kafka.bootstrap is not None:
        raise BadInput(f"{command} does not work on Kafka (kafka.bootstrap = {settings.kafka.bootstrap}): {why}")


def on_kafka() -> str:
    """To be put behind the message that there is no home."""
    from engine.model.errors import BadInput
    from engine.stores import settings_around

    try:
        bootstrap = settings_around().kafka.bootstrap
    except BadInput:
        bootstrap = None
    return ADVICE.format(where=f"kafka.bootstrap = {bootstrap}" if bootstrap else "kafka.bootstrap")
