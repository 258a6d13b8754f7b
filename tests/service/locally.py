"""What flytekit's own local execution gives: `python locally.py MODULES FOLDER`, in the author's interpreter.

MODULES is the folder of the authors' modules. FOLDER holds `<case>.<module>.<entity>.inputs.pb`; each gets an
`.outputs.pb` beside it, or an `.error.txt`.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

from flyteidl.core.literals_pb2 import LiteralMap


def main(modules: str, folder: Path) -> None:
    sys.path.insert(0, modules)
    for inputs in sorted(folder.glob("*.inputs.pb")):
        stem = inputs.name.removesuffix(".inputs.pb")
        _, module, entity = stem.split(".")
        try:
            outputs = run(getattr(importlib.import_module(module), entity), LiteralMap.FromString(inputs.read_bytes()))
        except Exception as error:  # noqa: BLE001 - whatever the author's code raises is the result
            (folder / f"{stem}.error.txt").write_text(f"{type(error).__name__}: {error}")
        else:
            (folder / f"{stem}.outputs.pb").write_bytes(outputs.SerializeToString())


def run(workflow: Any, inputs: LiteralMap) -> LiteralMap:
    from flytekit.core.context_manager import FlyteContextManager
    from flytekit.core.type_engine import TypeEngine
    from flytekit.models.literals import LiteralMap as ModelLiteralMap

    context = FlyteContextManager.current_context()
    types, declared = workflow.python_interface, workflow.interface
    given = TypeEngine.literal_map_to_kwargs(context, ModelLiteralMap.from_flyte_idl(inputs), types.inputs)
    found = workflow(**given)
    names = list(types.outputs)
    values = [] if not names else list(found) if isinstance(found, tuple) else [found]
    literals = {
        name: TypeEngine.to_literal(context, value, types.outputs[name], declared.outputs[name].type).to_flyte_idl()
        for name, value in zip(names, values, strict=True)
    }
    return LiteralMap(literals=literals)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], Path(sys.argv[2]))
