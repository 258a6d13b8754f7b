"""Whatever bytes a package holds: they compile, with problems or without, or the package is refused by name."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.errors import BadPackage
from engine.wire.compile import compile_package
from engine.wire.lookup import reachable_problems
from engine.wire.package import PackageFiles, pack, unpack
from engine.wire.registration import register
from tests.literal_types import INT, STR, list_of, optional
from tests.packages import calls, constant, files, items, map_node, node, output, plan, task, workflow
from tests.packages import given as given_input

SUB = workflow("m.sub", node("n0", {"a": given_input("n")}), gives={"o0": (INT, output("n0"))})
SPEC = workflow(
    "m.w",
    node("n0", {"a": given_input("n")}),
    map_node("n1", {"a": items(output("n0"), constant(3))}, runs="m.map"),
    calls("n2", {"n": output("n0")}, workflow="m.sub"),
    calls("n3", {"n": constant(1)}, plan="m.sub", after=["n1"]),
    gives={"o0": (INT, output("n2"))},
)
SOUND = files(
    task("m.t"),
    task("m.map", {"a": list_of(INT)}, {"o0": list_of(optional(STR))}),
    SUB,
    SPEC,
    plan("m.sub", SUB, defaults={"n": 4}),
)


@st.composite
def damaged(draw: st.DrawFn) -> PackageFiles:
    """A sound package with some bytes of one file changed, removed or added."""
    name = draw(st.sampled_from(sorted(SOUND.files)))
    data = bytearray(SOUND.files[name])
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data) - 1))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return PackageFiles("damaged", {**SOUND.files, name: bytes(data)})


@settings(max_examples=500)
@given(damaged())
def test_it_compiles_or_is_refused(found: PackageFiles) -> None:
    try:
        package = register(found, project="p", domain="d", version="v1")
    except BadPackage:
        return
    assert unpack(pack(package), "x") == package
    compiled = compile_package(package)
    for entity in compiled.program.workflows:
        for problem in reachable_problems(compiled, entity, ()):
            assert str(problem)
