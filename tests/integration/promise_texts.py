"""Texts like those that short promises break on, generated: templated notices, titles, code; with their exact truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from dbsim.hashing.signer import Signer

Pairs = dict[tuple[int, int], float]
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "xu", "za")


def _words(random: np.random.Generator, count: int) -> list[str]:
    return ["".join(random.choice(SYLLABLES, random.integers(2, 5))) for _ in range(count)]


def templated(random: np.random.Generator, rows: int) -> list[str]:
    """Product notices and advisories: 10 to 60 words, of which a template gives 70 to 90 %."""
    found: list[str] = []
    while len(found) < rows:
        template = _words(random, int(random.integers(10, 61)))
        own = max(round(len(template) * random.uniform(0.1, 0.3)), 1)
        places = random.choice(len(template), own, replace=False)
        for _ in range(min(int(random.integers(2, 12)), rows - len(found))):
            words = list(template)
            for place, word in zip(places, _words(random, own), strict=True):
                if random.random() < 0.7:  # the others keep what the template has
                    words[place] = word
            found.append(" ".join(words))
    return found


def titles(random: np.random.Generator, rows: int) -> list[str]:
    """4 to 12 words of a small vocabulary; half of them are others with a word changed, added or left out."""
    vocabulary = _words(random, 400)
    found: list[str] = []
    while len(found) < rows:
        words = random.choice(vocabulary, random.integers(4, 13)).tolist()
        found.append(" ".join(words))
        for _ in range(int(random.integers(0, 3))):
            changed = list(words)
            place = int(random.integers(len(changed)))
            changed[place : place + int(random.integers(0, 2))] = random.choice(
                vocabulary, random.integers(0, 2)
            ).tolist()
            found.append(" ".join(changed))
    return found[:rows]


def code(random: np.random.Generator, rows: int) -> list[str]:
    """Methods: the same statements with other names and some lines more or fewer."""
    found: list[str] = []
    while len(found) < rows:
        lines = [" ".join(_words(random, int(random.integers(2, 7)))) for _ in range(int(random.integers(3, 15)))]
        for _ in range(int(random.integers(1, 6))):
            name = _words(random, 1)[0]
            kept = [line for line in lines if random.random() < 0.92]
            found.append(f"public void {name} return " + " ".join(kept))
    return found[:rows]


def notices(random: np.random.Generator, rows: int) -> list[str]:
    """Few templates, each used by some eighty rows that fill their places from short lists: large groups, many ties."""
    vocabulary = _words(random, 3000)
    templates = []
    for _ in range(max(rows // 80, 3)):
        template = random.choice(vocabulary, random.integers(10, 61)).tolist()
        places = random.choice(len(template), max(round(len(template) * random.uniform(0.1, 0.3)), 1), replace=False)
        templates.append((template, [(place, _words(random, int(random.integers(3, 200)))) for place in places]))
    found = []
    for number in random.integers(0, len(templates), rows).tolist():
        template, places = templates[number]
        words = list(template)
        for place, values in places:
            words[place] = values[int(len(values) * random.random() ** 2)]  # a few of them are frequent
        found.append(" ".join(words))
    return found


def advisories(random: np.random.Generator, rows: int) -> list[str]:
    """Sentences of a common stock with a package, a version and a number of their own."""
    names, stock = _words(random, 300), [" ".join(_words(random, int(random.integers(5, 14)))) for _ in range(25)]
    found: list[str] = []
    while len(found) < rows:
        told = " ".join(random.choice(stock, random.integers(1, 4), replace=False))
        for _ in range(int(random.integers(1, 20))):
            version = ".".join(map(str, random.integers(0, 30, 3)))
            number = f"CVE-20{random.integers(10, 26)}-{random.integers(1000, 99999)}"
            found.append(f"{random.choice(names)} before {version}: {told} {number}")
    return found[:rows]


STATEMENTS = (
    'if ({0} == null) {{ throw new IllegalArgumentException("{1}"); }}',
    "this.{0} = {1};",
    "for (int i = 0; i < {0}.size(); i++) {{ {1}.add({0}.get(i)); }}",
    "{0}.{1}({2});",
    "return {0} != null ? {0}.{1}() : null;",
    'log.debug("{0} {1}", {2});',
    "try {{ {0}.{1}(); }} catch (IOException e) {{ throw new RuntimeException(e); }}",
    "int {0} = {1} + {2} * 7;",
)


def methods(random: np.random.Generator, rows: int) -> list[str]:
    """Methods with their symbols: idioms over names of their own, copied with statements left out and names changed."""
    vocabulary = _words(random, 800)
    found: list[str] = []
    while len(found) < rows:
        names = random.choice(vocabulary, random.integers(2, 7)).tolist()
        body = [
            STATEMENTS[int(random.integers(len(STATEMENTS)))].format(*random.choice(names, 3))
            for _ in range(int(random.integers(1, 12)))
        ]
        for copy in range(int(random.integers(1, 7))):
            kept = " ".join(line for line in body if random.random() < 0.95)
            method = f"public int {names[0]}(String {names[1]}) {{ {kept} }}"
            found.append(method.replace(names[0], str(random.choice(vocabulary))) if copy % 2 else method)
    return found[:rows]


def manuals(random: np.random.Generator, rows: int) -> list[str]:
    """Pages of 30 to 400 words in two languages, with standing sections; some have revisions."""
    vocabularies = [_words(random, 3000), [word.replace("a", "ä") + "en" for word in _words(random, 3000)]]
    sections = [[" ".join(random.choice(words, 40)) for _ in range(4)] for words in vocabularies]
    found: list[str] = []
    while len(found) < rows:
        language = int(random.integers(2))
        page = random.choice(vocabularies[language], random.integers(30, 400))
        for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
            changed = random.random(len(page)) < random.choice([0.01, 0.03, 0.08])
            text = np.where(changed, random.choice(vocabularies[language], len(page)), page)
            standing = random.choice(sections[language], random.integers(0, 4), replace=False)
            found.append(" ".join([*text, *standing]))
    return found[:rows]


def abstracts(random: np.random.Generator, rows: int) -> list[str]:
    """Four to ten sentences; versions have some of them written anew, or all in another order."""
    vocabulary = _words(random, 6000)

    def sentence() -> str:
        return " ".join(random.choice(vocabulary, random.integers(8, 25)))

    found: list[str] = []
    while len(found) < rows:
        sentences = [sentence() for _ in range(int(random.integers(4, 11)))]
        found.append(". ".join(sentences))
        for _ in range(int(random.choice([0, 0, 1, 2]))):
            changed = list(sentences)
            for _ in range(int(random.integers(1, 4))):
                changed[int(random.integers(len(changed)))] = sentence()
            found.append(". ".join(random.permutation(changed) if random.random() < 0.5 else changed))
    return found[:rows]


KINDS: dict[str, Callable[[np.random.Generator, int], list[str]]] = {
    "templated": templated,
    "titles": titles,
    "code": code,
    "notices": notices,
    "advisories": advisories,
    "methods": methods,
    "manuals": manuals,
    "abstracts": abstracts,
}


def exact_pairs(signer: Signer, texts: list[str], lowest: float, block: int = 2000) -> Pairs:
    """(i, j) → J for all i < j with J ≥ lowest: a sparse product, block by block."""
    features = signer.features(0, texts)
    _, terms = np.unique(features.hashes, return_inverse=True)
    width = int(terms.max(initial=0)) + 1
    entries = np.unique(features.documents * width + terms)
    starts = np.searchsorted(entries, np.arange(len(texts) + 1) * width)
    matrix = scipy.sparse.csr_array((np.ones(len(entries)), entries % width, starts), shape=(len(texts), width))
    sizes: NDArray[np.int64] = np.diff(starts)
    other = matrix.T.tocsr()
    found: Pairs = {}
    for start in range(0, len(texts), block):
        common = (matrix[start : start + block] @ other).tocoo()
        i, j = common.row + start, common.col
        value = common.data / (sizes[i] + sizes[j] - common.data)
        kept = (i < j) & (value >= lowest - 1e-12)
        found |= zip(zip(i[kept].tolist(), j[kept].tolist(), strict=True), value[kept].tolist(), strict=True)
    return found
