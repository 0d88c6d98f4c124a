"""Normalisation: laws over every code point and over arbitrary text, examples by script, and the data file itself."""

import hashlib
import re
import unicodedata
from importlib.resources import files
from typing import Final
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.text.normalise import fold, normalise, tokens
from dbsim.text.normalisers.registry import NORMALISERS, full_name, newest, normaliser_names, normaliser_of
from dbsim.text.normalisers.unicode_table import UNICODE_VERSION
from tests.code_points import ALL, CODES
from tools import make_unicode_table as make_table

FORMS: Final = ("NFC", "NFD", "NFKC", "NFKD")
PROFILES = normaliser_names()


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


NEWER_PYTHON = version(unicodedata.unidata_version) > version(UNICODE_VERSION)


def known(char: str) -> bool:
    """Assigned both in this Python's Unicode and in the table's: only there do the two have to agree."""
    return unicodedata.category(char) != "Cn" and not (NEWER_PYTHON and fold(char) == b" ")


any_text = st.text(st.characters())  # unassigned code points and lone surrogates included
known_text = st.text(st.characters(exclude_categories=["Cn"]).filter(known))
marks = [char for char in map(chr, ALL) if unicodedata.combining(char) and known(char)]
marked_text = st.text(st.sampled_from("aäuß가हか1 ") | st.sampled_from(marks) | st.sampled_from("\u0308\u094d\u0dca"))


# Laws


@pytest.mark.parametrize("profile", PROFILES)
def test_every_code_point_equals_its_normal_forms(profile: str) -> None:
    decomposing = [char for char in map(chr, ALL) if normalize("NFKD", char) != char and known(char)]
    assert len(decomposing) > 16_000
    wrong = [
        f"U+{ord(char):04X} {form}"
        for char in decomposing
        for form in FORMS
        if normalise(f"a{char}a", profile) != normalise(f"a{normalize(form, char)}a", profile)
    ]
    assert wrong == []


@pytest.mark.parametrize("profile", PROFILES)
@given(known_text | marked_text)
def test_text_equals_its_normal_forms(profile: str, text: str) -> None:
    assert {normalise(normalize(form, text), profile) for form in FORMS} == {normalise(text, profile)}


@pytest.mark.parametrize("profile", PROFILES)
def test_idempotent_for_every_code_point(profile: str) -> None:
    once = normalise("x".join(map(chr, CODES)), profile)
    assert normalise(once, profile) == once


@pytest.mark.parametrize("profile", PROFILES)
@given(any_text | marked_text)
def test_idempotent(profile: str, text: str) -> None:
    once = normalise(text, profile)
    assert normalise(once, profile) == once


@pytest.mark.parametrize("profile", PROFILES)
@given(any_text)
def test_context_free(profile: str, text: str) -> None:
    # Mostly ASCII text goes another way than other text: the number of spaces may differ, the words may not.
    ascii_text = " Aa1" * len(text)
    expected = b"".join(fold(char, profile) for char in text)
    assert tokens(text, profile) == expected.split()
    assert tokens(text + ascii_text, profile) == (expected + fold(ascii_text, profile)).split()


@given(any_text)
def test_tokens_have_no_white_space_and_no_capitals(text: str) -> None:
    for token in tokens(text):
        assert len(token.decode().split()) == 1
        assert not any(b"A"[0] <= byte <= b"Z"[0] for byte in token)


@given(st.text(st.characters(codec="ascii")))
def test_ascii_case_and_separators(text: str) -> None:
    words = "".join(char if char.isalnum() else " " for char in text.lower())
    assert normalise(text) == normalise(text.upper()) == " ".join(words.split())


def test_many_kinds_of_characters_in_mostly_ascii_text() -> None:
    kinds = [chr(code) for code in range(0xC0, 0x180)]
    text = " and then some words ".join(kinds)
    assert tokens(text) == [token for word in text.split() for token in tokens(word)]


# Examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Hello, World! don't_stop", "hello world don t stop"),
        ("Crème brûlée, Ångström, Žižek", "creme brulee angstrom zizek"),
        ("Straße STRASSE STRAẞE", "strasse strasse strasse"),
        ("ﬁn ﬀ Ⅷ x² ½ № ™ ①", "fin ff viii x2 1 2 no tm 1"),
        ("ｆｕｌｌ　ＷＩＤＴＨ", "full width"),
        ("𝕊𝓬𝔯𝖎𝙥𝚝", "script"),
        ("ΣΊΣΥΦΟΣ Σίσυφος ᾳ", "σισυφοσ σισυφοσ α"),
        ("Йод ЁЛКА ёлка", "иод елка елка"),
        ("ŁÓDŹ Ærø Ðæð Þór", "łodz ærø ðæð þor"),  # letters of their own, not letters with a mark
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("বাংলা", "বাংলা"),
        ("\u0bae\u0bca\u0bb4\u0bbf", "\u0bae\u0bc6\u0bbe\u0bb4\u0bbf"),  # Tamil: one vowel sign, two parts
        ("مُحَمَّد محمد", "محمد محمد"),
        ("שָׁלוֹם שלום", "שלום שלום"),
        ("日本語 ひらがな", "日 本 語 ひ ら か な"),
        ("東京abcタワー", "東 京 abc タ ワ ー"),
        ("ｶﾞｷﾞ ガギ", "カ キ カ キ"),
        ("⼀ 一 豈 豈", "一 一 豈 豈"),  # Kangxi radical, compatibility ideograph
        ("㌔ ㍻", "キ ロ 平 成"),
        ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
        ("สวัสดี", "ส ว ส ด"),
        ("ភាសា ລາວ မြန်မာ", "ភ ស ລ າ ວ မ န မ"),
        ("٣٤٥ ३४५ ３４５ ๓๔๕ 𝟛𝟜𝟝", "345 345 345 345 345"),
        ("co\u00adop\u200ber\u200da\u2060te\ufeff", "cooperate"),
        ("a\u20ddb c\ufe0fd e\u034ff \u3164g", "ab cd ef g"),
        ("Hi😀there👨‍👩‍👧👍🏽ok ❤️", "hi there ok"),
        ("1️⃣ #️⃣", "1"),
        ("a–b—c…d„e“f€g·h", "a b c d e f g h"),
        ("a\x00b\x1cc\x85d\u00a0e\u2028f\u3000g\x7fh", "a b c d e f g h"),
        ("a\ud800b\udfffc", "a b c"),
        ("a\u0378b\U000e0080c\U0010ffffd\ue000e\uffffg", "a b c d e g"),  # unassigned, private use, noncharacter
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert normalise(text) == expected
    assert tokens(text) == expected.encode().split()


def test_turkish_i_is_stable() -> None:
    assert normalise("I İ i i̇") == "i i i i"
    assert normalise("ı") == "ı"
    assert normalise("DIŞ dış") == "dis dıs"


def test_korean_becomes_jamo() -> None:
    assert normalise("한국어 각") == normalize("NFD", "한국어 각")
    assert len(tokens("대한민국 만세")) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Müller MÜLLER Mueller Mu\u0308ller", "mueller mueller mueller mueller"),
        ("Größe Äpfel Öl", "groesse aepfel oel"),
        ("Noël naïve", "noeel naieve"),
        ("Crème Ångström", "creme angstroem"),
        ("ǖ \u0344", "ue e"),
        ("日本", "日 本"),
        ("हिन्दी", "हिनदी"),  # no viramas: their order relative to U+0308 would depend on the normal form
    ],
)
def test_german(text: str, expected: str) -> None:
    assert normalise(text, "german") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "20240301"),
        ("01.03.2024", "01032024"),
        ("+49 (0)30 / 123-456", "49030123456"),
        ("０１２ ٣٤٥ ६७८ 九9", "0123456789"),
        ("no digits, keine Ziffern äöü 😀", ""),
        ("1\x002\ud8003", "123"),
    ],
)
def test_digits(text: str, expected: str) -> None:
    assert normalise(text, "digits") == expected
    assert fold(text, "digits") == expected.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a+b a-b", "a + b a - b"),
        ("C++ C# C", "c + + c # c"),
        ("if (x[0]>=y_1) {", "if ( x [ 0 ] > = y _ 1 ) {"),
        ("a ≠ b = c", "a = \u0338 b = c"),
        ("a ≠ b", "a = \u0338 b"),
        (r"C:\dir ＼ ∖", "c : \u2216 dir \u2216 \u2216"),
        ("½ … x² ＋", "1 \u2044 2 . . . x2 +"),
        ("Straße 東京🚗!", "strasse 東 京 🚗 !"),
        ("a\x00b\x1f\x7f\tc\u200bd\ue000e", "a b cd e"),
        ("\ud800", ""),
    ],
)
def test_symbols(text: str, expected: str) -> None:
    assert normalise(text, "symbols") == expected


@given(any_text)
def test_symbols_adds_symbols_to_text(text: str) -> None:
    """Without the tokens that are symbols the words are those of text, but for viramas and the stroke of not-equal."""
    plain = text.replace("\u0338", "")
    words = [token for token in tokens(plain, "symbols") if tokens(token.decode())]
    left = [token for token in tokens(plain) if not any(unicodedata.combining(char) == 9 for char in token.decode())]
    assert len(words) == len(tokens(plain))
    assert [token for token in words if token in left] == left


# Names and versions


def test_a_stored_name_never_changes_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name without a version is the first one's, which is what was stored before there were versions."""
    monkeypatch.setitem(NORMALISERS, "text@2", normaliser_of("digits"))
    monkeypatch.setitem(NORMALISERS, "text@10", normaliser_of("german"))
    assert full_name("text") == "text@1"
    assert normalise("Müller 1", "text") == "muller 1"
    assert newest("text") == "text@10"
    assert newest("text@2") == "text@2"
    assert newest("text@1") == "text"
    assert newest("symbols") == "symbols"
    assert normalise("Müller 1", newest("text")) == "mueller 1"


@pytest.mark.parametrize("name", ["klingon", "text@7", "", "@1", "symbol"])
def test_unknown_normaliser_names_those_there_are(name: str) -> None:
    hint = "did you mean" if name in ("symbol", "text@7") else "there is text, german, digits, symbols"
    for ask in (lambda: fold("text", name), lambda: newest(name)):
        with pytest.raises(ValueError, match=f"no normaliser '{name}'; {hint}"):
            ask()


# The data file


TABLES = {
    "unicode": "f0d878dd3dbfab48124a162b20509ee6ca070ff88a9a8192fbaf8eefc6058f55",
    "symbols": "d4ab62327d13569e52c5e5f943cae5e7f9af2b686633dbbc199023942abd8db1",
}


def data_file(name: str) -> str:
    return files("dbsim.text").joinpath(f"{name}-{UNICODE_VERSION}.txt").read_bytes().decode("ascii")


def test_data_file_is_what_the_generator_gives() -> None:
    assert make_table.PINNED == UNICODE_VERSION
    if unicodedata.unidata_version == UNICODE_VERSION:
        assert make_table.table() == data_file("unicode")
        assert make_table.symbols_table() == data_file("symbols")
    else:
        with pytest.raises(SystemExit, match=r"pinned to Unicode 15\.1\.0.*make_unicode_table.py with Python 3\.13"):
            make_table.table()


@pytest.mark.parametrize("name", TABLES)
def test_data_file_has_its_checksum(name: str) -> None:
    body = "".join(line for line in data_file(name).splitlines(keepends=True) if not line.startswith("#"))
    checksum = hashlib.sha256(body.encode()).hexdigest()
    assert f"# sha256 of everything after this header: {checksum}\n" in data_file(name)
    assert checksum == TABLES[name], "The table changed: every stored index would have to be built again."


@pytest.mark.parametrize("profile", ["text", "german", "symbols"])
def test_rules_give_the_same_on_this_python(profile: str) -> None:
    # Found no difference between Unicode 14.0, 15.0 and 15.1; a newer one may have corrected a character.
    codes = [code for code in CODES if known(chr(code))] if not NEWER_PYTHON else list(range(0x250))
    wrong = [
        f"U+{code:04X}"
        for code in codes
        if re.sub(" +", " ", fold(chr(code), profile).decode()) != make_table.replacement(code, profile)
    ]
    assert wrong == []
