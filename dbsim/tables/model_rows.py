"""What was learned, as typed arrays in dbsim_model: Connection → arrays by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, select

from dbsim.tables.catalogue import model_table


def arrays_of(name: str, generation: int, part: str = "") -> list[ColumnElement[bool]]:
    """Of the family's own model, whose arrays have no dot in their names, or of a `part` such as "clusters."."""
    named = model_table.c.name.startswith(part, autoescape=True) if part else ~model_table.c.name.contains(".")
    return [model_table.c.index_name == name, model_table.c.generation == generation, named]


def load(connection: Connection, name: str, generation: int, part: str = "") -> dict[str, NDArray[Any]] | None:
    """The model of a generation; None when it was never fitted."""
    query = select(model_table).where(*arrays_of(name, generation, part))
    rows = connection.execute(query).all()
    if not rows:
        return None
    return {
        row.name.removeprefix(part): np.frombuffer(bytes(row.numbers), np.dtype(row.dtype)).reshape(
            json.loads(row.shape)
        )
        for row in rows
    }
