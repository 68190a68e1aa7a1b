"""From a table to a classifier with a promise: split, choose, calibrate, test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mmc.experiments.own.candidates import Labels, Training, portfolio
from mmc.experiments.own.choosing import Curve, Tried, Watch, fitted, left_out, quiet, ranking, tried
from mmc.experiments.own.columns import Column, frame_of, labels_of, looks_like_id, recognise
from mmc.experiments.own.errors import NotPossible, RequestError, TableError
from mmc.experiments.own.model_file import TableFacts
from mmc.experiments.own.moment_bounds import MomentBounds, moment_bounds
from mmc.experiments.own.parts import Goal, Parts, Shares, shares, split
from mmc.experiments.own.preparing import Treatment, lean, preparation, tells_the_answer, treatments, with_categories
from mmc.experiments.own.reading import read
from mmc.methods import InfeasibleProblem, RateGuarantee
from mmc.methods.guarantee_record import ClassGuarantee
from mmc.methods.held_out import scores_of
from mmc.methods.order_statistics import interval, ranks
from mmc.words import nearest


@dataclass(frozen=True)
class Request:
    """What a person asks of a table. Without rates: what is possible."""

    path: Path
    target: str
    max_error: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.95
    abstain: str | None = None
    methods: Sequence[str] = ()
    id: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    test_size: float = 0.2
    calibration: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Examples:
    """A table, read: the columns to learn from, the labels, and what a reader should know of it."""

    frame: pd.DataFrame
    y: Labels
    columns: Sequence[Column]
    id: str | None
    left_out: Mapping[str, str]  # columns and why
    warnings: Sequence[str]
    totals: Mapping[str, int] | None = None  # rows of each class, if the frame is a sample of them

    @property
    def classes(self) -> tuple[str, str]:
        """The two labels in order."""
        first, second = np.unique(self.y).tolist()
        return first, second

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each class has."""
        if self.totals is not None:
            return {label: self.totals[label] for label in self.classes}
        return {label: int((self.y == label).sum()) for label in self.classes}


@dataclass(frozen=True)
class Measured:
    """What the test part shows of one class: counts and exact intervals (Clopper and Pearson) at the confidence asked for."""

    n: int
    errors: int
    abstained: int
    confidence: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the error rate."""
        return interval(self.errors, self.n, self.confidence)


@dataclass(frozen=True)
class Chosen:
    """The examples, their parts, and the classifiers that were tried, the best first."""

    request: Request
    examples: Examples
    shares: Shares
    parts: Parts
    tried: Sequence[Tried]
    failed: Sequence[Tried]
    expected: tuple[float | None, float | None]  # the error rates at the thresholds that the promise will have
    counted: Mapping[str, Sequence[int]] | None = None  # rows of each class in each part, if no rows are kept

    @property
    def sizes(self) -> list[tuple[str, list[int]]]:
        """The parts, and how many rows of each class they have."""
        if self.counted is not None:
            return [(name, list(counts)) for name, counts in self.counted.items()]
        parts, y = self.parts, self.examples.y
        named = (("training", parts.train), ("calibration", parts.calibration), ("test", parts.test))
        return [(name, [int((y[rows] == label).sum()) for label in self.examples.classes]) for name, rows in named]

    @property
    def positive(self) -> str:
        """The class whose error is limited first."""
        return positive_of(self.request, self.examples)

    @property
    def other(self) -> str:
        """The other class."""
        return next(label for label in self.examples.classes if label != self.positive)


@dataclass(frozen=True)
class Outcome:
    """A model with its promise, what the test part shows, and how it came about."""

    chosen: Chosen
    model: RateGuarantee
    columns: Sequence[Treatment]
    facts: TableFacts
    measured: Mapping[str, Measured]
    test_curve: Curve
    bounds: MomentBounds

    @property
    def promises(self) -> Sequence[ClassGuarantee]:
        """What is promised, for each class."""
        found: Sequence[ClassGuarantee] = self.model.guarantee_.classes
        return found

    @property
    def doubts(self) -> list[str]:
        """Classes whose errors in the test part speak against the promise."""
        asked = self.chosen.request.max_error
        return [label for label, rate in asked.items() if self.measured[label].interval[0] > rate]


def examples_of(request: Request) -> Examples:
    """Read a table and check what is asked of it."""
    return prepared(request, read(request.path))


def prepared(request: Request, table: pd.DataFrame) -> Examples:
    """Check what is asked of a table, and find out what its columns hold."""
    path = request.path
    _check_names(request, table)
    labels = labels_of(table[request.target], request.target, path)
    y = labels.to_numpy(dtype=np.str_)
    _check_request(request, sorted(set(y.tolist())))
    names = [str(name) for name in table.columns if name not in {request.target, request.id, *request.drop}]
    columns = [recognise(name, table[name]) for name in names]
    frame = frame_of(table, columns, path)
    left_out = dict.fromkeys(request.drop, "not used: --drop")
    if request.id is not None:
        left_out[request.id] = "not used: the ID"
    found_id, notes = request.id, []
    for column in columns:
        if column.name not in request.keep and looks_like_id(column, frame[column.name]):
            left_out[column.name] = "not used: looks like an ID"
            found_id = found_id or column.name
            notes.append(f"{column.name!r} looks like an ID: it is not used. If it is none: --keep {column.name!r}")
    columns = [column for column in columns if column.name not in left_out]
    if not columns:
        raise TableError(f"{path}: besides the target {request.target!r} there is no column to learn from")
    frame = frame[[column.name for column in columns]]
    if copies := int(frame.assign(**{request.target: y}).duplicated().sum()):
        notes.append(
            f"{copies} of {len(y)} rows equal another one. If they are copies, keep one of each: copies in two parts make the "
            "promise look better than it is"
        )
    return Examples(frame, y, columns, found_id, left_out, notes)


def choose(request: Request, watch: Watch) -> Chosen:
    """Split the examples and rank the classifiers inside the training part; nothing else is looked at."""
    families = portfolio(request.methods, request.seed)
    examples = examples_of(request)
    goal = Goal(request.max_error, request.confidence)
    parted = shares(examples.counts, goal, request.test_size, request.calibration)
    parts = split(examples.y, parted, request.seed)
    sizes = {label: int((examples.y[parts.calibration] == label).sum()) for label in goal.rates}
    expected = expected_errors(examples, goal, sizes)
    positive = positive_of(request, examples)
    frame, y = examples.frame.iloc[parts.train], examples.y[parts.train]
    warned = [*examples.warnings, *_answers(examples, frame, y)]
    skipped = [] if request.methods else left_out(families, len(y))
    families = [family for family in families if family.name not in {entry.name for entry in skipped}]
    found = tried(frame, y, positive, families, request.seed, watch)
    ranked = ranking(found, expected if request.max_error else None)
    failed = [entry for entry in found if entry not in ranked] + skipped
    if not ranked:
        reasons = "; ".join(f"{entry.name}: {entry.problem}" for entry in failed)
        raise RequestError(f"none of the methods could be fitted. {reasons}")
    return Chosen(request, replace(examples, warnings=warned), parted, parts, ranked, failed, expected)


def finish(chosen: Chosen) -> Outcome:
    """Fit the best classifier on the training part, set its thresholds on the calibration part, count on the test part."""
    request, examples, parts = chosen.request, chosen.examples, chosen.parts
    frame, y = examples.frame, examples.y
    prepare = preparation()
    with quiet():
        X = np.asarray(prepare.fit_transform(frame.iloc[parts.train], y[parts.train]), dtype=np.float64)
        training = Training(X, y[parts.train], chosen.positive)
        best = chosen.tried[0]
        made = {name: (estimator, problem) for name, estimator, problem in fitted(best.family, training)}
        estimator, problem = made.get(best.name, (None, "it has no fit on the whole training part"))
        if estimator is None:
            raise RequestError(
                f"{best.name} was the best but could not be fitted on the whole training part: {problem}"
            )
        pipeline = Pipeline([*prepare.steps, ("classifier", estimator)])
        model = RateGuarantee(
            pipeline,
            dict(request.max_error),
            confidence=request.confidence,
            abstain=request.abstain,
            calibration="prefit",
        )
        try:
            model.fit(frame.iloc[parts.calibration], y[parts.calibration])
        except InfeasibleProblem as error:
            raise NotPossible(str(error).replace("With abstain=LABEL", "With --abstain LABEL")) from None
        predicted = model.predict(frame.iloc[parts.test])
        curve = Curve.of(y[parts.test], scores_of(pipeline, frame.iloc[parts.test]))
    measured = measure(predicted, y[parts.test], examples.classes, request)
    table = prepare.named_steps["table"]
    described = treatments(table, frame.iloc[parts.train], examples.columns)
    lean(table)
    model.estimator = clone(pipeline)  # `estimator_` has the fit; a file would hold it twice
    facts = TableFacts(target=request.target, id=examples.id, columns=tuple(with_categories(table, examples.columns)))
    return Outcome(chosen, model, described, facts, measured, curve, moment_bounds(training, request.max_error))


def measure(predicted: Labels, y: Labels, classes: Sequence[str], request: Request) -> dict[str, Measured]:
    """Count what was predicted wrongly, for each class."""
    measured = {}
    for label in classes:
        own = predicted[y == label]
        abstained = int((own == request.abstain).sum()) if request.abstain is not None else 0
        wrong = len(own) - int((own == label).sum()) - abstained
        measured[label] = Measured(len(own), wrong, abstained, request.confidence)
    return measured


def positive_of(request: Request, examples: Examples) -> str:
    """Return the class whose error is limited; of two the one named first, of none the second in order."""
    return next(iter(request.max_error), examples.classes[1])


def expected_errors(examples: Examples, goal: Goal, sizes: Mapping[str, int]) -> tuple[float | None, float | None]:
    """Return the mean error rate at the order statistic of each limited class: k of n + 1, below the rate asked for.

    ``sizes`` are those of the calibration part, in the order of the rates.
    """
    if not goal.rates:
        return None, None
    chosen = ranks(list(sizes.values()), list(goal.rates.values()), goal.confidence)
    mean = {label: k / (n + 1) for (label, n), k in zip(sizes.items(), chosen, strict=True)}
    first, second = examples.classes
    return mean.get(first), mean.get(second)


def _answers(examples: Examples, frame: pd.DataFrame, y: Labels) -> list[str]:
    positive = y == examples.classes[1]
    notes = []
    for column in examples.columns:
        with quiet():
            area = tells_the_answer(frame[column.name], column, positive)
        if area is not None:
            notes.append(
                f"{column.name!r} looks like the answer itself: alone it tells the classes apart (area {area:.3f} of 1). If "
                f"it is not known before the answer is: --drop {column.name!r}"
            )
    return notes


def _check_names(request: Request, table: pd.DataFrame) -> None:
    known = [str(name) for name in table.columns]
    named = {"--target": [request.target], "--drop": request.drop, "--keep": request.keep}
    named["--id"] = [] if request.id is None else [request.id]
    for option, names in named.items():
        for name in names:
            if name not in known:
                raise RequestError(f"{request.path} has no column {name!r} for {option}: {nearest(name, known)}")
            if option != "--target" and name == request.target:
                raise RequestError(f"{option} {name!r} is the target; it cannot be both")


def _check_request(request: Request, classes: Sequence[str]) -> None:
    for label, rate in request.max_error.items():
        if label not in classes:
            raise RequestError(
                f"--max-error {label}={rate:g}: {label!r} is no class of {request.target!r}: {nearest(label, classes)}"
            )
        if not 0 < rate < 1:
            raise RequestError(
                f"--max-error {label}={rate:g}: a rate is a number between 0 and 1, such as {label}=0.05"
            )
    if not 0 < request.confidence < 1:
        raise RequestError(f"--confidence must be a number between 0 and 1, got {request.confidence:g}")
    if request.abstain is None:
        return
    if request.abstain in classes:
        raise RequestError(
            f"--abstain {request.abstain!r} is a class; take a word that {request.target!r} does not have"
        )
    if len(request.max_error) < 2:
        raise RequestError(
            f"--abstain needs a rate for both classes, {' and '.join(map(repr, classes))}: with one nothing stays undecided"
        )
