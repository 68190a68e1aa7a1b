"""`mmc fit` of a file that is large beside the memory: three passes that keep moments, scores and a sample, no rows.

The first pass counts the labels and draws a sample of training rows. On it the columns are recognised, the preparation of the
table is fitted and the classifier is chosen. The second pass sums up the moments of all training rows, which give the scaling and
the classifier. The third pass scores the calibration and the test part. A hash of the row's number and the seed decides its
part, so every pass sees the same parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from mmc.experiments.own.candidates import Family, Labels, Training, portfolio
from mmc.experiments.own.choosing import Curve, Watch, quiet, ranking, tried
from mmc.experiments.own.columns import frame_of
from mmc.experiments.own.errors import NotPossible, RequestError, TableError
from mmc.experiments.own.fitting import Chosen, Outcome, Request, expected_errors, measure, positive_of, prepared
from mmc.experiments.own.model_file import TableFacts
from mmc.experiments.own.moment_bounds import moment_bounds
from mmc.experiments.own.parts import MOST, Goal, Parts, shares
from mmc.experiments.own.preparing import lean, preparation, treatments, with_categories
from mmc.experiments.own.stream_reading import batches
from mmc.methods import FitError, InfeasibleProblem, RateGuarantee
from mmc.methods.held_out import scores_of
from mmc.methods.numerics.kernels import Array
from mmc.methods.numerics.moments import ClassMoments, Label, tree_sum
from mmc.words import nearest

SHARE = 1 / 8  # of the machine's memory: in memory a table takes several times the size of its file
SAMPLE = 20_000  # rows of the sample
SCORES = 250_000  # kept of each class and part
_PARTS = ("training", "calibration", "test")
_ENDINGS = (".csv", ".tsv", ".parquet")
_FROM_MOMENTS = ("error-rate", "bmpm", "mpm", "mempm", "lda")
Bytes = Callable[[int, int, str], None]  # bytes read, of how many, what is at work


def too_large(path: Path, memory: float | None) -> bool:
    """Whether a file is streamed: it is larger than ``memory`` bytes, or by default than a share of the machine's."""
    limit = SHARE * psutil.virtual_memory().total if memory is None else memory
    return path.suffix.lower() in _ENDINGS and path.is_file() and path.stat().st_size > limit


def hashed(start: int, n: int, seed: int) -> Array:
    """Return numbers between 0 and 1 for the rows from ``start`` on (splitmix64): the same for the same seed."""
    x = np.arange(start, start + n, dtype=np.uint64) + np.uint64(seed * 0xD1B54A32D192ED03 % 2**64)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass
class _Top:
    """Keeps what comes with the largest numbers: a uniform sample if the numbers are hashes."""

    most: int
    least: float = 0.0
    held: list[tuple[Array, pd.DataFrame]] = field(default_factory=list)

    def add(self, keys: Array, take: Callable[[NDArray[np.intp]], pd.DataFrame]) -> None:
        """Offer rows with their numbers; ``take`` makes those that stay."""
        rows = np.flatnonzero(keys > self.least)
        if len(rows):
            self.held.append((keys[rows], take(rows)))
        if sum(len(part) for part, _ in self.held) > 2 * self.most:
            self._shrink()

    def _shrink(self) -> None:
        keys = np.concatenate([part for part, _ in self.held])
        frame = pd.concat([part for _, part in self.held])
        kept = np.sort(np.argsort(-keys, kind="stable")[: self.most])
        self.least = float(keys[kept].min()) if len(keys) > self.most else self.least
        self.held = [(keys[kept], frame.iloc[kept])]

    def frame(self) -> pd.DataFrame:
        """Return what was kept, in order."""
        if self.held:
            self._shrink()
        return self.held[0][1] if self.held else pd.DataFrame()


def choose_streamed(request: Request, watch: Watch, progress: Bytes) -> Chosen:
    """Read the file once, then rank the classifiers that need moments only on a sample of the training part."""
    families = _families(request)
    counts: Counter[str] = Counter()
    top, start = _Top(SAMPLE), 0
    least = request.test_size + (request.calibration or MOST)
    for batch, read in batches(request.path):
        if request.target not in batch.column_names:
            raise RequestError(
                f"{request.path} has no column {request.target!r} for --target: {nearest(request.target, batch.column_names)}"
            )
        keys = hashed(start, batch.num_rows, request.seed)
        top.add(np.where(keys >= least, keys, 0.0), partial(_taken, batch))
        coded = batch.column(request.target).dictionary_encode()
        if coded.null_count:
            raise TableError(
                f"{request.path}: the target {request.target!r} is missing in some rows; fill it in, or leave them out"
            )
        found = np.bincount(coded.indices.to_numpy(), minlength=len(coded.dictionary))
        counts.update(dict(zip(map(str, coded.dictionary.to_pylist()), found.tolist(), strict=True)))
        start += batch.num_rows
        progress(read, request.path.stat().st_size, "reading")
    sample = top.frame()
    if sample.empty:
        raise TableError(f"{request.path} has no rows below its column names")
    examples = prepared(request, sample.reset_index(drop=True))
    named: Counter[str] = Counter()
    for raw, n in counts.items():
        named[_label(raw, examples.classes, request)] += n
    examples = replace(examples, totals=dict(named))
    goal = Goal(request.max_error, request.confidence)
    parted = shares(examples.counts, goal, request.test_size, request.calibration)
    sizes = {label: parted.sizes(n)[1] for label, n in named.items() if label in goal.rates}
    expected = expected_errors(examples, goal, {label: min(n, SCORES) for label, n in sizes.items()})
    found_entries = tried(examples.frame, examples.y, positive_of(request, examples), families, request.seed, watch)
    ranked = ranking(found_entries, expected if request.max_error else None)
    if not ranked:
        reasons = "; ".join(f"{entry.name}: {entry.problem}" for entry in found_entries)
        raise RequestError(f"none of the methods could be fitted. {reasons}")
    failed = [entry for entry in found_entries if entry not in ranked]
    nothing = np.array([], dtype=np.intp)
    parts = {name: [parted.sizes(named[label])[at] for label in examples.classes] for at, name in enumerate(_PARTS)}
    return Chosen(request, examples, parted, Parts(nothing, nothing, nothing), ranked, failed, expected, parts)


def finish_streamed(chosen: Chosen, progress: Bytes) -> Outcome:
    """Sum up the training part, fit, score the two other parts, set the thresholds and count."""
    request, examples = chosen.request, chosen.examples
    prepare, best = preparation(), chosen.tried[0]
    with quiet():
        X = np.asarray(prepare.fit_transform(examples.frame, examples.y), dtype=np.float64)
        training = Training(X, examples.y, chosen.positive)
        made = best.family.make(training)
    passes = _Passes(chosen, Pipeline(prepare.steps[:-1]), progress)
    moments = tree_sum(passes.moments())
    everything = moments.total()
    scaler = prepare.named_steps["scale"]
    scaler.mean_, scaler.var_ = everything.mean, everything.std**2
    scaler.scale_ = np.where(everything.std > 0, everything.std, 1.0)
    scaler.n_samples_seen_ = int(everything.count)
    estimator = made[best.name]
    try:
        estimator.fit_moments(moments.affine(1 / scaler.scale_, -scaler.mean_ / scaler.scale_))
    except FitError as error:
        raise RequestError(
            f"{best.name} was the best but could not be fitted on the whole training part: {error}"
        ) from None
    pipeline = Pipeline([*prepare.steps, ("classifier", estimator)])
    scores = passes.scores(pipeline)
    ready = _Ready(np.array(examples.classes))
    model = RateGuarantee(
        ready, dict(request.max_error), confidence=request.confidence, abstain=request.abstain, calibration="prefit"
    )
    try:
        model.fit(*scores["calibration"])
    except InfeasibleProblem as error:
        raise NotPossible(str(error).replace("With abstain=LABEL", "With --abstain LABEL")) from None
    X_test, y_test = scores["test"]
    measured = measure(model.predict(X_test), y_test, examples.classes, request)
    curve = Curve.of(y_test, X_test[:, 0])
    table = prepare.named_steps["table"]
    described = treatments(table, examples.frame, examples.columns)
    lean(table)
    model.estimator_, model.estimator = pipeline, clone(pipeline)
    facts = TableFacts(target=request.target, id=examples.id, columns=tuple(with_categories(table, examples.columns)))
    chosen = replace(chosen, counted=passes.counted)
    return Outcome(chosen, model, described, facts, measured, curve, moment_bounds(training, request.max_error))


@dataclass
class _Passes:
    """Reads the file again, part by part of its rows."""

    chosen: Chosen
    prepare: Pipeline
    progress: Bytes
    counted: dict[str, list[int]] = field(default_factory=dict)

    def moments(self) -> Iterator[ClassMoments]:
        """Yield the moments of the training rows of each batch."""
        classes: list[Label] = list(self.chosen.examples.classes)
        for frame, codes, _ in self._rows(("training",), "summing up"):
            X = np.asarray(self.prepare.transform(frame), dtype=np.float64)
            yield ClassMoments.of_codes(X, codes, classes, None, None)

    def scores(self, pipeline: Pipeline) -> dict[str, tuple[Array, Labels]]:
        """Return a uniform sample of the scores and labels of the calibration part and of the test part."""
        classes = np.array(self.chosen.examples.classes)
        held = {(part, code): _Top(SCORES) for part in ("calibration", "test") for code in (0, 1)}
        shares_ = self.chosen.shares
        for frame, codes, keys in self._rows(("calibration", "test"), "scoring"):
            found = pd.DataFrame({"score": scores_of(pipeline, frame), "code": codes})
            again = (
                hashed(0, 1, self.chosen.request.seed)[0] + keys
            )  # within a part any function of the hash is uniform
            again = again - np.floor(again)
            for (part, code), top in held.items():
                inside = (keys < shares_.test) == (part == "test")
                own = np.flatnonzero(inside & (codes == code))
                top.add(again[own], partial(_picked, found, own))
        result = {}
        for part in ("calibration", "test"):
            frame = pd.concat([held[part, code].frame() for code in (0, 1)])
            labels = classes[frame["code"].to_numpy(dtype=np.intp)]
            result[part] = frame["score"].to_numpy(dtype=np.float64)[:, None], labels
        return result

    def _rows(self, parts: tuple[str, ...], words: str) -> Iterator[tuple[pd.DataFrame, NDArray[np.intp], Array]]:
        """Yield the columns, the codes of the labels and the hashes of the rows of some parts; count them."""
        request, examples, start = self.chosen.request, self.chosen.examples, 0
        test, calibration = self.chosen.shares.test, self.chosen.shares.test + self.chosen.shares.calibration
        size = request.path.stat().st_size
        for batch, read in batches(request.path, examples.columns, request.target):
            keys = hashed(start, batch.num_rows, request.seed)
            kinds = np.where(keys < test, 2, np.where(keys < calibration, 1, 0))
            chosen = np.flatnonzero(np.isin(kinds, [_PARTS.index(part) for part in parts]))
            if len(chosen):
                some = batch.take(pa.array(chosen))
                coded = some.column(request.target).dictionary_encode()
                places = [
                    examples.classes.index(_label(str(raw), examples.classes, request))
                    for raw in coded.dictionary.to_pylist()
                ]
                codes = np.array(places, dtype=np.intp)[coded.indices.to_numpy(zero_copy_only=False)]
                for part in parts:
                    own = codes[kinds[chosen] == _PARTS.index(part)]
                    before = self.counted.get(part, [0, 0])
                    self.counted[part] = (np.bincount(own, minlength=2) + before).tolist()
                frame = some.drop_columns([request.target]).to_pandas()
                frame.index = pd.RangeIndex(start, start + batch.num_rows)[chosen]
                with quiet():
                    yield frame_of(frame, examples.columns, request.path), codes, keys[chosen]
            start += batch.num_rows
            self.progress(read, size, words)


class _Ready(ClassifierMixin, BaseEstimator):
    """A classifier whose examples are their scores."""

    def __init__(self, classes: NDArray[np.str_]):
        self.classes = classes
        self.classes_ = classes

    def fit(self, X: Array, y: Labels) -> _Ready:
        """Learn nothing."""
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the scores."""
        return np.asarray(X)[:, 0]


def _taken(batch: pa.RecordBatch, rows: NDArray[np.intp]) -> pd.DataFrame:
    frame: pd.DataFrame = batch.take(pa.array(rows)).to_pandas()
    return frame


def _picked(frame: pd.DataFrame, own: NDArray[np.intp], rows: NDArray[np.intp]) -> pd.DataFrame:
    return frame.iloc[own[rows]]


def _label(raw: str, classes: tuple[str, str], request: Request) -> str:
    """Return the label that a cell means, as `labels_of` does: 1.0 as 1."""
    text = raw.strip()
    if text in classes:
        return text
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if number == np.round(number) and f"{number:.0f}" in classes:
        return f"{number:.0f}"
    raise TableError(
        f"{request.path}: the target {request.target!r} has the label {text!r} besides {' and '.join(map(repr, classes))}; it "
        "needs two. Join them into two classes in a column of their own"
    )


def _families(request: Request) -> list[Family]:
    asked = request.methods or ("error-rate", "bmpm")
    for name in asked:
        if name not in _FROM_MOMENTS:
            raise RequestError(
                f"--methods {name!r}: {request.path} is streamed, being large beside the memory, and {name!r} needs all rows at once. "
                f"Take {', '.join(_FROM_MOMENTS)}, or raise --memory"
            )
    return [family for family in portfolio(asked, request.seed) if not family.all_pairs]
