"""Who looks at which pair just now, for all servers of a database: pairs → the first that nobody else has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, delete, select, text

from dbsim.engines.context import Stage
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.key_conditions import listed, listing
from dbsim.tables.names import quote

CLAIM = 600  # seconds a pair is kept for somebody who does not answer
KEY = 64  # bytes that blake2b takes


@dataclass
class Claims(Stage):
    """Pairs are named by a hash, which tells nobody without the secret which rows they are."""

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
            now, claims, named = int(time.time()), self._table, self._hashed(pairs)
            connection.execute(delete(claims).where((claims.c.until < now) | (claims.c.holder == holder)))
            taken = set(connection.execute(select(claims.c.pair).where(claims.c.pair.in_(named))).scalars())
            # of two that ask at once one has to wait here, and then takes another pair
            insert = text(f"INSERT INTO {quote(claims.name)} VALUES (:pair, :holder, :until) ON CONFLICT DO NOTHING")
            for place, name in enumerate(named):
                values = {"pair": name, "holder": holder, "until": now + CLAIM}
                if name not in taken and connection.execute(insert, values).rowcount:
                    return place
            return None

        return self.write(work)

    def held(self, connection: Connection, holder: str, pairs: Sequence[str]) -> int | None:
        """What `take` would answer if nothing has to be written for it: it is the holder's already, and for long."""
        now, claims, known, named = int(time.time()), self._table, self.tables.companions, self._hashed(pairs)
        if "held" not in known:
            mine = listed([claims.c.pair])
            known["held"] = select(claims.c.pair, claims.c.holder, claims.c.until).where(mine)
        rows = connection.execute(known["held"], listing([(name,) for name in named]))
        found = {pair: (owner, until) for pair, owner, until in rows if until >= now}
        for place, name in enumerate(named):
            owner, until = found.get(name, ("", 0))
            if owner in ("", holder):
                return place if owner and until - now > CLAIM // 2 else None
        return None

    def release(self, holder: str) -> None:
        self.write(lambda c: c.execute(delete(self._table).where(self._table.c.holder == holder)))

    def _hashed(self, pairs: Sequence[str]) -> list[str]:
        key = self.tables.record.secret[:KEY]
        return [blake2b(pair.encode(), digest_size=16, key=key).hexdigest() for pair in pairs]
