"""Columns of word signatures, behind all others of the signature table: IndexTables → Column; Signatures → rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Column

from dbsim.hashing.signer import Signatures
from dbsim.tables.index_tables import IndexTables


def word_columns(tables: IndexTables) -> list[Column[Any]]:
    """The columns of the word signatures, which questions for words read, and nothing else."""
    names = [name for field in tables.names.words for name in field]
    return [Column(name, BigInteger, nullable=False) for name in names]


def word_values(rows: Signatures) -> list[list[int]]:
    """Their values, row by row."""
    if not rows.words:
        return [[] for _ in range(len(rows))]
    found: list[list[int]] = np.concatenate(rows.words, axis=1).tolist()
    return found
