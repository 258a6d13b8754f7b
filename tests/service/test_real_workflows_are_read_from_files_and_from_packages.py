"""The workflows of tests/workflows, packaged by flytekit itself, in both ways in which an author can hand them over."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sysconfig
from pathlib import Path

import pytest
from anyio import to_thread
from flyteidl.core.literals_pb2 import LiteralMap

from engine.model.graph import START_NODE, ArraySpec, FailurePolicy, Graph, NodeKind
from engine.wire.compile import Compiled, compile_package
from engine.wire.lookup import find_entity, reachable_problems
from engine.wire.package import Package
from engine.wire.packaging import package_file, read_workflows
from engine.wire.registration import register
from tests.packages import literal, plan_id, workflow_id

pytestmark = pytest.mark.service("flytekit")

WORKFLOWS = Path(__file__).parents[1] / "workflows"
MODULES = ("chain", "maps", "plans", "subworkflows", "unsupported", "values")
KINDS = {NodeKind.START, NodeKind.END, NodeKind.TASK, NodeKind.ARRAY, NodeKind.SUBWORKFLOW, NodeKind.LAUNCH_PLAN}


@pytest.fixture(autouse=True)
def _no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


_PACKAGED: dict[str, Package] = {}


async def packaged(file: str) -> Package:
    """Each file once for all tests: importing flytekit takes most of a second."""
    if file not in _PACKAGED:
        files = await package_file(WORKFLOWS / file)
        _PACKAGED[file] = register(files, project="p", domain="d", version="v1")
    return _PACKAGED[file]


async def sound(file: str) -> Compiled:
    compiled = compile_package(await packaged(file))
    assert [str(problem) for problem in compiled.problems] == []
    return compiled


def graph(compiled: Compiled, name: str) -> Graph:
    return compiled.program.workflows[workflow_id(name)]


@pytest.mark.parametrize("module", ["chain", "maps", "plans", "subworkflows", "values"])
async def test_every_workflow_of_a_file_can_be_run(module: str) -> None:
    compiled = await sound(f"{module}.py")
    for plan in compiled.program.launch_plans:
        assert reachable_problems(compiled, plan, KINDS) == ()


def pyflyte_package(folder: Path) -> Path:
    """All modules in one archive, by flytekit's own command."""
    for module in MODULES:
        shutil.copy(WORKFLOWS / f"{module}.py", folder)
    pyflyte = os.path.join(sysconfig.get_path("scripts"), "pyflyte")
    modules = [option for module in MODULES for option in ("--pkgs", module)]
    subprocess.run([pyflyte, *modules, "package", "-o", "all.tgz"], cwd=folder, check=True, capture_output=True)
    return folder / "all.tgz"


async def test_a_package_of_pyflyte_holds_the_same_entities(tmp_path: Path) -> None:
    archive = await to_thread.run_sync(pyflyte_package, tmp_path)
    package = register(await read_workflows(archive), project="p", domain="d", version="v1")
    assert package.code_root == ""
    for module in ("chain", "maps", "plans", "subworkflows", "values"):
        alone = await packaged(f"{module}.py")
        assert set(alone.tasks) <= set(package.tasks)
        assert set(alone.workflows) <= set(package.workflows)
        assert set(alone.launch_plans) <= set(package.launch_plans)
    compiled = compile_package(package)
    assert {problem.severity.value for problem in compiled.problems} == {"capability"}


async def test_a_chain() -> None:
    compiled = await sound("chain.py")
    nodes = graph(compiled, "chain.chain").nodes
    assert {key: spec.upstream for key, spec in nodes.items()} == {
        START_NODE: (),
        "n0": (START_NODE,),
        "second-step": ("n0",),
        "n2": ("n3", "second-step"),
        "n3": (START_NODE,),
        "n4": ("n2",),
        "end-node": ("n4",),
    }
    assert [(nodes[key].retries, nodes[key].timeout_seconds) for key in ("n0", "second-step", "n3")] == [
        (2, 300.0),
        (5, 300.0),
        (0, None),
    ]
    task = compiled.program.task(nodes["n0"].target)
    assert (task.type, task.runtime_type) == ("python-task", "FLYTE_SDK")
    assert task.runtime_version.startswith("1.")


async def test_maps() -> None:
    compiled = await sound("maps.py")

    def array(name: str) -> tuple[int, bool | None, ArraySpec | None]:
        spec = graph(compiled, f"maps.{name}").nodes["n0"]
        assert spec.kind is NodeKind.ARRAY
        return spec.retries, spec.interruptible, spec.array

    (ratio,) = struct.unpack("f", struct.pack("f", 0.6))
    assert array("squares") == (1, None, ArraySpec(parallelism=2, min_success_ratio=1.0))
    assert array("scaled") == (0, None, ArraySpec(min_success_ratio=1.0, bound_inputs=frozenset({"by", "labels"})))
    assert array("mostly_odd") == (0, None, ArraySpec(min_success_ratio=ratio))
    assert array("pairs") == (4, True, ArraySpec(min_success_ratio=1.0))
    assert array("at_least_two") == (0, None, ArraySpec(min_successes=2))


async def test_launch_plans() -> None:
    compiled = await sound("plans.py")
    polite = compiled.program.launch_plans[plan_id("polite")]
    assert polite.workflow == workflow_id("plans.greeting")
    assert list(polite.interface.inputs) == ["name", "times"]
    assert dict(LiteralMap.FromString(polite.defaults).literals) == {"times": literal(3)}
    assert dict(LiteralMap.FromString(polite.fixed).literals) == {"mark": literal(".")}
    assert find_entity(compiled.program, "greeting", "plans") == plan_id("plans.greeting")
    nodes = graph(compiled, "plans.both").nodes
    assert [(nodes[key].kind, nodes[key].target) for key in ("n0", "n1")] == [
        (NodeKind.LAUNCH_PLAN, plan_id("polite")),
        (NodeKind.LAUNCH_PLAN, plan_id("plans.greeting")),
    ]


async def test_sub_workflows() -> None:
    compiled = await sound("subworkflows.py")
    assert graph(compiled, "subworkflows.inner").policy is FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    assert graph(compiled, "subworkflows.middle").nodes["n0"].target == workflow_id("subworkflows.inner")


async def test_a_file_inside_a_package_is_imported_from_above_it() -> None:
    files = await package_file(WORKFLOWS / "nested" / "flows" / "main.py")
    assert (files.code_root, files.module) == (str(WORKFLOWS / "nested"), "flows.main")
    compiled = compile_package(register(files, project="p", domain="d"))
    assert {id.name for id in compiled.program.tasks} == {"flows.tasks.shout"}
    assert compiled.program.code_root == str(WORKFLOWS / "nested")


REFUSED = {
    "branches": "node n0: conditional('small'): nodes of kind 'branch' can't be run",
    "eagerly": "task unsupported.eagerly: it is an @eager workflow, which starts its tasks through a Flyte admin",
    "elsewhere": "it runs the launch plan their.plan of elsewhere/production, version v8, which is not in this package",
}


async def test_what_has_no_handler_is_refused_by_name() -> None:
    compiled = compile_package(await packaged("unsupported.py"))
    for name, reason in REFUSED.items():
        problems = reachable_problems(compiled, plan_id(f"unsupported.{name}"), KINDS)
        assert [problem for problem in map(str, problems) if reason in problem], name
    assert reachable_problems(compiled, plan_id("unsupported.sound"), KINDS) == ()


async def test_three_packagings_of_a_file_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        files = await package_file(WORKFLOWS / "unsupported.py")
        digests.add(register(files, project="p", domain="d").digest)
    assert len(digests) == 1
