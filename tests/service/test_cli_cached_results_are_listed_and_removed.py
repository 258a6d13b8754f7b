"""`propwash cache list` and `remove`: which tasks have results, and that they run again once these are removed."""

from __future__ import annotations

import pytest

from tests.service.command import Propwash, propwash
from tests.service.serving import serving
from tests.service.test_real_results_are_cached import Cached, cached, package

__all__ = ["cached", "package", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def _listed(propwash: Propwash) -> dict[str, int]:
    return {one["task"]: one["results"] for one in propwash("cache", "list", "--json").document}


def test_by_task_and_by_age(cached: Cached) -> None:
    propwash = cached.propwash
    cached.run("mapped", "--ns", "[1,2,3]")
    cached.run("both", "--n", "3", "--note", "a")
    cached.starts()
    assert _listed(propwash) == {"cached.double": 3, "cached.noted": 1}
    table = propwash("cache", "list").out.splitlines()
    assert table[0].split() == ["TASK", "PROJECT", "DOMAIN", "RESULTS", "OLDEST", "NEWEST"]
    assert table[1].split()[:4] == ["cached.double", "flytesnacks", "development", "3"]

    kept = propwash("cache", "remove", "double", "--older-than", "1h")
    assert kept.out == "removed 0 of 3 results of cached.double in flytesnacks:development\n"
    with serving(propwash):
        removed = propwash("cache", "remove", "double")
        assert removed.out == "removed 3 of 3 results of cached.double in flytesnacks:development\n"
        refused = propwash("cache", "remove", "noted", "--values")
        assert (refused.code, refused.out) == (2, "")
        assert "whose tasks may read these values; nothing was removed" in refused.err
    assert _listed(propwash) == {"cached.noted": 1}
    cached.run("both", "--n", "3", "--note", "b")
    assert cached.starts() == ["double 3"]


def test_all_of_it_with_the_values(cached: Cached) -> None:
    propwash, size, mib = cached.propwash, 2_000_000, "offloading.min_size=1MiB"
    cached.run("produces", "--size", str(size), "--set", mib)
    folder = propwash.home / "store" / "metadata" / "cache"
    assert sum(file.stat().st_size for file in folder.rglob("*")) > size
    assert propwash("cache", "remove", "produced").code == 0
    assert sum(file.stat().st_size for file in folder.rglob("*")) > size, "who has used the result refers to the value"
    assert propwash("cache", "list").out == f"no results are kept in {propwash.home}\n"
    assert propwash("cache", "remove", "--all", "--values").code == 0
    assert not list(folder.rglob("*"))
    cached.starts()
    cached.run("produces", "--size", str(size), "--set", mib)
    assert cached.starts() == ["produced"]


def test_logs_say_that_an_element_did_not_run(cached: Cached) -> None:
    cached.run("mapped", "--ns", "[1,2]")
    cached.run("mapped", "--ns", "[1,3]", "--name", "again")
    told = [cached.propwash("logs", "again", f"n0[{k}]").err for k in (0, 1)]
    assert told == [
        "node n0[0] did not run: its result came from the cache\n",
        "attempt 1 of node n0[1] has printed nothing: stdout and stderr\n",
    ]


def test_what_can_not_be_meant_is_refused(cached: Cached) -> None:
    propwash = cached.propwash
    cached.run("both", "--n", "3", "--note", "a")
    for words, problem in (
        ((), "name tasks, or --all"),
        (("double", "--all"), "name tasks, or --all"),
        (("dbl",), "no results are kept of task 'dbl'; there are cached.double, cached.noted; nothing was removed"),
        (("double", "--older-than", "soon"), "no duration such as"),
    ):
        refused = propwash("cache", "remove", *words)
        assert (refused.code, refused.out) == (2, "")
        assert problem in refused.err
    assert _listed(propwash) == {"cached.double": 1, "cached.noted": 1}
