"""The worker: fit a whole grid on one split, count the errors of each class.

What this module imports inside mmc decides the records, and is part of their keys (``fingerprint``): keep it lean.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mmc.datasets.dataset import Shape
from mmc.experiments.areas import wrong_area
from mmc.experiments.errors import TrialError
from mmc.experiments.knowledge import given
from mmc.experiments.measures import MEASURES
from mmc.experiments.metrics import COUNTED, VOTED, Costs, VoteCounts
from mmc.experiments.preparation import prepared, signs
from mmc.experiments.records import Ballot, Choice, Counts, Proof, Record
from mmc.experiments.splits import kfold, number_of
from mmc.experiments.units import Params, Trial, Tuning, Unit
from mmc.methods import entry_of
from mmc.methods.registry import METHODS
from mmc.methods.solution import Status

if TYPE_CHECKING:
    from mmc.methods.base import PathFitter, Step

Array = NDArray[np.float64]
Signs = NDArray[np.intp]
Area = Callable[[object], tuple[Counts, dict[str, float]]]
NO_POINT = "no grid point could be fitted on every inner fold"


@dataclass(frozen=True, eq=False)
class _Job:
    """Both parts of a unit, ready to be fitted and tested. ``points`` training rows are no knowledge sets."""

    X: Array
    y: Signs
    X_test: Array
    y_test: Signs
    shapes: list[Shape] | None
    points: int

    def fits(self, estimator: PathFitter, grid: Sequence[Params]) -> Iterator[Step]:
        """Yield a step for every point of a grid, fitted on the whole training part."""
        return estimator.fit_path(self.X, self.y, grid, self.X_test, **given(type(estimator), self.shapes))

    def inner(self, test: NDArray[np.intp]) -> _Job:
        """Return a split of the training part. Knowledge sets, the last rows, are in every inner training part."""
        train = np.setdiff1d(np.arange(len(self.y)), test, assume_unique=True)
        shapes = None if self.shapes is None else [self.shapes[i] for i in train]
        return _Job(self.X[train], self.y[train], self.X[test], self.y[test], shapes, 0)


def run_unit(unit: Unit) -> list[Record]:
    """Fit every trial of a unit; raise TrialError where a trial's input, not its mathematics, is at fault."""
    job, area = _job(unit)
    try:
        estimator = METHODS[unit.task.method].start(unit.task.params, seed_of_fit(unit))
        if unit.task.tune is not None:
            return [_tuned(unit, unit.task.tune, estimator, job)]
        grid = [trial.point for trial in unit.trials]
        records = [
            _measured(unit, step, job, outcome(trial.key, step, job.y_test, area))
            for trial, step in zip(unit.trials, job.fits(estimator, grid), strict=True)
        ]
    except ValueError as error:
        raise TrialError(f"{unit}: {error}") from error
    return [replace(records[0], chosen={**grid[0]})] if unit.follows else records


def seed_of_fit(unit: Unit) -> int:
    """Return the seed of a classifier that draws random numbers."""
    split = unit.split
    return number_of(split.seed, unit.source.label, "fit", split.repetition, split.fold)


def settled(unit: Unit, records: Mapping[str, Record]) -> Unit | Record:
    """Return a unit that follows others with its grid point, or its record if they found none that can be fitted."""
    assert unit.task.tune is not None
    total = np.array([records[key].inner_scores for key in unit.follows], dtype=float).sum(axis=0)
    best = int(np.argmin(total))
    key = unit.trials[0].key
    if math.isinf(total[best]):
        return Record(key, Status.INFEASIBLE, message=NO_POINT)
    trial = Trial(key, unit.task.tune.points[best])
    return replace(unit, task=replace(unit.task, tune=None), trials=(trial,))


def outcome(key: str, step: Step, y_test: Signs, area: Area | None = None) -> Record:
    """Return the record of one step of a path.

    y_test is 1, -1, or 0 for a point of neither class, or the class's number of a classifier of them all; ``area`` counts the
    errors of a model without test points.
    """
    if step.error is not None:
        distance = float(getattr(step.error, "distance", math.nan))
        known = distance if math.isfinite(distance) else None
        return Record(key, step.error.status, step.seconds, message=str(step.error), distance=known)
    model = step.estimator
    assert model is not None
    counts: Counts | None = None
    facts: dict[str, float] = {}
    if area is not None:
        counts, facts = area(model)
    elif step.decision is not None:
        counts = _counts(step.decision > 0, y_test)
    if (support := getattr(model, "support_", None)) is not None:
        facts["n_support"] = len(support)
    if counts is not None and (errors := getattr(model, "worst_case_error_", None)) is not None:
        facts |= _bounds(errors, counts)
    solution = model.solution_
    return Record(
        key,
        Status(solution.status),
        step.seconds,
        solution.seconds,
        counts,
        Proof(solution.objective, solution.gap, solution.iterations) if solution.certified else None,
        choice=None if step.predicted is None else Choice.of(step.predicted, y_test),
        facts={**facts, **dict(_scalars(model))},
    )


def _job(unit: Unit) -> tuple[_Job, Area | None]:
    """Return both parts of a unit, and what counts the errors where there are no test points."""
    ready, y = prepared(unit.where), signs(unit.where)
    X, y_train, y_test = ready.train, y[ready.rows.train], y[ready.rows.test]
    if unit.pair is not None:
        X, y_train = X[y_train != 0], y_train[y_train != 0]
    data = unit.source.load()
    job = _Job(X, y_train, ready.test, y_test, ready.shapes, len(y_train) - len(data.shapes))
    if ready.shapes is None or data.n_points:
        return job, None
    seed = number_of(unit.split.seed, unit.source.label, "area", unit.split.repetition)
    return job, partial(wrong_area, X=ready.test, y=y_test, shapes=ready.shapes, seed=seed)


def _tuned(unit: Unit, tune: Tuning, estimator: PathFitter, job: _Job) -> Record:
    """Search the grid by cross-validation inside the training part, refit the best point, and test it outside."""
    start = time.perf_counter()
    scores = _inner_scores(unit, tune, estimator, job)
    # The first of equals: grids are written from the most to the least cautious value.
    best = int(np.argmin(scores))
    if math.isinf(scores[best]):
        return Record(unit.trials[0].key, Status.INFEASIBLE, message=NO_POINT, inner_scores=tuple(scores))
    (step,) = job.fits(estimator, [tune.points[best]])
    record = _measured(unit, step, job, outcome(unit.trials[0].key, step, job.y_test))
    return replace(
        record,
        seconds=time.perf_counter() - start,
        chosen={**tune.points[best]},
        inner_scores=tuple(scores),
        facts={**record.facts, "inner_score": scores[best]},
    )


def _inner_scores(unit: Unit, tune: Tuning, estimator: PathFitter, job: _Job) -> list[float]:
    """Return the cross-validated score of every grid point, to be minimised; inf where an inner fold has no classifier."""
    tested: list[list[Record]] = [[] for _ in tune.points]
    split = unit.split
    seed = number_of(split.seed, unit.source.label, "tune", split.repetition, split.fold)
    for repetition in range(tune.repetitions):
        rng = np.random.default_rng([seed, repetition])
        for test in kfold(job.y[: job.points], tune.folds, rng):
            inner = job.inner(test)
            for i, step in enumerate(inner.fits(estimator, tune.points)):
                tested[i].append(outcome("", step, inner.y_test))
    return [_score(tune, folds) for folds in tested]


def _score(tune: Tuning, folds: Sequence[Record]) -> float:
    """Return what one grid point is worth, to be minimised; inf where a fold has no classifier."""
    counts = [fold.counts for fold in folds if fold.counts is not None]
    choices = [fold.choice for fold in folds if fold.choice is not None]
    if len(counts) == len(folds):
        return COUNTED[tune.metric].score(sum(counts, Counts()), tune.costs)
    if len(choices) == len(folds):
        return VOTED[tune.metric].score(VoteCounts(sum(c.points for c in choices), sum(c.wrong for c in choices)))
    return math.inf


def _measured(unit: Unit, step: Step, job: _Job, record: Record) -> Record:
    """Add what the config's measures say of a fitted model, and the votes of a pair on all test points."""
    if step.estimator is None:
        return record
    facts, curves = dict(record.facts), dict(record.curves)
    for name, options in unit.measures.items():
        for key, value in MEASURES[name](step.estimator, job.X, job.y, options).items():
            if isinstance(value, list):
                curves[key] = value
            else:
                facts[key] = float(value)
    ballot = None if unit.pair is None or step.decision is None else Ballot.of(step.decision > 0)
    return replace(record, facts=facts, curves=curves, ballot=ballot)


def _counts(said: NDArray[np.bool_], y_test: Signs) -> Counts:
    positive, negative = y_test > 0, y_test < 0
    return Counts(
        int(np.sum(positive)),
        int(np.sum(negative)),
        int(np.sum(~said[positive])),
        int(np.sum(said[negative])),
    )


def _bounds(worst_case_error: Array, counts: Counts) -> dict[str, float]:
    """Return the worst-case accuracy of each class in %, and whether the test part kept it."""
    facts = {}
    facts["bound_neg"], facts["bound_pos"] = (float(100 * (1 - error)) for error in worst_case_error)
    for side in ("pos", "neg"):
        reached = 100 - COUNTED[f"error_{side}"].value(counts, Costs())
        facts[f"held_{side}"] = 100.0 * (reached >= facts[f"bound_{side}"] - 1e-9)
    return facts


_NO_FACTS = ("n_features_in_", "gamma_")  # known from the data and the parameters


def _declared(model: object) -> tuple[str, ...]:
    """Return the facts that the catalogue names for a method; one from outside has none."""
    try:
        return entry_of(type(model)).facts
    except LookupError:
        return ()


def _scalars(model: object) -> Iterator[tuple[str, float]]:
    """The fitted attributes that are single numbers: a method's own facts, such as its margin ratio."""
    rounds = getattr(model, "n_iter_", None) if "n_iter" in _declared(model) else None  # a property
    for name, value in {**vars(model), "n_iter_": rounds}.items():
        if name.endswith("_") and name not in _NO_FACTS and isinstance(value, (int, float, np.number)):
            yield name.removesuffix("_"), float(value)
