"""`propwash run` where a service works on the home: that one runs the execution, and this command shows it.

The engine of another command is not used so: it ends with its own execution, and would end the tasks of this one.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from engine.app import Parts
from engine.cli.finish import finish, resume_command
from engine.cli.request import Request
from engine.cli.screen import tell
from engine.cli.verdict import Context
from engine.cli.views import announce
from engine.cli.watch import to_the_end
from engine.homes import open_parts, read_home
from engine.model import layout
from engine.model.errors import HomeInUse
from engine.model.events import ExecutionSubmitted
from engine.reach import answers, reach, serves
from engine.registries import open_registry
from engine.wire.package import Package, pack


async def take(stack: AsyncExitStack, request: Request, *, warm: bool = False) -> Parts | None:
    """The parts of an engine of our own on the home; None where a service has it. Raises as `open_parts`."""
    home = request.options.home
    try:
        return await stack.enter_async_context(open_parts(home, request.settings, warm=warm))
    except HomeInUse as problem:
        if await serves(home):
            return None
        if not await answers(home):
            raise
        raise HomeInUse(
            f"{problem}. It is another command, which ends with its execution; a home that `propwash serve` works on "
            "takes any number of runs side by side"
        ) from problem


async def join(context: Context, request: Request, package: Package, asked: ExecutionSubmitted, inputs: bytes) -> int:
    """Hand the execution in, show it to its end, report. Raises BadInput, EngineGone, HomeInUse: nobody answers."""
    options, settings, execution = request.options, request.settings, asked.execution
    home, as_json = options.home, options.as_json
    async with open_registry(home, settings) as registry:
        uri = registry.blobs.uri(layout.package(package.digest))
        await registry.blobs.put(uri, pack(package), durable=True)
    async with read_home(home, settings) as view:
        known = (await view.log.find([execution])).get(execution)
    async with reach(home, settings) as contact:
        await contact.submit(asked, inputs)
        if known is not None and known.terminal:
            tell(f"execution {execution.name} has {known.phase.value} already: this is its result, nothing ran")
        elif contact.engine is None:
            await announce(execution, quiet=as_json)
            tell(f"the service on home {home} runs execution {execution.name}, with its own settings")
        goes_on = "goes on with: " + resume_command(home) if contact.engine else "goes on where it is"
        context.hint = f"execution {execution.name} {goes_on}"
        async with to_the_end(contact, home, settings, execution, quiet=as_json) as found:
            context.hint = ""
            return await finish(found, [execution], home, as_json=as_json)
