"""The last evaluation, kept for people who look at it later: EvaluateReport ↔ numbers in dbsim_model."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from dbsim.evaluate.figures import EvaluateReport
from dbsim.evaluate.intervals import Interval
from dbsim.sync import models
from dbsim.tables import model_rows
from dbsim.tables.catalogue import IndexRecord

PART, NAME = "evaluated.", "figures"


@dataclass(frozen=True)
class Last:
    """`recall` and `precision` are those of searches at the threshold; `when` is in seconds."""

    when: int
    queries: int
    rows: int
    threshold: float
    recall: Interval
    precision: Interval


def keep(connection: Connection, record: IndexRecord, report: EvaluateReport) -> None:
    found = report.answers
    ends = [value for one in (found.recall, found.precision) for value in (one.value, one.low, one.high)]
    figures = np.array([time.time(), report.queries, report.table_rows, report.threshold, *ends])
    models.replace_part(connection, record, PART, models.Fitted({NAME: figures}, report.queries))


def last(connection: Connection, record: IndexRecord) -> Last | None:
    found = model_rows.load(connection, record.name, record.generation, PART)
    if found is None:
        return None
    when, queries, rows, threshold, *ends = found[NAME].tolist()
    return Last(int(when), int(queries), int(rows), threshold, Interval(*ends[:3]), Interval(*ends[3:]))
