"""What was learned, as typed arrays in dbsim_model: Connection → arrays by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dbsim.tables.catalogue import model_table


def load(connection: Connection, name: str, generation: int) -> dict[str, NDArray[Any]] | None:
    """The model of a generation; None when it was never fitted."""
    query = select(model_table).where(model_table.c.index_name == name, model_table.c.generation == generation)
    rows = connection.execute(query).all()
    if not rows:
        return None
    return {
        row.name: np.frombuffer(bytes(row.numbers), np.dtype(row.dtype)).reshape(json.loads(row.shape)) for row in rows
    }
