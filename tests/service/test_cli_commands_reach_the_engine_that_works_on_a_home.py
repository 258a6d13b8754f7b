"""abort and watch from another process: a running engine takes them; without one, the command works on the home."""

from __future__ import annotations

import signal

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash
from tests.service.serving import serving
from tests.service.test_cli_an_interrupted_run_is_resumed import wait_for_line

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def waiting(endings: str, flag: object) -> list[str]:
    return ["run", "--name", "waiting", "--code-root", endings, endings, "waits", "--path", str(flag)]


def test_abort_stops_an_execution_that_another_process_runs(propwash: Propwash, endings: str) -> None:
    with propwash.started(*waiting(endings, propwash.folder / "never")) as process:
        wait_for_line(process, "n0 RUNNING")
        done = propwash("abort", "waiting", "--reason", "not needed")
        assert (done.code, done.out) == (0, "")
        assert "execution waiting ABORTED after" in done.err
        assert "Aborted (USER):\n  not needed" in done.err
        process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 1
    assert propwash("check").code == 0

    again = propwash("abort", "waiting")
    assert (again.code, again.out) == (0, "execution waiting was ABORTED already\n")


def test_abort_works_on_a_home_that_nobody_works_on(propwash: Propwash, endings: str) -> None:
    with propwash.started(*waiting(endings, propwash.folder / "never")) as process:
        wait_for_line(process, "n0 RUNNING")
        process.kill()
    told = propwash("abort", "waiting", "--no-wait")
    assert (told.code, told.out) == (0, "execution waiting is told to stop\n")
    done = propwash("abort", "waiting")
    assert done.code == 0
    assert "execution waiting ABORTED after" in done.err
    assert propwash("check").code == 0


def test_watch_follows_what_a_service_does_to_its_end(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    with propwash.started(*waiting(endings, flag)) as process:
        wait_for_line(process, "n0 RUNNING")
        process.kill()
    with serving(propwash) as service:
        with propwash.started("watch", "waiting") as watcher:
            flag.touch()
            out, err = watcher.communicate(timeout=LIMIT_SECONDS)
        assert watcher.returncode == 0, err
        assert out.splitlines()[-3:] == ["{", f'  "o0": "{flag}"', "}"]
        service.send_signal(signal.SIGTERM)
        _, err = service.communicate(timeout=LIMIT_SECONDS)
    assert (service.returncode, err) == (0, "SIGTERM: stopping; once more leaves at once\n")

    past = propwash("watch", "waiting", "--json")
    assert (past.code, past.document["outputs"]) == (0, {"o0": str(flag)})


def test_watch_of_an_unfinished_execution_says_that_nobody_works_on_it(propwash: Propwash, endings: str) -> None:
    with propwash.started(*waiting(endings, propwash.folder / "never")) as process:
        wait_for_line(process, "n0 RUNNING")
        with propwash.started("watch", "waiting", "--json") as watcher:
            process.kill()
            _, err = watcher.communicate(timeout=LIMIT_SECONDS)
    advice = f"execution waiting goes on with: propwash resume --home {propwash.home}\n"
    # The watcher may have called before the engine was gone, or after.
    assert (watcher.returncode, err) in (
        (3, f"Error: the engine on home {propwash.home} has stopped; {advice}"),
        (2, f"Error: no engine works on home {propwash.home}; {advice}"),
    )
    late = propwash("watch", "waiting")
    assert (late.code, late.err) == (2, f"Error: no engine works on home {propwash.home}; {advice}")


def test_a_home_with_a_long_path_is_reached(propwash: Propwash, endings: str) -> None:
    propwash.home = propwash.folder / ("long" * 30)
    with propwash.started(*waiting(endings, propwash.folder / "never")) as process:
        wait_for_line(process, "n0 RUNNING")
        assert propwash("abort", "waiting").code == 0
        process.communicate(timeout=LIMIT_SECONDS)


def test_a_second_engine_is_told_who_works_on_the_home(propwash: Propwash) -> None:
    with serving(propwash) as service:
        done = propwash("serve")
        assert done.code == 2
        assert f"is in use by process {service.pid}" in done.err


def test_run_hands_its_execution_to_a_service(propwash: Propwash, endings: str) -> None:
    words = ["run", "--code-root", endings, "--name", "mine", endings, "doubled", "--n"]
    with serving(propwash):
        done = propwash(*words, "7")
        assert (done.code, done.out.splitlines()[-3:]) == (0, ["{", '  "o0": 14', "}"])
        assert done.out.splitlines()[0].startswith("execution mine RUNNING launch plan ")
        assert f"the service on home {propwash.home} runs execution mine, with its own settings" in done.err
        again = propwash(*words, "7")
        assert (again.code, again.err) == (
            0,
            "execution mine has SUCCEEDED already: this is its result, nothing ran\n",
        )
        other = propwash(*words, "8")
        assert (other.code, other.out) == (2, "")
        assert "execution mine exists already (SUCCEEDED) with another workflow or other inputs" in other.err
    assert propwash("check").code == 0


def test_run_leaves_its_execution_to_the_service_when_it_is_interrupted(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    with serving(propwash):
        with propwash.started(*waiting(endings, flag)) as process:
            wait_for_line(process, "n0 RUNNING")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LIMIT_SECONDS)
            assert process.returncode == 130
            assert "execution waiting goes on where it is" in err
        flag.touch()
        assert propwash("watch", "waiting").code == 0


def test_a_command_goes_on_by_itself_when_another_one_whose_engine_it_used_has_ended(
    propwash: Propwash, endings: str
) -> None:
    flags = [propwash.folder / name for name in ("first", "second")]
    assert propwash("register", endings, "--code-root", endings, "--version", "v1").code == 0
    words = ["submit", "waits", "--input"]
    with propwash.started(*words, f"path={flags[0]}", "--name", "first") as first:
        wait_for_line(first, "n0 RUNNING")
        with propwash.started(*words, f"path={flags[1]}", "--name", "second") as second:
            wait_for_line(second, "n0 RUNNING")
            flags[0].touch()
            first.communicate(timeout=LIMIT_SECONDS)
            assert first.returncode == 0
            flags[1].touch()
            out, err = second.communicate(timeout=LIMIT_SECONDS)
    assert (second.returncode, err) == (0, "")
    assert f'  "o0": "{flags[1]}"' in out
    assert propwash("check").code == 0
