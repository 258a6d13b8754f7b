"""Two live processes with one name in the group (static membership): the one whose place was taken stops.

The client would take the name back, and so would the other one, for ever. Kafka tells the one that was put out only
that its member id is not known, which is also what one hears that was silent for too long; so it looks who has the
name now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import anyio

from engine.adapters.kafka import faults, topics
from engine.adapters.kafka.clients import Clients
from engine.model.errors import BadInput

log = logging.getLogger(__name__)
_SUFFIX = len("-00000000-0000-0000-0000-000000000000")
"""What a broker puts behind the name of a static member."""


class Name:
    """The name of this process in the group. Use `guard` once the client has been started."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._member = ""
        """Our last id in the group; empty = since we lost it, we may have got another one without hearing of it."""
        self._taken, self._by = anyio.Event(), ""

    def guard(self, coordinator: Any) -> None:
        """Look before each time that the client joins the group anew under the name. Does nothing without one."""
        if self._clients.options.instance is None:
            return
        join = coordinator.ensure_active_group

        async def look_and_join(*arguments: Any) -> Any:
            if self._member and not coordinator.member_id and await self._is_taken():
                # Whoever has joined last keeps it; the client goes on asking us until it is stopped.
                await asyncio.wait([coordinator._closing])
                return None
            if not coordinator.member_id:
                self._member = ""
            try:
                joined = await join(*arguments)
            except faults.CLIENT_ERRORS as error:
                # FENCED_INSTANCE_ID, which the client does not know: it was put out while it waited to join.
                if "UnknownError" not in str(error) or not await self._is_taken():
                    raise
                await asyncio.wait([coordinator._closing])
                return None
            self._member = coordinator.member_id if joined is not None else self._member
            return joined

        coordinator.ensure_active_group = look_and_join

    async def run(self) -> None:
        """Raises BadInput when another process has taken the name; until then, waits."""
        await self._taken.wait()
        options = self._clients.options
        raise BadInput(
            f"kafka.instance: another process (member {self._by}) has joined the group {options.group!r} as "
            f"{options.instance!r}, the name of this one, which stops now. Give each process a kafka.instance of its "
            "own; where none is set, it is made of the host's name and the path of the home"
        )

    async def _is_taken(self) -> bool:
        try:
            async with topics.administrator(self._clients) as admin:
                responses = await admin.describe_consumer_groups([self._clients.options.group])
        except faults.CLIENT_ERRORS as error:
            log.warning("who has our name in the group is not known", extra={"cause": faults.describe(error)})
            return False
        others = [other for response in responses for other in self._namesakes(response)]
        if others:
            self._by = ", ".join(others)
            self._taken.set()
        return bool(others)

    def _namesakes(self, response: Any) -> Iterator[str]:
        for group in response.groups:
            # What the broker tells of its client and host may be ours: they stay those of whoever had the name first.
            for member, *_ in group[5]:
                if member[:-_SUFFIX] == self._clients.options.instance and member != self._member:
                    yield member
