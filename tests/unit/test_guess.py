"""What the columns of registers are taken for that nobody had in mind: names and shapes of values, not real rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from dbsim.text.kinds.columns import meaning
from dbsim.text.kinds.guess import born, called, crossed, guess, own, place

RANDOM = random.Random(1)
ROWS = 200
Value = Callable[[], str]


def of(*values: str) -> Value:
    return lambda: RANDOM.choice(values)


def number(digits: int) -> str:
    return str(RANDOM.randint(10 ** (digits - 1), 10**digits - 1))


def day(first: int = 1930, last: int = 2004) -> str:
    return f"{RANDOM.randint(first, last)}-{RANDOM.randint(1, 12):02d}-{RANDOM.randint(1, 28):02d}"


GIVEN_NAMES = of("James", "Mary", "Robert", "Linda", "Wei", "Aisha", "Tim", "Tom")
SURNAMES = of("Smith", "Garcia", "Nguyen", "Lee", "O'Brien", "Baker", "Hill", "Young")
STREETS = of("1 Main St", "22 Oak Ave", "315 Pine Rd", "4 Elm St", "57 Hill Dr")
TOWNS = of("Raleigh", "Durham", "Cary", "Apex")
REGISTERS: dict[str, tuple[dict[str, Value], dict[str, str]]] = {
    "voters": (
        {
            "county_id": of("32", "92", "60"),
            "voter_reg_num": lambda: number(12),
            "ncid": lambda: f"AA{number(9)}",
            "voter_status_desc": of("ACTIVE", "INACTIVE", "DENIED"),
            "last_name": SURNAMES,
            "first_name": GIVEN_NAMES,
            "res_street_address": STREETS,
            "res_city_desc": TOWNS,
            "zip_code": lambda: number(5),
            "registr_dt": day,
            "gender_code": of("M", "F"),
            "birth_year": lambda: str(RANDOM.randint(1920, 2002)),
            "birth_age": lambda: number(2),
            "drivers_lic": of("Y", "N"),
        },
        {
            "last_name": "surname",
            "first_name": "given name",
            "res_street_address": "address",
            "res_city_desc": "text",
            "zip_code": "digits",
            "gender_code": "text",
            "birth_year": "year of birth",
        },
    ),
    "before 1800": (
        {
            "unique_id": lambda: f"Q{number(9)}-1",
            "first_name": GIVEN_NAMES,
            "surname": SURNAMES,
            "dob": lambda: day(1600, 1800),
            "birth_place": TOWNS,
            "postcode_fake": of("SW1 1AA", "B2 4QA", "NW3 2BX"),
            "occupation": of("painter", "politician", "cricketer"),
        },
        {
            "first_name": "given name",
            "surname": "surname",
            "dob": "date",
            "birth_place": "text",
            "postcode_fake": "text",
            "occupation": "text",
        },
    ),
    "customers": (
        {
            "KUNDENNR": lambda: number(9),
            "VORNAME": GIVEN_NAMES,
            "NAME": SURNAMES,
            "GEBDAT": lambda: "{2}.{1}.{0}".format(*day().split("-")),
            "TELEFONNUMMER": lambda: f"0{number(9)}",
            "ANLAGEDATUM": lambda: day(2000, 2020),
            "UMSATZ": lambda: f"{number(5)},50",
            "GESPERRT": of("J", "N"),
        },
        {"VORNAME": "given name", "NAME": "surname", "GEBDAT": "date", "TELEFONNUMMER": "phone"},
    ),
    "members": (
        {
            "Mitglied": lambda: f"{SURNAMES()}, {GIVEN_NAMES()}",
            "Mitgliedsnummer": lambda: number(6),
            "Eintritt": lambda: day(1990, 2020),
            "geb.": day,
        },
        {"Mitglied": "name", "geb.": "date"},
    ),
    "patients": (
        {
            "MRN": lambda: number(9),
            "SSN": lambda: f"{number(3)}-{number(2)}-{number(4)}",
            "DateOfBirth": day,
            "LastVisit": lambda: day(2018, 2023),
            "HomePhone": lambda: f"({number(3)}) {number(3)}-{number(4)}",
            "Weight": lambda: number(2),
            "HEALTHCARE_EXPENSES": lambda: f"{number(5)}.{number(2)}",
        },
        {"SSN": "digits", "DateOfBirth": "date", "HomePhone": "phone"},
    ),
    "Russian": (
        {
            "Фамилия": of("Иванов", "Смирнов", "Попов"),
            "Имя": of("Иван", "Пётр", "Анна"),
            "Отчество": of("Иванович", "Петровна", "Олеговна"),
            "Дата рождения": lambda: "{2}.{1}.{0}".format(*day().split("-")),
            "Телефон": lambda: f"+7 9{number(9)}",
        },
        {"Фамилия": "surname", "Имя": "given name", "Отчество": "name", "Дата рождения": "date", "Телефон": "phone"},
    ),
    "Chinese": (
        {
            "姓名": of("王伟", "李娜", "张敏", "刘洋"),
            "出生日期": day,
            "手机": lambda: f"13{number(9)}",
            "住址": of("朝阳区12号", "海淀区3号", "浦东新区8号"),
        },
        {"姓名": "name", "出生日期": "date", "手机": "phone", "住址": "address"},
    ),
    "Arabic": (
        {
            "الاسم": of("محمد أحمد", "فاطمة علي", "ليلى حسن"),
            "تاريخ الميلاد": day,
            "الهاتف": lambda: f"+9665{number(8)}",
        },
        {"الاسم": "name", "تاريخ الميلاد": "date", "الهاتف": "phone"},
    ),
    "a birth in three columns": (
        {
            "nom": SURNAMES,
            "prenom": GIVEN_NAMES,
            "jour_naissance": lambda: str(RANDOM.randint(1, 28)),
            "mois_naissance": lambda: str(RANDOM.randint(1, 12)),
            "annee_naissance": lambda: str(RANDOM.randint(1930, 2000)),
        },
        {
            "nom": "surname",
            "prenom": "given name",
            "jour_naissance": "digits",
            "mois_naissance": "digits",
            "annee_naissance": "year of birth",
        },
    ),
}


def made(columns: Mapping[str, Value]) -> dict[str, list[str]]:
    return {name: [value() for _ in range(ROWS)] for name, value in columns.items()}


@pytest.mark.parametrize("name", REGISTERS)
def test_registers_are_read_as_a_person_would(name: str) -> None:
    columns, wanted = REGISTERS[name]
    found = guess(made(columns))
    assert {one.column: one.role or one.base for one in found if one.kind} == wanted
    assert born(found)
    assert all(one.reason for one in found)


def test_what_another_column_says_already_counts_once() -> None:
    columns = made({"first_name": GIVEN_NAMES, "surname": SURNAMES, "street": STREETS, "dob": day})
    columns["full_name"] = [f"{a} {b}".lower() for a, b in zip(columns["first_name"], columns["surname"], strict=True)]
    columns["mail_addr1"] = [STREETS() if RANDOM.random() < 0.1 else street for street in columns["street"]]
    found = guess(columns)
    assert [one.column for one in found if one.kind] == ["first_name", "surname", "street", "dob"]
    assert crossed(found) == (0, 1)
    reasons = {one.column: one.reason for one in found if not one.kind}
    assert reasons["full_name"] == "made of first_name and surname"
    assert reasons["mail_addr1"] == "mostly the same as street"


def test_roles_of_relatives_and_twins() -> None:
    voters = guess(made(REGISTERS["voters"][0]))
    fields = [one.column for one in voters if one.kind]
    assert set(own(voters)) == {fields.index("first_name"), fields.index("birth_year")}
    assert called(voters) == (fields.index("first_name"), False)
    assert {fields[number] for number in place(voters)} == {"res_street_address", "res_city_desc", "zip_code"}
    assert called(guess(made(REGISTERS["members"][0]))) == (0, True)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("Last Activity Time", "event"),
        ("date of birth", "birth"),
        ("birth_place", "town"),
        ("Post Code", "zip"),
        ("streetNumber", "house"),
        ("mail_zipcode", "zip"),
        ("PatientID", "other"),
        ("Kundennummer", "other"),
        ("telefonnummer", "phone"),
        ("soc_sec_id", "identity"),
        ("c7", None),
    ],
)
def test_words_of_a_name(column: str, said: str | None) -> None:
    assert meaning(column) == said


def test_the_only_dates_of_a_table_are_taken_whatever_they_are_called() -> None:
    found = guess(made({"c0": GIVEN_NAMES, "c1": SURNAMES, "c2": day, "c3": lambda: f"0{number(3)}/{number(6)}"}))
    assert [one.base for one in found] == ["text", "text", "date", "phone"]
