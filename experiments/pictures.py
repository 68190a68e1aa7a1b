"""Figures on the page of the report: small, and inside the page itself."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from mmc.experiments.figures.svg import compact, on_any_ground


@dataclass(frozen=True)
class Picture:
    """A figure as a data URI, and what it shows."""

    name: str
    caption: str
    uri: Markup
    stem: str
    vector: bool = True

    @classmethod
    def of(cls, path: Path, caption: str) -> Picture:
        """Return the figure of an SVG file, or of the PNG file beside it, whichever is shorter on the page."""
        text = on_any_ground(compact(path.read_text("utf-8"))).replace("\n", "")
        text = text.replace("xlink:href", "href")  # all that browsers need
        text = text.replace("'", "&#39;").replace('"', "'")  # quotes that need no escape in an attribute of the page
        uri = "data:image/svg+xml," + quote(text, safe=" ;/?:@=+$,'()*!")
        if (other := path.with_suffix(".png")).exists() and other.stat().st_size * 4 / 3 < len(uri):
            uri = "data:image/png;base64," + base64.b64encode(other.read_bytes()).decode("ascii")
        return cls(_spoken(path.stem), caption, Markup(uri), path.stem, uri.startswith("data:image/svg"))


def _spoken(name: str) -> str:
    """Return a file's name as words: figure4 is Figure 4."""
    words = re.sub(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", " ", name).replace("_", " ")
    return words[0].upper() + words[1:]
