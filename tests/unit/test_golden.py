"""Golden vectors: signatures that no other Python, machine or release may change, or stored indexes stop matching.

`golden.json` was written by

    python -m tests.unit.test_golden --write

which must only be run for a new version of a hash family or of the normalisation table. Without `--write` the
command prints the vectors: run it with another Python and compare with the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from dbsim.options import Field, IndexOptions

FILE = Path(__file__).with_name("golden.json")
ROOT = Path(__file__).parents[2]
SECRET = bytes(range(16))

TEXTS = [
    "",
    " \t\n",
    "!?…",
    "a",
    "Hello, World!",
    "one two three",
    "one two three four five six seven eight nine ten",
    "The quick brown fox jumps over the lazy dog.",
    "the QUICK brown fox, jumps over the lazy dog",
    "The quick brown fox jumped over the lazy dogs.",
    "Die Straße ist naß, die Äpfel sind süß und Öl ist teuer.",
    "Erika Mustermann",
    "Erica Mustermann",
    "1964-08-12 +49 (0)30 123456",
    "Ça dépend de l’été à Nîmes, où l’œuvre naît.",
    "Привет, мир! Ёлка растёт в лесу.",
    "Ο Σίσυφος κύλησε τον βράχο ΞΑΝΆ.",
    "日本語の文章と東京タワー。",
    "한국어 문장입니다 그리고 한글",
    "مرحبا بالعالم والسلام عليكم",
    "नमस्ते दुनिया, यह हिन्दी है।",
    "สวัสดีชาวโลก",
    "𝕊𝓬𝔯𝖎𝙥𝚝 ﬁne ｆｕｌｌ Ⅷ ½",
    "emoji 👨‍👩‍👧 and 👍🏽 between words",
    "nul\x00byte and a lone \ud800 surrogate",
    " ".join(f"word{number % 97}" for number in range(400)),
    " ".join(f"w{number * number % 10007}" for number in range(5000)),
    "x" * 3000,
]
SYMBOLS = [*TEXTS, r"for (i = 0; i < n; i++) { C:\dir[i] += a_b * 'x' ≠ C++; }", "a+b", "a-b"]


WORDS = Field(columns=("body",), unit="words", size=3, bits=256, sample=1)
CHARACTERS = Field(columns=("name",), unit="characters", size=3, bits=256, sample=1)

INDEXES = {
    "words": (WORDS,),
    "characters": (CHARACTERS,),
    "sampled german words": (Field(columns=("body",), normaliser="german", unit="words", size=1, bits=64, sample=4),),
    "weighted": (
        Field(columns=("name",), weight=0.3, unit="characters", size=2, bits=64, sample=1),
        Field(columns=("body",), weight=0.7, unit="words", size=2, bits=256, sample=1),
    ),
    "symbols": (Field(columns=("body",), normaliser="symbols", unit="words", size=2, bits=256, sample=1),),
    "symbol characters": (
        Field(columns=("body",), normaliser="symbols", unit="characters", size=2, bits=64, sample=1),
    ),
}

PLAN = {"rows": 6, "keys": 24}  # as plans were when the vectors were made: what is signed must not depend on today's


def vectors() -> dict[str, Any]:
    """Fingerprint, keys, bits and counts of every text in every index; a second field is the text after."""
    found: dict[str, Any] = {"secret": SECRET.hex(), "texts": TEXTS, "indexes": {}}
    for name, fields in INDEXES.items():
        options = IndexOptions(name="golden", table="texts", fields=fields, threshold=0.7, recall=0.95, **PLAN)
        texts = texts_of(name)
        columns = [texts[shift:] + texts[:shift] for shift in range(len(fields))]
        rows = options.signer(SECRET).sign(columns).as_tuples()
        found["indexes"][name] = {
            "options": json.loads(options.to_json()),
            "signatures": [describe(row, options.keys) for row in rows],
        }
    return found


def texts_of(index: str) -> list[str]:
    return SYMBOLS if index.startswith("symbol") else TEXTS


def describe(row: tuple[int | bytes | None, ...], keys: int) -> dict[str, Any]:
    bits = [value.hex() if isinstance(value, bytes) else value for value in row[1 + keys :: 2]]
    return {"fingerprint": row[0], "keys": list(row[1 : 1 + keys]), "bits": bits, "counts": list(row[2 + keys :: 2])}


def as_json(found: dict[str, Any]) -> str:
    """One line a signature, so that a change shows which one; ASCII, because a lone surrogate has no UTF-8."""
    lines = [f'{{"secret": {json.dumps(found["secret"])}, "texts": [']
    lines.append(",\n".join(json.dumps(text) for text in found["texts"]) + '], "indexes": {')
    indexes = []
    for name, index in found["indexes"].items():
        rows = ",\n".join(json.dumps(row) for row in index["signatures"])
        indexes.append(f'{json.dumps(name)}: {{"options": {json.dumps(index["options"])},\n"signatures": [\n{rows}]}}')
    return "\n".join(lines) + "\n" + ",\n".join(indexes) + "}}\n"


def stored() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(FILE.read_text("ascii"))
    return data


def test_texts_and_secret_are_those_of_the_file() -> None:
    assert stored()["texts"] == TEXTS
    assert bytes.fromhex(stored()["secret"]) == SECRET
    assert list(stored()["indexes"]) == list(INDEXES)


def test_signatures_are_those_of_the_file() -> None:
    found = vectors()["indexes"]
    for name, index in stored()["indexes"].items():
        assert found[name]["options"] == index["options"]
        for text, expected, row in zip(texts_of(name), index["signatures"], found[name]["signatures"], strict=True):
            assert row == expected, (name, text[:60])


def test_the_file_is_what_the_command_writes() -> None:
    assert FILE.read_text("ascii") == as_json(vectors())


def test_vectors_say_what_they_should() -> None:
    """The file itself has the properties of signatures: a wrong file would make the other tests worthless."""
    rows = dict(zip(TEXTS, stored()["indexes"]["words"]["signatures"], strict=True))
    for empty in TEXTS[:3]:
        assert rows[empty] == {"fingerprint": None, "keys": [None] * 24, "bits": [None], "counts": [0]}
    assert rows[TEXTS[7]] == rows[TEXTS[8]]
    assert rows[TEXTS[7]]["fingerprint"] != rows[TEXTS[9]]["fingerprint"]
    for index in stored()["indexes"].values():
        for row in index["signatures"]:
            for bits, count in zip(row["bits"], row["counts"], strict=True):
                assert (int(bits, 16).bit_count() if bits else 0) == count


def test_another_process_and_hash_seed_give_the_same() -> None:
    expected = FILE.read_text("ascii")
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}  # this process has a random one
    command = [sys.executable, "-m", "tests.unit.test_golden"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, encoding="ascii")
    assert done.stdout == expected


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        FILE.write_text(as_json(vectors()), "ascii")
    else:
        print(as_json(vectors()), end="")
