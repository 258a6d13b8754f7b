"""make services: start the servers, say where they are, and keep them until Ctrl-C."""

from __future__ import annotations

import signal
import sys

from tests.backing.server import cache
from tests.backing.session import KINDS, Servers


def main() -> int:
    servers, missing = Servers(), 0
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        for name, kind in KINDS.items():
            if reason := kind.absent():
                missing += 1
                print(f"# {name}: not started, {reason}", flush=True)
            else:
                print(f"export {kind.variable}={servers.ensure(name)}", flush=True)
        if missing == len(KINDS):
            return 1
        print(f"# logs: {cache() / 'logs'}; Ctrl-C stops them and forgets their data", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    finally:
        servers.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
