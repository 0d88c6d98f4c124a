"""One tree of exceptions, named after the situation; every message is one sentence or two and names the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class DbsimError(Exception):
    """Anything dbsim refuses or cannot do; the command line prints it and exits with 2."""


class UnknownName(DbsimError):
    """A table, column, index or option that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"there is no {kind} {name!r}{suggest(name, known)}")


class UnknownFile(UnknownName):
    """A file that does not exist; those beside it are compared by their names alone, without folder and ending."""

    def __init__(self, kind: str, path: Path, beside: Iterable[Path]) -> None:
        by_stem = {other.stem.lower(): str(other) for other in sorted(beside)}
        close = difflib.get_close_matches(path.stem.lower(), by_stem, n=1, cutoff=0.6)
        meant = f"; did you mean {by_stem[close[0]]!r}?" if close else ""
        DbsimError.__init__(self, f"there is no {kind} {str(path)!r}{meant}")


class InvalidOption(DbsimError):
    """An option out of its range, or options that contradict each other."""


class NoPrimaryKey(DbsimError):
    """The table cannot be indexed because its rows have no identity."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"table {table!r} has no primary key, so its rows cannot be referred to: "
            f"add one (ALTER TABLE … ADD PRIMARY KEY, or a new table on SQLite) and create the index again"
        )


class IndexExists(DbsimError):
    """An index of that name exists with other options."""

    def __init__(self, name: str, differences: Iterable[str]) -> None:
        super().__init__(
            f"index {name!r} exists with other options ({'; '.join(differences)}): "
            f"change it with `dbsim alter`, or choose another name"
        )


class NotFitted(DbsimError):
    """A family that learns has nothing to work with yet, or cannot learn from what there is."""


class SchemaOutdated(DbsimError):
    """dbsim's own tables are missing or of another version."""


class ImportedRows(DbsimError):
    """dbsim's own tables hold rows that somebody imported."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(
            f"dbsim_document holds {count} imported rows: downgrade(documents=True) deletes them, "
            f"documents=False leaves them in their table"
        )


class SecretMissing(DbsimError):
    """The secret of an index is kept outside the database, and is not there or is another one."""


class NotInPlace(DbsimError):
    """Something an index needs in the database was removed or changed."""


class NothingReadable(DbsimError):
    """No row of the indexed table can be read as text."""


class IndexChanged(DbsimError):
    """Somebody else changed the options of an index, or made it anew, in the middle of some work on it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"index {name!r} was changed by somebody else meanwhile: run this again")


class UnknownKey(DbsimError):
    """No row of the source table has that key."""


class StatementRejected(DbsimError):
    """A condition with a mistake in it, or a table that has changed since it was indexed."""


class Contradiction(DbsimError):
    """A decision that cannot hold together with earlier ones."""


class IndexBehind(DbsimError):
    """The index does not reflect the table, so acting on its groups could hit rows that are no duplicates now."""


class DatabaseUnavailable(DbsimError):
    """The database cannot be opened, read or written just now."""


class MissingRight(DatabaseUnavailable):
    """The database role may not do that; it may do it when the owner says so, not by waiting."""


def suggest(name: str, known: Iterable[str]) -> str:
    """The closest existing name, or the list when it is short."""
    names = sorted(known)
    by_lower = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {by_lower[close[0]]!r}?"
    if 0 < len(names) <= 8:
        return f"; there is {', '.join(repr(other) for other in names)}"
    return "" if names else "; there is none yet"
