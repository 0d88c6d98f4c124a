"""The view of stored pairs for people: equal to `pairs`, named after the table, in step with edits and decisions."""

from __future__ import annotations

import pytest
from sqlalchemy import text

import dbsim
from dbsim.dedupe import store_groups
from dbsim.engines import views
from dbsim.lifecycle.groups import singular
from tests.articles import fill, generated

VIEW = "SELECT * FROM dbsim_articles_duplicate_pairs"


def run(database: dbsim.Database, *statements: str) -> None:
    with database.engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def shown(database: dbsim.Database) -> dict[tuple[int, int], tuple[float, bool, str | None]]:
    """Each pair once, whichever of its rows comes first."""
    with database.engine.connect() as connection:
        rows = connection.execute(text(VIEW)).all()
    found = {(min(row[:2]), max(row[:2])): (row.score, bool(row.exact), row.decided) for row in rows}
    assert len(found) == len(rows)
    return found


def listed(index: dbsim.Index) -> dict[tuple[int, int], tuple[float, bool, str | None]]:
    decided = dict.fromkeys(same(index), "same")
    pairs = {(min(p.a, p.b), max(p.a, p.b)): p for p in index.pairs()}
    return {pair: (p.score, p.exact, decided.get(pair)) for pair, p in pairs.items()}


def same(index: dbsim.Index) -> set[tuple[int, int]]:
    return {(min(d.a, d.b), max(d.a, d.b)) for d in index.decisions() if d.verdict == "same" and not d.outdated}


def test_it_has_the_pairs_whatever_happens_to_the_rows(database: dbsim.Database) -> None:
    index = fill(database, [*generated(90), *generated(5)])  # copies of five texts, too
    index.duplicates()
    assert shown(database) == listed(index) != {}
    run(database, "DELETE FROM articles WHERE id < 20", "UPDATE articles SET body = body || ' more' WHERE id < 60")
    index.sync()
    assert shown(database) == listed(index) != {}
    index.alter(threshold=0.8)
    index.sync()
    index.duplicates(publish=True)
    assert shown(database) == listed(index) != {}


def test_decisions_count_at_once(database: dbsim.Database) -> None:
    index = fill(database, [*generated(60), *generated(3)])
    index.duplicates()
    before = shown(database)
    (one, *_), (copy, *_) = [[p for p in before if (before[p][0] == 1.0) is equal] for equal in (False, True)]
    apart = next((a, b) for a in range(60) for b in range(a + 1, 60) if (a, b) not in before)
    index.decide(*one, "different")
    index.decide(*copy, "same")
    index.decide(*apart[::-1], "same")
    after = shown(database)
    assert {*after} == {*before, apart} - {one}
    assert after[copy] == (1.0, True, "same")
    assert after[apart][2] == "same"
    run(database, f"UPDATE articles SET body = 'something else altogether' WHERE id = {apart[0]}")
    index.sync()
    assert apart not in shown(database)  # outdated: asked again


def test_columns_are_named_after_the_table(database: dbsim.Database) -> None:
    run(database, 'CREATE TABLE "$c$ ""companies" (land varchar(9), number int, body text, PRIMARY KEY (land, number))')
    for number in (1, 2):
        run(
            database, f"""INSERT INTO "$c$ ""companies" VALUES ('x', {number}, 'a text that is there two times over')"""
        )
    index = database.create_index("firms", table='$c$ "companies', columns="body")
    index.sync()
    index.duplicates()
    with database.engine.connect() as connection:
        (row,) = connection.execute(text("SELECT * FROM dbsim_firms_duplicate_pairs")).mappings().all()
    keys = {"a_land": "x", "a_number": 1, "b_land": "x", "b_number": 2}
    assert dict(row) == {f'$c$ "company_{key}': value for key, value in keys.items()} | {
        "score": 1.0,
        "exact": True,
        "decided": None,
    }


def test_what_an_earlier_dbsim_made_gets_the_view(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(views, "MARK", f"dbsim revision {views.REVISION - 1}")
        index = fill(database, generated(30))
    index.duplicates()
    before = shown(database)
    run(database, "DROP VIEW dbsim_articles_duplicate_pairs")
    index.sync()
    assert shown(database) == before


@pytest.mark.parametrize(
    ("table", "row"),
    [
        *(("articles", "article"), ("companies", "company"), ("addresses", "address"), ("boxes", "box")),
        *(("person", "person"), ("news", "news"), ("status", "status"), ("address", "address"), ("s", "s")),
        *(("Artikel", "Artikel"), ("ARTICLES", "ARTICLE"), ("people", "people"), ("analysis", "analysis")),
    ],
)
def test_singular(table: str, row: str) -> None:
    assert singular(table) == row


def test_groups_are_written_in_the_order_of_their_numbers(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch after batch: so each needs few pages of the B-trees, however many groups there are."""
    monkeypatch.setattr(store_groups, "BATCH", 7)
    index = fill(database, [*generated(90), *generated(30)])
    index.duplicates()
    place = "rowid" if database.engine.dialect.name == "sqlite" else "ctid"
    with database.engine.connect() as connection:
        written = connection.execute(text(f"SELECT group_id FROM dbsim_articles_contents ORDER BY {place}"))
        groups = list(written.scalars())
    assert groups == sorted(groups)
    assert len(set(groups)) > 7
