"""Kinds of field: what people mean by a value, however it is written."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.text.kinds.guess import crossed, guess
from dbsim.text.kinds.registry import Kind, kind_names, kind_of, register
from dbsim.text.normalisers.registry import normaliser_of


@pytest.mark.parametrize(
    ("kind", "values", "meant"),
    [
        ("name", ["Müller", "Mueller", "Muller", "MÜLLER", " müller "], "muller"),
        ("name", ["Dr. Anna-Maria", "Anna Maria", "annamaria"], "annamaria"),
        ("name", ["Bauer"], "bauer"),
        ("date", ["1971-06-24", "24.6.1971", "24/06/1971", "6/24/1971", "24 June 1971", "June 24th, 1971"], "19710624"),
        ("date", ["24.06.71", "19710624", "24061971", "1971-06-24T10:00:00", "24. Juni 1971"], "19710624"),
        ("date", ["32.13.2001", "32132001"], "32132001"),
        ("date", ["2001-02-30"], "20010230"),
        ("phone+49", ["040 123-45", "+49 (0)40 12345", "0049 40 12345", "+494012345"], "494012345"),
        ("digits", ["12 34", "12-34"], "1234"),
        ("address", ["Hauptstr. 5", "Hauptstraße 5", "HAUPTSTRASSE 5"], "hauptstrasse 5"),
        ("address", ["c/ Mayor 3", "Calle Mayor 3", "C/Mayor 3"], "calle mayor 3"),
        ("email", ["Erika+news@GoogleMail.com", "erika@gmail.com"], "erika gmail com"),
    ],
)
def test_ways_to_write_one_value_meet(kind: str, values: list[str], meant: str) -> None:
    assert {kind_of(kind).value(value) for value in values} == {meant}


@pytest.mark.parametrize(
    "value", ["", " ", "unknown", "N/A", "n.a.", "00000000", "0000-00-00", "-", "?", "xxx", "k.A."]
)
@pytest.mark.parametrize("kind", kind_names())
def test_what_stands_for_nothing_is_nothing(kind: str, value: str) -> None:
    assert kind_of(kind).fold(value) == b""


@given(st.text(), st.sampled_from(kind_names()))
def test_any_text_has_a_value_without_an_error(text: str, kind: str) -> None:
    folded = normaliser_of(kind_of(kind).normaliser).fold(text)
    assert b"\0" not in folded
    assert folded == kind_of(kind).fold(text)


def test_a_number_of_thousands_of_digits_is_no_date() -> None:
    assert kind_of("date").value("1" * 6000 + ".1.2000") == "1" * 6000 + "12000"


def test_a_kind_of_the_users_own_is_registered_once_and_versioned() -> None:
    own = Kind(name="plate", version=1, normalise=lambda text: text.upper().replace(" ", ""))
    assert register(own) is own
    assert kind_of("plate").value("hh ab 1") == "HHAB1"
    assert normaliser_of("kind-plate@1").fold("hh ab 1") == b"HHAB1"
    with pytest.raises(ValueError, match="another version"):
        register(Kind(name="plate", version=1, normalise=str.lower))
    with pytest.raises(ValueError, match="did you mean 'name'"):
        kind_of("nam")


def test_columns_are_taken_for_what_their_names_and_values_say() -> None:
    columns = {
        "id": ["1", "2", "3"],
        "Vorname": ["Anna", "Bernd", "Clara"],
        "familyName": ["Meier", "Schulz", "Kunz"],
        "geburtsdatum": ["1.2.1990", "3.4.1991", "5.6.1992"],
        "PLZ": ["22045", "10115", "80331"],
        "Mobil": ["0170 1", "0171 2", "0172 3"],
        "kontakt": ["a@b.de", "c@d.de", "e@f.de"],
        "created_at": ["2020-01-01", "2020-01-02", "2020-01-03"],
        "empty": ["", "", ""],
        "remarks": ["x" * 200, "y" * 200, "z" * 200],
    }
    found = guess(columns, {"PLZ": "text@1"})
    kinds = {one.column: one.kind for one in found if one.kind}
    assert kinds == {
        "Vorname": "name",
        "familyName": "name",
        "geburtsdatum": "date",
        "PLZ": "text@1",
        "Mobil": "phone",
        "kontakt": "email",
    }
    assert crossed(found) == (0, 1)
    assert all(one.reason for one in found)


def test_a_process_that_reads_options_knows_the_kinds() -> None:
    """As the processes do that help to fill a large table of persons."""
    made = "Field(columns=('a',), normaliser='kind-name@1', unit='characters', size=2, bits=256, sample=1)"
    subprocess.run([sys.executable, "-c", f"from dbsim.options import Field; {made}"], check=True)
