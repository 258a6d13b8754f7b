"""SIGKILL of the engine at each of its crash hooks while pods run: none is deleted, none is made twice, all finish."""

from __future__ import annotations

import pytest

from tests.backing.kubernetes.specs import Script
from tests.clusters import phases
from tests.service.podtrials import Make, all_run, engines, package, trial
from tests.service.workloads import mapped, nested

__all__ = ["engines", "package", "trial"]
pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kubernetes"), pytest.mark.service("fork")]
HOOKS = ("before_commit", "after_commit", "before_launch", "after_launch")
PODS = 20


@pytest.mark.parametrize("hook", HOOKS)
async def test_killed_at_a_hook_again_and_again(trial: Make, hook: str) -> None:
    one = await trial(mapped(PODS), Script(runs_seconds=0.3, copies=True))
    await one.kill_at(hook, 1, 12)
    await one.finish(PODS)


async def test_killed_while_all_run(trial: Make) -> None:
    one = await trial(mapped(PODS), Script(runs_seconds=4, copies=True))
    await one.kill_once(all_run(PODS))
    await one.finish(PODS)


async def test_real_tasks_go_on(trial: Make) -> None:
    """A launch plan in a sub-workflow, with a map in the child: flytekit runs in pods. One element has two tries."""
    one = await trial(nested(3, scripted=False))
    await one.kill_once(lambda pods: "Running" in phases(pods).values())
    await one.finish(3 + 1 + 1 + 1 + 1, deleted=1)
