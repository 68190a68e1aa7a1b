"""The config: one YAML file, one table or figure. It is refused before anything runs if any part of it is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator

from mmc.experiments.errors import ConfigError
from mmc.experiments.yaml_lines import line_of, read
from mmc.words import nearest

Params = dict[str, Any]


class Model(BaseModel):
    """Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")


class SetSpec(Model):
    """A knowledge set: a sphere with a ``radius`` or an ellipsoid with a ``matrix`` Σ around ``center``; else a point."""

    label: str | int | float | bool
    center: list[float] = Field(min_length=1)
    radius: float | None = None
    matrix: list[list[float]] | None = None


# A tag in brackets is a word of pydantic's in an error's path, as list[...] is.
_SetsOrFile = Annotated[
    Annotated[str, Tag("[file]")] | Annotated[list[SetSpec], Field(min_length=1), Tag("[sets]")],
    Discriminator(lambda given: "[file]" if isinstance(given, str) else "[sets]"),
]


class DataSpec(Model):
    """A data set: one of the registry (``name``; default: its label here), or a file of the user's own.

    ``part: train`` takes only the rows that the set declares as its training part; ``subsample`` so many of all rows,
    drawn with the config's seed, in which every class (and either part) keeps its share. ``pca`` replaces the scaled
    features by so many principal components, those of each split's training part.
    ``knowledge`` adds knowledge sets: a list of them, or a CSV file beside the config (its format: ``mmc.methods.shapes``).
    Without ``name`` and ``file`` the data set consists of them alone.
    """

    name: str | None = None
    options: Params = {}
    file: str | None = None
    target: str | None = None
    format: str | None = None
    features: list[str] | None = None
    positive: str | int | float | bool | None = None
    missing: Literal["drop", "error"] = "drop"
    part: Literal["train"] | None = None
    subsample: Annotated[int, Field(ge=2)] | None = None
    pca: Annotated[int, Field(ge=1)] | None = None
    knowledge: _SetsOrFile | None = None

    @property
    def sets_alone(self) -> bool:
        return self.knowledge is not None and self.name is None and self.file is None


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
    """The original's own training and test part: the first ``train`` rows, or what the data set declares.

    Knowledge sets alone are all trained on, and tested by their area.
    """

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
    """Spell a grid out: a list is taken as it is, a mapping of axes becomes their product.

    An axis named "C_pos, C_neg" gives both parameters the same value.
    """
    if grid is None:
        return [{}]
    if isinstance(grid, list):
        return grid
    axes = [axis.values() if isinstance(axis, Axis) else axis for axis in grid.values()]
    names = [[name.strip() for name in key.split(",")] for key in grid]
    return [
        {name: value for tied, value in zip(names, values, strict=True) for name in tied}
        for values in itertools.product(*axes)
    ]


class Tune(Model):
    """Tuning inside each training part: the grid point that is best by stratified cross-validation is refitted.

    With ``first`` only so many repetitions tune for themselves (on all data sets, or on those named); every later one
    takes the grid point whose inner scores, summed over these, are best.
    """

    grid: GridSpec
    folds: int = Field(5, ge=2)
    repetitions: int = Field(1, ge=1)
    metric: str = "error"
    first: Annotated[int, Field(ge=1)] | dict[str, Annotated[int, Field(ge=1)]] | None = None

    def first_on(self, dataset: str) -> int | None:
        """Return how many repetitions tune for themselves on a data set; None: all."""
        return self.first.get(dataset) if isinstance(self.first, dict) else self.first


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


class FittedSetting(Model):
    """Cells whose ``setting`` was chosen with the printed number in sight; ``sweep`` names the config that varies it."""

    where: Params = {}
    setting: str
    sweep: str | None = None
    note: str = ""


class Constructed(Model):
    """Cells whose number holds by construction, and why: to match them proves nothing."""

    where: Params
    reason: str


class Repeated(Model):
    """Cells that repeat others: the same but for the keys ``of``, and printed equal. A list in ``of``: they follow from these."""

    where: Params
    of: Params


class Reported(Model):
    """The published numbers: a CSV beside the configs, keyed like the table.

    ``repetitions`` is how many runs each printed mean is of at least, for all metrics or for each. Verdicts of a sweep over
    readings do not count on the scoreboard: ``counts: false``.
    """

    file: str
    source: str
    where: Params = {}
    repetitions: Annotated[int, Field(ge=1)] | dict[str, Annotated[int, Field(ge=1)]] = 1
    deviations: list[Deviation] = []
    fitted: list[FittedSetting] = []
    by_construction: list[Constructed] = []
    duplicates: list[Repeated] = []
    counts: bool = True


class TableSpec(Model):
    """Which keys make rows and columns (``dataset``, ``method`` or a parameter), and what is measured.

    ``paired`` names a method that every other one is compared with, split by split, on the first metric. ``spread`` is
    what stands behind ±: the standard deviation over repetitions, the standard error of their mean, or both. ``decimals``
    are those of a number that has no reported one to follow.
    """

    rows: list[str] = ["dataset"]
    columns: list[str] = ["method"]
    metrics: list[str] = ["error_pos", "error_neg"]
    labels: dict[str, str] = {}
    paired: str | None = None
    spread: Literal["std", "se", "both"] = "std"
    decimals: Annotated[int, Field(ge=0, le=6)] = 2


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
    """A whole config.

    Sets of more than two classes need ``multiclass: one-vs-one``, a classifier for every pair of classes; two classes
    are then one pair. ``long`` says that a run takes more than ten minutes: ``--all`` then leaves it out, unless
    ``--long`` is given too.
    """

    title: str
    paper: str | None = None
    long: bool = False
    notes: str = ""
    seed: int = Field(0, ge=0)
    datasets: dict[str, DataSpec | None] = Field(min_length=1)
    scale: Literal["none", "standard", "unit", "minmax"] = "standard"
    multiclass: Literal["one-vs-one"] | None = None
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
            label: spec if spec and (spec.name or spec.file or spec.sets_alone) else _named(spec, label)
            for label, spec in datasets.items()
        }

    def methods_on(self, dataset: str) -> dict[str, MethodSpec]:
        """Return the methods that are run on a data set."""
        return {k: m for k, m in self.methods.items() if m.datasets is None or dataset in m.datasets}

    def tuned_first(self, label: str, dataset: str) -> int | None:
        """Return how many repetitions tune for the others too; None where every one tunes for itself, or none does."""
        tune = self.methods[label].tune
        first = tune.first_on(dataset) if tune else None
        return first if first and first < self.split.repetitions else None

    def points_of(self, label: str) -> list[Params]:
        """Return the grid points of a method: its own, or the experiment's. A tuned method has one: its best."""
        spec = self.methods[label]
        return [{}] if spec.tune else points(spec.grid if spec.grid is not None else self.grid)


def _named(spec: DataSpec | None, label: str) -> DataSpec:
    return (spec or DataSpec()).model_copy(update={"name": label})


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
    from mmc.experiments.config_check import explain, semantic

    path = find(str(name))
    document, lines = read(path)
    if not isinstance(document, dict):
        raise ConfigError(f"{path}:1: a config is a mapping of keys, such as title, datasets and methods")
    try:
        experiment = Experiment.model_validate(document)
    except ValidationError as error:
        details = error.errors()
        # of a grid that is a mapping, pydantic also says that it is no list
        told = [d for d in details if d["type"] != "list_type" or not isinstance(d["input"], dict)]
        problems = [explain(detail) for detail in told or details]
    else:
        problems = list(semantic(experiment, path.parent))
        if not problems:
            return Config(name=path.stem, file=path, experiment=experiment)
    placed = sorted({(line_of(where, lines), text) for where, text in problems})
    raise ConfigError("\n".join(f"{path}:{line}: {text}" for line, text in placed))
