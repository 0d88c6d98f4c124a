"""The settings that are compared, by name: with and without stop words, borders, sign, number of keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.sources.retrieval import QUANTILES, SPREAD, Keys, fuzzy_keys, lengthened, shifted_keys, stable_keys
from dbsim.hashing.documents import Documents
from dbsim.hashing.families.fuzzy import Fuzzy

REFERENCE = "α-stable, unit vectors"
LETTERS, COMBINED = "fuzzy, 26 letters", "fuzzy, 26 combined"
BEST = "fuzzy, 26 comb., signed, no stop words"
BARE = "fuzzy, 26 letters, signed, no stop words"
FITTED = f"{BARE}, quantile borders, 17 schemes"
MANY_KEYS = "17 schemes"
FEWER, FEW, MANY = "α-stable, 3 keys (k = 20)", "α-stable, 3 keys (k = 10)", f"{BEST}, 17 schemes"


@dataclass(frozen=True)
class Views:
    """The same texts with and without stop words."""

    whole: Documents
    clean: Documents


def variants(views: Views) -> dict[str, tuple[Callable[[float], Keys], float, float]]:
    """Name → keys by scale, and the range of the scale. The sources leave open what the first two do not say."""
    signed = {"deviation": "signed"}
    letters, combined = Fuzzy(prefix=1, classes=0), Fuzzy(prefix=2, classes=26)
    signed_letters, signed_combined = replace(letters, **signed), replace(combined, **signed)
    fuzzy = {
        LETTERS: (letters, views.whole, ""),
        COMBINED: (combined, views.whole, ""),
        f"{LETTERS}, signed": (signed_letters, views.whole, ""),
        f"{COMBINED}, signed": (signed_combined, views.whole, ""),
        f"{COMBINED}, fitted borders": (combined, views.whole, SPREAD),
        f"{COMBINED}, signed, fitted borders": (signed_combined, views.whole, SPREAD),
        f"{COMBINED}, no stop words": (combined, views.clean, ""),
        "fuzzy, 13 combined, signed, no stop words": (Fuzzy(prefix=2, classes=13, **signed), views.clean, ""),
        BARE: (signed_letters, views.clean, ""),
        BEST: (signed_combined, views.clean, ""),
        f"{BEST}, fitted borders": (signed_combined, views.clean, SPREAD),
        f"{LETTERS}, signed, quantile borders": (signed_letters, views.whole, QUANTILES),
        f"{BARE}, fitted borders": (signed_letters, views.clean, SPREAD),
        f"{BARE}, quantile borders": (signed_letters, views.clean, QUANTILES),
        f"{BEST}, quantile borders": (signed_combined, views.clean, QUANTILES),
    }
    made = {REFERENCE: (stable_keys(views.clean), 0.3, 20.0)}
    made["α-stable, raw tf-idf"] = (stable_keys(views.clean, lengths=lengthened(views.clean)), 1.0, 1e5)
    made[FEWER] = (stable_keys(views.clean, 20, 3), 0.3, 60.0)
    made[FEW] = (stable_keys(views.clean, 10, 3), 0.3, 60.0)
    made[MANY] = (shifted_keys(signed_combined, views.clean, 17), 0.02, 60.0)
    made[FITTED] = (shifted_keys(signed_letters, views.clean, 17, fitted=QUANTILES), 0.02, 60.0)
    for name, (family, view, fitted) in fuzzy.items():
        made[name] = (fuzzy_keys(family, view, 3, fitted=fitted), 0.02, 60.0)
    return made
