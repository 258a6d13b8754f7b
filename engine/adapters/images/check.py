"""Refuses attempts whose image is not built for the architecture they are placed on, before there is a pod."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import aiohttp

from engine.adapters.images.names import ImageName, parse
from engine.adapters.images.platforms import Platform, known, listed, runs_on
from engine.adapters.images.registry import CannotTell, Registry
from engine.model.architectures import Architecture, not_built_for
from engine.model.errors import ErrorKind, Failure
from engine.model.placement import NOT_BUILT
from engine.ports.taskrunner import TaskRequest

log = logging.getLogger(__name__)

MOST_IMAGES = 1024
TAG_SECONDS = 60.0
"""For so long what a tag stands for is not asked again; that an answer can't be had is not asked again either."""
CALLS = 8
"""Connections at once."""


class ImageCheck:
    """A `Vetting` (engine.ports.vetting). `now`: seconds of a clock that does not go back."""

    def __init__(self, registry: Registry, seconds: float, now: Callable[[], float]) -> None:
        self._registry, self._seconds, self._now = registry, seconds, now
        self._built = _Recent[tuple[Platform, ...]]()
        """By repository and digest."""
        self._answers = _Recent[tuple[float, tuple[Platform, ...]]]()
        """By image: until when it counts, and the platforms; none = it could not be found out."""
        self._asking: dict[str, tuple[asyncio.Lock, int]] = {}
        """By image: who asks first, and how many there are."""

    @classmethod
    @asynccontextmanager
    async def open(cls, auth_file: str | None, seconds: float) -> AsyncIterator[ImageCheck]:
        """auth_file: credentials, as `docker login` writes them. seconds: for all questions about one image."""
        connector = aiohttp.TCPConnector(limit=CALLS)
        async with aiohttp.ClientSession(connector=connector, trust_env=True) as session:
            yield cls(Registry(session, auth_file), seconds, asyncio.get_running_loop().time)

    async def refuses(self, request: TaskRequest, *, resumed: bool) -> Failure | None:
        """See Vetting."""
        wanted = request.placement.architecture
        if wanted is None or not request.image:
            return None
        found = known(await self.platforms_of(request.image))
        if not found or runs_on(found, wanted):
            return None
        return Failure(NOT_BUILT, ErrorKind.USER, _told(request, wanted, listed(found)))

    async def platforms_of(self, image: str) -> tuple[Platform, ...]:
        """Empty: nobody knows. Many who ask for one image at once are one question."""
        async with self._alone(image):
            until, found = self._answers.get(image, (0.0, ()))
            if until <= self._now():
                found = await self._find_out(image)
                self._answers.keep(image, (self._now() + TAG_SECONDS, found))
            return found

    @asynccontextmanager
    async def _alone(self, image: str) -> AsyncIterator[None]:
        lock, waiting = self._asking.get(image, (asyncio.Lock(), 0))
        self._asking[image] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            waiting = self._asking[image][1] - 1
            self._asking[image] = lock, waiting
            if not waiting:
                del self._asking[image]

    async def _find_out(self, image: str) -> tuple[Platform, ...]:
        name = parse(image)
        if name is None:
            return ()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ask(name)
        except (CannotTell, aiohttp.ClientError, TimeoutError, OSError) as problem:
            cause = str(problem) or type(problem).__name__
            log.info("an image is not checked", extra={"image": image, "cause": cause})
            return ()

    async def _ask(self, name: ImageName) -> tuple[Platform, ...]:
        digest = name.digest or await self._registry.digest(name)
        key = f"{name.registry}/{name.repository}@{digest}"
        found = self._built.get(key) if digest else None
        if found is None:
            found = await self._registry.platforms(name)
            if digest:
                self._built.keep(key, found)
        return found


_T = TypeVar("_T")


class _Recent(OrderedDict[str, _T]):
    """The last MOST_IMAGES."""

    def keep(self, key: str, value: _T) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > MOST_IMAGES:
            self.popitem(last=False)


def _told(request: TaskRequest, wanted: Architecture, built_for: str) -> str:
    return f"{not_built_for(request.image, wanted)}: it is built for {built_for}; nothing was started"
