"""The tables of an index: made once for equal options, apart for others, and no name of theirs is the key's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.options import Field, IndexOptions
from dbsim.tables.catalogue import READY, IndexRecord
from dbsim.tables.decision_tables import DecisionTables
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables, feed_table, free_name
from dbsim.tables.slice_tables import SliceTables

OPTIONS = IndexOptions(name="articles", table="articles", fields=(Field(columns=("body",), bits=1024),), rows=2, keys=3)
RECORD = IndexRecord(options=OPTIONS, primary_key=(("id", "INTEGER"),), secret=b"secret", unicode_version="15.1")
TABLES = ("signatures", "words", "queue", "source", "indexes", "names")
GROUPS = ("edges", "contents", "changes", "state", "results", "apart", "respected", "claims", "groups", "saved_groups")


@pytest.mark.parametrize("name", TABLES)
def test_what_a_record_says_of_its_state_makes_no_other_tables(name: str) -> None:
    first = IndexTables(RECORD)
    later = IndexTables(replace(RECORD, state=READY, stamp="another", wanted=2, secret=b"new", searched=False))
    assert getattr(first, name) is getattr(later, name)


@pytest.mark.parametrize(
    "other",
    [
        replace(RECORD, generation=2),
        replace(RECORD, primary_key=(("id", "TEXT"),)),
        replace(RECORD, primary_key=(("id", "INTEGER"), ("part", "INTEGER"))),
        replace(RECORD, options=replace(OPTIONS, keys=4)),
        replace(RECORD, options=replace(OPTIONS, table="others")),
        replace(RECORD, options=replace(OPTIONS, schema="elsewhere")),
        replace(RECORD, options=replace(OPTIONS, name="more")),
        replace(RECORD, options=replace(OPTIONS, fields=(replace(OPTIONS.fields[0], bits=2048),))),
    ],
    ids=["generation", "type", "key", "keys", "table", "schema", "name", "bits"],
)
def test_another_layout_has_tables_of_its_own(other: IndexRecord) -> None:
    for name in ("signatures", "queue", "source"):
        assert getattr(IndexTables(RECORD), name) is not getattr(IndexTables(other), name)
    assert GroupTables(IndexTables(RECORD)).edges is not GroupTables(IndexTables(other)).edges


def test_a_reader_sees_the_view() -> None:
    own, shown = IndexTables(RECORD), IndexTables(RECORD, shown=True)
    assert (own.signatures.name, shown.signatures.name) == ("dbsim_articles", "dbsim_articles_signatures")
    assert DecisionTables(own).decisions.name != DecisionTables(shown).decisions.name


@pytest.mark.parametrize("name", GROUPS)
def test_tables_of_groups_are_shared_too(name: str) -> None:
    one, two = (GroupTables(IndexTables(replace(RECORD, stamp=stamp))) for stamp in "ab")
    assert getattr(one, name) is getattr(two, name)


def test_tables_beside_them_are_shared_too() -> None:
    one, two = (IndexTables(replace(RECORD, stamp=stamp)) for stamp in "ab")
    assert DecisionTables(one).decisions is DecisionTables(two).decisions
    assert SliceTables(one).places is SliceTables(two).places
    assert feed_table("articles") is feed_table("articles")
    assert feed_table("articles") is not feed_table("more")


def test_facts_and_statements_are_not_shared() -> None:
    """What was true of one database need not be true of another, or a moment later."""
    one, two = IndexTables(RECORD), IndexTables(RECORD)
    one.companions["decisions_exist"] = True
    assert two.companions == {}


def test_threads_get_the_same_tables() -> None:
    """Two tables of one name in a statement would be a join of both."""
    count, record = 8, replace(RECORD, options=replace(OPTIONS, name="threads"))
    barrier = Barrier(count)

    def make(_: int) -> list[int]:
        tables = IndexTables(record)
        groups = GroupTables(tables)
        barrier.wait()
        return [id(getattr(tables, name)) for name in TABLES] + [id(getattr(groups, name)) for name in GROUPS]

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(make, range(count)))
    assert len({tuple(ids) for ids in found}) == 1


HOSTILE = ("fingerprint", "k0", "K1", "body_bits", "body_count", "queued_at", "score", "standard_error", "generation")


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4, unique_by=str.lower))
def test_no_column_has_the_name_of_the_key(names: list[str]) -> None:
    tables = IndexTables(replace(RECORD, primary_key=tuple((name, "INTEGER") for name in names)))
    groups = GroupTables(tables)
    for table in (tables.signatures, tables.queue, groups.contents, groups.apart, groups.respected):
        columns = [column.name.lower() for column in table.columns]
        assert len(columns) == len(set(columns))
    shown = [name.lower() for name in (groups.result_name, *names, *groups.shown)]
    assert len(shown) == len(set(shown))


@given(st.lists(st.sampled_from(["a", "A", "a_", "b"]), max_size=6))
def test_free_names_are_free(wanted: list[str]) -> None:
    taken: set[str] = set()
    found = [free_name(taken, name) for name in wanted]
    assert len({name.lower() for name in found}) == len(found)
    assert taken == {name.lower() for name in found}
    assert all(name.startswith(asked) for name, asked in zip(found, wanted, strict=True))
