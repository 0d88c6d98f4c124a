"""How an index is changed, as users ask for it: alter, cancel_change, refit, inline, drop; a part of Index."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sqlalchemy import Connection

from dbsim.index.base import IndexBase
from dbsim.lifecycle.alter import alter, changed, rotated
from dbsim.lifecycle.create import drop
from dbsim.lifecycle.inline import set_inline
from dbsim.options import Field, IndexOptions, field_options, fields_from, require_positive
from dbsim.progress import Progress, quiet
from dbsim.sync import models
from dbsim.sync.worker import SyncReport
from dbsim.tables.index_tables import IndexTables


class Changing(IndexBase):
    """Every method is one call into a stage; what it asks for, the next `sync` builds while searches go on."""

    @abstractmethod
    def sync(self, *, progress: Progress = quiet) -> SyncReport:
        """Bring it up to date."""

    def alter(
        self,
        *,
        columns: str | Sequence[str] | Mapping[str, float] | None = None,
        fields: Sequence[Field] | None = None,
        family: str | None = None,
        threshold: float | None = None,
        recall: float | None = None,
        rows: int | None = None,
        keys: int | None = None,
        words: int | None = None,
        characters: int | None = None,
        normaliser: str | None = None,
        bits: int | None = None,
        false_drops: float | None = None,
        filter: str | None = None,
        secret: str | None = None,
        replan: bool = False,
    ) -> Self:
        """Change the options named here, meant as for `create_index`; a second generation is built by `sync`.

        `replan` chooses keys anew for the table as it is now, as `status` advises when it has outgrown them. `secret`,
        "env:NAME" or "file:PATH", is where a secret outside the database is from now on.
        """
        self._current.look()
        common = field_options(words, characters, normaliser, bits, false_drops, filter)
        given: dict[str, Any] = {"family": family, "threshold": threshold, "recall": recall, "rows": rows, "keys": keys}
        given = {option: value for option, value in given.items() if value is not None}
        require_positive(rows=rows, keys=keys)
        if secret is not None:
            given |= rotated(self.options, secret)
        if columns or fields:
            given["fields"] = fields_from(columns, fields, **common)
        self._ask_for(changed(self.options, given, common, replan))
        return self

    def cancel_change(self) -> Self:
        """Give up a change of options that is under way: the generation that is searched stays."""
        self._current.look()
        self._ask_for(self.options)
        return self

    def refit(self) -> int:
        """Learn again from the table as it is now (families that learn): a new generation; the next `sync` fills it.

        Of persons the decisions about rows count too; returns how many did.
        """
        return models.refit(self._current.look().context)

    def inline(self, on: bool = True, *, progress: Progress = quiet) -> SyncReport:
        """PostgreSQL: sign in the writing transaction (True) or through the queue (False), then bring up to date."""
        set_inline(self._context.engine, self._context.backend, self.name, on)
        self._current.look()
        return self.sync(progress=progress)

    def grant(self, role: str, *, decide: bool = False) -> list[str]:
        """PostgreSQL: let a role search from Python, the shell and SQL; it never sees the secret of the index.

        It sees the rows that the table shows it, and what people decided about them; with `decide` it may decide
        itself. Returns the statements for rights on the table or a schema that it lacks still, for their owners to run.
        """
        backend = self._context.backend

        def work(connection: Connection) -> list[str]:
            return backend.grant(
                connection, IndexTables(self._context.load(connection, self.name)), role, decides=decide
            )

        return self._context.write(work)

    def revoke(self, role: str) -> bool:
        """PostgreSQL: take back what `grant` gave a role, of this index; False when it had not been granted it."""
        backend = self._context.backend
        return self._context.write(lambda c: backend.revoke(c, IndexTables(self._context.load(c, self.name)), role))

    def drop(self) -> None:
        """Remove the index with its tables and triggers; the indexed table stays as it is."""
        drop(self._context.engine, self._context.backend, self.name)

    def _ask_for(self, options: IndexOptions) -> None:
        alter(self._context.engine, self._context.backend, options, self._context.after_create_table)
