"""The model card: what is promised, how it came about, and where it stops being true. Markdown and one HTML page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from importlib import metadata
from math import ceil, floor
from pathlib import Path

import jinja2
from markupsafe import Markup

from mmc.experiments.own.fitting import Chosen, Measured, Outcome
from mmc.experiments.own.picture import of_outcome
from mmc.methods.guarantee_record import ClassGuarantee
from mmc.words import percent

_OWN = Path(__file__).parent / "templates"
_SHARED = Path(__file__).parent.parent / "templates"
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True)
class Row:
    """One class in the table of promises, as words."""

    label: str
    asked: str
    promised: str
    measured: str
    interval: str
    undecided: str

    @classmethod
    def of(cls, promise: ClassGuarantee, measured: Measured) -> Row:
        """Put a promise and what the test part shows into words; bounds and intervals are rounded outwards."""
        low, high = measured.interval
        return cls(
            str(promise.label),
            "–" if promise.asked is None else f"≤ {percent(promise.asked)}",
            f"≤ {percent(promise.bound, ROUND_CEILING)}",
            f"{measured.errors} of {measured.n}",
            f"{percent(floor(1000 * low) / 1000).removesuffix(' %')} to {percent(ceil(1000 * high) / 1000)}",
            f"{measured.abstained} of {measured.n}",
        )


def rows_of(outcome: Outcome) -> list[Row]:
    """Return the table of promises."""
    return [Row.of(promise, outcome.measured[str(promise.label)]) for promise in outcome.promises]


def what_is_left(chosen: Chosen) -> str:
    """Return what the column of errors left means."""
    if len(chosen.request.max_error) == 2:
        return "mean error or undecided"
    return f"error left for {chosen.other}"


def room_of(outcome: Outcome) -> str | None:
    """Return what two limits without an undecided zone leave to luck; None for other promises."""
    most: float | None = outcome.model.guarantee_.feasible_up_to
    if most is None:
        return None
    return (
        f"One threshold keeps both limits up to {percent(most, ROUND_FLOOR)} confidence. Where none does in truth, each one that a "
        f"lucky sample allows breaks a limit; such luck has a chance of at most {percent(1 - most, ROUND_CEILING)}. "
        "If that is too much, let the model abstain"
    )


def write(outcome: Outcome, stem: Path) -> tuple[Path, Path]:
    """Write the card beside the model, as Markdown and as HTML; return both paths."""
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader([_OWN, _SHARED]),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    pages.filters["md"] = markdown
    paths = stem.with_name(stem.name + ".card.md"), stem.with_name(stem.name + ".card.html")
    facts = _facts(outcome)
    for path, name in zip(paths, ("card.md", "card.html"), strict=True):
        text = pages.get_template(name).render(facts, picture=Markup(of_outcome(outcome)))
        path.write_text(text, encoding="utf-8")
    return paths


def markdown(text: object) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _facts(outcome: Outcome) -> dict[str, object]:
    chosen = outcome.chosen
    sizes = [(name, counts, sum(counts)) for name, counts in chosen.sizes]
    return {
        "request": chosen.request,
        "rows": rows_of(outcome),
        "confidence": percent(chosen.request.confidence),
        "positive": chosen.positive,
        "other": chosen.other,
        "second": chosen.examples.classes[1],
        "classes": chosen.examples.classes,
        "sizes": sizes,
        "share": percent(chosen.shares.calibration),
        "best": chosen.tried[0].name,
        "tried": [
            (entry.name, percent(round(entry.left(chosen.expected), 3)), f"{entry.area:.3f}") for entry in chosen.tried
        ],
        "failed": chosen.failed,
        "left": what_is_left(chosen),
        "columns": outcome.columns,
        "left_out": chosen.examples.left_out,
        "warnings": [*chosen.examples.warnings, *_doubts(outcome.doubts)],
        "bounds": outcome.bounds,
        "room": room_of(outcome),
        "version": metadata.version("max-margin-classifiers"),
    }


def _doubts(labels: Sequence[str]) -> list[str]:
    return [
        f"The test part speaks against the promise for {label!r}: do the rows come from one population?"
        for label in labels
    ]
