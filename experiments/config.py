"""The config: one YAML file, one table or figure or study. Here are its parts; ``validation`` reads and checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag, field_validator

from mmc.experiments.dataspec import SOURCES, DataSpec
from mmc.experiments.errors import ConfigError, KeyPath
from mmc.experiments.grids import GridSpec, points, size
from mmc.experiments.model import Model
from mmc.experiments.splits import AnyProtocol, KFold
from mmc.experiments.statements import AnyStatement
from mmc.experiments.units import Params
from mmc.experiments.yaml_lines import line_of
from mmc.words import near_file

_Times = Annotated[int, Field(ge=1)]
_AllOrEach = Annotated[
    Annotated[_Times, Tag("[all]")] | Annotated[dict[str, _Times], Tag("[each]")],
    Discriminator(lambda given: "[each]" if isinstance(given, dict) else "[all]"),
]

_NamedOrStated = Annotated[
    Annotated[str, Tag("[named]")] | Annotated[list[AnyStatement], Tag("[stated]")] | Annotated[None, Tag("[none]")],
    Discriminator(lambda given: "[stated]" if isinstance(given, list) else "[none]" if given is None else "[named]"),
]


class Tune(Model):
    """Tuning inside each training part: the grid point that is best by stratified cross-validation is refitted.

    With ``first`` only so many repetitions tune for themselves (on all data sets, or on those named); every later one
    takes the grid point whose inner scores, summed over these, are best.
    """

    grid: GridSpec
    folds: int = Field(default=5, ge=2)
    repetitions: int = Field(default=1, ge=1)
    metric: str = "error"
    first: _AllOrEach | None = None

    def first_on(self, dataset: str) -> int | None:
        """Return how many repetitions tune for themselves on a data set; None: all."""
        return self.first.get(dataset) if isinstance(self.first, dict) else self.first


class MethodSpec(Model):
    """A labelled method. Keys besides these are the method's own parameters.

    ``grid`` reports every point, or with ``best`` only the one whose cross-validated metric is best (optimistic, as
    papers do it); ``tune`` searches a grid inside each training part (nested). ``beside`` shows the reported number
    of another method beside this one, without a verdict. ``datasets`` restricts the method to some of them. With
    ``multiclass: own`` a classifier from outside tells several classes apart by itself, instead of pair by pair.
    """

    model_config = ConfigDict(extra="allow")

    method: str
    datasets: list[str] | None = None
    grid: GridSpec | None = None
    tune: Tune | None = None
    best: str | None = None
    beside: str | None = None
    multiclass: Literal["pairs", "own"] = "pairs"

    @property
    def params(self) -> Params:
        return dict(self.model_extra or {})


class Deviation(Model):
    """Cells that are known to differ from the paper, and why."""

    where: dict[str, JsonValue] = Field(default_factory=dict)
    reason: str
    see: str | None = None


class FittedSetting(Model):
    """Cells whose ``setting`` was chosen with the printed number in sight; ``sweep`` names the config that varies it."""

    where: dict[str, JsonValue] = Field(default_factory=dict)
    setting: str
    sweep: str | None = None
    note: str = ""


class Constructed(Model):
    """Cells whose number holds by construction, and why: to match them proves nothing."""

    where: dict[str, JsonValue]
    reason: str


class Repeated(Model):
    """Cells that repeat others: the same but for the keys ``of``, and printed equal. A list in ``of``: they follow from these."""

    where: dict[str, JsonValue]
    of: dict[str, JsonValue]


class Elsewhere(Model):
    """Numbers that another config judges, because it follows a better reading of the paper; here they only stand beside."""

    where: dict[str, JsonValue]
    config: str
    reason: str


class Reported(Model):
    """The published numbers: a CSV beside the configs, keyed like the table.

    ``repetitions`` is how many runs each printed mean is of at least, for all metrics or for each. Verdicts of a sweep over
    readings do not count on the scoreboard: ``counts: false``.
    """

    file: str
    source: str
    where: dict[str, JsonValue] = Field(default_factory=dict)
    repetitions: Annotated[int, Field(ge=1)] | dict[str, Annotated[int, Field(ge=1)]] = 1
    deviations: list[Deviation] = Field(default_factory=list)
    fitted: list[FittedSetting] = Field(default_factory=list)
    by_construction: list[Constructed] = Field(default_factory=list)
    duplicates: list[Repeated] = Field(default_factory=list)
    elsewhere: list[Elsewhere] = Field(default_factory=list)
    counts: bool = True


class TableSpec(Model):
    """Which keys make rows and columns (``dataset``, ``method`` or a parameter), and what is measured.

    ``paired`` names a method that every other one is compared with, split by split, on the first metric. ``spread`` is
    what stands behind ±: the standard deviation over repetitions, the standard error of their mean, or both. ``decimals``
    are those of a number that has no reported one to follow.
    """

    rows: list[str] = Field(default=["dataset"])
    columns: list[str] = Field(default=["method"])
    metrics: list[str] = Field(default=["error_pos", "error_neg"], min_length=1)
    labels: dict[str, str] = Field(default_factory=dict)
    paired: str | None = None
    spread: Literal["std", "se", "both"] = "std"
    decimals: Annotated[int, Field(ge=0, le=6)] = 2


class CostSpec(Model):
    """What an error of each class costs, for the risk."""

    pos: float = Field(default=1.0, ge=0)
    neg: float = Field(default=1.0, ge=0)


class FigureSpec(Model):
    """A figure: its kind, and that kind's own options."""

    model_config = ConfigDict(extra="allow")

    kind: str

    @property
    def options(self) -> Params:
        return dict(self.model_extra or {})


class Experiment(Model):
    """A whole config.

    Sets of more than two classes need ``multiclass: one-vs-one``, a classifier for every pair of classes; two classes
    are then one pair. ``claims`` are what the paper says in words: a list of statements, or the name of a list that needs code of
    its own. ``long`` says that a run takes more than ten minutes: ``--all`` then leaves it out, unless
    ``--long`` is given too.
    """

    title: str
    paper: str | None = None
    long: bool = False
    notes: str = ""
    seed: int = Field(default=0, ge=0)
    datasets: dict[str, DataSpec] = Field(min_length=1)
    scale: Literal["none", "standard", "unit", "minmax"] = "standard"
    multiclass: Literal["one-vs-one"] | None = None
    split: AnyProtocol = KFold()
    methods: dict[str, MethodSpec] = Field(min_length=1)
    grid: GridSpec | None = None
    costs: CostSpec = CostSpec()
    measures: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    claims: _NamedOrStated = None
    table: TableSpec = TableSpec()
    reported: Reported | None = None
    figures: dict[str, FigureSpec] = Field(default_factory=dict)

    @field_validator("datasets", mode="before")
    @classmethod
    def _defaults(cls, given: object) -> object:
        return {label: _named(spec, label) for label, spec in given.items()} if isinstance(given, dict) else given

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
        return points(self.grid_of(label))

    def grid_of(self, label: str) -> GridSpec | None:
        """Return the grid that a method reports: its own, or the experiment's. A tuned method has none."""
        spec = self.methods[label]
        return None if spec.tune else spec.grid if spec.grid is not None else self.grid

    def trials(self) -> int:
        """Return how many trials there are, by arithmetic: nothing is spelled out. Pairs of classes are not counted."""
        splits = self.split.repetitions * self.split.per_repetition
        return splits * sum(size(self.grid_of(m)) for data in self.datasets for m in self.methods_on(data))

    def inner_fits(self) -> int:
        """Return how many fits the tuning inside training parts takes at most."""
        splits = self.split.repetitions * self.split.per_repetition
        tunes = [spec.tune for data in self.datasets for spec in self.methods_on(data).values() if spec.tune]
        return splits * sum(tune.folds * tune.repetitions * size(tune.grid) for tune in tunes)


def _named(spec: object, label: str) -> object:
    """Add a data set's default name, its label."""
    if spec is None:
        return {"name": label}
    if isinstance(spec, dict) and all(spec.get(key) is None for key in (*SOURCES, "knowledge")):
        return {**spec, "name": label}
    return spec


@dataclass(frozen=True)
class Config:
    """An experiment with its name (the file's stem), the file that it came from, and the line of every key in it."""

    name: str
    file: Path
    experiment: Experiment
    lines: Mapping[KeyPath, int]

    def at(self, *place: str | int) -> str:
        """Return file:line of a key."""
        return f"{self.file}:{line_of(place, self.lines)}"


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
        here = (file.name for file in Path().glob("*.y*ml"))
        hint = near_file(name, bundled()) or near_file(f"{name}.yaml", here) or "; `mmc list configs` shows them"
        raise ConfigError(f"no config {name!r}{hint} (or give the path of a YAML file)") from None
