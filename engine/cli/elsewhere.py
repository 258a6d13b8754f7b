"""What to do where a command looks for the log of a home, and the log is on Kafka."""

from __future__ import annotations

ADVICE = (
    ". If its engines work on Kafka ({where}), their log is there, and a folder of theirs holds none: "
    "`propwash watch NAME --kafka HOST:PORT` shows an execution, `submit`, `signal`, `abort` and `dead-letters` take "
    "--kafka, too; the HTTP API of `propwash serve --listen` lists and reads all, and so does engine.client from Python"
)


def on_kafka() -> str:
    """To be put behind the message that there is no home."""
    from engine.model.errors import BadInput
    from engine.stores import settings_around

    try:
        bootstrap = settings_around().kafka.bootstrap
    except BadInput:
        bootstrap = None
    return ADVICE.format(where=f"kafka.bootstrap = {bootstrap}" if bootstrap else "kafka.bootstrap")
