"""A script, not a module of the engine: packages one Python file of an author, by the author's own flytekit.

    python packager.py FILE FOLDER CONSTANTS [register]

Run by path in the author's interpreter and environment. Writes into FOLDER one `.pb` per entity, named as
`pyflyte package` names them, and `package.json`; or `error.json` and exit status 1. Constants that no message can hold
(files, pickles) go to the folder CONSTANTS. What the author's modules print goes to stderr. It needs nothing but
flytekit, and works with Python 3.9 and newer.

With `register`, the modules that importing FILE has loaded from below its root go to FOLDER too, as an archive in the
form of flytekit's fast registration, and FILE may define tasks only.
"""

from __future__ import annotations

import sys

# The folder of this script must not be searched for modules: the author's code may import anything by any name.
if sys.path and __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

import gzip
import hashlib
import importlib
import io
import json
import os
import platform
import shutil
import signal
import subprocess
import tarfile
import threading
import traceback
from typing import Any

_TRACEBACK_FRAMES = 10


class Refused(Exception):
    """The file can't be packaged; the text says why, and no traceback is of use."""


def main(path: str, folder: str, constants: str, purpose: str = "run") -> int:
    """Exit status 0, or 1 with the reason in FOLDER/error.json."""
    os.dup2(2, 1)  # also what C code and child processes print
    _end_with_parent(folder)
    path, constants = os.path.abspath(path), os.path.abspath(constants)
    try:
        package = _package(path, folder, constants, registers=purpose == "register")
    except Refused as refused:
        return _fail(folder, str(refused), "")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the author's code raises is the verdict
        return _fail(folder, _summary(error), _traceback(error, os.path.dirname(path)))
    _write_json(os.path.join(folder, "package.json"), package)
    return 0


def _end_with_parent(folder: str) -> None:
    """If the process that holds the other end of stdin dies, this one must not go on, nor what it started."""
    if os.getpgrp() != os.getpid():
        return  # started by hand: the group is somebody else's
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def _package(path: str, folder: str, constants: str, *, registers: bool) -> dict[str, Any]:
    _check_source(path)
    root, module = _place(path)
    # The names of tasks must not depend on where the author's shell says packages begin.
    os.environ.pop("FLYTE_PYTHON_PACKAGE_ROOT", None)
    flytekit = _flytekit()
    _keep_constants_in(constants, folder)
    _check_name(module, path)
    _check_neighbours(root)
    sys.path.insert(0, root)
    entities = _serialize(module, path, root)
    if registers:
        _write_sources(root, folder)
    elif not any(_kind(entity) == 2 for entity in entities):
        tasks = ", ".join(sorted(entity.template.id.name for entity in entities if _kind(entity) == 1))
        raise Refused(f"{path} defines no workflow" + (f", only the tasks {tasks}" if tasks else ""))
    _write_entities(entities, folder)
    return {
        "code_root": root,
        "module": module,
        "activate": _auto_activated(),
        "python": platform.python_version(),
        "flytekit": getattr(flytekit, "__version__", ""),
    }


def _check_source(path: str) -> None:
    """A file that is no Python is told from one that Python can read but that fails."""
    with open(path, "rb") as file:
        source = file.read()
    try:
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"{path}, line {error.lineno}" if error.lineno else path
        code = f"\n    {error.text.strip()}" if error.text else ""
        raise Refused(f"{where} is no Python: {error.msg}{code}") from None
    except ValueError as error:  # null bytes
        raise Refused(f"{path} is no Python: {error}") from None


def _place(path: str) -> tuple[str, str]:
    """The folder that modules are imported from, and the file's module name in it, as `pyflyte` finds them."""
    root, file = os.path.realpath(os.path.dirname(path)), os.path.basename(path)
    parts = [os.path.splitext(file)[0]]
    if "." in parts[0]:
        raise Refused(f"{path}: a module's file name can't hold a dot before .py; rename the file")
    while os.path.exists(os.path.join(root, "__init__.py")):
        root, package = os.path.split(root)
        parts.insert(0, package)
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or any("." in part for part in parts):
        raise Refused(f"{path}: a folder above it is a package whose name can't be imported")
    return root, ".".join(parts)


def _flytekit() -> Any:
    try:
        return importlib.import_module("flytekit")
    except ImportError as error:
        raise Refused(
            f"flytekit can't be imported by {sys.executable} ({error}); install it there, or name another interpreter"
        ) from None


def _keep_constants_in(constants: str, folder: str) -> None:
    """flytekit would write them to a temporary folder, from which they may be gone when a task runs."""
    from flytekit.core.context_manager import FlyteContextManager
    from flytekit.core.data_persistence import FileAccessProvider

    access = FileAccessProvider(os.path.join(folder, "sandbox"), raw_output_prefix=constants)
    context = FlyteContextManager.current_context()
    FlyteContextManager.push_context(context.with_file_access(access).build())


def _serialize(module: str, path: str, root: str) -> list[Any]:
    """Every task, workflow and launch plan that importing the file defines, as flytekit's messages."""
    from flytekit.configuration import FastSerializationSettings, ImageConfig, SerializationSettings
    from flytekit.image_spec.image_spec import ImageBuildEngine
    from flytekit.tools.repo import serialize_get_control_plane_entities, serialize_load_only

    # An ImageSpec gets its name, but is never built: there may be no docker here, and no need of an image.
    ImageBuildEngine.build = classmethod(lambda *_, **__: None)  # type: ignore[method-assign, assignment]
    settings = SerializationSettings(
        image_config=ImageConfig.auto_default_image(),
        fast_serialization_settings=FastSerializationSettings(enabled=False),
    )
    serialize_load_only([module], settings, root)
    _check_name(module, path)
    entities: list[Any] = serialize_get_control_plane_entities(settings, root)
    return entities


def _check_name(module: str, path: str) -> None:
    """If a module of this name is loaded, it must be the file itself: else its tasks would import the other one."""
    if module not in sys.modules:
        return
    loaded = getattr(sys.modules[module], "__file__", None)
    if loaded is None or os.path.realpath(loaded) != os.path.realpath(path):
        raise Refused(f"{path}: the module name {module!r} already belongs to {loaded or 'Python'}; rename the file")


def _check_neighbours(root: str) -> None:
    """A module beside the file may have the name of one that flytekit needs: no task could begin, and none says why.

    That is tried out where there is one of such a name.
    """
    names = {name for name in sys.modules if "." not in name}
    found = sorted(
        entry
        for entry in os.listdir(root)
        if (entry.endswith(".py") and entry[:-3] in names)
        or (entry in names and os.path.isfile(os.path.join(root, entry, "__init__.py")))
    )
    if not found:
        return
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    words = [sys.executable, "-c", "import flytekit.bin.entrypoint"]
    tried = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    if tried.returncode:
        what = "has the name of a module" if len(found) == 1 else "have names of modules"
        said = tried.stderr.strip().rpartition("\n")[2]
        raise Refused(f"{', '.join(found)} in {root} {what} that flytekit or Python needs; rename: {said}")


def _kind(entity: Any) -> int:
    """The number that ends the file's name: flyteidl's ResourceType."""
    return {"TaskSpec": 1, "WorkflowSpec": 2, "LaunchPlan": 3}[type(entity).__name__]


def _write_entities(entities: list[Any], folder: str) -> None:
    width = len(str(max(len(entities) - 1, 0)))
    for index, entity in enumerate(entities):
        kind = _kind(entity)
        name = (entity.id if kind == 3 else entity.template.id).name
        readable = name.replace(os.sep, "_").replace("\0", "_")[:100]
        with open(os.path.join(folder, f"{index:0{width}}_{readable}_{kind}.pb"), "wb") as file:
            file.write(entity.serialize_to_string())


def _auto_activated() -> list[str]:
    """Names of the launch plans that their author wants to be active, which the messages do not tell."""
    from flytekit.core.context_manager import FlyteEntities

    return sorted({plan.name for plan in FlyteEntities.entities if getattr(plan, "should_auto_activate", False)})


def _write_sources(root: str, folder: str) -> None:
    """The archive is called after its content; equal sources give equal bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in _loaded_from(root):
            member = tarfile.TarInfo(os.path.relpath(path, root))
            with open(path, "rb") as file:
                data = file.read()
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    name = f"fast{hashlib.md5(content.getvalue()).hexdigest()}.tar.gz"
    with open(os.path.join(folder, name), "wb") as file:
        file.write(gzip.compress(content.getvalue(), mtime=0))


def _loaded_from(root: str) -> list[str]:
    """Files of the modules that were imported from below a folder, but for those of an environment in it."""
    files = {getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name != "__main__"}
    paths = {os.path.realpath(file) for file in files if file}
    outside = tuple(os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, sys.base_prefix))
    return sorted(
        path
        for path in paths
        if path.startswith(root + os.sep) and not path.startswith(outside) and "site-packages" not in path.split(os.sep)
    )


def _summary(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r}) while it was imported"
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def _traceback(error: BaseException, folder: str) -> str:
    """The author's part of the traceback: the frames in files beside the packaged one, or else the last few.

    Where flytekit itself refuses a workflow, its own frames say nothing.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<frozen ")
    ]
    own = [frame for frame in frames if frame.filename.startswith(folder) and "site-packages" not in frame.filename]
    if not own and type(error).__module__.startswith("flytekit.exceptions"):
        return ""
    return "".join(traceback.format_list((own or frames)[-_TRACEBACK_FRAMES:])).rstrip()


def _fail(folder: str, message: str, trace: str) -> int:
    _write_json(os.path.join(folder, "error.json"), {"message": message, "traceback": trace})
    return 1


def _write_json(path: str, document: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        json.dump(document, file)


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # threads that the author's modules started are not waited for
