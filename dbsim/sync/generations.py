"""The generations of an index, each with its signer, which keeps the words and the model it has seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from dbsim.engines.context import Stage
from dbsim.hashing.signer import Signer
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables


@dataclass
class Generations(Stage):
    """`context` is the one that is searched; it follows the catalogue when told to."""

    _signers: dict[tuple[object, ...], Signer] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tables.record.options.name

    def look(self) -> catalogue.IndexRecord:
        """Take the generation that the catalogue names now."""
        return self.use(self.read(lambda c: catalogue.load(c, self.name)))

    def use(self, record: catalogue.IndexRecord) -> catalogue.IndexRecord:
        """Take this one as the generation that is searched."""
        if record != self.tables.record:
            self.enter(self.context.of(record, self.signer_of(record)))
        return record

    def there(self, connection: Connection, *, lock: bool = False) -> list[catalogue.IndexRecord]:
        """What the catalogue knows of them; an error when the index is gone."""
        found = catalogue.generations(connection, self.name, lock=lock)
        if not found:
            raise catalogue.unknown(connection, self.name)
        return found

    def all(self, connection: Connection) -> list[tuple[IndexTables, Signer]]:
        """All of them, the one that is searched first."""
        found = catalogue.generations(connection, self.name)
        return [(self._tables_of(record), self.signer_of(record)) for record in found]

    def _tables_of(self, record: catalogue.IndexRecord) -> IndexTables:
        """Those that are known, with the statements made for them."""
        return self.tables if record == self.tables.record else IndexTables(record)

    def signer_of(self, record: catalogue.IndexRecord) -> Signer:
        def identity(some: catalogue.IndexRecord) -> tuple[object, ...]:
            options = replace(some.options, inline=False) if some.options.inline else some.options
            return some.generation, options, some.secret

        wanted = identity(record)
        self._signers.setdefault(identity(self.tables.record), self.signer)
        if wanted not in self._signers:
            self._signers[wanted] = record.options.signer(record.secret)
        return self._signers[wanted]
