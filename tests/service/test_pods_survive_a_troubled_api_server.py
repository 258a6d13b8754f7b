"""The API server is away, cuts its watches, answers with errors or not at all: no pod is lost, doubled or deleted."""

from __future__ import annotations

import itertools

import anyio
import pytest

from tests.backing.kubernetes.faulty import GONE, Answer, Cut, Ended, Expired, Fault, Lost, Request, Reset
from tests.backing.kubernetes.specs import Script
from tests.clusters import ended
from tests.service.podtrials import Make, all_run, engines, package, trial
from tests.service.workloads import mapped

__all__ = ["engines", "package", "trial"]
pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kubernetes"), pytest.mark.service("fork")]
PODS = 20


async def test_it_goes_while_pods_run_and_comes_back_when_they_have_ended(trial: Make) -> None:
    one = await trial(mapped(PODS), Script(runs_seconds=3, copies=True))
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, PODS)
        await one.at.until(all_run(PODS))
        await one.proxy.down()
        await one.at.until(ended)
        await one.proxy.up()


async def test_it_is_not_there_when_the_engine_starts(trial: Make) -> None:
    one = await trial(mapped(PODS), Script(copies=True))
    failures = itertools.count(1)
    one.proxy.choose = lambda request: Reset() if next(failures) <= 4 else None
    await one.finish(PODS)
    assert next(failures) > 4


async def test_watches_are_cut_and_expire(trial: Make) -> None:
    pods = 200
    one = await trial(mapped(pods), Script(runs_seconds=2, copies=True), kubernetes__calls_per_second=1000)
    faults = iter((Ended(0.5), Cut(1), Expired(), GONE))
    one.proxy.choose = lambda request: next(faults, None) if request.watches else None
    await one.finish(pods)
    assert next(faults, None) is None


async def test_calls_that_make_pods_fail_in_every_way(trial: Make) -> None:
    one = await trial(mapped(PODS), Script(copies=True))
    kinds: list[Fault] = [Lost(), Answer(500), Answer(429, headers={"Retry-After": "1"}), Reset(), Answer(503), Lost()]
    kinds.append(Answer(409, "Operation cannot be fulfilled on resourcequotas: please try again", "Conflict"))
    faults = iter(kinds)

    def spoil(request: Request) -> Fault | None:
        return next(faults, None) if request.creates_pod else None

    one.proxy.choose = spoil
    await one.finish(PODS)
    assert next(faults, None) is None


async def test_a_quota_is_waited_for(trial: Make) -> None:
    """The API server's own refusal; nobody here counts what is free again, so the test raises the quota."""
    one = await trial(mapped(PODS), Script(copies=True))
    await one.at.set_quota(pods=8)
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, PODS)
        await one.at.until(lambda pods: len(pods) == 8 and ended(pods))
        made = sum(request.creates_pod for request in one.proxy.seen)
        assert made <= 8 + PODS
        await one.at.set_quota(pods=100)


async def test_all_pods_are_deleted_at_once(trial: Make) -> None:
    pods = 100
    one = await trial(mapped(pods), Script(runs_seconds=None), Script(copies=True), kubernetes__calls_per_second=1000)
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, 2 * pods, pods)
        await one.at.until(all_run(pods))
        await one.at.api.delete(f"{one.at.path}/pods", {"gracePeriodSeconds": 0})
