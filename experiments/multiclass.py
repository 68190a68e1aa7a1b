"""One against one: a classifier for every pair of classes, and what their votes say together.

The classifier of a pair (a, b) is fitted on the training rows of these two classes, a the positive one, and votes for one
of them on every test point. The class with most votes wins; of several with as many votes the first in order does, as in
libsvm, and the point counts as a tie. Each pair leaves a record of its own; the prediction is made from records alone.
"""

from __future__ import annotations

import base64
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.metrics import OVER_FOLDS, VOTED, counted, sampling_error
from mmc.experiments.plan import Unit
from mmc.experiments.regression import Line
from mmc.experiments.trials import COUNTED, Record

_LEFT_OUT = ("n_pos", "n_neg", "wrong_pos", "wrong_neg", "seconds", "train_seconds", "gap")


def unpack(text: str, count: int) -> NDArray[np.bool_]:
    """Return the votes of a record as they were packed: true where the point goes to the first class of the pair."""
    return np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8), count=count).astype(bool)


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


def votes(units: Sequence[Unit], records: Mapping[str, Record]) -> Iterator[tuple[Unit, int, Record | None]]:
    """Yield one record for all pairs of a method on a split."""
    groups: dict[tuple[str, str, int, int], list[Unit]] = defaultdict(list)
    for unit in units:
        groups[unit.source.label, unit.label, unit.split.repetition, unit.split.fold].append(unit)
    for pairs in groups.values():
        for index in range(len(pairs[0].trials)):
            yield pairs[0], index, together(pairs, records, index)


def together(units: Sequence[Unit], records: Mapping[str, Record], index: int) -> Record | None:
    """Return what all pairs of a method say on one split, at one point of its grid; None if one has no record yet.

    The values are counts (``n``, ``wrong``, ``ties``), ``right`` for every test point, the seconds of all pairs, the
    largest gap, and the mean over pairs of every other number. One pair that failed fails the whole, and is named.
    """
    found = [(unit, records.get(unit.trials[index].key)) for unit in units]
    done = [(unit, record) for unit, record in found if record is not None]
    if len(done) < len(found):
        return None
    key = done[0][1].key
    failed = [(unit, record) for unit, record in done if record.status not in COUNTED]
    if failed:
        unit, record = min(failed, key=lambda pair: pair[1].status == "infeasible")
        more = f" (so did {len(failed) - 1} more of {len(done)} pairs)" if len(failed) > 1 else ""
        why = record.values.get("message", record.status)
        return Record(key, record.status, {"trouble": f"{named(unit)} failed{more}: {why}"})
    labels = dict.fromkeys(label for unit in units for label in unit.pair or ())
    order = {label: place for place, label in enumerate(labels)}
    y = units[0].source.load().y[units[0].split.test]
    truth = np.array([order[label] for label in y.tolist()])
    values = [record.values for _, record in done]
    pairs = [(order[unit.pair[0]], order[unit.pair[1]]) for unit in units if unit.pair]
    winner, tied = elect(pairs, (unpack(v["votes"], len(y)) for v in values), len(order))
    right = winner == truth
    merged: dict[str, Any] = {
        "n": len(y),
        "wrong": int(np.sum(~right)),
        "ties": int(np.sum(tied)),
        "right": right,
        "fit_seconds": sum(v["seconds"] for v in values),
        "train_seconds": sum(v["train_seconds"] for v in values),
        "gap": max(v["gap"] for v in values),
    }
    for name, value in values[0].items():
        if name not in _LEFT_OUT and isinstance(value, (int, float)) and all(name in v for v in values):
            merged[name] = float(np.mean([v[name] for v in values]))
    cloud = Cloud.of(done)
    if cloud is not None and cloud.line is not None:
        merged |= {"slope": cloud.line.slope, "intercept": cloud.line.intercept, "cloud": cloud}
    capped = any(record.status == "iteration-cap" for _, record in done)
    return Record(key, "iteration-cap" if capped else "solved", merged)


def uncertainty(name: str, voted: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is known of the uncertainty of a single run, in which every point was tested once."""
    if not voted:
        return {}
    right = np.concatenate([v["right"] for v in voted])
    if name in VOTED:
        return {"right": right, "sampling": sampling_error(name, counted(voted))}
    if name in ("slope", "intercept") and len(voted) == 1:
        line = voted[0]["cloud"].line
        return {"right": right, "sampling": getattr(line, f"{name}_se"), "df": line.df}
    return {"right": right}


def worth(name: str, voted: Sequence[Mapping[str, Any]]) -> float:
    """Return how much one test point can change the number of a repetition: what another machine may flip.

    Times and gaps are the machine's own, and no two runs need agree on them.
    """
    if name in OVER_FOLDS:
        return math.inf
    if name in ("slope", "intercept"):
        return max((v["cloud"].worth(name) for v in voted if "cloud" in v), default=0.0)
    points = sum(v["n"] for v in voted)
    return {"errors": 1.0, "ties": 1.0, "error": 100 / points, "accuracy": 100 / points}.get(name, 0.0)


def named(unit: Unit) -> str:
    """Return the pair of a unit in words."""
    return " against ".join(unit.pair or ())


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
        if any("margin_ratio" not in record.values for _, record in done):
            return None
        rows = []
        for unit, record in done:
            v = record.values
            n = v["n_pos"] + v["n_neg"]
            if n and math.isfinite(v["margin_ratio"]):
                rows.append((named(unit), v["margin_ratio"], 100 - 100 * (v["wrong_pos"] + v["wrong_neg"]) / n, n))
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
