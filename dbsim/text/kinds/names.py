"""Names of persons: str → letters without accents, gaps and titles, so that Müller, Mueller and Muller meet."""

from __future__ import annotations

import re

from dbsim.text.normalise import normalise

_SPELLED = (
    "mr mrs ms miss mister sir dame dr prof professor doctor doktor herr frau hr fr rev "
    "sr sra srta don dona mme mlle monsieur madame ing dipl mag"
)
TITLES = frozenset(_SPELLED.split())
# ue is an u umlaut except after a, e and q (Bauer, Feuer, Quentin) ...
_UMLAUTS = ((re.compile("ae"), "a"), (re.compile("oe"), "o"), (re.compile("(?<![aeq])ue"), "u"))


def name(text: str) -> str:
    words = normalise(text, "german").split()
    while len(words) > 1 and words[0] in TITLES:
        words = words[1:]
    joined = "".join(words)
    for pattern, letter in _UMLAUTS:
        joined = pattern.sub(letter, joined)
    return joined
