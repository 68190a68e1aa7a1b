"""What a RateGuarantee promises, as a record: one entry per class, readable as text and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from html import escape

from mmc.words import percent


@dataclass(frozen=True)
class ClassGuarantee:
    """What held-out data prove for one class.

    Attributes
    ----------
    label : object
        The class.
    asked : float or None
        The largest error rate that was asked for. None: no limit.
    confidence : float
        The confidence that was asked for.
    bound : float
        The error rate on new data is at most this with ``confidence``, taken by itself; at most ``asked``, often less.
    exact_confidence : float or None
        The probability with which the chosen order statistic keeps ``asked``. It is exact if no scores are tied; with ties
        the true probability is larger. With two limits, the product of both is at least ``confidence``.
    rank : int or None
        The rank of that order statistic, counted from the class's least typical calibration score.
    threshold : float
        The score beyond which the class is predicted wrongly: below it for ``classes_[1]``, above it for ``classes_[0]``.
    errors, n : int
        The calibration examples of the class on the wrong side of its threshold, and all of them.
    abstained : int
        Those left undecided.
    abstained_interval : tuple of float
        Clopper and Pearson's two-sided interval for the share left undecided, at ``confidence``.
    """

    label: object
    asked: float | None
    confidence: float
    bound: float
    exact_confidence: float | None
    rank: int | None
    threshold: float
    errors: int
    n: int
    abstained: int
    abstained_interval: tuple[float, float]

    @property
    def _proven(self) -> str:
        return percent(self.bound, ROUND_CEILING)

    @property
    def _exact(self) -> str:
        return "" if self.exact_confidence is None else percent(self.exact_confidence, ROUND_FLOOR)

    @property
    def _undecided(self) -> str:
        low, high = self.abstained_interval
        return (
            f"{self.abstained} ({percent(low, ROUND_FLOOR)} to {percent(high, ROUND_CEILING)})"
            if self.abstained
            else ""
        )

    def __str__(self) -> str:
        return (
            f"{self.label}: {'no limit' if self.asked is None else f'at most {percent(self.asked)} errors'} asked for; "
            f"proven at most {self._proven} with {percent(self.confidence)} confidence"
            f"{self._exact and f', the rate asked for with {self._exact}'}; "
            f"calibration: {self.errors} of {self.n} wrong{self._undecided and f', undecided {self._undecided}'}"
        )


@dataclass(frozen=True)
class Guarantee:
    """What a RateGuarantee promises: ``guarantee_[label]`` is one class's entry, iterating gives them in order.

    Attributes
    ----------
    classes : tuple of ClassGuarantee
        One entry per class, in the order of ``classes_``.
    confidence : float
        All limits asked for hold together with this probability over the calibration sample.
    exact : bool
        Whether the promise holds for finite samples. False after cross-fitting: then it is approximate.
    feasible_up_to : float or None
        For two limits without an undecided zone: the largest confidence at which a threshold still keeps both. If in
        truth none does, this exceeds c with probability at most 1 - c, whatever c.
    """

    classes: tuple[ClassGuarantee, ...]
    confidence: float
    exact: bool
    feasible_up_to: float | None = None

    def __getitem__(self, label: object) -> ClassGuarantee:
        for entry in self.classes:
            if entry.label == label:
                return entry
        raise KeyError(label)

    def __iter__(self) -> Iterator[ClassGuarantee]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.classes), *self._notes()])

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        heads = ("class", "asked", "proven", "confidence of the rate asked for", "calibration errors", "undecided")
        rows = [
            (
                str(entry.label),
                "–" if entry.asked is None else f"≤ {percent(entry.asked)}",
                f"≤ {entry._proven}",
                entry._exact or "–",
                f"{entry.errors} of {entry.n}",
                entry._undecided or "–",
            )
            for entry in self.classes
        ]
        lines = [_row("th", heads), *(_row("td", row) for row in rows)]
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table>{''.join(lines)}</table><p>Proven with {percent(self.confidence)} confidence.</p>{notes}"

    def _notes(self) -> list[str]:
        limited = sum(entry.asked is not None for entry in self.classes)
        return [
            *([f"Both limits hold together with {percent(self.confidence)} confidence."] if limited == 2 else []),
            *([self._room(self.feasible_up_to)] if self.feasible_up_to is not None else []),
            *([] if self.exact else ["Approximate: calibrated on out-of-fold scores, then refitted on all examples."]),
        ]

    @staticmethod
    def _room(most: float) -> str:
        return (
            f"A threshold for both exists up to {percent(most, ROUND_FLOOR)} confidence: where there is none in truth, a sample "
            f"allows one so far with a chance of at most {percent(1 - most, ROUND_CEILING)}."
        )


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
