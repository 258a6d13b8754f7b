"""One attempt: its object is found or made, and watched to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic

from msgspec import structs

from engine.adapters.kubernetes.classify import on_list
from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.informer import T
from engine.adapters.kubernetes.naming import Json, pod_name
from engine.adapters.kubernetes.patience import Patience
from engine.adapters.kubernetes.pods import Objects, Tell
from engine.adapters.kubernetes.watching import Watching
from engine.model.errors import Permanent
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

Ended = Callable[[T, Exit], Awaitable[Exit]]


class Attempting(Generic[T]):
    """`make`: the manifest. `ended`: is told of the object at its end, while it is there, and says what came of it."""

    def __init__(
        self,
        objects: Objects[T],
        request: TaskRequest,
        make: Callable[[], Awaitable[Json]],
        ended: Ended[T],
        patience: Patience,
    ) -> None:
        self._objects, self._request, self._make, self._ended = objects, request, make, ended
        self._patience = patience
        """Until the object is there."""

    async def run(self, watching: Watching[T], tell: Tell) -> Exit:
        """Raises Permanent."""
        request, objects = self._request, self._objects
        found = await self._known()
        if found is None:
            if request.begun:
                return Exit(ExitReason.LOST, 0, "its pod is gone, and nobody has seen how it ended")
            await objects.make_sure(request.key, self._patience)
            turn, manifest = request.root or request.key, await self._make()
            found = await objects.ensure(request.key, turn, manifest, tell, self._patience)
        # Nothing is awaited in between, so no change is missed.
        with objects.informer.follow(found.name) as seen:
            exit = await watching.end(seen, found, tell)
            return exit if seen.gone else await self._ended(seen.now or found, exit)

    async def _known(self) -> T | None:
        """The attempt's object, where it is watched already. One that is leaving counts only if the task had begun."""
        request, objects = self._request, self._objects
        name = pod_name(request.key)
        found = objects.informer.pods.get(name)
        if found is not None and found.key == request.key:
            return found if request.begun or not found.leaving else None
        if request.begun and (other := await objects.read(name)) is not None:
            # Made a moment ago by an engine before this one, or by another group: the name says whose it is.
            return objects.adopted(other, request.key)
        return None


async def ready(objects: Objects[T], tell: Tell) -> None:
    """Wait until the objects of a namespace are known. Raises Permanent where they can't be watched at all."""
    try:
        await objects.informer.ready(lambda trouble: tell(f"its cluster to answer: {trouble}"))
    except CallFailed as problem:
        failure = on_list(problem.answer).failure
        assert failure is not None
        message = f"{objects.informer.path} can't be watched: {failure.message}"
        raise Permanent(structs.replace(failure, message=message)) from problem
