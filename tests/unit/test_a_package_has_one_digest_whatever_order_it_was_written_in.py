"""flytekit writes sets and maps in any order; the digest is that of the content."""

from __future__ import annotations

from flyteidl.admin.workflow_pb2 import WorkflowSpec
from msgspec import structs

from engine.wire.package import PackageFiles
from engine.wire.registration import register
from tests.literal_types import INT, STR
from tests.packages import files, given, map_node, node, output, registered, task, workflow


def flow(*, backwards: bool) -> WorkflowSpec:
    def order(names: list[str]) -> list[str]:
        return names[::-1] if backwards else names

    inputs = {name: INT if name == "n" else STR for name in order(["k", "n", "s"])}
    return workflow(
        "m.w",
        node("n0", {"a": given("n")}),
        node("n1", {"a": given("n")}),
        node("n2", {"a": output("n0")}, after=order(["n0", "n1"])),
        map_node("n3", {"a": given("n")}, bound_inputs=order(["a", "b"])),
        inputs=inputs,
    )


def test_the_order_of_sets_maps_and_files_does_not_count() -> None:
    one = registered(task("m.t"), flow(backwards=False))
    other = registered(flow(backwards=True), task("m.t"))
    assert one.digest == other.digest


def test_other_content_has_another_digest() -> None:
    same = registered(task("m.t"), flow(backwards=False))
    assert registered(task("m.t"), workflow("m.w")).digest != same.digest
    assert structs.replace(same, code_root="/elsewhere").digest != same.digest


def version_of(given: PackageFiles) -> str:
    return register(given, project="p", domain="d").version


def test_a_version_that_nobody_gave_is_derived_from_the_content() -> None:
    version = version_of(files(task("m.t"), flow(backwards=False)))
    assert len(version) == 16
    assert version == version_of(files(flow(backwards=True), task("m.t")))
    assert version == version_of(files(task("m.t"), task("m.t"), flow(backwards=False)))
    assert version != version_of(files(task("m.t"), task("m.other"), flow(backwards=False)))


def test_the_derived_version_is_in_every_id() -> None:
    package = register(files(task("m.t"), flow(backwards=False)), project="p", domain="d")
    template = WorkflowSpec.FromString(package.workflows[0]).template
    assert template.id.version == template.nodes[0].task_node.reference_id.version == package.version
