"""A database that dbsim works in: open it, create, find and drop indexes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Engine

from dbsim.engines.callers import require_plain_names
from dbsim.engines.context import DatabaseContext
from dbsim.engines.execute import TableHook
from dbsim.engines.registry import backend_of, register
from dbsim.engines.urls import engine_for, shown
from dbsim.errors import DbsimError
from dbsim.evaluate.sampling.graph import WalkSample, edge_table
from dbsim.importing import load
from dbsim.index import Index
from dbsim.lifecycle import schema as own_schema
from dbsim.lifecycle.create import create, drop
from dbsim.lifecycle.records import create_records, plan_records
from dbsim.lifecycle.rename import rename, renames_of
from dbsim.options import Field, IndexOptions, field_options, fields_from, require_positive
from dbsim.outside import read_secret
from dbsim.progress import Progress
from dbsim.tables import catalogue
from dbsim.text.kinds.guess import Guess

ALWAYS_GIVEN = ("table", "schema", "triggers", "inline")  # options of an index without "as you like"
OF_INDEX = "index:"  # before the name of an index whose secret another one takes over
FIRST_CONTACT = 2.0  # seconds of retries before a server that cannot be reached is reported


def open(target: str | Path | Engine, *, create: bool = False, after_create_table: TableHook | None = None) -> Database:
    """A database by URL, by SQLite path or by Engine; a missing SQLite file is only made with `create`."""
    if isinstance(target, Engine):
        require_plain_names(target)
        return Database(target, after_create_table)
    if not isinstance(target, str | Path):
        hint = ": an AsyncEngine is for dbsim.aio.open" if type(target).__name__ == "AsyncEngine" else ""
        raise DbsimError(f"open takes a URL, a SQLite path or a SQLAlchemy Engine, not {type(target).__name__}{hint}")
    return Database(engine_for(str(target), create=create), after_create_table)


class Database:
    """Indexes of one database."""

    def __init__(self, engine: Engine, after_create_table: TableHook | None = None) -> None:
        self.engine = engine
        self._backend = backend_of(engine)
        self._context = DatabaseContext(engine=engine, backend=self._backend, after_create_table=after_create_table)
        self._checked = False
        register(engine)  # every connection can compute scores, also those of the application's sessions

    def __repr__(self) -> str:
        return f"<dbsim database {self.url}>"

    @property
    def url(self) -> str:
        return shown(self.engine)

    # ── schema ──
    def upgrade(self, to: str | None = None) -> str:
        """Create dbsim's own tables or bring them up to this version; safe to repeat. Returns the version."""
        return own_schema.upgrade(self.engine, self._backend, to, self._context.after_create_table)

    def downgrade(self, to: str = "base", *, documents: bool | None = None) -> None:
        """Remove dbsim's own tables, or lower their version; the indexes must be dropped before.

        Rows that were imported into dbsim_document are yours: `documents=True` deletes them, False leaves them in their
        table; without either word nothing is removed while there are any.
        """
        own_schema.downgrade(self.engine, self._backend, to, documents)

    # ── indexes ──
    def create_index(
        self,
        name: str,
        *,
        table: str,
        columns: str | Sequence[str] | Mapping[str, float] | None = None,
        fields: Sequence[Field] | None = None,
        schema: str | None = None,
        family: str | None = None,
        threshold: float | None = None,
        recall: float | None = None,
        rows: int | None = None,
        keys: int | None = None,
        bucket: int | None = None,
        words: int | None = None,
        characters: int | None = None,
        normaliser: str | None = None,
        bits: int | None = None,
        false_drops: float | None = None,
        filter: str | None = None,
        triggers: bool = True,
        inline: bool = False,
        changed: str | None = None,
        tablespace: str | None = None,
        distributed: bool | None = None,
        secret: bytes | str | None = None,
    ) -> Index:
        """An index on a table; the same call again changes nothing.

        `columns` as a list are joined to one text, as {"title": 0.3, "body": 0.7} they are weighted fields. Runs of
        `words` or of `characters` are compared; left open, the table's texts decide, as they do for `bits`.
        `family` is a name with settings, such as "hyperplane" or "gauss:width=0.5"; `threshold` is one of its measure.
        Rows and keys follow from threshold and recall, or from a `bucket` size as Gionis, Indyk and Motwani have it.
        `triggers=False` leaves the table untouched: then every `sync` compares all rows. `inline=True` (PostgreSQL) has
        the database sign changed rows in the transaction that writes them: found at once, no worker.
        `changed` names a column that grows with every change, such as updated_at: no triggers, and `sync` looks at rows
        changed since; deleted rows, and changes that leave the column alone, are found by sync(reconcile=True) only.
        `tablespace` (PostgreSQL) is where dbsim's tables lie. `distributed` (Citus) follows from the table by default.
        `secret`: "env:NAME" or "file:PATH" is where one is that the database never sees, "index:NAME" that of another;
        `false_drops`, such as 0.01, adds word signatures, for `contains`; `filter="partitioned"`: see docs/persons.md.
        """
        self._require_schema()
        common = field_options(words, characters, normaliser, bits, false_drops, filter)
        require_positive(rows=rows, keys=keys, bucket=bucket)
        chosen = {"threshold": threshold, "recall": recall, "family": family, "rows": rows, "keys": keys}
        key, kept = self._secret(secret)
        chosen |= {"changed": changed, "tablespace": tablespace, **kept}
        asked: dict[str, Any] = {option: value for option, value in chosen.items() if value is not None}
        options = IndexOptions(
            name=name,
            table=table,
            schema=schema,
            fields=fields_from(columns, fields, **common),
            triggers=triggers and not changed,
            inline=inline,
            **{**asked, "family": family or "minhash"},
        )
        given, hook = [*ALWAYS_GIVEN, *asked], self._context.after_create_table
        create(self.engine, self._backend, options, given, key, hook, bucket or 0, distributed)
        return self.index(name)

    def create_records(
        self,
        name: str,
        *,
        table: str,
        kinds: Mapping[str, str] | None = None,
        schema: str | None = None,
        threshold: float | None = None,
        bits: int | None = None,
        filter: str | None = None,
        triggers: bool = True,
        fold: int = 0,
        on_duplicate: str | None = None,
        secret: bytes | str | None = None,
    ) -> Index:
        """An index of the persons in a table: its score is the probability that two rows are one person.

        The kind of each column (name, date, phone, digits, address, email, text) is guessed unless `kinds` states it,
        as in {"surname": "name", "tel": "phone+49", "remarks": ""}; "" leaves a column out. Keys are planned on a
        sample, the weight of evidence is learned by the first `sync`; `threshold` is a probability, 0.5 by default.
        `secret` as text, "env:NAME" or "file:PATH", is the place of one that the database never sees, "index:NAME" that
        of another index here; `fold=1` makes filters twice as long and folds them by XOR, so that they tell less.
        `on_duplicate="reject"` (PostgreSQL) has a trigger refuse rows of persons who are there already, with a
        probability of 0.9 or more; "flag" has it note them in dbsim_<index>_flagged instead. `filter="partitioned"` is
        as for `create_index`.
        """
        self._require_schema()
        require_positive(bits=bits)
        asked = (name, table, schema, threshold, triggers)
        (given, kept), hook = self._secret(secret), self._context.after_create_table
        key = given or secrets.token_bytes(16)
        more: dict[str, Any] = {**kept}
        if on_duplicate is not None:
            more |= {"on_duplicate": on_duplicate, "inline": True}
        create_records(self.engine, self._backend, asked, kinds or {}, key, bits or 0, hook, more, fold, filter or "")
        return self.index(name)

    def guess_records(
        self, table: str, *, kinds: Mapping[str, str] | None = None, schema: str | None = None
    ) -> list[Guess]:
        """What each column of a table would be taken for by `create_records`."""
        asked = IndexOptions(name="guess", table=table, schema=schema, fields=(Field(columns=("?",)),))
        return list(self._context.read(lambda c: plan_records(c, self._backend, asked, kinds or {})).guesses)

    def rename(self, name: str, renames: Mapping[str, str]) -> bool:
        """Tell an index what its table or columns are called now: {"body": "content"}, {"articles": "posts"}.

        Nothing is signed again. False when the index knows these names already.
        """
        self._require_schema()

        def work(connection: Connection) -> bool:
            record = catalogue.load(connection, name)
            asked = renames_of(record.options, record.primary_key, renames)
            return rename(connection, self._backend, name, asked)

        return self._context.write(work)

    def index(self, name: str) -> Index:
        """An existing index."""
        self._require_schema()
        record = self._context.read(lambda c: self._context.load(c, name))
        return Index(self._context, record)

    def indexes(self) -> list[Index]:
        """All indexes, by name."""
        self._require_schema()
        return [self.index(name) for name in self._context.read(catalogue.names)]

    def alter_index(self, name: str, **options: Any) -> Index:
        """`index(name).alter(…)`."""
        return self.index(name).alter(**options)

    def drop_index(self, name: str) -> None:
        """`index(name).drop()`, also of an index that this dbsim cannot open."""
        self._require_schema()
        drop(self.engine, self._backend, name)

    def import_file(
        self,
        path: str | Path,
        *,
        table: str | None = None,
        text: str | None = None,
        separator: str | None = None,
        progress: Progress | None = None,
    ) -> tuple[str, int]:
        """Load a .jsonl or .csv file into a table (made if missing; dbsim_document by default): (table, rows).

        The separator of a .csv file and the types of a new table's columns follow from all that the file holds.
        """
        if table is None:
            self._require_schema()
        show = progress or (lambda stage, done, total: None)
        report = lambda done: show("importing", done, done)  # noqa: E731
        return self._context.write(lambda c: load(c, self._backend, Path(path), table, text, separator, report))

    def walk(
        self,
        table: str,
        ends: tuple[str, str],
        size: int,
        *,
        start: Any = None,
        degree: int | None = None,
        gap: int | None = None,
        seed: int | None = None,
    ) -> WalkSample:
        """Nodes drawn by a random walk on a table of edges, `ends` its two columns: uniform over what is reached."""
        graph = self._context.read(lambda c: edge_table(c, self._backend, table, ends))
        found: WalkSample = graph.sample(size, start, degree, gap, seed)
        return found

    def close(self) -> None:
        """Give the connections back; a database that is used again opens new ones."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _secret(self, given: bytes | str | None) -> tuple[bytes | None, dict[str, str]]:
        """The key to hash with, and the options that remember a secret that is kept outside."""
        if not isinstance(given, str):
            return given, {}
        if given.startswith(OF_INDEX):
            other = self.index(given.removeprefix(OF_INDEX))
            options = other.options
            return other.secret, {
                "secret": options.secret,
                "secret_check": options.secret_check,
            } if options.secret else {}
        found = read_secret(given)
        return found.key, {"secret": given, "secret_check": found.check}

    def _require_schema(self) -> None:
        if not self._checked:
            reader = self._context.read(self._found, patience=FIRST_CONTACT)
            self._context = replace(self._context, reader=reader)
            self._checked = True

    def _found(self, connection: Connection) -> bool:
        """Whether this role may only search."""
        own_schema.require(connection, self.url)
        return not self._backend.reads_secrets(connection)


__all__ = ["Database", "open"]
