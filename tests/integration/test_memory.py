"""A process that outlives many changes of options holds no more than one that has just begun: objects are counted."""

from __future__ import annotations

import gc
from collections import Counter

from sqlalchemy import Table

import dbsim
from dbsim.sync.worker import Worker
from dbsim.tables import index_tables
from tests.conftest import SECRET
from tests.integration.helpers import articles, corpus, near_copy, sentence

WARM, LONG = 5, 9  # changes of options


def held(database: dbsim.Database) -> dict[str, int]:
    gc.collect()
    kinds = Counter(type(one) for one in gc.get_objects())
    compiled = database.engine._compiled_cache  # type: ignore[attr-defined]
    return {
        "tables": kinds[Table],
        "compiled statements": len(compiled or ()),
        "layouts": len(index_tables._LAYOUTS),
    }


def test_nothing_of_former_generations_is_kept(database: dbsim.Database) -> None:
    """Each left 25 tables, and statements of 80 kB in the cache of compiled ones."""
    articles(database.engine, corpus(3, singles=3))
    made = database.create_index("articles", table="articles", columns="body", rows=2, keys=4, secret=SECRET)
    made.sync()
    made.duplicates(by="components", threshold=0.6, publish=True)
    url = database.engine.url.render_as_string(hide_password=False)
    with dbsim.open(url) as worker, dbsim.open(url) as other:
        searched, seen = other.index("articles"), {}
        for number in range(LONG):
            changed = worker.index("articles")
            changed.alter(keys=5 + number, rows=2)
            Worker(changed.context, keep=0.0).run()
            assert Worker(changed.context, keep=0.0).run().generation == 2 + number
            searched._current.look()  # type: ignore[attr-defined]
            assert searched.search(near_copy(0))
            assert not searched.search(sentence(999))
            searched.similar(1)
            searched.decide(1, 2, "same" if number % 2 else "different")
            if number + 1 in (WARM, LONG):
                seen[number + 1] = held(other), held(worker)
        assert seen[LONG] == seen[WARM]
