"""Deduplication without a database: the same groups, scores and diameters as the databases', from files and batches."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import dbsim
from dbsim import bulk
from dbsim.dedupe.kernels.grouping.registry import METHODS
from dbsim.errors import DbsimError, InvalidOption, UnknownName
from tests.conftest import SECRET
from tests.engines_agree import LIMITS, groups_of, index_on, rows
from tests.fixtures.shell import Command

Row = tuple[Any, ...]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """In another order than that of the key."""
    found = rows()
    random.Random(3).shuffle(found)
    keys, texts = zip(*found, strict=True)
    return pa.table({"id": pa.array(keys, pa.int64()), "body": pa.array(texts, pa.string())})


def as_rows(found: Any) -> list[Row]:
    table = found.to_table()
    names = ("id", "representative_id", "score", "diameter")
    return sorted(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_groups_and_pairs_equal_the_databases(
    database: dbsim.Database, table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbsim.bulk.signing.WORTH", 1000)
    index = index_on(database, rows(), threshold=0.6)
    expected = groups_of(index)
    assert len(expected) > 1000
    found = {workers: run(bulk.duplicates, table, index, workers=workers) for workers in (1, 2, 3)}
    for groups in found.values():
        assert as_rows(groups) == expected
        assert groups.limited == index.duplicates(limits=LIMITS).limited
        assert groups.limited.buckets > 0
        assert len(groups) == len(index.duplicates(limits=LIMITS))
    pairs = run(bulk.pairs, table.sort_by("id"), index).to_table().to_pylist()
    listed = index.pairs(limits=LIMITS, copies="first")
    assert pairs == [{"a": pair.a, "b": pair.b, "score": pair.score} for pair in listed]


@pytest.mark.parametrize("by", METHODS)
def test_every_grouping(database: dbsim.Database, by: str) -> None:
    found = rows(600)
    index = index_on(database, found, threshold=0.5)
    table = pa.table({"id": [key for key, _ in found], "body": [text for _, text in found]})
    for how in ({"by": by, "threshold": 0.6}, {"by": by, "verify": True}):
        assert as_rows(run(bulk.duplicates, table, index, workers=1, **how)) == groups_of(index, **how)


def run(verb: Any, source: Any, index: dbsim.Index, **how: Any) -> Any:
    return verb(source, key="id", options=index.options, secret=SECRET, limits=LIMITS, **how)


def test_every_format_gives_the_same(table: pa.Table, tmp_path: Path) -> None:
    table = table.slice(0, 800)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    pa.csv.write_csv(table, tmp_path / "rows.csv")
    lines = [json.dumps(row) for row in table.to_pylist()]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), "utf-8")
    expected = as_rows(bulk.duplicates(table, key="id", columns="body"))
    assert expected
    for name in ("rows.parquet", "rows.csv", "rows.jsonl"):
        assert as_rows(bulk.duplicates(tmp_path / name, key="id", columns="body")) == expected
    parts = table.to_batches(max_chunksize=77)
    assert as_rows(bulk.duplicates(iter(parts), key="id", columns="body")) == expected
    assert as_rows(bulk.duplicates([tmp_path / "rows.parquet"], key="id", columns="body")) == expected


def test_dedupe_gives_out_the_rows_that_stay(table: pa.Table, tmp_path: Path) -> None:
    table = table.append_column("lang", pa.array(["en"] * len(table)))
    groups = bulk.duplicates(table, key="id", columns="body")
    kept = bulk.dedupe(table, key="id", columns="body")
    gone = {row[0] for row in as_rows(groups) if row[0] != row[1]}
    assert gone
    expected = table.filter(pc.invert(pc.is_in(table.column("id"), pa.array(sorted(gone)))))
    assert kept.to_table().to_pylist() == expected.to_pylist()
    assert (len(kept), kept.removed) == (len(expected), len(gone))
    assert kept.write(tmp_path / "kept.parquet") == len(expected)
    assert pq.read_table(tmp_path / "kept.parquet").to_pylist() == expected.to_pylist()
    with pytest.raises(InvalidOption, match="read twice"):
        bulk.dedupe(iter(table.to_batches()), columns="body")


def test_any_key(table: pa.Table) -> None:
    """Composite and text keys in the order of their values; none: the number of the row."""
    table = table.slice(0, 500)
    ids = table.column("id").to_pylist()
    expected = as_rows(bulk.duplicates(table, key="id", columns="body"))
    two = table.append_column("part", pa.array([str(number % 7) for number in ids]))
    found = as_rows(bulk.duplicates(two, key=["id", "part"], columns="body"))
    assert found == expected
    named = pa.table({"id": [f"{number:09d}" for number in ids], "body": table.column("body")})
    found = as_rows(bulk.duplicates(named, key="id", columns="body"))
    assert [(int(a), int(b), c, d) for a, b, c, d in found] == expected
    numbered = bulk.duplicates(table.sort_by("id"), columns="body").to_table()
    order = sorted(ids)
    rows_ = zip(numbered.column("row").to_pylist(), numbered.column("representative_row").to_pylist(), strict=True)
    assert sorted((order[a], order[b]) for a, b in rows_) == [(a, b) for a, b, *_ in expected]


def test_weighted_fields_and_odd_values(database: dbsim.Database) -> None:
    texts = [f"a title about {word} things" for word in ("red", "red", "green", "blue")]
    bodies = [text for _, text in rows(300) if text and len(text) > 50][:3]
    found = pa.table({"id": [4, 2, 3, 1], "title": texts, "body": [bodies[0], bodies[0] + " and", bodies[1], None]})
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        values = [tuple(row.values()) for row in found.to_pylist()]
        connection.exec_driver_sql(f"INSERT INTO t VALUES ({mark}, {mark}, {mark})", values)
    index = database.create_index("t", table="t", columns={"title": 0.3, "body": 0.7}, threshold=0.2, secret=SECRET)
    index.sync()
    groups = bulk.duplicates(found, key="id", options=index.options, secret=SECRET)
    assert as_rows(groups) == [
        (h.key, g.representative, h.score, g.diameter) for g in index.duplicates() for h in g.members
    ]
    nothing = bulk.duplicates(found.slice(0, 0), key="id", columns="body")
    assert (len(nothing), nothing.to_table().num_rows) == (0, 0)
    broken = pa.array(
        [b"same words here again and again", b"\xff\xfe", b"same words here again and again"], pa.binary()
    )
    unreadable = pa.table({"id": [1, None, 3], "body": pa.array(broken.cast(pa.binary()).view(pa.string()))})
    assert [row[:2] for row in as_rows(bulk.duplicates(unreadable, key="id", columns="body"))] == [(1, 1), (3, 1)]


def test_refusals_are_one_sentence(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(UnknownName, match="did you mean 'body'"):
        bulk.duplicates(table, key="id", columns="bodi")
    with pytest.raises(UnknownName, match="no file"):
        bulk.duplicates(tmp_path / "none.parquet", columns="body")
    (tmp_path / "rows.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(InvalidOption, match=r"rows.parquet cannot be read"):
        bulk.duplicates(tmp_path / "rows.parquet", columns="body")
    with pytest.raises(InvalidOption, match="none of"):
        bulk.duplicates(table, columns="body").write(tmp_path / "groups.xml")
    with pytest.raises(InvalidOption, match="holds no text"):
        bulk.duplicates(pa.table({"body": [b"x"]}), columns="body")
    fields = (dbsim.Field(columns=("body",)),)
    options = dbsim.IndexOptions(name="x", table="x", fields=fields, family="hyperplane")
    with pytest.raises(InvalidOption, match="learns"):
        bulk.duplicates(table, options=options)


def test_from_the_shell(
    database: dbsim.Database,
    table: pa.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = Command(monkeypatch, capsys)
    groups = index_on(database, rows(), threshold=0.6).duplicates()
    expected = sorted((hit.key, g.representative, hit.score, g.diameter) for g in groups for hit in g.members)
    pq.write_table(table, tmp_path / "rows.parquet")
    out, kept = tmp_path / "groups.parquet", tmp_path / "kept.csv"
    rest = (str(tmp_path / "rows.parquet"), "--key", "id")
    url = database.engine.url.render_as_string(hide_password=False)
    assert command("bulk", "duplicates", *rest, "--options-from", url, "articles", "--out", str(out))[0] == 0
    found = pq.read_table(out)
    names = ("id", "representative_id", "score", "diameter")
    assert sorted(zip(*(found.column(name).to_pylist() for name in names), strict=True)) == expected
    code, printed, _ = command("bulk", "pairs", *rest, "--column", "body", "--json")
    assert (code, json.loads(printed)[0].keys()) == (0, {"a", "b", "score"})
    code, _, said = command("bulk", "dedupe", *rest, "--column", "body", "--out", str(kept), "--workers", "1")
    assert (code, "near-duplicates are left out" in said) == (0, True)
    assert pa.csv.read_csv(kept, pa.csv.ReadOptions(), pa.csv.ParseOptions(newlines_in_values=True)).num_rows < len(
        table
    )
    code, _, said = command("bulk", "duplicates", *rest, "--column", "bodi")
    assert (code, "did you mean 'body'" in said) == (2, True)
    code, _, said = command("bulk", "duplicates", *rest)
    assert (code, "--options-from DB INDEX" in said) == (2, True)


NO_DATABASE = """
import sys, pyarrow as pa
from dbsim import bulk
found = bulk.duplicates(pa.table({"body": ["the same few words once more"] * 2}), columns="body")
assert found.rows == 2
print([name for name in sys.modules if name.split(".")[0] in ("sqlalchemy", "psycopg", "alembic", "click")])
"""


def test_no_database_library_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", NO_DATABASE], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"


# a script without `if __name__ == "__main__"`, as people write them
SCRIPT = """
import sys, time, pyarrow.parquet as pq
from dbsim import bulk
import dbsim.bulk.signing
dbsim.bulk.signing.WORTH = 100
def slow(stage, done, total):
    print(stage, done, flush=True)
    time.sleep(float(sys.argv[3]))
bulk.duplicates(sys.argv[1], key="id", columns="body", workers=2, progress=slow).write(sys.argv[2])
"""


def test_a_killed_run_leaves_nothing_and_can_be_repeated(table: pa.Table, tmp_path: Path) -> None:
    """Killed while it signs, compares and groups; its processes go with it."""
    source, out = tmp_path / "rows.parquet", tmp_path / "groups.parquet"
    pq.write_table(table, source, row_group_size=500)
    for stage in ("signing", "comparing", "grouping"):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(source), str(out), "0.05"], stdout=subprocess.PIPE, encoding="utf-8"
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(stage):
                break
        children = list(_children(process.pid)) if stage == "signing" else []
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert stage != "signing" or children
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [child for child in children if Path(f"/proc/{child}").exists()] == []
        assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    subprocess.run([sys.executable, "-c", SCRIPT, str(source), str(out), "0"], check=True, stdout=subprocess.DEVNULL)
    expected = bulk.duplicates(table, key="id", columns="body", workers=1).to_table()
    assert pq.read_table(out).equals(expected)


def _children(pid: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                yield int(folder.name)


def test_a_worker_that_dies_is_told(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.bulk.signing.WORTH", 100)

    def kill(stage: str, done: int, total: int) -> None:
        for child in _children(os.getpid()):
            if b"dbsim.crew" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(child, signal.SIGKILL)

    parts = table.to_batches(max_chunksize=200)
    with pytest.raises(DbsimError, match="worker process has ended"):
        bulk.duplicates(parts, columns="body", workers=2, progress=kill)
