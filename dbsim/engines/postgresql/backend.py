"""The steps of store and search on PostgreSQL (14 or later, for bit_count)."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format
from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Connection,
    Dialect,
    Double,
    Engine,
    FromClause,
    Integer,
    Table,
    Text,
    bindparam,
    case,
    cast,
    column,
    func,
    insert,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.exc import DBAPIError

from dbsim.engines.backend import GONE
from dbsim.engines.execute import ask
from dbsim.engines.pause import pause
from dbsim.engines.postgresql import drivers, install
from dbsim.engines.postgresql.binary_copy import binary_rows, copied_signatures
from dbsim.engines.postgresql.references import references
from dbsim.engines.postgresql.roles import PostgreSQLRoles, explain_denied
from dbsim.engines.postgresql.signing import STRIPES, inline_function, space
from dbsim.engines.postgresql.triggers import (
    channel,
    create_triggers,
    drop_everything,
    drop_triggers,
    events,
    parts,
    require_key,
    wake,
)
from dbsim.engines.signature_rows import signature_pages
from dbsim.errors import DatabaseUnavailable, DbsimError, InvalidOption, StatementRejected
from dbsim.hashing.bloom import ROUNDING
from dbsim.hashing.records.levels import CUTS, EQUAL
from dbsim.hashing.signer import Signatures
from dbsim.resources import sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.key_forms import postgresql_forms
from dbsim.tables.names import identifier, literal, quote
from dbsim.tables.source import Key, Reference, Source, Unindexable
from dbsim.tables.types import PostgreSQLBits

BPCHAROID, TEXTOID = 1042, 25  # char(n), text
POLL_SECONDS = 0.5  # where a sleeping worker cannot be notified
RAW = {"no_parameters": True}  # a percent sign in a name is not a placeholder
# A search allocates some 0.7 MB in the server (27 kB an index scan). In many a connection glibc gives them back to the
# system after every search and fetches them again, 50 page faults and 0.1 ms each time; one larger piece of memory,
# once freed, raises the limit above which it does so.
WARM_UP = "SELECT length(repeat(' ', 2000000))"
_WARM = "dbsim_warm"
READ_ONLY = (
    "the database is read-only (a replica, or default_transaction_read_only is on): connect to the primary, "
    "or with a role that may write"
)
DEPLOY_LOCK = "hashtext('dbsim deploy')"


class PostgreSQL(install.PostgreSQLInstall, PostgreSQLRoles):
    """See `Backend` for what each step means."""

    name = "postgresql"
    dialect: Dialect = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]  # leaves a percent sign alone
    random_hex = "replace(gen_random_uuid()::text, '-', '')"
    read_batch = 512
    key_batch = 1000
    fill_batch = 4000
    queue_batch = 2000
    not_text: tuple[str, ...] = ("bytea",)
    not_key = r"(\[\]|range|^jsonb?|^time with time zone)$"
    typed_keys = True
    errors: tuple[type[Exception], ...] = drivers.ERRORS
    errors_abort = True
    writers_wait = False
    refuse_writes = "SET default_transaction_read_only = on"
    searches_in_sql = True
    rebuilds_tables = False

    # ── the host's table ──
    def describe(self, connection: Connection, table: str, schema: str | None) -> Source | None:
        rows = connection.execute(text(sql("postgresql", "describe_table")), {"table": table, "schema": schema}).all()
        if not rows:
            return None
        key = sorted((row for row in rows if row.place is not None), key=lambda row: row.place)
        return Source(
            schema=rows[0].schema,
            table=table,
            columns={row.name: row.type for row in rows},
            primary_key=tuple(
                (row.name, row.type + (f" COLLATE {row.collation}" if row.collation else "")) for row in key
            ),
            is_table=rows[0].kind in ("r", "p"),
        )

    def has_table(self, connection: Connection, name: str) -> bool:
        return ask(connection, "SELECT to_regclass(:name)::oid", name=quote(name)).scalar() is not None

    def table_names(self, connection: Connection) -> list[str]:
        return list(
            connection.exec_driver_sql(
                "SELECT CASE WHEN pg_table_is_visible(oid) THEN '' ELSE relnamespace::regnamespace || '.' END "
                "|| relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace::regnamespace::text "
                "NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
            ).scalars()
        )

    def text_expressions(self, column: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        return [cast(column, Text)]

    def read_text(self, values: Sequence[Any]) -> str:
        (value,) = values
        if value is None:
            return ""
        if isinstance(value, bytes):  # a database in SQL_ASCII: the server knows no encoding
            try:
                return value.decode()
            except UnicodeDecodeError as error:
                raise Unindexable("not valid UTF-8") from error
        return str(value)

    def key_forms(self, connection: Connection, value: Any, declared: str) -> Sequence[Any]:
        return postgresql_forms(value, declared, connection.dialect.driver)

    # ── triggers and queue ──
    def _relations(self, connection: Connection, tables: IndexTables) -> list[str]:
        """The table and its partitions: a write aimed at a partition does not fire the parent's triggers."""
        source = quote(tables.record.options.schema, tables.record.options.table)
        found = ask(
            connection,
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_partition_tree(to_regclass(:source)) t "
            "JOIN pg_class c ON c.oid = t.relid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p')",
            source=source,
        ).scalars()
        return sorted({source, *found})

    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        if not tables.record.options.inline:
            return create_triggers(tables, patient=patient)
        assert connection is not None
        function = inline_function(self.surface(connection, tables), parts(tables))
        return create_triggers(tables, function, patient=patient)

    def require_key(self, tables: IndexTables) -> list[str]:
        return require_key(tables)

    def drop_triggers(self, name: str) -> list[str]:
        return drop_triggers(name)

    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        return drop_everything(name, own, written)

    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        wanted = events(tables.record.name)
        found = ask(
            connection,
            "SELECT format('%I.%I', n.nspname, c.relname), t.tgname, CAST(t.tgenabled AS text) FROM pg_trigger t "
            "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE t.tgname = ANY (CAST(:triggers AS text[])) AND t.tgfoid = to_regprocedure(CAST(:function AS text))",
            triggers=list(wanted),
            function=f"{quote(self._home(connection), identifier('dbsim', tables.record.name, 'changed'))}()",
        )
        rows: list[tuple[Any, ...]] = [tuple(row) for row in found]
        there = {(row[0], row[1]) for row in rows if row[2] in wanted[row[1]]}
        relations = self._plain_names(connection, self._relations(connection, tables))
        strays = {str(row[0]) for row in rows} - set(relations) if relations else set()  # of a table once here
        missing = [trigger for relation in relations for trigger in wanted if (relation, trigger) not in there]
        return [*missing, *sorted(f"{relation} no longer belongs to the table" for relation in strays)]

    def _plain_names(self, connection: Connection, relations: list[str]) -> list[str]:
        return sorted(
            set(
                ask(
                    connection,
                    "SELECT format('%I.%I', n.nspname, c.relname) FROM unnest(CAST(:relations AS text[])) r "
                    "JOIN pg_class c ON c.oid = to_regclass(r) JOIN pg_namespace n ON n.oid = c.relnamespace",
                    relations=relations,
                ).scalars()
            )
        )

    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        queue = quote(tables.queue.name)
        key = ", ".join(quote(name) for name in tables.key_names)
        rows = connection.exec_driver_sql(
            f"DELETE FROM {queue} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {queue} WHERE NOT ({self._no_key(tables)}) "
            f"LIMIT {limit} FOR UPDATE SKIP LOCKED)) RETURNING {key}",
            execution_options=RAW,
        )
        return [tuple(row) for row in rows]

    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        key = ", ".join(quote(name) for name in tables.key_names)
        statement = f"SELECT {key} FROM {quote(tables.queue.name)} WHERE NOT ({self._no_key(tables)}) LIMIT {limit}"
        return [tuple(row) for row in connection.exec_driver_sql(statement, execution_options=RAW)]

    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        queued = quote(tables.names.queued)
        rows = connection.exec_driver_sql(
            f"SELECT ctid::text, {queued}::text FROM {quote(tables.queue.name)} WHERE {self._no_key(tables)}",
            execution_options=RAW,
        )
        return [tuple(row) for row in rows]

    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        for place, queued in markers:  # with the time, because the place may have been given to another row
            self._run(
                connection,
                f"DELETE FROM {quote(tables.queue.name)} WHERE ctid = {literal(place)}::tid "
                f"AND {quote(tables.names.queued)} = {literal(queued)}::timestamptz AND {self._no_key(tables)}",
            )

    def _no_key(self, tables: IndexTables) -> str:
        return " AND ".join(f"{quote(name)} IS NULL" for name in tables.key_names)

    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """LISTEN, then say so, then look at the queue once more: what is written after that look notifies.

        Where transactions may be prepared for a commit in two phases nobody says so, because those cannot notify.
        """
        lock = wake(tables.record.name)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            raw = drivers.own_psycopg(connection)
            if raw is None or drivers.pooled(raw):
                connection.close()
                drivers.say_polling(engine, self.name if raw is None else "a pooler")
                pause(min(drivers.POLL_SECONDS, seconds))
                return
            allowed = connection.exec_driver_sql("SELECT current_setting('max_prepared_transactions')").scalar_one()
            if allowed != "0" or not self._announce(connection, tables, lock):
                self._poll(connection, tables, seconds)
                return
            try:
                if not self._pending(connection, tables):
                    for _ in raw.notifies(timeout=seconds, stop_after=1):
                        break
            finally:
                self._run(connection, "UNLISTEN *")
                self._run(connection, f"SELECT pg_advisory_unlock({lock})")

    def _announce(self, connection: Connection, tables: IndexTables, lock: int) -> bool:
        """Whether triggers notify from now on; another worker that sleeps may be the one to be woken."""
        self._run(connection, f"LISTEN {quote(channel(tables.record.name))}")
        taken = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({lock})").scalar_one()
        if not taken:
            self._run(connection, "UNLISTEN *")
        return bool(taken)

    def _poll(self, connection: Connection, tables: IndexTables, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._pending(connection, tables) and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(POLL_SECONDS, left))

    def _pending(self, connection: Connection, tables: IndexTables) -> bool:
        statement = f"SELECT EXISTS (SELECT FROM {quote(tables.queue.name)})"
        return bool(connection.exec_driver_sql(statement, execution_options=RAW).scalar_one())

    # ── transactions ──
    def open(self, engine: Engine) -> Connection:
        # an application's engine may be set to AUTOCOMMIT, in which no transaction would be one
        return engine.connect().execution_options(isolation_level="READ COMMITTED")

    def begin(self, connection: Connection) -> None:
        # set before the transaction's first statement: after a lock is granted the next read must see the newest rows
        self._run(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self._run(connection, "SET LOCAL standard_conforming_strings = on")  # a backslash in a name is a backslash
        # a worker that row-level security hides rows from would take them for deleted: raise instead
        settings = "SELECT set_config('row_security', 'off', true), current_setting('transaction_read_only')"
        if connection.exec_driver_sql(settings).one()[1] == "on":  # a replica, or the role's default
            raise DatabaseUnavailable(READ_ONLY)

    @contextmanager
    def all_rows_visible(self, connection: Connection) -> Iterator[None]:
        before = connection.exec_driver_sql("SELECT current_setting('row_security')").scalar_one()
        self._run(connection, "SET LOCAL row_security = off")
        yield
        self._run(connection, f"SET LOCAL row_security = {literal(before)}")

    def enforcing_foreign_keys(self, connection: Connection) -> AbstractContextManager[None]:
        return nullcontext()  # they always are

    def references(self, connection: Connection, table: str, schema: str | None) -> list[Reference]:
        return references(connection, quote(schema, table))

    def snapshot(self, connection: Connection) -> None:
        self._run(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def alone(self, connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('dbsim migration'))")

    @contextmanager
    def exclusively(self, connection: Connection, patience: float) -> Iterator[None]:
        raw = drivers.own_psycopg(connection)
        behind_pooler = raw is not None and drivers.pooled(raw)
        connection.rollback()
        if behind_pooler:  # a lock of the session would stay with the server's process, for whoever gets it next
            with connection.engine.connect() as other, other.begin():
                other.exec_driver_sql(f"SELECT pg_advisory_xact_lock({DEPLOY_LOCK})")
                yield
            return
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({DEPLOY_LOCK})")
        connection.commit()  # or Alembic takes the transaction for somebody else's and does not commit; the lock stays
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({DEPLOY_LOCK})")
            connection.commit()

    def limit_lock_wait(self, connection: Connection, wait: str) -> None:
        self._run(connection, f"SET LOCAL lock_timeout = {literal(wait)}")

    def share(self, connection: Connection, name: str) -> None:
        self._hold(connection, name, "pg_advisory_xact_lock_shared")

    def change(self, connection: Connection, name: str) -> None:
        self._hold(connection, name, "pg_advisory_xact_lock")

    def _hold(self, connection: Connection, name: str, function: str) -> None:
        """The lock after the last stripe."""
        ask(connection, f"SELECT {function}(CAST(:space AS int), {STRIPES})", space=self._space(connection, name))

    def lock_keys(self, connection: Connection, tables: IndexTables, keys: Iterable[Key]) -> None:
        install.close_gate(connection, tables.record.name)
        types = [type_ for _, type_ in tables.record.primary_key]
        self._lock_stripes(connection, tables, sorted({stripe(key, types) for key in keys}))

    def lock_all(self, connection: Connection, tables: IndexTables) -> None:
        install.close_gate(connection, tables.record.name)
        self._lock_stripes(connection, tables, list(range(STRIPES)))

    def _lock_stripes(self, connection: Connection, tables: IndexTables, stripes: list[int]) -> None:
        ask(
            connection,
            "SELECT pg_advisory_xact_lock(CAST(:space AS int), stripe) FROM unnest(CAST(:stripes AS int[])) AS stripe",
            space=self._space(connection, tables.record.name),
            stripes=stripes,
        )

    def lock_buckets(self, connection: Connection, tables: IndexTables, keys: Sequence[int]) -> None:
        """A snapshot older than the lock would not show what the other transaction has inserted."""
        if ask(connection, "SELECT current_setting('transaction_isolation')").scalar_one() == "repeatable read":
            raise InvalidOption(
                "at isolation level REPEATABLE READ a twin inserted meanwhile stays unseen: use READ COMMITTED or "
                "SERIALIZABLE for the transaction that adds rows"
            )
        name = f"dbsim door {self._home(connection)} {tables.record.name} {tables.record.generation}"
        salt = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
        # the locks of other indexes have other numbers; in ascending order, so that nobody waits in a circle
        numbers = sorted({key ^ salt for key in keys})
        ask(
            connection,
            "SELECT pg_advisory_xact_lock(number) FROM unnest(CAST(:numbers AS bigint[])) AS number",
            numbers=numbers,
        )

    def _space(self, connection: Connection, name: str) -> int:
        """Of the advisory locks of an index."""
        return space(self._home(connection), name)

    def transient(self, error: BaseException) -> bool:
        state = drivers.state(error)
        # serialization failure, deadlock, lock timeout, shutdown and restart, lost connection, and the server's limits
        # for idle transactions (25P03), whole transactions (25P04) and idle sessions (57P05)
        codes = ("40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25P03", "25P04", "57P05")
        return state in codes or (state or "").startswith("08")

    def explain(self, error: BaseException) -> DbsimError | None:
        state, detail = drivers.state(error) or "", drivers.detail(error)
        if state == "55P03":
            return DatabaseUnavailable("a table is locked by long transactions: try again when they have finished")
        if state == "25006" or (state in ("0A000", "55000") and "recovery" in detail):  # locks, LISTEN and others there
            return DatabaseUnavailable(READ_ONLY)
        if state == "42501":
            return explain_denied(detail)
        if state in ("53100", "53200", "53300"):
            return DatabaseUnavailable(f"the server is out of resources ({detail}): nothing was lost, try again later")
        if state in ("28P01", "28000", "3D000") or (state == drivers.CONNECTION_FAILED and "FATAL:" in detail):
            return DatabaseUnavailable(f"the server refuses the connection ({detail}): check the URL")
        if state.startswith(("08", "57P")):
            return DatabaseUnavailable(f"the server cannot be reached ({detail}): check that it runs and try again")
        return _explain_statement(state, detail)

    # ── signatures ──
    def insert(self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures) -> None:
        if not keys:
            return
        raw = drivers.own_psycopg(connection)
        if raw is None:
            self._insert_as_text(connection, tables, keys, rows)
            return
        table = quote(tables.signatures.name)
        columns = ", ".join(quote(name) for name in tables.key_names)
        with raw.cursor() as cursor:
            described = cursor.execute(f"SELECT {columns} FROM {table} LIMIT 0").description or []
            adapter = Transformer(raw)
            try:
                adapter.set_dumper_types([_binary_type(column.type_code) for column in described], Format.BINARY)
            except psycopg.ProgrammingError:  # an enum or another type that psycopg knows only as text
                self._insert_as_text(connection, tables, keys, rows)
                return
            formats = [PyFormat.BINARY] * len(described)
            dumped = [adapter.dump_sequence(key, formats) for key in keys]
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                for block in binary_rows(dumped, rows):
                    copy.write(block)

    def insert_rows(self, connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        raw = drivers.own_psycopg(connection)
        if raw is None:
            names = [column.name for column in table.columns]
            if values := [dict(zip(names, row, strict=True)) for row in rows]:
                connection.execute(insert(table), values)
            return
        with raw.cursor() as cursor, cursor.copy(f"COPY {quote(table.name)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def signature_blocks(self, engine: Engine, tables: IndexTables) -> Iterator[Signatures]:
        if engine.dialect.driver == "psycopg" and not engine.dialect.is_async:
            return copied_signatures(engine, tables)
        return signature_pages(engine, self, tables)

    def _insert_as_text(
        self, connection: Connection, tables: IndexTables, keys: Sequence[Key], rows: Signatures
    ) -> None:
        table = self.stored_table(tables)
        names = [column.name for column in table.columns]
        values = [
            [self.stored_bits(value) if isinstance(value, bytes) else value for value in row]
            for row in self.stored_values(rows)
        ]
        connection.execute(
            insert(table),
            [dict(zip(names, (*key, *row), strict=True)) for key, row in zip(keys, values, strict=True)],
        )

    def finish_filling(self, connection: Connection, tables: IndexTables) -> None:
        self._run(connection, f"ANALYZE {quote(tables.signatures.name)}")

    def stored_bits(self, bits: bytes) -> Any:
        return "X" + bits.hex()

    def read_bits(self, value: Any) -> bytes:
        # asyncpg has objects for them, the other drivers give a text of zeros and ones
        return value.bytes if hasattr(value, "bytes") else int(value, 2).to_bytes(len(value) // 8)

    # ── scores ──
    def connect(self, engine: Engine) -> Connection:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")  # no BEGIN, no ROLLBACK
        if _WARM not in connection.info:
            try:
                connection.exec_driver_sql(WARM_UP)
                connection.commit()
            except DBAPIError:
                connection.close()
                raise
            connection.info[_WARM] = True
        return connection

    def prepare(self, connection: Connection) -> None:
        """bit_count and ln are there; behind a pooler no statement stays prepared."""
        drivers.unprepared_when_pooled(connection)

    def jaccard(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[float]:
        both = func.bit_count(bits.op("&")(cast(other_bits, PostgreSQLBits(size))))
        union = _estimate(count + other_count - both, size)
        return func.greatest((_estimate(count, size) + _estimate(other_count, size) - union) / union, 0.0, type_=Double)

    def level(
        self,
        bits: ColumnElement[Any],
        count: ColumnElement[Any],
        other_bits: ColumnElement[Any],
        other_count: ColumnElement[Any],
        size: int,
    ) -> ColumnElement[int]:
        cuts: ColumnElement[Any] = literal_column(f"ARRAY[{', '.join(map(repr, CUTS))}]::float8[]")
        alike = func.width_bucket(self.jaccard(bits, count, other_bits, other_count, size), cuts, type_=Integer)
        return case((bits == cast(other_bits, PostgreSQLBits(size)), literal_column(str(EQUAL))), else_=alike + 1)

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]:
        return func.dbsim_probability(evidence, type_=Double)

    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        return func.bit_count(cast(key.op("#")(other), PostgreSQLBits(64)), type_=Integer)

    def can_read(self, connection: Connection, table: str) -> bool:
        statement = "SELECT has_table_privilege(to_regclass(:name), 'SELECT')"
        return bool(ask(connection, statement, name=quote(table)).scalar())

    def json_rows(
        self, parameter: str, integers: Sequence[str], texts: Sequence[str], reals: Sequence[str] = ()
    ) -> FromClause:
        columns: list[ColumnElement[Any]] = [column(name, BigInteger) for name in integers]
        columns += [column(name, Text) for name in texts]
        columns += [column(name, Double) for name in reals]
        rows = func.json_to_recordset(cast(bindparam(parameter, type_=Text), JSON))
        return rows.table_valued(*columns, name=parameter).render_derived(with_types=True)

    # ── helpers ──
    def _home(self, connection: Connection) -> str:
        """The schema of dbsim's own tables."""
        return str(
            connection.exec_driver_sql(
                "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE c.oid = to_regclass('dbsim_index')"
            ).scalar_one()
        )

    def _run(self, connection: Connection, statement: str) -> None:
        connection.exec_driver_sql(statement, execution_options=RAW)


def stripe(key: Key, types: Sequence[str]) -> int:
    """Which lock a document shares with others; keys that are equal in SQL, however they are written, share one."""
    parts = [_one_form(value, type_) for value, type_ in zip(key, types, strict=True)]
    return zlib.crc32(repr(parts).encode("utf-8", "surrogatepass")) % STRIPES


def _one_form(value: Any, type_: str) -> Any:
    """numeric has 1.0 and 1.00; a collation of its own, citext and others may call different texts equal."""
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, str):
        exact = type_.startswith(("text", "character varying", "uuid")) and " COLLATE " not in type_
        return value if exact else ""
    return value


def _binary_type(oid: int) -> int:
    """char(n) travels in the same bytes as text, for which psycopg has a binary form."""
    return TEXTOID if oid == BPCHAROID else oid


def _estimate(count: ColumnElement[Any], size: int) -> ColumnElement[Any]:
    """`dbsim.hashing.bloom.cardinality` in SQL, equal to the last bit."""

    def number(value: float) -> ColumnElement[Any]:
        return literal_column(f"{value!r}::float8", Double)

    filled = func.least(cast(count, Double), number(size - 0.5), type_=Double) / number(float(size))
    scaled = number(-float(size) * ROUNDING) * func.ln(number(1.0) - filled, type_=Double)
    return func.round(scaled, type_=Double) / number(float(ROUNDING))


def _explain_statement(state: str, detail: str) -> DbsimError | None:
    if state in ("42P01", "42703"):
        return StatementRejected(GONE.format(detail))
    if state in ("42883", "42804", "42846") or state.startswith("22"):
        return InvalidOption(f"a value does not fit its column ({detail})")
    if state == "42601":
        return StatementRejected(f"the condition is not SQL that the database understands ({detail})")
    return None
