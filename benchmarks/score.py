"""How far the score is from the exact Jaccard similarity over real pairs of texts, beside MinHash on the same pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from datasketch import MinHash

from benchmarks import corpora, server
from benchmarks.report import Report, Target, console
from dbsim.hashing.bloom import ESTIMATORS, Filters
from dbsim.hashing.signer import Signer

VALUES = 128
Pair = tuple[str, str]


@dataclass(frozen=True)
class Sizes:
    """Pairs of each corpus at most."""

    pairs: int


SIZES = {"small": Sizes(60), "medium": Sizes(500), "full": Sizes(1_000_000)}
PARTS = ("howto", "debian")


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("score", asdict(sizes))
    for name in parts:
        pairs = list(howto() if name == "howto" else debian())
        measure(report, name, pairs[:: max(len(pairs) // sizes.pairs, 1)][: sizes.pairs])
    return report


def howto() -> Iterator[Pair]:
    """Consecutive revisions of a document."""
    before = {"doc": None, "text": ""}
    for record in corpora.records("howto"):
        if record["doc"] == before["doc"]:
            yield before["text"], record["text"]
        before = record


def debian() -> Iterator[Pair]:
    """The description of a package in two releases, where it is not the same."""
    first: dict[str, tuple[str, str]] = {}
    for record in corpora.records("debian"):
        suite, text = first.setdefault(record["package"], (record["suite"], record["text"]))
        if suite != record["suite"] and text != record["text"]:
            yield text, record["text"]


def measure(report: Report, name: str, pairs: Sequence[Pair]) -> None:
    """Pairs with equal features are left out: every method reads 1 for them, which would flatter the mean."""
    console.print(f"{name}: {len(pairs)} pairs")
    signer, bits, sample = _signer_for(name, pairs)
    exact = np.array([_exact(signer, pair) for pair in pairs])
    kept = [pair for pair, similarity in zip(pairs, exact, strict=True) if similarity < 1]
    exact = exact[exact < 1]
    signed = signer.sign([[text for pair in kept for text in pair]]).filters[0]
    minhash = _error(exact, [_minhash(signer, pair) for pair in kept])
    note = f"{len(kept)} pairs that differ, mean J {exact.mean():.3f}; {bits} bits" + (f", 1/{sample}" * (sample > 1))
    for estimator in ESTIMATORS:
        estimated = _estimates(signed, bits, estimator)
        report.add(
            f"mean |Ĵ − J|, {name}, {estimator}",
            _error(exact, estimated),
            "",
            peer=f"MinHash-{VALUES}",
            peer_value=minhash,
            target=Target("≤", 0.02, "value") if estimator == "cardinality" else None,
            note=note + f"; bias {float(np.mean(np.array(estimated) - exact)):+.4f}",
        )


def _signer_for(name: str, pairs: Sequence[Pair]) -> tuple[Signer, int, int]:
    """Shingle size and filter as an index on a table of these texts chooses them."""
    with server.empty("sqlite", "") as database:
        server.load(database, name, enumerate((text for pair in pairs for text in pair), 1))
        options = database.create_index(name, table=name, columns=["body"], secret=server.SECRET).options
    return options.signer(server.SECRET), options.fields[0].bits, options.fields[0].sample


def _exact(signer: Signer, pair: Pair) -> float:
    features = signer.features(0, pair)
    a, b = features.of(0), features.of(1)
    return len(a & b) / len(a | b) if a or b else 1.0


def _minhash(signer: Signer, pair: Pair) -> float:
    """Of the same features, so that only the sketch differs."""
    features = signer.features(0, pair)
    one, other = (MinHash(num_perm=VALUES) for _ in pair)
    one.update_batch([feature.to_bytes(8) for feature in features.of(0)])
    other.update_batch([feature.to_bytes(8) for feature in features.of(1)])
    return one.jaccard(other)


def _estimates(filters: Filters, bits: int, estimator: str) -> list[float]:
    both = np.bitwise_count(filters.bits[0::2] & filters.bits[1::2]).sum(axis=1)
    counts = zip(filters.counts[0::2].tolist(), filters.counts[1::2].tolist(), both.tolist(), strict=True)
    return [ESTIMATORS[estimator](a, b, common, bits) for a, b, common in counts]


def _error(exact: np.ndarray, estimated: Sequence[float]) -> float:
    return float(np.abs(np.array(estimated) - exact).mean())
