"""PostgreSQL: how a server is found and what is asked of it, and what its errors mean.

- Versions 15 to 18, a database whose encoding is UTF-8.
- A server that acknowledges a commit before it is durable is refused: `synchronous_commit` is off.
- Every connection is in autocommit: where a transaction begins and ends is said in so many words.
- What is waited for has a limit: a connection, a lock, and an answer of a machine that is gone.
- A pooler may lend out its connections by the transaction: whoever is answered by another process
  than it was connected to has one in between. Then nothing is left behind in a session that the
  next one could find, and nothing of ours is expected there: no setting, no prepared statement.
"""

from __future__ import annotations

from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict

from saga.errors import DatabaseError

__all__ = [
    "PATIENCE",
    "PLANS_FOR_GROWTH",
    "advice",
    "begin",
    "connect",
    "is_lost",
    "is_pooled",
    "is_text",
    "is_violation",
    "name_of",
    "parameters",
    "passes",
]

PLANS_FOR_GROWTH = (
    ", set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),"
    " set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true)"
)
"""Settings of a transaction that writes: its statements are planned once, and the plans are kept.

For a few rows planning takes longer than doing. One that was planned while a table was empty would
read all of it later. What is switched off so counts as dear, and what is dear would be compiled
first (JIT).
"""
_LOCK_SECONDS = 1.0  # for a row: the beat waits behind whoever waits for one
PATIENCE = "SELECT set_config('lock_timeout', '30s', true)"
"""Said in a transaction that no beat waits for, and that has to wait for others to be done."""
_IDLE_SECONDS = 60.0  # a process that sleeps in a transaction has locks that others wait for
_OLDEST = 150000
_DEFAULTS: dict[str, Any] = {
    "application_name": "saga",
    "connect_timeout": 10,
    "client_encoding": "UTF8",
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,  # milliseconds: what was sent and never acknowledged
}
_LIMITS = (
    "set_config('extra_float_digits', '1', {local}),"  # a time is read back as it was written
    f" set_config('lock_timeout', '{_LOCK_SECONDS:.0f}s', {{local}}),"
    f" set_config('idle_in_transaction_session_timeout', '{_IDLE_SECONDS:.0f}s', {{local}})"
)
_SETTINGS = (
    "SELECT current_setting('server_encoding'),"  # noqa: S608  our own words
    " (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),"
    f" pg_backend_pid(), {_LIMITS.format(local='pg_backend_pid() <> %s')}"
)
# What a session has once and for all, where every transaction may be in another one. Another user
# of the pool may have left behind there that a commit is not waited for.
_OF_TRANSACTION = (
    f", {_LIMITS.format(local='true')}, set_config('synchronous_commit', CASE"
    " WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'"
    " ELSE current_setting('synchronous_commit') END, true)"
)
_TIME = "SELECT extract(epoch FROM clock_timestamp())::float8"
_WHETHER = ", current_setting('transaction_read_only')"
# Serialisation failure, deadlock, a lock that did not come in time, and a key that somebody else
# has just taken: after that one is read, it is there.
_PASSING = frozenset({"40001", "40P01", "55P03", "23505"})
_GONE = frozenset({"57P01", "57P02", "57P03"})  # shut down, crashed, not up yet


def parameters(url: str) -> dict[str, Any]:
    """What a URL says about the connection. `DatabaseError` never repeats it: it has secrets."""
    try:
        given = conninfo_to_dict(f"postgresql:{url.partition(':')[2]}")
    except (psycopg.Error, UnicodeError) as error:
        known = str(error).partition("invalid URI query parameter: ")[2]
        raise DatabaseError(
            "the PostgreSQL URL cannot be read" + (f": it has no {known.strip()}" if known else ""),
            remedy="write it as postgresql://user:password@host:5432/database",
        ) from error
    return {**_DEFAULTS, **given}


def name_of(given: dict[str, Any]) -> str:
    """How a database is called: where it is, without who asks and with what password."""
    port = f":{given['port']}" if "port" in given else ""
    return f"postgresql://{given.get('host', '')}{port}/{given.get('dbname', '')}"


def connect(given: dict[str, Any]) -> psycopg.Connection[Any]:
    """A connection, verified to keep what it acknowledges."""
    connection = psycopg.connect(**given, autocommit=True)
    try:
        _ensure_fit(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether every transaction of it may be in another session of the server."""
    return connection.prepare_threshold is None


def begin(raw: Any, statement: str, settings: str = "") -> tuple[float, bool] | None:
    """Begin; what time it is there, and whether nothing can be written.

    `settings` are said for this transaction. `None` in a pipeline: there nobody waits for an
    answer.
    """
    own = (_OF_TRANSACTION if is_pooled(raw) else "") + settings
    if raw.pgconn.pipeline_status != psycopg.pq.PipelineStatus.OFF:
        raw.execute(statement, prepare=False)
        if own:
            raw.execute(f"{_TIME}{own}", prepare=True)
        return None
    answer = raw.execute(f"{statement}; {_TIME}{_WHETHER}{own}", prepare=False)
    answer.nextset()
    said, read_only, *_ = answer.fetchone()
    return said, read_only == "on"


def _ensure_fit(connection: psycopg.Connection[Any]) -> None:
    if connection.info.server_version < _OLDEST:
        raise DatabaseError(
            f"PostgreSQL {connection.info.server_version // 10000} is too old: 15 is needed",
            remedy="upgrade the server",
        )
    pid = connection.info.backend_pid
    row = connection.execute(_SETTINGS, [pid] * 3, prepare=False).fetchone()
    assert row is not None
    encoding, early, answering, *_ = row
    if answering != pid:
        connection.prepare_threshold = None
    if encoding != "UTF8":
        raise DatabaseError(
            f"the encoding of the database is {encoding}, and UTF8 is needed",
            remedy="make one with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
        )
    if early in ("off", "local"):
        raise DatabaseError(
            f"it acknowledges commits that it may lose (synchronous_commit is {early})",
            remedy="ALTER DATABASE … SET synchronous_commit = on",
        )


def is_text(value: object) -> bool:
    """Whether the server can have stored it: UTF-8 without U+0000."""
    try:
        return isinstance(value, str) and "\0" not in value and bool(value.encode())
    except UnicodeEncodeError:
        return False


def _cause(error: BaseException) -> BaseException | None:
    return error.orig if isinstance(error, sa.exc.DBAPIError) else error


def passes(error: BaseException) -> bool:
    """Whether the whole transaction may be tried again."""
    cause = _cause(error)
    return isinstance(cause, psycopg.Error) and (cause.sqlstate in _PASSING or is_lost(cause))


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone: of what was under way nobody knows."""
    cause = _cause(error)
    if not isinstance(cause, psycopg.OperationalError):
        return False
    state = cause.sqlstate
    return state is None or state in _GONE or state.startswith("08")


def advice(error: BaseException) -> str:
    """What to do about an error that whoever asks can do something about."""
    if not isinstance(error, psycopg.Error):
        return ""
    if error.sqlstate == "42501":
        return "grant the role of the URL what it needs: see PostgreSQL in docs/operate.md"
    if error.sqlstate == "55P03":
        return "try again: somebody has it locked, for a minute at most if it was stopped there"
    if error.sqlstate is None and isinstance(error, psycopg.OperationalError):
        return "see that the server is up, and that the URL is right (--db, SAGA_DATABASE_URL)"
    return ""


def is_violation(error: BaseException) -> bool:
    """Whether a constraint refuses it, or a type."""
    return isinstance(_cause(error), (psycopg.IntegrityError, psycopg.DataError))
