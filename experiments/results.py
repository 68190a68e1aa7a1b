"""The results of a config: its records, and the table that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mmc.experiments.cells import Table
from mmc.experiments.config import Config
from mmc.experiments.plan import Unit
from mmc.experiments.records import Record
from mmc.experiments.tables import gather


@dataclass(frozen=True)
class Results:
    """What there is of a config: its units, and the records of those that were run."""

    config: Config
    units: Sequence[Unit]
    records: Mapping[str, Record]

    @cached_property
    def table(self) -> Table:
        return gather(self.config, self.units, self.records)

    @property
    def missing(self) -> int:
        """How many trials have no record: the config or the code has changed since the last run."""
        return sum(trial.key not in self.records for unit in self.units for trial in unit.trials)
