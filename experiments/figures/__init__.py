"""Figures: files beside the tables, drawn from the records. One module per kind, each with one function ``draw``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mmc.experiments.config import Config, Experiment
from mmc.experiments.errors import KeyPath, StoreError
from mmc.experiments.figures.svg import compact
from mmc.experiments.knowledge import given
from mmc.experiments.metrics import COUNTED
from mmc.experiments.plan import Unit
from mmc.experiments.preparation import prepared, signs
from mmc.experiments.records import Record
from mmc.experiments.tables import Table
from mmc.methods import CATALOGUE
from mmc.words import nearest

FIGURES: Mapping[str, str] = {
    "plane": "a metric over the plane of two error rates, the infeasible region hatched",
    "boundaries": "two-dimensional data with the decision boundaries of the methods",
    "curves": "metrics along one parameter, a line for every value of another",
    "tradeoff": "worst-case accuracy of one class over the other, and what was reached on test data",
    "ellipsoids": "two-dimensional classes as ellipsoids, their closest points, the hyperplanes",
    "pairs": "margin ratio and test accuracy of every pair of classes, and the line through them",
    "knowledge": "two-dimensional knowledge sets, what each method trains on, its boundary, and the area it gets wrong",
    "banded": "support vectors, decision values and sensitivity of a banded SVM beside those of an SVM",
}
_OF_THE_TABLE = ("plane", "curves")  # kinds that need nothing but the table
_FONTS = ["DejaVu Sans", "Verdana"]  # an SVG names its font: where the first is not installed, one as wide


@dataclass(frozen=True)
class Drawing:
    """What a figure may use: the config, its units and records, the table, and the figure's own options."""

    config: Config
    units: Sequence[Unit]
    records: Mapping[str, Record]
    table: Table
    options: Mapping[str, Any]


def check(kind: str, options: Mapping[str, Any], experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with a figure of a config, before anything is fitted; places are below the figure's key."""
    if kind not in FIGURES:
        yield ("kind",), f"no figure of kind {kind!r}: {nearest(kind, FIGURES)}"
        return
    if kind == "pairs" and not experiment.multiclass:
        yield ("kind",), "a figure of the pairs needs 'multiclass: one-vs-one'"
    components = any(data.pca for data in experiment.datasets.values())
    if kind not in (*_OF_THE_TABLE, "pairs") and (experiment.multiclass or components):
        why = "more than two classes" if experiment.multiclass else "principal components"
        yield ("kind",), f"a figure of kind {kind!r} cannot show {why}"
    for option, words in (("method", experiment.methods), ("metric", {*COUNTED, *experiment.table.metrics})):
        named = options.get(option)
        if named is not None and named not in words:
            yield (option,), f"{option} {named!r}: {nearest(str(named), words)}"


def training_part(unit: Unit) -> tuple[Any, Any]:
    """Return what a unit is fitted on, scaled, labels ±1."""
    ready = prepared(unit.where)
    return ready.train, signs(unit.where)[ready.rows.train]


def refitted(drawing: Drawing, unit: Unit) -> Any:
    """Fit a unit's first point anew as its record says: with the parameters that were chosen, where they were tuned."""
    record = drawing.records.get(unit.trials[0].key)
    chosen = (record.chosen if record else None) or {}
    method = CATALOGUE[unit.task.method].load()
    model = method(**{**unit.task.params, **unit.trials[0].point, **chosen})
    return model.fit(*training_part(unit), **given(method, prepared(unit.where).shapes))


def draw_all(
    config: Config, units: Sequence[Unit], records: Mapping[str, Record], table: Table
) -> Iterator[tuple[str, Any]]:
    """Yield (name, matplotlib figure) for every figure of a config."""
    import matplotlib

    matplotlib.use("Agg")
    for name, spec in config.experiment.figures.items():
        drawing = Drawing(config, units, records, table, spec.options)
        for suffix, figure in import_module(f"mmc.experiments.figures.{spec.kind}").draw(drawing):
            yield (f"{name}_{suffix}" if suffix else name), figure


def save(name: str, figure: Any, folder: Path) -> list[Path]:
    """Write a figure as SVG and PNG, the same bytes for the same picture, and close it."""
    import matplotlib
    import matplotlib.pyplot as plt

    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending in ("svg", "png"):
            buffer = io.BytesIO()
            with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.sans-serif": _FONTS}):
                metadata = {"Date": None} if ending == "svg" else {"Software": None}
                figure.savefig(buffer, format=ending, dpi=150, metadata=metadata, bbox_inches="tight")
            path = folder / f"{name}.{ending}"
            written = buffer.getvalue()
            path.write_bytes(compact(written.decode("utf-8")).encode("utf-8") if ending == "svg" else written)
            paths.append(path)
    except OSError as error:
        raise StoreError(f"cannot write to the results folder {folder}: {error.strerror}") from None
    finally:
        plt.close(figure)
    return paths
