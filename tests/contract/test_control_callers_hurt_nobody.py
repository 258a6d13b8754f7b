"""The socket of a home: for its owner only, and whatever a caller does, the others are served."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from engine.adapters.control import frames, listener
from engine.adapters.control.caller import calling
from engine.adapters.control.frames import HungUp
from engine.adapters.control.listener import Tell, listening, serve
from engine.model.errors import BadInput, EngineGone, LogFailed
from engine.model.events import AbortRequested
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.wire.control import (
    MAX_BYTES,
    Done,
    Ended,
    Follow,
    Hello,
    Moved,
    Refused,
    Reply,
    Request,
    Send,
    pack_reply,
    pack_request,
    unpack_reply,
)

EXECUTION = ExecutionId("p", "d", "e1")
ABORT = Send((AbortRequested(EXECUTION, "enough"),))


class Answers:
    """Answers each request at once; a Follow hangs after its first answer."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.hung_up = anyio.Event()
        self.problem: Exception | None = None

    async def answer(self, request: Request, tell: Tell) -> None:
        self.requests.append(request)
        if self.problem is not None:
            raise self.problem
        if isinstance(request, Follow):
            await tell(Moved())
            try:
                await anyio.sleep_forever()
            finally:
                self.hung_up.set()
        await tell(Done())


@asynccontextmanager
async def attended(home: Path, answers: Answers) -> AsyncIterator[None]:
    async with listening(home) as socket, anyio.create_task_group() as group:
        assert socket is not None
        group.start_soon(serve, socket, answers.answer)
        yield
        group.cancel_scope.cancel()


async def ask(home: Path, request: Request) -> Reply:
    async with calling(home) as call:
        assert call is not None
        await call.ask(request)
        return await call.reply()


async def raw(home: Path) -> ByteStream:
    stream = await anyio.connect_unix(str(home / "control.sock"))
    assert isinstance(unpack_reply(await frames.receive(stream)), Hello)
    return stream


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


async def test_a_request_is_answered(home: Path) -> None:
    answers = Answers()
    async with attended(home, answers):
        assert await ask(home, ABORT) == Done()
    assert answers.requests == [ABORT]


async def test_only_the_owner_may_call(home: Path) -> None:
    async with attended(home, Answers()):
        mode = (await anyio.Path(home / "control.sock").stat()).st_mode
    assert stat.S_IMODE(mode) == 0o600


async def test_nobody_answers_before_and_after(home: Path) -> None:
    async with calling(home) as call:
        assert call is None
    async with attended(home, Answers()):
        pass
    assert not await anyio.Path(home / "control.sock").exists()
    async with calling(home) as call:
        assert call is None


async def test_what_a_killed_engine_left_is_no_hindrance(home: Path) -> None:
    await anyio.Path(home / "control.sock").write_bytes(b"")
    async with calling(home) as call:
        assert call is None
    async with attended(home, Answers()):
        assert await ask(home, ABORT) == Done()


async def test_a_home_with_a_long_path_has_a_socket_too(home: Path) -> None:
    long = home / ("x" * 200)
    long.mkdir()
    async with attended(long, Answers()):
        assert await ask(long, ABORT) == Done()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\x00junk", "a command can't be read (6 bytes)"),
        (b"\x81\xa2do\xa5dance", "Invalid value 'dance'"),
        (b"\x82\xa2do\xa4send\xa6events\x91\xc4\x01\xc0", "an event can't be read: expected a msgpack map"),
    ],
)
async def test_bytes_that_are_no_request_are_refused_with_the_reason(home: Path, data: bytes, words: str) -> None:
    answers = Answers()
    async with attended(home, answers):
        async with await raw(home) as stream:
            await frames.send(stream, data)
            refused = unpack_reply(await frames.receive(stream))
        assert isinstance(refused, Refused)
        assert words in refused.message
        assert refused.mistake
        assert await ask(home, ABORT) == Done()
    assert answers.requests == [ABORT]


async def test_a_length_beyond_the_limit_is_refused_before_it_is_read(home: Path) -> None:
    async with attended(home, Answers()), await raw(home) as stream:
        await stream.send((MAX_BYTES + 1).to_bytes(4, "big"))
        refused = unpack_reply(await frames.receive(stream))
    assert isinstance(refused, Refused)
    assert f"a message of {MAX_BYTES + 1} bytes is above" in refused.message


async def test_a_caller_that_says_nothing_is_sent_away_in_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "REQUEST_SECONDS", 0.05)
    async with attended(home, Answers()), await raw(home) as stream:
        await stream.send(b"\x00\x00")
        assert await ask(home, ABORT) == Done(), "the others do not wait for it"
        refused = unpack_reply(await frames.receive(stream))
        with pytest.raises(HungUp):
            await frames.receive(stream)
    assert refused == Refused("no command came within 0.05 seconds", mistake=True)


async def test_a_caller_that_hangs_up_is_not_answered_any_more(home: Path) -> None:
    answers = Answers()
    async with attended(home, answers):
        async with await raw(home) as stream:
            await frames.send(stream, pack_request(Follow(EXECUTION)))
            assert unpack_reply(await frames.receive(stream)) == Moved()
        await answers.hung_up.wait()
        assert await ask(home, ABORT) == Done()


async def test_more_callers_than_the_limit_are_told_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "CALLERS", 1)
    async with attended(home, Answers()), await raw(home) as first:
        await frames.send(first, pack_request(Follow(EXECUTION)))
        assert unpack_reply(await frames.receive(first)) == Moved()
        with pytest.raises(BadInput, match="1 commands are being answered already"):
            await ask(home, ABORT)


@pytest.mark.parametrize(
    ("problem", "kind", "words"),
    [
        (BadInput("no such workflow"), BadInput, "no such workflow"),
        (LogFailed("the disk is full"), EngineGone, "could not do it: the disk is full"),
        (KeyError("x"), EngineGone, "could not do it: KeyError: 'x'"),
    ],
)
async def test_what_goes_wrong_is_the_callers_to_know(
    home: Path, problem: Exception, kind: type[Exception], words: str
) -> None:
    answers = Answers()
    answers.problem = problem
    async with attended(home, answers):
        with pytest.raises(kind, match=words):
            await ask(home, ABORT)


async def test_an_engine_that_leaves_hangs_up(home: Path) -> None:
    async with AsyncExitStack() as stack:
        async with attended(home, Answers()):
            call = await stack.enter_async_context(calling(home))
            assert call is not None
            await call.ask(Follow(EXECUTION))
            assert await call.reply() == Moved()
        with pytest.raises(EngineGone, match="has stopped"):
            await call.reply()


def test_every_reply_comes_back_from_its_bytes() -> None:
    for reply in (Hello(7), Done(), Moved(), Ended(ExecutionPhase.FAILED), Refused("why", mistake=True)):
        assert unpack_reply(pack_reply(reply)) == reply


def test_a_command_too_large_is_refused_before_it_is_sent() -> None:
    with pytest.raises(BadInput, match="give large values as files"):
        pack_request(Send((AbortRequested(EXECUTION, "x" * MAX_BYTES),)))
