"""Bars of scores are the same on both engines, and what Python counts: each bar has its lower end, the last both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Double, Engine, create_engine, literal, select, union_all

from dbsim.dedupe.people.histogram import BARS, bars, counted
from dbsim.engines.urls import engine_for

EDGES = [bar / BARS for bar in range(BARS + 1)]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    engine: Engine = (
        create_engine("sqlite://")
        if request.param == "sqlite"
        else engine_for(request.getfixturevalue("module_postgres"), create=False)
    )
    with engine.connect() as opened:
        yield opened
    engine.dispose()


def shown(connection: Connection, scores: list[float]) -> list[int]:
    rows = union_all(*(select(literal(score, Double).label("score")) for score in scores)).subquery("scores")
    return bars(connection.execute(counted(rows.c.score)))


def expected(scores: list[float]) -> list[int]:
    found = [0] * BARS
    for score in scores:
        found[min(int(score * BARS), BARS - 1)] += 1
    return found


def test_the_ends_of_bars(connection: Connection) -> None:
    assert shown(connection, EDGES) == expected(EDGES)
    assert shown(connection, [1.0]) == [0] * (BARS - 1) + [1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scores=st.lists(st.floats(0, 1) | st.sampled_from(EDGES), min_size=1, max_size=20))
def test_any_scores(connection: Connection, scores: list[float]) -> None:
    assert shown(connection, scores) == expected(scores)
    assert sum(shown(connection, scores)) == len(scores)
