"""One unit of work: scale, fit a whole grid, count the errors of each class."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmc.datasets import DataSet
from mmc.experiments.areas import wrong_area
from mmc.experiments.errors import TrialError
from mmc.experiments.knowledge import given, rescaled
from mmc.experiments.measures import MEASURES
from mmc.experiments.metrics import COUNTED, Costs
from mmc.experiments.plan import Trial, Unit
from mmc.experiments.records import Ballot, Counts, Proof, Record
from mmc.experiments.splits import kfold
from mmc.methods import CATALOGUE
from mmc.methods.solution import Status

_BLOCK = 4096  # rows of a large set that are centred at a time


def run_unit(unit: Unit) -> list[Record]:
    """Fit every trial of a unit; raise TrialError where a trial's input, not its mathematics, is at fault."""
    data = unit.source.load()
    X_train, X_test = prepared(unit)
    if unit.pair is None:
        positive = data.y == (data.positive if data.positive is not None else np.unique(data.y)[-1])
        y = np.where(positive, 1, -1)
    else:  # 0 is any other class
        y = np.where(data.y == unit.pair[0], 1, 0) - np.where(data.y == unit.pair[1], 1, 0)
    y_train, y_test = y[unit.split.train], y[unit.split.test]
    if unit.pair is not None:
        X_train, y_train = X_train[y_train != 0], y_train[y_train != 0]
    shapes = shapes_of(data, unit)
    try:
        estimator = CATALOGUE[unit.method].load()(**unit.params)
        if unit.tune is None:
            grid = [trial.point for trial in unit.trials]
            steps = estimator.fit_path(X_train, y_train, grid, X_test, **given(type(estimator), shapes))
            area = (
                None if data.n_points else partial(wrong_area, X=X_test, y=y_test, shapes=shapes, seed=unit.area_seed)
            )
            records = [
                _measured(unit, step, X_train, y_train, outcome(trial.key, step, y_test, area))
                for trial, step in zip(unit.trials, steps, strict=True)
            ]
            return [replace(records[0], chosen=grid[0])] if unit.follows else records
        return [_tuned(unit, estimator, X_train, y_train, X_test, y_test, shapes)]
    except ValueError as error:
        where = f"{unit.label} on {unit.source.label}, " + (f"{' against '.join(unit.pair)}, " if unit.pair else "")
        where += f"repetition {unit.split.repetition + 1}, fold {unit.split.fold + 1}"
        raise TrialError(f"{where}: {error}") from error


def _tuned(unit: Unit, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any, shapes: Any) -> Record:
    """Search the grid by cross-validation inside the training part, refit the best point, and test it outside.

    Knowledge sets, the last rows, are in every inner training part.
    """
    start = time.perf_counter()
    assert unit.tune is not None
    grid = unit.tune["points"]
    totals, failed = [Counts() for _ in grid], [False for _ in grid]
    points = len(y) - len(unit.source.load().shapes)
    for repetition in range(unit.tune["repetitions"]):
        rng = np.random.default_rng([unit.tune_seed, repetition])
        for test in kfold(y[:points] > 0, unit.tune["folds"], rng):
            train = np.setdiff1d(np.arange(len(y)), test, assume_unique=True)
            sets = given(type(estimator), shapes and [shapes[i] for i in train])
            for i, step in enumerate(estimator.fit_path(X[train], y[train], grid, X[test], **sets)):
                record = outcome("", step, y[test])
                if record.counts is None:
                    failed[i] = True
                else:
                    totals[i] += record.counts
    metric, costs = COUNTED[unit.tune["metric"]], Costs(**(unit.costs or {}))
    scores = [math.inf if bad else metric.score(total, costs) for bad, total in zip(failed, totals, strict=True)]
    # The first of equals: grids are written from the most to the least cautious value.
    best = int(np.argmin(scores))
    if math.isinf(scores[best]):
        return Record(unit.trials[0].key, Status.INFEASIBLE, message=NO_POINT, inner_scores=tuple(scores))
    (step,) = estimator.fit_path(X, y, [grid[best]], X_test, **given(type(estimator), shapes))
    record = _measured(unit, step, X, y, outcome(unit.trials[0].key, step, y_test))
    return replace(
        record,
        seconds=time.perf_counter() - start,
        chosen=grid[best],
        inner_scores=tuple(scores),
        facts={**record.facts, "inner_score": scores[best]},
    )


NO_POINT = "no grid point could be fitted on every inner fold"


def settled(unit: Unit, records: Mapping[str, Record]) -> Unit | Record:
    """Return a unit that follows others with its grid point, or its record if they found none that can be fitted."""
    assert unit.tune is not None
    total = np.array([records[key].inner_scores for key in unit.follows], dtype=float).sum(axis=0)
    best = int(np.argmin(total))
    key = unit.trials[0].key
    if math.isinf(total[best]):
        return Record(key, Status.INFEASIBLE, message=NO_POINT)
    return replace(unit, tune=None, trials=(Trial(key, unit.tune["points"][best]),))


def _measured(unit: Unit, step: Any, X: Any, y: Any, record: Record) -> Record:
    """Add what the config's measures say of a fitted model, and the votes of a pair on all test points."""
    if step.estimator is None:
        return record
    facts, curves = dict(record.facts), dict(record.curves)
    for name, options in (unit.measures or {}).items():
        for key, value in MEASURES[name](step.estimator, X, y, **options).items():
            if isinstance(value, list):
                curves[key] = value
            else:
                facts[key] = float(value)
    ballot = None if unit.pair is None else Ballot.of(step.decision > 0)
    return replace(record, facts=facts, curves=curves, ballot=ballot)


Area = Callable[[Any], tuple[Counts, dict[str, float]]]


def outcome(key: str, step: Any, y_test: NDArray[Any], area: Area | None = None) -> Record:
    """Return the record of one step of a path.

    y_test is 1, -1, or 0 for a point of neither class; ``area`` counts the errors of a model without test points.
    """
    if step.error is not None:
        distance = getattr(step.error, "distance", math.nan)
        return Record(
            key,
            step.error.status,
            step.seconds,
            message=str(step.error),
            distance=float(distance) if math.isfinite(distance) else None,
        )
    model = step.estimator
    facts: dict[str, float] = {}
    if area is None:
        counts = _counts(step.decision > 0, y_test)
    else:
        counts, facts = area(model)
    if hasattr(model, "support_"):
        facts["n_support"] = len(model.support_)
    if hasattr(model, "worst_case_error_"):
        facts["bound_neg"], facts["bound_pos"] = (float(100 * (1 - e)) for e in model.worst_case_error_)
        for side in ("pos", "neg"):
            reached = 100 - COUNTED[f"error_{side}"].value(counts, Costs())
            facts[f"held_{side}"] = 100.0 * (reached >= facts[f"bound_{side}"] - 1e-9)
    solution = model.solution_
    return Record(
        key,
        Status(solution.status),
        step.seconds,
        solution.seconds,
        counts,
        Proof(solution.objective, solution.gap, solution.iterations),
        facts={**facts, **dict(_scalars(model))},
    )


def _counts(said: NDArray[Any], y_test: NDArray[Any]) -> Counts:
    positive, negative = y_test > 0, y_test < 0
    return Counts(
        int(np.sum(positive)),
        int(np.sum(negative)),
        int(np.sum(~said[positive])),
        int(np.sum(said[negative])),
    )


def _scalars(model: Any) -> Iterator[tuple[str, float]]:
    """The fitted attributes that are single numbers: a method's own facts, such as its margin ratio."""
    for name, value in vars(model).items():
        if name.endswith("_") and name != "n_features_in_" and isinstance(value, (int, float, np.number)):
            yield name.removesuffix("_"), float(value)


def prepared(unit: Unit) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both parts, scaled and projected by what the training part says. The last split's are kept: pairs share them."""
    key = (unit.source, unit.split.digest(), unit.scale, unit.pca)
    if key not in _prepared:
        _prepared.clear()
        X = unit.source.load().X
        parts = scaled(unit.scale, X[unit.split.train], X[unit.split.test])
        _prepared[key] = projected(unit.pca, *parts)
    return _prepared[key]


_prepared: dict[Any, tuple[NDArray[Any], NDArray[Any]]] = {}


def projected(components: int | None, train: NDArray[Any], test: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both parts in the training part's first principal components, each one's largest entry positive."""
    if components is None:
        return train, test
    middle = train.mean(axis=0)
    scatter = np.zeros((train.shape[1], train.shape[1]))
    for start in range(0, len(train), _BLOCK):
        block = train[start : start + _BLOCK] - middle
        scatter += block.T @ block
    axes = np.linalg.eigh(scatter)[1][:, ::-1][:, :components]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(components)])
    return train @ axes - middle @ axes, test @ axes - middle @ axes


def scaled(kind: str, train: NDArray[Any], test: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scale both parts with what the training part alone says; a constant feature stays where it is."""
    train, test = train.astype(float, copy=False), test.astype(float, copy=False)  # bytes would wrap around
    if kind == "none":
        return train, test
    shift, width = _scaling(kind, train)
    return (train - shift) / width, (test - shift) / width


def shapes_of(data: DataSet, unit: Unit) -> list[Any] | None:
    """Return the shapes of the training rows, scaled as the rows are (0 for a point), or None without knowledge sets."""
    if not data.shapes:
        return None
    _, width = _scaling(unit.scale, data.X[unit.split.train])
    shapes = [*np.zeros(data.n_points), *data.shapes]
    return [rescaled(shapes[i], width) for i in unit.split.train]


def _scaling(kind: str, train: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what is subtracted from every feature, and what it is then divided by."""
    if kind == "none":
        return np.zeros(train.shape[1]), np.ones(train.shape[1])
    if kind in ("standard", "unit"):
        shift, width = train.mean(axis=0), train.std(axis=0)
    else:
        shift = train.min(axis=0)
        width = train.max(axis=0) - shift
    constant = width <= 10 * np.finfo(float).eps * np.abs(train).max(axis=0)
    return shift, np.where(constant, 1.0, width) * (math.sqrt(train.shape[1]) if kind == "unit" else 1.0)
