"""What stands below a table about its data: rows used and left out, the classes, and which of them is the positive one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from mmc.datasets import REGISTRY
from mmc.datasets.dataset import DataSet
from mmc.experiments.records import Json
from mmc.experiments.splits import AnyProtocol, KFold, Partitions
from mmc.experiments.units import Unit
from mmc.labels import is_number

if TYPE_CHECKING:
    from mmc.experiments.config import Config

FEW = 10  # rows of a class below which one is told
_SHOWN = 6  # classes that are listed
_WHOLE_MATRIX = ("error-rate", "mpm", "bmpm", "mempm")  # the methods that hold a whole kernel matrix in memory


@dataclass(frozen=True)
class DataFacts:
    """A data set as it was used. ``rows`` is 0 where only the classes are known; ``positive`` None: there are several.

    ``stated`` says whether somebody named the positive class. ``sets`` are knowledge sets, which no row counts.
    """

    label: str
    classes: Mapping[str, int] = field(default_factory=dict)
    positive: str | None = None
    stated: bool = True
    rows: int = 0
    left_out: int = 0
    imputed: int = 0
    sets: int = 0
    redrawn: bool = False

    @property
    def negative(self) -> str | None:
        """The other class of two."""
        others = [name for name in self.classes if name != self.positive]
        return others[0] if self.positive is not None and len(others) == 1 else None

    @property
    def guessed(self) -> bool:
        """Whether nobody stated the positive class, and text labels do not say it themselves."""
        return self.positive is not None and not self.stated and not all(map(is_number, self.classes))

    def __str__(self) -> str:
        """Say it as one sentence below a table."""
        parts = []
        if self.rows:
            parts.append(f"{self.rows} rows{' in the first draw' if self.redrawn else ''}: {self._listed()}")
        elif self.positive is not None:
            parts.append(f"the positive class is {self.positive}, the negative one {self.negative}")
        parts += [f"{self.sets} knowledge sets"] if self.sets else []
        parts += [f"{self.left_out} rows with missing cells left out"] if self.left_out else []
        parts += [f"{self.imputed} missing cells filled in"] if self.imputed else []
        text = f"{self.label}: {'; '.join(parts)}." if parts else ""
        return f"{text} {self.guess}".strip() if self.guessed else text

    def _listed(self) -> str:
        names = list(self.classes)
        if self.positive is not None:
            names.sort(key=lambda name: name != self.positive)
        sides = dict(zip(names, ("positive", "negative"), strict=False)) if self.positive is not None else {}
        shown = [f"{self.classes[n]} {n}" + (f" ({sides[n]})" if n in sides else "") for n in names[:_SHOWN]]
        return ", ".join(shown) + (f", … ({len(names)} classes)" if len(names) > _SHOWN else "")

    @property
    def guess(self) -> str:
        """Say which class was taken as the positive one, and how to choose."""
        return (
            f"No positive class is stated: {self.positive!r} is taken, the last in the alphabet. "
            f"`positive: {self.negative}` or `positive: {self.positive}` in the config states it."
        )

    @property
    def few(self) -> list[str]:
        """The classes with so few rows that an error rate of them says little."""
        return [name for name, count in self.classes.items() if 0 < count < FEW] if self.rows else []


def facts_of(config: Config, units: Sequence[Unit]) -> tuple[DataFacts, ...]:
    """Return the facts of all data sets, in the config's order, from what the units load; of redrawn ones the first."""
    sources = {unit.source.label: unit.source for unit in reversed(units)}
    several, redrawn = config.experiment.multiclass is not None, config.experiment.split.redraw
    labels = [label for label in config.experiment.datasets if label in sources]
    return tuple(_facts(label, sources[label].load(), several, redrawn) for label in labels)


def _facts(label: str, data: DataSet, several: bool, redrawn: bool) -> DataFacts:
    positive = None if several else data.positive_class
    entry = REGISTRY.get(data.name)
    redrawn = redrawn and entry is not None and entry.kind == "generated"
    stated = data.positive is not None
    counted = (data.n_points, data.dropped, data.imputed, len(data.shapes), redrawn)
    return DataFacts(label, data.classes, positive, stated, *counted)


def registered(config: Config) -> tuple[DataFacts, ...]:
    """Return the classes of the data sets that the registry knows, where nobody wrote down more."""
    found = []
    for label, spec in config.experiment.datasets.items():
        entry = REGISTRY.get(spec.name or "")
        if entry is not None and config.experiment.multiclass is None and len(entry.classes) == 2:
            positive = entry.positive if spec.positive is None else str(spec.positive)
            found.append(DataFacts(label, entry.classes, positive))
    return tuple(found)


def troubles(config: Config, facts: Sequence[DataFacts]) -> Iterator[str]:
    """Yield what a user should know of the data before a run: with file and line, and what to do."""
    for of in facts:
        where = config.at("datasets", of.label)
        if of.guessed:
            yield f"{where}: {of.label}: {of.guess}"
        for name in of.few:
            count = of.classes[name]
            yield f"{where}: {of.label}: class {name!r} has {count} rows only: one of them is {100 / count:.0f} % of its error rate"


def too_large(config: Config, facts: Sequence[DataFacts], memory: int) -> Iterator[str]:
    """Yield the methods whose kernel matrix of a training part takes more than so many bytes, and what to do instead."""
    experiment = config.experiment
    for of in facts:
        rows = round(of.rows * _share(experiment.split))
        bytes_needed = 8 * rows**2
        for label, spec in experiment.methods_on(of.label).items():
            kernel = spec.params.get("kernel", "linear")
            if spec.method in _WHOLE_MATRIX and kernel != "linear" and bytes_needed > memory:
                yield (
                    f"{config.at('methods', label)}: {label} on {of.label}: the kernel matrix of {rows:,} training rows takes "
                    f"{bytes_needed / 1e9:.0f} GB, and this machine has {memory / 1e9:.0f} GB. Take fewer rows "
                    f"(`subsample: {_fitting(memory)}` in the data set), or `kernel: linear`, which needs the moments alone."
                )


def _share(split: AnyProtocol) -> float:
    """Return the share of the rows that a training part has."""
    if isinstance(split, KFold):
        return 1 - 1 / split.folds
    return split.train if isinstance(split, Partitions) else 1.0


def _fitting(memory: int) -> int:
    """Return how many rows have a kernel matrix that takes a quarter of the memory, as a round number."""
    rows = math.isqrt(memory // 32)
    step = int(10 ** max(len(str(rows)) - 2, 0))
    return rows // step * step


def dump(facts: Sequence[DataFacts]) -> dict[str, Json]:
    """Return facts as run.json keeps them, by data set."""
    return {of.label: {**asdict(of), "classes": dict(of.classes)} for of in facts}


def parse(kept: Json) -> tuple[DataFacts, ...]:
    """Return the facts of a run.json; none where it has none that can be read."""
    try:
        return (
            TypeAdapter(tuple[DataFacts, ...]).validate_python(list(kept.values())) if isinstance(kept, Mapping) else ()
        )
    except ValidationError:
        return ()
