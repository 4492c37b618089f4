"""Many rows in one statement of PostgreSQL: each column is one array, in the server's own format.

Arrays as text cost ten times as much here, and the driver's own arrays two to three times: it looks
for the type of every value, and we know it. One text serves any number of rows, so that the server
plans it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from struct import Struct
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

from saga.errors import Conflict
from saga.journal.backend import RACE_LOST
from saga.journal.projection import Row

__all__ = ["ArrayStatement", "pipelined", "register", "texts"]

_HEAD = Struct("!iiIii").pack  # dimensions, whether it has nulls, type of an element, size, base
_LENGTH = Struct("!i").pack
_WHOLE = Struct("!iq").pack
_REAL = Struct("!id").pack
_BIG = Struct("!q").pack
_NULL = _LENGTH(-1)
_TEXT_OID, _INT8_OID, _FLOAT8_OID = 25, 20, 701


class _Texts(bytes):
    """A `text[]`, ready to be sent."""

    __slots__ = ()


class _Wholes(bytes):
    """An `int8[]`."""

    __slots__ = ()


class _Reals(bytes):
    """A `float8[]`."""

    __slots__ = ()


class _Whole(bytes):
    """An `int8`: the driver would take the shortest type, and each of them be planned anew."""

    __slots__ = ()


class _Ready(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return bytes(obj)


class _TextsDumper(_Ready):
    oid = 1009


class _WholesDumper(_Ready):
    oid = 1016


class _RealsDumper(_Ready):
    oid = 1022


class _WholeDumper(_Ready):
    oid = _INT8_OID


def register(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection to send these as they are."""
    connection.adapters.register_dumper(_Texts, _TextsDumper)
    connection.adapters.register_dumper(_Wholes, _WholesDumper)
    connection.adapters.register_dumper(_Reals, _RealsDumper)
    connection.adapters.register_dumper(_Whole, _WholeDumper)


@contextmanager
def pipelined(raw: psycopg.Connection[Any]) -> Iterator[None]:
    """Send what is asked in here without waiting for answers; the first fault is raised.

    All of it is to be prepared from its first use on: of what is prepared later the driver does not
    notice that the server has skipped it after a fault.
    """
    fault: BaseException | None = None
    with _races():
        try:
            with raw.pipeline():
                try:
                    yield
                except BaseException as error:  # noqa: BLE001  else the driver warns of the rest
                    fault = error
        except psycopg.Error as error:
            fault = fault or error
        if fault is not None:
            raise fault


@contextmanager
def _races() -> Iterator[None]:
    """What `ensure` has the server say, a division by zero as nothing else does, is `Conflict`."""
    try:
        yield
    except psycopg.errors.DivisionByZero:
        raise Conflict(RACE_LOST) from None


def _array(oid: int, parts: list[bytes]) -> bytes:
    """An array of one dimension; the server reads "may have nulls" as no more than that."""
    return b"".join([_HEAD(1, 1, oid, len(parts), 1), *parts])


def texts(values: Iterable[str | None]) -> bytes:
    """A `text[]`. Raises `UnicodeEncodeError` for what is no text."""
    parts = []
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            raw = value.encode()
            parts.append(_LENGTH(len(raw)) + raw)
    return _Texts(_array(_TEXT_OID, parts))


def _wholes(values: Iterable[int | None]) -> bytes:
    parts = [_NULL if value is None else _WHOLE(8, value) for value in values]
    return _Wholes(_array(_INT8_OID, parts))


def _reals(values: Iterable[float | None]) -> bytes:
    parts = [_NULL if value is None else _REAL(8, value) for value in values]
    return _Reals(_array(_FLOAT8_OID, parts))


def _encoder(column: Any) -> Callable[[Iterable[Any]], bytes]:
    if isinstance(column.type, sa.Integer):
        return _wholes
    return _reals if isinstance(column.type, sa.REAL) else texts


class ArrayStatement:
    """A statement that is given its rows column by column."""

    def __init__(self, sql: str, columns: Sequence[Any]) -> None:
        """`sql` has one row of `VALUES`, which becomes the rows of the arrays."""
        before, values, rest = sql.partition("VALUES (")
        assert values, sql
        after = rest.partition(")")[2]
        arrays = ", ".join(["%b"] * len(columns))
        self.text = f"{before}SELECT * FROM unnest({arrays}){after}"  # noqa: S608  our own words
        given, _, change = self.text.rpartition(") UPDATE ")  # those with a `WITH` of their own
        changed = f"{given}), changed AS (UPDATE {change}" if given else self.text
        start = "" if given else "WITH changed AS ("
        rest = "RETURNING 1) SELECT 1 / (count(*) = %b)::int FROM changed"
        self._ensured = f"{start}{changed} {rest}"
        self._encoders = [_encoder(column) for column in columns]

    def run(self, cursor: Any, rows: Sequence[Row]) -> None:
        """Execute for every row."""
        if rows:
            cursor.execute(self.text, self._arrays(rows), prepare=True)

    def ensure(self, cursor: Any, rows: Sequence[Row]) -> None:
        """The same; `Conflict` unless each changes a row.

        The server sees to it, so that nobody need wait for a count: in a pipeline the next that
        asks for an answer hears of it.
        """
        if rows:
            with _races():
                given = [*self._arrays(rows), _Whole(_BIG(len(rows)))]
                cursor.execute(self._ensured, given, prepare=True)

    def _arrays(self, rows: Sequence[Row]) -> list[bytes]:
        columns = zip(*rows, strict=True)
        return [encode(column) for encode, column in zip(self._encoders, columns, strict=True)]
