"""The clusters that executions may need: whether each can be used is asked before anything is started.

Whoever is refused is told so at once, by an error. A server that does not answer is asked again and again: an operator
who restarts an engine while a control plane is upgraded must not find it gone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

import anyio

from engine.adapters.kubernetes.access import Login
from engine.adapters.kubernetes.classify import Answer, Do, on_greeting
from engine.adapters.kubernetes.cluster import CallFailed, Cluster
from engine.adapters.kubernetes.options import ClusterOptions
from engine.adapters.kubernetes.pace import Pace
from engine.adapters.kubernetes.waits import Waits
from engine.adapters.slots import Slots
from engine.model.errors import BadInput
from engine.model.ids import ExecutionId

log = logging.getLogger(__name__)

VARIABLE = re.compile(r"\{\{\s*(project|domain)\s*\}\}")
GREETING_SECONDS = 5.0
"""The most that the start of an engine waits for all API servers together."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0


@dataclass(frozen=True, slots=True)
class Question:
    """What every cluster is asked: as much of what an engine needs as is known before the first execution."""

    path: str
    needed: bool
    """Whoever may not see this can't run a pod."""

    @classmethod
    def of(cls, namespace: str) -> Question:
        variable = VARIABLE.search(namespace) is not None
        return cls("/api", False) if variable else cls(f"/api/v1/namespaces/{namespace}/pods", True)


class Reached:
    """One cluster."""

    def __init__(self, login: Login, cluster: Cluster, calls: int) -> None:
        self.login, self.cluster = login, cluster
        self.creating = Slots(calls)
        """Of pods."""
        self.trouble = f"no answer within {GREETING_SECONDS:g} seconds"
        """Why it can't be used, from the start of the engine to its first good answer; empty from then on."""

    async def greet(self, question: Question) -> Answer | None:
        """What stands in the way; None: nothing."""
        try:
            await self.cluster.get(question.path, {"limit": "1"})
        except CallFailed as problem:
            if on_greeting(problem.answer, needed=question.needed) is not Do.GO_ON:
                self.trouble = str(problem)
                return problem.answer
        self.trouble = ""
        return None

    @property
    def name(self) -> str:
        return f"the API server {self.cluster.url} of {self.login}"


class Clusters:
    def __init__(self, options: ClusterOptions, reached: Mapping[str | None, Reached]) -> None:
        self._options, self._reached = options, reached
        self._question = Question.of(options.namespace)

    @classmethod
    @asynccontextmanager
    async def open(cls, options: ClusterOptions) -> AsyncIterator[Clusters]:
        """Raises BadInput for a login that can't be found, and for a server that refuses it."""
        async with AsyncExitStack() as stack:
            reached = {}
            for login in logins(options):
                pace = Pace(options.per_second, options.burst)
                opening = Cluster.open(login, pace, 2 * options.calls)
                reached[login.context] = Reached(login, await stack.enter_async_context(opening), options.calls)
            clusters = cls(options, reached)
            await clusters._greet_all()
            yield clusters

    def of(self, execution: ExecutionId) -> tuple[str | None, Reached]:
        """With its context."""
        context = context_of(self._options, execution)
        return context, self._reached[context]

    @property
    def trouble(self) -> str:
        """Which clusters have not been reached since the start, and why; empty: all have."""
        return "; ".join(f"{it.name} can't be used yet: {it.trouble}" for it in self._reached.values() if it.trouble)

    async def _greet_all(self) -> None:
        """Raises BadInput where one refuses."""
        answers: dict[str | None, Answer | None] = {}

        async def greet(context: str | None, it: Reached) -> None:
            answers[context] = await it.greet(self._question)

        with anyio.move_on_after(GREETING_SECONDS):
            async with anyio.create_task_group() as group:
                for context, it in self._reached.items():
                    group.start_soon(greet, context, it)
        for context, answer in answers.items():
            if answer is not None and on_greeting(answer, needed=self._question.needed) is Do.GIVE_UP:
                raise BadInput(_refusal(self._reached[context], answer))

    async def keep_asking(self) -> None:
        """Until every cluster has been reached."""
        async with anyio.create_task_group() as group:
            for it in self._reached.values():
                if it.trouble:
                    group.start_soon(self._ask_until_reached, it)

    async def _ask_until_reached(self, it: Reached) -> None:
        waits, told, began = Waits(FIRST_WAIT, LONGEST_WAIT), "", anyio.current_time()
        while it.trouble:
            if it.trouble != told:
                told = it.trouble
                log.warning("a cluster can't be used yet, will try again", extra={"cluster": it.name, "cause": told})
            await waits.wait()
            await it.greet(self._question)
        seconds = round(anyio.current_time() - began, 1)
        log.warning("a cluster can be used now", extra={"cluster": it.name, "seconds": seconds})


def context_of(options: ClusterOptions, execution: ExecutionId) -> str | None:
    return options.contexts.get(f"{execution.project}:{execution.domain}", options.context)


def namespace_of(options: ClusterOptions, execution: ExecutionId) -> str:
    parts = {"project": execution.project, "domain": execution.domain}
    return VARIABLE.sub(lambda found: parts[found[1]], options.namespace)


def logins(options: ClusterOptions) -> list[Login]:
    """One for each context that some execution may be in."""
    found = {options.context: Login(options.kubeconfig, options.context)}
    for place, context in options.contexts.items():
        found.setdefault(context, Login(options.kubeconfig, context, f"kubernetes.contexts, of {place}"))
    return list(found.values())


def _refusal(it: Reached, answer: Answer) -> str:
    said = f"{answer.status} {answer.message or answer.reason}".strip()
    if answer.status == HTTPStatus.UNAUTHORIZED:
        what, expected = "does not take its credentials", "a token or certificate that is valid there"
    else:
        what, expected = "does not let its user see pods", "a user with the rights that docs/kubernetes.md lists"
    return f"{it.name} {what}: {said}; expected {expected}; nothing was started"
