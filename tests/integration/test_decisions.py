"""Decisions are kept in the database, follow the rows, and can be written from SQL."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

import dbsim
from dbsim.errors import Contradiction, InvalidOption, UnknownKey
from dbsim.sync.repair import Repair
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch, near_copy, sentence


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3, singles=4))
    made = database.create_index("articles", table="articles", columns=["body"], threshold=0.5, **QUICK)
    made.sync()
    return made


def listed(index: dbsim.Index) -> list[tuple[Any, Any, str, bool]]:
    return [(d.a, d.b, d.verdict, d.outdated) for d in index.decisions()]


def test_a_decision_is_kept_and_replaced(index: dbsim.Index) -> None:
    made = index.decide(3, 1, "different", who="ada", note="other edition")
    assert (made.a, made.b, made.verdict, made.who, made.note) == (1, 3, "different", "ada", "other edition")
    assert made.score == pytest.approx(index.explain(1, 3).exact)
    assert made.when
    index.decide(1, 3, "unsure")
    index.decide(1, 4, "same")
    assert listed(index) == [(1, 3, "unsure", False), (1, 4, "same", False)]
    assert index.undecide(3, 1)
    assert not index.undecide(1, 3)
    assert listed(index) == [(1, 4, "same", False)]


def test_what_cannot_be_decided(index: dbsim.Index) -> None:
    with pytest.raises(InvalidOption, match="did you mean 'same'"):
        index.decide(1, 2, "sme")
    with pytest.raises(InvalidOption, match="two different keys"):
        index.decide(1, 1, "same")
    with pytest.raises(UnknownKey, match="99"):
        index.decide(1, 99, "same")
    with pytest.raises(InvalidOption, match="at most 200"):
        index.decide(1, 2, "same", who="x" * 201)
    assert listed(index) == []


def test_contradictions_are_refused(index: dbsim.Index) -> None:
    index.decide(1, 2, "same")
    index.decide(2, 3, "same")
    with pytest.raises(Contradiction, match="rows 1 and 3 are the same by earlier decisions"):
        index.decide(1, 3, "different")
    index.decide(3, 5, "different")
    with pytest.raises(Contradiction, match="3 and 5"):
        index.decide(1, 5, "same")
    index.decide(2, 3, "different")  # changes one's mind about the link itself
    index.decide(1, 3, "different")
    index.decide(5, 1, "same")


def test_outdated_when_a_text_changes(index: dbsim.Index, database: dbsim.Database) -> None:
    index.decide(1, 3, "different")
    index.decide(5, 6, "same")
    execute(database.engine, f"UPDATE articles SET body = '{sentence(77)}' WHERE id = 3")
    index.sync()
    assert listed(index) == [(1, 3, "different", True), (5, 6, "same", False)]
    index.decide(1, 3, "different")  # asked again
    assert listed(index)[0] == (1, 3, "different", False)


def test_deleting_a_row_removes_its_decisions_at_the_next_sync(index: dbsim.Index, database: dbsim.Database) -> None:
    index.decide(1, 3, "different")
    index.decide(3, 4, "same")
    index.decide(5, 6, "same")
    execute(database.engine, "DELETE FROM articles WHERE id = 3")
    index.sync()
    assert listed(index) == [(5, 6, "same", False)]
    execute(database.engine, "DELETE FROM articles WHERE id = 6")
    index.sync(reconcile=True)
    assert fetch(database.engine, "SELECT * FROM dbsim_articles_decisions") == []


def test_the_transaction_that_forgets_a_row_forgets_its_decisions(index: dbsim.Index, database: dbsim.Database) -> None:
    """A run that is stopped after it leaves nothing behind."""
    index.decide(1, 3, "different")
    index.decide(5, 6, "same")
    execute(database.engine, "DELETE FROM articles WHERE id = 3")
    worker = index._worker()
    with database.engine.connect() as connection:
        worker.backend.begin(connection)
        assert worker.step(connection) == 1
        connection.commit()
    assert len(fetch(database.engine, "SELECT * FROM dbsim_articles_decisions")) == 1


def test_decisions_survive_a_change_of_options(index: dbsim.Index, database: dbsim.Database) -> None:
    index.decide(1, 3, "different")
    index.decide(5, 6, "same")
    execute(database.engine, f"UPDATE articles SET body = '{sentence(77)}' WHERE id = 6")
    index.sync()
    database.alter_index("articles", words=2, normaliser="german")
    assert index.sync().switched
    assert listed(index) == [(1, 3, "different", False), (5, 6, "same", True)]
    execute(database.engine, f"UPDATE articles SET body = '{near_copy(5, 2)}' WHERE id = 1")
    index.sync()
    assert listed(index)[0] == (1, 3, "different", True)


def test_written_from_sql(index: dbsim.Index, database: dbsim.Database) -> None:
    insert = "INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES "
    execute(database.engine, insert + "(1, 2, 'same'), (5, 6, 'different'), (1, 99, 'same')")
    index.sync()
    assert listed(index) == [(1, 2, "same", False), (5, 6, "different", False)]  # no row has the key 99
    execute(database.engine, f"UPDATE articles SET body = '{sentence(78)}' WHERE id = 1")
    index.sync()
    assert listed(index) == [(1, 2, "same", True), (5, 6, "different", False)]
    for wrong in ("(2, 1, 'same')", "(3, 3, 'same')", "(3, 4, 'maybe')", "(5, 6, 'same')", "(NULL, 6, 'same')"):
        with pytest.raises(IntegrityError):
            execute(database.engine, insert + wrong)


def pairs_of(index: dbsim.Index, **options: Any) -> set[frozenset[int]]:
    return {frozenset((pair.a, pair.b)) for pair in index.pairs(**options)}


def pairs_in_view(database: dbsim.Database) -> list[tuple[int, int, float]]:
    return sorted(fetch(database.engine, "SELECT a, b, score FROM dbsim_articles_pairs"))


def test_pairs_view_and_similar_respect_decisions(index: dbsim.Index, database: dbsim.Database) -> None:
    """1 to 4 are near each other, 1 and 2 are copies, 13 to 16 are alone."""
    before, view = pairs_of(index), {row[:2] for row in pairs_in_view(database)}
    index.decide(1, 2, "different")
    index.decide(1, 3, "different")
    index.decide(1, 4, "same")
    index.decide(1, 13, "same")
    index.decide(14, 13, "unsure")
    expected = before - {frozenset((1, 2)), frozenset((1, 3))} | {frozenset((1, 13))}
    assert pairs_of(index) == pairs_of(index, copies="all") == expected
    assert pairs_of(index, decided=False) == before
    assert pairs_of(index, copies="first") >= {frozenset((1, 13)), frozenset((1, 4))}
    said = {frozenset((pair.a, pair.b)): pair for pair in index.pairs() if pair.decided}
    assert {pair.decided for pair in said.values()} == {"same"}
    assert set(said) == {frozenset((1, 4)), frozenset((1, 13))}
    assert said[frozenset((1, 13))].score == pytest.approx(index.explain(1, 13).exact)
    gone, added = {(1, 2), (2, 1), (1, 3), (3, 1)}, {(1, 13), (13, 1)}
    assert [row[:2] for row in pairs_in_view(database)] == sorted(view - gone | added)
    assert [(hit.key, hit.decided) for hit in index.similar(1)] == [(4, "same"), (13, "same")]
    assert [hit.key for hit in index.similar(1, where="id > 4")] == [13]
    assert [hit.key for hit in index.similar(1, decided=False)] == [2, 3, 4]
    assert [hit.key for hit in index.similar(2, limit=2)] == [3, 4]
    assert [hit.key for hit in index.search(sentence(0), decided=1)] == [4, 13]
    assert [hit.key for hit in index.search(sentence(0))] == [1, 2, 3, 4]
    execute(database.engine, f"UPDATE articles SET body = '{near_copy(0, 2)}' WHERE id = 1")
    index.sync()
    assert pairs_of(index) == before
    assert {row[:2] for row in pairs_in_view(database)} == view
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]


def test_any_key(database: dbsim.Database) -> None:
    execute(
        database.engine,
        'CREATE TABLE notes ("part:one" TEXT, "a" INTEGER, body TEXT, PRIMARY KEY ("part:one", "a"))',
    )
    with database.engine.begin() as connection:
        rows = [{"p": p, "a": a, "b": sentence(3)} for p, a in (("Z", 1), ("a", 2), ("é", 3), ("Z", 10))]
        connection.execute(text("INSERT INTO notes VALUES (:p, :a, :b)"), rows)
    index = database.create_index("notes", table="notes", columns=["body"], **QUICK)
    index.sync()
    keys = [{"part:one": p, "a": a} for p, a in (("Z", 1), ("a", 2), ("é", 3), ("Z", 10))]
    for number, one in enumerate(keys):
        for two in keys[:number]:
            index.decide(one, two, "unsure")
            index.decide(two, one, "unsure")
    found = list(index.decisions())
    assert len(found) == 6
    assert {frozenset((d.a["a"], d.b["a"])) for d in found} == {
        frozenset(p) for p in ((1, 2), (1, 3), (1, 10), (2, 3), (2, 10), (3, 10))
    }


def test_an_index_made_before_there_were_decisions(index: dbsim.Index, database: dbsim.Database) -> None:
    cascade = "" if database.engine.dialect.name == "sqlite" else " CASCADE"
    execute(database.engine, "DROP VIEW dbsim_articles_pairs", f"DROP TABLE dbsim_articles_decisions{cascade}")
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]
    assert listed(index) == []
    assert not index.undecide(1, 2)
    index.decide(1, 2, "same")
    assert listed(index) == [(1, 2, "same", False)]
    database.drop_index("articles")
    with pytest.raises(Exception, match="dbsim_articles_decisions"):
        fetch(database.engine, "SELECT * FROM dbsim_articles_decisions")


def test_from_the_shell(
    index: dbsim.Index, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dbsim_ = Command(monkeypatch, capsys)
    assert dbsim_("decisions", url, "articles")[0] == 1
    code, out, _ = dbsim_("decide", url, "articles", "3", "1", "same", "--by", "=ada", "--note", "seen both")
    assert (code, out.startswith("1\t3\tsame\t=ada\t")) == (0, True)
    assert dbsim_("decide", url, "articles", "1", "3", "different", "--json")[0] == 0
    assert dbsim_("decide", url, "articles", "1", "3")[0] == 2
    table = tmp_path / "decisions.csv"
    assert dbsim_("decide", url, "articles", "5", "6", "same", "--by", "=ada")[0] == 0
    assert dbsim_("decisions", url, "articles", "--csv", str(table))[0] == 0
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [(r["a"], r["b"], r["verdict"], r["outdated"]) for r in rows] == [
        ("1", "3", "different", "False"),
        ("5", "6", "same", "False"),
    ]
    assert rows[1]["who"] == "'=ada"
    assert float(rows[0]["score of body"]) == pytest.approx(index.explain(1, 3).exact)
    assert dbsim_("decide", url, "articles", "1", "3", "--undo")[0] == 0
    assert dbsim_("decide", url, "articles", "1", "3", "--undo")[0] == 1


def test_decisions_as_the_truth(index: dbsim.Index) -> None:
    with pytest.raises(InvalidOption, match="nothing is decided yet"):
        index.evaluate(sample=3, truth="decisions")
    index.decide(1, 3, "same")  # found by the texts
    index.decide(5, 7, "same")
    index.decide(1, 13, "same")  # not found
    index.decide(1, 4, "different")  # found all the same
    index.decide(13, 14, "different")
    index.decide(13, 15, "unsure")  # says nothing
    truth = index.evaluate(sample=3, truth="decisions").truth
    assert truth is not None
    assert (truth.column, truth.labelled) == ("decisions", 5)
    assert (truth.answers.recall.value, truth.answers.precision.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert truth.best_threshold is not None
    threshold, quality = truth.best_threshold
    assert index.explain(1, 4).exact < threshold < index.explain(5, 7).exact  # type: ignore[operator]
    assert quality == pytest.approx(0.8)


def test_weights_fitted_to_decisions(database: dbsim.Database) -> None:
    """People go by the body; the index, so far, by the title."""
    execute(database.engine, "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
    with database.engine.begin() as connection:
        rows = []
        for number in range(6):
            title, other = sentence(100), sentence(200 + number)
            rows.append({"i": 10 * number, "t": title, "b": sentence(number)})
            rows.append({"i": 10 * number + 1, "t": other, "b": near_copy(number, 2)})  # the same, whatever its title
            rows.append({"i": 10 * number + 2, "t": title, "b": sentence(50 + number)})  # another one
        connection.execute(text("INSERT INTO notes VALUES (:i, :t, :b)"), rows)
    columns = {"title": 0.9, "body": 0.1}
    index = database.create_index("notes", table="notes", columns=columns, threshold=0.5, **QUICK)
    index.sync()
    for number in range(6):
        index.decide(10 * number, 10 * number + 1, "same")
        index.decide(10 * number, 10 * number + 2, "different")
    truth = index.evaluate(sample=3, truth="decisions").truth
    assert truth is not None
    assert truth.best_threshold is not None
    assert truth.best_weights is not None
    assert truth.best_weights.quality == 1.0 > truth.best_threshold[1]
    assert truth.best_weights.weights["body"] > 0.5 > truth.best_weights.weights["title"]
    index.alter(columns=truth.best_weights.weights, threshold=round(truth.best_weights.threshold, 3))
    index.sync()
    after = index.evaluate(sample=3, truth="decisions").truth
    assert after is not None
    assert after.best_weights is not None
    assert after.best_weights.weights == truth.best_weights.weights  # nothing is better
    assert after.best_threshold == (pytest.approx(truth.best_weights.threshold), 1.0)


@pytest.mark.parametrize(("before", "after"), [(4, 8), (8, 4)])
def test_another_generation_is_searched_before_decisions_are_completed(
    database: dbsim.Database, monkeypatch: pytest.MonkeyPatch, before: int, after: int
) -> None:
    """Another worker has switched after this one looked: what is noted for groups has the keys of that generation."""
    articles(database.engine, corpus(3, singles=4))
    how = {"table": "articles", "columns": ["body"], "threshold": 0.5, "rows": 1}
    index = database.create_index("articles", **how, keys=before)
    index.sync()
    list(index.duplicates(by="components"))
    index.decide(1, 3, "unsure")
    execute(database.engine, "INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES (1, 2, 'different')")
    complete = Repair.complete_decisions

    def late(repair: Repair) -> None:
        monkeypatch.undo()
        with dbsim.open(database.engine.url.render_as_string(hide_password=False)) as other:
            other.index("articles").alter(keys=after).sync()
            execute(other.engine, "INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES (2, 3, 'different')")
        complete(repair)

    monkeypatch.setattr(Repair, "complete_decisions", late)
    index.sync()
    index.sync()
    assert database.index("articles").options.keys == after
    assert not fetch(database.engine, "SELECT * FROM dbsim_articles_changes")
    groups = [{hit.key for hit in group.members} for group in database.index("articles").duplicates()]
    assert not any({1, 2} <= keys or {2, 3} <= keys for keys in groups)
