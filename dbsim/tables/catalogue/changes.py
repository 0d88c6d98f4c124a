"""Changes of an index's rows in dbsim's own tables; lifecycle/statements.py adds them."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace

from sqlalchemy import Connection, delete, insert, update

from dbsim.options import IndexOptions
from dbsim.tables.catalogue.records import FILLING, READY, IndexRecord, generations
from dbsim.tables.catalogue.tables import generation_table, index_table, model_table, quarantine_table


def remove_generation(connection: Connection, record: IndexRecord) -> None:
    for table in (quarantine_table, model_table, generation_table):
        connection.execute(
            delete(table).where(table.c.index_name == record.name, table.c.generation == record.generation)
        )


def forget_secret(connection: Connection, name: str) -> None:
    """The one in the database, once no generation is left that was made with it."""
    if all(record.options.secret for record in generations(connection, name)):
        connection.execute(update(index_table).where(index_table.c.name == name).values(secret=""))


def set_ready(connection: Connection, record: IndexRecord) -> None:
    """Of this generation, wherever its row is."""
    _set_state(connection, record, READY)


def set_unfinished(connection: Connection, record: IndexRecord) -> None:
    """Of a generation that loses its rows: who wants it again has it filled again."""
    _set_state(connection, record, FILLING)


def _set_state(connection: Connection, record: IndexRecord, state: str) -> None:
    beside = generation_table
    for table, name in ((index_table, index_table.c.name), (beside, beside.c.index_name)):
        connection.execute(
            update(table).where(name == record.name, table.c.generation == record.generation).values(state=state)
        )


def switch(connection: Connection, old: IndexRecord, new: IndexRecord, when: int) -> None:
    """Searches read one row to see which generation counts, so that all of them change at once."""
    remembered = {"options": old.options.to_json(), "family": old.options.family, "state": old.state}
    table = generation_table
    connection.execute(delete(table).where(table.c.index_name == new.name, table.c.generation == new.generation))
    connection.execute(
        insert(table).values(index_name=old.name, generation=old.generation, retired_at=when, **remembered)
    )
    connection.execute(
        update(index_table)
        .where(index_table.c.name == new.name)
        .values(
            generation=new.generation,
            options=replace(new.options, inline=old.options.inline).to_json(),
            family=new.options.family,
            state=new.state,
            stamp=secrets.token_hex(16),
            wanted=new.generation if old.options.inline else None,  # see Worker.resume_inline
        )
    )


def set_options(connection: Connection, options: IndexOptions) -> None:
    """Those that need no other generation; a search made before is of the same index still, but knows less."""
    values = {"options": options.to_json(), "stamp": secrets.token_hex(16)}
    connection.execute(update(index_table).where(index_table.c.name == options.name).values(values))


def set_schema(connection: Connection, found: list[IndexRecord], schema: str | None) -> None:
    """Of the indexed table, in all generations."""
    beside = generation_table
    for record in found:
        text = replace(record.options, schema=schema).to_json()
        if record.searched:
            values = {"options": text, "source_schema": schema, "stamp": secrets.token_hex(16)}
            connection.execute(update(index_table).where(index_table.c.name == record.name).values(values))
        else:
            mine = (beside.c.index_name == record.name, beside.c.generation == record.generation)
            connection.execute(update(beside).where(*mine).values(options=text))


def set_renamed(connection: Connection, records: list[IndexRecord]) -> None:
    """All generations of an index whose table, schema, columns or key have other names or types now."""
    beside = generation_table
    for record in records:
        options = record.options
        if record.searched:
            set_primary_key(connection, record.name, record.primary_key)
            values = {"source_schema": options.schema, "source_table": options.table, "stamp": secrets.token_hex(16)}
            own = update(index_table).where(index_table.c.name == record.name)
            connection.execute(own.values(options=options.to_json(), **values))
        else:
            mine = (beside.c.index_name == record.name, beside.c.generation == record.generation)
            connection.execute(update(beside).where(*mine).values(options=options.to_json()))


def set_primary_key(connection: Connection, name: str, primary_key: tuple[tuple[str, str], ...]) -> None:
    text = json.dumps(primary_key, ensure_ascii=False)
    connection.execute(update(index_table).where(index_table.c.name == name).values(primary_key=text))


def settle_wanted(connection: Connection, name: str) -> None:
    """Nothing is asked for beyond what is searched."""
    connection.execute(update(index_table).where(index_table.c.name == name).values(wanted=None))


def set_listening(connection: Connection, name: str, listening: bool) -> None:
    connection.execute(update(index_table).where(index_table.c.name == name).values(listening=listening))
