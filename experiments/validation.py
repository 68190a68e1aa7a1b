"""Read a config and check all of it that needs neither its data nor an import of the methods.

What needs the methods' own code is in ``values``, what needs the data is in ``plan``: `mmc validate` does all three, and so
does a run before it fits anything. One function per section of the config; each yields (place, sentence).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from mmc import datasets
from mmc.datasets.shipped import NAMES as SHIPPED
from mmc.experiments import figures, knowledge
from mmc.experiments.config import Config, Experiment, MethodSpec, Reported, find
from mmc.experiments.dataspec import SOURCES, DataSpec, FileKeys
from mmc.experiments.errors import ConfigError, KeyPath
from mmc.experiments.explaining import Problem, explain, shown
from mmc.experiments.grids import GridSpec, size, tied
from mmc.experiments.measures import MEASURES
from mmc.experiments.metrics import BOUNDS, COUNTED, LINE, VOTED
from mmc.experiments.metrics import find as find_metric
from mmc.experiments.plan import Unit
from mmc.experiments.told import TOLD
from mmc.experiments.verdicts import read_reported
from mmc.experiments.yaml_lines import line_of, read
from mmc.methods import CATALOGUE
from mmc.methods.registry import METHODS
from mmc.methods.unweighted import no_class_weight
from mmc.words import nearest, nearest_registered

MOST_TRIALS = 1_000_000
MOST_FITS = 10_000_000
MOST_TUNED = 100_000
MOST_ROWS = 10_000_000  # and any other number of a generated data set
_LIBSVM = ("libsvm", "svmlight", "svm")


def load(name: str | Path) -> Config:
    """Read and check a config; raise ConfigError with file:line for everything that is wrong in it."""
    path = find(str(name))
    document, lines = read(path)
    try:
        experiment = Experiment.model_validate(document)
    except ValidationError as error:
        problems = list(explain(error, document, Experiment))
    else:
        problems = list(_size(experiment)) or list(_problems(experiment, path.parent))
        if not problems:
            return Config(path.stem, path, experiment, lines)
    raise refusal(path, lines, problems)


def refusal(path: Path, lines: Mapping[KeyPath, int], problems: Collection[Problem]) -> ConfigError:
    """Return the error that tells all problems of a config, in the order of their lines."""
    placed = sorted({(line_of(where, lines), text) for where, text in problems})
    return ConfigError("\n".join(f"{path}:{line}: {text}" for line, text in placed))


def check_figures(config: Config, units: Sequence[Unit]) -> None:
    """Raise ConfigError for what only the planned data can say of the figures."""
    if problems := list(figures.check_data(config.experiment, units)):
        raise refusal(config.file, config.lines, problems)


def _size(experiment: Experiment) -> Iterator[Problem]:
    """Refuse what is too much work, by arithmetic: nothing is spelled out."""
    split = experiment.split
    place, grid = max(_grids(experiment), key=lambda found: size(found[1]), default=((), None))
    splits = split.repetitions * split.per_repetition
    if splits > size(grid):
        place, why = ("split",), f"there are {splits:,} splits of each data set"
    else:
        why = f"the largest grid has {size(grid):,} points"
    tuned = max((size(spec.tune.grid) for spec in experiment.methods.values() if spec.tune), default=0)
    for count, most, what in (
        (experiment.trials(), MOST_TRIALS, "trials"),
        (experiment.inner_fits(), MOST_FITS, "fits inside the tuning"),
        (tuned, MOST_TUNED, "points to tune"),
    ):
        if count > most:
            yield place, f"{count:,} {what} are too many, at most {most:,}; {why}"
            return


def _grids(experiment: Experiment) -> Iterator[tuple[KeyPath, GridSpec]]:
    """Yield every grid of a config with its place."""
    if experiment.grid is not None:
        yield ("grid",), experiment.grid
    for label, spec in experiment.methods.items():
        if spec.grid is not None:
            yield ("methods", label, "grid"), spec.grid
        if spec.tune is not None:
            yield ("methods", label, "tune", "grid"), spec.tune.grid


def _problems(experiment: Experiment, folder: Path) -> Iterator[Problem]:
    yield from _datasets(experiment, folder)
    yield from _split(experiment)
    yield from _methods(experiment)
    yield from _every_grid(experiment)
    yield from _measures(experiment)
    yield from _table(experiment)
    yield from _reported(experiment, folder)
    yield from _figures(experiment)
    if experiment.multiclass:
        yield from _multiclass(experiment)
    yield from _claims(experiment)


# -- data sets and splits -----------------------------------------------------------------------------------------


def _datasets(experiment: Experiment, folder: Path) -> Iterator[Problem]:
    for label, data in experiment.datasets.items():
        where: KeyPath = ("datasets", label)
        yield from (((*where, *place), text) for place, text in knowledge.problems(data, folder))
        if data.sets_alone:
            if label in datasets.known():
                hint = f"say name: {label} to add knowledge sets to it, or give sets without points another label"
                yield where, f"{label} is a registered data set: {hint}"
        elif len(data.sources) > 1:
            yield (*where, data.sources[1]), f"a data set has one of {', '.join(SOURCES)}, not several"
        elif data.file is not None or data.openml is not None:
            yield from (((*where, *place), f"{label}: {text}") for place, text in _file(data, data.file))
        elif data.sklearn is not None:
            yield from (((*where, *place), f"{label}: {text}") for place, text in _shipped(data, data.sklearn))
        else:
            yield from (((*where, *place), text) for place, text in _registered(label, data))


def _file(data: DataSpec, file: str | None) -> Iterator[Problem]:
    """What is wrong with the entry of a user's own file, or a set of OpenML; ``plan`` reads it."""
    if data.options:
        yield ("options",), "options are for generated data sets; a file has none"
    ending = (data.format or (file or "").removesuffix(".gz")).rpartition(".")[2]
    if data.target is None and file is not None and ending not in _LIBSVM:
        yield (), "a file needs 'target', the name of the column with the classes"
    if data.target is not None and data.target in (data.drop or ()):
        yield ("drop",), f"{data.target!r} is the target; it cannot be dropped"


def _shipped(data: DataSpec, name: str) -> Iterator[Problem]:
    """What is wrong with the entry of a set of scikit-learn."""
    if name not in SHIPPED:
        yield ("sklearn",), f"scikit-learn has no data set {name!r} for classification: {nearest(name, SHIPPED)}"
    for key in ("options", *data.given()):
        if key != "options" or data.options:
            yield (key,), f"{key!r} is not for a set of scikit-learn; leave it out"


def _registered(label: str, data: DataSpec) -> Iterator[Problem]:
    """What is wrong with the entry of a data set of the registry."""
    entry = datasets.known().get(str(data.name))
    if entry is None:
        yield (), f"unknown data set {data.name!r}: {nearest_registered(data.name, datasets.known())}"
        return
    for key in FileKeys.model_fields:
        if key in data.given():
            yield (key,), f"{label}: {key!r} is for a file; {data.name} is a registered data set"
    known = {**entry.options, "seed": datasets.Option(1, "the seed of the draw")} if entry.kind == "generated" else {}
    for key, value in data.options.items():
        place = ("options", key)
        if key not in known:
            yield place, f"{data.name} has no option {key!r}: {nearest(key, known) if known else 'it takes none'}"
        elif not (key == "seed" and value == 0):
            try:
                largest = np.max(known[key].accept(value))
            except datasets.DataError as error:
                yield place, f"{label}: {key} ({known[key].meaning}) {error}"
            else:
                if key != "seed" and largest > MOST_ROWS:
                    yield place, f"{label}: {key} is {shown(value)}; take at most {MOST_ROWS:,}"


def _split(experiment: Experiment) -> Iterator[Problem]:
    yield from ((("split", *place), text) for place, text in experiment.split.problems())
    for label, data in experiment.datasets.items():
        entry = datasets.known().get(data.name or "")
        fixed = data.sources not in (["name"], []) or (entry is not None and entry.kind != "generated")
        if experiment.split.redraw and fixed:
            yield ("split", "redraw"), f"redraw: {label} is not a generated set, it cannot be drawn anew"


# -- methods and grids --------------------------------------------------------------------------------------------


def _methods(experiment: Experiment) -> Iterator[Problem]:
    for label, spec in experiment.methods.items():
        where = ("methods", label)
        if problem := METHODS.problem(spec.method):
            yield (*where, "method"), problem
            continue
        yield from (((*where, *place), f"{label}: {text}") for place, text in _method(experiment, spec))
        yield from (((*where, *place), text) for place, text in _parameters(spec, spec.params))


def _method(experiment: Experiment, spec: MethodSpec) -> Iterator[Problem]:
    """What is wrong with a method besides its parameters."""
    if spec.tune and spec.grid is not None:
        yield ("tune",), "give a grid to search inside 'tune', or a 'grid' to report, not both"
    first = spec.tune.first if spec.tune and isinstance(spec.tune.first, dict) else {}
    for place, labels in ((("datasets",), spec.datasets or ()), (("tune", "first"), first)):
        for dataset in labels:
            if dataset not in experiment.datasets:
                yield place, f"no data set {dataset!r}: {nearest(dataset, experiment.datasets)}"
    if spec.beside is not None and spec.beside not in experiment.methods:
        yield ("beside",), f"beside {spec.beside!r}: {nearest(spec.beside, experiment.methods)}"
    metrics = VOTED if experiment.multiclass else COUNTED
    if spec.best is not None and spec.best not in metrics:
        yield ("best",), f"no metric {spec.best!r}: {nearest(spec.best, metrics)}"
    if spec.best is not None and spec.tune is not None:
        yield ("best",), "'tune' finds the best point by itself; leave out 'best'"
    solver, solvers = spec.params.get("solver"), METHODS[spec.method].solvers
    if solvers and solver is not None and (not isinstance(solver, str) or solver not in solvers):
        yield ("solver",), f"{spec.method} has no solver {shown(solver)}: {nearest(solver, solvers)}"
    scores = [name for name, metric in VOTED.items() if metric.sampled] if spec.multiclass == "own" else list(COUNTED)
    if spec.tune is not None and spec.tune.metric not in scores:
        yield ("tune", "metric"), f"no metric {spec.tune.metric!r}: {nearest(spec.tune.metric, scores)}"
    if spec.multiclass == "own" and (why := _not_own(experiment, spec)):
        yield ("multiclass",), why


def _not_own(experiment: Experiment, spec: MethodSpec) -> str:
    """Return why a method cannot tell several classes apart by itself; empty if it can."""
    if not experiment.multiclass:
        return "'own' is for several classes: the config needs 'multiclass: one-vs-one'"
    if not METHODS[spec.method].foreign:
        return f"{spec.method} is a method for two classes, several are told apart in pairs: leave out 'own'"
    if experiment.measures:
        return "measures are of two classes: leave out 'own'"
    return ""


def _parameters(spec: MethodSpec, names: Collection[str]) -> Iterator[Problem]:
    """Parameters that a method does not have."""
    known = [name for name in METHODS[spec.method].parameters() if name != "pos_label"]
    for name in names:
        if name not in known:
            comma = name.isdigit() and spec.params.get(name, 0) is None
            hint = "numbers are written with a point, such as 0.5" if comma else nearest(name, known)
            yield (name,), _no_weight(spec.method, name) or f"{spec.method} has no parameter {name!r}: {hint}"


def _no_weight(method: str, name: str) -> str:
    """Return why a config cannot give a method this weight; empty where it is none."""
    if name == "class_weight" and method in CATALOGUE:
        return no_class_weight(method)
    return (
        "sample_weight is given to fit, in Python: a config has no weights of rows" if name == "sample_weight" else ""
    )


def _every_grid(experiment: Experiment) -> Iterator[Problem]:
    """The parameters of every grid, for every method that it belongs to."""
    for label, spec in experiment.methods.items():
        place, grid = grid_of(experiment, label)
        if grid is None or spec.method not in METHODS:
            continue
        if not size(grid):
            yield place, f"{label}: the grid has no points"
        for key, names in _named(grid):
            hint = f"; a grid that is not for {label} belongs to the other methods" if place == ("grid",) else ""
            yield from (((*place, *key), text + hint) for _, text in _parameters(spec, names))


def grid_of(experiment: Experiment, label: str) -> tuple[KeyPath, GridSpec | None]:
    """Return the grid that a method searches or reports, with its place."""
    spec = experiment.methods[label]
    if spec.tune is not None:
        return ("methods", label, "tune", "grid"), spec.tune.grid
    return (("methods", label, "grid") if spec.grid is not None else ("grid",)), experiment.grid_of(label)


def _named(grid: GridSpec) -> Iterator[tuple[KeyPath, list[str]]]:
    """Yield the parameters of a grid, with their place in it."""
    if isinstance(grid, list):
        yield from (((index, name), [name]) for index, point in enumerate(grid) for name in point)
    else:
        yield from (((key,), tied(key)) for key in grid)


def _multiclass(experiment: Experiment) -> Iterator[Problem]:
    """What has no meaning for several classes, one against one."""
    for label, data in experiment.datasets.items():
        if data.positive is not None:
            yield ("datasets", label, "positive"), f"{label}: one against one, no class is the positive one"
        if data.knowledge is not None:
            yield ("datasets", label, "knowledge"), f"{label}: knowledge sets are for two classes"
    for label, spec in experiment.methods.items():
        if spec.tune is not None and spec.multiclass != "own":
            text = f"{label}: 'tune' would tune every pair of classes for itself; use 'grid' with 'best: error'"
            yield ("methods", label, "tune"), text
        if experiment.table.paired and spec.best is None and size(experiment.grid_of(label)) > 1:
            yield ("table", "paired"), f"table.paired: {label} has a grid; 'best' says which point is compared"


def _measures(experiment: Experiment) -> Iterator[Problem]:
    for name, given in experiment.measures.items():
        if name not in MEASURES:
            yield ("measures", name), f"no measure {name!r}: {nearest(name, MEASURES)}"
            continue
        options = MEASURES[name].options
        try:
            options.model_validate(given)
        except ValidationError as error:
            yield from ((("measures", name, *p), f"{name}: {text}") for p, text in explain(error, {**given}, options))
        for label, spec in experiment.methods.items():
            if MEASURES[name].linear and spec.params.get("kernel", "linear") != "linear":
                yield ("methods", label, "kernel"), f"{label}: {name} is measured on linear classifiers only"
            elif MEASURES[name].linear and spec.method in METHODS and METHODS[spec.method].outside:
                yield ("methods", label, "method"), f"{label}: {name} is measured on linear classifiers of mmc only"


# -- table, reported numbers, figures -----------------------------------------------------------------------------


def facts_of(experiment: Experiment) -> set[str]:
    """Return the names of the single numbers that the methods and measures of a config leave."""
    entries = [METHODS[spec.method] for spec in experiment.methods.values() if spec.method in METHODS]
    names = {fact for entry in entries for fact in entry.facts}
    names |= set(BOUNDS) if any(entry.bounds for entry in entries) else set()
    names |= {fact for name in experiment.measures if name in MEASURES for fact in MEASURES[name].facts}
    names |= {"inner_score"} if any(spec.tune for spec in experiment.methods.values()) else set()
    names |= {"error_se"} if any(data.sets_alone or data.name for data in experiment.datasets.values()) else set()
    return names | (set(LINE) if experiment.multiclass and "margin_ratio" in names else set())


def _keys(experiment: Experiment) -> set[str]:
    """Return what may make the rows and columns of a table."""
    names = {name for spec in experiment.methods.values() for name in spec.params}
    for _, grid in _grids(experiment):
        names |= {name for _, named in _named(grid) for name in named}
    return names | {"dataset", "method"}


def _table(experiment: Experiment) -> Iterator[Problem]:
    table, keys = experiment.table, _keys(experiment)
    if table.paired is not None and table.paired not in experiment.methods:
        hint = nearest(table.paired, experiment.methods)
        yield ("table", "paired"), f"table.paired: no method {table.paired!r}: {hint}"
    seen: set[str] = set()
    for part, names in (("rows", table.rows), ("columns", table.columns)):
        for index, key in enumerate(names):
            if key not in keys:
                yield ("table", part, index), f"table.{part}: no key {key!r}: {nearest(key, keys)}"
            elif key in seen:
                yield ("table", part, index), f"table.{part}: {key!r} is there twice"
            seen.add(key)
    facts = facts_of(experiment)
    for index, name in enumerate(table.metrics):
        try:
            find_metric(name, experiment.multiclass is not None, facts)
        except KeyError as error:
            yield ("table", "metrics", index), str(error.args[0])
        if name in table.metrics[:index]:
            yield ("table", "metrics", index), f"table.metrics: {name!r} is there twice"


def _figures(experiment: Experiment) -> Iterator[Problem]:
    for label, spec in experiment.figures.items():
        if not label.strip():
            yield ("figures", label), "a figure needs a name: its file is called after it"
        for place, text in figures.check(spec.kind, spec.options, experiment):
            yield ("figures", label, *place), text


def _claims(experiment: Experiment) -> Iterator[Problem]:
    if isinstance(experiment.claims, str):
        if experiment.claims not in TOLD:
            yield ("claims",), f"no claims {experiment.claims!r}: {nearest(experiment.claims, TOLD)}"
        return
    known: dict[str, Collection[str]] = {
        "method": experiment.methods,
        "metric": experiment.table.metrics,
        "key": _keys(experiment),
    }
    for index, statement in enumerate(experiment.claims or ()):
        for what, name in statement.names():
            if name not in known[what]:
                yield ("claims", index), f"a claim names the {what} {name!r}: {nearest(name, known[what])}"


def _reported(experiment: Experiment, folder: Path) -> Iterator[Problem]:
    reported = experiment.reported
    if reported is None:
        return
    try:
        rows = read_reported(folder / "reported" / reported.file, {})
    except ConfigError as error:
        yield ("reported", "file"), str(error)
        return
    columns = list(rows[0]) if rows else []
    for name in reported.where:
        if name not in columns:
            yield ("reported", "where", name), f"reported.where: no column {name!r}: {nearest(name, columns)}"
    yield from _deviations(experiment, reported)


def _deviations(experiment: Experiment, reported: Reported) -> Iterator[Problem]:
    """What is wrong with the places of known deviations."""
    keys = _keys(experiment) | {"metric"}
    known: dict[str, Collection[str]] = {"dataset": experiment.datasets, "method": experiment.methods}
    for index, deviation in enumerate(reported.deviations):
        where: KeyPath = ("reported", "deviations", index, "where")
        for key, given in deviation.where.items():
            if key not in keys:
                yield (*where, key), f"a deviation has no key {key!r}: {nearest(key, keys)}"
            for value in given if isinstance(given, list) else [given]:
                if key in known and str(value) not in known[key]:
                    yield (*where, key), f"a deviation names the {key} {value!r}: {nearest(value, known[key])}"
