"""The commands for a cluster: webhook, architectures."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.options import common, settings, shared


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Where it listens, over TLS.  [default: setting webhook.listen]")
@click.option(
    "--print-configuration",
    "printing",
    is_flag=True,
    help="Print the MutatingWebhookConfiguration that makes a cluster ask this webhook, and serve nothing.",
)
@click.option("--url", metavar="URL", help="For that: where the API server reaches it, where it is no service.")
@click.option(
    "--service",
    default="propwash/propwash-webhook",
    show_default=True,
    metavar="NAMESPACE/NAME",
    help="Else: its service.",
)
@settings
@common
def webhook(
    config: Path | None,
    sets: tuple[str, ...],
    listen: str | None,
    printing: bool,
    url: str | None,
    service: str,
    home: Path,
) -> int:
    """Answer a cluster's admission reviews: pods that carry the label propwash.dev/architecture, whoever creates them,
    get the node selector and the tolerations that the settings have for it. Needs no home."""
    from engine.cli.webhook import print_configuration
    from engine.cli.webhook import webhook as perform

    if printing:
        return print_configuration(config, sets, url=url, service=service)
    return perform(config, sets if listen is None else (*sets, f"webhook.listen={listen}"))


@click.command()
@settings
@shared
def architectures(config: Path | None, sets: tuple[str, ...], as_json: bool, home: Path) -> int:
    """Show the CPU architectures that are configured, and how many nodes of each the cluster has ready.

    Needs no home. Where tasks run as local processes, or the cluster does not say, it shows the configuration alone.
    """
    from engine.cli.architectures import architectures as perform

    return perform(config, sets, as_json=as_json)
