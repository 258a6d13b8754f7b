"""One attempt of a task, from its resolved inputs to the event that ends it."""

from __future__ import annotations

import logging

import anyio
from msgspec import Struct, structs

from engine.data.container import container_of
from engine.data.copilot import collect, provide
from engine.data.echo import ECHO, echo
from engine.data.environment import environment
from engine.data.evidence import is_whole_plan, read_evidence
from engine.data.gate import admit
from engine.data.placed import placement_of
from engine.data.podneeds import pod_needs
from engine.data.references import find_references
from engine.data.template import render, unfilled, without_download
from engine.machine.judge import Evidence, judge
from engine.model import layout
from engine.model.effects import RunElement, RunTask
from engine.model.errors import MESSAGE_LIMIT, Failure, Permanent, StoreRefused, Transient, shorten
from engine.model.events import AttemptFailed, AttemptStarted, AttemptSucceeded
from engine.model.ids import AttemptKey
from engine.ports.services import Services
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

log = logging.getLogger(__name__)
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.1, 10.0
ROOM_AROUND = 2048
"""Characters of a message left for what maps and parents say around it, so that it is not cut once more."""
PROBE, ROOM = "room", 64 * 1024
"""Name and bytes of an object that is written only to see whether it can be."""


class Planned(Struct, frozen=True):
    """The end of a @dynamic task: it left a plan in place of its outputs."""

    uri: str
    """Its futures.pb."""


End = AttemptSucceeded | AttemptFailed | Planned


async def run_attempt(services: Services, effect: RunTask | RunElement, inputs: bytes) -> End:
    """Gate and store the inputs (a serialized `LiteralMap`), run the task, judge it.

    The start is reported meanwhile. A Permanent becomes AttemptFailed; a Transient is raised, and so is StoreFailed.
    `resumed`: an engine may have died after this attempt ended; a finished folder is believed, not run again. Where
    tasks outlive the engine, the runner finds out what became of it.
    """
    key, task = effect.key, effect.task
    folder = _Folder(services, key, tuple(task.interface.outputs))
    try:
        if task.type == ECHO:
            return await echo(services.blobs, key, task, inputs)
        if effect.resumed and services.runner.outlives:
            effect = await _seen_before(folder, effect)
        elif effect.resumed and (found := await _earlier_end(services, folder)) is not None:
            return found
        request = await _prepared(services, folder, effect, inputs)
        await services.decided()
        await _vet(services, request, effect.resumed)
        ended = await services.runner.run(request, folder.begin)
        if request.container is not None and request.container.mounts and ended.well:
            await collect(services.blobs, key, task)
    except Permanent as problem:
        return AttemptFailed(key, problem.failure, problem.recoverable)
    evidence = await folder.read_patiently(ended)
    outcome = folder.judged(evidence)
    if isinstance(outcome, AttemptFailed) and evidence.error is None:
        await folder.check_room()
    return outcome


class _Folder:
    """What an attempt leaves behind, and what that means."""

    def __init__(self, services: Services, key: AttemptKey, declared: tuple[str, ...]) -> None:
        blobs, limits = services.blobs, services.offload
        self.blobs, self.key, self.declared = blobs, key, declared
        self.max_bytes = limits.max_size if limits.enabled else None
        self.uri = blobs.uri(layout.attempt_prefix(key))
        self.inputs_uri = blobs.uri(layout.attempt_inputs(key))
        self.services, self.started_at = services, 0.0

    def begin(self) -> None:
        """The task really runs: tell of it."""
        self.started_at = self.services.clock.now()
        self.services.report(AttemptStarted(self.key, self.inputs_uri, at=self.started_at))

    async def read(self, ended: Exit) -> Evidence:
        return await read_evidence(self.blobs, self.uri, ended, self.declared)

    async def read_patiently(self, ended: Exit) -> Evidence:
        """A task that has run must not run again only because its outcome can't be read just now."""
        wait = FIRST_WAIT_SECONDS
        while True:
            try:
                return await self.read(ended)
            except Transient as trouble:
                fields = {"key": str(self.key), "wait": wait, "cause": str(trouble)}
                log.warning("outcome of an attempt can't be read, will try again", extra=fields)
                await anyio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    async def check_room(self) -> None:
        """A task that failed without a word may have found no room for one, and then it is not to blame.

        Raises StoreFailed where the store takes no object of ROOM bytes.
        """
        probe = f"{self.uri}/{PROBE}"
        try:
            await self.blobs.put(probe, bytes(ROOM))
            await self.blobs.delete(probe)
        except (Transient, StoreRefused) as trouble:
            log.warning("can't tell whether the store has room", extra={"key": str(self.key), "cause": str(trouble)})

    async def is_finished(self, evidence: Evidence) -> bool:
        """Whether the files alone are a whole outcome: nothing cut off, nothing missing that they refer to."""
        if evidence.error is not None:
            return not evidence.error_problem
        if evidence.has_futures:
            return is_whole_plan(await self.blobs.get(f"{self.uri}/futures.pb"), self.declared)
        if evidence.outputs is None or evidence.error_problem or evidence.outputs_problem:
            return False
        if any(name not in evidence.outputs for name in self.declared):
            return False
        found = find_references(await self.blobs.get(f"{self.uri}/outputs.pb"))
        own = [reference.uri for reference in found if reference.uri.startswith(f"{self.uri}/")]
        return all([await self.blobs.size(uri) is not None for uri in own])

    def judged(self, evidence: Evidence) -> End:
        verdict = judge(evidence, self.max_bytes)
        if verdict.failure is not None:
            return AttemptFailed(self.key, self._referred(verdict.failure, evidence), verdict.recoverable)
        if verdict.planned:
            return Planned(f"{self.uri}/futures.pb")
        outputs_uri = "" if evidence.outputs is None else f"{self.uri}/outputs.pb"
        sizes = {} if self.key.index is None else {name: verdict.output_bytes[name] for name in self.declared}
        return AttemptSucceeded(self.key, outputs_uri, sizes, inputs_uri=self.inputs_uri, started_at=self.started_at)

    def _referred(self, failure: Failure, evidence: Evidence) -> Failure:
        """A message that was cut says where the whole text lies."""
        if evidence.error is None:
            return failure
        text = shorten(evidence.error.message, MESSAGE_LIMIT - ROOM_AROUND, f"{self.uri}/error.pb")
        return structs.replace(failure, message=text)


async def _seen_before(folder: _Folder, effect: RunTask | RunElement) -> RunTask | RunElement:
    """An attempt that has left anything in its folder had begun, even if nobody was told of it."""
    evidence = await folder.read(Exit(ExitReason.LOST))
    return structs.replace(effect, begun=effect.begun or evidence.anything)


async def _earlier_end(services: Services, folder: _Folder) -> End | None:
    """The end that this attempt had already come to, or None when it is to run (or goes on running: it is adopted)."""
    evidence = await folder.read(Exit(ExitReason.LOST))
    if await folder.is_finished(evidence):
        await services.runner.stop(folder.key)
        return folder.judged(evidence)
    if evidence.anything:
        await services.runner.stop(folder.key)
        await services.blobs.delete(folder.uri)
    return None


async def _vet(services: Services, request: TaskRequest, resumed: bool) -> None:
    """Raises Permanent."""
    for vetting in services.vetting:
        if (failure := await vetting.refuses(request, resumed=resumed)) is not None:
            raise Permanent(failure)


async def _prepared(services: Services, folder: _Folder, effect: RunTask | RunElement, inputs: bytes) -> TaskRequest:
    """Everything the runner needs: inputs stored, command rendered."""
    blobs, limits = services.blobs, services.offload
    key, spec, task, origin = effect.key, effect.spec, effect.task, effect.origin
    placement = placement_of(effect, services.placement)
    container = container_of(task, spec.overrides)
    argv = container.argv
    if origin.code_root and (services.code_here or unfilled(argv)):
        argv = without_download(argv)
    rendered = await render(blobs, key, task, argv, inputs, origin, expands=services.expands)
    await admit(blobs, task, inputs, limits, folder.inputs_uri)
    raw = None
    if task.raw_container:
        raw = await provide(blobs, key, task, container, inputs, limits.materialise_max)
    return TaskRequest(
        key=key,
        task=task,
        argv=rendered,
        env={**container.env, **origin.overrides.envs, **environment(key, spec, task, origin, limits)},
        prefix_uri=folder.uri,
        timeout_seconds=spec.timeout_seconds,
        interruptible=effect.interruptible,
        code_root=origin.code_root,
        image=container.image,
        overrides=spec.overrides,
        pod=await pod_needs(blobs, effect, len(container.command), inputs),
        begun=effect.begun,
        container=raw,
        placement=placement,
        root=origin.root,
    )
