"""The same persons through Splink: columns, kinds → pairs at a probability.

Twice, with one setting for all sets. As its quick start has it (docs/getting_started.md of
moj-analytical-services/splink at 027df91, "Simple Splink Model Example"): a comparison for each of first name, surname,
date of birth, city and e-mail, other columns compared as the city is; the rules first name with date of birth, surname;
trained on both names, then on the e-mail, where there is none on the date of birth. And with rules widened by hand to
every two columns that agree. Not tuned for any set: who knows Splink does better. Pairs count from 0.5 in both; it
keeps those from weight -5 and groups from 0.95.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUICK, WIDE = "Splink, as in its quick start", "Splink, untuned, every two fields equal as rules"
STYLES = (WIDE, QUICK)
PAIRS = 1_000_000  # drawn to learn how often fields agree by chance
ASSUMED_RECALL = 0.7  # of the deterministic rules, as in its tutorial


def found(
    columns: Mapping[str, Sequence[str]],
    kinds: Mapping[str, str],
    sources: NDArray[np.int64],
    least: float,
    style: str = WIDE,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers of the pairs it finds from this probability on."""
    safe = {name: f"field_{number}" for number, name in enumerate(kinds)}  # it cannot quote a column called "by"
    named = {safe[name]: columns[name] for name in kinds}
    linker = _linker(named, {safe[name]: kind for name, kind in kinds.items()}, sources, style)
    predicted = linker.inference.predict(threshold_match_probability=least).as_pandas_dataframe()
    return predicted["unique_id_l"].to_numpy(), predicted["unique_id_r"].to_numpy()


def _linker(
    columns: Mapping[str, Sequence[str]], kinds: Mapping[str, str], sources: NDArray[np.int64], style: str
) -> Any:
    import pandas as pd
    from splink import Linker, SettingsCreator
    from splink.backends.duckdb import DuckDBAPI
    from splink.blocking_rule_library import block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    data = pd.DataFrame({"unique_id": np.arange(len(sources)), **{name: list(columns[name]) for name in kinds}})
    data = data.replace("", None)
    database = DuckDBAPI()
    tables = [database.register(data[sources == source]) for source in np.unique(sources).tolist()]
    named = [name for name, kind in kinds.items() if kind == "name"] or list(kinds)
    of = {kind: [name for name, other in kinds.items() if other == kind] for kind in ("date", "digits", "email")}
    dated = of["date"][-1:] or of["digits"] or list(kinds)[-1:]  # a birth in three columns is all of them
    pairs = list(itertools.combinations(kinds, 2)) if style == WIDE else [(named[0], *dated), (named[-1],)]
    made = {name: _comparison(name, kind) for name, kind in kinds.items()}
    if style == QUICK:
        made = {name: _quick(name, kind, name == named[0], columns[name]) for name, kind in kinds.items()}
    settings = SettingsCreator(
        link_type="dedupe_only" if len(tables) == 1 else "link_only",
        comparisons=list(made.values()),
        blocking_rules_to_generate_predictions=[block_on(*dict.fromkeys(rule)) for rule in pairs],
    )
    linker = Linker(tables if len(tables) > 1 else tables[0], settings, log_level=logging.ERROR)
    sure = _deterministic(named, dated, of["email"]) if style == WIDE else [(named[0], named[-1])]
    linker.training.estimate_probability_two_random_records_match(
        [block_on(*dict.fromkeys(two)) for two in sure], recall=ASSUMED_RECALL
    )
    linker.training.estimate_u_using_random_sampling(max_pairs=PAIRS, seed=1)
    second = of["email"][:1] if style == QUICK and of["email"] else dated
    for columns_equal in ((named[0], named[-1]), tuple(second)):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(*dict.fromkeys(columns_equal)))
    return linker


def _quick(column: str, kind: str, given: bool, values: Sequence[str]) -> Any:
    """The comparisons of the quick start: first name, surname, date of birth, e-mail, and the city's for all others."""
    import splink.comparison_library as library

    if kind == "name":
        return library.NameComparison(column) if given else library.JaroAtThresholds(column)
    if kind == "email":
        return library.EmailComparison(column)
    if kind == "date":
        packed = sum(value.isdigit() for value in values) > len(values) / 2
        written = "%Y%m%d" if packed else "%Y-%m-%d"
        return library.DateOfBirthComparison(column, input_is_string=True, datetime_format=written)
    return library.ExactMatch(column).configure(term_frequency_adjustments=True)


def _deterministic(named: Sequence[str], dated: Sequence[str], mails: Sequence[str]) -> list[tuple[str, ...]]:
    """Rules that are nearly always right: a name with the date of birth, both names, the e-mail address."""
    return [(named[0], *dated), (named[-1], *dated), (named[0], named[-1]), *((name,) for name in mails)]


def _comparison(column: str, kind: str) -> Any:
    import splink.comparison_library as library

    if kind == "name":
        return library.NameComparison(column)
    if kind == "email":
        return library.EmailComparison(column)
    if kind in ("date", "digits", "phone"):
        return library.DamerauLevenshteinAtThresholds(column, [1, 2])
    return library.JaroWinklerAtThresholds(column, [0.9, 0.7]).configure(term_frequency_adjustments=True)
