"""Matplotlib's SVG, much smaller and the same to the eye: a page holds many of them."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

_NEAR = 0.04  # points: a twentieth of the thinnest lines
_DIGITS = re.compile(r"(\.\d\d)\d+")
_RUN = re.compile(r'<(use|path) [^>]*?((?: clip-path="[^"]*")? style="[^"]*")/>(?:\s*<\1 [^>]*?\2/>)+')
_NUMBER = r"-?[\d.]+(?:e-?\d+)?"
_LINES = re.compile(rf"M {_NUMBER} {_NUMBER}(?:\s+L {_NUMBER} {_NUMBER})+")


def compact(text: str) -> str:
    """Return an SVG without the points that a line does not need, comments, long names, digits and repeated styles."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'(?<=<g) id="[^"]*"| transform="rotate\(-?0 [^"]*"', "", text)
    text = re.sub(r' (?:d|x|y)="[^"]*"', lambda found: _DIGITS.sub(r"\1", _LINES.sub(_straight, found[0])), text)
    for short, name in enumerate(dict.fromkeys(re.findall(r' id="([a-zA-Z]\w{8,})"', text))):
        text = re.sub(rf'(?<=[#"]){name}(?=["\)])', f"i{short}", text)
    text = _RUN.sub(_styled, text.replace("base64,\n", "base64,"))
    return re.sub(r"\s+", " ", text).replace("> <", ">\n<")


# Matplotlib writes every colour into a style of its own. In the dark, black becomes light and white becomes dark.
_DARK = (
    "<style>@media (prefers-color-scheme: dark) {"
    "[style*='stroke: #000000']{stroke:#d5dbe3!important}[style*='fill: #000000']{fill:#d5dbe3!important}"
    "[style*='stroke: #ffffff']{stroke:#0d1117!important}[style*='fill: #ffffff']{fill:#0d1117!important}"
    "pattern rect[fill='#ffffff']{fill:#0d1117}"  # the ground of a hatched region
    "text:not([style*='fill:']),use:not([style*='fill:']){fill:#d5dbe3}"
    "[style*='fill: #000080']{fill:#8fb4ff!important}[style*='stroke: #000080']{stroke:#8fb4ff!important}"
    "}</style>"
)


def on_any_ground(text: str) -> str:
    """Return an SVG without its white ground and that of its axes, whose lines and words suit light and dark pages."""
    text = re.sub(r'(<path d="[^"]*z ?" style=")fill: #ffffff("/>)', r"\1fill: none\2", text, count=1)
    text = re.sub(r'(<g>\s*<path d="[^"]*z ?" style=")fill: #ffffff("/>)', r"\1fill: none\2", text)
    return re.sub(r"(<svg[^>]*>)", lambda found: found[1] + _DARK, text, count=1)


def _straight(found: re.Match[str]) -> str:
    points = np.array(re.sub(r"[ML\s]+", " ", found[0]).split(), float).reshape(-1, 2)
    return "M " + " ".join(f"{x:g} {y:g}" for x, y in simplified(points, _NEAR).round(2).tolist())


def simplified(points: NDArray[np.float64], near: float) -> NDArray[np.float64]:
    """Thin a polyline (Douglas–Peucker) within ``near``."""
    keep = np.zeros(len(points), bool)
    keep[[0, -1]] = True
    parts = [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        chord, inner = points[last] - points[first], points[first + 1 : last] - points[first]
        share = np.clip(inner @ chord / max(chord @ chord, 1e-12), 0, 1)
        distance = np.hypot(*(inner - share[:, None] * chord).T)
        far = int(np.argmax(distance))
        if distance[far] > near:
            keep[first + 1 + far] = True
            parts += [(first, first + 1 + far), (first + 1 + far, last)]
    return points[keep]


def _styled(found: re.Match[str]) -> str:
    shared = found[2]
    if re.search(r"[\"; ]opacity:", shared):  # of a group it would be that of all its members laid upon each other
        return found[0]
    return f"<g{shared}>{found[0].replace(shared, '')}</g>"
