"""The commands for a home that an engine stays on: serve, watch, abort, signal."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.cli.options import common, on_kafka, settings, shared


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Answer HTTP there: API, /metrics, probes.  [default: nowhere]")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Processes that share the work, on Kafka. Each has a home below the home, and with --listen a port: PORT, "
    "PORT + 1, ...",
)
@click.option(
    "--worker", is_flag=True, hidden=True, help="End when stdin ends: with the process that keeps the workers."
)
@settings
@common
def serve(
    home: Path, config: Path | None, sets: tuple[str, ...], listen: str | None, workers: int, worker: bool
) -> int:
    """Work until Ctrl-C or SIGTERM: on a home, or with other processes on the events of Kafka (kafka.bootstrap)."""
    from engine.cli.serve import serve as perform

    # In quotes: the brackets of an IPv6 address would be a list in YAML.
    asked = sets if listen is None else (*sets, f"http.listen={json.dumps(listen)}")
    return perform(home, config, asked, 1 if worker else workers, ends_with_stdin=worker)


@click.command()
@click.argument("name")
@on_kafka
@settings
@shared
def watch(name: str, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Follow an execution that another process works on, to its end; then show its outputs or its error.

    NAME is the execution's name, or project:domain:name where several have that name.
    """
    from engine.cli.watch import watch as perform

    return perform(name, home, config, sets, as_json=as_json)


@click.command()
@click.argument("name")
@click.option("--reason", default="propwash abort", metavar="TEXT", help="Why; kept as the execution's error.")
@click.option("--wait/--no-wait", default=True, help="Until nothing of it runs any more.  [default: wait]")
@on_kafka
@settings
@common
def abort(name: str, reason: str, wait: bool, home: Path, config: Path | None, sets: tuple[str, ...]) -> int:
    """Stop an execution, and the child executions it has started.

    NAME is the execution's name, or project:domain:name where several have that name. Where no engine works on the
    home, this command does, until the execution has ended.
    """
    from engine.cli.abort import abort as perform

    return perform(name, reason, home, config, sets, wait=wait)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="EXECUTION")
@click.argument("signal_id")
@click.argument("value", required=False)
@click.option("--approve", "verdict", flag_value="approve", help="Let an approval pass.")
@click.option("--reject", "verdict", flag_value="reject", help="Refuse an approval: the execution fails.")
@on_kafka
@settings
@common
def signal(
    name: str,
    signal_id: str,
    value: str | None,
    verdict: str | None,
    home: Path,
    config: Path | None,
    sets: tuple[str, ...],
) -> int:
    """Answer a gate: give the value that wait_for_input waits for, or approve or reject.

    VALUE is read by the gate's type, as an input of `propwash run` is. A signal that comes before its gate begins to
    wait is kept. `propwash get EXECUTION` lists what is waited for.
    """
    from engine.cli.signal import signal as perform
    from engine.gateway.asking import Approval

    if (value is None) == (verdict is None):
        raise click.UsageError("give either a VALUE, or --approve or --reject")
    answer = Approval(verdict == "approve") if value is None else value
    return perform(name, signal_id, answer, home, config, sets)
