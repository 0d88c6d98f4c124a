"""Registers unlike the public sets: name → rows with known duplicates; other columns, languages and habits of error.

Nothing in dbsim is fitted to them: they show where the model of persons is weak. Names are real ones, few and drawn
with real frequencies, so that namesakes are common; errors come together, as in life: who moves changes the whole
address, who marries changes surname and e-mail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.register import Register

_STOCK = {  # given names, surnames, streets, cities
    "de": (
        "Peter Thomas Michael Andreas Wolfgang Klaus Jürgen Stefan Christian Uwe Werner Günther Heinz Frank Markus "
        "Maria Ursula Monika Petra Elisabeth Sabine Renate Helga Karin Brigitte Ingrid Erika Andrea Gisela Claudia "
        "Susanne Gabriele Christa Christine Hildegard Anna Birgit Barbara Gerda Martina Jörg Björn Jan Lukas Leon "
        "Finn Emma Mia Hannah Sofia Lena Lea Marie Johanna Ümit Ayşe Mehmet Fatma Łukasz Zoë Jérôme",
        "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein "
        "Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Schmitt Werner Krause Meier "
        "Lehmann Köhler Herrmann König Walter Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn "
        "Schubert Vogel Friedrich Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Yılmaz "
        "Özdemir Kaya Nowak Kowalski Böhm Jäger Groß Straßburger Maier-Leibnitz",
        "Haupt Bahnhof Garten Dorf Berg Kirch Schul Linden Wald Ring Goethe Schiller Mozart Beethoven Rosen Tannen "
        "Birken Wiesen Mühlen Feld Markt Post Park Schloß Rathaus Blumen Sonnen Amsel Finken Ahorn",
        "Berlin Hamburg München Köln Frankfurt Stuttgart Düsseldorf Leipzig Dortmund Essen Bremen Dresden Hannover "
        "Nürnberg Duisburg Bochum Wuppertal Bielefeld Bonn Münster Weimar Jena Erfurt Göttingen",
    ),
    "es": (
        "Antonio José Manuel Francisco Juan David Javier Daniel Carlos Jesús Alejandro Miguel Rafael Pedro Ángel Pablo "
        "Sergio Fernando Luis Jorge Alberto Álvaro María Carmen Ana Isabel Dolores Pilar Teresa Rosa Cristina Laura "
        "Marta Elena Lucía Paula Sara Raquel Mercedes Rosario Julia Irene Beatriz Silvia Nuria Montserrat Iñaki",
        "García Rodríguez González Fernández López Martínez Sánchez Pérez Gómez Martín Jiménez Hernández Ruiz Díaz "
        "Moreno Muñoz Álvarez Romero Gutiérrez Alonso Navarro Torres Domínguez Ramos Vázquez Ramírez Gil Serrano "
        "Morales Molina Suárez Castro Delgado Ortiz Marín Rubio Núñez Medina Sanz Castillo Iglesias Cortés Garrido "
        "Santos Guerrero Lozano Cano Cruz Méndez Flores Prieto Herrera Peña León Márquez Cabrera Gallego Calvo Vidal",
        "Mayor Real Nueva Iglesia Sol Ancha Alcalá Goya Serrano Velázquez Cervantes Colón Constitución Libertad Paz",
        "Madrid Barcelona Valencia Sevilla Zaragoza Málaga Murcia Palma Bilbao Alicante Córdoba Valladolid Vigo Gijón",
    ),
    "us": (
        "James John Robert Michael William David Richard Joseph Charles Thomas Christopher Daniel Matthew Anthony Mark "
        "Donald Steven Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason Jeffrey Ryan Jacob "
        "Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Nancy Lisa Margaret Betty Sandra "
        "Ashley Dorothy Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Laura Sharon "
        "Cynthia Kathleen Amy Shirley Angela Helen Anna Brenda Pamela Nicole Tyrone Latoya Jose Maria Wei Nguyen",
        "Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson "
        "Anderson Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis "
        "Robinson Walker Young Allen King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera "
        "Campbell Mitchell Carter Roberts Gomez Phillips Evans Turner Diaz Parker Cruz Edwards Collins Reyes Stewart "
        "Morris Morales Murphy Cook Rogers Gutierrez Ortiz Morgan Cooper Peterson Bailey Reed Kelly Howard O'Brien",
        "Main Oak Pine Maple Cedar Elm Washington Lake Hill Park Walnut Spring North Ridge Church Willow Mill Sunset",
        "Raleigh Durham Charlotte Greensboro Asheville Wilmington Cary Fayetteville Concord Gastonia Hickory Apex",
    ),
}
_TAILS = {"de": ("", "mann", "er", "bach", "hof", "inger", "feld"), "es": ("",), "us": ("", "son", "ton", "ley", "man")}
_TRADE_WORDS = "Bäckerei Autohaus Metzgerei Elektro Sanitär Schreinerei Apotheke Gasthof Druckerei Reisebüro Optik Bau"
_TRADES = _TRADE_WORDS.split()
_FORMS = ("GmbH", "GmbH & Co. KG", "AG", "e.K.", "OHG", "KG", "UG (haftungsbeschränkt)")
_KEYS = "qwertyuiopasdfghjklzxcvbnm"
_SOUNDS = (
    ("th", "t"),
    ("ph", "f"),
    ("ck", "k"),
    ("ei", "ai"),
    ("y", "i"),
    ("tz", "z"),
    ("mm", "m"),
    ("c", "k"),
    ("ie", "i"),
)
_PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "í": "i", "ó": "o", "á": "a", "ñ": "n"})

Person = dict[str, str]
Random = np.random.Generator


@dataclass(frozen=True)
class Habits:
    """Of a register: who is in it, and how its further records differ."""

    columns: tuple[str, ...]  # "given=Vorname": what is stored, and its name there
    language: str = "de"
    duplicates: float = 0.1  # of the rows
    most: int = 1  # further records of a person
    errors: tuple[float, ...] = (0.2, 0.4, 0.25, 0.15)  # share with none, one, two, …
    families: float = 0.4  # of the persons live with the one before
    missing: float = 0.03
    spread: int = 40  # times as many surnames as the list has, by endings and double names; 1: only the list
    changed: float = 0.3  # of the further records came after a move, a third of those after a wedding
    company: bool = False


WHOLE = ("given", "surname", "born", "street", "postcode", "city", "phone", "email")
REGISTERS = {
    "clinic": Habits(WHOLE),
    "no birth": Habits(("given=Vorname", "surname=Name", "street=Strasse", "postcode=PLZ", "city=Ort", "phone=Tel")),
    "namesakes": Habits(("given", "surname", "born", "postcode", "city"), spread=1, families=0.2),
    "namesakes, no birth": Habits(("given", "surname", "street", "city"), spread=1, families=0.2),
    "gaps": Habits(WHOLE, missing=0.4),
    "families": Habits(WHOLE, families=0.75),
    "padrón": Habits(
        (
            "given=nombre",
            "surname=apellido1",
            "second=apellido2",
            "born=fecha_nac",
            "street=domicilio",
            "city=municipio",
        ),
        "es",
    ),
    "voters": Habits(
        (
            "given=first_name",
            "middle=middle_name",
            "surname=last_name",
            "sex",
            "year=birth_year",
            "street=res_street",
            "city=res_city",
            "postcode=zip_code",
        ),
        "us",
        duplicates=0.2,
        changed=0.5,
    ),
    "census": Habits(
        (
            "given=first_name",
            "surname",
            "born=dob",
            "city=birth_place",
            "postcode=postcode_fake",
            "trade=occupation",
            "sex=gender",
        ),
        "us",
        duplicates=0.6,
        most=6,
        errors=(0.1, 0.3, 0.3, 0.3),
        missing=0.12,
    ),
    "one name": Habits(("whole=name", "born=birthday", "city=town"), "us"),
    "name, mail": Habits(("whole=Name", "email=E-Mail"), "us"),
    "name, city": Habits(("whole=name", "city"), "de", families=0.1),
    "companies": Habits(
        ("firm=Firma", "street=Straße", "postcode=PLZ", "city=Ort", "phone=Telefon"), company=True, families=0.0
    ),
    "dates only": Habits(("given=fname_c1", "surname=lname_c1", "year=by", "month=bm", "day=bd"), duplicates=0.1),
    "few": Habits(WHOLE, duplicates=0.004),
    "clean": Habits(WHOLE, duplicates=0.0),
    "dense": Habits(WHOLE, duplicates=0.7, most=8),
}


def made(name: str, rows: int, seed: int = 7) -> Register:
    """The same rows for the same seed; in random order."""
    habits, random = REGISTERS[name], np.random.default_rng(seed)
    persons = max(int(rows * (1 - habits.duplicates)), 1)
    people = _People(habits, random, persons)
    records = [people.next() for _ in range(persons)]
    again = np.repeat(np.arange(persons), habits.most)
    again = random.permutation(again)[: rows - persons]
    records += [people.again(records[person], records) for person in again.tolist()]
    entities, order = np.concatenate([np.arange(persons), again]), random.permutation(persons + len(again))
    stored = [column.partition("=")[::2] for column in habits.columns]
    names = tuple(shown or kept for kept, shown in stored)
    found = [[people.written(records[place], kept) for kept, _ in stored] for place in order.tolist()]
    return Register(found, entities[order], seed, names)


@dataclass
class _People:
    habits: Habits
    random: Random
    count: int
    last: Person = field(default_factory=dict)
    mails: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        given, surnames, streets, cities = (part.split() for part in _STOCK[self.habits.language])
        many = (
            surnames
            + [name + tail for tail in _TAILS[self.habits.language][1:] for name in surnames]
            + [f"{one}-{two}" for one in surnames for two in surnames[:20] if one != two]
        )
        self.given = self._drawing(given, 0.6)
        self.surname = self._drawing(surnames if self.habits.spread == 1 else many, 0.8)
        self.street, self.city = self._drawing(streets, 0.3), self._drawing(cities, 0.7)
        self.firms = self._drawing([f"{trade} {name}" for name in many for trade in _TRADES], 0.2)

    def _drawing(self, names: list[str], fall: float) -> Callable[[], str]:
        reached = np.cumsum(np.arange(1, len(names) + 1) ** -fall)
        return lambda: names[int(np.searchsorted(reached, self.random.random() * reached[-1]))]

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    # ── persons ──
    def next(self) -> Person:
        random = self.random
        person = {
            "given": self.given(),
            "middle": self.given() if self.chance(0.7) else "",
            "surname": self.surname(),
            "second": self.surname(),
            "sex": "MF"[int(random.integers(0, 2))],
            "born": str(np.datetime64("1930-01-01") + int(random.integers(0, 365 * 80))),
            "trade": _TRADES[int(random.integers(0, len(_TRADES)))],
            "firm": f"{self.firms()} {_FORMS[int(random.integers(0, len(_FORMS)))]}",
            **self.place(),
        }
        if self.last and self.chance(self.habits.families):
            person |= {name: self.last[name] for name in ("street", "postcode", "city", "phone")}
            if self.chance(0.75):
                person["surname"] = self.last["surname"]
        person["email"] = self.mail(person)
        self.last = person
        return person

    def place(self) -> Person:
        city = self.city()
        zone = 10000 + 997 * (sum(map(ord, city)) % 80) + int(self.random.integers(0, 12))
        street = {
            "de": f"{self.street()}straße {{}}",
            "es": f"Calle {self.street()}, {{}}",
            "us": f"{{}} {self.street()} St",
        }
        written = street[self.habits.language].format(int(self.random.integers(1, 120)))
        return {
            "street": written,
            "postcode": str(zone),
            "city": city,
            "phone": f"0{self.random.integers(10**8, 10**10)}",
        }

    def mail(self, person: Person) -> str:
        plain = {name: person[name].lower().translate(_PLAIN).replace(" ", "") for name in ("given", "surname")}
        host = ("gmail.com", "web.de", "yahoo.com", "example.org")[int(self.random.integers(0, 4))]
        written = f"{plain['given']}{'.' if self.chance(0.6) else ''}{plain['surname']}"
        number = str(self.random.integers(1, 99)) if self.chance(0.4) else ""
        while f"{written}{number}@{host}" in self.mails:  # nobody gets an address that somebody has
            number = str(self.random.integers(1, 9999))
        self.mails.add(f"{written}{number}@{host}")
        return f"{written}{number}@{host}"

    # ── further records ──
    def again(self, person: Person, others: list[Person]) -> Person:
        found = dict(person)
        if self.chance(self.habits.changed):
            found |= self.place()
            if self.chance(0.33):
                found["surname"], found["middle"] = self.surname(), found["surname"]
                found["email"] = self.mail(found)
        errors = int(self.random.choice(len(self.habits.errors), p=self.habits.errors))
        stored = [column.partition("=")[0] for column in self.habits.columns]
        for _ in range(errors):
            self._spoil(found, stored[int(self.random.integers(0, len(stored)))])
        return found

    def _spoil(self, person: Person, column: str) -> None:
        for name, parts in {
            "whole": ("given", "surname"),
            "year": ("born",),
            "month": ("born",),
            "day": ("born",),
        }.items():
            if column == name:
                column = parts[int(self.random.integers(0, len(parts)))]
        value, how = person[column], int(self.random.choice(8, p=(0.42, 0.14, 0.1, 0.1, 0.08, 0.06, 0.05, 0.05)))
        if how == 1 and column in ("given", "surname", "firm", "city", "street"):
            value = next((value.replace(a, b, 1) for a, b in _SOUNDS if a in value), value + "e")
        elif how == 2:
            value = ""
        elif how == 3:
            value = value.translate(_PLAIN).upper()
        elif how == 4 and column == "born" and value.count("-") == 2:
            year, month, day = value.split("-")
            value = (f"{day}.{month}.{year}", f"{month}/{day}/{year}", f"{year}-{day}-{month}")[
                int(self.random.integers(0, 3))
            ]
        elif how == 5 and column in ("given", "middle"):
            value = value[:1]
        elif how == 6 and column in ("given", "surname"):
            person["given"], person["surname"] = person["surname"], person["given"]
            return
        elif how == 7 and column == "given":
            value = f"{value} {self.given()}"
        else:
            value = self._typo(value)
        person[column] = value

    def _typo(self, value: str) -> str:
        if not value:
            return value
        at = int(self.random.integers(0, len(value)))
        letter = str(self.random.integers(0, 10)) if value[at].isdigit() else _KEYS[int(self.random.integers(0, 26))]
        swapped = value[:at] + value[at + 1 : at + 2] + value[at : at + 1] + value[at + 2 :]
        return (
            value[:at] + letter + value[at + 1 :],
            value[:at] + letter + value[at:],
            value[:at] + value[at + 1 :],
            swapped,
        )[int(self.random.integers(0, 4))]

    def written(self, person: Person, column: str) -> str:
        """As a clerk of this register would have it, who sometimes has nothing."""
        if column not in ("given", "surname", "whole", "firm") and self.chance(self.habits.missing):
            return ""
        if column == "whole":
            return f"{person['given']} {person['surname']}".strip()
        if column in ("year", "month", "day"):
            parts = person["born"].split("-")
            return parts[("year", "month", "day").index(column)] if len(parts) == 3 else ""
        return person[column]
