"""Every table, view, function and column of dbsim's says what it is, in any client of PostgreSQL (#13)."""

from __future__ import annotations

import dbsim
from tests.integration.helpers import execute, fetch
from tests.integration.sql_helpers import indexed

SILENT = """
SELECT c.relname::text FROM pg_class c
WHERE c.relname LIKE 'dbsim\\_%' AND c.relkind IN ('r', 'v') AND obj_description(c.oid, 'pg_class') IS NULL
UNION ALL
SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relname LIKE 'dbsim\\_%' AND c.relkind IN ('r', 'v') AND NOT a.attisdropped
  AND col_description(c.oid, a.attnum) IS NULL
UNION ALL
SELECT p.proname || '()' FROM pg_proc p WHERE p.proname LIKE 'dbsim\\_%' AND obj_description(p.oid, 'pg_proc') IS NULL
"""


def test_nothing_is_silent(new_postgres: str) -> None:
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        execute(database.engine, "CREATE TABLE dbsim_mine (x INTEGER)")
        index = indexed(database, false_drops=0.01)
        index.duplicates()
        index.decide(0, 1, "same")
        assert fetch(database.engine, SILENT) == [("dbsim_mine",), ("dbsim_mine.x",)]  # the application's own
        said = dict(fetch(database.engine, "SELECT relname::text, obj_description(oid, 'pg_class') FROM pg_class"))
        assert said["dbsim_articles"].startswith("dbsim: what a search reads")
        assert said["dbsim_articles_pairs"].startswith("dbsim: pairs of near-duplicate rows")
        index.alter(threshold=0.4)
        index.sync()
        index.duplicates()
        assert len(fetch(database.engine, SILENT)) == 2
