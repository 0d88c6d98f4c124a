"""Questions about one text or row, as users ask them: search, similar, match, contains, explain; a part of Index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from sqlalchemy import Subquery

from dbsim.engines.callers import Caller, connection_of
from dbsim.errors import InvalidOption
from dbsim.index.base import IndexBase
from dbsim.search.answering import answer
from dbsim.search.containing.contains import Contained, contains
from dbsim.search.containing.words import Question, Words
from dbsim.search.explain import Explanation
from dbsim.search.limits import Search, SearchOptions, Text, Where, by_field
from dbsim.search.results import Results
from dbsim.search.searcher import SearchEngine
from dbsim.search.several import BATCH

USUAL = Search()
MATCHING = Search(limit=1000)


class Searching(IndexBase):
    """Every method is one question to the generation that is searched."""

    def search(
        self,
        text: Text,
        options: Search = USUAL,
        *,
        containing: Words | str | None = None,
        decided: Any = None,
        connection: Caller = None,
        **changes: Unpack[SearchOptions],
    ) -> Results:
        """Rows similar to a text; for an index of several fields give `{"title": …, "body": …}`.

        The keywords are the fields of `Search`: threshold, limit, where, max_candidates, probes, verify. `containing`
        leaves rows out that lack a word, in the same statement. `decided` is the key of the row that the text belongs
        to, for instance one that is being edited: it is not found itself, rows decided to be different from it are left
        out, and the same ones are there.
        """
        asked, own = options.changed(**changes), connection_of(connection)
        wanted = Words(all=(containing,)) if isinstance(containing, str) else containing
        if decided is not None and wanted is not None:
            raise InvalidOption("give `decided` or `containing`, not both")
        row = None if decided is None else self.key(decided)
        return self._current.ask(lambda search: answer(search, text, asked, own, row=row, containing=wanted), own)

    def contains(
        self,
        *words: str,
        phrase: str | Sequence[str] = (),
        none_of: str | Sequence[str] = (),
        where: Where = None,
        limit: int | None = None,
        connection: Caller = None,
    ) -> Contained:
        """Keys of the rows that have all these words and phrases and none of those, exactly; needs word signatures.

        A word is one of the normalised text: "Straße" finds "STRASSE". `phrase` and `none_of` are one text or several.
        """
        asked, own = Words.of(words, phrase, none_of), connection_of(connection)

        def question(search: SearchEngine) -> Contained:
            return contains(search, Question(search.tables, search.signer, asked), where, limit, own)

        return self._current.ask(question, own)

    def similar(
        self,
        key: Any,
        options: Search = USUAL,
        *,
        decided: bool = True,
        connection: Caller = None,
        **changes: Unpack[SearchOptions],
    ) -> Results:
        """Rows similar to a row of the table, given by its primary key (a dict or tuple when composite).

        Rows that were decided to be different from it are left out, and the same ones are there also below the
        threshold, unless `decided` is False.
        """
        asked, found, own = options.changed(**changes), self.key(key), connection_of(connection)
        return self._current.ask(
            lambda search: search.similar(found, asked.bounds(search.options), asked.where, own, decided=decided), own
        )

    def search_many(
        self,
        texts: Sequence[Text],
        options: Search = USUAL,
        *,
        decided: Sequence[Any] | None = None,
        connection: Caller = None,
        **changes: Unpack[SearchOptions],
    ) -> list[Results]:
        """A batch of searches in one statement (per 200 texts).

        `decided` has the key of the row that each text belongs to, or None, as in `search`; those are asked one by one.
        """
        if isinstance(texts, str):
            raise InvalidOption("search_many takes a list of texts; for one text use search")
        if decided is not None and len(decided) != len(texts):
            raise InvalidOption(
                f"{len(texts)} texts, but {len(decided)} keys in `decided`: give a key or None for each"
            )
        asked, own = options.changed(**changes), connection_of(connection)

        def question(search: SearchEngine) -> list[Results]:
            fields, bounds = [by_field(search.options, text) for text in texts], asked.bounds(search.options)
            keys = [None if key is None else self.key(key) for key in decided or ()]
            found: list[Results] = []
            for start in range(0, len(fields), BATCH):  # of more texts only the results stay in memory
                some = slice(start, start + BATCH)
                signed = search.sign(fields[some], asked.probes, own)
                if decided is None:
                    found += search.search_many(signed, bounds, asked.where, own)
                else:
                    found += search.search_each(signed, keys[some], bounds, asked.where, own)
            return found

        return self._current.ask(question, own)

    def match(
        self, text: Text, options: Search = MATCHING, *, decided: Any = None, **changes: Unpack[SearchOptions]
    ) -> Subquery:
        """The search as a SQLAlchemy selectable: key columns, `score`, `standard_error`, to join with your own tables.

        Threshold and score are those of the estimated Jaccard similarity, whatever the family's own measure; rows down
        to 2.5 standard errors below the threshold are there too, as no text is looked at. Build it anew for each
        query: it asks one generation of the index, which goes some minutes after a change of options. `decided` is the
        key of the row that the text belongs to, as in `search`: what was decided about it by now counts.
        """
        search, asked = self._current.get(), options.changed(**changes)
        if search.options.hashing.measure != "jaccard":
            asked = asked.changed(verify=False)
        (query,) = search.sign([by_field(search.options, text)], asked.probes)
        key = None if decided is None else self.key(decided)
        return search.match(query, asked.bounds(search.options), asked.where, key)

    def keys_in_common(self, text: Text, keys: Sequence[Any]) -> list[int]:
        """In how many of the index's bucket keys a text agrees with each of these rows: those that find them."""
        wanted = [self.key(key) for key in keys]

        def question(search: SearchEngine) -> list[int]:
            return search.keys_in_common(search.sign([by_field(search.options, text)], 0, None)[0], wanted)

        return self._current.ask(question)

    def explain(self, a: Any, b: Any) -> Explanation:
        """Why two rows are, or are not, near-duplicates: keys and shingles in common, estimate and exact value."""
        return self._current.ask(lambda search: search.explain(self.key(a), self.key(b)))

    def side_by_side(self, a: Any, b: Any) -> tuple[list[dict[str, str] | None], Explanation | None]:
        """The text of every field of two rows, None for one that is gone; and, of two that are there, `explain`."""
        rows, explained = self._current.ask(lambda search: search.side_by_side(self.key(a), self.key(b)))
        return [self._by_name(row) for row in rows], explained
