"""Numbers that identify: str → digits; telephone numbers without what differs between two ways to write them."""

from __future__ import annotations

import re

from dbsim.text.normalise import normalise

_TRUNK = re.compile(r"\(0\)")  # +49 (0)40 …
_EXTENSION = re.compile(r"(?:ext|x|durchwahl)\.?\s*\d+\s*$", re.IGNORECASE)


def digits(text: str) -> str:
    return text if text.isascii() and text.isdecimal() else normalise(text, "digits")


def phone(text: str, country: str = "") -> str:
    """Country code and number; where the country is not known, the number without its leading zeros."""
    if not (text.isascii() and text.isdecimal()):
        text = _EXTENSION.sub("", _TRUNK.sub("", text)).strip()
    found = digits(text)
    if text.startswith("+"):
        return found
    if found.startswith("00"):
        return found[2:]
    if found.startswith("0"):
        return country + found.lstrip("0")
    return country + found if country and not found.startswith(country) else found
