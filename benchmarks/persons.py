"""Records of persons with guessed kinds, no labels: candidates, probabilities, truth → F1, precision, recall of keys.

Five public sets and a generated register; kinds, keys and model as `create --records` and the first sync make them.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import (
    anonlink_persons,
    corpora,
    households,
    other_registers,
    person_doors,
    person_groups,
    register,
    server,
    splink_persons,
)
from benchmarks.report import Report, Target, console, installed
from dbsim.hashing.documents import Documents
from dbsim.hashing.keys import Plan
from dbsim.hashing.records.candidates import candidate_pairs
from dbsim.hashing.records.family import Records
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.levels import Rows
from dbsim.hashing.records.probability import probability
from dbsim.hashing.records.scheme import plan
from dbsim.hashing.signer import FieldPlan, Signer
from dbsim.lifecycle.records import BITS, LOOKED_AT, PLANNED_ON, family_of
from dbsim.text.features import Analyser
from dbsim.text.kinds.guess import guess
from dbsim.text.kinds.registry import kind_of

REPORTED, SURE = 0.5, 0.9  # probabilities from which a pair counts, and from which one acts without a look
PLAN = Plan(1, 1)  # Records ignores it: its keys follow from the scheme
CHUNK = 2_000_000  # pairs scored at once
FILES = {"febrl4": ("febrl4a", "febrl4b")}  # two registers: only pairs between them count
LABELS = ("rec_id", "unique_id", "cluster", "entity_id")  # the truth, or as good as
TOO_EASY = ("soc_sec_id",)  # unharmed in nearly all copies
F1 = {"febrl1": 0.995, "febrl3": 0.995, "febrl4": 0.998, "fake1000": 0.87, "RLdata500": 0.95}
RECALL = {"fake1000": 0.83}
RECALL_ELSE, PRECISION = 0.99, 0.98
CANDIDATES, CANDIDATES_GENERATED = 40, 50
GENERATED, FAMILIES = "generated", "households"
DATABASE = "database"  # the generated register in SQLite and in PostgreSQL: its first sync, and the door
OTHER_ROWS = 5_000  # of each register unlike the sets that bars are for
PARTS = (*F1, GENERATED, FAMILIES, DATABASE, *other_registers.REGISTERS)
SEED = 1


@dataclass(frozen=True)
class Sizes:
    """Rows of the generated register; the bars are for a million."""

    generated: int


SIZES = {"small": Sizes(2_000), "medium": Sizes(50_000), "full": Sizes(1_000_000)}


@dataclass(frozen=True)
class People:
    """Rows with their entity and the register they come from."""

    columns: dict[str, list[str]]
    entities: NDArray[np.int64]
    sources: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.entities)

    @cached_property
    def linked(self) -> bool:
        return bool(self.sources.any())

    @cached_property
    def pairs(self) -> int:
        """How many pairs of rows are one person: of two registers only those between them."""
        inside = sum(self._inside(self.entities[self.sources == s]) for s in np.unique(self.sources).tolist())
        every = self._inside(self.entities)
        return every - inside if self.linked else every

    @staticmethod
    def _inside(entities: NDArray[np.int64]) -> int:
        counts = np.unique(entities, return_counts=True)[1]
        return int((counts * (counts - 1) // 2).sum())


@dataclass(frozen=True)
class Found:
    """Candidate pairs with their probability and whether they are true; seconds of the stages."""

    pairs: tuple[NDArray[np.int64], NDArray[np.int64]]
    probability: NDArray[np.float64]
    score: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]  # of any pairs
    true: NDArray[np.bool_]
    people: People
    kinds: dict[str, str]
    keys: int
    seconds: dict[str, float]

    def scores(self, least: float) -> tuple[float, float, float]:
        """Precision, recall, F1 of the pairs from this probability on."""
        return scores(self.true[self.probability >= least], self.people)


def scores(true: NDArray[np.bool_], people: People) -> tuple[float, float, float]:
    """Of pairs that are said to be one person."""
    right = int(true.sum())
    precision, recall = right / max(len(true), 1), right / max(people.pairs, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    rates = {"seed": SEED, "duplicates": register.DUPLICATES, "household": register.HOUSEHOLD, "errors": register.RATES}
    report = Report("persons", asdict(sizes) | rates)
    for part in parts:
        if part == DATABASE:
            person_doors.measure(report, register.register(sizes.generated, SEED), full=size == "full")
            continue
        people = corpus(part) if part in F1 else made(part, sizes.generated)
        if people is None:
            console.print(f"{part}: not measured, the folder of corpora is not there")
            continue
        if part in other_registers.REGISTERS:
            unlike(report, part, people)
        else:
            measure(report, part, people, full=size == "full")
    return report


def unlike(report: Report, name: str, people: People) -> None:
    """A register unlike the public ones: one line, no bar."""
    found = find(people)
    (precision, recall, f1), (sure, kept, _) = found.scores(REPORTED), found.scores(SURE)
    note = f"precision {precision:.3f}, recall {recall:.3f}; p ≥ {SURE}: {sure:.3f}, {kept:.3f}"
    reached, candidates = found.true.sum() / max(people.pairs, 1), 2 * len(found.true) / len(people)
    note += f"; keys find {reached:.3f}, {candidates:.0f} candidates a row"
    report.add(f"unlike, {name}: F1 of pairs, p ≥ {REPORTED}", f1, "", note=note)


def measure(report: Report, name: str, people: People, full: bool) -> None:
    console.print(f"{name}: {len(people):,} rows, {people.pairs:,} true pairs")
    found = find(people)
    real = name not in (GENERATED, FAMILIES)
    precision, recall, f1 = found.scores(REPORTED)
    taken = sum(found.seconds.values())
    note = f"precision {precision:.4f}, recall {recall:.4f} in {taken:.1f} s without the pairs"
    if real and not installed("splink"):
        note += "; splink is not installed"
    report.add(f"{name}: F1 of pairs, p ≥ {REPORTED}", f1, "", target=_least(F1.get(name)), note=note)
    if real and installed("splink"):
        splink(report, name, people, found, f1)
    if name in FILES and installed("anonlink"):
        _anonlink(report, name, people, found, f1)
    sure, kept, _ = found.scores(SURE)
    report.add(
        f"{name}: precision, p ≥ {SURE}",
        sure,
        "",
        target=_least(PRECISION),
        note=f"recall {kept:.4f}",
    )
    person_groups.measure(report, name, found.pairs, found.probability, found.score, people.entities, REPORTED)
    least = _least(RECALL.get(name, RECALL_ELSE)) if real or full else None
    most = Target("≤", CANDIDATES if real else CANDIDATES_GENERATED, "value") if real or full else None
    report.add(f"{name}: recall of the keys", found.true.sum() / max(people.pairs, 1), "", target=least)
    report.add(
        f"{name}: candidates a row", 2 * len(found.true) / len(people), "", target=most, note=f"{found.keys} keys"
    )
    report.add(
        f"{name}: signing and keys",
        len(people) / found.seconds["sign"],
        "rows/s",
        note=f"no database; plan {found.seconds['plan']:.1f} s, fit {found.seconds['fit']:.1f} s",
    )


def splink(report: Report, name: str, people: People, found: Found, f1: float) -> None:
    """Splink's F1 in each style, and what it took."""
    for style in splink_persons.STYLES:
        start = time.perf_counter()
        pairs = splink_persons.found(people.columns, found.kinds, people.sources, REPORTED, style)
        precision, recall, theirs = scores(people.entities[pairs[0]] == people.entities[pairs[1]], people)
        note = f"precision {precision:.4f}, recall {recall:.4f} in {time.perf_counter() - start:.1f} s"
        report.add(f"{name}: F1 beside Splink", f1, "", note=note, peer=style, peer_value=theirs)


def _anonlink(report: Report, name: str, people: People, found: Found, f1: float) -> None:
    start = time.perf_counter()
    pairs = anonlink_persons.found({column: people.columns[column] for column in found.kinds}, people.sources)
    precision, recall, theirs = scores(people.entities[pairs[0]] == people.entities[pairs[1]], people)
    note = f"precision {precision:.4f}, recall {recall:.4f} in {time.perf_counter() - start:.1f} s"
    report.add(f"{name}: F1 beside anonlink", f1, "", note=note, peer=anonlink_persons.NAME, peer_value=theirs)


def _least(number: float | None) -> Target | None:
    return None if number is None else Target("≥", number, "value")


# ── as an index does it ──
def find(people: People) -> Found:
    start = time.perf_counter()
    guesses = guess({name: values[:LOOKED_AT] for name, values in people.columns.items()})
    for one in guesses:
        console.print(f"  {one}")
    kinds = {one.column: kind_of(one.kind) for one in guesses if one.kind}
    analysers = [Analyser(normaliser=kind.normaliser, unit=kind.unit, size=kind.size) for kind in kinds.values()]
    signer = Signer([FieldPlan(one, 1.0, BITS) for one in analysers], "minhash@1", PLAN, server.SECRET)
    columns = [people.columns[name] for name in kinds]
    family = family_of(guesses)
    sample = np.random.default_rng(SEED).permutation(len(people))
    some = signer.documents(_rows(columns, sample[:PLANNED_ON]))
    family = replace(family, scheme=str(plan(family.atoms(some), len(people), family.crossed)))
    planned = time.perf_counter()
    some = replace(signer.documents(_rows(columns, sample[: family.sample])), drawn_from=len(people))
    learned = family.learned(family.fit(some, PLAN))
    fitted = time.perf_counter()
    documents = signer.documents(columns)
    keys = family.keys(documents, PLAN, {})
    signed = time.perf_counter()
    a, b = candidate_pairs(keys)
    if people.linked:
        between = people.sources[a] != people.sources[b]
        a, b = a[between], b[between]

    def score(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.concatenate([np.empty(0), *_probabilities(documents, learned, family, a, b)])

    taken = {"plan": planned - start, "fit": fitted - planned, "sign": signed - fitted}
    named = {name: kind.name for name, kind in kinds.items()}
    true = people.entities[a] == people.entities[b]
    return Found((a, b), score(a, b), score, true, people, named, keys.shape[1], taken)


def _probabilities(
    documents: Documents, learned: Learned, family: Records, a: NDArray[np.int64], b: NDArray[np.int64]
) -> Iterator[NDArray[np.float64]]:
    rows = Rows.of([field.filters for field in documents.fields])
    added = learned.rarities(family.atoms(documents))
    for start in range(0, len(a), CHUNK):
        some = slice(start, start + CHUNK)
        yield probability(learned.score(rows, rows, a[some], b[some], (added, added)))


def _rows(columns: Sequence[Sequence[str]], places: NDArray[np.int64]) -> list[list[str]]:
    chosen = places.tolist()
    return [[column[place] for place in chosen] for column in columns]


# ── where the rows come from ──
def made(part: str, rows: int) -> People:
    """A generated register; of families at most 50,000 rows, which take minutes to make."""
    if part in other_registers.REGISTERS:
        return people_of(other_registers.made(part, min(rows, OTHER_ROWS)))
    if part == GENERATED:
        return people_of(register.register(rows, SEED))
    return people_of(households.households(min(rows, 50_000), SEED))


def people_of(made: register.Register) -> People:
    columns = dict(zip(made.columns, map(list, zip(*made.rows, strict=True)), strict=True))
    return People(columns, made.entities, np.zeros(len(made.rows), np.int64))


def corpus(name: str) -> People | None:
    """One of the sets in the folder `persons` of the corpora."""
    folder = corpora.folder()
    if folder is None or not (folder / "persons").is_dir():
        return None
    rows: list[dict[str, str]] = []
    sources: list[int] = []
    for source, file in enumerate(FILES.get(name, (name,))):
        found = list(_records(folder / "persons" / f"{file}.csv"))
        rows += found
        sources += [source] * len(found)
    entities = np.unique([_entity(row) for row in rows], return_inverse=True)[1]
    names = [column for column in rows[0] if column not in (*LABELS, *TOO_EASY)]
    return People({column: [row[column] for row in rows] for column in names}, entities, np.array(sources))


def _records(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, skipinitialspace=True):
            yield {name.strip(): (value or "").strip() for name, value in row.items()}


def _entity(row: dict[str, str]) -> str:
    """rec-223-dup-0 is person 223."""
    return row["rec_id"].split("-")[1] if "rec_id" in row else row.get("cluster") or row["entity_id"]
