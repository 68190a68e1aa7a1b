"""The trade-off between the errors of the two classes, as an SVG that stands alone or inside a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import escape

from mmc.experiments.figures.svg import simplified
from mmc.experiments.own.fitting import Chosen, Outcome
from mmc.methods.numerics.kernels import Array

_WIDTH, _HEIGHT = 440, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 24, 14, 52
_STYLE = """
.axis { stroke: var(--ink, #1b1f24); fill: none } .grid { stroke: var(--line, #d0d7de); fill: none }
text { fill: var(--ink, #1b1f24); font: 13px system-ui, sans-serif } .zone { fill: var(--match-bg, #e3f5e6) }
.edge { stroke: var(--match, #116329); stroke-dasharray: 5 4 } .line { fill: none; stroke-width: 2 }
.c0 { stroke: var(--link, #0550ae) } .c1 { stroke: #b35900 } .c2 { stroke: #8250df } .c3 { stroke: #6e7781 }
.test { stroke: var(--soft, #57606a); stroke-width: 1.3; stroke-dasharray: 2 3 }
.point { fill: var(--differs, #a40e26) } .whisker { stroke: var(--differs, #a40e26); stroke-width: 1.6 }
"""


@dataclass(frozen=True)
class Line:
    """A curve: its name, its look, and the errors of the class along each axis."""

    name: str
    look: str
    x: Array
    y: Array


@dataclass(frozen=True)
class Point:
    """What was measured: a share and its interval along each axis."""

    x: float
    y: float
    x_interval: tuple[float, float]
    y_interval: tuple[float, float]


def of_outcome(outcome: Outcome) -> str:
    """Return the curve of the chosen classifier with the promise and what the test part shows."""
    chosen = outcome.chosen
    at = chosen.examples.classes.index(chosen.positive)
    test = outcome.test_curve
    pair = (test.first, test.second) if at == 0 else (test.second, test.first)
    lines = [Line("cross-validated", "c0", *chosen.tried[0].curve(at)), Line("test part", "test", *pair)]
    shown = [outcome.measured[label] for label in (chosen.positive, chosen.other)]
    x, y = (entry.errors / entry.n for entry in shown)
    asked = chosen.request.max_error
    point = Point(x, y, shown[0].interval, shown[1].interval)
    return draw(chosen, lines, (asked.get(chosen.positive), asked.get(chosen.other)), point)


def of_possible(chosen: Chosen, most: int = 4) -> str:
    """Return the curves of the best classifier of each of the best families."""
    at = chosen.examples.classes.index(chosen.positive)
    best = {entry.family.name: entry for entry in reversed(chosen.tried)}
    shown = [entry for entry in chosen.tried if best[entry.family.name] is entry][:most]
    lines = [Line(entry.name, f"c{i}", *entry.curve(at)) for i, entry in enumerate(shown)]
    return draw(chosen, lines, (None, None), None)


def draw(chosen: Chosen, lines: Sequence[Line], limits: tuple[float | None, float | None], point: Point | None) -> str:
    """Return the picture; the horizontal axis is the error of the limited class."""
    labels = chosen.positive, chosen.other
    title = f"Errors of {labels[0]!r} against errors of {labels[1]!r}"
    parts = [*_zone(limits), *_axes(labels), *_lines(lines), *([] if point is None else _point(point))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>"
    )


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _zone(limits: tuple[float | None, float | None]) -> Iterable[str]:
    x, y = (1.0 if limit is None else limit for limit in limits)
    if limits == (None, None):
        return
    yield f'<rect class="zone" x="{_x(0)}" y="{_y(y)}" width="{_x(x) - _x(0):.1f}" height="{_y(0) - _y(y):.1f}"/>'
    if limits[0] is not None:
        yield f'<path class="edge" d="M{_x(x)} {_y(0)}V{_y(1)}"/>'
    if limits[1] is not None:
        yield f'<path class="edge" d="M{_x(0)} {_y(y)}H{_x(1)}"/>'


def _axes(labels: tuple[str, str]) -> Iterable[str]:
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield f'<path class="grid" d="M{_x(share)} {_y(0)}V{_y(1)}M{_x(0)} {_y(share)}H{_x(1)}"/>'
        yield f'<text x="{_x(share)}" y="{_y(0) + 18}" text-anchor="middle">{share:.0%}</text>'
        yield f'<text x="{_LEFT - 6}" y="{_y(share) + 4}" text-anchor="end">{share:.0%}</text>'
    yield f'<path class="axis" d="M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}"/>'
    across, up = (escape(f"wrong of {_short(label)}") for label in labels)
    yield f'<text x="{(_x(0) + _x(1)) / 2}" y="{_HEIGHT - 12}" text-anchor="middle">{across}</text>'
    middle = (_y(0) + _y(1)) / 2
    yield f'<text transform="translate(15 {middle}) rotate(-90)" text-anchor="middle">{up}</text>'


def _lines(lines: Sequence[Line]) -> Iterable[str]:
    for number, line in enumerate(lines):
        points = [(_x(line.x[0]), _y(line.y[0]))]
        for x, y in zip(line.x[1:].tolist(), line.y[1:].tolist(), strict=True):
            points += [(_x(x), points[-1][1]), (_x(x), _y(y))]  # the error left falls in steps
        kept = simplified(np.array(points, dtype=np.float64), 0.2)
        path = "L".join(f"{x:g} {y:g}" for x, y in kept.tolist())
        yield f'<path class="line {line.look}" d="M{path}"/>'
        y = _TOP + 16 + 18 * number
        yield f'<path class="line {line.look}" d="M{_x(1) - 22} {y - 4}h18"/>'
        yield f'<text x="{_x(1) - 28}" y="{y}" text-anchor="end">{escape(line.name)}</text>'


def _point(point: Point) -> Iterable[str]:
    (left, right), (low, high) = point.x_interval, point.y_interval
    x, y = _x(point.x), _y(point.y)
    yield f'<path class="whisker" d="M{_x(left)} {y}H{_x(right)}M{x} {_y(low)}V{_y(high)}"/>'
    yield f'<circle class="point" cx="{x}" cy="{y}" r="4.5"/>'


def _short(label: str, length: int = 30) -> str:
    return label if len(label) <= length else label[: length - 1] + "…"
