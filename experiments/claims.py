"""What a paper says in words, held against the records: statement, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mmc.experiments.run import Outcome

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"


@dataclass(frozen=True)
class Claim:
    """A statement of a paper with its verdict."""

    statement: str
    measured: str
    verdict: str


def _by_split(outcome: Outcome, dataset: str, label: str) -> list[Mapping[str, Any]]:
    records = [
        outcome.records.get(trial.key)
        for unit in outcome.units
        if (unit.source.label, unit.label) == (dataset, label)
        for trial in unit.trials
    ]
    return [r.values for r in records if r is not None and "curve" in r.values]


def _verdict(shares: Sequence[float]) -> str:
    return HOLDS if min(shares) == 1 else FAILS if max(shares) == 0 else PARTLY


def _span(values: Sequence[float], form: str = ".2f") -> str:
    return f"{np.mean(values):{form}} ± {np.std(values, ddof=1):{form}}"


def bsvm(outcome: Outcome) -> Iterator[Claim]:
    """Pendse's four statements about the toy data, over all seeds, at each number of points per cluster."""
    for dataset in outcome.config.experiment.datasets:
        c, b = (_by_split(outcome, dataset, label) for label in ("C-SVM", "B-SVM"))
        if not c or len(c) != len(b):
            continue
        bound = [v["max_abs"] <= 1.5 + 1e-3 for v in b]
        yield Claim(
            f"{dataset}: B-SVM limits |g| to ρ2 = 1.5 (4.2)",
            f"largest |g| {_span([v['max_abs'] for v in b], '.3f')}; within the bound on {sum(bound)} of {len(bound)} draws",
            _verdict([float(x) for x in bound]),
        )
        lower = [float(v["centre"] < v["others"]) for v in c]
        yield Claim(
            f"{dataset}: C-SVM gives the central cluster of class +1 lower values (4.2)",
            f"centre {_span([v['centre'] for v in c])}, others {_span([v['others'] for v in c])}",
            _verdict(lower),
        )
        even = [float(y["cluster_spread"] < x["cluster_spread"]) for x, y in zip(c, b, strict=True)]
        yield Claim(
            f"{dataset}: B-SVM balances the clusters of class +1 (4.2)",
            f"spread of the five cluster means {_span([v['cluster_spread'] for v in b], '.3f')}, "
            f"C-SVM {_span([v['cluster_spread'] for v in c], '.3f')}",
            _verdict(even),
        )
        above = np.array([np.array(x["curve"]) > np.array(y["curve"]) for x, y in zip(c, b, strict=True)])
        share = above.mean()
        thresholds = np.flatnonzero(above.mean(axis=0) > 0.5) * 100 / (above.shape[1] - 1)
        where = f", mostly at {thresholds.min():.0f} to {thresholds.max():.0f} %" if len(thresholds) else ""
        yield Claim(
            f"{dataset}: B-SVM is more accurate at every threshold (4.3)",
            f"area under S(t) {_span([v['area'] for v in b])}, C-SVM {_span([v['area'] for v in c])}, C-SVM clipped to ±ρ2 "
            f"{_span([v['area_clipped'] for v in c])}; C-SVM is above at {100 * share:.0f} % of the thresholds{where}",
            HOLDS
            if share == 0
            else PARTLY
            if np.mean([v["area"] for v in b]) > np.mean([v["area"] for v in c])
            else FAILS,
        )


CLAIMS: Mapping[str, Callable[[Any], Iterator[Claim]]] = {"bsvm": bsvm}


def to_markdown(claims: Sequence[Claim]) -> str:
    """Return the claims as a Markdown table."""
    lines = ["| statement of the paper | measured | verdict |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {c.statement} | {c.measured} | {c.verdict} |" for c in claims)]) + "\n"
