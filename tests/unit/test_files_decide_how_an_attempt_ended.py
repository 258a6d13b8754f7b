"""User cases S01 and S02: the verdict follows from the files of an attempt, not from its exit status alone."""

from __future__ import annotations

import pytest

from engine.machine.judge import ErrorDocument, Evidence, Verdict, judge
from engine.ports.taskrunner import Exit, ExitReason

ENDED = Exit(ExitReason.EXITED, 0)
PLAIN = ErrorDocument("USER:RuntimeError", "ValueError: boom 3", recoverable=False, system=False)
RECOVERABLE = ErrorDocument("USER:Recoverable", "flaky", recoverable=True, system=False)
OLD_SDK = ErrorDocument(
    "SYSTEM:Unknown",
    "TypeTransformerFailedError: Failed to convert inputs of task 'ot.ls': Error converting input 'xs' at position 0: "
    "The expected python type is 'typing.List[str]' but the received Flyte literal value is not a collection",
    recoverable=True,
    system=True,
)
TOO_LARGE = ErrorDocument(
    "SYSTEM",
    "ValueError: Literal o0 is too large to be offloaded. Max literal size is 1 whereas the literal size is 2 bytes",
    recoverable=True,
    system=True,
)
ODD_OUTPUT = ErrorDocument("UNKNOWN_OUTPUT", "Type of output received not handled", recoverable=True, system=True)
QUOTING = ErrorDocument("USER:Recoverable", "is too large to be offloaded", recoverable=True, system=False)
SYSTEM = ErrorDocument("SYSTEM", "could not load the module", recoverable=True, system=True)


def seen(evidence: Evidence) -> tuple[str, str, bool] | None:
    """Code, kind and whether it may be tried again; None for success."""
    verdict = judge(evidence)
    if verdict.failure is None:
        return None
    return verdict.failure.code, verdict.failure.kind.value, verdict.recoverable


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param(
            Evidence(ENDED, ("o0",), error=PLAIN), ("USER:RuntimeError", "USER", False), id="S01a error.pb, exit 0"
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error=PLAIN, outputs={"o0": 5}),
            ("USER:RuntimeError", "USER", False),
            id="S01b error.pb beside outputs.pb: the error wins",
        ),
        pytest.param(Evidence(ENDED, ("o0",)), ("OutputsNotFound", "SYSTEM", True), id="S01c exit 0, nothing written"),
        pytest.param(Evidence(ENDED, (), outputs={}), None, id="S01d an empty outputs.pb is a success"),
        pytest.param(Evidence(ENDED, ()), None, id="no outputs declared, nothing written"),
        pytest.param(Evidence(ENDED, ("o0",), outputs={"o0": 5}), None, id="success"),
        pytest.param(
            Evidence(Exit(ExitReason.LOST), ("o0",), outputs={"o0": 5}), None, id="a lost task with outputs succeeded"
        ),
        pytest.param(
            Evidence(Exit(ExitReason.LOST), ("o0",)), ("ResourceDeletedExternally", "SYSTEM", True), id="a lost task"
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error=RECOVERABLE), ("USER:Recoverable", "USER", True), id="S02b recoverable"
        ),
        pytest.param(Evidence(ENDED, ("o0",), error=SYSTEM), ("SYSTEM", "SYSTEM", True), id="flytekit itself failed"),
        pytest.param(
            Evidence(ENDED, ("o0",), error=OLD_SDK),
            ("SYSTEM:Unknown", "SYSTEM", False),
            id="a value that an old SDK can't read is not read better the next time",
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error=TOO_LARGE),
            ("OffloadTooLarge", "USER", False),
            id="a value above the SDK's maximum is the author's",
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error=ODD_OUTPUT),
            ("UNKNOWN_OUTPUT", "SYSTEM", False),
            id="a result that is no output does not become one",
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error=QUOTING),
            ("USER:Recoverable", "USER", True),
            id="the author's own error may say whatever it wants",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.EXITED, 1), ("o0",)), ("Error", "USER", True), id="S02d exit 1, no error.pb"
        ),
        pytest.param(
            Evidence(Exit(ExitReason.EXITED, 1), ("o0",), error=PLAIN),
            ("USER:RuntimeError", "USER", False),
            id="exit 1 with error.pb: the document is believed",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.EXITED, 3), ("o0",), outputs={"o0": 5}),
            ("Error", "USER", True),
            id="exit 3 with outputs.pb: not a success",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.OOM_KILLED), ("o0",)), ("OOMKilled", "USER", True), id="S02e out of memory"
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), error_problem="wrong wire type"),
            ("ErrorFileBadFormat", "SYSTEM", True),
            id="S02f random bytes in error.pb",
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), outputs_problem="cut off at byte 7"),
            ("OutputsNotFound", "SYSTEM", True),
            id="truncated outputs.pb",
        ),
        pytest.param(
            Evidence(ENDED, ("o0", "o1"), outputs={"o0": 5}),
            ("OutputsNotFound", "SYSTEM", True),
            id="S13 a declared variable is missing",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.SIGNALLED, 9), ("o0",)), ("Interrupted", "SYSTEM", True), id="killed from outside"
        ),
        pytest.param(
            Evidence(Exit(ExitReason.SIGNALLED, 11), ("o0",)), ("Error", "USER", True), id="segmentation fault"
        ),
        pytest.param(
            Evidence(Exit(ExitReason.TIMED_OUT, 0, "after 60 s"), ("o0",)),
            ("TimeoutExpired", "USER", True),
            id="timeout",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.REFUSED, 0, "no such program"), ("o0",)),
            ("FailedToBuildResource", "USER", False),
            id="could not be started as asked",
        ),
        pytest.param(
            Evidence(Exit(ExitReason.NOT_STARTED, 0, "no memory"), ("o0",)),
            ("FailedToStart", "SYSTEM", True),
            id="could not be started",
        ),
        pytest.param(
            Evidence(ENDED, ("o0",), has_futures=True, error=PLAIN),
            ("USER:RuntimeError", "USER", False),
            id="an error beside a plan wins",
        ),
    ],
)
def test_the_verdict(evidence: Evidence, expected: tuple[str, str, bool] | None) -> None:
    assert seen(evidence) == expected


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (Evidence(ENDED, error=PLAIN), ["boom 3"]),
        (Evidence(ENDED, ("o0", "o1"), outputs={"o0": 5}), ["o1", "o0"]),
        (Evidence(ENDED, error_problem="wrong wire type"), ["error document could not be read", "wrong wire type"]),
        (Evidence(Exit(ExitReason.EXITED, 7, "last words")), ["status 7", "last words"]),
        (Evidence(Exit(ExitReason.SIGNALLED, 9)), ["signal 9"]),
        (Evidence(Exit(ExitReason.OOM_KILLED)), ["OOMKilled"]),
    ],
)
def test_the_message_says_what_was_seen(evidence: Evidence, words: list[str]) -> None:
    failure = judge(evidence).failure

    assert failure is not None
    assert all(word in failure.message for word in words)


def test_the_sizes_of_outputs_are_passed_on_for_the_gather() -> None:
    assert judge(Evidence(ENDED, ("o0",), outputs={"o0": 1042})) == Verdict(output_bytes={"o0": 1042})


@pytest.mark.parametrize("outputs", [None, {"o0": 5}])
def test_a_plan_is_not_an_output(outputs: dict[str, int] | None) -> None:
    assert judge(Evidence(ENDED, ("o0",), has_futures=True, outputs=outputs)) == Verdict(planned=True)


def test_a_task_that_dies_after_its_plan_has_failed() -> None:
    assert judge(Evidence(Exit(ExitReason.EXITED, 3), ("o0",), has_futures=True)).planned is False


def test_a_huge_error_text_keeps_its_head_and_its_tail() -> None:
    document = ErrorDocument("USER:RuntimeError", "first" + "x" * 2_599_990 + "last", recoverable=False, system=False)
    failure = judge(Evidence(ENDED, error=document)).failure

    assert failure is not None
    assert len(failure.message) < 16_500
    assert failure.message.startswith("first")
    assert failure.message.endswith("last")
    assert "characters cut" in failure.message


@pytest.mark.parametrize(("size", "accepted"), [(1999, True), (2000, False), (2001, False)])
def test_a_value_must_be_smaller_than_the_maximum(size: int, accepted: bool) -> None:
    verdict = judge(Evidence(ENDED, ("o0",), outputs={"o0": 60}, values={"o0": size}), 2000)

    assert (verdict.failure is None) == accepted
    if verdict.failure is not None:
        assert (verdict.failure.code, verdict.failure.kind.value, verdict.recoverable) == (
            "OffloadTooLarge",
            "USER",
            False,
        )
        assert verdict.failure.message == (
            f"output 'o0' is {size} bytes; offloading.max_size is 2000 bytes, and a value must be smaller than that"
        )


def test_without_offloading_there_is_no_maximum() -> None:
    assert judge(Evidence(ENDED, ("o0",), outputs={"o0": 60}, values={"o0": 10**12})).failure is None


def test_what_the_runner_adds_in_brackets_reads_on() -> None:
    failure = judge(Evidence(Exit(ExitReason.SIGNALLED, 9, "(SIGKILL; peak memory 60 MiB)"))).failure

    assert failure is not None
    assert failure.message == "the task was killed by signal 9 from outside (SIGKILL; peak memory 60 MiB)"
