"""Figures: files beside the tables, drawn from the records. One module per kind; a new kind is one more line here."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from mmc.experiments import files
from mmc.experiments.config import Experiment
from mmc.experiments.escape import file_name
from mmc.experiments.figures.drawing import Drawing, Kind, Problem
from mmc.experiments.figures.svg import compact
from mmc.experiments.plan import Unit
from mmc.experiments.records import Json
from mmc.experiments.results import Results
from mmc.words import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The module of a kind has its name, and so has its class: it is imported when a config asks for it.
FIGURES = (
    "plane",
    "boundaries",
    "curves",
    "tradeoff",
    "ellipsoids",
    "hulls",
    "pairs",
    "knowledge",
    "banded",
    "ranks",
)
_FONTS = ["DejaVu Sans", "Verdana"]  # an SVG names its font: where the first is not installed, one as wide


def options_of(kind: str) -> type[Kind]:
    """Return the model of a kind's options."""
    model: type[Kind] = getattr(import_module(f"{__name__}.{kind}"), kind.capitalize())
    return model


def check(kind: str, options: Mapping[str, Json], experiment: Experiment) -> Iterator[Problem]:
    """Yield what is wrong with a figure of a config, before anything is fitted; places are below the figure's key."""
    if kind not in FIGURES:
        yield ("kind",), f"no figure of kind {kind!r}: {nearest(kind, FIGURES)}"
        return
    try:
        figure = options_of(kind).model_validate(options)
    except ValidationError as error:
        yield from _explained(kind, error)
    else:
        yield from figure.check(experiment)


def _explained(kind: str, error: ValidationError) -> Iterator[Problem]:
    known = list(options_of(kind).model_fields)
    for detail in error.errors():
        where = detail["loc"]
        name = ".".join(map(str, where))
        match detail["type"]:
            case "extra_forbidden" if len(where) == 1:
                yield where, f"a figure of kind {kind!r} has no option {name!r}: {nearest(name, known)}"
            case "missing":
                yield where[:-1], f"a figure of kind {kind!r} needs {name!r}"
            case _:
                yield where, f"{name}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def check_data(experiment: Experiment, units: Sequence[Unit]) -> Iterator[Problem]:
    """Yield what only the planned data can say of the figures, before anything is fitted; places are in the config."""
    for name, spec in experiment.figures.items():
        for place, text in options_of(spec.kind).model_validate(spec.options).check_data(units):
            yield ("figures", name, *place), text


def draw_all(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield (name of the file, figure) for every figure of a config."""
    for name, spec in results.config.experiment.figures.items():
        for suffix, figure in options_of(spec.kind).model_validate(spec.options).draw(Drawing(results)):
            yield "_".join(file_name(part) for part in (name, suffix) if part), figure


def save(name: str, figure: Figure, folder: Path) -> list[Path]:
    """Write a figure as SVG and PNG, the same bytes for the same picture, and close it."""
    import matplotlib
    import matplotlib.pyplot as plt

    paths = []
    try:
        for ending in ("svg", "png"):
            buffer = io.BytesIO()
            with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.sans-serif": _FONTS}):
                metadata = {"Date": None} if ending == "svg" else {"Software": None}
                figure.savefig(buffer, format=ending, dpi=150, metadata=metadata, bbox_inches="tight")
            path = folder / f"{name}.{ending}"
            drawn = buffer.getvalue()
            files.write(path, compact(drawn.decode("utf-8")) if ending == "svg" else drawn)
            paths.append(path)
    finally:
        plt.close(figure)
    return paths
