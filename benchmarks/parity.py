"""Every document of every corpus signed in Python and in PostgreSQL: documents compared, differences 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, Target, console
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.options import Field

PARTS = ("debian", "newsgroups", "howto", "rfc")
LONGEST = 1_000_000  # characters: an inline trigger leaves longer texts to the queue
BATCH = 200
BATCH_CHARACTERS = 2_000_000
FIELDS = (
    Field(columns=("body",), unit="words", size=3, bits=1024, weight=0.7),
    Field(columns=("title",), unit="characters", size=3, bits=256, sample=2, weight=0.3, normaliser="german"),
)
TITLE = 80  # characters of a text that serve as its title


@dataclass(frozen=True)
class Sizes:
    """Documents of each corpus."""

    documents: int | None


SIZES = {"small": Sizes(100), "medium": Sizes(2_000), "full": Sizes(None)}
# every data-independent family
FAMILIES: dict[str, dict[str, int]] = {
    "minhash": {"rows": 6, "keys": 12},
    "rabin-minhash": {"rows": 1, "keys": 12},
    "bitsampling": {"rows": 40, "keys": 12},
    "fuzzy:expected=english": {},
}


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("parity", asdict(sizes))
    with server.postgres() as url, server.empty("postgresql", url) as database:
        report.versions |= server.server_versions(url)
        indexes = create(database)
        for part in parts:
            console.print(part)
            compare(report, database, indexes, part, sizes)
    return report


def create(database: dbsim.Database) -> list[dbsim.Index]:
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE documents (id bigint PRIMARY KEY, body text, title text)")
    return [
        database.create_index(
            f"p{number}", table="documents", fields=FIELDS, family=family, secret=server.SECRET, **plan
        )
        for number, (family, plan) in enumerate(FAMILIES.items())
    ]


def compare(report: Report, database: dbsim.Database, indexes: list[dbsim.Index], corpus: str, sizes: Sizes) -> None:
    compared, skipped = 0, 0
    differing = dict.fromkeys(FAMILIES, 0)
    for texts, long in batches(corpus, sizes.documents):
        skipped += long
        compared += len(texts)
        for family, index in zip(FAMILIES, indexes, strict=True):
            differing[family] += differences(database, index, texts)
    for family, count in differing.items():
        report.add(
            f"{corpus}, {family}: texts signed otherwise",
            count,
            "",
            target=Target("≤", 0, "value"),
            note=f"{compared:,} documents compared, {skipped} longer than {LONGEST:,} characters left out",
        )


def batches(corpus: str, limit: int | None) -> Iterator[tuple[list[str], int]]:
    """(texts, how many were too long), some 2 MB at a time; PostgreSQL has no NUL."""
    batch: list[str] = []
    size = long = 0
    for record in islice(corpora.records(corpus), limit):
        text = record["text"].replace("\0", "")
        if len(text) > LONGEST:
            long += 1
            continue
        batch.append(text)
        size += len(text)
        if len(batch) == BATCH or size > BATCH_CHARACTERS:
            yield batch, long
            batch, size, long = [], 0, 0
    yield batch, long


def differences(database: dbsim.Database, index: dbsim.Index, texts: list[str]) -> int:
    titles = [text[:TITLE] for text in texts]
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            f"SELECT (s).* FROM (SELECT dbsim_{index.name}_sign(t.body, t.title) AS s, t.n "
            "FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS t (body, title, n) OFFSET 0) AS signed ORDER BY n",
            (texts, titles),
        ).all()
    signer = index.options.signer(server.SECRET)
    if isinstance(signer.family, Fuzzy):
        signer.model = signer.family.division()
    expected = signer.sign([texts, titles]).as_tuples()
    return sum(tuple(row)[1:] != _as_stored(one) for row, one in zip(rows, expected, strict=True))


def _as_stored(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        f"{int.from_bytes(value):0{8 * len(value)}b}" if isinstance(value, bytes) else value for value in values
    )


if __name__ == "__main__":
    from benchmarks.__main__ import alone

    alone("parity")
