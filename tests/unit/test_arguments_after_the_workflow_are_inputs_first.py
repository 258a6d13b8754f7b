"""`propwash run`: our options are understood before FILE and after WORKFLOW, where an input of the same name wins."""

from __future__ import annotations

import pytest

from engine.cli.arguments import Sections, meant_options, read_rest, split

OURS = {"--help": False, "--home": True, "--json": False, "--set": True}
INPUTS = {"n": False, "my_text": False, "fast": True, "home": False}


def test_options_may_stand_before_the_file_and_before_the_workflow() -> None:
    words = ["--home", "h", "wf.py", "--set=a.b=1", "--json", "flow", "--n", "3"]
    assert split(words, OURS) == Sections(("--home", "h", "--set=a.b=1", "--json"), "wf.py", "flow", ("--n", "3"))


def test_an_input_in_the_place_of_the_workflow_means_that_no_workflow_was_named() -> None:
    assert split(["wf.py", "--n", "3"], OURS) == Sections((), "wf.py", "", ("--n", "3"))
    assert split(["wf.py", "--help"], OURS) == Sections((), "wf.py", "", ("--help",))


def test_options_after_the_workflow_are_told_from_inputs() -> None:
    rest = read_rest(["--n", "3", "--json", "--set", "a.b=1", "--my-text=x"], OURS, INPUTS)
    assert rest.given == {"n": "3", "my_text": "x"}
    assert rest.options == ["--json", "--set", "a.b=1"]
    assert rest.problems == []


def test_an_input_wins_over_an_option_of_the_same_name() -> None:
    words = ["--home", "Rome", "--json"]
    assert read_rest(words, OURS).options == ["--home", "Rome", "--json"]
    known = read_rest(words, OURS, INPUTS)
    assert (known.given, known.options) == ({"home": "Rome"}, ["--json"])


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["--my-text", "--n"], {"my_text": "--n"}),
        (["--n", "-3"], {"n": "-3"}),
        (["--n="], {"n": ""}),
        (["--my_text", "a=b"], {"my_text": "a=b"}),
        (["--fast"], {"fast": True}),
        (["--no-fast"], {"fast": False}),
        (["--fast", "False", "--n", "1"], {"fast": "False", "n": "1"}),
        (["--fast", "--n", "1"], {"fast": True, "n": "1"}),
    ],
)
def test_values_are_what_follows_the_name(words: list[str], given: dict[str, str | bool]) -> None:
    rest = read_rest(words, OURS, INPUTS)
    assert (rest.given, rest.problems) == (given, [])


def test_unknown_inputs_are_kept_for_the_message_that_names_all() -> None:
    assert read_rest(["--m-x", "1", "--y", "--n", "2"], OURS, INPUTS).given == {"m_x": "1", "y": True, "n": "2"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["7"], "unexpected argument '7': inputs are given as --NAME VALUE"),
        (["-n", "7"], "unexpected argument '-n': inputs are given as --NAME VALUE"),
        (["--n"], "--n needs a value"),
        (["--n", "1", "--n", "2"], "--n is given twice"),
    ],
)
def test_what_is_no_input_is_a_problem(words: list[str], problem: str) -> None:
    assert problem in read_rest(words, OURS, INPUTS).problems


def test_help_after_the_workflow_is_help_unless_it_is_an_input() -> None:
    assert read_rest(["--help"], OURS, INPUTS).help
    rest = read_rest(["--help", "me"], OURS, {"help": False})
    assert (rest.help, rest.given) == (False, {"help": "me"})


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("jsn", ["Did you mean the option --json by --jsn?"]),
        ("hme", []),  # it looks like the input home, which is named already
        ("n", []),
        ("temperature", []),
    ],
)
def test_a_misspelt_option_is_told_from_an_input(given: str, meant: list[str]) -> None:
    assert list(meant_options([given], INPUTS, OURS)) == meant
