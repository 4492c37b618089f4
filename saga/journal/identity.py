"""Which database this is: its name, and every key that has ever sealed something in it.

Both are sealed. Who cannot verify them all does not open the database: without one of its keys,
what others have written would look like damage, and a run would be set aside for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from saga.errors import DatabaseError
from saga.ids import Ids
from saga.journal.records import NewerFormat
from saga.journal.sealing import Keyring
from saga.journal.tables import instance, sealing_keys

__all__ = ["Identity", "MissingKey", "enrol", "ensure_all_keys", "establish", "identify"]


class MissingKey(NewerFormat):
    """Others seal with a key that we do not have: what they wrote is neither damage nor ours."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`instance` is the database's name. `enrolled`: the key that we seal with is on its list."""

    instance: str
    enrolled: bool


def establish(connection: sa.Connection, keys: Keyring, ids: Ids, now: float) -> None:
    """Name a new database, and seal the name."""
    name = ids.instance()
    connection.execute(
        instance.insert().values(
            singleton=1,
            instance=name,
            created_at=float(now),
            key_id=keys.key_id,
            seal=keys.seal("instance", name, repr(float(now))),
        )
    )
    enrol(connection, keys, name, now)


def identify(connection: sa.Connection, keys: Keyring) -> Identity:
    """Which database this is, verified. Raises `DatabaseError`."""
    rows = connection.execute(sa.select(instance)).all()
    if len(rows) != 1 or rows[0].singleton != 1:
        raise DatabaseError(f"it has {len(rows)} instance rows where one is right")
    (row,) = rows
    if row.key_id not in keys:
        wanted = f"key {row.key_id!a}" if row.key_id else "no key"
        has = "others" if keys else "none"
        raise DatabaseError(
            f"it was made with {wanted}, and SAGA_KEYS has {has}; opening it so would damage it",
            remedy="set SAGA_KEYS as it was when the database was made",
        )
    if not keys.verify(row.key_id, row.seal, "instance", row.instance, repr(row.created_at)):
        raise DatabaseError(
            "its instance row does not verify: it was altered, or SAGA_KEYS has another key under "
            f"the name {row.key_id!a}",
        )
    known = connection.execute(sa.select(sealing_keys).order_by(sealing_keys.c.added_at)).all()
    _verify_keys(keys, row.instance, known)
    enrolled = {key.key_id for key in known}
    if row.key_id not in enrolled:
        raise DatabaseError("the key that it was made with is missing in sealing_keys")
    return Identity(row.instance, keys.key_id in enrolled)


def _verify_keys(keys: Keyring, name: str, rows: Sequence[Any]) -> None:
    for row in rows:
        if row.key_id not in keys:
            raise DatabaseError(
                f"key {row.key_id!a} has sealed records of it, and SAGA_KEYS does not have it; "
                "what was sealed with it would look damaged",
                remedy="add that key to SAGA_KEYS: the first one seals, all of them verify",
            )
        if not keys.verify(row.key_id, row.seal, "key", name, row.key_id, repr(row.added_at)):
            raise DatabaseError(
                f"the row of key {row.key_id!a} in sealing_keys does not verify: it was altered, "
                "or SAGA_KEYS has another key under that name",
            )


def enrol(connection: sa.Connection, keys: Keyring, name: str, now: float) -> None:
    """Put the key that we seal with on the list, before it seals anything else."""
    ours = sa.select(sealing_keys.c.key_id).where(sealing_keys.c.key_id == keys.key_id)
    if connection.execute(ours).first() is not None:
        return
    connection.execute(
        sealing_keys.insert().values(
            key_id=keys.key_id,
            added_at=float(now),
            seal=keys.seal("key", name, keys.key_id, repr(float(now))),
        )
    )


def ensure_all_keys(connection: sa.Connection, keys: Keyring) -> None:
    """Raise `MissingKey` if somebody has begun to seal with a key that we do not have."""
    for key_id in connection.execute(sa.select(sealing_keys.c.key_id)).scalars():
        if key_id not in keys:
            raise MissingKey(
                f"key {key_id!a} has sealed records here and SAGA_KEYS does not have it; "
                "restart with it"
            )
