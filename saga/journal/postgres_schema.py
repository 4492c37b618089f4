"""The schema in PostgreSQL: whose turn it is to change it, and whether it is as it should be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from saga.journal.backend import driver
from saga.journal.postgres import PATIENCE

__all__ = ["differences", "server", "take_turn"]

_TURN = 0x5A6A_0001  # of the advisory locks of a database, the one of whoever upgrades ours
_OURS = "SELECT oid FROM pg_namespace WHERE nspname = current_schema()"
_COLUMNS = """
SELECT CASE c.relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'view ' ELSE 'table ' END || c.relname,
  string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attnotnull THEN 'not null' END, l.collname, pg_get_expr(d.adbin, d.adrelid)),
    ', ' ORDER BY a.attname) || CASE c.relpersistence WHEN 'u' THEN ' unlogged' ELSE '' END
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
GROUP BY c.relkind, c.relname, c.relpersistence
"""
_CONSTRAINTS = """
SELECT 'constraint ' || conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = %s AND contype <> 'n'
"""
_INDEXES = """
SELECT 'index ' || c.relname,
  pg_get_indexdef(c.oid) || CASE WHEN i.indisvalid THEN '' ELSE ' (not valid)' END
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace = %s
"""
_TRIGGERS = """
SELECT 'trigger ' || t.tgname, '' FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %s AND NOT t.tgisinternal
UNION ALL
SELECT 'rule ' || r.rulename, '' FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = %s AND c.relkind <> 'v' AND c.relkind <> 'm'
"""
_SCHEMA_NAMES = re.compile(r"\b(ON|REFERENCES) (\w+|\"[^\"]+\")\.")


def server(connection: sa.Connection) -> str:
    """The version of the server, for a person."""
    (version,) = driver(connection).execute("SHOW server_version").fetchone()
    return f"PostgreSQL {version}"


def take_turn(connection: sa.Connection) -> None:
    """Until the transaction ends nobody else upgrades this database."""
    driver(connection).execute(PATIENCE)
    driver(connection).execute("SELECT pg_advisory_xact_lock(%s)", [_TURN])


def differences(connection: sa.Connection, metadata: Sequence[sa.MetaData]) -> list[str]:
    """What is not as these would make it; in a transaction that the caller rolls back.

    They are made once more, as temporary tables, and what the server says of both is compared.
    """
    raw = driver(connection)
    found = _made_in(raw, raw.execute(_OURS).fetchone()[0])
    raw.execute("SET LOCAL search_path TO pg_temp")
    for one in metadata:
        one.create_all(connection, checkfirst=False)
    wanted = _made_in(raw, raw.execute("SELECT pg_my_temp_schema()").fetchone()[0])
    missing = [f"{name} is missing" for name in wanted if name not in found]
    other = [
        f"{name} is not as this version makes it"
        for name in wanted.keys() & found.keys()
        if found[name] != wanted[name]
    ]
    # An index more does no harm, nor what somebody sets for the vacuum; a trigger, a rule or a view
    # may change what is written or read.
    foreign = [
        f"{name} is none of ours" for name in found if name.startswith(("trigger", "rule", "view"))
    ]
    # What is wrong with a table explains most of the rest.
    return sorted([*missing, *other, *foreign], key=lambda text: (text[:6] != "table ", text))


def _made_in(raw: Any, namespace: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for query in (_COLUMNS, _CONSTRAINTS, _INDEXES, _TRIGGERS):
        rows = raw.execute(query, [namespace] * query.count("%s")).fetchall()
        found |= {name: _SCHEMA_NAMES.sub(r"\1 ", text) for name, text in rows}
    return found
