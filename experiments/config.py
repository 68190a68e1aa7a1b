"""The config: one YAML file, one table or figure. It is refused before anything runs if any part of it is wrong."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mmc.experiments.claims import CLAIMS
from mmc.experiments.errors import ConfigError
from mmc.experiments.measures import MEASURES
from mmc.experiments.metrics import METRICS
from mmc.experiments.yaml_lines import KeyPath, line_of, read
from mmc.methods import CATALOGUE, nearest

Params = dict[str, Any]

FIGURES = {
    "plane": "a metric over the plane of two error rates, the infeasible region hatched",
    "boundaries": "two-dimensional data with the decision boundaries of the methods",
    "curves": "metrics along one parameter, a line for every value of another",
    "tradeoff": "worst-case accuracy of one class over the other, and what was reached on test data",
    "ellipsoids": "two-dimensional classes as ellipsoids, their closest points, the hyperplanes",
    "banded": "support vectors, decision values and sensitivity of a banded SVM beside those of an SVM",
}


class Model(BaseModel):
    """Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSpec(Model):
    """A data set: one of the registry (``name``; default: its label here), or a file of the user's own."""

    name: str | None = None
    options: Params = {}
    file: str | None = None
    target: str | None = None
    format: str | None = None
    features: list[str] | None = None
    positive: str | int | float | bool | None = None
    missing: Literal["drop", "error"] = "drop"


class KFold(Model):
    """Stratified k-fold cross-validation, repeated; ``redraw`` draws a generated set anew for every repetition."""

    kind: Literal["stratified-kfold"] = "stratified-kfold"
    folds: int = Field(3, ge=2)
    repetitions: int = Field(1, ge=1)
    redraw: bool = False


class Partitions(Model):
    """Random training/test partitions; ``train`` is the share of the training part."""

    kind: Literal["partitions"]
    train: float = Field(gt=0, lt=1)
    repetitions: int = Field(1, ge=1)
    stratified: bool = True
    redraw: bool = False


class Fixed(Model):
    """The original's own training and test part: the first ``train`` rows, or what the data set declares."""

    kind: Literal["fixed"]
    train: int | None = Field(None, ge=2)
    repetitions: int = Field(1, ge=1)
    redraw: bool = False


Split = Annotated[KFold | Partitions | Fixed, Field(discriminator="kind")]


class Axis(Model):
    """Values from first to last, evenly (``linspace``) or geometrically (``logspace``): [first, last, count]."""

    linspace: tuple[float, float, int] | None = None
    logspace: tuple[float, float, int] | None = None

    def values(self) -> list[float]:
        if self.linspace is not None:
            return [float(f"{v:.12g}") for v in np.linspace(*self.linspace)]
        if self.logspace is not None:
            first, last, count = self.logspace
            return [float(f"{v:.12g}") for v in np.geomspace(first, last, count)]
        return []


GridSpec = list[Params] | dict[str, list[Any] | Axis]


def points(grid: GridSpec | None) -> list[Params]:
    """Spell a grid out: a list is taken as it is, a mapping of axes becomes their product."""
    if grid is None:
        return [{}]
    if isinstance(grid, list):
        return grid
    axes = [axis.values() if isinstance(axis, Axis) else axis for axis in grid.values()]
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*axes)]


class Tune(Model):
    """Tuning inside each training part: the grid point that is best by stratified cross-validation is refitted."""

    grid: GridSpec
    folds: int = Field(5, ge=2)
    repetitions: int = Field(1, ge=1)
    metric: str = "error"


class MethodSpec(Model):
    """A labelled method. Keys besides these are the method's own parameters.

    ``grid`` reports every point, or with ``best`` only the one whose cross-validated metric is best (optimistic, as
    papers do it); ``tune`` searches a grid inside each training part (nested). ``beside`` shows the reported number
    of another method beside this one, without a verdict. ``datasets`` restricts the method to some of them.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    method: str
    datasets: list[str] | None = None
    grid: GridSpec | None = None
    tune: Tune | None = None
    best: str | None = None
    beside: str | None = None

    @property
    def params(self) -> Params:
        return dict(self.model_extra or {})


class Deviation(Model):
    """Cells that are known to differ from the paper, and why."""

    where: Params = {}
    reason: str
    see: str | None = None


class Reported(Model):
    """The published numbers: a CSV beside the configs, keyed like the table."""

    file: str
    source: str
    where: Params = {}
    repetitions: int = Field(1, ge=1)
    deviations: list[Deviation] = []


class TableSpec(Model):
    """Which keys make rows and columns (``dataset``, ``method`` or a parameter), and what is measured.

    ``paired`` names a method that every other one is compared with, split by split, on the first metric.
    """

    rows: list[str] = ["dataset"]
    columns: list[str] = ["method"]
    metrics: list[str] = ["error_pos", "error_neg"]
    labels: dict[str, str] = {}
    paired: str | None = None


class Costs(Model):
    """What an error of each class costs, for the risk."""

    pos: float = Field(1.0, ge=0)
    neg: float = Field(1.0, ge=0)


class FigureSpec(Model):
    """A figure: its kind, and that kind's own options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str

    @property
    def options(self) -> Params:
        return dict(self.model_extra or {})


class Experiment(Model):
    """A whole config."""

    title: str
    paper: str | None = None
    notes: str = ""
    seed: int = Field(0, ge=0)
    datasets: dict[str, DataSpec | None] = Field(min_length=1)
    scale: Literal["none", "standard", "minmax"] = "standard"
    split: Split = KFold(folds=3, repetitions=1)
    methods: dict[str, MethodSpec] = Field(min_length=1)
    grid: GridSpec | None = None
    costs: Costs = Costs(pos=1.0, neg=1.0)
    measures: dict[str, Params] = {}
    claims: str | None = None
    table: TableSpec = TableSpec()
    reported: Reported | None = None
    figures: dict[str, FigureSpec] = {}

    @field_validator("datasets")
    @classmethod
    def _defaults(cls, datasets: Mapping[str, DataSpec | None]) -> dict[str, DataSpec]:
        return {
            label: (spec or DataSpec()).model_copy(update={} if spec and (spec.name or spec.file) else {"name": label})
            for label, spec in datasets.items()
        }

    def methods_on(self, dataset: str) -> dict[str, MethodSpec]:
        """Return the methods that are run on a data set."""
        return {k: m for k, m in self.methods.items() if m.datasets is None or dataset in m.datasets}

    def points_of(self, label: str) -> list[Params]:
        """Return the grid points of a method: its own, or the experiment's. A tuned method has one: its best."""
        spec = self.methods[label]
        return [{}] if spec.tune else points(spec.grid if spec.grid is not None else self.grid)


class Config(BaseModel):
    """An experiment with its name (the file's stem) and the file that it came from."""

    model_config = ConfigDict(frozen=True)

    name: str
    file: Path
    experiment: Experiment


def bundled() -> dict[str, Path]:
    """Return the configs that come with mmc, by name."""
    folder = Path(str(resources.files("mmc.configs")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find(name: str) -> Path:
    """Return the file of a config given by path or by the name of a bundled one."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.exists():
        if path.exists() or path.stem not in bundled() or path.parent != Path():
            return path
        return bundled()[path.stem]
    try:
        return bundled()[name]
    except KeyError:
        raise ConfigError(f"no config {name!r}: {nearest(name, bundled())} (or give the path of a YAML file)") from None


def load(name: str | Path) -> Config:
    """Read and check a config; raise ConfigError with file:line for everything that is wrong in it."""
    path = find(str(name))
    document, lines = read(path)
    if not isinstance(document, dict):
        raise ConfigError(f"{path}:1: a config is a mapping of keys, such as title, datasets and methods")
    try:
        experiment = Experiment.model_validate(document)
    except ValidationError as error:
        problems = [_explain(detail, document) for detail in error.errors()]
    else:
        problems = list(_semantic(experiment))
        if not problems:
            return Config(name=path.stem, file=path, experiment=experiment)
    placed = sorted({(line_of(where, lines), text) for where, text in problems})
    raise ConfigError("\n".join(f"{path}:{line}: {text}" for line, text in placed))


def _semantic(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """What the types cannot say: words that must be known elsewhere."""
    from mmc.datasets import REGISTRY

    for label, data in experiment.datasets.items():
        assert data is not None
        where: KeyPath = ("datasets", label)
        if data.file is None and data.name not in REGISTRY:
            yield where, f"unknown data set {data.name!r}: {nearest(str(data.name), REGISTRY)}"
        suffix = (data.format or str(data.file).removesuffix(".gz")).rpartition(".")[2]
        if data.file is not None and data.target is None and suffix not in ("libsvm", "svmlight", "svm"):
            yield where, f"{label}: a file needs 'target', the name of the column with the classes"
        if experiment.split.redraw and (data.file or REGISTRY[str(data.name)].kind != "generated"):
            yield ("split", "redraw"), f"redraw: {label} is not a generated set, it cannot be drawn anew"
    if isinstance(experiment.split, Fixed) and experiment.split.repetitions > 1 and not experiment.split.redraw:
        yield ("split", "repetitions"), "a fixed split is always the same; repetitions need redraw, for a generated set"
    names: set[str] = set()
    for label, spec in experiment.methods.items():
        where = ("methods", label)
        if spec.method not in CATALOGUE:
            yield (*where, "method"), f"unknown method {spec.method!r}: {nearest(spec.method, CATALOGUE)}"
            continue
        entry = CATALOGUE[spec.method]
        if spec.tune and spec.grid is not None:
            yield (*where, "tune"), f"{label}: give a grid to search inside 'tune', or a 'grid' to report, not both"
        for dataset in spec.datasets or []:
            if dataset not in experiment.datasets:
                yield (*where, "datasets"), f"{label}: no data set {dataset!r}: {nearest(dataset, experiment.datasets)}"
        if spec.beside is not None and spec.beside not in experiment.methods:
            yield (*where, "beside"), f"{label}: beside {spec.beside!r}: {nearest(spec.beside, experiment.methods)}"
        for key, name in (("best", spec.best), ("metric", spec.tune.metric if spec.tune else None)):
            if name is not None and name not in METRICS:
                yield (*where, key), f"{label}: no metric {name!r}: {nearest(name, METRICS)}"
        grid = points(spec.tune.grid) if spec.tune else experiment.points_of(label)
        sources = [(where, spec.params)]
        own = (
            ("methods", label, "tune", "grid")
            if spec.tune
            else (*where, "grid")
            if spec.grid is not None
            else ("grid",)
        )
        sources += [
            ((*own, i) if isinstance(spec.grid or experiment.grid, list) else own, p) for i, p in enumerate(grid)
        ]
        if not grid:
            yield own, f"{label}: the grid has no points"
        for place, params in sources:
            for key in params:
                if key not in entry.parameters() or key == "pos_label":
                    known = [p for p in entry.parameters() if p != "pos_label"]
                    yield (*place, key), f"{spec.method} has no parameter {key!r}: {nearest(key, known)}"
            names |= set(params)
        solver = spec.params.get("solver")
        if solver is not None and solver not in entry.solvers:
            yield (
                (*where, "solver"),
                f"{spec.method} has no solver {solver!r}: {nearest(str(solver), entry.solvers)}",
            )
        for point in ({**spec.params, **p} for p in grid):
            if point.get("kernel") in ("rbf", "poly") and point.get("gamma") is None:
                yield where, f"{label}: kernel {point['kernel']!r} needs 'gamma', its width"
                break
    for name, given in experiment.measures.items():
        if name not in MEASURES:
            yield ("measures", name), f"no measure {name!r}: {nearest(name, MEASURES)}"
            continue
        spec_of = inspect.getfullargspec(MEASURES[name])
        for key in given.keys() - set(spec_of.kwonlyargs):
            yield ("measures", name, key), f"{name} has no option {key!r}: {nearest(key, spec_of.kwonlyargs)}"
        for key in set(spec_of.kwonlyargs) - given.keys() - set(spec_of.kwonlydefaults or {}):
            yield ("measures", name), f"{name} needs {key!r}"
    if experiment.claims is not None and experiment.claims not in CLAIMS:
        yield ("claims",), f"no claims {experiment.claims!r}: {nearest(experiment.claims, CLAIMS)}"
    for label, figure in experiment.figures.items():
        if figure.kind not in FIGURES:
            yield ("figures", label, "kind"), f"no figure of kind {figure.kind!r}: {nearest(figure.kind, FIGURES)}"
        for option, words in (("method", experiment.methods), ("metric", {*METRICS, *experiment.table.metrics})):
            named = figure.options.get(option)
            if named is not None and named not in words:
                yield ("figures", label, option), f"{option} {named!r}: {nearest(str(named), words)}"
    if experiment.table.paired is not None and experiment.table.paired not in experiment.methods:
        hint = nearest(experiment.table.paired, experiment.methods)
        yield ("table", "paired"), f"table.paired: no method {experiment.table.paired!r}: {hint}"
    keys = {"dataset", "method"} | names
    for part in ("rows", "columns"):
        for index, key in enumerate(getattr(experiment.table, part)):
            if key not in keys:
                yield ("table", part, index), f"table.{part}: no key {key!r}: {nearest(key, keys)}"


def _explain(detail: Any, document: Any) -> tuple[KeyPath, str]:
    """Turn one of pydantic's errors into a place and a sentence."""
    where, fields = _place(detail["loc"])
    key = ".".join(str(part) for part in where)
    match detail["type"]:
        case "extra_forbidden":
            return where, f"unknown key {where[-1]!r}: {nearest(str(where[-1]), fields)}"
        case "missing":
            return where[:-1], f"{key} is missing"
        case "union_tag_invalid":
            tags = [t.strip(" '") for t in detail["ctx"]["expected_tags"].split(",")]
            return (
                *where,
                "kind",
            ), f"{key}.kind: unknown {detail['ctx']['tag']!r}: {nearest(detail['ctx']['tag'], tags)}"
        case "union_tag_not_found":
            return where, f"{key} needs a 'kind': stratified-kfold, partitions or fixed"
        case "literal_error":
            given = detail["input"]
            choices = [c.strip(" '") for c in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
            return where, f"{key}: {given!r} is not possible: {nearest(str(given), choices)}"
        case _:
            message = detail["msg"][0].lower() + detail["msg"][1:]
            return where, f"{key}: {message} (given: {detail['input']!r})"


def _place(loc: tuple[Any, ...]) -> tuple[KeyPath, list[str]]:
    """Drop pydantic's own words (union branches) from an error's path; return it with the keys valid at its end."""
    model: Any = Experiment
    where: list[Any] = []
    fields: list[str] = list(Experiment.model_fields)
    for part in loc:
        inner = _models(model)
        named = {m for m in inner if part in m.model_fields}
        if isinstance(part, str) and inner and not named and model is not Experiment and part in _branches(model):
            model = next((m for m in inner if part == _tag(m) or part == m.__name__), model)
            continue
        if isinstance(part, str) and ("[" in part or part in ("list", "dict")):
            continue
        if inner:
            fields = sorted({f for m in inner for f in m.model_fields})
        where.append(part)
        if named:
            model = next(iter(named)).model_fields[part].annotation
        elif get_args(model):
            model = get_args(model)[-1] if get_origin(model) is dict else model
    return tuple(where), fields


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (dict, list):
        return []
    return [m for arg in get_args(annotation) for m in _models(arg)]


def _tag(model: type[BaseModel]) -> str | None:
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation)[0] if kind else None


def _branches(annotation: Any) -> set[str]:
    return {str(_tag(m)) for m in _models(annotation)} | {m.__name__ for m in _models(annotation)}
