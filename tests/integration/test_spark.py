"""Deduplication on Spark: the groups, scores and diameters of the databases and of bulk, on two executors."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dbsim
from dbsim import bulk
from dbsim.dedupe.kernels import buckets
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.graph import components as kernel_components
from dbsim.errors import InvalidOption, UnknownName
from tests.conftest import SECRET
from tests.engines_agree import LIMITS, groups_of, index_on, rows

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
Row = tuple[Any, ...]
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the driver and the executors leave their files."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def spark(logs: Path) -> Iterator[Any]:
    """Two executors in processes of their own, whose `python3` is not the driver's; a machine without Java skips."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        reason = "no Java: apt-get install openjdk-17-jre-headless"
        if os.environ.get("DBSIM_SPARK") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    import pyspark
    from pyspark.sql import SparkSession

    events = logs / "events"
    events.mkdir()
    settings = {
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.local.dir": str(logs / "local"),
        # a few thousand rows: compiling Java for them takes longer than the work
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("dbsim")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("INFO")
    # where the workers of such a cluster keep their files cannot be chosen
    work = Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId
    (logs / "work").symlink_to(work)
    yield session
    end(session)
    shutil.rmtree(work, ignore_errors=True)


def end(session: Any) -> None:
    """Stops Java, too, and lets go of its sockets here: found later, they would be warnings of other tests."""
    from pyspark import SparkContext

    gateway = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # Java ends with its standard input
    gateway.proc.wait(30)
    SparkContext._gateway = SparkContext._jvm = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        del session, gateway
        gc.collect()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dbsim.Index]:
    """On SQLite; test_bulk proves that PostgreSQL and bulk give the same groups of these rows."""
    with dbsim.open(tmp_path_factory.mktemp("db") / "a.db", create=True) as database:
        database.upgrade()
        yield index_on(database, rows(), threshold=0.6)


def frame(spark: Any, found: list[Row], schema: str = "id long, body string") -> Any:
    return spark.createDataFrame(found, schema).repartition(3)


def as_rows(found: Any, key: str = "id") -> list[Row]:
    return sorted(tuple(row) for row in found.select(key, f"representative_{key}", "score", "diameter").collect())


def test_groups_scores_and_diameters_equal_the_databases(
    spark: Any, index: dbsim.Index, logs: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a bucket over the limit, copies, and rows without words; then nothing anywhere tells the secret."""
    from dbsim.spark import duplicates

    with caplog.at_level(logging.INFO):
        found = duplicates(frame(spark, rows()), key="id", options=index.options, secret=SECRET, limits=LIMITS)
    assert found.columns == ["id", "group_id", "score", "diameter", "representative_id"]
    expected = groups_of(index)
    assert len(expected) > 1000
    assert as_rows(found) == expected
    assert "more than 60 contents" in caplog.text
    found.explain("extended")
    plan = found._jdf.queryExecution().toString()
    events = [path for path in (logs / "events").rglob("*") if path.is_file()]
    told = [*(logs / "work").glob("*/stderr"), *(logs / "work").glob("*/stdout")]
    assert len(events) >= 1
    assert len(told) >= 4  # of two executors
    seen = b"".join(path.read_bytes() for path in (*events, *told))
    seen += (caplog.text + plan + str(capfd.readouterr())).encode()
    assert b"mapInArrow" in seen or b"MapInArrow" in seen
    for shown in (SECRET, SECRET.hex().encode(), repr(SECRET)[2:-1].encode()):
        assert shown not in seen


@pytest.mark.long
def test_the_driver_chooses_python_limits_and_names(spark: Any) -> None:
    """Composite keys with names of ours, a limit by cost, fields of weight, exact groups; equal to bulk."""
    from dbsim.spark import duplicates
    from dbsim.spark.functions import Work

    assert spark.sparkContext.pythonExec != sys.executable, "so that the test can tell"
    found = [(number % 3, f"k{number:05d}", text, (text or "")[:40]) for number, text in rows(400)]
    table = pa.table(dict(zip(("f", "keys", "group_id", "k0"), zip(*found, strict=True), strict=True)))
    how = {"key": ["f", "keys"], "columns": {"group_id": 0.7, "k0": 0.3}, "threshold": 0.4, "by": "complete"}
    df = spark.createDataFrame(found, "f long, keys string, group_id string, k0 string")
    expected = bulk.duplicates(table, **how).to_table()
    made = duplicates(df, **how)
    assert made.columns == expected.column_names
    order = [("f", "ascending"), ("keys", "ascending")]
    assert [row.asDict() for row in made.orderBy("f", "keys").collect()] == expected.sort_by(order).to_pylist()
    assert len(expected) > 20
    assert Work  # it travelled to the executors, whose Python therefore has dbsim


@pytest.mark.long
def test_what_is_too_much_for_the_driver_is_joined(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the largest bucket follows from the cost, with buckets over the least that are cut for it; equal to bulk."""
    from dbsim.spark import candidates, duplicates, run

    for module, name, value in ((buckets, "FREE", 2000), (buckets, "BUDGET", 1), (run, "FEW", -1)):
        monkeypatch.setattr(module, name, value)
    for module in (buckets, candidates):
        monkeypatch.setattr(module, "FEWEST", 12)
    looked, cut = [], candidates.Candidates._finer
    monkeypatch.setattr(candidates.Candidates, "_finer", lambda *a, **how: looked.append(how) or cut(*a, **how))
    found = rows(1600)
    table = pa.table(dict(zip(("id", "body"), zip(*found, strict=True), strict=True)))
    expected = bulk.duplicates(table, key="id", columns="body", threshold=0.6).to_table()
    made = duplicates(frame(spark, found), key="id", columns="body", threshold=0.6)
    assert [row.asDict() for row in made.orderBy("id").collect()] == expected.sort_by("id").to_pylist()
    assert len(expected) > 100
    assert looked == [{"paired": False}, {}], "the sizes first, then the pairs"


@pytest.mark.long
def test_components_of_any_graph(spark: Any) -> None:
    """A long path, a star, separate pairs: as the kernel finds them."""
    import numpy as np

    from dbsim.spark.components import components

    rng = np.random.default_rng(5)
    path = np.stack([np.arange(60), np.arange(1, 61)], axis=1)
    other = rng.integers(100, 160, (40, 2))
    edges = np.unique(np.concatenate([rng.permutation(61)[path], other[other[:, 0] != other[:, 1]]]), axis=0)
    df = spark.createDataFrame([tuple(map(int, edge)) for edge in edges], "a long, b long")
    found, joined = ({row.node: row.label for row in components(df, few).collect()} for few in (len(edges), 0))
    assert found == joined
    labels = kernel_components(Graph(160, edges[:, 0], edges[:, 1], np.ones(len(edges))))
    assert found == {int(node): int(labels[node]) for node in np.unique(edges)}


def test_what_cannot_be_compared_is_refused(spark: Any) -> None:
    from dbsim.spark import duplicates

    df = spark.createDataFrame([(1, "a")], "id long, body string")
    with pytest.raises(UnknownName, match=r"'bodi'.*'body'"):
        duplicates(df, key="id", columns="bodi")
    with pytest.raises(InvalidOption, match="no grouping"):
        duplicates(df, key="id", columns="body", by="tihgt")
    empty = duplicates(df.where("id > 1"), key="id", columns="body")
    assert empty.collect() == []
