"""Small plots without a library: Series → an SVG picture, or lines of text for a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from dbsim.report.files import MARK

Point = tuple[float, float]
WIDTH, LEFT, TOP, RIGHT, PLAIN, BELOW = 480, 80, 46, 28, 290, 52  # pixels; a phone shows 360 of them a line
LINE, LETTER, FONT = 21, 7.4, 14  # of the legend; a letter's usual width
SIGNS, MARGIN = 60, 8  # of a terminal: across the plot, and beside it
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#7b3294", "#000000")
DASHES = ("", "7 4", "2 3")


@dataclass(frozen=True)
class Series:
    """One curve, or single points."""

    name: str
    points: Sequence[Point]
    line: bool = True


@dataclass(frozen=True)
class Axis:
    """What an axis shows, its unit in brackets, and from where to where."""

    name: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one; what lies outside is drawn at the edge."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, self.low))
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            values = [10.0**power for power in range(first, last + 1)]
            values = [value for value in values if self.low <= value * 1.0001 and value <= self.high * 1.0001]
            return [(value, _number(value, min(value, 1.0))) for value in values]
        step = _step(self.high - self.low)
        numbers = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [(number * step, _number(number * step, step)) for number in numbers]


def axis_for(name: str, values: Sequence[float], *, log: bool = False, low: float | None = None) -> Axis:
    """An axis that holds all values, from zero unless it is logarithmic or `low` says otherwise."""
    highest = max(values, default=1.0)
    if log:
        lowest = min((value for value in values if value > 0), default=0.1)
        powers = math.floor(math.log10(lowest)), math.ceil(math.log10(max(highest, lowest * 1.01)))
        return Axis(name, 10.0 ** powers[0], 10.0 ** powers[1], log=True)
    low = min(0.0, min(values, default=0.0)) if low is None else low
    step = _step(max(highest - low, 1e-9))
    return Axis(name, math.floor(low / step + 1e-9) * step, math.ceil(highest / step - 1e-9) * step or 1.0)


def svg(series: Sequence[Series], *, title: str, x: str | Axis, y: str | Axis) -> str:
    """A picture as text of an .svg file; axes given by name alone run from 0 to 1. The legend stands below."""
    across, up = (Axis(axis) if isinstance(axis, str) else axis for axis in (x, y))
    legend = _legend([one.name for one in series])
    height = TOP + PLAIN + BELOW + LINE * (1 + max((line for _, line in legend), default=0))
    lines = _wrapped(title, WIDTH - 20)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="{FONT}"><!-- {MARK} -->',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *(f'<text x="10" y="{17 + 17 * n}" font-weight="bold">{escape(text)}</text>' for n, text in enumerate(lines)),
        *_axes(across, up),
    ]
    for number, one in enumerate(series):
        parts += _draw(one, number, across, up, legend[number])
    return "\n".join([*parts, "</svg>", ""])


def sheet(pictures: Sequence[str], columns: int = 1) -> str:
    """Several pictures as one, in rows of so many; more than one a row cannot be read on a phone."""
    sizes = [(float(w), float(h)) for w, h in (re.findall(r'viewBox="0 0 (\S+) (\S+)"', p)[0] for p in pictures)]
    parts, top = [], 0.0
    for start in range(0, len(pictures), columns):
        row = range(start, min(start + columns, len(pictures)))
        for number in row:
            width, height = sizes[number]
            place = f'<svg x="{(number - start) * WIDTH}" y="{top:g}" width="{width:g}" height="{height:g}" '
            parts.append(pictures[number].replace("<svg ", place, 1))
        top += max(sizes[number][1] for number in row)
    size = f'viewBox="0 0 {min(columns, len(pictures)) * WIDTH} {top:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<rect width="100%" height="100%" fill="white"/>\n' + (
        "".join(parts) + "</svg>\n"
    )


def _legend(names: Sequence[str]) -> list[tuple[float, int]]:
    """Where each name stands: as many in a line as fit."""
    places: list[tuple[float, int]] = []
    left, line = 14.0, 0
    for name in names:
        wide = 46 + LETTER * len(name)
        if left > 14 and left + wide > WIDTH:
            left, line = 14.0, line + 1
        places.append((left, line))
        left += wide
    return places


def _wrapped(text: str, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) * LETTER * 1.08 > width and lines[-1] and len(lines) < 2:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _axes(x: Axis, y: Axis) -> list[str]:
    parts, right, bottom = [], WIDTH - RIGHT, TOP + PLAIN
    for value, text in x.ticks():
        left = LEFT + x.share(value) * (right - LEFT)
        parts.append(f'<path d="M{left:.1f} {TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{left:.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    for value, text in y.ticks():
        top = bottom - y.share(value) * PLAIN
        parts.append(f'<path d="M{LEFT} {top:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{top + 5:.1f}" text-anchor="end">{text}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2:.0f}" y="{bottom + 38}" text-anchor="middle">{escape(x.name)}</text>')
    turned = f'transform="translate(15 {TOP + PLAIN / 2:.0f}) rotate(-90)"'
    return [*parts, f'<text {turned} text-anchor="middle">{escape(y.name)}</text>']


def _draw(one: Series, number: int, x: Axis, y: Axis, place: tuple[float, int]) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    bottom = TOP + PLAIN
    places = [(LEFT + x.share(a) * (WIDTH - RIGHT - LEFT), bottom - y.share(b) * PLAIN) for a, b in one.points]
    left, top = place[0], bottom + BELOW + 8 + LINE * place[1]
    label = f'<text x="{left + 32:.0f}" y="{top + 5}">{escape(one.name)}</text>'
    if not one.line:
        dots = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in places]
        return [*dots, f'<circle cx="{left + 13:.0f}" cy="{top}" r="4" fill="{colour}"/>', label]
    style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{DASHES[number // len(COLOURS) % 3]}"'
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    return [f'<path d="M{path}" {style}/>' if places else "", f'<path d="M{left:.0f} {top}h26" {style}/>', label]


def _step(span: float) -> float:
    """1, 2 or 5 times a power of ten, for four to ten steps."""
    power = 10.0 ** math.floor(math.log10(span / 4))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= span / 4 * 1.0001))


def _number(value: float, step: float) -> str:
    """As many decimals as the step has; very large and very small numbers as powers."""
    if value and (abs(value) >= 1e6 or abs(value) < 1e-4):
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def terminal(
    series: Sequence[Series], *, x: str, y: str, width: int = SIGNS, height: int = 14, below: bool = False
) -> str:
    """The same for a terminal, both axes from 0 to 1; each series has its own sign, later ones on top.

    `below`: the label of the first axis stands on a line of its own, where there is no room beside it.
    """
    grid = [[" "] * (width + 1) for _ in range(height + 1)]
    for one, sign in zip(series, "·o+x*", strict=False):
        for a, b in one.points:
            column = round(min(max(a, 0.0), 1.0) * width)
            grid[height - round(min(max(b, 0.0), 1.0) * height)][column] = sign
    labels = {0: "1.0", height // 2: "0.5", height: "0.0"}
    lines = [f"{labels.get(number, ''):>4} │{''.join(row).rstrip()}" for number, row in enumerate(grid)]
    legend = "   ".join(f"{sign} {one.name}" for one, sign in zip(series, "·o+x*", strict=False))
    gap = "\n      " if below else "  "
    scale = "0" + "0.5".center(width - 1) + "1"
    return "\n".join([f" {y}", *lines, f"     └{'─' * (width + 1)}", f"      {scale}{gap}{x}", f"      {legend}"])
