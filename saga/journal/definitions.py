"""The definitions that runs are pinned to: stored once by digest, sealed, newest tuning kept.

A row that does not verify is left as it is, and the runs that are pinned to it are set aside like
all that is damaged: it is evidence, and nothing here repairs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from saga.definition.diff import difference
from saga.definition.meaning import spec_digest
from saga.definition.read import read_spec
from saga.definition.spec import (
    FORMAT,
    SagaSpec,
)
from saga.definition.strict_json import strict_loads
from saga.errors import Conflict, Tampered
from saga.journal.backend import backend_of
from saga.journal.projection import Row
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.statements import Question, listed
from saga.journal.tables import definitions, runs

__all__ = [
    "PINNED",
    "Specs",
    "alike",
    "check_definition",
    "reading",
    "store_definition",
    "stored_spec",
]

_READ_MOST = 64  # definitions; their text too is kept
_log = logging.getLogger("saga")

_NAMED = definitions.c.digest == sa.bindparam("digest")
_SAME = sa.and_(
    definitions.c.saga == sa.bindparam("saga"), definitions.c.version == sa.bindparam("version")
)


class _Row(NamedTuple):
    """A row of `definitions`; in an altered one there may be anything."""

    digest: Any
    saga: Any
    version: Any
    spec: Any
    stored_at: Any
    key_id: Any
    seal: Any


_ROWS = sa.select(*(definitions.c[name] for name in _Row._fields))
_ALIKE = Question(_ROWS.where(sa.or_(_NAMED, _SAME)))
_ONE = Question(_ROWS.where(_NAMED))
_THEIRS = sa.select(runs.c.definition).where(runs.c.run_id.in_(listed("names")))
PINNED = Question(_ROWS.where(definitions.c.digest.in_(_THEIRS)))
"""The rows, each with its digest first, that the runs with these `names` are pinned to."""


def alike(spec: SagaSpec) -> tuple[Question, dict[str, Any]]:
    """The question for what is stored of this saga and version, or under its digest."""
    return _ALIKE, {"digest": spec.digest, "saga": spec.name, "version": spec.version}


def store_definition(
    connection: sa.Connection,
    keys: Keyring,
    spec: SagaSpec,
    text: str,
    now: float,
    found: list[Row] | None = None,
) -> bool:
    """Keep `text` as that of `spec`; False if what is stored there is damaged, and then left so.

    `found`: the answer to `alike` in this transaction. Raises `Conflict` if this saga and version
    mean something else here.
    """
    digest, new = spec.digest, alike(spec)[1]
    missing = Tampered(f"definition {digest} is missing, or another one stands in its place")
    if found is None:
        found = _ALIKE.ask(connection, **new)
    if not found:  # somebody else may be about to store it, and a run that is pinned to it
        backend_of(connection).alone(connection, f"definition {digest}")
        found = _ALIKE.ask(connection, **new)
    try:
        match [_Row(*row) for row in found]:
            case [] if not _pinned(connection, digest):
                values = _sealed(keys, digest, text, now)
                connection.execute(definitions.insert().values(**new, **values))
            case [row] if row.digest == digest:
                _check_row(keys, row, spec.name, spec.version)
                if row.spec != text:
                    values = _sealed(keys, digest, text, now)
                    connection.execute(
                        definitions.update().where(definitions.c.digest == digest).values(**values)
                    )
            case [row]:
                raise _other_meaning(check_definition(keys, row), strict_loads(text))
            case _:
                raise missing
    except NewerFormat as newer:
        raise Conflict(
            f"saga {spec.name!r} version {spec.version} is stored by a newer version of saga "
            f"({newer})",
            remedy="run that version here too",
        ) from newer
    except Tampered as damage:
        _log.error("%s; its runs will be set aside", damage)
        return False
    return True


def _pinned(connection: sa.Connection, digest: str) -> bool:
    run = sa.select(runs.c.run_id).where(runs.c.definition == digest).limit(1)
    return connection.execute(run).first() is not None


def _sealed(keys: Keyring, digest: str, text: str, now: float) -> dict[str, Any]:
    return {
        "spec": text,
        "stored_at": float(now),
        "key_id": keys.key_id,
        "seal": keys.seal("definition", digest, text, repr(float(now))),
    }


def _other_meaning(old: Mapping[str, Any], new: Mapping[str, Any]) -> Conflict:
    changes = "; ".join(str(change) for change in difference(old, new) if change.meaning)
    return Conflict(
        f"saga {new['saga']!r} version {new['version']} is stored with another meaning: {changes}",
        remedy=f"use version={new['version'] + 1}",
    )


def check_definition(keys: Keyring, row: Any) -> dict[str, Any]:
    """The specification in a row of `definitions`. Raises `Tampered`, `NewerFormat`."""
    where = f"definition {row.digest}"
    _check_seal(keys, row)
    try:
        spec = strict_loads(row.spec)
        if spec["format"] > FORMAT:
            raise NewerFormat(f"{where}: format {spec['format']}")
        _check_row(keys, row, spec["saga"], spec["version"])
        if spec_digest(spec) != row.digest:
            raise Tampered(f"{where}: it is not what its digest says")
    except (KeyError, TypeError, ValueError) as error:
        raise Tampered(f"{where}: it cannot be read") from error
    return dict(spec)


def _check_row(keys: Keyring, row: Any, saga: str, version: int) -> None:
    """Enough where the text is compared with our own, or not used."""
    _check_seal(keys, row)
    if (row.saga, row.version) != (saga, version):
        raise Tampered(f"definition {row.digest}: a column is not what its text says")


def _check_seal(keys: Keyring, row: Any) -> None:
    sealed = (row.digest, row.spec, repr(row.stored_at))
    if not keys.verify(row.key_id, row.seal, "definition", *sealed):
        raise Tampered(f"definition {row.digest}: its seal does not verify")


def _row(connection: sa.Connection, digest: str) -> _Row:
    try:
        found = _ONE.ask(connection, digest=digest)
    except UnicodeEncodeError:  # what an altered head names is not even text
        found = []
    if not found:
        raise Tampered(f"definition {digest!a} is missing")
    return _Row(*found[0])


def stored_spec(connection: sa.Connection, keys: Keyring, digest: str) -> dict[str, Any]:
    """The stored JSON of a definition; `Tampered` if it is missing or does not verify."""
    return check_definition(keys, _row(connection, digest))


def reading(keys: Keyring) -> Callable[..., SagaSpec]:
    """What verifies the columns of a row and reads the specification in it.

    A row that is to the byte one of the last that verified is the same specification: what has
    been tuned or altered since is another row.
    """

    @lru_cache(maxsize=_READ_MOST, typed=True)
    def read(*columns: Any) -> SagaSpec:
        row = _Row(*columns)
        stored = check_definition(keys, row)
        try:
            return read_spec(stored, row.digest)
        except (KeyError, TypeError, ValueError) as error:
            raise Tampered(f"definition {row.digest}: it cannot be read") from error

    return read


class Specs:
    """Specifications by digest: those of the code that is here, else the stored ones.

    An owner decides with its own code's tuning, everybody else with the stored one. Either way what
    is stored has to verify.
    """

    def __init__(
        self,
        keys: Keyring,
        own: Mapping[str, SagaSpec] | None = None,
        read: Callable[..., SagaSpec] | None = None,
    ) -> None:
        """`read`: what `reading` gave, of whoever asks again and again."""
        self._keys = keys
        self._own = dict(own or {})
        self._read = read or reading(keys)
        self._verified: dict[str, SagaSpec] = {}

    def get(self, connection: sa.Connection, digest: str, stored: Row | None = None) -> SagaSpec:
        """The specification with this digest, in its row `stored` if that has been read already.

        Raises `Tampered`, `NewerFormat`.
        """
        if digest not in self._verified:
            own, row = self._own.get(digest), _Row(*stored or _row(connection, digest))
            if own is None:
                own = self._read(*row)
            else:
                _check_row(self._keys, row, own.name, own.version)
            self._verified[digest] = own
        return self._verified[digest]
