"""What people write when they know nothing: str → whether it stands for a missing value."""

from __future__ import annotations

import re

# Missing is worth 0 bits. "Null" is somebody's surname, but a thousand times more often it is nobody's.
_SPELLED = (
    "unknown,unbekannt,inconnu,inconnue,desconocido,desconocida,sconosciuto,onbekend,ismeretlen,none,null,nil,nan,"
    "n/a,n.a.,#n/a,#nv,nicht bekannt,not known,not available,not applicable,keine angabe,keine,k.a.,k. a.,n.n.,"
    "tbd,tba,missing,undefined,leer,empty,no data,unspecified,not stated,sin datos"
)
WORDS = frozenset(_SPELLED.split(","))
_NO_SIGN = re.compile(r"[\W_]*")  # no letter and no digit
_ONE_SIGN = re.compile(r"[\W_]*(?:0[\W_]*)+|[\W_]*(?:[xX][\W_]*){3,}")  # 00000000, 0000-00-00, xxx


def missing(text: str) -> bool:
    stripped = text.strip()
    return bool(stripped.lower() in WORDS or _NO_SIGN.fullmatch(stripped) or _ONE_SIGN.fullmatch(stripped))
