"""Figures: files beside the tables, drawn from the records. One module per kind, each with one function ``draw``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mmc.experiments.config import Config
from mmc.experiments.errors import StoreError
from mmc.experiments.figures.svg import compact
from mmc.experiments.knowledge import given
from mmc.experiments.plan import Unit
from mmc.experiments.records import Record
from mmc.experiments.tables import Table
from mmc.experiments.trials import scaled, shapes_of
from mmc.methods import CATALOGUE

_FONTS = ["DejaVu Sans", "Verdana"]  # an SVG names its font: where the first is not installed, one as wide


@dataclass(frozen=True)
class Drawing:
    """What a figure may use: the config, its units and records, the table, and the figure's own options."""

    config: Config
    units: Sequence[Unit]
    records: Mapping[str, Record]
    table: Table
    options: Mapping[str, Any]


def training_part(unit: Unit) -> tuple[Any, Any]:
    """Return what a unit is fitted on, scaled, labels ±1."""
    data = unit.source.load()
    X, _ = scaled(unit.scale, data.X[unit.split.train], data.X[unit.split.test])
    positive = data.positive if data.positive is not None else np.unique(data.y)[-1]
    return X, np.where(data.y == positive, 1, -1)[unit.split.train]


def refitted(drawing: Drawing, unit: Unit) -> Any:
    """Fit a unit's first point anew as its record says: with the parameters that were chosen, where they were tuned."""
    record = drawing.records.get(unit.trials[0].key)
    chosen = (record.chosen if record else None) or {}
    method = CATALOGUE[unit.method].load()
    model = method(**{**unit.params, **unit.trials[0].point, **chosen})
    return model.fit(*training_part(unit), **given(method, shapes_of(unit.source.load(), unit)))


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
