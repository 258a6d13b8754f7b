"""Bad usage and bad input: exit code 2, a message on stderr that says what there is, nothing on stdout."""

from __future__ import annotations

import pytest

from tests.service.command import WORKFLOWS, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def refused(propwash: Propwash, *words: str) -> str:
    done = propwash(*words, environ={"PROPWASH_PROCESSES__WARM": "false"})
    assert (done.code, done.out) == (2, ""), done
    assert "Traceback (most recent call last)" not in done.err
    return done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "FILE_OR_PACKAGE is missing"),
        (["run", "nowhere.py", "wf"], "there is no file or folder nowhere.py"),
        (["run", str(WORKFLOWS / "nested"), "wf"], "is a folder of Python files: name one of them ("),
        (["register", str(WORKFLOWS / "nested")], "is a folder of Python files: name one of them ("),
        (["run", "{package}"], "endings.even"),
        (["run", "{package}", "evn", "--n", "2"], "there is no workflow or launch plan 'evn'"),
        (["run", "{package}", "even", "--name", "Not a label"], "is no DNS label"),
        (["run", "{package}", "even", "--n", "2", "--set", "offloading.min=1"], "did you mean offloading.min_size"),
        (["run", "{package}", "even", "--n", "2", "--config", "no.yaml"], "file no.yaml: can't be read"),
        (["run", "{package}", "even", "--inputs-file", "no.json"], "no.json"),
        (["run", "{package}", "even", "--n"], "--n needs a value"),
        (["get", "nobody"], "there is no home at"),
        (["list"], "there is no home at"),
        (["resume"], "there is no home at"),
        (["finish"], "No such command 'finish'"),
    ],
)
def test_what_was_wrong_is_said(propwash: Propwash, endings: str, words: list[str], message: str) -> None:
    filled = [word.format(package=endings) for word in words]
    assert message in refused(propwash, *filled)
    if words[0] == "run":
        assert message in refused(propwash, "run", "--json", *filled[1:])


NO_CLUSTER = [
    argument
    for setting in ("tasks.runner=kubernetes", "pods.shared_folders=true", "kubernetes.kubeconfig=/no/such/file")
    for argument in ("--set", setting)
]


@pytest.mark.parametrize("words", [["serve"], ["run", "{package}", "even", "--n", "2"]])
def test_a_cluster_without_a_login(propwash: Propwash, endings: str, words: list[str]) -> None:
    said = refused(propwash, *(word.format(package=endings) for word in words), *NO_CLUSTER)
    assert (
        "kubernetes.kubeconfig: there is no kubeconfig /no/such/file; expected a file with clusters and users" in said
    )
    assert propwash("list", "--json").document == []


def test_every_problem_of_the_inputs_is_told_at_once(propwash: Propwash, endings: str) -> None:
    message = refused(propwash, "run", "--json", endings, "named_like_options", "--json", "maybe", "--hme", "x")
    assert "3 problems; nothing was started" in message
    for problem in ("--json: expected bool", "--hme: no such input; did you mean home?", "--home: missing"):
        assert problem in message
    assert propwash("list", "--json").document == []


def test_a_file_that_is_no_workflow(propwash: Propwash) -> None:
    (propwash.folder / "broken.py").write_text("import nowhere_to_be_found\n")
    assert "No module named 'nowhere_to_be_found'" in refused(propwash, "run", "broken.py", "wf")
    (propwash.folder / "text.txt").write_text("hello")
    assert "text.txt can't be used" in refused(propwash, "run", "text.txt", "wf")


def test_a_reference_to_what_is_not_registered_is_refused_by_name(propwash: Propwash) -> None:
    message = refused(propwash, "run", str(WORKFLOWS / "unsupported.py"), "elsewhere", "--n", "3")
    assert "workflow unsupported.elsewhere, node n0: it runs the task their.task of elsewhere/production" in message


def test_an_unknown_execution_is_named_beside_those_there_are(propwash: Propwash, endings: str) -> None:
    propwash("run", "--json", "--name", "known", "--code-root", endings, endings, "doubled")
    assert "there is no execution 'knwn' in" in refused(propwash, "get", "knwn")
    assert "did you mean known?" in refused(propwash, "get", "knwn")
