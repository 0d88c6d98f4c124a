"""The same persons through Splink: columns, kinds → F1 of pairs at a probability.

One setting for all sets, as a user would start from the guessed kinds: Splink's own comparison for each kind, its
unsupervised training, and as rules every two columns that agree. Not tuned for any set: who knows Splink does better.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RULES = "Splink, untuned, every two fields equal as rules"
PAIRS = 1_000_000  # drawn to learn how often fields agree by chance
ASSUMED_RECALL = 0.7  # of the deterministic rules, as in its tutorial


def found(
    columns: Mapping[str, Sequence[str]], kinds: Mapping[str, str], sources: NDArray[np.int64], least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers of the pairs it finds from this probability on."""
    linker = _linker(columns, kinds, sources)
    predicted = linker.inference.predict(threshold_match_probability=least).as_pandas_dataframe()
    return predicted["unique_id_l"].to_numpy(), predicted["unique_id_r"].to_numpy()


def _linker(columns: Mapping[str, Sequence[str]], kinds: Mapping[str, str], sources: NDArray[np.int64]) -> Any:
    import pandas as pd
    from splink import Linker, SettingsCreator
    from splink.backends.duckdb import DuckDBAPI
    from splink.blocking_rule_library import block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    data = pd.DataFrame({"unique_id": np.arange(len(sources)), **{name: list(columns[name]) for name in kinds}})
    data = data.replace("", None)
    database = DuckDBAPI()
    tables = [database.register(data[sources == source]) for source in np.unique(sources).tolist()]
    rules = [block_on(*two) for two in itertools.combinations(kinds, 2)]
    settings = SettingsCreator(
        link_type="dedupe_only" if len(tables) == 1 else "link_only",
        comparisons=[_comparison(name, kind) for name, kind in kinds.items()],
        blocking_rules_to_generate_predictions=rules,
    )
    linker = Linker(tables if len(tables) > 1 else tables[0], settings, log_level=logging.ERROR)
    named = [name for name, kind in kinds.items() if kind == "name"] or list(kinds)
    dated = [name for name, kind in kinds.items() if kind in ("date", "digits")] or list(kinds)
    sure = [block_on(*dict.fromkeys(two)) for two in _deterministic(named, dated[-1], kinds)]
    linker.training.estimate_probability_two_random_records_match(sure, recall=ASSUMED_RECALL)
    linker.training.estimate_u_using_random_sampling(max_pairs=PAIRS, seed=1)
    for columns_equal in ((named[0], named[-1]), (dated[-1],)):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(*dict.fromkeys(columns_equal)))
    return linker


def _deterministic(named: Sequence[str], dated: str, kinds: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Rules that are nearly always right: a name with the date of birth, both names, the e-mail address."""
    mails = [(name,) for name, kind in kinds.items() if kind == "email"]
    return [(named[0], dated), (named[-1], dated), (named[0], named[-1]), *mails]


def _comparison(column: str, kind: str) -> Any:
    import splink.comparison_library as library

    if kind == "name":
        return library.NameComparison(column)
    if kind == "email":
        return library.EmailComparison(column)
    if kind in ("date", "digits", "phone"):
        return library.DamerauLevenshteinAtThresholds(column, [1, 2])
    return library.JaroWinklerAtThresholds(column, [0.9, 0.7]).configure(term_frequency_adjustments=True)
