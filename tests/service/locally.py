"""What flytekit's own local execution gives: `python locally.py MODULES FOUND`, in the author's interpreter.

MODULES is the folder of the authors' modules. On stdin: a JSON list of {case, module, entity, inputs}, inputs being the
hex of a LiteralMap, or a dict of what Python is given. FOUND is the file to write: by case {outputs: hex} or
{error: text}. Each runs in a new folder.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from flyteidl.core.literals_pb2 import LiteralMap


def main(modules: str, found: Path) -> None:
    sys.path.insert(0, modules)
    told = {wanted["case"]: tell(wanted) for wanted in json.load(sys.stdin)}
    found.write_text(json.dumps(told))


def tell(wanted: dict[str, Any]) -> dict[str, str]:
    os.chdir(tempfile.mkdtemp())
    try:
        entity = getattr(importlib.import_module(wanted["module"]), wanted["entity"])
        outputs = run(entity, wanted["inputs"])
    except Exception as error:  # noqa: BLE001 - whatever the author's code raises is the result
        return {"error": f"{type(error).__name__}: {error}"}
    return {"outputs": outputs.SerializeToString().hex()}


def run(workflow: Any, inputs: str | dict[str, Any]) -> LiteralMap:
    from flytekit.core.context_manager import FlyteContextManager
    from flytekit.core.type_engine import TypeEngine
    from flytekit.models.literals import LiteralMap as ModelLiteralMap

    context = FlyteContextManager.current_context()
    types, declared = workflow.python_interface, workflow.interface
    if isinstance(inputs, dict):
        given = inputs
    else:
        literals = ModelLiteralMap.from_flyte_idl(LiteralMap.FromString(bytes.fromhex(inputs)))
        given = TypeEngine.literal_map_to_kwargs(context, literals, types.inputs)
    found = workflow(**given)
    names = list(types.outputs)
    values = [] if not names else list(found) if isinstance(found, tuple) else [found]
    outputs = {
        name: TypeEngine.to_literal(context, value, types.outputs[name], declared.outputs[name].type).to_flyte_idl()
        for name, value in zip(names, values, strict=True)
    }
    return LiteralMap(literals=outputs)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], Path(sys.argv[2]))
