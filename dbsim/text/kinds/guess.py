"""What a table's columns hold: name, values → Guess (kind, role, or why it is left out), for people to correct.

The name decides where it says something, the values where it does not; the words are those of a few languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbsim.text.kinds.dates import plausible
from dbsim.text.kinds.placeholders import missing
from dbsim.text.normalise import normalise

GIVEN, SURNAME = "given name", "surname"
MOST_FIELDS = 12
LONG = 80  # characters of a usual value: longer ones are prose
DIFFERENT = {GIVEN: 3, "date": 5, "name": 6}  # one typing error in a given name leaves 0.4 or more, in a date 0.6
PRESENT = 0.02  # of all rows, to be worth a field

_WORDS = {
    GIVEN: "given first forename fname firstname vorname prenom nombre voornaam keresztnev nome christian givenname "
    "imie fornavn fornamn isim prenume jmeno etunimi",
    SURNAME: "surname last lname lastname nachname familienname family sname apellido apellidos cognome achternaam "
    "vezeteknev nom famille sobrenome familyname nazwisko efternamn etternavn soyad soyadi prijmeni sukunimi apelido",
    "name": "name names fullname alias maiden middle mname middlename geburtsname mother father spouse",
    "date": "dob date birth birthday birthdate datum geburtsdatum geburtstag geb gebdat fecha nacimiento naissance "
    "nascita geboortedatum born nac nasc nascimento urodzenia dogum fodelsedatum fodt narozeni",
    "phone": "phone tel telephone telefon telefono mobile cell handy fax mobil phonenumber telnr "
    "movil celular cellulare telefoon telefone gsm",
    "email": "email mail correo courriel epost eposta",
    "address": "address addr street strasse str road calle rue via straat utca anschrift adresse direccion "
    "domicilio indirizzo endereco adres adresa ulica",
    "digits": "zip postcode postal plz zipcode postleitzahl cp ssn insurance passport tax nif dni cpf iban nhs number "
    "nummer nr no hausnr hausnummer",
    "other": "id uuid guid key pk rowid cluster entity label row index idx created updated modified inserted changed "
    "timestamp version revision hash token password status source batch",
}
_KNOWN = {word: meaning for meaning, words in _WORDS.items() for word in words.split()}
_PLACE_WORDS = (
    "zip postcode postal plz zipcode postleitzahl cp city town village suburb state county region province country ort "
    "stadt wohnort land kreis gemeinde ciudad municipio localidad provincia poblacion ville commune pays comune citta "
    "plaats gemeente woonplaats varos cidade municipality district hausnr hausnummer apartment flat"
)
_PLACES = frozenset(_PLACE_WORDS.split())
_NUMBERS = "ssn soc sec social insurance passport tax nif dni cpf nhs iban national"
_IDENTIFIES = frozenset(_NUMBERS.split())
_SPLIT = re.compile(r"[^a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMAIL = re.compile(r"\S+@\S+\.\S+")


@dataclass(frozen=True)
class Guess:
    """`kind` is None for a column that is left out; `reason` says why it was taken for this."""

    column: str
    kind: str | None
    role: str = ""
    reason: str = ""

    def __str__(self) -> str:
        what = f"{self.kind}" if self.kind else "left out"
        return f"{self.column}: {what}{f' ({self.role})' if self.role else ''}, {self.reason}"


def guess(columns: Mapping[str, Sequence[str]], given: Mapping[str, str] | None = None) -> list[Guess]:
    """Of each column by some of its values, in the table's order; `given` are kinds that the user states."""
    given = given or {}
    found = [
        _with_role(name, given[name], "as you said") if name in given else _guess(name, values)
        for name, values in columns.items()
    ]
    return _single_roles(_limited(found, columns, set(given)))


def crossed(guesses: Sequence[Guess]) -> tuple[int, int] | None:
    """Numbers of given name and surname among the fields."""
    roles = [guess.role for guess in guesses if guess.kind]
    return (roles.index(GIVEN), roles.index(SURNAME)) if {GIVEN, SURNAME} <= set(roles) else None


def own(guesses: Sequence[Guess]) -> dict[int, int]:
    """Fields in which persons of a household differ, each with the tenths of likeness below which values do.

    Given name and dates; a name that is whole instead of the given name, in which relatives share the surname.
    """
    used = [one for one in guesses if one.kind]
    kinds = [(one.kind or "").split("@")[0] for one in used]
    given = {number: DIFFERENT[GIVEN] for number, one in enumerate(used) if one.role == GIVEN}
    whole = {n: DIFFERENT["name"] for n, one in enumerate(used) if kinds[n] == "name" and one.role != SURNAME}
    dates = {number: DIFFERENT["date"] for number, kind in enumerate(kinds) if kind == "date"}
    return dict(sorted(((given or whole) | dates).items()))


def born(guesses: Sequence[Guess]) -> bool:
    """Whether a column is a date, or is called like a day or year of birth."""
    used = [one for one in guesses if one.kind]
    return any((one.kind or "").split("@")[0] == "date" or _meaning(one.column) == "date" for one in used)


def echoes(guesses: Sequence[Guess]) -> dict[int, list[int]]:
    """Fields that are made of the names, each with the whole name; with none where given name and surname are known."""
    used = [one for one in guesses if one.kind]
    kinds = [(one.kind or "").split("@")[0] for one in used]
    whole = [number for number, kind in enumerate(kinds) if kind == "name"][:1] if crossed(guesses) is None else []
    return {number: whole for number, kind in enumerate(kinds) if kind == "email"}


def place(guesses: Sequence[Guess]) -> list[int]:
    """Parts of the address, which change together when a person moves; one part alone changes like any field."""
    used = [one for one in guesses if one.kind]
    kinds = [(one.kind or "").split("@")[0] for one in used]
    found = [n for n, one in enumerate(used) if kinds[n] == "address" or _lives_there(set(_words(one.column)))]
    return found if len(found) > 1 else []


def _lives_there(words: set[str]) -> bool:
    """Nobody moves away from where they were born."""
    return bool(words & _PLACES) and not words & {"birth", "born", "nacimiento", "naissance", "nascita"}


def _words(name: str) -> list[str]:
    return [word for word in _SPLIT.split(normalise(_CAMEL.sub(" ", name)).lower()) if word]


def _guess(name: str, values: Sequence[str]) -> Guess:
    there = [value for value in values if not missing(value)]
    if len(there) <= PRESENT * len(values):
        return Guess(name, None, reason="hardly any value")
    meaning = _meaning(name)
    if meaning == "other":
        return Guess(name, None, reason="looks like a number or mark of the row's own")
    kind, reason = _kind(meaning, there)
    different = len(set(there))
    if different == 1 and len(there) > 1:
        return Guess(name, None, reason="all values are the same")
    if kind == "text" and float(np.median([len(value) for value in there])) > LONG:
        return Guess(name, None, reason="long texts: make an index of their own for them")
    if meaning is None and kind == "digits" and different == len(there) > 50 and _counts_up(there):
        return Guess(name, None, reason="counts the rows")
    return _with_role(name, kind, reason)


def _kind(meaning: str | None, values: Sequence[str]) -> tuple[str, str]:
    """By the values where they are unmistakable, then by the name, then by what most values look like."""
    if _share(values, lambda value: bool(_EMAIL.fullmatch(value.strip()))) > 0.6:
        return "email", "values with @"
    dates = _share(values, plausible)
    if (meaning == "date" and dates > 0.5) or dates > 0.9:
        return "date", "dates by name and value" if meaning == "date" else "values that are dates"
    numeric = _share(values, _numeric)
    if meaning == "phone" and numeric > 0.5:
        return "phone", "by its name"
    if meaning in (GIVEN, SURNAME, "name", "address") and numeric < 0.5:
        return ("address" if meaning == "address" else "name"), "by its name"
    if numeric > 0.8:
        return "digits", "values that are numbers"
    return "text", "nothing special"


def _meaning(name: str) -> str | None:
    words = _words(name)
    if set(words) & _IDENTIFIES:
        return "digits"
    known = [_KNOWN[word] for word in words if word in _KNOWN]
    if "other" in known:
        return "other"
    for meaning in (GIVEN, SURNAME, "date", "phone", "email", "digits", "address", "name"):
        if meaning in known:
            return meaning
    joined = "".join(words)  # geburtsdatum, familyname
    ends = [meaning for word, meaning in _KNOWN.items() if len(word) > 3 and joined.endswith(word)]
    return ends[0] if ends else None


def _with_role(name: str, kind: str, reason: str) -> Guess:
    meaning = _meaning(name)
    role = meaning if kind.split("@")[0] == "name" and meaning in (GIVEN, SURNAME) else ""
    return Guess(name, kind, role or "", reason)


def _single_roles(found: Sequence[Guess]) -> list[Guess]:
    """Only the first given name and the first surname can be crossed."""
    seen: set[str] = set()
    kept = []
    for one in found:
        first = one.role not in seen
        seen |= {one.role}
        kept.append(one if first else Guess(one.column, one.kind, "", one.reason))
    return kept


def _limited(found: list[Guess], columns: Mapping[str, Sequence[str]], stated: set[str]) -> list[Guess]:
    """At most so many fields: those with the most different values, and those the user named."""
    wanted = [one for one in found if one.kind and one.column not in stated]
    room = max(MOST_FIELDS - len(stated), 0)
    telling = sorted(wanted, key=lambda one: (not one.role, -len(set(columns[one.column]))))
    surplus = {one.column for one in telling[room:]}
    reason = f"more than {MOST_FIELDS} columns; name it with --column to have it"
    return [Guess(one.column, None, reason=reason) if one.column in surplus else one for one in found]


def _share(values: Sequence[str], fulfils: object) -> float:
    assert callable(fulfils)
    some = values[:1000]
    return sum(1 for value in some if fulfils(value)) / max(len(some), 1)


def _numeric(value: str) -> bool:
    letters = sum(character.isalpha() for character in value)
    return letters <= 1 and any(character.isdigit() for character in value)


def _counts_up(values: Sequence[str]) -> bool:
    numbers = sorted({int(value) for value in values if value.strip().isdecimal() and len(value) < 18})
    return len(numbers) > 1 and (numbers[-1] - numbers[0]) <= 4 * len(numbers)
