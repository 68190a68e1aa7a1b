"""Figures: files beside the tables, drawn from the records. One module per kind; a new kind is one more line here."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from mmc.experiments import files
from mmc.experiments.config import Experiment
from mmc.experiments.escape import file_name
from mmc.experiments.figures.banded import Banded
from mmc.experiments.figures.boundaries import Boundaries
from mmc.experiments.figures.curves import Curves
from mmc.experiments.figures.drawing import Drawing, Kind, Problem
from mmc.experiments.figures.ellipsoids import Ellipsoids
from mmc.experiments.figures.hulls import Hulls
from mmc.experiments.figures.knowledge import Knowledge
from mmc.experiments.figures.pairs import Pairs
from mmc.experiments.figures.plane import Plane
from mmc.experiments.figures.ranks import Ranks
from mmc.experiments.figures.svg import compact
from mmc.experiments.figures.tradeoff import Tradeoff
from mmc.experiments.plan import Unit
from mmc.experiments.records import Json
from mmc.experiments.results import Results
from mmc.words import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS: Mapping[str, type[Kind]] = {
    "plane": Plane,
    "boundaries": Boundaries,
    "curves": Curves,
    "tradeoff": Tradeoff,
    "ellipsoids": Ellipsoids,
    "hulls": Hulls,
    "pairs": Pairs,
    "knowledge": Knowledge,
    "banded": Banded,
    "ranks": Ranks,
}
FIGURES: Mapping[str, str] = {name: kind.shows for name, kind in _KINDS.items()}
_FONTS = ["DejaVu Sans", "Verdana"]  # an SVG names its font: where the first is not installed, one as wide


def options_of(kind: str) -> type[Kind]:
    """Return the model of a kind's options."""
    return _KINDS[kind]


def check(kind: str, options: Mapping[str, Json], experiment: Experiment) -> Iterator[Problem]:
    """Yield what is wrong with a figure of a config, before anything is fitted; places are below the figure's key."""
    if kind not in _KINDS:
        yield ("kind",), f"no figure of kind {kind!r}: {nearest(kind, FIGURES)}"
        return
    try:
        figure = _KINDS[kind].model_validate(options)
    except ValidationError as error:
        yield from _explained(kind, error)
    else:
        yield from figure.check(experiment)


def _explained(kind: str, error: ValidationError) -> Iterator[Problem]:
    known = list(_KINDS[kind].model_fields)
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
