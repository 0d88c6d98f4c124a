"""Who looks at which pair just now, for all servers of a database: pairs → the first that nobody else has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, delete, select, text

from dbsim.context import Stage
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.names import quote

CLAIM = 600  # seconds a pair is kept for somebody who does not answer


@dataclass
class Claims(Stage):
    """Pairs are named by a hash, so that nothing of a deleted row stays."""

    @property
    def _table(self) -> Any:
        """Made once for the same tables."""
        known = self.tables.companions
        if "claims" not in known:
            known["claims"] = GroupTables(self.tables).claims
        return known["claims"]

    def take(self, holder: str, pairs: Sequence[str]) -> int | None:
        """The place of the first pair that is free, or the holder's already; its former one is given back."""

        def work(connection: Connection) -> int | None:
            now, claims = int(time.time()), self._table
            connection.execute(delete(claims).where((claims.c.until < now) | (claims.c.holder == holder)))
            named = [blake2b(pair.encode(), digest_size=16).hexdigest() for pair in pairs]
            taken = set(connection.execute(select(claims.c.pair).where(claims.c.pair.in_(named))).scalars())
            # of two that ask at once one has to wait here, and then takes another pair
            insert = text(f"INSERT INTO {quote(claims.name)} VALUES (:pair, :holder, :until) ON CONFLICT DO NOTHING")
            for place, name in enumerate(named):
                values = {"pair": name, "holder": holder, "until": now + CLAIM}
                if name not in taken and connection.execute(insert, values).rowcount:
                    return place
            return None

        return self.write(work)

    def release(self, holder: str) -> None:
        self.write(lambda c: c.execute(delete(self._table).where(self._table.c.holder == holder)))
