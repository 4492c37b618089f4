"""Finding an app: `module:name` or `file.py:name`, with the current folder importable.

What the module prints while it is imported goes to stderr: stdout is the answer's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from saga.definition.saga import App, Saga
from saga.errors import BadInput, SagaError

__all__ = ["load_app", "named_saga"]

_FORM = "write module:name or file.py:name, such as order_flow.py:app"


def load_app(text: str) -> App:
    """The app that `text` names. Raises `BadInput`, and `DefinitionError` for a bad definition."""
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise BadInput(f"{text!a} names no app", remedy=_FORM)
    with suppress(OSError):  # the folder may be gone
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
    is_file = place.endswith(".py") or "/" in place
    with redirect_stdout(sys.stderr), _explained(text):
        module = _from_file(Path(place)) if is_file else _from_name(place)
    found = getattr(module, name, None)
    if isinstance(found, App):
        return found
    there = sorted(key for key, value in vars(module).items() if isinstance(value, App))
    remedy = f"it has: {', '.join(there)}" if there else f"write {name} = App(…) in it"
    if isinstance(found, Saga):
        remedy = f"a saga alone is not run: write served = App({name}), and name that"
    raise BadInput(f"{place!a} has no App called {name!a}", remedy=remedy)


def named_saga(app: App, text: str) -> Saga[Any]:
    """The saga of `name` or `name@version`. Raises `BadInput`."""
    name, at, version = text.partition("@")
    if not at:
        return app.saga(name)
    if not (version.isascii() and version.isdigit() and len(version) <= 7):
        raise BadInput(f"{text!a} has no version after its @", remedy="write name@1")
    return app.saga(name, int(version))


def _from_name(place: str) -> ModuleType:
    if not all(part.isidentifier() for part in place.split(".")):
        raise BadInput(f"{place!a} is no module name", remedy=_FORM)
    return importlib.import_module(place)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise BadInput(f"no file {str(path)!a}", remedy=_FORM)
    # Never under the name of something that is imported: json.py must not become `json`.
    name = path.stem
    if name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_of_app"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{str(path)!a} is no Python file", remedy=_FORM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are resolved there
    spec.loader.exec_module(module)
    return module


@contextmanager
def _explained(text: str) -> Iterator[None]:
    """Whatever stops the module, in words and with the line; it is somebody's code."""
    try:
        yield
    except (SagaError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit too
        raise BadInput(
            f"{text!a} cannot be imported: {type(error).__name__}: {_said(error)}{_line(error)}",
            remedy="python -c 'import …' shows the whole traceback",
        ) from error


def _said(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg} ({Path(error.filename or '').name}, line {error.lineno})"
    return str(error)[:500]


def _line(error: BaseException) -> str:
    """The last place of somebody's own code that the error passed."""
    ours = (os.sep + "importlib" + os.sep, "<frozen", str(Path(__file__).parent))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not any(part in frame.filename for part in ours):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
