"""One against one: a classifier for every pair of classes, and what their votes say together.

The classifier of a pair (a, b) is fitted on the training rows of these two classes, a the positive one, and votes for one
of them on every test point. The class with most votes wins; of several with as many votes the first in order does, as in
libsvm, and the point counts as a tie. Each pair leaves a record of its own; the prediction is made from records alone. A
classifier from outside that tells all classes apart by itself leaves one record, with the class of every test point.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.metrics import COUNTED, LINE, Costs, Uncertainty, VoteCounts
from mmc.experiments.plan import Unit
from mmc.experiments.preparation import rows_of
from mmc.experiments.records import Record
from mmc.experiments.regression import Line
from mmc.labels import ordered
from mmc.methods.solution import Status


@dataclass(frozen=True, eq=False)
class Vote:
    """What a method says on one split: ``right`` of every test point, and ``facts``, means over the pairs.

    Of the times it has the sums, of the gap the largest. One pair that failed fails the whole: ``trouble`` names it.
    """

    status: Status
    votes: VoteCounts = field(default_factory=VoteCounts)
    right: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    facts: Mapping[str, float] = field(default_factory=dict)
    cloud: Cloud | None = None
    trouble: str = ""
    distance: float | None = None

    def fact(self, name: str) -> float | None:
        if name in LINE:
            line = None if self.cloud is None else self.cloud.line
            return None if line is None else float(getattr(line, name))
        return self.facts.get(name)

    def uncertainty(self, name: str) -> Uncertainty:
        """Return the standard error of the slope or intercept of the line through the pairs; of other facts nothing."""
        line = None if self.cloud is None or name not in LINE else self.cloud.line
        return Uncertainty() if line is None else Uncertainty(float(getattr(line, f"{name}_se")), line.df)

    def worth(self, name: str) -> float:
        """Return how much one test point can change a fact."""
        return self.cloud.worth(name) if self.cloud is not None and name in LINE else 0.0


def elect(
    pairs: Sequence[tuple[int, int]], ballots: Iterable[NDArray[np.bool_]], classes: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return which class wins each point, and where the first of several with as many votes did."""
    tally: NDArray[np.intp] | None = None
    for (a, b), said in zip(pairs, ballots, strict=True):
        if tally is None:
            tally = np.zeros((classes, len(said)), dtype=np.intp)
        tally[a] += said
        tally[b] += ~said
    assert tally is not None
    return tally.argmax(axis=0), np.sum(tally == tally.max(axis=0), axis=0) > 1


def votes(units: Sequence[Unit], records: Mapping[str, Record]) -> Iterator[tuple[Unit, int, Vote | None]]:
    """Yield the vote of all pairs of a method on a split."""
    groups: dict[tuple[str, str, int, int], list[Unit]] = defaultdict(list)
    for unit in units:
        groups[unit.source.label, unit.label, unit.split.repetition, unit.split.fold].append(unit)
    for pairs in groups.values():
        for index in range(len(pairs[0].trials)):
            yield pairs[0], index, together(pairs, records, index)


def together(units: Sequence[Unit], records: Mapping[str, Record], index: int) -> Vote | None:
    """Return what all pairs of a method say on one split, at one point of its grid; None if one has no record yet."""
    found = [(unit, records.get(unit.trials[index].key)) for unit in units]
    done = [(unit, record) for unit, record in found if record is not None]
    if len(done) < len(found):
        return None
    failed = [(unit, record) for unit, record in done if not record.status.counted]
    if failed:
        unit, record = min(failed, key=lambda pair: pair[1].status is Status.INFEASIBLE)
        more = f" (so did {len(failed) - 1} more of {len(done)} pairs)" if len(failed) > 1 else ""
        return Vote(record.status, trouble=f"{named(unit)} failed{more}: {record.message or record.status}")
    first, *_ = everyone = [record for _, record in done]
    y = units[0].source.load().y
    order = {label: place for place, label in enumerate(ordered(y.tolist()))}
    truth = np.array([order[label] for label in y[rows_of(units[0].where).test].tolist()])
    if first.choice is not None:
        winner, tied = first.choice.classes(), np.zeros(len(truth), dtype=bool)
    else:
        pairs = [(order[unit.pair[0]], order[unit.pair[1]]) for unit in units if unit.pair]
        winner, tied = elect(pairs, [r.ballot.votes() for r in everyone if r.ballot is not None], len(order))
    right = winner == truth
    names = [*first.facts, "objective", "iterations"]
    facts = {}
    for name in names:
        values = [value for record in everyone if (value := record.fact(name)) is not None]
        if len(values) == len(everyone):
            facts[name] = float(np.mean(values))
    facts["fit_seconds"] = sum(record.seconds for record in everyone)
    facts["train_seconds"] = sum(record.train_seconds for record in everyone)
    if gaps := [record.proof.gap for record in everyone if record.proof is not None]:
        facts["gap"] = max(gaps)
    return Vote(
        Status.CAPPED if any(record.status is Status.CAPPED for record in everyone) else Status.SOLVED,
        VoteCounts(len(truth), int(np.sum(~right)), int(np.sum(tied))),
        right,
        facts,
        Cloud.of(done),
    )


def named(unit: Unit) -> str:
    """Return what a unit tells apart, in words."""
    return " against ".join(unit.pair) if unit.pair else "the classifier of all classes"


@dataclass(frozen=True)
class Cloud:
    """The pairs of a method: margin ratio on the training part, accuracy in % on the test points of the two classes.

    Pairs without a finite ratio are left out; ``dropped`` counts them.
    """

    names: tuple[str, ...]
    ratio: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    points: NDArray[np.float64]
    dropped: int

    @classmethod
    def of(cls, done: Sequence[tuple[Unit, Record]]) -> Cloud | None:
        """Return the cloud of a method's pairs; None if it has no margin ratio."""
        if any("margin_ratio" not in record.facts for _, record in done):
            return None
        rows = []
        for unit, record in done:
            margin, counts = record.facts["margin_ratio"], record.counts
            n = 0.0 if counts is None else counts.n_pos + counts.n_neg
            if counts is not None and n and math.isfinite(margin):
                rows.append((named(unit), margin, COUNTED["accuracy"].value(counts, Costs()), n))
        names, ratio, accuracy, points = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(names, np.array(ratio), np.array(accuracy), np.array(points, dtype=float), len(done) - len(rows))

    @property
    def line(self) -> Line | None:
        """The regression of accuracy on ratio; None where there are too few pairs for one."""
        return Line.through(self.ratio, self.accuracy)

    def worth(self, name: str) -> float:
        """Return by how much one test point, classified otherwise, can change the slope or the intercept."""
        line = self.line
        return 0.0 if line is None else float(np.max(np.abs(getattr(line, f"{name}_of")) * 100 / self.points))
