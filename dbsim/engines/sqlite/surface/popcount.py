"""Common bits of two filters in plain SQLite, which can AND integers but not BLOBs: words → a SQL expression.

Beside the BLOB that dbsim's own function reads (718,000 pairs a second with 1,024 bits), a filter is stored as 64-bit
words. Shifts, masks and sums over them count 250,000 pairs a second with no function registered; digits counted with
printf and replace 48,000. SQLite turns a sum beyond 2⁶³ into a float, so the highest lane of every sum stays below
half its width.
"""

from __future__ import annotations

from collections.abc import Sequence

NIBBLES = 0x1111111111111111
BYTES = 0x0F0F0F0F0F0F0F0F
SHORTS = 0x00FF00FF00FF00FF
INTEGERS = 0x0000FFFF0000FFFF
BLOCK = 15  # words whose counts, eight a byte at most, add up to less than 128


def common_bits(left: Sequence[str], right: Sequence[str]) -> str:
    """popcount(left AND right). LIMIT keeps SQLite from writing each step's expression out in the next."""
    count = len(left)
    both = ", ".join(f"{a} & {b} AS x{i}" for i, (a, b) in enumerate(zip(left, right, strict=True)))
    nibbles = ", ".join(f"{_nibbles(f'x{i}')} AS n{i}" for i in range(count))
    blocks = [range(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]
    bytes_ = ", ".join(
        f"{' + '.join(_folded(f'n{i}', 'f', 4) for i in block)} AS t{j}" for j, block in enumerate(blocks)
    )
    shorts = " + ".join(_folded(f"t{j}", str(SHORTS), 8) for j in range(len(blocks)))
    return (
        f"(SELECT ({_folded('u', str(INTEGERS), 16)}) % 4294967295 FROM (SELECT {shorts} AS u FROM (SELECT {bytes_} "
        f"FROM (SELECT {BYTES} AS f, {nibbles} FROM (SELECT {NIBBLES} AS m, {both} LIMIT 1) LIMIT 1) LIMIT 1) LIMIT 1))"
    )


def _nibbles(word: str) -> str:
    """The number of set bits in each four; m is NIBBLES."""
    return " + ".join(f"({word} >> {shift} & m)" if shift else f"({word} & m)" for shift in range(4))


def _folded(name: str, mask: str, width: int) -> str:
    """Neighbouring lanes added up."""
    return f"({name} & {mask}) + ({name} >> {width} & {mask})"
