"""The life of one pod on its node: images, init containers, containers, its end, and its removal when it is deleted."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import aiohttp
import anyio

from tests.backing.kubernetes import processes
from tests.backing.kubernetes.api import STRATEGIC, Api, ApiError
from tests.backing.kubernetes.environment import NotConfigured, environment
from tests.backing.kubernetes.images import BLIP, is_for_another, refusal
from tests.backing.kubernetes.outputs import copy_inputs
from tests.backing.kubernetes.specs import POD_REASONS, Container, Pod, Script, expanded, script_of
from tests.backing.kubernetes.statuses import PodEnd, State, status

RETRY_SECONDS = 0.25
"""Between two tries of a call that the API server did not answer."""


class Life:
    def __init__(self, api: Api, pod: Pod, architecture: str, folder: Path) -> None:
        self._api, self.pod, self._architecture, self._folder = api, pod, architecture, folder
        self._states: dict[str, State] = {}
        self._born = time.time()
        self._end: PodEnd | None = None
        self._ending = anyio.Event()
        self._grace = 0.0
        self._processes: dict[str, processes.Process] = {}
        self._writing = anyio.Lock()
        self._scope = anyio.CancelScope()

    def delete(self, grace: float) -> None:
        """The pod has a deletion time."""
        self._grace = grace
        self._ending.set()

    def gone(self) -> None:
        """The pod's object is no more."""
        self._scope.cancel()

    async def live(self) -> None:
        """Until the pod's object is gone. Cancelling kills what runs."""
        try:
            with self._scope:
                if not self.pod.ended:
                    await self._until_its_end()
                await self._ending.wait()
                precondition = {"uid": self.pod.metadata.uid}
                await self._insist(
                    lambda: self._api.delete(self.pod.path, {"gracePeriodSeconds": 0, "preconditions": precondition})
                )
        finally:
            for each in self._processes.values():
                each.signal(signal.SIGKILL)

    async def _until_its_end(self) -> None:
        script = script_of(self.pod)
        async with anyio.create_task_group() as group:
            group.start_soon(self._see_to_the_end)
            await (self._play(script) if script else self._run())
            group.cancel_scope.cancel()

    async def _see_to_the_end(self) -> None:
        """Once it is to end: SIGTERM, and SIGKILL after its grace."""
        deadline = self.pod.spec.active_deadline_seconds
        with anyio.move_on_after(deadline) as within:
            await self._ending.wait()
        if within.cancelled_caught:
            self._end = PodEnd("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
        for each in self._processes.values():
            each.signal(signal.SIGTERM)
        await anyio.sleep(self._grace)
        for each in self._processes.values():
            each.signal(signal.SIGKILL)

    async def _run(self) -> None:
        async with anyio.create_task_group() as sidecars:
            for each in self.pod.spec.init_containers:
                if each.restart_policy == "Always":
                    sidecars.start_soon(self._container, each)
                elif await self._container(each):
                    break
            else:
                async with anyio.create_task_group() as regular:
                    for each in self.pod.spec.containers:
                        regular.start_soon(self._container, each)
            for process in self._processes.values():
                process.signal(signal.SIGTERM)

    async def _container(self, container: Container) -> int:
        """Its exit code."""
        for reason, message in refusal(container.image, self._architecture):
            await self._say({container.name: State(reason=reason, message=message)})
            if reason != BLIP:
                return await self._never_runs(container)
        try:
            process = await self._start(container)
        except NotConfigured as error:
            await self._say({container.name: State(reason="CreateContainerConfigError", message=str(error))})
            return await self._never_runs(container)
        except OSError as error:
            text = f"failed to create containerd task: exec: {error}"
            ended = State(ended=time.time(), exit=processes.NOT_FOUND, reason="StartError", message=text)
            await self._say({container.name: ended})
            return ended.exit
        self._processes[container.name] = process
        began = time.time()
        await self._say({container.name: State(began)})
        code = await process.wait()
        del self._processes[container.name]
        from_log = code and container.termination_message_policy == "FallbackToLogsOnError"
        message = processes.tail(self._log(container)) if from_log else ""
        await self._say({container.name: State(began, time.time(), code, "Error" if code else "Completed", message)})
        return code

    async def _start(self, container: Container) -> processes.Process:
        """Raises NotConfigured, OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        env = await environment(self._api, self.pod, container)
        argv = [expanded(word, env) for word in (*container.command, *container.args)]
        if is_for_another(container.image, self._architecture):
            argv = ["sh", "-c", 'echo "exec $0: exec format error" >&2; exit 1', argv[0]]
        if shutil.which(argv[0], path=env["PATH"]) is None:
            raise FileNotFoundError(f'"{argv[0]}": executable file not found in $PATH')
        folder = Path(container.working_dir or self._folder)
        return await processes.start(argv, env, folder, self._log(container))

    def _log(self, container: Container) -> Path:
        return self._folder / f"{container.name}.log"

    async def _never_runs(self, container: Container) -> int:
        await self._ending.wait()
        await self._say({container.name: State(ended=time.time(), exit=137, reason="ContainerStatusUnknown")})
        return 137

    async def _play(self, script: Script) -> None:
        names = [each.name for each in self.pod.spec.containers]
        self._states |= {each.name: State(0.0, 0.0) for each in self.pod.spec.init_containers}
        if script.waits:
            await self._say({name: State(reason=script.waits, message=script.message) for name in names})
            with anyio.move_on_after(script.waits_seconds):
                await self._ending.wait()
        began = time.time()
        if not self._ending.is_set():
            await self._say(dict.fromkeys(names, State(began)))
            with anyio.move_on_after(script.runs_seconds):
                await self._ending.wait()
        if self._ending.is_set():
            await anyio.sleep(self._grace if script.stubborn else 0)
            code, reason, message = 137 if script.stubborn else 143, "Error", ""
        else:
            code, reason, message = script.exit, script.reason, script.message
            if script.copies and not code:
                copy_inputs(self.pod.spec.containers[0])
        if reason in POD_REASONS:
            self._end, reason = PodEnd(reason, message), ""
        ended = State(began, time.time(), code, reason or ("Error" if code else "Completed"), message)
        await self._say(dict.fromkeys(names, ended))

    async def _say(self, states: Mapping[str, State]) -> None:
        """Write the pod's status."""
        self._states |= states
        async with self._writing:
            patch = status(self.pod, self._states, self._born, self._end)
            patch["metadata"] = {"uid": self.pod.metadata.uid}
            await self._insist(lambda: self._api.patch(f"{self.pod.path}/status", patch, STRATEGIC))

    async def _insist(self, call: Callable[[], Awaitable[object]]) -> None:
        """Until the API server has done it, or the pod is no more."""
        while True:
            try:
                await call()
            except ApiError as error:
                if error.status in (404, 409):
                    self._scope.cancel()
                elif error.status != 429 and error.status < 500:
                    raise
            except (aiohttp.ClientError, TimeoutError):
                """It is down; it will come back."""
            else:
                return
            await anyio.sleep(RETRY_SECONDS)
