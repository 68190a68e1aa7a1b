"""The data of a config: the facts that its table tells, and what a user should know before a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from mmc.datasets import REGISTRY
from mmc.datasets.dataset import DataSet
from mmc.experiments.config import Config
from mmc.experiments.data_facts import DataFacts
from mmc.experiments.splits import AnyProtocol, KFold, Partitions
from mmc.experiments.units import Unit

_WHOLE_MATRIX = ("error-rate", "mpm", "bmpm", "mempm")  # the methods that hold a whole kernel matrix in memory


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


def too_large(config: Config, facts: Sequence[DataFacts], memory: Callable[[], int]) -> Iterator[str]:
    """Yield the methods whose kernel matrix of a training part takes more bytes than there are, and what to do instead.

    ``memory`` is asked only where a method has such a matrix.
    """
    experiment = config.experiment
    for of in facts:
        rows = round(of.rows * _share(experiment.split))
        bytes_needed = 8 * rows**2
        for label, spec in experiment.methods_on(of.label).items():
            kernel = spec.params.get("kernel", "linear")
            if spec.method in _WHOLE_MATRIX and kernel != "linear" and bytes_needed > (there := memory()):
                yield (
                    f"{config.at('methods', label)}: {label} on {of.label}: the kernel matrix of {rows:,} training rows takes "
                    f"{bytes_needed / 1e9:.0f} GB, and this machine has {there / 1e9:.0f} GB. Take fewer rows "
                    f"(`subsample: {_fitting(there)}` in the data set), or `kernel: linear`, which needs the moments alone."
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
