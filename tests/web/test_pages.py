"""What the pages say, over HTTP, on both engines: paging, filters, export, review, deleting, a database that goes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from html import unescape
from types import SimpleNamespace
from typing import Any, cast

import httpx
import psycopg
import pytest
from sqlalchemy import event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

import dbsim
from dbsim.dedupe.people.group_pages import SORTS
from dbsim.engines import transactions
from dbsim.errors import DbsimError, MissingRight
from dbsim.web import run
from dbsim.web.app import application
from dbsim.web.figures import Figures
from dbsim.web.reviewing import Sessions
from dbsim.web.state import Server
from tests.fixtures.databases import created_postgres
from tests.integration.helpers import execute, near_copy, sentence
from tests.web.asgi import Answer, Client
from tests.web.conftest import ATTACKS, Shared, fill, make_index, serving
from tests.web.test_guard import DOORS, GOOD, HOST

MINE = GOOD | {"cookie": f"{GOOD['cookie']}; dbsim_browser=mine"}
POST = MINE | {"origin": f"http://{HOST}"}


@pytest.fixture
def client(index: dbsim.Index, database: dbsim.Database) -> Client:
    return Client(application(Server(database, DOORS, allow_resolve=True, figures=Figures(always=True))), MINE)


def pair(page: str) -> tuple[Any, Any] | None:
    found = [re.search(rf'name="{side}" value="([^"]*)"', page) for side in "ab"]
    return None if found[0] is None or found[1] is None else (unescape(found[0][1]), unescape(found[1][1]))


def verdict(client: Client, page: str, word: str) -> Answer:
    a, b = pair(page) or ("", "")
    data = {"csrf": DOORS.csrf, "a": a, "b": b, "verdict": word, "who": "ada"}
    return client.post("/review?index=articles", data=data, headers=POST)


@pytest.mark.usefixtures("rows_come_back")
def test_overview_names_what_needs_attention(client: Client, database: dbsim.Database) -> None:
    assert "In step with the table" in client.get("/").text
    execute(database.engine, "DELETE FROM articles WHERE id = 'k0a'")
    page = client.get("/").text
    assert "In step with the table" not in page
    assert "Oldest change waits since" in page


def test_search_marks_differences_and_gives_the_code(client: Client) -> None:
    page = client.get("/search", params={"index": "articles", "f_title": "", "f_body": near_copy(3, 2)}).text
    assert "k3a" in page
    assert "candidates share a key" in page
    assert "<ins>" in page
    assert "<del>other3x0 other3x1</del>" in page
    assert "idx.search(" in unescape(page)
    part = client.get("/search/hits", params={"index": "articles", "f_body": sentence(3)}).text
    assert "<html" not in part
    assert "k3b" in part


def lowest_scores(client: Client, more: str = "") -> dict[str, float]:
    """Group → the lowest score of a member."""
    groups = json.loads(client.get(f"/duplicates/export?index=articles&as=json{more}").text)
    return {group["group"]: min(member["score"] for member in group["members"]) for group in groups}


def test_groups_are_paged_filtered_and_ordered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.web.duplicates.PAGE", 2)
    for sort in ("size", "score", "diameter"):
        seen, path = [], f"/duplicates?index=articles&sort={sort}"
        while path:
            page = client.get(path).text
            seen += re.findall(r'href="(/group\?[^"]*)"', page)
            more = re.search(r'rel="next" href="([^"]*)"', page)
            path = unescape(more[1]) if more else ""
        assert len(seen) == len(set(seen)) == 7
    few = client.get("/duplicates?index=articles&rows=10").text
    assert len(re.findall(r'href="(/group\?[^"]*)"', few)) == 1
    found = client.get("/duplicates?index=articles&q=k4b").text
    assert "k4a" in found
    scores = lowest_scores(client)
    high = {group: score for group, score in scores.items() if score >= 0.8}
    assert 2 < len(high) < len(scores) == 7
    assert lowest_scores(client, "&low=0.8") == high
    shown = client.get("/duplicates?index=articles&low=0.8").text
    assert {re.search(r"id=(\d+)", path)[1] for path in re.findall(r'href="(/group\?[^"]*)"', shown)} <= high.keys()  # type: ignore[index]
    shown = client.get("/duplicates?index=articles").text
    bars = [int(number) for number in re.findall(r"<title>[^<]*: (\d+)</title>", shown)]
    assert bars == [sum(min(int(score * 40), 39) == place for score in scores.values()) for place in range(40)]
    for odd in ("low=x", "after=x:y", "rows=1", "sort=evil", "q=%00", "low=nan"):
        assert client.get(f"/duplicates?index=articles&{odd}").status_code == 200


def test_one_group_side_by_side(client: Client) -> None:
    page = client.get("/duplicates?index=articles&q=k2a").text
    path = unescape(re.findall(r'href="(/group\?[^"]*)"', page)[0])
    for keep, stays in (("first", "k2a"), ("last", "k2c")):
        shown = client.get(f"{path}&keep={keep}").text
        assert re.search(rf'class="stays">\s*<header><span class="key">{stays}<', shown)
    assert client.get("/group?index=articles&id=1").status_code == 404
    assert client.get("/group?index=articles&id=x").status_code == 409


def test_export_of_what_is_filtered(client: Client) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get("/duplicates/export?index=articles&as=csv&q=k2a").text)))
    assert [row["key"] for row in rows][:3] == ["k2a", "k2b", "k2c"]
    everything = json.loads(client.get("/duplicates/export?index=articles&as=json").text)
    assert len(everything) == 7
    assert all(isinstance(group["group"], str) for group in everything)
    assert json.loads(client.get("/duplicates/export?index=articles&as=json&rows=99").text) == []


def test_attacks_are_text(client: Client) -> None:
    paths = ["/duplicates?index=articles", "/review?index=articles", "/decisions?index=articles", "/statistics"]
    paths += [f"/search?index=articles&f_body={sentence(90)}"]
    big = client.get("/duplicates?index=articles&rows=10").text
    paths.append(unescape(re.findall(r'href="(/group\?[^"]*)"', big)[0]))
    for path in paths:
        page = client.get(path).text
        for bad in ("<script>window", "<img src=x", "<svg onload", "onfocus=window.hacked=1 x='"):
            assert bad not in page
        if path.startswith(("/duplicates", "/group", "/search")):  # it is shown, as text
            assert "&lt;script&gt;window" in page, path
    for attack in ATTACKS:
        for name in ("index", "q", "keep", "verdict", "after"):
            answer = client.get("/duplicates", params={"index": "articles", name: attack})
            assert attack not in answer.text or "<" not in attack


def decide_most(index: dbsim.Index, left: int) -> int:
    """Whatever is stored, but for so many pairs; how many that are."""
    pairs = [(pair.a, pair.b) for pair in index.pairs()]
    index.decide(*pairs[0], "unsure")
    with index.context.engine.begin() as connection:
        statement = text("INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES (:a, :b, 'unsure')")
        connection.execute(statement, [{"a": min(pair), "b": max(pair)} for pair in pairs[1:-left]])
    return len(pairs) - left


def test_review_goes_through_all_pairs_and_back(client: Client, index: dbsim.Index) -> None:
    total, seen = decide_most(index, 8), set()
    while pair(page := client.get("/review?index=articles").text):
        assert pair(page) not in seen
        seen.add(pair(page))
        assert verdict(client, page, ("same", "unsure")[total % 2]).status_code == 303
        total += 1
        assert total < 200
    assert total == len(list(index.decisions())) > 5
    assert "Nothing left to review" in page
    verdict(client, page, "undo")
    again = client.get("/review?index=articles").text
    assert pair(again) in seen
    assert len(list(index.decisions())) == total - 1


@pytest.mark.usefixtures("rows_come_back")
def test_the_most_doubtful_first_and_outdated_ones_before(
    client: Client, index: dbsim.Index, database: dbsim.Database
) -> None:
    page = client.get("/review?index=articles").text
    a, b = (json.loads(key) for key in pair(page) or ("", ""))
    scores = [p.score for p in index.pairs() if p.score < 1]
    assert index.explain(a, b).score == pytest.approx(min(scores), abs=0.05)
    index.decide("k3a", "k3c", "different", who="bob", note="odd")
    execute(database.engine, f"UPDATE articles SET body = '{near_copy(3, 2)}' WHERE id = 'k3c'")
    index.sync()
    assert verdict(client, page, "skip").status_code == 303
    page = client.get("/review?index=articles").text
    assert pair(page) == ('"k3a"', '"k3c"')
    assert "a text has changed since" in page
    assert "odd" in page
    verdict(client, page, "same")
    assert pair(client.get("/review?index=articles").text) != ('"k3a"', '"k3c"')
    verdict(client, page, "undo")  # what was outdated is outdated again, not said of the new text
    assert "a text has changed since" in client.get("/review?index=articles").text
    assert [(d.verdict, d.who, d.outdated) for d in index.decisions()] == [("different", "bob", True)]


def test_two_reviewers_never_get_the_same_pair(index: dbsim.Index, database: dbsim.Database) -> None:
    server = Server(database, DOORS, sessions=Sessions())
    given: list[Any] = []
    browsers = {
        name: Client(application(server), {"host": HOST, "cookie": f"dbsim_8765={DOORS.token}; dbsim_browser={name}"})
        for name in ("one", "two")
    }
    for _ in range(3):
        pages = {name: client.get("/review?index=articles").text for name, client in browsers.items()}
        given += [pair(page) for page in pages.values()]
        for name, client in browsers.items():
            a, b = pair(pages[name]) or ("", "")
            data = {"csrf": DOORS.csrf, "a": a, "b": b, "verdict": "unsure"}
            client.post("/review?index=articles", data=data, headers={"origin": f"http://{HOST}"})
    assert len(set(given)) == 6


def test_contradictions_are_said(client: Client, index: dbsim.Index) -> None:
    index.decide("k1a", "k1b", "same")
    index.decide("k1b", "k1c", "same")
    data = {"csrf": DOORS.csrf, "a": '"k1a"', "b": '"k1c"', "verdict": "different", "who": "ada"}
    page = client.post("/review?index=articles", data=data, headers=POST)
    assert page.status_code == 200
    assert "the same by earlier decisions" in page.text


def test_statistics_and_decisions(client: Client, index: dbsim.Index) -> None:
    page = client.get("/statistics?index=articles").text
    assert page.count("<svg") == 4
    assert "Never measured" in page
    index.evaluate(sample=5)
    assert "5 rows asked of" in client.get("/statistics?index=articles").text
    assert "As a table" in page
    index.decide("k1a", "k1c", "same", who="ada <b>", note="<i>note</i>")
    listed = client.get("/decisions?index=articles").text
    assert "ada &lt;b&gt;" in listed
    assert "<i>note" not in listed
    assert "k1c" not in client.get("/decisions?index=articles&verdict=different").text


@pytest.mark.usefixtures("rows_come_back")
def test_delete_counts_then_asks(client: Client, index: dbsim.Index, database: dbsim.Database) -> None:
    page = client.get("/resolve?index=articles&keep=first").text
    values = {name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("keep", "groups", "removed")}  # type: ignore[index]
    before = index.status().rows
    form = {"csrf": DOORS.csrf, **values}
    assert client.post("/resolve?index=articles", data=form, headers=POST).status_code == 303  # not sure
    wrong = client.post("/resolve?index=articles", data=form | {"removed": "1", "sure": "yes"}, headers=POST)
    assert wrong.status_code == 409
    assert index.status().rows == before
    done = client.post("/resolve?index=articles", data=form | {"sure": "yes"}, headers=POST)
    assert done.status_code == 200
    assert "rows of articles are deleted" in done.text
    assert index.status().rows == before - int(values["removed"])


def test_without_groups_and_with_unknown_names(shared: Shared, database: dbsim.Database) -> None:
    database.drop_index("articles")
    client = Client(application(Server(database, DOORS, figures=Figures(always=True))), GOOD)
    assert "No index yet" in client.get("/").text
    assert client.get("/search?index=articles").status_code == 404
    assert "?." not in client.get("/search?index=article").text
    assert client.get("/nowhere").status_code == 404
    shared.index = make_index(database)


def test_a_read_only_server_refuses_to_write(url: str, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a page would ask for."""
    monkeypatch.setattr(transactions, "PATIENCE", 1.0)  # which the server sets
    stopped = SimpleNamespace(run=lambda sockets: [one.close() for one in sockets])
    monkeypatch.setattr(run.uvicorn, "Server", lambda config: stopped)
    with dbsim.open(url) as own:
        run.run(own, "token", ["127.0.0.1"], "127.0.0.1", 0, lambda port: None, read_only=True)
        assert own.index("articles").similar("k0a")
        with pytest.raises(DbsimError):
            own.index("articles").decide("k0a", "k0b", "same")
        with pytest.raises(SQLAlchemyError):
            execute(own.engine, "DELETE FROM articles")
    assert list(index.decisions()) == []


def test_read_only_really_is(url: str, index: dbsim.Index) -> None:
    with serving(url, "--read-only") as served, httpx.Client(base_url=served.base, follow_redirects=True) as client:
        assert served.base.startswith("http://127.0.0.1:")
        assert client.get(f"/?token={served.token}").status_code == 200
        for path in ("/search?index=articles&f_body=amber", "/duplicates", "/review", "/statistics", "/decisions"):
            assert client.get(path).status_code == 200, path


def test_a_database_that_goes_away_and_comes_back(tmp_path: Any) -> None:
    path = tmp_path / "shop.db"
    database = dbsim.open(str(path), create=True)
    fill(database)
    database.close()
    with serving(str(path)) as served, httpx.Client(base_url=served.base, follow_redirects=True, timeout=300) as client:
        assert client.get(f"/?token={served.token}").status_code == 200
        content = path.read_bytes()
        path.write_bytes(b"x" * len(content))
        answer = client.get("/duplicates")
        assert answer.status_code == 503
        assert "Traceback" not in answer.text
        path.write_bytes(content)
        assert client.get("/duplicates").status_code == 200


def test_a_server_that_refuses_connections_for_a_while(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "PATIENCE", 0.2)
    with (
        created_postgres(postgres_url) as url,
        dbsim.open(url) as database,
        psycopg.connect(postgres_url, autocommit=True) as own,
    ):
        fill(database)
        client = Client(application(Server(database, DOORS, figures=Figures(always=True))), GOOD)
        name = make_url(url).database
        assert client.get("/duplicates").status_code == 200
        own.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")  # type: ignore[arg-type]
        own.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        answer = client.get("/duplicates")
        assert answer.status_code == 503
        assert "The database is away" in answer.text
        assert 'http-equiv="refresh"' in answer.text
        own.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")  # type: ignore[arg-type]
        assert client.get("/duplicates").status_code == 200


LISTS = (
    *(f"/duplicates?index=articles&sort={sort}{more}" for sort in SORTS for more in ("", "&after=2:5", "&low=0.6")),
    *("/duplicates?index=articles&rows=3&low=0.6&high=0.9", "/decisions?index=articles", "/review?index=articles"),
    *("/decisions?index=articles&verdict=same", "/decisions?index=articles&after=[%22a%22,%22b%22]", "/statistics"),
)
LARGE = "|".join(("articles", *(f"dbsim_articles{name}" for name in ("", "_contents", "_edges", "_decisions"))))
WHOLE = re.compile(rf"Seq Scan on ({LARGE})\b|^SCAN ({LARGE}|s|c|x|dbsim_a|dbsim_b)\b(?!.* USING )")
SORTED = re.compile(r"\bSort\b|TEMP B-TREE FOR (LAST .*)?ORDER BY")
PAGED = re.compile(r"LIMIT \S+( OFFSET \S+)?\s*$")  # of the statement itself, not of numbers that it was given
UNLESS_NEEDED = ("seqscan", "bitmapscan", "sort", "incremental_sort", "hashagg", "hashjoin", "mergejoin")


def plans(database: dbsim.Database, client: Client, paths: Iterable[str]) -> dict[str, list[str]]:
    """Every statement that these pages ask, and how the database would answer it, of large tables too."""
    asked: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            asked[statement] = parameters

    event.listen(database.engine, "before_cursor_execute", note)
    for path in paths:
        assert client.get(path).status_code == 200, path
    event.remove(database.engine, "before_cursor_execute", note)
    with database.engine.connect() as connection:
        server = connection.dialect.name == "postgresql"
        for kind in UNLESS_NEEDED if server else ():
            connection.exec_driver_sql(f"SET LOCAL enable_{kind} = off")
        explain = "EXPLAIN " if server else "EXPLAIN QUERY PLAN "
        return {
            sql: [str(row[-1]).strip() for row in connection.exec_driver_sql(explain + sql, values)]
            for sql, values in asked.items()
        }


def test_no_list_reads_or_sorts_a_whole_table(index: dbsim.Index, database: dbsim.Database) -> None:
    """Figures of whole tables apart, which are counted beside the pages."""
    index.decide("k1a", "k1c", "same")
    server = Server(database, DOORS, figures=cast(Figures, SimpleNamespace(get=lambda *_: None)))
    client = Client(application(server), MINE)
    lists = plans(database, client, LISTS)
    group = re.findall(r'href="(/group\?[^"]*)"', client.get("/duplicates?index=articles").text)[0]
    rest = plans(database, client, (unescape(group), "/duplicates?index=articles&q=k1a"))
    assert len(lists) > 12
    assert len(rest) > 5
    for sql, lines in (lists | rest).items():
        assert "AS candidates" in sql or not list(filter(WHOLE.search, lines)), (sql, lines)
    named = [lines for sql, lines in rest.items() if "summaries.id IN" in sql]
    assert named
    for lines in named:  # by their numbers, not on a walk through all groups
        assert not any("contents_group_rows" in line for line in lines), lines
    paged = {sql: lines for sql, lines in lists.items() if PAGED.search(sql)}
    assert len(paged) > 8
    for sql, lines in paged.items():
        assert not list(filter(SORTED.search, lines)), (sql, lines)


def test_a_role_that_may_only_search_is_told_so(
    index: dbsim.Index, database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is a right: the database is not away, and looking again does not help."""

    def denied(*_: Any) -> None:
        raise MissingRight("the database role lacks a right")

    server = Server(database, DOORS, figures=cast(Figures, SimpleNamespace(get=denied)))
    client = Client(application(server), MINE)
    overview = client.get("/")
    assert (overview.status_code, "lacks a right" in overview.text, "/search" in overview.text) == (200, True, True)
    refused = client.get("/duplicates?index=articles")
    assert refused.status_code == 403
    assert "lacks a right" in refused.text
    assert "away" not in refused.text
