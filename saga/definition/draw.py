"""A specification as a Mermaid flowchart: the way forward solid, the way back dotted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

__all__ = ["draw"]


def draw(spec: Mapping[str, Any]) -> str:
    """Mermaid text of a specification (`Saga.spec()`, or a stored one).

    Solid arrows are the order of the steps. Dotted ones are the undo path: from a step that is
    refused to the undos of what landed before it, and on to the steps before those; behind a
    savepoint back to it, and on to its other path. An optional step has none, since the run goes
    on without it; behind a pivot it leads to a person.
    """
    rows: list[Mapping[str, Any]] = spec["steps"]
    position = {row["name"]: index for index, row in enumerate(rows)}
    after = [[position[name] for name in row["after"]] for row in rows]
    followed = {before for edges in after for before in edges}
    lines = ["flowchart TD", f'    start(["{_label(spec["saga"], spec["version"])}"])']
    sagas = {group["name"]: group["saga"] for group in spec.get("groups", ())}
    inside: list[str] = []
    for index, row in enumerate([*rows, {}]):
        inside, changed = _boxes(inside, list(row.get("groups", ())), sagas)
        lines += changed
        if row:
            lines.extend(_nodes(index, row))
    lines += ['    completed(["completed"])', '    compensated(["compensated"])']
    for index, edges in enumerate(after):
        lines += [f"    {_step(before)} --> s{index}" for before in edges or [-1]]
    lines += [f"    s{index} --> completed" for index in range(len(rows)) if index not in followed]
    ways = zip(rows, _ends(rows, after), _committed(rows, after), strict=True)
    for index, (row, ends, committed) in enumerate(ways):
        lines += _way_back(index, row, ends, committed=committed)
    lines.append("    classDef undo stroke-dasharray: 4 3")
    return "\n".join(lines) + "\n"


def _boxes(
    inside: Sequence[str], wanted: list[str], sagas: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The boxes of sub-sagas that end and begin between one step and the next."""
    shared = 0
    while shared < min(len(inside), len(wanted)) and inside[shared] == wanted[shared]:
        shared += 1
    ends = ["    end"] * (len(inside) - shared)
    names = wanted[shared:]
    begins = [
        f'    subgraph {_box(name)}["{_label(name)}: {_label(sagas[name].replace("@", " "))}"]'
        for name in names
    ]
    return wanted, ends + begins


def _box(name: str) -> str:
    return "g_" + "".join(c if c.isalnum() else "_" for c in name)


def _nodes(index: int, row: Mapping[str, Any]) -> list[str]:
    effect, undo = row["effect"], row["undo"]
    name = row["title"] or row["name"]
    shown = f"{_label(name)}<br/>{_label(effect['name'], effect['version'], '@')}"
    if undo["kind"] == "irreversible":
        shown += f"<br/>irreversible: {_label(undo['reason'])}"
    elif undo["kind"] == "nothing":
        shown += f"<br/>nothing to undo: {_label(undo['reason'])}"
    for other in row.get("instead", ()):
        contract = _label(other["effect"]["name"], other["effect"]["version"], "@")
        shown += f"<br/>else {_label(other['title'] or other['name'])}: {contract}"
    if "approval" in row:
        people = row["approval"]["people"]
        shown += f"<br/>approved by {people} of {_label(', '.join(row['approval']['by']))}"
    if "each" in row:
        shown += f"<br/>each of {_label('.'.join(row['each']['over']))}"
    for name, alternative in row.get("path", ()):
        shown += f"<br/>{'instead, ' if alternative else ''}after savepoint {_label(name)}"
    marks = [mark for mark in ("optional", "pivot") if row.get(mark)]
    shown += "".join(f"<br/>{mark}" for mark in marks)
    if "wait" in row:
        shown = f"{_label(name)}<br/>waits: {_waits_for(row['wait'])}"
    nodes = [f'    s{index}["{shown}"]']
    if _is_undone(row):
        undone = _label(undo["name"], undo["version"], "@")
        nodes.append(f'    u{index}["undo of {_label(name)}<br/>{undone}"]:::undo')
    return nodes


def _way_back(
    index: int, row: Mapping[str, Any], ends: Sequence[str], *, committed: bool
) -> Iterator[str]:
    """What follows where this step fails for good, and where it is to be undone."""
    failure = _failure(row)
    if failure and committed:
        yield f'    s{index} -. does not land .-> case{index}(["a case, for a person"])'
    elif failure:
        yield from (f"    s{index} -. {failure} .-> {end}" for end in ends)
    if _is_undone(row) and not committed and not row.get("pivot"):
        yield f"    s{index} -. cancelled .-> u{index}"
        yield from (f"    u{index} -.-> {end}" for end in ends)


def _failure(row: Mapping[str, Any]) -> str:
    """How a step ends the way forward; empty where it does not."""
    if row.get("optional"):
        return ""
    if "wait" in row:
        return "no signal" if row["wait"]["signal"] else ""
    return "refused"


def _committed(rows: Sequence[Mapping[str, Any]], after: Sequence[Sequence[int]]) -> list[bool]:
    """For each step whether a pivot has landed when it begins. What it follows stands before it."""
    pivot = [row.get("pivot") or row["undo"]["kind"] == "irreversible" for row in rows]
    committed: list[bool] = []
    for edges in after:
        committed.append(any(pivot[before] or committed[before] for before in edges))
    return committed


def _waits_for(wait: Mapping[str, Any]) -> str:
    """A time, a moment that the input names, or a signal and its limit."""
    if wait["signal"]:
        limit = f", at most {_span(wait['limit'])}" if wait["limit"] else ""
        return f"a signal{limit}"
    return _span(wait["time"]) if wait["time"] else f"until {_label(wait['until'])}"


def _span(seconds: float) -> str:
    return _label(str(timedelta(seconds=seconds)))


def _ends(rows: Sequence[Mapping[str, Any]], after: Sequence[Sequence[int]]) -> list[list[str]]:
    """Where the way back goes from each step: the undos of what landed before it, or the end."""
    ends: list[set[str]] = []
    others = _other_paths(rows, after)
    for row, edges in zip(rows, after, strict=True):
        behind = [name for name, alternative in row.get("path", ()) if not alternative]
        here = [b for b in edges if not behind or _is_on(rows[b], behind[-1], alternative=False)]
        found = {end for b in here for end in ([f"u{b}"] if _is_undone(rows[b]) else ends[b])}
        ends.append(found | set(others[behind[-1]]) if behind and not here else found)
    return [sorted(found) or ["compensated"] for found in ends]


def _other_paths(
    rows: Sequence[Mapping[str, Any]], after: Sequence[Sequence[int]]
) -> dict[str, list[str]]:
    """The first steps of the other path of each savepoint."""
    found: dict[str, list[str]] = {}
    for index, (row, edges) in enumerate(zip(rows, after, strict=True)):
        for name, alternative in row.get("path", ()):
            first = not any(_is_on(rows[b], name, alternative=True) for b in edges)
            if alternative and first:
                found.setdefault(name, []).append(f"s{index}")
    return found


def _is_on(row: Mapping[str, Any], savepoint: str, *, alternative: bool) -> bool:
    return [savepoint, alternative] in [list(one) for one in row.get("path", ())]


def _is_undone(row: Mapping[str, Any]) -> bool:
    return bool(row["undo"]["kind"] == "compensation")


def _step(index: int) -> str:
    return "start" if index < 0 else f"s{index}"


def _label(text: str, version: int | None = None, joint: str = " ") -> str:
    """Text that Mermaid shows as it is: everything it could take for syntax becomes a number."""
    safe = "".join(c if c.isalnum() or c in " ._:-," else f"#{ord(c)};" for c in text)
    return safe if version is None else f"{safe}{joint}{version}"
