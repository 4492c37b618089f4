"""A specification as a Mermaid flowchart: the way forward solid, the way back dotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["draw"]


def draw(spec: Mapping[str, Any]) -> str:
    """Mermaid text of a specification (`Saga.spec()`, or a stored one).

    Solid arrows are the order of the steps. Dotted ones are the undo path: from a step that is
    refused to the undos of what landed before it, and on to the steps before those.
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
    for index, row in enumerate(rows):
        back = [_back(before, rows, after) for before in after[index]]
        ends = sorted({end for found in back for end in found}) or ["compensated"]
        lines += [f"    s{index} -. refused .-> {end}" for end in ends]
        if _is_undone(row):
            lines.append(f"    s{index} -. cancelled .-> u{index}")
            lines += [f"    u{index} -.-> {end}" for end in ends]
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
    if "approval" in row:
        people = row["approval"]["people"]
        shown += f"<br/>approved by {people} of {_label(', '.join(row['approval']['by']))}"
    marks = [mark for mark in ("optional", "pivot") if row.get(mark)]
    shown += "".join(f"<br/>{mark}" for mark in marks)
    if "wait" in row:
        waits = [part for part in ("time", "until", "signal", "limit") if row["wait"][part]]
        shown = f"{_label(name)}<br/>waits: {', '.join(waits)}"
    nodes = [f'    s{index}["{shown}"]']
    if _is_undone(row):
        undone = _label(undo["name"], undo["version"], "@")
        nodes.append(f'    u{index}["undo of {_label(name)}<br/>{undone}"]:::undo')
    return nodes


def _back(
    index: int, rows: Sequence[Mapping[str, Any]], after: Sequence[Sequence[int]]
) -> list[str]:
    """Where the way back goes at a step that landed: its undo, or past it to those before."""
    if _is_undone(rows[index]):
        return [f"u{index}"]
    return [end for before in after[index] for end in _back(before, rows, after)]


def _is_undone(row: Mapping[str, Any]) -> bool:
    return bool(row["undo"]["kind"] == "compensation")


def _step(index: int) -> str:
    return "start" if index < 0 else f"s{index}"


def _label(text: str, version: int | None = None, joint: str = " ") -> str:
    """Text that Mermaid shows as it is: everything it could take for syntax becomes a number."""
    safe = "".join(c if c.isalnum() or c in " ._:-," else f"#{ord(c)};" for c in text)
    return safe if version is None else f"{safe}{joint}{version}"
