"""An author's modules named like the engine's: the tasks import the author's, the engine its own."""

from __future__ import annotations

import pytest

from tests.service.command import Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

WORKFLOW = """
import config, engine, handlers
from flytekit import task, workflow

@task
def whose() -> str:
    import config.deeper
    return f"{engine.WHOSE} {handlers.WHOSE} {config.deeper.WHOSE}"

@workflow
def wf() -> str:
    return whose()
"""


@pytest.mark.parametrize("pythonpath", [False, True])
def test_tasks_import_the_authors_modules(propwash: Propwash, pythonpath: bool) -> None:
    author = propwash.folder / "author"
    (author / "config").mkdir(parents=True)
    (author / "engine.py").write_text("WHOSE = 'engine of the author'")
    (author / "handlers.py").write_text("WHOSE = 'handlers of the author'")
    (author / "config" / "__init__.py").write_text("")
    (author / "config" / "deeper.py").write_text("WHOSE = 'config of the author'")
    file = author / "wf.py"
    if pythonpath:
        file = propwash.folder / "elsewhere" / "wf.py"
        file.parent.mkdir()
    file.write_text(WORKFLOW)
    environ = {"PYTHONPATH": str(author)} if pythonpath else None
    done = propwash("run", "--json", str(file), "wf", environ=environ)
    assert (done.code, done.err) == (0, "")
    assert done.document["outputs"] == {"o0": "engine of the author handlers of the author config of the author"}
