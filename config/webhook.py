"""The settings of `propwash webhook`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from config.group import Group
from config.values import Address, Count, Text


class Webhook(Group):
    """The admission webhook (`propwash webhook`), which gives pods that other operators create the node selector and
    the tolerations of their label `propwash.dev/architecture`."""

    listen: Address = "0.0.0.0:9443"
    """Where it listens, over TLS: HOST:PORT; port 0 = any that is free."""
    certificate_file: Text = "/etc/propwash/webhook/tls.crt"
    """Its certificate with the chain, PEM. A file that is replaced counts from the next connection on."""
    key_file: Text = "/etc/propwash/webhook/tls.key"
    """The certificate's private key, PEM."""
    ca_file: Text | None = None
    """The certificate that the API server is to trust, PEM, for `--print-configuration`. null = `certificate_file`."""
    fail_open: bool = False
    """What the API server does when it can't reach the webhook: true = it creates labelled pods as they are
    (`failurePolicy: Ignore`); false = it refuses them (`Fail`). A pod that contradicts its label is refused in any
    case."""
    timeout_seconds: Annotated[Count, Field(le=30)] = 5
    """Seconds that the API server waits for an answer."""
