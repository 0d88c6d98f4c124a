"""What datasketch's own tests ask of MinHash, LSH, forests and weights, asked of dbsim; docs/limits.md: what differs.

A set of datasketch is a text of single words here; its hash tables are key columns, a session is a transaction.
"""

from __future__ import annotations

import pickle

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.helpers import add, articles, execute, fetch

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def sets(database: dbsim.Database, texts: dict[int, str | None], **options: object) -> dbsim.Index:
    """An index over sets of words."""
    articles(database.engine, texts)
    given = {"threshold": 0.5, "words": 1, "secret": SECRET, **options}
    index = database.create_index("articles", table="articles", columns="body", **given)  # type: ignore[arg-type]
    index.sync()
    return index


def keys(found: object) -> list[int]:
    return [hit.key for hit in found]  # type: ignore[attr-defined]


def test_a_set_finds_itself_and_not_a_disjoint_one(database: dbsim.Database) -> None:
    """insert, query, in; with a session or one by one."""
    index = sets(database, {1: "a", 2: "b"})
    assert keys(index.search("a")) == [1]
    assert keys(index.search("b")) == [2]
    assert [keys(one) for one in index.search_many(["a", "b"])] == [[1], [2]]  # the query buffer


def test_order_and_repetition_do_not_matter_and_sizes_do(database: dbsim.Database) -> None:
    """update, update_batch, bulk, eq, union, merge, jaccard."""
    index = sets(database, {1: "a b", 2: "b a a b", 3: "a b c d"}, threshold=0.4)
    assert [(hit.key, hit.score) for hit in index.search("b b a")] == [(1, 1.0), (2, 1.0), (3, 0.5)]


def test_an_empty_set_matches_nothing(database: dbsim.Database) -> None:
    """is_empty; datasketch gives two empty sets a similarity of one, here a row without words is like no other."""
    index = sets(database, {1: "", 2: None, 3: "!!", 4: "a"})
    assert keys(index.search("")) == keys(index.similar(1)) == []
    assert list(index.pairs()) == []


def test_two_of_three_in_common_are_found_at_one_half(database: dbsim.Database) -> None:
    """{a, b, c} and {a, b, d} are exactly at 0.5: found with the recall asked for, not by the luck of estimates."""
    rows: dict[int, str | None] = {}
    for number in range(60):
        common = f"x{number} y{number}"
        rows |= {2 * number: f"{common} c{number}", 2 * number + 1: f"{common} d{number}"}
    index = sets(database, rows)
    wanted = {(2 * number, 2 * number + 1) for number in range(60)}
    searched = {
        (key, hit.key): hit for key in rows if key % 2 == 0 for hit in index.search(rows[key] or "") if hit.key != key
    }
    assert set(searched) <= wanted
    assert len(searched) >= 0.95 * len(wanted)
    assert all(hit.score == 0.5 and hit.exact for hit in searched.values())
    assert {(pair.a, pair.b) for pair in index.pairs()} == set(searched)


def test_removed_is_gone_and_an_unknown_key_is_an_error(database: dbsim.Database) -> None:
    """remove, the deletion session."""
    index = sets(database, {1: "a", 2: "b", 3: "c"})
    execute(database.engine, "DELETE FROM articles WHERE id IN (1, 2)")
    assert keys(index.search("a")) == []  # at once
    index.sync()
    assert fetch(database.engine, "SELECT id FROM dbsim_articles") == [(3,)]
    with pytest.raises(dbsim.errors.UnknownKey):
        index.similar(1)


def test_every_key_counts_all_rows(database: dbsim.Database) -> None:
    """get_counts, and get_subset_counts as a join."""
    index = sets(database, {1: "a", 2: "b", 3: "a"})
    counts = fetch(database.engine, "SELECT key_number, sum(size) FROM dbsim_articles_buckets GROUP BY key_number")
    assert sorted((int(number), int(size)) for number, size in counts) == [(n, 3) for n in range(index.options.keys)]
    subset = "SELECT k0, count(*) FROM dbsim_articles WHERE id IN (1, 3) GROUP BY k0"
    assert [size for _, size in fetch(database.engine, subset)] == [2]


def test_keys_of_one_length_however_many_there_are(database: dbsim.Database) -> None:
    """_H and unpacking: a key is a 64-bit column, and an index has at most 64 of them."""
    index = sets(database, {1: "abcdefg 1234567"}, rows=4, keys=64)
    assert keys(index.search("1234567 abcdefg")) == [1]
    with pytest.raises(InvalidOption, match="65 keys are not possible: use 1 to 64"):
        database.create_index("many", table="articles", columns="body", rows=4, keys=65)


def test_a_higher_recall_takes_more_keys_of_fewer_rows(database: dbsim.Database) -> None:
    """init: weights of false positives and negatives are `recall` here."""
    articles(database.engine, {1: "a"})
    plans = []
    for name, recall in (("usual", 0.9), ("careful", 0.99)):
        index = database.create_index(name, table="articles", columns="body", threshold=0.8, recall=recall)
        plans.append(index.options.plan)
    assert plans[0].rows > plans[1].rows


def test_two_tables_merged_are_one_table(database: dbsim.Database) -> None:
    """merge: rows are inserted; a key that is there already is refused by the table itself."""
    index = sets(database, {1: "a", 2: "b"})
    add(database.engine, {3: "c", 4: "d"})
    index.sync()
    assert [keys(index.search(letter)) for letter in "abcd"] == [[1], [2], [3], [4]]
    with pytest.raises(Exception, match=r"(?i)unique"), database.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles VALUES (1, 'e')"))


def test_what_is_stored_survives_and_has_no_pickle_in_it(database: dbsim.Database) -> None:
    """pickle: another process opens the same database instead; results themselves can be pickled."""
    index = sets(database, {1: "a b c", 2: "d"})
    found = index.search("a b c")
    assert keys(pickle.loads(pickle.dumps(list(found)))) == [1]
    again = database.index("articles")
    assert keys(again.search("a b c")) == [1]
    assert [(hit.key, hit.score) for hit in again.search("a b c")] == [(hit.key, hit.score) for hit in found]


def test_a_forest_has_every_set_among_its_nearest(database: dbsim.Database) -> None:
    """The forest's own cases: three letters in a row, top ten, added before and after the first filling."""
    rows: dict[int, str | None] = {n: " ".join(LETTERS[n : n + 3]) for n in range(20)}
    index = sets(database, rows, family="forest")
    add(database.engine, {n: " ".join(LETTERS[n : n + 3]) for n in range(20, 24)})
    index.sync()
    for number in range(24):
        assert keys(index.search(" ".join(LETTERS[number : number + 3]), limit=10))[0] == number


def test_weights_belong_to_fields_and_counts_to_other_families(database: dbsim.Database) -> None:
    """Weighted MinHash: a vector of counts finds itself by a family with such a measure; null vectors by none."""
    rows: dict[int, str | None] = {
        1: "a b b b " * 10,
        2: "a a a b " * 10,
        3: "c d d e " * 10,
        4: "e e f g " * 10,
        5: "",
    }
    index = sets(database, rows, family="cauchy", threshold=0.9)
    for number in range(1, 5):
        assert keys(index.search(rows[number] or ""))[0] == number
    assert keys(index.search("")) == []


def test_a_contained_set_is_no_near_duplicate(database: dbsim.Database) -> None:
    """LSH Ensemble: containment is another measure; `contains` answers it for words, not for a share of them."""
    rows: dict[int, str | None] = {n: " ".join(f"w{i}" for i in range(n)) for n in (2, 10, 40)}
    index = sets(database, rows, false_drops=0.001)
    assert keys(index.search("w0 w1")) == [2]
    assert sorted(index.contains("w0", "w1")) == [2, 10, 40]
