"""What a family learned, as typed arrays in dbsim_model: fit on a sample, save, load; Connection → Model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection, delete, insert

from dbsim.engines.backend import Backend
from dbsim.engines.context import IndexContext
from dbsim.engines.execute import run
from dbsim.engines.source_sample import sample_of, texts_of
from dbsim.errors import NotFitted
from dbsim.hashing.family import DECIDED, Decided, Model
from dbsim.hashing.signer import Signer
from dbsim.lifecycle.decisions import in_force
from dbsim.lifecycle.statements import alter_statements
from dbsim.tables import catalogue
from dbsim.tables.catalogue import model_table
from dbsim.tables.decision_tables import SAME
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.model_rows import arrays_of, load
from dbsim.tables.source import Key

DRAWN = "every n-th row in key order"
MOST = 20_000  # decisions; of more, every n-th in key order


@dataclass(frozen=True)
class Fitted:
    """A model and how it came about."""

    arrays: Model
    sample: int


def replace_part(connection: Connection, record: catalogue.IndexRecord, part: str, fitted: Fitted) -> None:
    """Store what was learned under `part`, instead of what was there."""
    connection.execute(delete(model_table).where(*arrays_of(record.name, record.generation, part)))
    named = {part + name: array for name, array in fitted.arrays.items()}
    save(connection, record, record.generation, Fitted(named, fitted.sample))


def save(connection: Connection, record: catalogue.IndexRecord, generation: int, fitted: Fitted) -> None:
    """One row an array; numbers are stored as little-endian bytes with their type and shape, never as objects."""
    for name, array in fitted.arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        connection.execute(
            insert(model_table).values(
                index_name=record.name,
                generation=generation,
                name=name,
                dtype=little.dtype.str,
                shape=json.dumps(little.shape),
                numbers=little.tobytes(),
                sample=fitted.sample,
                seed=DRAWN,
                version=record.options.family,
            )
        )


def ensure(context: IndexContext) -> bool:
    """Give the signer the model of this generation, fitting it first if need be; False on an empty table."""
    tables, signer = context.tables, context.signer
    if not signer.family.learns:
        return True
    context.read(lambda c: current(c, tables, signer))
    if signer.model is None:
        fitted = context.read(lambda c: fit(c, context.backend, tables, signer))
        if fitted is None:
            return False
        context.write(lambda c: _first(c, tables, fitted))
        context.read(lambda c: current(c, tables, signer))
    return True


def current(connection: Connection, tables: IndexTables, signer: Signer) -> None:
    """Let the signer have this generation's model, which never changes once it is stored."""
    if signer.family.learns and (signer.model is None or signer.generation != tables.record.generation):
        signer.model = load(connection, tables.record.name, tables.record.generation)
        signer.generation = tables.record.generation


def require(connection: Connection, tables: IndexTables, signer: Signer) -> None:
    """`current`, and there must be one."""
    current(connection, tables, signer)
    if signer.family.learns and signer.model is None:
        raise NotFitted(f"index {tables.record.name!r} has learned nothing yet: run `dbsim sync` on a table with rows")


def _first(connection: Connection, tables: IndexTables, fitted: Fitted) -> None:
    """Store it, unless another worker was quicker."""
    record = tables.record
    catalogue.generations(connection, record.name, lock=True)
    if load(connection, record.name, record.generation) is None:
        save(connection, record, record.generation, fitted)


def refit(context: IndexContext) -> int:
    """Learn again from the table as it is now: a new generation, which the next `sync` builds beside this one.

    Returns the number of decisions that it was taught with.
    """
    tables, signer = context.tables, context.signer
    if not signer.family.learns:
        raise NotFitted(f"family {tables.record.options.family!r} learns nothing, so it cannot be fitted again")
    fitted = context.read(lambda c: fit(c, context.backend, tables, signer))
    if fitted is None:
        raise NotFitted("the table has no rows to learn from")

    def work(connection: Connection) -> None:
        found = catalogue.generations(connection, tables.record.name, lock=True)
        number = max(record.generation for record in found) + 1
        record = replace(found[0], generation=number, state=catalogue.FILLING)
        run(connection, alter_statements(context.backend, record, context.after_create_table))
        save(connection, record, number, fitted)

    context.write(work)
    return int(fitted.arrays[DECIDED].sum()) if DECIDED in fitted.arrays else 0


def fit(connection: Connection, backend: Backend, tables: IndexTables, signer: Signer) -> Fitted | None:
    """Learn from a sample, and from decisions about rows; None when the table has no text yet, or no two persons."""
    columns, rows = sample_of(connection, backend, tables, signer.family.sample)
    if signer.family.rarity and len(columns[0]) < 2:
        return None
    if not any(text.strip() for column in columns for text in column):
        return None
    known = _decided(connection, backend, tables, signer) if signer.family.taught else None
    try:
        return Fitted(signer.fit(columns, known, rows), len(columns[0]))
    except ValueError as error:
        raise NotFitted(f"family {tables.record.options.family!r} cannot learn from this table: {error}") from error


# ── what people decided ──
def _decided(connection: Connection, backend: Backend, tables: IndexTables, signer: Signer) -> Decided | None:
    """As this signer sees them; None where nothing is decided, or always the same way, from which nothing follows.

    They count about the texts they were made on: those of the generation that is searched, as it has signed them.
    """
    searched = IndexTables(catalogue.load(connection, tables.record.name))
    pairs = _still_true(connection, backend, searched)
    texts = texts_of(connection, backend, tables, (key for one, two, _ in pairs for key in (one, two)))
    pairs = [pair for pair in pairs if pair[0] in texts and pair[1] in texts]
    if len({same for *_, same in pairs}) < 2:
        return None
    one, two, same = zip(*pairs, strict=True)
    left, right = (signer.documents(_columns([texts[key] for key in keys])) for keys in (one, two))
    return Decided(left, right, np.array(same))


def _still_true(connection: Connection, backend: Backend, searched: IndexTables) -> list[tuple[Key, Key, bool]]:
    """Both keys, and whether they are the same; in the same order for the same decisions."""
    width, record = len(searched.key_names), searched.record
    rows = sorted(in_force(connection, backend, searched), key=repr)
    rows = rows[:: max(-(-len(rows) // MOST), 1)]
    pairs = [(row[:width], row[width : 2 * width], row[2 * width] == SAME) for row in rows]
    signed = {
        key: number
        for pair, row in zip(pairs, rows, strict=True)
        for key, number in zip(pair[:2], row[-2:], strict=True)
    }
    texts = texts_of(connection, backend, searched, signed)
    if not texts:
        return []
    signer = record.options.signer(record.secret)
    now = dict(zip(texts, signer.fingerprints(signer.documents(_columns(list(texts.values())))).tolist(), strict=True))
    return [pair for pair in pairs if all(key in now and now[key] == signed[key] for key in pair[:2])]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]
