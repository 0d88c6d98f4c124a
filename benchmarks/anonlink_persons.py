"""Two registers through clkhash and anonlink: columns → pairs, one to one, above a Dice coefficient.

One keyed filter of all fields of a row, bigrams, 200 bits a field; every row is compared with every other one, and
anonlink's greedy solver gives each one partner. Thresholds from 0.6 to 0.8 gave .9991 to .9993 on febrl4; it is 0.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

NAME = "clkhash and anonlink, one to one, Dice ≥ 0.8"
THRESHOLD = 0.8
BITS, BITS_A_FIELD, BIGRAMS = 1024, 200, 2
NEAREST = 5  # rows of the other register that are considered for one
SECRET = "a benchmark's secret"

Numbers = NDArray[np.int64]


def found(columns: Mapping[str, Sequence[str]], sources: Numbers) -> tuple[Numbers, Numbers]:
    """Row numbers of the pairs between the two registers."""
    import anonlink
    from clkhash.clk import generate_clks
    from clkhash.comparators import NgramComparison
    from clkhash.field_formats import BitsPerFeatureStrategy, FieldHashingProperties, StringSpec
    from clkhash.schema import Schema

    hashing = FieldHashingProperties(comparator=NgramComparison(BIGRAMS), strategy=BitsPerFeatureStrategy(BITS_A_FIELD))
    schema = Schema([StringSpec(name, hashing) for name in columns], BITS)
    places = [np.flatnonzero(sources == source) for source in np.unique(sources).tolist()]
    rows = [[[columns[name][place] for name in columns] for place in side.tolist()] for side in places]
    filters = [generate_clks(side, schema, SECRET) for side in rows]
    near = anonlink.candidate_generation.find_candidate_pairs(
        filters, anonlink.similarities.dice_coefficient, THRESHOLD, k=NEAREST
    )
    groups = [sorted(group) for group in anonlink.solving.greedy_solve(near) if len(group) == len(filters)]
    numbers = np.array([[place for _, place in group] for group in groups], np.int64).reshape(-1, 2)
    return places[0][numbers[:, 0]], places[1][numbers[:, 1]]
