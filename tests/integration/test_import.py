"""import: .csv and .jsonl files into a new table, an existing one or dbsim_document; all of a file or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import inspect

import dbsim
from dbsim.errors import DbsimError, InvalidOption, UnknownName
from dbsim.importing.sniff import number
from dbsim.tables.names import quote
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, execute, fetch, near_copy, sentence


def rows(database: dbsim.Database, table: str, columns: str = "*") -> list[tuple[object, ...]]:
    return fetch(database.engine, f"SELECT {columns} FROM {quote(table)} ORDER BY id")


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


GOOD: dict[str, tuple[str | bytes, list[tuple[object, ...]]]] = {
    "plain.csv": ("id,title\n1,a\n2,b\n", [(1, "a"), (2, "b")]),
    "bom.csv": (b"\xef\xbb\xbfid,title\r\n1,a\r\n", [(1, "a")]),
    "quoted.csv": ('id,title\n1,"a, ""b""\nc"\n2, spaced\n', [(1, 'a, "b"\nc'), (2, "spaced")]),
    "short.csv": ("id,title\n1\n2,b\n", [(1, None), (2, "b")]),
    "large.csv": ("id,title\n1," + "x" * 300_000 + "\n", [(1, "x" * 300_000)]),
    "without key.csv": ("title\na\nb\n", [(1, "a"), (2, "b")]),
    "UPPER.CSV": ("id,title\n1,ä\n", [(1, "ä")]),
    "semicolons.csv": ('id;title\n1;a, b\n2;"c; d"\n', [(1, "a, b"), (2, "c; d")]),
    "semicolons twice.csv": ("id;title, long\n1;a, b\n2;c\n", [(1, "a, b"), (2, "c")]),
    "tabs.csv": ("id\ttitle\n1\ta; b, c\n", [(1, "a; b, c")]),
    "tabs by name.tsv": ("id\ttitle, text; more\n1\ta\n", [(1, "a")]),
    "pipes.csv": ("id|title\n1|a,b\n", [(1, "a,b")]),
    "zeros.csv": ("id,title\n007,01234\n10,99999\n", [("007", "01234"), ("10", "99999")]),
    "late.csv": (
        "id,title\n" + "".join(f"{n},{n}\n" for n in range(100, 500)) + "A1,x\n",
        [*((str(n), str(n)) for n in range(100, 500)), ("A1", "x")],
    ),
    "numbers.csv": ("id,title,n\n1,2.5,\n2,3,7\n", [(1, 2.5, None), (2, 3.0, 7)]),
    "versions.csv": ("id,title\n1,1.1\n2,1.10\n", [(1, "1.1"), (2, "1.10")]),
    "not numbers.csv": (
        "id,a,b,c,d\n1,+5,1e3,nan,\u0663\n2,6,7,8,9\n",
        [(1, "+5", "1e3", "nan", "\u0663"), (2, "6", "7", "8", "9")],
    ),
    "beyond.csv": ("id,title\n9223372036854775807,9223372036854775808\n", [(2**63 - 1, str(2**63))]),
    "empty.csv": ("id,title\n1,\n2,\n", [(1, ""), (2, "")]),
    "texts.jsonl": ('{"id": "1", "title": "2"}\n', [("1", "2")]),
    "news.jsonl": (
        "".join(f'{{"id": {n}}}\n' for n in range(500)) + '{"id": 500, "news": 1}',
        [*((n, None) for n in range(500)), (500, 1)],
    ),
    "plain j.jsonl": (
        '{"id": 1, "title": "a"}\n\n{"id": 2, "title": null}\n{"id": 3}\n',
        [(1, "a"), (2, None), (3, None)],
    ),
    "bom j.jsonl": (b'\xef\xbb\xbf{"id": 1, "title": "\\u00e4"}\n', [(1, "ä")]),
    "big numbers.jsonl": ('{"id": -9223372036854775808, "title": 1}\n', [(-(2**63), 1)]),
    "fractions.ndjson": ('{"id": 1, "title": 1}\n{"id": 2, "title": 2.5}\n', [(1, 1.0), (2, 2.5)]),
    "mixed.json": ('{"id": 1, "title": 1}\n{"id": 2, "title": "x"}\n', [(1, "1"), (2, "x")]),
    "booleans.jsonl": ('{"id": 1, "title": true}\n{"id": 2, "title": false}\n', [(1, True), (2, False)]),
    "nested.jsonl": ('{"id": 1, "title": {"ä": [1, null]}}\n', [(1, '{"ä": [1, null]}')]),
    "text keys.jsonl": ('{"id": "b", "title": "x"}\n{"id": "a", "title": "y"}\n', [("a", "y"), ("b", "x")]),
    "odd names.jsonl": (
        '{"id": 1, "a b": "1", "a_b": "2", "100%": "3", "(": "4", ":x": "5", "\\"": "6"}\n',
        [(1, "1", "2", "3", "4", "5", "6")],
    ),
}


def test_a_new_table_has_the_columns_of_the_file(database: dbsim.Database, tmp_path: Path) -> None:
    for name, (content, expected) in GOOD.items():
        table, count = database.import_file(written(tmp_path, name, content), table=Path(name).stem)
        assert (table, count) == (Path(name).stem, len(expected)), name
        assert rows(database, table) == expected, name
        assert inspect(database.engine).get_pk_constraint(table)["constrained_columns"] == ["id"], name
    capital = written(tmp_path, "capital.csv", "ID,title\n1,a\n")
    assert database.import_file(capital, table="capital") == ("capital", 1)
    assert fetch(database.engine, "SELECT * FROM capital") == [(1, "a")]


def test_where_two_separators_fit_the_user_is_asked(
    database: dbsim.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    path = str(written(tmp_path, "both.csv", "id;a,b\n1;2,x\n3;4,y\n"))
    code, out, err = shell("import", url, path, "--table", "t")
    question = "dbsim: is both.csv separated by comma or semicolon? Say it with --separator; nothing was imported\n"
    assert (code, out, err) == (2, "", question)
    for said in ("semicolon", ";"):
        assert shell("import", url, path, "--table", f"t {said}", "--separator", said)[0] == 0
        assert rows(database, f"t {said}") == [(1, "2,x"), (3, "4,y")]
    code, _, err = shell("import", url, path, "--table", "t", "--separator", "dots")
    assert (code, "the separator 'dots' is not one character: say comma or" in err) == (2, True)


@given(st.text(alphabet="0123456789.+-eE _x", max_size=25))
def test_a_number_is_written_as_its_text(value: str) -> None:
    assert str(number(value)) == value


def test_an_existing_table_is_added_to(database: dbsim.Database, tmp_path: Path) -> None:
    """In batches, with the types of the table, and its index notices."""
    execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, year INTEGER, note TEXT)")
    execute(database.engine, f"INSERT INTO articles VALUES (1, '{sentence(1)}', 2001, 'old')")
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    lines = [
        json.dumps({"year": 2002, "id": n, "body": near_copy(1) if n == 2 else sentence(n)}) for n in range(2, 1202)
    ]
    seen: list[int] = []
    path = written(tmp_path, "more.jsonl", "\n".join(lines))
    assert database.import_file(path, table="articles", progress=lambda stage, done, total: seen.append(done)) == (
        "articles",
        1200,
    )
    assert seen == [1000, 1200]
    assert index.sync().changed == 1200
    assert [hit.key for hit in index.similar(1)] == [2]
    csv = written(tmp_path, "more.csv", "id,year,body\n5000,1999,text\n")
    assert database.import_file(csv, table="articles") == ("articles", 1)
    assert fetch(database.engine, "SELECT * FROM articles WHERE id = 5000") == [(5000, "text", 1999, None)]


BAD: dict[str, tuple[str | bytes, str]] = {
    "long.csv": ("id,title\n1,a\n2,b,c\n", "long.csv, line 3: more values than the header has columns"),
    "nameless.csv": ("id,,title\n1,2,3\n", "nameless.csv has a column without a name"),
    "empty.csv": ("", "holds no records"),
    "header.csv": ("id,title\n", "holds no records"),
    "latin.csv": ("id,title\n1,ä\n".encode("latin-1"), "latin.csv is not UTF-8: convert it first"),
    "twice.csv": ("id,title\n1,a\n1,b\n", "the table refuses a row ("),
    "bad.jsonl": ('{"id": 1}\n{"id": 2\n', "bad.jsonl, line 2: not JSON ("),
    "list.jsonl": ("[1, 2]\n", "list.jsonl, line 1: a JSON object was expected"),
    "deep.jsonl": ("[" * 100_000, "deep.jsonl, line 1: not JSON (nested too deeply)"),
    "latin.jsonl": ('{"id": 1, "t": "ä"}'.encode("latin-1"), "latin.jsonl is not UTF-8: convert it first"),
    "nameless.jsonl": ('{"id": 1, "": 2}\n', "nameless.jsonl has a column without a name"),
    "surrogate.jsonl": ('{"id": 1, "t": "\\ud800"}\n', "the database cannot take a name or value"),
    "huge.jsonl": ('{"id": 1, "t": ' + "9" * 40 + "}\n", ""),
    "notes.txt": ("hello", "notes.txt is neither .jsonl nor .csv: rename it or convert it"),
}


def test_a_bad_file_is_refused_as_a_whole(
    database: dbsim.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    for name, (content, sentence_) in BAD.items():
        path = written(tmp_path, name, content)
        with pytest.raises(DbsimError) as raised:
            database.import_file(path, table="t")
        assert sentence_ in str(raised.value)
        code, out, err = shell("import", url, str(path), "--table", "t")
        assert (code, out) == (2, ""), name
        assert err == f"dbsim: {raised.value}\n"
        assert not inspect(database.engine).has_table("t"), name


def test_an_existing_table_stays_as_it_was_when_a_file_is_bad(database: dbsim.Database, tmp_path: Path) -> None:
    execute(database.engine, "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT)", "INSERT INTO t VALUES (7, 'old')")
    good = "".join(f'{{"id": {n}, "title": "x"}}\n' for n in range(1000, 3000))
    for name, line, sentence_ in [
        (
            "unknown.jsonl",
            '{"id": 1, "titel": "x"}',
            "there is no column of table 't' named 'titel'; did you mean 'title'?",
        ),
        ("twice.jsonl", '{"id": 7, "title": "x"}', "the table refuses a row"),
        ("bad.jsonl", "{", "bad.jsonl, line 2001: not JSON"),
        ("type.jsonl", '{"id": "seven", "title": "x"}', ""),
    ]:
        with pytest.raises((InvalidOption, UnknownName)) as raised:
            database.import_file(written(tmp_path, name, good + line), table="t")
        assert sentence_ in str(raised.value)
        assert rows(database, "t") == [(7, "old")]


def test_documents_without_a_table_of_ones_own(
    database: dbsim.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Command(monkeypatch, capsys)
    url = database.engine.url.render_as_string(hide_password=False)
    path = written(tmp_path, "a.jsonl", "\n".join(json.dumps({"text": t}) for t in (sentence(1), near_copy(1))))
    other = written(tmp_path, "b.csv", f"body,x\n{sentence(1)},1\n")
    assert database.import_file(path) == ("dbsim_document", 2)
    assert shell("import", url, str(other), "--text", "body") == (0, "1 rows imported into dbsim_document\n", "")
    assert rows(database, "dbsim_document", "id, source") == [(1, "a.jsonl"), (2, "a.jsonl"), (3, "b.csv")]
    index = database.create_index("documents", table="dbsim_document", columns="text", **QUICK)
    index.sync()
    assert [hit.key for hit in index.similar(1)] == [3, 2]
    database.import_file(other, text="body")
    index.sync()
    assert [hit.key for hit in index.similar(1)] == [3, 4, 2]
    for wrong, sentence_ in [(None, "there is no column of b.csv named 'text'"), ("bdy", "did you mean 'body'?")]:
        with pytest.raises(UnknownName) as raised:
            database.import_file(other, text=wrong)
        assert sentence_ in str(raised.value)
    assert len(rows(database, "dbsim_document")) == 4


def test_a_file_that_is_not_there(tmp_path: Path, database: dbsim.Database) -> None:
    written(tmp_path, "articles.csv", "id\n1\n")
    with pytest.raises(UnknownName, match=r"there is no file '.*artcles.csv'; did you mean '.*articles.csv'\?"):
        database.import_file(tmp_path / "artcles.csv", table="t")
    with pytest.raises(UnknownName, match="there is no file"):
        database.import_file(tmp_path, table="t")
