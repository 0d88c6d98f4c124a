"""Small plots without a library: Series → an SVG picture, or lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

Point = tuple[float, float]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 800, 460, 62, 40, 230, 52  # pixels; the legend stands on the right
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#7b3294", "#000000")
DASHES = ("", "7 4", "2 3")


@dataclass(frozen=True)
class Series:
    """One curve, or single points; both axes run from 0 to 1."""

    name: str
    points: Sequence[Point]
    line: bool = True


def svg(series: Sequence[Series], *, title: str, x: str, y: str) -> str:
    """A picture as text of an .svg file."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
        *_axes(x, y),
    ]
    for number, one in enumerate(series):
        parts += _draw(one, number)
    return "\n".join([*parts, "</svg>", ""])


def _axes(x: str, y: str) -> list[str]:
    parts = []
    for step in range(6):
        value = step / 5
        left, top = _place((value, value))
        parts.append(f'<path d="M{LEFT} {top:.1f}H{WIDTH - RIGHT}M{left:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{left:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:.1f}</text>')
        parts.append(f'<text x="{LEFT - 8}" y="{top + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>')
    centre = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="translate(18 {centre:.0f}) rotate(-90)"'
    return [*parts, f'<text {turned} text-anchor="middle">{escape(y)}</text>']


def _draw(one: Series, number: int) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    places = [_place(point) for point in one.points]
    top, left = TOP + 12 + 20 * number, WIDTH - RIGHT + 16
    label = f'<text x="{left + 34}" y="{top + 4}">{escape(one.name)}</text>'
    if not one.line:
        dots = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in places]
        return [*dots, f'<circle cx="{left + 13}" cy="{top}" r="4" fill="{colour}"/>', label]
    style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{DASHES[number // len(COLOURS) % 3]}"'
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    return [f'<path d="M{path}" {style}/>' if places else "", f'<path d="M{left} {top}h26" {style}/>', label]


def _place(point: Point) -> Point:
    x, y = (min(max(value, 0.0), 1.0) for value in point)
    return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)


def terminal(series: Sequence[Series], *, x: str, y: str, width: int = 60, height: int = 14) -> str:
    """The same for a terminal; each series has its own sign, later ones on top."""
    grid = [[" "] * (width + 1) for _ in range(height + 1)]
    for one, sign in zip(series, "·o+x*", strict=False):
        for a, b in one.points:
            column = round(min(max(a, 0.0), 1.0) * width)
            grid[height - round(min(max(b, 0.0), 1.0) * height)][column] = sign
    labels = {0: "1.0", height // 2: "0.5", height: "0.0"}
    lines = [f"{labels.get(number, ''):>4} │{''.join(row).rstrip()}" for number, row in enumerate(grid)]
    legend = "   ".join(f"{sign} {one.name}" for one, sign in zip(series, "·o+x*", strict=False))
    scale = "0" + "0.5".center(width - 1) + "1"
    return "\n".join([f" {y}", *lines, f"     └{'─' * (width + 1)}", f"      {scale}  {x}", f"      {legend}"])
