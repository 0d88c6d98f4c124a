"""What the host's table looks like, and its texts: Connection → Source; rows → texts per field and what failed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dbsim.errors import DbsimError, NoPrimaryKey, UnknownName

Key = tuple[Any, ...]
PrimaryKey = tuple[tuple[str, str], ...]  # name and type of each column


@dataclass(frozen=True)
class Source:
    """A table: its real schema, its columns with their types, its primary key."""

    schema: str | None
    table: str
    columns: dict[str, str]
    primary_key: PrimaryKey
    is_table: bool = True

    def require(self, columns: Sequence[str], not_text: Sequence[str], not_key: str) -> None:
        """Refuse what cannot be indexed, with the remedy."""
        if not self.is_table:
            raise DbsimError(f"{self.table!r} is a view: index the table it reads from")
        for column in columns:
            if column not in self.columns:
                raise UnknownName(f"column of table {self.table!r} named", column, self.columns)
            if self.columns[column].lower() in not_text:
                raise DbsimError(
                    f"column {column!r} is of type {self.columns[column]}, which holds no text: name a text column"
                )
        if not self.primary_key:
            raise NoPrimaryKey(self.table)
        for name, type_ in self.primary_key:
            if re.search(not_key, type_):
                raise DbsimError(
                    f"the primary key column {name!r} is of type {type_}, by which rows cannot be told apart outside "
                    f"the database: give the table another key"
                )


Name = tuple[str | None, str]  # a table's schema and name


@dataclass(frozen=True)
class Reference:
    """A foreign key of another table, or of the same, that points to a table; `action` is what ON DELETE says."""

    schema: str | None
    table: str
    columns: tuple[str, ...]
    referred: tuple[str, ...]
    action: str
    own: bool = False  # whether it is a key of the indexed table itself, or of a part of it


@dataclass
class Texts:
    """A batch of rows: `columns[field][row]` for the signer, and why a row cannot be read."""

    keys: list[Key]
    columns: list[list[str]]
    failures: dict[Key, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, some: slice) -> Texts:
        keys = self.keys[some]
        failures = {key: self.failures[key] for key in keys if key in self.failures} if self.failures else {}
        return Texts(keys, [column[some] for column in self.columns], failures)


class Unindexable(Exception):
    """The value of a row that cannot be read as text; the argument is the reason shown by `status`."""


def key_json(key: Key) -> str:
    """A primary key as text, for the quarantine and for messages."""
    return json.dumps(list(key), ensure_ascii=False, default=str)


def public_key(names: Sequence[str], key: Key) -> Any:
    """The key as users see it: the value alone, or an object for composite keys."""
    return key[0] if len(names) == 1 else dict(zip(names, key, strict=True))


def public_keys(names: Sequence[str], keys: Sequence[Key]) -> list[Any]:
    return [key[0] for key in keys] if len(names) == 1 else [public_key(names, key) for key in keys]
