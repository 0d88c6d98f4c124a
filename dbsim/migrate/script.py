"""Migrations as text: `dbsim sql` without a connection, `dbsim init-migration` for the application's own history."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from io import StringIO
from pathlib import Path
from textwrap import indent
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from alembic.util import CommandError, rev_id
from sqlalchemy import Connection, Engine

from dbsim.engines.registry import backend_named, backend_of
from dbsim.engines.transactions import read
from dbsim.errors import DbsimError
from dbsim.lifecycle import schema
from dbsim.lifecycle.alter import generation_for
from dbsim.lifecycle.create import find_source, resolved
from dbsim.migrate import operations
from dbsim.options import Field, IndexOptions
from dbsim.tables import catalogue, versions
from dbsim.tables.catalogue import target
from dbsim.tables.source import PrimaryKey
from dbsim.tables.versions import BASE

SKIPPED = {
    "name": None,
    "schema": None,
    "triggers": True,
    "secret": "",
    "secret_check": "",
    "on_duplicate": "",
}  # options whose default goes without saying


def sql(dialect: str, since: str = BASE, to: str | None = None) -> str:
    """The statements that raise (or lower) dbsim's tables from one version to another, in one transaction."""
    backend_named(dialect)
    to = to or versions.current()
    out = StringIO()
    settings = {"as_sql": True, "output_buffer": out, "literal_binds": True, "transactional_ddl": True}
    context = MigrationContext.configure(dialect_name=dialect, opts=settings)
    down = to == BASE or (since != BASE and to < since)
    with context.begin_transaction():
        (operations.downgrade if down else operations.upgrade)(Operations(context), to, since)
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class History:
    """Where in the application's Alembic history a migration goes, in Alembic's own words."""

    config: str | Path = "alembic.ini"
    section: str = "alembic"
    head: str | None = None
    version_path: str | Path | None = None


def init_migration(engine: Engine, asked: IndexOptions, config: str | Path = "alembic.ini", **history: Any) -> Path:
    """Write the migration that creates the index, or changes it to these options, after the application's last one.

    `head`, `version_path` and `section` are those of `alembic revision` (and `alembic -n`).
    """
    given = History(config=config, **history)
    scripts = _scripts(given)
    message, up, down = read(engine, backend_of(engine), lambda c: _plan(c, asked))
    try:
        made = scripts.generate_revision(
            rev_id(),
            message,
            refresh=True,
            head=given.head,
            version_path=given.version_path,
            imports="import dbsim.migrate\nfrom dbsim import Field, IndexOptions",
            upgrades=indent(up, "    ").strip(),
            downgrades=indent(down, "    ").strip(),
        )
    except CommandError as error:
        raise DbsimError(f"Alembic cannot write the migration: {error}") from error
    assert made is not None
    return Path(made.path)


def _scripts(history: History) -> ScriptDirectory:
    """The application's migrations; a history with several ends needs one to be named."""
    try:
        scripts = _with_template(ScriptDirectory.from_config(_config(history)))
        heads = scripts.get_heads() if history.head is None else []
    except CommandError as error:
        raise DbsimError(f"Alembic cannot read your migrations: {error}") from error
    if len(heads) > 1:
        raise DbsimError(
            f"your migrations have several heads ({', '.join(sorted(heads))}): "
            f"name the one to go on from with --head, or merge them with `alembic merge heads`"
        )
    return scripts


def _with_template(scripts: ScriptDirectory) -> ScriptDirectory:
    """With Alembic's own template where the application's is missing or has no room for what is written."""
    template = Path(scripts.dir, "script.py.mako")
    own = template.read_text("utf-8") if template.is_file() else ""
    if not all(part in own for part in ("imports", "upgrades", "downgrades")):
        scripts.version_locations = scripts.version_locations or [str(Path(scripts.dir, "versions"))]
        scripts.dir = str(Path(Config().get_template_directory(), "generic"))  # only for the template, from here on
    return scripts


def _config(history: History) -> Config:
    """Of alembic.ini, or of [tool.alembic] in the pyproject.toml beside it, as Alembic itself looks for it."""
    path, quiet = Path(history.config), Namespace(quiet=True)
    project = path.parent / "pyproject.toml"
    if path.is_file():
        return Config(str(path), ini_section=history.section, cmd_opts=quiet)
    if project.is_file() and "[tool.alembic]" in project.read_text("utf-8"):
        return Config(toml_file=project, ini_section=history.section, cmd_opts=quiet)
    raise DbsimError(f"there is no {str(path)!r}: run this where your application's alembic.ini is, or give --config")


def _plan(connection: Connection, asked: IndexOptions) -> tuple[str, str, str]:
    """Message, upgrade and downgrade of the migration; everything left open is filled in from the database."""
    backend = backend_of(connection)
    source = find_source(connection, backend, asked.table, asked.schema)
    source.require(asked.columns, backend.not_text, backend.not_key)
    if source.table != asked.table:  # written as schema.table
        asked = replace(asked, table=source.table, schema=source.schema)
    options = resolved(connection, backend, asked, source)
    key = source.primary_key
    found = catalogue.generations(connection, asked.name) if schema.version(connection) is not None else []
    if not found:
        version, before = versions.current(), schema.version(connection)
        up = [f'dbsim.migrate.upgrade(op, to="{version}")', _call("create_index", options, backend.name, key)]
        down = [f'dbsim.migrate.drop_index(op, "{options.name}")']
        down += [f'dbsim.migrate.downgrade(op, to="{BASE}")'] if before is None else []
        return f"near-duplicate index {options.name}", "\n".join(up), "\n".join(down)
    options = replace(options, schema=options.schema or found[0].options.schema)
    new, old = generation_for(found, options), target(found) or found[0]
    if new.generation == old.generation:
        raise DbsimError(f"index {options.name!r} has these options already: there is nothing to migrate")
    up_call = _call("alter_index", new.options, backend.name, key, new.generation)
    return f"change index {options.name}", up_call, _call("alter_index", old.options, backend.name, key, old.generation)


def _call(function: str, options: IndexOptions, dialect: str, key: PrimaryKey, generation: int | None = None) -> str:
    numbered = "" if generation is None else f"    generation={generation},\n"
    types = ", ".join(f"{_text(name)}: {_text(type_)}" for name, type_ in key)
    return (
        f"dbsim.migrate.{function}(\n    op,\n{indent(_options(options), '    ')},\n"
        f"{numbered}    primary_key={{{_text(dialect)}: {{{types}}}}},  # for scripts without a connection\n)"
    )


def _options(options: IndexOptions) -> str:
    lines = [f"    fields=(\n{''.join(f'        {_field(field)},' + chr(10) for field in options.fields)}    ),"]
    for option in fields_of(IndexOptions):
        value = getattr(options, option.name)
        if option.name not in ("fields", "planned") and (
            option.name == "name" or value != SKIPPED.get(option.name, ...)
        ):
            lines.append(f"    {option.name}={_value(value)},")
    order = sorted(
        lines, key=lambda line: [line.lstrip().startswith(name) for name in ("name=", "table=")], reverse=True
    )
    return "IndexOptions(\n" + "\n".join(order) + "\n)"


def _field(field: Field) -> str:
    given = [(option.name, getattr(field, option.name), option.default) for option in fields_of(Field)]
    return "Field(" + ", ".join(f"{name}={_value(value)}" for name, value, default in given if value != default) + ")"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_value, value)) + ("," if len(value) == 1 else "") + ")"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """A Python string in double quotes, as formatters want it."""
    return '"' + repr("'" + value)[2:-1].replace('"', '\\"') + '"' if '"' not in value else repr(value)
