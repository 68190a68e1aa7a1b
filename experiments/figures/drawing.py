"""What every kind of figure shares: its options, what it may draw from, and models fitted as the trials fit them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.cells import Table
from mmc.experiments.config import Experiment
from mmc.experiments.errors import KeyPath
from mmc.experiments.escape import plain
from mmc.experiments.knowledge import given
from mmc.experiments.metrics import COUNTED, VOTED
from mmc.experiments.model import Model
from mmc.experiments.plan import Unit
from mmc.experiments.preparation import prepared, signs
from mmc.experiments.records import Json, Record
from mmc.experiments.results import Results
from mmc.experiments.trials import seed_of_fit
from mmc.methods import BoundWarning, FitError
from mmc.methods.registry import METHODS
from mmc.words import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array: TypeAlias = NDArray[np.float64]
Problem: TypeAlias = tuple[KeyPath, str]


# Names of parameters and metrics as words; a config's own labels come first.
_WORDS = {
    "gamma": "γ of the Gaussian kernel",
    "eps": "ε: how far a point must move to count",
    "ridge": "ridge on the covariances",
    "C": "cost of slack, C",
    "+ve held %": "splits that kept the bound, positive class, %",
    "−ve held %": "splits that kept the bound, negative class, %",
    "+ve bound %": "bound of the positive class, %",
    "−ve bound %": "bound of the negative class, %",
    "+ve acc %": "accuracy of the positive class, %",
    "−ve acc %": "accuracy of the negative class, %",
    "+ve err %": "error of the positive class, %",
    "−ve err %": "error of the negative class, %",
    "err %": "error, %",
    "acc %": "accuracy, %",
}


class Fitted(Protocol):
    """What a figure needs of a fitted method."""

    def decision_function(self, X: Array) -> Array: ...


@dataclass(frozen=True)
class Drawing:
    """What a figure is drawn from: the results of a config."""

    results: Results

    @property
    def experiment(self) -> Experiment:
        return self.results.config.experiment

    @property
    def units(self) -> Sequence[Unit]:
        return self.results.units

    @property
    def records(self) -> Mapping[str, Record]:
        return self.results.records

    @property
    def table(self) -> Table:
        return self.results.table

    def label(self, word: Json) -> str:
        """Return how a key, a value or a metric is written in a figure."""
        text = self.table.label(word)
        return shown(_WORDS.get(text, text))

    def units_of(self, dataset: str, label: str) -> list[Unit]:
        """Return the units of a method on a data set, in the order of the splits."""
        return [unit for unit in self.units if (unit.source.label, unit.label) == (dataset, label)]


class Kind(Model):
    """A kind of figure. Its fields are the options in a config; it checks them, and it draws.

    ``shows`` is one line for `mmc list figures` and for captions. Problems are (place below the figure's key, sentence).
    """

    shows: ClassVar[str]
    several_classes: ClassVar[bool] = False  # whether it can show more than two classes, and principal components

    def check(self, experiment: Experiment) -> Iterator[Problem]:
        """Yield what is wrong with the options for this experiment, before anything is fitted."""
        if not self.several_classes:
            components = any(data is not None and data.pca for data in experiment.datasets.values())
            if experiment.multiclass or components:
                why = "more than two classes" if experiment.multiclass else "principal components"
                yield ("kind",), f"a figure of this kind cannot show {why}"
        for names, known in (
            (("method", "methods", "dashed"), list(experiment.methods)),
            (("dataset", "datasets"), list(experiment.datasets)),
            (("metric",), [*(VOTED if experiment.multiclass else COUNTED), *experiment.table.metrics]),
        ):
            for name in names:
                wanted = getattr(self, name, None)
                for word in [wanted] if isinstance(wanted, str) else wanted or []:
                    if word not in known:
                        yield (name,), f"{name} {word!r}: {nearest(word, known)}"

    def check_data(self, units: Sequence[Unit]) -> Iterator[Problem]:
        """Yield what only the data can say, before anything is fitted."""
        yield from ()

    def draw(self, drawing: Drawing) -> Iterator[tuple[str, Figure]]:
        """Yield (suffix of the file's name, figure)."""
        raise NotImplementedError


def shown(text: str) -> str:
    """Return text of a user as matplotlib draws it: no formula between $, and never hidden from a legend by a first _."""
    text = plain(text).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def not_in_the_plane(units: Sequence[Unit], datasets: Sequence[str], place: KeyPath) -> Iterator[Problem]:
    """Yield the data sets that do not have two features."""
    for label in datasets:
        unit = next((unit for unit in units if unit.source.label == label), None)
        if unit is not None and unit.source.load().X.shape[1] != 2:
            features = unit.source.load().X.shape[1]
            yield place, f"the figure needs data in the plane; {label} has {features} features"


def training_part(unit: Unit) -> tuple[Array, NDArray[np.intp]]:
    """Return what a unit is fitted on: scaled as the trials do it, labels ±1."""
    ready = prepared(unit.where)
    return ready.train, signs(unit.where)[ready.rows.train]


def test_part(unit: Unit) -> tuple[Array, NDArray[np.intp]]:
    """Return what a unit is tested on."""
    ready = prepared(unit.where)
    return ready.test, signs(unit.where)[ready.rows.test]


def refitted(drawing: Drawing, unit: Unit) -> Fitted | FitError:
    """Fit a unit's first point anew as its record says: with the parameters that were chosen, where they were tuned.

    One that has no classifier gives the error that says why.
    """
    record = drawing.records.get(unit.trials[0].key)
    if record is None or not record.status.counted:
        return FitError(str(record.status) if record else "not run")
    params = {**unit.task.params, **unit.trials[0].point, **(record.chosen or {})}
    estimator = METHODS[unit.task.method].start(params, seed_of_fit(unit))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundWarning)  # a figure shows what was fitted; it does not advise
            return estimator.fit(*training_part(unit), **given(type(estimator), prepared(unit.where).shapes))
    except FitError as error:
        return error


def over_the_plane(*parts: Array, points: int) -> tuple[Array, Array, Array]:
    """Return the axes of a grid around all these points, and the grid's own points as rows."""
    rows = np.vstack(parts)
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = 0.06 * (high - low)
    xs, ys = (np.linspace(a, b, points) for a, b in zip(low - pad, high + pad, strict=True))
    return xs, ys, np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
