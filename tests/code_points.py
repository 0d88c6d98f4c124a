"""Code points worth testing one by one: a full run takes all, CI those that Unicode has something to say about."""

from __future__ import annotations

import os
import sys
import unicodedata

FULL = os.environ.get("DBSIM_RELIABILITY") == "full"
ALL = range(sys.maxunicode + 1)


def telling(code: int) -> bool:
    """Not a Han or Hangul character like thousands of others, private or unassigned; of these every 61st."""
    character = chr(code)
    category = unicodedata.category(character)
    alike = category in ("Cn", "Co", "Cs") or (
        category == "Lo" and unicodedata.normalize("NFKD", character) == character
    )
    return not alike or code % 61 == 0


CODES = [code for code in ALL if FULL or telling(code)]
