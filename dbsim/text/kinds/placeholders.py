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
# no letter and no digit; 00000000, 0000-00-00; xxx
_NO_SIGN = re.compile(r"[\W_]*(?:(?:0[\W_]*)+|(?:[xX][\W_]*){3,})?")


def missing(text: str) -> bool:
    stripped = text.strip()
    return stripped.lower() in WORDS or _NO_SIGN.fullmatch(stripped) is not None
