"""How many reported numbers have which verdict, all of them and without those that repeat others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from mmc.experiments.cells import Verdict
from mmc.experiments.layout import LOOKS

VERDICTS = tuple(verdict for verdict in Verdict if verdict)


class Judged(Protocol):
    """A number with a verdict: a cell, or a number of a paper."""

    @property
    def verdict(self) -> Verdict: ...

    @property
    def same_as(self) -> str: ...


@dataclass(frozen=True)
class Score:
    """Counts by verdict; ``distinct`` leaves out the numbers that repeat others."""

    counts: Mapping[Verdict, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    distinct: Mapping[Verdict, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Score:
        counts, distinct = dict.fromkeys(VERDICTS, 0), dict.fromkeys(VERDICTS, 0)
        for number in judged:
            if number.verdict:
                counts[number.verdict] += 1
                distinct[number.verdict] += not number.same_as
        return cls(counts, distinct)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def shown(self, verdict: Verdict) -> str:
        """Return a count, with the distinct ones in brackets where they are fewer."""
        count, distinct = self.counts[verdict], self.distinct[verdict]
        return f"{count}" if count == distinct else f"{count} ({distinct})"

    def __str__(self) -> str:
        parts = [
            f"{self.shown(verdict)} {LOOKS[verdict].one if self.counts[verdict] == 1 else LOOKS[verdict].many}"
            for verdict in VERDICTS
            if self.counts[verdict] or verdict is Verdict.MATCH
        ]
        repeats = " (in brackets: without those that repeat others)" if self.counts != self.distinct else ""
        return f"{', '.join(parts)}, of {self.total} reported numbers{repeats}"
