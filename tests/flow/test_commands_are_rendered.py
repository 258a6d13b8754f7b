"""Template variables in commands, as Flyte renders them: any case, once, and never half."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from flyteidl.core import literals_pb2

from engine.data.template import render, without_download
from engine.model.errors import ErrorKind, Permanent
from engine.model.ids import AttemptKey
from tests.dataplane import (
    EXECUTION,
    KEY,
    Literal,
    RecordingBlobs,
    packed,
    reference,
    serialized,
    serialized_literal,
    union,
)
from tests.programs import task

BASE = "memory://store/metadata/propeller/p-d-e1/n1/data"
SPEC = task("work")


async def rendered(*argv: str, **inputs: object) -> tuple[str, ...]:
    return await render(RecordingBlobs(), KEY, SPEC, argv, serialized(**inputs))


async def rendered_for(key: AttemptKey, *argv: str) -> tuple[str, ...]:
    return await render(RecordingBlobs(), key, SPEC, argv, b"")


async def refused(*argv: str, **inputs: object) -> str:
    with pytest.raises(Permanent) as problem:
        await rendered(*argv, **inputs)
    failure = problem.value.failure
    assert (failure.code, failure.kind) == ("FailedToBuildResource", ErrorKind.USER)
    return failure.message


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{.input}}", f"{BASE}/inputs.pb"),
        ("{{ .Input }}", f"{BASE}/inputs.pb"),
        ("{{$INPUT}}", f"{BASE}/inputs.pb"),
        ("{{ .inputPrefix }}", BASE),
        ("{{ .outputPrefix }}/x", f"{BASE}/0/x"),
        ("{{ .checkpointOutputPrefix }}", None),
        ("{{ .prevCheckpointPrefix }}", '""'),
        ("{{ .namespace }}", "p-d"),
        ("{{ .taskTemplatePath }}", f"{BASE}/task.pb"),
        ("plain {{ }} {{x}}", "plain {{ }} {{x}}"),
    ],
)
async def test_variables_of_every_command(template: str, value: str | None) -> None:
    (found,) = await rendered(template)
    if value is None:
        assert found.endswith("/_flytecheckpoints")
    else:
        assert found == value


async def test_the_task_template_is_stored_only_when_a_command_asks_for_it() -> None:
    blobs = RecordingBlobs()
    await render(blobs, KEY, SPEC, ["{{.input}}"], b"")
    assert blobs.objects == {}
    (uri,) = await render(blobs, KEY, SPEC, ["{{.TaskTemplatePath}}"], b"")
    assert blobs.objects == {uri: SPEC.template}


async def test_every_attempt_has_a_folder_a_raw_folder_and_a_checkpoint_of_its_own() -> None:
    variables = (
        "{{.outputPrefix}}",
        "{{.rawOutputDataPrefix}}",
        "{{.checkpointOutputPrefix}}",
        "{{.perRetryUniqueKey}}",
    )
    keys = [KEY, AttemptKey(EXECUTION, "n1", 1), AttemptKey(EXECUTION, "n1", 0, 0), AttemptKey(EXECUTION, "n1", 0, 1)]
    found = [value for key in keys for value in await rendered_for(key, *variables)]
    assert len(set(found)) == len(found)
    assert all(len(value) <= 63 for value in found[3::4])


async def test_a_later_attempt_gets_the_checkpoint_of_the_one_before() -> None:
    (first,) = await rendered("{{.checkpointOutputPrefix}}")
    assert await rendered_for(AttemptKey(EXECUTION, "n1", 1), "{{.prevCheckpointPrefix}}") == (first,)


async def test_an_element_reads_inputs_of_its_own() -> None:
    (found,) = await rendered_for(AttemptKey(EXECUTION, "n1", 2, 5), "{{.input}}")
    assert found == f"{BASE}/0/5/2/inputs.pb"


def stamped(seconds: float) -> Literal:
    value = Literal()
    value.scalar.primitive.datetime.FromDatetime(datetime.fromtimestamp(seconds, UTC))
    return value


def lasting(nanoseconds: int) -> Literal:
    value = Literal()
    value.scalar.primitive.duration.FromNanoseconds(nanoseconds)
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (-2.5, "-2.5"),
        (3.0, "3"),
        (1e21, "1e+21"),
        (True, "true"),
        ("a b", "a b"),
        ([1, 2, 3], "[1,2,3]"),
        ([[True], []], "[[true],[]]"),
        (union(4), "4"),
        (stamped(0), "1970-01-01T00:00:00Z"),
        (stamped(1.5), "1970-01-01T00:00:01.500Z"),
        (lasting(0), "0s"),
        (lasting(1), "1ns"),
        (lasting(1_500), "1.5µs"),
        (lasting(250_000_000), "250ms"),
        (lasting(1_500_000_000), "1.5s"),
        (lasting(90_000_000_000), "1m30s"),
        (lasting(-3_723_500_000_000), "-1h2m3.5s"),
        (Literal(scalar=literals_pb2.Scalar(blob=literals_pb2.Blob(uri="s3://b/k"))), "s3://b/k"),
        ("{{ .input }}", "{{ .input }}"),
    ],
)
async def test_an_input_becomes_text(value: object, text: str) -> None:
    assert await rendered("--x={{ .Inputs.x }}!", x=value) == (f"--x={text}!",)


async def test_input_names_keep_their_case() -> None:
    assert await rendered("{{.inputs.X}}{{.INPUTS.x}}", X=1, x=2) == ("12",)


async def test_an_offloaded_input_is_fetched_for_its_text_unless_it_is_too_long() -> None:
    blobs = RecordingBlobs()
    uri = blobs.uri("v_offloaded_metadata.pb")
    await blobs.put(uri, serialized_literal([1, 2]))
    assert await render(blobs, KEY, SPEC, ["{{.inputs.x}}"], serialized(x=reference(uri, 9))) == ("[1,2]",)
    assert "200000 bytes are too long for a command" in await refused("{{.inputs.x}}", x=reference(uri, 200_000))


@pytest.mark.parametrize("value", [{"a": 1}, None, packed({"a": 1})])
async def test_a_value_without_a_text_form_is_refused(value: object) -> None:
    assert "the command of task work uses {{ .inputs.x }}, which is a " in await refused("{{.inputs.x}}", x=value)


async def test_unknown_variables_are_refused() -> None:
    message = await refused("{{ .inputs.y }}", x=1)
    assert message == "the command of task work uses {{ .inputs.y }}, but there is no such input; there are: x"
    assert "uses {{ .outputPrefx }}, which is not known; known are: " in await refused("{{ .outputPrefx }}")


def test_a_fast_registered_command_loses_what_fetches_the_code() -> None:
    command = ("pyflyte-execute", "--inputs", "i", "--", "task-module", "m")
    prefix = (
        "pyflyte-fast-execute",
        "--additional-distribution",
        "{{ .remote_package_path }}",
        "--dest-dir",
        "/app",
        "--",
    )
    assert without_download((*prefix, *command)) == command
    assert without_download(command) == command


async def test_whoever_expands_commands_leaves_values_as_they_are() -> None:
    words = ("$(HOME)/{{.inputs.x}}", "$$ $(date)", "{{.inputs.x}}")
    made = await render(RecordingBlobs(), KEY, SPEC, words, serialized(x="$(A) $$"), expands=True)
    assert made == ("$(HOME)/$$(A) $$$$", "$$ $(date)", "$$(A) $$$$")
    assert await rendered(*words, x="$(A) $$") == ("$(HOME)/$(A) $$", "$$ $(date)", "$(A) $$")
