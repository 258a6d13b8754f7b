"""`propwash webhook`: the admission webhook, or the object that makes a cluster ask it."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import yaml
from anyio import to_thread

from config.settings import Settings
from config.webhook import Webhook
from engine.cli.exitcodes import ExitCode
from engine.cli.request import load_settings
from engine.cli.screen import say, tell
from engine.cli.session import Session, run_session
from engine.clusters import check_manifests
from engine.gateway.tls import Certificate
from engine.gateway.webhook import PATH, answering, configuration
from engine.model.errors import BadInput
from engine.routing import placement_rules

STOP_SECONDS = 10.0


def webhook(config: Path | None, sets: Sequence[str]) -> int:
    """Raises BadInput."""
    return run_session(partial(_serve, load_settings(config, sets)))


async def _serve(settings: Settings, session: Session) -> int:
    session.deadline_seconds = STOP_SECONDS
    said, rules = settings.webhook, placement_rules(settings)
    await to_thread.run_sync(check_manifests, settings)
    certificate = await to_thread.run_sync(Certificate, said.certificate_file, said.key_file)
    async with answering(rules, certificate, said.listen) as serving:
        configured = ", ".join(sorted(rules.architectures)) or "none"
        tell(f"answers admission reviews at https://{serving.address}{PATH}; architectures: {configured}")
        session.stops_with(ExitCode.SUCCEEDED)
        await anyio.sleep_forever()
    return ExitCode.SUCCEEDED


def print_configuration(config: Path | None, sets: Sequence[str], *, url: str | None, service: str) -> int:
    """As YAML. url: where the API server finds it, or else service: NAMESPACE/NAME. Raises BadInput."""
    said = load_settings(config, sets).webhook
    namespace, _, name = service.partition("/")
    client: dict[str, object] = (
        {"url": url} if url else {"service": {"namespace": namespace, "name": name, "path": PATH}}
    )
    made = configuration(client, _authority(said), fail_open=said.fail_open, timeout_seconds=said.timeout_seconds)
    say(yaml.safe_dump(made, sort_keys=False).rstrip())
    return ExitCode.SUCCEEDED


def _authority(said: Webhook) -> bytes:
    path = said.ca_file or said.certificate_file
    try:
        found = Path(path).read_bytes()
        ssl.create_default_context(cadata=found.decode())
    except (OSError, UnicodeDecodeError, ssl.SSLError) as problem:
        raise BadInput(f"certificate {path} can't be used: {problem}") from problem
    return found
