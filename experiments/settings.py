"""The settings of an experiment and the provenance of its last run, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmc.experiments.config import Experiment, MethodSpec
from mmc.experiments.dataspec import DataSpec
from mmc.experiments.grids import Axis, GridSpec
from mmc.experiments.records import Json
from mmc.experiments.tables import used
from mmc.methods.registry import METHODS

_SCALES = {
    "none": "features as they are",
    "standard": "features standardised on the training part",
    "unit": "features standardised on the training part, then divided by the root of their number",
    "minmax": "features scaled to [0, 1] on the training part",
}


def settings(experiment: Experiment) -> list[tuple[str, str]]:
    """Return how an experiment was made: (what, words)."""
    found = [
        ("data", "; ".join(_data(label, spec) for label, spec in experiment.datasets.items())),
        ("scaling", _SCALES[experiment.scale]),
        ("protocol", experiment.split.words()),
        ("seed", str(experiment.seed)),
    ]
    if experiment.multiclass:
        found.append(("several classes", "one classifier for every pair, the class with most votes wins"))
    if {"risk", "risk_swapped"} & set(experiment.table.metrics):
        costs = experiment.costs
        found.append(("costs", f"{costs.pos:g} for an error of the positive class, {costs.neg:g} of the negative"))
    if experiment.grid is not None:
        found.append(("grid", _grid(experiment.grid)))
    if experiment.reported:
        found.append(("reported in", experiment.reported.source))
    return found


def methods(experiment: Experiment) -> list[tuple[str, str, str, str]]:
    """Return label, class, solver and parameters of every method."""
    return [(label, *_method(spec)) for label, spec in experiment.methods.items()]


def provenance(run: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return what the last run left about itself: (what, words). What it left out is left out here."""
    machine, gap = run.get("machine"), run.get("largest_gap")
    parts = {
        "finished": str(run.get("finished", "")).replace("T", " ").replace("+00:00", " UTC"),
        "time": f"{_value(run.get('seconds'))} s for the last run, {_value(run.get('fit_seconds'))} s of fitting in all its records",
        "trials": _listed(run.get("trials"), "{1} {0}"),
        "largest gap": f"{gap:.1e} between primal and dual objective, over solved trials"
        if isinstance(gap, float)
        else "–",
        "commit": str(run.get("commit") or "unknown"),
        "versions": _listed(run.get("versions"), "{0} {1}"),
        "machine": (
            f"{machine.get('system')}, {machine.get('processor')}, {machine.get('cores')} cores"
            if isinstance(machine, Mapping)
            else ""
        ),
        "data (sha256)": _listed(run.get("data"), "{0} {1:.16}"),
    }
    return [(name, text) for name, text in parts.items() if text]


def _listed(values: Json, form: str) -> str:
    return ", ".join(form.format(name, value) for name, value in values.items()) if isinstance(values, Mapping) else ""


def _data(label: str, spec: DataSpec) -> str:
    details = [str(spec.name)] if spec.name not in (None, label) else []
    details += [f"file {spec.file}"] if spec.file else []
    details += [f"OpenML {spec.openml}"] if spec.openml else []
    details += [f"scikit-learn's {spec.sklearn}"] if spec.sklearn else []
    details += [_pairs(spec.options)] if spec.options else []
    details += [words] if (words := used(spec)) else []
    if spec.knowledge is not None:
        stated = f"{len(spec.knowledge)} stated"
        details.append(f"knowledge sets: {f'file {spec.knowledge}' if isinstance(spec.knowledge, str) else stated}")
    return f"{label} ({', '.join(details)})" if details else label


def _method(spec: MethodSpec) -> tuple[str, str, str]:
    entry = METHODS[spec.method]
    params = dict(spec.params)
    solver = (params.pop("solver", None) or entry.solver) if entry.solvers else f"{entry.origin}, no certificate"
    parts = [_pairs(params)] if params else []
    parts += ["one classifier of all classes"] if spec.multiclass == "own" else []
    if spec.grid is not None:
        parts.append(f"grid {_grid(spec.grid)}" + (f", best {spec.best} shown" if spec.best else ""))
    if spec.tune:
        parts.append(f"{_grid(spec.tune.grid)}, by {spec.tune.folds}-fold {spec.tune.metric} inside each training part")
        firsts = spec.tune.first if isinstance(spec.tune.first, dict) else {"": spec.tune.first}
        parts += [
            f"the first {first} repetitions tune for all{on and f' on {on}'}" for on, first in firsts.items() if first
        ]
    return entry.name, str(solver), "; ".join(parts) or "–"


def _grid(grid: GridSpec) -> str:
    if isinstance(grid, list):
        return " | ".join(_pairs(point) for point in grid)
    return " × ".join(f"{name} ∈ {_axis(axis)}" for name, axis in grid.items())


def _axis(axis: Sequence[Json] | Axis) -> str:
    if isinstance(axis, Axis):
        values = axis.values()
        return f"{{{values[0]:g}, {values[1]:g}, …, {values[-1]:g}}}" if len(values) > 2 else f"{{{_values(values)}}}"
    return f"{{{_values(axis)}}}"


def _pairs(params: Mapping[str, Json]) -> str:
    return ", ".join(f"{name} = {_values([value])}" for name, value in params.items())


def _values(values: Sequence[Json]) -> str:
    return ", ".join(_value(value) for value in values)


def _value(value: Json) -> str:
    if isinstance(value, Mapping):
        return f"({_pairs(value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)
