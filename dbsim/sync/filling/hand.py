"""What the other processes of a filling do: texts → Signatures, or parts of the table → rows stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import Connection

from dbsim.engines.context import DatabaseContext
from dbsim.engines.registry import backend_of
from dbsim.engines.urls import engine_for
from dbsim.hashing.family import Model
from dbsim.hashing.signer import Signatures
from dbsim.options import IndexOptions
from dbsim.progress import quiet
from dbsim.sync import models
from dbsim.sync.filling.fill import Filling
from dbsim.sync.presign import SignedAhead
from dbsim.tables import catalogue

Columns = list[list[str]]
Task = tuple[str, int, float]  # "fill" or "index", the part's or the index's number, when to stop


def sign(
    options: str, secret: bytes, model: Model | None, generation: int
) -> Callable[[Sequence[Columns]], list[Signatures]]:
    """Signs the texts of batches."""
    signer = IndexOptions.from_json(options).signer(secret)
    signer.model, signer.generation = model, generation
    return lambda batches: [signer.sign(columns) for columns in batches]


def serve(url: str, name: str, generation: int) -> Callable[[Task], int]:
    """Fills parts of a generation, or builds its B-trees."""
    filling = _filling(url, name, generation)

    def fill(number: int, until: float) -> int:
        filled = 0
        while time.monotonic() < until and (step := filling.write(partial(_fill, filling=filling, number=number))):
            filled += step
        return filled

    def build(number: int, until: float) -> int:
        filling.write(partial(filling.build_index, number=number))
        return number

    return lambda task: {"fill": fill, "index": build}[task[0]](*task[1:])


def _filling(url: str, name: str, generation: int) -> Filling:
    engine = engine_for(url, create=False)
    database = DatabaseContext(engine=engine, backend=backend_of(engine))
    found = database.read(lambda c: catalogue.generations(c, name))
    context = database.of(next(record for record in found if record.generation == generation))
    models.ensure(context)
    return Filling(context, quiet, lambda: None)


def _fill(connection: Connection, filling: Filling, number: int) -> int:
    """The index is locked together with the other processes: whoever works off the queue waits for all of them."""
    if not filling.unfinished(connection, lock=True, share=True) or not filling.parts_exist(connection):
        return 0
    return filling.fill_part(connection, number, SignedAhead(filling.signer))
