"""A table, its schema, its columns renamed, a key widened, a type changed: the index follows and signs nothing anew."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest

import dbsim
import dbsim.migrate
from dbsim.errors import DbsimError, NotInPlace, StatementRejected
from dbsim.hashing.signer import Signer
from dbsim.lifecycle.schema import operations
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute
from tests.oracle import assert_in_step

TEXTS = corpus(3)
COLUMN = "ALTER TABLE articles RENAME COLUMN {} TO {}"
TABLE = "ALTER TABLE {} RENAME TO {}"


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, TEXTS)
    made = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    made.sync()
    list(made.duplicates())
    return made


def url_of(database: dbsim.Database) -> str:
    return database.engine.url.render_as_string(hide_password=False)


def signed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts are signed from now on."""
    counted: list[int] = []
    sign = Signer.sign
    monkeypatch.setattr(Signer, "sign", lambda self, columns: (counted.append(len(columns[0])), sign(self, columns))[1])
    return counted


RENAMES: dict[str, tuple[list[str], dict[str, str], str]] = {  # statements, renames, the table afterwards
    "column": ([COLUMN.format("body", "content")], {"body": "content"}, "articles"),
    "key": ([COLUMN.format("id", "number")], {"id": "number"}, "articles"),
    "key called as one of dbsim's": ([COLUMN.format("id", "k0")], {"id": "k0"}, "articles"),
    "table": ([TABLE.format("articles", "posts")], {"articles": "posts"}, "posts"),
    "all at once": (
        [COLUMN.format("body", "content"), COLUMN.format("id", "number"), TABLE.format("articles", "posts")],
        {"body": "content", "id": "number", "articles": "posts"},
        "posts",
    ),
}


@pytest.mark.parametrize("kind", RENAMES)
def test_renamed_and_renamed_back(
    database: dbsim.Database, index: dbsim.Index, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements, renames, table = RENAMES[kind]
    execute(database.engine, *statements)
    with pytest.raises(StatementRejected, match="dbsim alter"):
        index.sync()
    counted = signed(monkeypatch)
    assert database.rename("articles", renames)
    assert not database.rename("articles", renames)
    again = database.index("articles")
    assert again.sync().changed == 0
    assert sum(counted) == 0
    assert [hit.key for hit in again.similar(1)] == [2, 3, 4]
    assert len(list(again.duplicates())) == 3
    assert again.status().problems == ()
    key, column = renames.get("id", "id"), renames.get("body", "body")
    execute(database.engine, f"UPDATE {table} SET {column} = 'other words altogether now' WHERE {key} = 2")
    assert again.sync().changed == 1
    assert [hit.key for hit in again.similar(1)] == [3, 4]
    monkeypatch.undo()
    assert_in_step(database, "articles")
    dbsim.migrate.check(database.engine)
    backwards = [re.sub(r"(COLUMN|TABLE) (\w+) (RENAME )?TO (\w+)", r"\1 \4 \3TO \2", one) for one in statements]
    backwards = [one.replace("TABLE articles RENAME COLUMN", f"TABLE {'articles'} RENAME COLUMN") for one in backwards]
    execute(database.engine, *reversed(backwards))
    database.rename("articles", {new: old for old, new in renames.items()})
    assert_in_step(database, "articles")


def test_renamed_back_without_a_word(database: dbsim.Database, index: dbsim.Index) -> None:
    for there, back in (("body", "content"), ("id", "number")):
        execute(database.engine, COLUMN.format(there, back))
        with pytest.raises(StatementRejected):
            index.sync()
        execute(database.engine, COLUMN.format(back, there))
        index.sync()
    assert_in_step(database, "articles")


@pytest.mark.parametrize("kind", ["column", "key", "table"])
def test_the_message_is_the_command_to_run(
    database: dbsim.Database, index: dbsim.Index, shell: Command, kind: str
) -> None:
    statements, renames, _ = RENAMES[kind]
    execute(database.engine, *statements)
    code, _, said = shell("sync", url_of(database), "articles")
    assert code == 2
    ((old, new),) = renames.items()
    (command,) = re.findall(r"`(dbsim alter .*?)`", said.replace("\n", " "))
    words = shlex.split(command)
    assert words[:2] + words[3:] == ["dbsim", "alter", "articles", "--rename", f"{old}={new}"] or words[-1].endswith(
        f"{old}={new}"
    )
    with pytest.raises(NotInPlace, match="dbsim alter"):
        dbsim.migrate.check(database.engine)
    assert any("dbsim alter" in problem for problem in database.index("articles").status().problems)
    words[2] = url_of(database)  # the message hides the password
    assert shell(*words[1:])[0] == 0
    assert shell("sync", url_of(database), "articles")[0] == 0
    assert_in_step(database, "articles")


def test_in_a_migration(database: dbsim.Database, index: dbsim.Index) -> None:
    def migrate(work: Callable[[Any], None]) -> None:
        with database.engine.begin() as connection:
            work(operations(connection))

    def column(op: Any) -> None:
        with op.batch_alter_table("articles") as batch, dbsim.migrate.suspended(op, "articles"):
            batch.alter_column("body", new_column_name="content")
        dbsim.migrate.rename_column(op, "articles", "body", "content")

    def table(op: Any) -> None:
        op.rename_table("articles", "posts")
        dbsim.migrate.rename_table(op, "articles", "posts")

    migrate(column)
    migrate(table)
    dbsim.migrate.check(database.engine)
    again = database.index("articles")
    again.sync()
    assert [hit.key for hit in again.similar(1)] == [2, 3, 4]
    assert_in_step(database, "articles")


def test_a_table_moves_to_another_schema(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    execute(database.engine, "CREATE SCHEMA archive", "ALTER TABLE articles SET SCHEMA archive")
    with pytest.raises(StatementRejected, match=r"--rename public.articles=archive.articles"):
        index.sync()
    database.rename("articles", {"public.articles": "archive.articles"})
    execute(database.engine, "DELETE FROM archive.articles WHERE id = 2")
    assert database.index("articles").sync().changed == 1
    assert_in_step(database, "articles")
    database.close()


@pytest.mark.parametrize(
    ("before", "after"), [("integer", "bigint"), ("varchar(10)", "varchar(40)"), ("varchar(9)", "text")]
)
def test_a_wider_key_is_followed(new_postgres: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    execute(database.engine, f"CREATE TABLE articles (id {before} PRIMARY KEY, body text)")
    rows = ", ".join(f"('{key}', '{body}')" for key, body in TEXTS.items())
    execute(database.engine, f"INSERT INTO articles VALUES {rows}")
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    list(index.duplicates())
    counted = signed(monkeypatch)
    execute(database.engine, f"ALTER TABLE articles ALTER COLUMN id TYPE {after}")
    index.sync()
    assert sum(counted) <= 0
    big = "5000000000" if after == "bigint" else "'a key longer than 9'"
    execute(database.engine, f"INSERT INTO articles SELECT {big}, body FROM articles WHERE id = '1'")
    assert index.sync().changed == 1
    assert len(index.similar("1" if "char" in before else 1)) == 4
    monkeypatch.undo()
    assert_in_step(database, "articles")
    dbsim.migrate.check(database.engine)
    database.close()


def test_a_type_that_holds_no_text_is_an_error(new_postgres: str, shell: Command) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    execute(database.engine, "ALTER TABLE articles ALTER COLUMN body TYPE bytea USING body::bytea")
    assert shell("sync", new_postgres, "articles")[0] == 2
    with pytest.raises(StatementRejected, match="column 'body' is of type bytea now, which holds no text"):
        index.sync()
    assert "bytea" in " ".join(index.status().problems)
    execute(database.engine, "ALTER TABLE articles ALTER COLUMN body TYPE text USING convert_from(body, 'UTF8')")
    index.sync()
    assert_in_step(database, "articles")
    database.close()


def test_names_that_are_not_there(database: dbsim.Database, index: dbsim.Index, shell: Command) -> None:
    with pytest.raises(DbsimError, match="no table or column of index 'articles' named 'bodi'"):
        database.rename("articles", {"bodi": "x"})
    with pytest.raises(DbsimError, match="no column of table 'articles' named 'content'"):
        database.rename("articles", {"body": "content"})
    assert "write --rename OLD=NEW" in shell("alter", url_of(database), "articles", "--rename", "body")[2]


def test_grants_outlive_a_rename(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    database.upgrade()
    articles(database.engine, TEXTS)
    database.create_index("articles", table="articles", columns=["body"], **QUICK).sync()
    role = "reader_of_renames"
    execute(database.engine, f"CREATE ROLE {role}", f"SELECT dbsim_articles_grant('{role}')")
    execute(database.engine, COLUMN.format("body", "content"))
    database.rename("articles", {"body": "content"})
    execute(database.engine, f"GRANT SELECT ON articles TO {role}")
    with database.engine.connect() as connection:
        connection.exec_driver_sql(f"SET ROLE {role}")
        assert connection.exec_driver_sql("SELECT count(*) FROM dbsim_articles_pairs").scalar_one() > 0
        connection.rollback()
    execute(database.engine, f"DROP OWNED BY {role}", f"DROP ROLE {role}")
    database.close()
