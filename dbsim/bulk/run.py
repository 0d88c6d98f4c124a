"""Deduplicate rows outside a database: files or Arrow batches → Groups, FoundPairs, Kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypedDict, Unpack

import pyarrow as pa

from dbsim.bulk.finding import Finding
from dbsim.bulk.gathering import gather
from dbsim.bulk.reading import Origin, Rows, texts
from dbsim.bulk.results import FoundPairs, Groups, Kept
from dbsim.bulk.signing import Signing
from dbsim.choosing import resolve
from dbsim.crew import cores
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.errors import InvalidOption
from dbsim.options import IndexOptions, fields_from, require_positive
from dbsim.progress import Progress, quiet

SAMPLE = 1000  # rows from which the fields' open choices follow
SECRET = b"dbsim bulk"  # so that a run can be repeated; give one of your own where texts may be hostile


class Settings(TypedDict, total=False):
    """How rows are compared; all of it can be left out but `columns` or `options`."""

    key: str | Sequence[str] | None  # columns that tell rows apart; without any, their number does
    columns: str | Sequence[str] | Mapping[str, float] | None  # as for `Database.create_index`
    options: IndexOptions | None  # those of an index, instead of columns
    secret: bytes | None  # of that index; with both, its very groups, scores and diameters come out
    threshold: float | None  # the options' own by default
    verify: bool | None  # compare the texts: of all pairs, of none, or (None) where the estimate leaves it open
    limits: Limits | None
    workers: int | None  # processes; by default the cores, at most 4
    progress: Progress


def duplicates(source: Origin, *, by: str = "tight", **settings: Unpack[Settings]) -> Groups:
    """Groups of near-duplicate rows, as `Index.duplicates` finds them in a table with these rows.

    `source` is a path (.parquet, .csv, .tsv, .jsonl), a list of paths, a pyarrow Table or an iterable of record
    batches; see `Settings` for the rest.
    """
    return _run(source, _exact(by, settings)).groups(by)


def pairs(source: Origin, **settings: Unpack[Settings]) -> FoundPairs:
    """Pairs of near-duplicate rows, as `Index.pairs` finds them in a table with these rows."""
    return FoundPairs(_run(source, settings).finding())


def dedupe(source: Origin, *, by: str = "tight", **settings: Unpack[Settings]) -> Kept:
    """The rows that stay when of each group only the first by key is kept; the source is read a second time."""
    run = _run(source, _exact(by, settings))
    if not run.rows.repeatable:
        raise InvalidOption(
            "to give out the rows that stay, the source is read twice: give a file, a table or a list of record batches"
        )
    return Kept(run.rows, run.groups(by))


def _exact(by: str, settings: Settings) -> Settings:
    """Groups in which every two rows are alike are those of exact values."""
    return {**settings, "verify": True} if by == "complete" else settings


@dataclass(frozen=True)
class _Run:
    rows: Rows
    batches: Iterator[pa.RecordBatch]
    options: IndexOptions
    secret: bytes
    pairing: PairOptions
    workers: int
    progress: Progress

    def finding(self) -> Finding:
        signing = Signing(self.options, self.secret, self.rows.key)
        signed = signing.batches(self.batches, self.workers)
        gathered = gather(signed, self.rows.key_names, self.options, self.progress)
        return Finding(gathered, self.options.signer(self.secret), self.pairing, self.progress)

    def groups(self, by: str) -> Groups:
        options = GroupOptions(by=by, threshold=self.pairing.threshold)  # refused before anything is read
        finding = self.finding()
        return Groups(finding, finding.groups(options))


def _run(source: Origin, settings: Settings) -> _Run:
    require_positive(workers=settings.get("workers"))
    key, threshold = settings.get("key"), settings.get("threshold")
    asked = comparable(settings.get("options"), settings.get("columns"), threshold)
    pairing = PairOptions(
        threshold=asked.threshold if threshold is None else threshold,
        verify=False if asked.parted and settings.get("verify") is None else settings.get("verify"),
        limits=settings.get("limits") or Limits(),
    )
    rows = Rows(source, (key,) if isinstance(key, str) else tuple(key or ()), asked.columns)
    options, batches = _resolved(asked, rows.batches())
    secret, workers = settings.get("secret") or SECRET, settings.get("workers") or cores()
    return _Run(rows, batches, options, secret, pairing, workers, settings.get("progress", quiet))


def comparable(
    options: IndexOptions | None, columns: str | Sequence[str] | Mapping[str, float] | None, threshold: float | None
) -> IndexOptions:
    """The options given, or those that follow from the columns; without a database the family must compare sets."""
    if options is None:
        options = IndexOptions(name="bulk", table="bulk", fields=fields_from(columns, None), threshold=threshold or 0.7)
    elif columns is not None:
        raise InvalidOption(f"the options name the columns already ({', '.join(options.columns)}): leave columns out")
    options = options.with_plan()
    if options.hashing.learns or not options.hashing.estimated:
        raise InvalidOption(
            f"family {options.family!r} learns from its table or compares no sets: use minhash, or `dbsim duplicates`"
        )
    return options


def resolved(options: IndexOptions, samples: Sequence[Sequence[str]]) -> IndexOptions:
    """What is open about the fields follows from texts of each."""
    parts = zip(options.fields, samples, strict=True)
    fields = (resolve(field, [text for text in sample if text.strip()], options.threshold) for field, sample in parts)
    return replace(options, fields=tuple(fields))


def _resolved(options: IndexOptions, found: Iterator[pa.RecordBatch]) -> tuple[IndexOptions, Iterator[pa.RecordBatch]]:
    """What is open about the fields follows from the first rows."""
    if all(field.resolved for field in options.fields):
        return options, found
    looked: list[pa.RecordBatch] = []
    while sum(map(len, looked)) < SAMPLE and (batch := next(found, None)) is not None:
        looked.append(batch)
    samples: list[list[str]] = [[] for _ in options.fields]
    for batch in looked:
        for sample, column in zip(samples, texts(batch.slice(0, SAMPLE), options.fields), strict=True):
            sample += column
    return resolved(options, samples), chain(looked, found)
