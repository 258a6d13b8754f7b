"""Options of propwash are understood on both sides; an input of the same name wins after the workflow's name."""

from __future__ import annotations

import pytest

from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def test_an_input_wins_after_the_workflows_name(propwash: Propwash, endings: str) -> None:
    words = ["--name", "real", "--json", "--code-root", endings, endings, "named_like_options"]
    document = propwash("run", *words, "--home", "My house", "--name", "me", "--json").document
    assert document["outputs"] == {"o0": "My house me True"}
    assert (document["execution"]["name"], document["home"]) == ("real", str(propwash.home))
    assert not (propwash.folder / "My house").exists()


def test_options_are_understood_after_it_too(propwash: Propwash, endings: str) -> None:
    home = propwash.folder / "other"
    words = ["--json", "--home", "other", "--set", "execution.domain=production", "--code-root", endings]
    document = propwash("run", endings, "doubled", "--n", "21", *words).document
    assert (document["outputs"], document["home"]) == ({"o0": 42}, str(home))
    assert document["execution"]["domain"] == "production"
    assert not propwash.home.exists()


def test_inputs_may_come_from_a_file_and_arguments_win(propwash: Propwash, endings: str) -> None:
    (propwash.folder / "in.yaml").write_text("home: from the file\nname: from the file\n")
    words = ["--json", "--inputs-file", "in.yaml", "--code-root", endings, endings, "named_like_options"]
    assert propwash("run", *words, "--name", "typed").document["outputs"] == {"o0": "from the file typed False"}


def test_help_lists_the_inputs_with_types_and_defaults(propwash: Propwash, endings: str) -> None:
    done = propwash("run", endings, "doubled", "--help")
    assert (done.code, done.err) == (0, "")
    assert "Inputs of launch plan endings.doubled:\n  --n  int  [default: 4]" in done.out
    assert "--inputs-file PATH" in done.out
    assert not propwash.home.exists()


def test_help_after_the_file_lists_its_workflows(propwash: Propwash, endings: str) -> None:
    done = propwash("run", endings, "--help")
    assert done.code == 0
    assert "\n  endings.even\n" in done.out
