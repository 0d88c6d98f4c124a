"""What dbsim's objects say of themselves in any client (COMMENT ON): names of relations and functions → a statement."""

from __future__ import annotations

from collections.abc import Sequence

from dbsim.resources import filled, sql
from dbsim.tables.names import dollar_quoted, literal

RELATIONS = (  # pattern → what it is; the first that fits
    ("^dbsim_version$", "dbsim: the version of dbsim's own tables"),
    ("^dbsim_index$", "dbsim: a row for each index, with its options and its secret"),
    ("^dbsim_generation$", "dbsim: generations of an index beside the one that is searched"),
    ("^dbsim_model$", "dbsim: numbers that learning hash families have fitted"),
    ("^dbsim_quarantine$", "dbsim: keys of rows that cannot be read as text, and why; never their text"),
    ("^dbsim_document$", "dbsim: texts imported without a table of their own"),
    ("^dbsim_cardinality$", "dbsim: how many features a filter with so many bits set stands for"),
    ("^dbsim_unicode$", "dbsim: what characters become before texts are compared"),
    ("^dbsim_(donor|constant)$", "dbsim: numbers that signing in SQL reads"),
    ("^dbsim_status$", "dbsim: how every index is doing"),
    ("_flagged$", "dbsim: rows that were inserted although the person was there already: the new row, the old one"),
    ("_queue$", "dbsim: keys of rows that changed and wait for `dbsim sync`"),
    ("_decisions$", "dbsim: what people decided about pairs of rows"),
    ("_decided$", "dbsim: what people decided about rows that you can see in the table"),
    ("_duplicate_pairs$", "dbsim: the pairs that `dbsim duplicates` found, each once, by the keys of both rows"),
    ("_pairs$", "dbsim: pairs of near-duplicate rows in both directions, estimated; filter by a for one row"),
    ("_buckets$", "dbsim: every bucket of rows that share a key, with its size"),
    ("_signatures$", "dbsim: the signatures of the rows that you can see in the table"),
    ("_saved_groups$", "dbsim: rows of every stored grouping, by the name of the result"),
    ("_groups$", "dbsim: groups of near-duplicate rows, as published by `dbsim duplicates`"),
    ("_edges$", "dbsim: pairs of near-duplicate contents that were found"),
    ("_contents$", "dbsim: which group a content belongs to"),
    ("_changes$", "dbsim: contents that came or went since the groups were made"),
    ("_grouping$", "dbsim: how pairs were sought, and how far a run is"),
    ("_results$", "dbsim: stored groupings and how they were made"),
    ("", "dbsim: what a search reads: bucket keys and filters of every row"),
)
COLUMNS = (  # relation, column → what it holds; the first that fits
    ("^dbsim_index$", "^secret$", "keys every hash of the index; whoever knows it can build texts that collide"),
    ("^dbsim_index$", "^state$", "filling, then ready"),
    ("^dbsim_index$", "^options$", "all options, as JSON"),
    ("^dbsim_quarantine$", "^reason$", "why the row cannot be read as text"),
    ("_pairs$", "^decided$", "same, where people decided so; what they decided to be different is left out"),
    ("_pairs$", "^shared_keys$", "bucket keys that both rows have in common"),
    ("", "^(name|index_name)$", "of the index, the model or the result"),
    ("", "^(score|standard_error)$", "similarity from 0 to 1; the standard error of an estimate"),
    ("", "^exact$", "whether the texts decided the score"),
    ("_duplicate_pairs$", "(_a|_b)(_.*)?$", "primary key of one of the two rows"),
    ("", "^(a|b)(_.*)?$", "primary key or content of one of the two rows"),
    ("", "^fingerprint", "equal for rows whose normalised text is equal"),
    ("", "^k[0-9]+_*$", "a bucket key: rows that share one are candidates"),
    ("", "_bits_*$", "Bloom filter of the field's features"),
    ("", "_count_*$", "bits set in the filter"),
    ("", "^(queued_at|oldest_queued)_*$", "when the change was written"),
    ("", "^(queued|rows|indexed|quarantined|size)$", "number of rows"),
    ("", "^triggers_in_place$", "false when changes go unnoticed: run `dbsim sync`"),
    ("", "^(source_table|source_schema)$", "of the indexed table"),
    ("", "^generation$", "of the index's options, or of a grouping"),
    ("", "^(group_id|group|group_number)_*$", "number of the group"),
    ("", "^diameter$", "how far apart the rows of the group are"),
    ("", "^verdict$", "same, different or unsure"),
    ("", "^decided_", "who decided, and when"),
    ("^dbsim_(index|generation|model|quarantine|document|cardinality)$", "", "of dbsim's own"),
    ("^dbsim_(unicode|donor|constant|version)$", "", "of dbsim's own"),
    ("_(edges|contents|changes|grouping|results)$", "", "of dbsim's own"),
    ("", "", "as in the indexed table, or derived from it"),
)
FUNCTIONS = (
    ("_check$", "dbsim: is this person, given as JSON, in the table already, and what speaks for it"),
    ("_unless$", "dbsim: the trigger that rejects or flags persons who are there already"),
    ("_search$", "dbsim: rows similar to a text, best first"),
    ("_similar$", "dbsim: rows similar to a row of the table, best first"),
    ("_verdicts$", "dbsim: rows that people decided to be the same as a row, or different"),
    ("_explain$", "dbsim: why two rows are, or are not, near-duplicates"),
    ("_word_slices$", "dbsim: bits of word signatures, each over a block of rows"),
    ("_word_places$", "dbsim: the row behind each place of a block of slices"),
    ("_word_tail$", "dbsim: rows that came or changed since the slices were made"),
    ("_contains$", "dbsim: rows that have all these words and phrases and none of those"),
    ("_components$", "dbsim: groups of rows that chains of near-duplicate pairs connect"),
    ("_fill$", "dbsim: sign rows that are not signed yet; repeat it until it returns 0"),
    ("_grant$", "dbsim: let a role search; returns what it lacks still"),
    ("_changed$", "dbsim: the trigger that notes or signs changed rows"),
    ("_visible$", "dbsim: keys of the rows that you can see in the table"),
    ("", "dbsim: a part of signing and searching in SQL"),
)
CATALOGUE = ("index", "generation", "model", "quarantine", "document", "cardinality", "unicode", "donor", "constant")
OWN = tuple(f"dbsim_{name}" for name in (*CATALOGUE, "version", "status"))


def comment_statement(relations: Sequence[str], functions: Sequence[str] = (), home: str = "") -> str:
    """For relations by their quoted names and functions by their plain ones; what is missing is passed over."""
    prefix = f"{home}." if home else ""
    names = {
        "relations": ", ".join(literal(name) for name in relations),
        "functions": ", ".join(map(literal, functions)),
        "catalogue": literal(f"{prefix}dbsim_index"),
        "relation_comments": _values(RELATIONS),
        "column_comments": _values(COLUMNS),
        "function_comments": _values(FUNCTIONS),
    }
    return f"DO {dollar_quoted(filled(sql('postgresql', 'comments'), names))}"


def _values(rows: Sequence[tuple[str, ...]]) -> str:
    return ", ".join(f"({place}, {', '.join(map(literal, row))})" for place, row in enumerate(rows))
