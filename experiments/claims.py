"""What a paper says in words, held against the records: statement, what was measured with its interval, and whether it holds.

A config states claims as data (``statements``), or names a list of them that needs code of its own (``told``).
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mmc.experiments.escape import markdown


class Kept(StrEnum):
    """Whether what a paper says holds here."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    OPEN = "cannot be told"
    FAILS = "does not hold"

    @classmethod
    def of_draws(cls, kept: Sequence[bool]) -> Kept:
        """Return the verdict on a statement about every draw."""
        return cls.HOLDS if all(kept) else cls.PARTLY if any(kept) else cls.FAILS


@dataclass(frozen=True)
class Claim:
    """A statement of a paper with its verdict."""

    statement: str
    measured: str
    verdict: Kept


HEADS = ("statement of the paper", "measured", "verdict")


def from_markdown(text: str) -> list[Claim]:
    """Return the claims of a Markdown table that `to_markdown` wrote."""
    rows = [re.split(r" (?<!\\)\| ", line.strip()[2:-2]) for line in text.splitlines()[2:]]
    plain = [[re.sub(r"\\([|(])", r"\1", html.unescape(part)) for part in row] for row in rows if len(row) == 3]
    return [Claim(statement, measured, Kept(verdict)) for statement, measured, verdict in plain]


def to_markdown(claims: Sequence[Claim]) -> str:
    """Return the claims as a Markdown table."""
    rows = [HEADS, ("---",) * 3]
    rows += [(c.statement, c.measured, c.verdict) for c in claims]
    return "".join("| " + " | ".join(map(markdown, row)) + " |\n" for row in rows)
