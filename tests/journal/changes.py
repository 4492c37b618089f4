"""Every way to alter a stored value or row, one at a time, as SQL that can be rolled back.

Values: each byte of each value of each column, once in its lowest and once in its highest bit, and
NULL made something. Rows: removed, added, swapped between runs, reordered, renumbered, cut off, and
replaced by what they were at an earlier record. A change says which names must be heard of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sqlalchemy as sa

from saga.journal.columns import metadata

__all__ = [
    "TABLES",
    "Change",
    "Row",
    "Statement",
    "changes_of_rows",
    "changes_of_values",
    "rows_of",
    "type_changes",
]

Statement: TypeAlias = tuple[str, tuple[Any, ...]]
TABLES = (
    "runs",
    "journal",
    "actions",
    "cases",
    "definitions",
    "instance",
    "sealing_keys",
    "tombstones",
)
_FREE = {("runs", "owner"), ("runs", "fence")}
_OWN_KEY = {"runs": "run_id", "actions": "key", "cases": "case_id", "definitions": "digest"}


@dataclass(frozen=True)
class Change:
    """`group` is where and how; `names`: one of them must be named; `runs`: no other run may be."""

    group: str
    what: str
    statements: tuple[Statement, ...]
    names: tuple[str, ...]
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A stored row: its values by column, and the condition that finds it again."""

    table: str
    values: dict[str, Any]
    where: str
    key: tuple[Any, ...]

    @property
    def run(self) -> str:
        return str(self.values.get("run_id", ""))

    @property
    def names(self) -> tuple[str, ...]:
        """What damage of this row is called by."""
        if self.table in ("instance", "sealing_keys"):
            return ("the database",)
        if self.table == "tombstones":
            return ("tombstone",)
        return (str(self.values.get("run_id") or self.values["digest"]),)

    @property
    def touched(self) -> tuple[str, ...]:
        return (self.run,) if self.run else ()


def rows_of(cursor: Any, table: str) -> list[Row]:
    """All rows of a table, in a stable order."""
    columns = metadata.tables[table].c.keys()
    keys = metadata.tables[table].primary_key.columns.keys()
    found = cursor.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys)}").fetchall()
    where = " AND ".join(f"{key} = ?" for key in keys)
    rows = [dict(zip(columns, values, strict=True)) for values in found]
    return [Row(table, row, where, tuple(row[key] for key in keys)) for row in rows]


# ---- values


def changes_of_values(cursor: Any, tables: Sequence[str] = TABLES) -> Iterator[Change]:
    """Each byte of each value."""
    for table in tables:
        for row in rows_of(cursor, table):
            for column, value in row.values.items():
                if (table, column) in _FREE:
                    continue
                for kind, sql, parameter in _altered(table, column, value):
                    yield _set(row, column, kind, sql, parameter)


def _set(row: Row, column: str, kind: str, sql: str, parameter: Any) -> Change:
    statement = f"UPDATE {row.table} SET {column} = {sql} WHERE {row.where}"
    return Change(
        f"{row.table}.{column}",
        f"{kind} in {row.table}.{column} of {row.key}",
        ((statement, (parameter, *row.key)),),
        row.names,
        row.touched,
    )


def _altered(table: str, column: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Every changed value: what was done, the SQL expression, its parameter."""
    if value is None:
        text = isinstance(metadata.tables[table].c[column].type, sa.Text)
        yield "NULL filled", "?", "x" if text else 1.0
        return
    if isinstance(value, str):
        raw = value.encode()
        for index in range(len(raw)):
            for bit in (0x01, 0x80):
                changed = raw[:index] + bytes([raw[index] ^ bit]) + raw[index + 1 :]
                yield f"byte {index} ^ {bit:#x}", "CAST(? AS TEXT)", changed
        if value:
            yield "emptied", "?", ""
        yield "a blank more", "?", value + " "
        return
    packed = struct.pack(">d" if isinstance(value, float) else ">q", value)
    for index in range(8):
        for bit in (0x01, 0x80):
            changed = packed[:index] + bytes([packed[index] ^ bit]) + packed[index + 1 :]
            (number,) = struct.unpack(">d" if isinstance(value, float) else ">q", changed)
            yield f"byte {index} ^ {bit:#x}", "?", number


def type_changes(cursor: Any, tables: Sequence[str] = TABLES) -> Iterator[Change]:
    """NULL and the same bytes as a blob, for a file whose tables have lost their strictness."""
    for table in tables:
        for row in rows_of(cursor, table):
            for column, value in row.values.items():
                if (table, column) in _FREE or value is None:
                    continue
                raw = value.encode() if isinstance(value, str) else struct.pack(">d", value)
                for kind, parameter in (("NULL", None), ("a blob", raw)):
                    yield _set(row, column, kind, "?", parameter)
                if not isinstance(value, str):
                    yield _set(row, column, "text", "?", "x")


# ---- rows


def changes_of_rows(cursor: Any) -> Iterator[Change]:
    """Rows removed, added, swapped, reordered, renumbered, cut off."""
    rows = {table: rows_of(cursor, table) for table in TABLES}
    for table in TABLES:
        for row in rows[table]:
            if row is rows["tombstones"][-1]:
                continue  # nobody can tell from inside that the newest one is gone
            yield Change(
                f"{table}: removed",
                f"{table} {row.key} removed",
                ((f"DELETE FROM {table} WHERE {row.where}", row.key),),
                row.names,
                row.touched,
            )
            yield from _added(row)
    for one, two in _pairs(rows["journal"], lambda row: row.values["seq"]):
        yield from _swapped(one, two, ("command", "at", "body", "key_id", "seal"))
        yield from _swapped(one, two, ("run_id",))
    for one, two in _pairs(rows["actions"], lambda row: row.values["step"]):
        yield from _swapped(one, two, ("run_id",))
        yield from _swapped(one, two, ("state", "attempts", "intent", "receipt"))
    for one, two in _pairs(rows["cases"], lambda _: 0):
        yield from _swapped(one, two, ("run_id",))
    for one, two in _pairs(rows["runs"], lambda _: 0):
        yield from _swapped(one, two, tuple(name for name in one.values if name != "run_id"))
        yield from _swapped(one, two, ("seal",))
    for one, two in _pairs(rows["tombstones"], lambda _: 0):
        yield from _swapped(one, two, tuple(name for name in one.values if name != "number"))
        yield from _swapped(one, two, ("outcome", "action_keys", "seal"))
    yield from _disordered(rows["journal"])


def _added(row: Row) -> Iterator[Change]:
    """The same row once more, under the next free key."""
    values = dict(row.values)
    match row.table:
        case "journal":
            values["seq"] += 100
        case "instance":
            values["singleton"] = 2
        case "sealing_keys":
            values["key_id"] += "2"
        case "definitions":
            values["digest"] += "2"
            values["version"] += 1
        case "tombstones":
            values["number"] += 100
            values["run_id"] += "2"
        case table:
            values[_OWN_KEY[table]] += "2"
    yield Change(
        f"{row.table}: added",
        f"{row.table} {row.key} cloned",
        (_insert(row.table, values),),
        row.names,
        (*row.touched, f"{row.run}2"),
    )
    if row.table in ("journal", "actions", "cases"):
        values["run_id"] = "nobody"
        names, runs = ("nobody",), ("nobody",)
        what = f"{row.table} {row.key} cloned for nobody"
        yield Change(f"{row.table}: orphan", what, (_insert(row.table, values),), names, runs)


def _insert(table: str, values: dict[str, Any]) -> Statement:
    marks = ", ".join("?" * len(values))
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values())


def _pairs(rows: Sequence[Row], group: Any) -> Iterator[tuple[Row, Row]]:
    for index, one in enumerate(rows):
        for two in rows[index + 1 :]:
            if one.run != two.run and group(one) == group(two):
                yield one, two


def _swapped(one: Row, two: Row, columns: tuple[str, ...]) -> Iterator[Change]:
    """Two rows exchange what stands in these columns."""
    if all(one.values[column] == two.values[column] for column in columns):
        return
    statements: list[Statement] = []
    one_where, one_key = one.where, one.key
    if columns == ("run_id",) and one.table == "journal":
        statements.append((f"UPDATE journal SET run_id = '~' WHERE {one.where}", one.key))
        one_where, one_key = "run_id = ?", ("~",)
    sets = ", ".join(f"{column} = ?" for column in columns)
    for where, key, other in ((two.where, two.key, one), (one_where, one_key, two)):
        values = tuple(other.values[column] for column in columns)
        statements.append((f"UPDATE {one.table} SET {sets} WHERE {where}", (*values, *key)))
    yield Change(
        f"{one.table}: swapped",
        f"{', '.join(columns)} of {one.table} {one.key} and {two.key} swapped",
        tuple(statements),
        (*one.names, *two.names),
        (one.run, two.run),
    )


def _disordered(records: Sequence[Row]) -> Iterator[Change]:
    """Within one run: neighbours exchanged, one left out and the rest moved up, the tail cut."""
    for row in records:
        seq, run = row.values["seq"], row.run
        last = max(other.values["seq"] for other in records if other.run == run)
        move = "UPDATE journal SET seq = ? WHERE run_id = ? AND seq = ?"
        if seq < last:
            yield Change(
                "journal: reordered",
                f"records {seq} and {seq + 1} of {run} exchanged",
                (
                    (move, (10_000, run, seq)),
                    (move, (seq, run, seq + 1)),
                    (move, (seq + 1, run, 10_000)),
                ),
                (run,),
                (run,),
            )
            yield Change(
                "journal: renumbered",
                f"record {seq} of {run} left out",
                (
                    ("DELETE FROM journal WHERE run_id = ? AND seq = ?", (run, seq)),
                    *((move, (later - 1, run, later)) for later in range(seq + 1, last + 1)),
                ),
                (run,),
                (run,),
            )
        if seq > 1:
            yield Change(
                "journal: cut off",
                f"records of {run} from {seq} on cut off",
                (("DELETE FROM journal WHERE run_id = ? AND seq >= ?", (run, seq)),),
                (run,),
                (run,),
            )
