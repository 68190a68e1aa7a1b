"""The tables and sentences of docs/which_method.md, made from the committed study; ``make readme`` renews them.

No number and no judgement of the page is written by hand: every sentence below is chosen by what was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mmc.experiments.cells import Cell, Table
from mmc.experiments.config import Config, Experiment
from mmc.experiments.figures.ranks import Array, Ranking, Ranks
from mmc.experiments.reference import kept_table
from mmc.experiments.validation import load
from mmc.methods.registry import METHODS

STUDY = "study_methods"
RISKS = {"ranks_risk_5_1": "5:1", "ranks_risk_1_5": "1:5"}
PARTS = ("short", "ranks_error", *RISKS, "limits")
_CLASSICAL = "classical"
_PEER = "SVM"  # what the papers' methods are measured against
_TOP = 5


@dataclass(frozen=True)
class Comparison:
    """One metric of several methods over the data sets of a study."""

    table: Table
    experiment: Experiment
    metric: str
    labels: tuple[str, ...]
    scores: Array
    datasets: tuple[str, ...]
    ranking: Ranking

    @classmethod
    def of(cls, config: Config, table: Table, figure: str) -> Comparison:
        """Return the comparison that a figure of ranks draws."""
        drawn = Ranks.model_validate(config.experiment.figures[figure].options)
        labels, scores, datasets = drawn.scores(table, config.experiment)
        if not datasets:
            raise ValueError(f"the results of {config.name} lack methods of the config: run it and keep its reference")
        ranking = Ranking.of(labels, scores, drawn.alpha)
        return cls(table, config.experiment, drawn.metric, tuple(labels), scores, tuple(datasets), ranking)

    @cached_property
    def common(self) -> list[int]:
        """The data sets, by their rows, on which every method has a number."""
        return [i for i, row in enumerate(self.scores) if np.isfinite(row).all()]

    @cached_property
    def mean(self) -> dict[str, float]:
        """The average of each method over the data sets on which all have a number."""
        return dict(zip(self.labels, self.scores[self.common].mean(axis=0).tolist(), strict=True))

    @cached_property
    def rank(self) -> dict[str, float]:
        return dict(zip(self.ranking.methods, self.ranking.ranks, strict=True))

    @cached_property
    def seconds(self) -> dict[str, float]:
        """The mean seconds of one fit of each method, tuning not counted."""
        return {label: self._seconds(label) for label in self.labels}

    def best_on(self, label: str) -> list[str]:
        """Return the data sets on which no method has a lower score."""
        column = self.scores[:, self.labels.index(label)]
        return [d for d, one, least in zip(self.datasets, column, self.scores.min(axis=1), strict=True) if one <= least]

    def cells(self, metric: str) -> Iterator[Cell]:
        return (c for c in self.table.cells if c.metric == metric and c.keys["method"] in self.labels)

    def _seconds(self, label: str) -> float:
        cells = [c for c in self.cells("train_seconds") if c.keys["method"] == label and c.mean is not None]
        splits = sum(cell.trials / max(cell.draws, 1) for cell in cells)
        return sum(cell.mean for cell in cells if cell.mean is not None) / splits if splits else float("nan")


def parts(results: Path) -> Mapping[str, str]:
    """Return the text of each marked part of the page."""
    config = load(STUDY)
    return written(config, kept_table(config, results / STUDY))


def written(config: Config, table: Table) -> dict[str, str]:
    """Return the parts that a table of the study gives."""
    error = Comparison.of(config, table, "ranks_error")
    found = {"ranks_error": _part(error, "error %", _by_error(error))}
    risks = {name: Comparison.of(config, table, name) for name in RISKS}
    for name, one in risks.items():
        found[name] = _part(one, f"risk {RISKS[name]}", _by_risk(one, RISKS[name]))
    found["short"] = _bullets(_short_answers(error, [*risks.values()]))
    return found | {"limits": _bullets(_limits(config.experiment, error))}


def _part(one: Comparison, head: str, sentences: Iterator[str]) -> str:
    lines = [f"| method | mean rank | {head} on average | best on | ms a fit |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {m} | {r:.1f} | {one.mean[m]:.1f} | {len(one.best_on(m))} | {_ms(one.seconds[m])} |"
        for m, r in one.rank.items()
    ]
    averages = (
        "" if len(one.common) == len(one.datasets) else f", averages over the {len(one.common)} where all have one"
    )
    lines += [
        "",
        f"{len(one.datasets)} data sets{averages}; Friedman p = {one.ranking.p:.2g}; two methods differ at 5 % if their mean ranks "
        f"are {one.ranking.cd:.1f} apart (Nemenyi). Times are those of one fit, tuning not counted.",
        "",
    ]
    return "\n".join(lines) + "\n" + _bullets([*_chance(one), *sentences, *_without(one)])


def _bullets(sentences: Sequence[str] | Iterator[str]) -> str:
    return "".join(f"- {text}\n" for text in sentences)


# -- sentences ----------------------------------------------------------------------------------------------------


def _short_answers(error: Comparison, risks: Sequence[Comparison]) -> Iterator[str]:
    """Yield what to take when, and whether the papers' methods pay."""
    first, best = next(iter(error.rank.items()))
    even = sum(r - best <= error.ranking.cd for r in error.rank.values()) - 1
    yield (
        f"**Few errors, of whichever class**: {first}. The study cannot tell it from {even} of the other "
        f"{len(error.rank) - 1} methods, so the quickest of these that you know will do."
    )
    dear = [f"{next(iter(one.rank))} at {costs}" for one, costs in zip(risks, RISKS.values(), strict=True)]
    tuned = [_tuned_for(one, costs) for one, costs in zip(risks, RISKS.values(), strict=True)]
    lower = sum(one.mean[stated] < one.mean[m] for one, pairs in zip(risks, tuned, strict=True) for m, stated in pairs)
    yield (
        f"**An error of one class costs more**: tune for the cost, which lowers it in {lower} of {sum(map(len, tuned))} cases. The best "
        f"ranks: {', '.join(dear).replace(' 5:1 at', ' at').replace(' 1:5 at', ' at')}."
    )
    papers = _of_papers(error)
    better = [m for m in papers if error.rank[m] < error.rank[_PEER]]
    clearly = [m for m in better if error.rank[_PEER] - error.rank[m] > error.ranking.cd]
    yield (
        f"**Do the papers' methods pay by error?** Of {len(papers)}, {len(better)} have a better rank than the {_PEER}, {len(clearly)} by "
        "more than chance."
    )
    yield (
        "**A limit on an error has to hold on new rows**: none of these by itself. `mmc fit` sets the threshold of any of them by held-out "
        "rows ([Own data](own_data.md))."
    )


def _of_papers(one: Comparison) -> list[str]:
    """Return the methods that come from the papers, by rank."""
    entries = {m: METHODS[one.experiment.methods[m].method] for m in one.rank}
    return [m for m, entry in entries.items() if not entry.outside and entry.paper != _CLASSICAL]


def _tuned_for(one: Comparison, costs: str) -> list[tuple[str, str]]:
    """Return the methods that were tuned for the error and for these costs: both labels."""
    return [(m, f"{m} {costs}") for m in one.labels if f"{m} {costs}" in one.labels]


def _chance(one: Comparison) -> Iterator[str]:
    """Yield who differs by more than chance."""
    (first, best), *_ = one.rank.items()
    worse = [f"{m} ({r:.1f})" for m, r in one.rank.items() if r - best > one.ranking.cd]
    if not worse:
        yield (
            f"**No two of the {len(one.labels)} differ by more than chance**: no mean ranks are as far apart as the critical "
            f"distance, {one.ranking.cd:.1f}."
        )
    else:
        yield f"**Worse than {first} ({best:.1f}) by more than chance**: {', '.join(worse)}. No other method is."


def _by_error(one: Comparison) -> Iterator[str]:
    methods = one.experiment.methods
    first, *others = list(one.rank)[:_TOP]
    quicker = [f"{m} ({_ms(one.seconds[m])} ms)" for m in others if one.seconds[m] < one.seconds[first] / 2]
    less = f" Next to it, less than half as long: {', '.join(quicker)}." if quicker else ""
    yield (
        f"**If you want one classifier and no more, take {first}**: the best rank, {_ms(one.seconds[first])} ms a fit. The ranks of "
        f"{', '.join(others)} come next.{less}"
    )
    yield from _kernels(one)
    ours = [m for m in one.rank if not METHODS[methods[m].method].outside]
    papers = _of_papers(one)
    better = [m for m in papers if one.rank[m] < one.rank[_PEER]]
    yield f"The papers' methods with a better rank than the {_PEER} ({one.rank[_PEER]:.1f}): {_told(one, better)}."
    yield f"**Where the papers' methods do not pay by error**, a rank no better than the {_PEER}'s: {_told(one, papers, better)}."
    yield f"From outside: {_told(one, [m for m in one.rank if m not in ours])}."


def _told(one: Comparison, labels: Sequence[str], but: Sequence[str] = ()) -> str:
    """Return methods with their ranks, and their times as multiples of the peer's."""
    times = {m: one.seconds[m] / one.seconds[_PEER] for m in labels if m not in but}
    return ", ".join(f"{m} ({one.rank[m]:.1f}, {_short(x)} × its time)" for m, x in times.items()) or "none"


def _ms(seconds: float) -> str:
    return _short(1000 * seconds)


def _short(number: float) -> str:
    """Return a number with two digits or more, never with an exponent."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def _kernels(one: Comparison) -> Iterator[str]:
    """Yield what a kernel is worth: the methods with one against those that draw a plane."""
    methods = one.experiment.methods
    ours = [m for m in one.labels if not METHODS[methods[m].method].outside]
    curved = [m for m in ours if methods[m].params.get("kernel", "linear") != "linear"]
    plane = [m for m in one.labels if m not in curved and (m in ours or ".linear_model." in methods[m].method)]
    column = [one.labels.index(m) for m in plane], [one.labels.index(m) for m in curved]
    least = [one.scores[one.common][:, of].min(axis=1) for of in column]
    gain = least[0] - least[1]
    most = [i for i in np.argsort(-gain)[:3] if gain[i] > 0]
    names = [one.datasets[i] for i in one.common]
    ranges = [f"{min(v):.1f} to {max(v):.1f} %" for v in ([one.mean[m] for m in of] for of in (curved, plane))]
    yield (
        f"mmc's methods with a Gaussian kernel make {ranges[0]} errors on average, those that draw a plane ({', '.join(plane)}) "
        f"{ranges[1]}. The best kernel beats the best plane on {int(np.sum(gain > 0))} of {len(gain)} sets"
        + (
            ", most on "
            + ", ".join(f"`{names[i]}` ({least[1][i]:.1f} against {least[0][i]:.1f} %)" for i in most)
            + "."
            if most
            else "."
        )
    )


def _by_risk(one: Comparison, costs: str) -> Iterator[str]:
    pairs = _tuned_for(one, costs)
    lower = [(m, stated) for m, stated in pairs if one.mean[stated] < one.mean[m]]
    least = min(one.mean, key=lambda m: one.mean[m])
    yield (
        f"Tuned for this risk instead of the error, {len(lower)} of {len(pairs)} methods have a lower one on average: "
        + ", ".join(f"{m} {one.mean[stated]:.1f} instead of {one.mean[m]:.1f}" for m, stated in pairs)
        + "."
    )
    first = next(iter(one.rank))
    both = "the least risk on average and the best rank" if first == least else "the least risk on average"
    yield f"**{least}** has {both} ({one.mean[least]:.1f}, rank {one.rank[least]:.1f})" + (
        "." if first == least else f"; **{first}** has the best rank ({one.rank[first]:.1f}, {one.mean[first]:.1f})."
    )


def _without(one: Comparison) -> Iterator[str]:
    """Yield on which splits a method found no classifier."""
    found = [c for c in one.cells(one.metric) if c.infeasible or c.failed]
    if not found:
        yield "Every method found a classifier on every split."
        return
    told = []
    for cell in found:
        why = [f"{n} {word}" for n, word in ((cell.infeasible, "infeasible"), (cell.failed, "failed")) if n]
        told.append(f"{cell.keys['method']} on `{cell.keys['dataset']}` ({', '.join(why)} of {cell.trials})")
    yield f"No classifier on some splits: {'; '.join(told)}. Where no repetition is whole, the method is the last."


def _limits(experiment: Experiment, one: Comparison) -> Iterator[str]:
    split = experiment.split
    drawn = [name for name, spec in experiment.datasets.items() if spec.name in _generated()]
    plain = [m for m in one.labels if experiment.methods[m].tune is None]
    yield (
        f"{len(experiment.datasets)} sets, {len(drawn)} of them drawn from simple distributions, {split.repetitions} times "
        f"{split.per_repetition} splits of each: only large differences of ranks are more than chance."
    )
    yield f"Grids are small. Not tuned at all: {', '.join(plain)}."


def _generated() -> set[str]:
    from mmc.datasets.registry import REGISTRY

    return {name for name, entry in REGISTRY.items() if entry.kind == "generated"}
