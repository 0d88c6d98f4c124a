"""Whatever is written behind `dbsim`, it ends with an answer or with one sentence, never with a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import dbsim
from dbsim.cli import cli
from tests.conftest import ALL
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, execute, near_copy

LEFT_OUT = {"serve", "demo", "init-migration", "downgrade"}  # they go on for ever, or have nothing to do with a table
WAITING = {"--follow", "--out", "--html", "--save"}  # a file of any name would be written
RUNS = 600 if ALL else 60
INDEXES = ("articles", "pairs of keys")
KEYS = ("1", "2", "x", '{"a": 1, "b": "k1"}', '["1", "k1"]', "")
WORDS = (
    "body",
    "title",
    "nope",
    "id > 3",
    "'; DROP TABLE articles; --",
    "%s",
    "",
    "nan",
    "x" * 300,
    "\U0001f4a5",
    "a=b",
    "{}",
)
NUMBERS = ("0", "1", "2", "-1", "0.5", "0.9", "1.5", "1e308", "many")


@pytest.fixture
def target(database: dbsim.Database, url: str) -> str:
    integer = "INTEGER PRIMARY KEY"
    rows = (f"({number}, 't', '{near_copy(number % 4, number)}')" for number in range(1, 25))
    execute(
        database.engine,
        f"CREATE TABLE articles (id {integer}, title TEXT, body TEXT)",
        f"INSERT INTO articles VALUES {', '.join(rows)}",
        'CREATE TABLE "two keys" (a INTEGER, b TEXT, body TEXT, PRIMARY KEY (a, b))',
        "INSERT INTO \"two keys\" SELECT id, 'k' || id, body FROM articles",
    )
    for name, table in zip(INDEXES, ("articles", "two keys"), strict=True):
        database.create_index(name, table=table, columns="body", **QUICK).sync()
    return url.removeprefix("sqlite:///") if url.startswith("sqlite") else url


def commands() -> Iterator[tuple[list[str], click.Command]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from (([name, part], command.commands[part]) for part in command.commands)
        elif name not in LEFT_OUT:
            yield [name], command


def written(command: click.Command, target: str, chance: random.Random) -> Iterator[str]:
    for one in command.params:
        if isinstance(one, click.Argument):
            count = 1 if one.nargs == 1 else chance.randrange(3)
            yield from (value(one, target, chance) for _ in range(count))
        elif isinstance(one, click.Option) and not WAITING.intersection(one.opts) and chance.random() < 0.15:
            if one.is_flag:
                yield one.opts[0]
            else:
                yield f"{one.opts[0]}={value(one, target, chance)}"
                yield from (value(one, target, chance) for _ in range(one.nargs - 1))


def value(one: click.Parameter, target: str, chance: random.Random) -> str:
    if one.name == "db":
        return target
    if isinstance(one.type, click.Choice):
        return chance.choice([*map(str, one.type.choices), "bogus"])
    usual = {"name": INDEXES, "a": (*INDEXES, *KEYS), "b": (*INDEXES, *KEYS), "key": KEYS}.get(one.name or "")
    if usual and chance.random() < 0.9:
        return chance.choice(usual)
    return chance.choice(NUMBERS if one.type.name in ("integer", "float") else (*WORDS, *NUMBERS, *KEYS))


def test_any_command_line(target: str, shell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(7)
    known = [one for one in commands() if one[0] not in (["drop"], ["upgrade"])]
    for _ in range(RUNS):
        names, command = chance.choice(known)
        line = [*names, *written(command, target, chance)]
        code, _, said = shell(*line)
        assert code in (0, 1, 2), line
        if code == 2 and "Usage:" not in said:
            assert re.search(r"dbsim: .", said) or "Error: " in said, (line, said)


SENTENCES = {
    "clusters articles --seed -1": "a seed of -1",
    "alter articles --family minhesh": "no hash family 'minhesh'; did you mean 'minhash'",
    "merge articles --recent=": "no column of table 'articles' named ''",
    "check postgresql": "no index 'postgresql'; there is",
}


def test_sentences(target: str, shell: Command) -> None:
    for line, said in SENTENCES.items():
        verb, *rest = line.split()
        code, _, told = shell(verb, target, *rest)
        assert (code, said in told) == (2, True), told
