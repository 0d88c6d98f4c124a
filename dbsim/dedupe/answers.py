"""Pairs and groups as users get them, with the sentences that belong to them: State, Result → Pairs, Duplicates."""

from __future__ import annotations

from dbsim.dedupe.kernels.missing import Limited
from dbsim.dedupe.options import GroupOptions, PairOptions
from dbsim.dedupe.results import COPIES, FULL_LIST, Duplicates, Pairs, full_length
from dbsim.dedupe.run import Deduplication
from dbsim.dedupe.store_pairs import Workplace
from dbsim.dedupe.stored import limited
from dbsim.errors import InvalidOption, suggest
from dbsim.options import IndexOptions
from dbsim.tables.group_state import State


def listed(
    place: Workplace,
    state: State,
    threshold: float,
    copies: str | None,
    warnings: tuple[str, ...],
    *,
    decided: bool = True,
) -> Pairs:
    """Copies in full, unless the list would be too long."""
    if copies not in (None, *COPIES):
        raise InvalidOption(f"copies are listed {' or '.join(COPIES)}, not {copies!r}{suggest(str(copies), COPIES)}")
    if copies is None:
        length = full_length(place, state.id, threshold)
        copies = "all" if length <= FULL_LIST else "first"
        if copies == "first":
            warnings = (*warnings, _shortened(length))
    found = limited(state)
    return Pairs(place, state.id, threshold, found, copies, (*warnings, *missing(found)), decided)


def _shortened(length: int) -> str:
    return (
        f"all {length:,} pairs would be too many: rows with equal content are listed with the first of them only "
        f'(copies="first"); copies="all" lists them all'
    )


def grouped(
    deduplication: Deduplication,
    groups: GroupOptions,
    pairs: PairOptions,
    name: str,
    saved: bool,
    warnings: tuple[str, ...],
) -> Duplicates:
    """Made where they are missing."""
    result = deduplication.groups(groups, pairs, name, saved=saved)
    found = limited(deduplication.state(result.pairing))
    if not result.published:
        published = deduplication.published()
        kept = "kept under this name" if result.saved else "which goes after an hour"
        warnings = (
            *warnings,
            f"these groups are the result {result.name!r}, {kept}; dbsim_{deduplication.place.context.name}_groups "
            f"still shows the published ones ({published}): publish=True, --publish shows these",
        )
    return Duplicates(deduplication.place, result, found, (*warnings, *missing(found)))


def missing(found: Limited) -> tuple[str, ...]:
    """What large buckets may have hidden, in a sentence."""
    if not found:
        return ()
    held = f"{found.buckets} buckets held up to {found.largest:,} contents, more than the {found.limit:,} that are "
    return (
        f"{held}compared all with all, and were compared through representatives and finer keys: about "
        f"{found.missing:,} of about {found.pairs:,} pairs in them are missing (estimated from {found.drawn:,} drawn "
        "at random)",
    )


def below_threshold(options: IndexOptions, threshold: float) -> tuple[str, ...]:
    """A warning when less is asked for than the index was made for, with the recall to expect."""
    if threshold >= options.threshold:
        return ()
    collision = options.hashing.collision(threshold)
    recall = "fewer" if collision is None else f"about {options.plan.recall(collision):.0%}"
    return (
        f"the index was made for pairs from {options.threshold:g} on; of those at {threshold:g} {recall} are found: "
        f"`dbsim alter --threshold {threshold:g}` finds {options.recall:.0%}",
    )
