"""The rules of the house that no linter knows, each a function from a source to what is wrong.

A finding reads `path:line: what, and what to do`. `test_house` applies the rules to the tree,
`test_rules` plants violations and expects to hear of them: a rule that cannot speak is no rule.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "EVERYWHERE",
    "LINES_OF_A_FUNCTION",
    "LINES_OF_A_MODULE",
    "PRODUCT",
    "Source",
    "bypasses",
    "front_door",
    "long_functions",
    "long_module",
    "names_that_say_nothing",
    "outside",
    "public_names",
    "unlisted",
]

LINES_OF_A_MODULE = 300
LINES_OF_A_FUNCTION = 50
SAYS_NOTHING = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}

_CLOCK = "ask the Clock"
_IDS = "ask the one source of ids"
_CHANCE = "chance is a hash of key and attempt"
# Dotted name (it and all below it) -> what to do instead.
PRODUCT: Mapping[str, str] = {
    "datetime.date.today": _CLOCK,
    "datetime.datetime.now": _CLOCK,
    "datetime.datetime.today": _CLOCK,
    "datetime.datetime.utcnow": _CLOCK,
    "os.urandom": _IDS,
    "random": _CHANCE,
    "secrets": _IDS,
    "time.monotonic": _CLOCK,
    "time.monotonic_ns": _CLOCK,
    "time.sleep": "a wait is a due time in the journal",
    "time.time": _CLOCK,
    "time.time_ns": _CLOCK,
    "uuid.uuid1": _IDS,
    "uuid.uuid4": _IDS,
    "uuid.uuid7": _IDS,
}
_JSON = "stored data is strict JSON"
EVERYWHERE: Mapping[str, str] = {
    "builtins.eval": "data is not code",
    "builtins.exec": "data is not code",
    "dill": _JSON,
    "marshal": _JSON,
    "pickle": _JSON,
    "shelve": _JSON,
    "unittest.mock": "script the effects, use the real store, move the clock",
    "yaml": _JSON,
}


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root of the checkout, and what stands in it."""

    path: Path
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    def finding(self, line: int, text: str) -> str:
        return f"{self.path.as_posix()}:{line}: {text}"


def long_module(source: Source) -> Iterator[str]:
    if (lines := source.text.count("\n")) > LINES_OF_A_MODULE:
        yield source.finding(lines, f"{lines} lines; split at {LINES_OF_A_MODULE}")


def long_functions(source: Source) -> Iterator[str]:
    """`decide` and `evolve` of the machine are one flat match each; nothing else may grow."""
    exempt = {"decide", "evolve"} if source.path.parts[:2] == ("saga", "machine") else set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in exempt:
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LINES_OF_A_FUNCTION:
                text = f"{node.name} has {lines} lines; split at {LINES_OF_A_FUNCTION}"
                yield source.finding(node.lineno, text)


def names_that_say_nothing(source: Source) -> Iterator[str]:
    for part in source.path.with_suffix("").parts:
        if SAYS_NOTHING & set(part.lower().split("_")):
            yield source.finding(1, f"{part!r} does not say what it holds")


def unlisted(source: Source) -> Iterator[str]:
    """`__all__` is there, a plain list of strings, and equals what is public."""
    listed = _listed(source.tree)
    if listed is None:
        yield source.finding(1, "no literal __all__")
        return
    public = public_names(source)
    for name in sorted(public - listed):
        yield source.finding(1, f"{name} is public and not in __all__: list it, or write _{name}")
    for name in sorted(listed - public):
        if not (name.startswith("__") and name.endswith("__")):
            yield source.finding(1, f"{name} is in __all__ and not public here")


def public_names(source: Source) -> set[str]:
    """What is defined without an underscore; in an `__init__` also what it fetches from inside."""
    names = {name for statement in _top_level(source.tree.body) for name in _bound(statement)}
    if source.path.name == "__init__.py":
        inside = f"{'.'.join(source.path.parent.parts)}."
        for statement in _top_level(source.tree.body):
            names |= {name for name, dotted, _ in _imported(statement) if dotted.startswith(inside)}
    return {name for name in names if not name.startswith("_")}


def bypasses(source: Source, banned: Mapping[str, str]) -> Iterator[str]:
    """Uses of a banned name, under whatever name it was imported, with or without a call."""
    known = {"eval": "builtins.eval", "exec": "builtins.exec"}
    for node in ast.walk(source.tree):
        known.update((alias, dotted) for alias, dotted, _ in _imported(node))
    for node in ast.walk(source.tree):
        used = {dotted for _, dotted, _ in _imported(node)}
        if isinstance(node, ast.Name | ast.Attribute):
            used = {_dotted(node, known)}
        for dotted, instead in banned.items():
            if any(name == dotted or name.startswith(f"{dotted}.") for name in used):
                line = getattr(node, "lineno", 1)
                yield source.finding(line, f"{dotted} is not used here: {instead}")


def outside(source: Source, surface: set[str]) -> Iterator[str]:
    """Who stands outside of `saga` imports what a user can: its public names, http and testing."""
    for node in ast.walk(source.tree):
        for _, dotted, is_module in _imported(node):
            first, _, rest = dotted.partition(".")
            name, _, below = rest.partition(".")
            if first != "saga" or not rest:
                continue
            if name in {"http", "testing"}:
                public = "." not in below and not (below and is_module)
            else:
                public = name in surface and not below and not is_module
            if not public:
                yield source.finding(getattr(node, "lineno", 1), f"{dotted} is not a public name")


def front_door(source: Source, rooms: set[str]) -> Iterator[str]:
    """Inside `saga`, a name is imported from the room where it lives: anything else is a circle."""
    for node in ast.walk(source.tree):
        for _, dotted, _ in _imported(node):
            if dotted == "saga" or (dotted.count(".") == 1 and dotted.startswith("saga.")):
                if dotted.removeprefix("saga.") in rooms:
                    continue
                line = getattr(node, "lineno", 1)
                yield source.finding(line, f"{dotted}: import it from where it is defined")


def _listed(tree: ast.Module) -> set[str] | None:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and "__all__" in _bound(statement):
            try:
                return {str(name) for name in ast.literal_eval(statement.value or ast.Tuple([]))}
            except ValueError:
                return None
    return None


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that bind names in the module, those under if, try and with included."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(statement, ast.If | ast.Try | ast.With | ast.ExceptHandler):
                yield from _top_level(getattr(statement, name, []))


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign(value=ast.Call(func=ast.Name(id="ParamSpec" | "TypeVar"))):
            return  # a parameter of signatures, not a thing
        case ast.Assign(targets=targets):
            yield from _targets(targets)
        case ast.AnnAssign(target=target):
            yield from _targets([target])
        case _:
            return


def _targets(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _imported(node: ast.AST) -> Iterator[tuple[str, str, bool]]:
    """What an import statement brings: the name it gets here, its dotted name, is it a module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], alias.name, True
    elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}", False


def _dotted(node: ast.expr, known: Mapping[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return known.get(name, f"?.{name}")
        case ast.Attribute(value=value, attr=attribute):
            return f"{_dotted(value, known)}.{attribute}"
        case _:
            return "?"
