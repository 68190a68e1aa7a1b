"""How long the rest of a run takes: judged by what units of the same method on the same data set took before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mmc.experiments.records import Record
from mmc.experiments.units import Unit


def kind_of(unit: Unit) -> str:
    """Return the kind of a unit: those of one kind take about the same time. One that others tune for is much faster."""
    return f"{unit.label} on {unit.source.label}" + (", tuned before" if unit.follows else "")


def unit_seconds(units: Sequence[Unit], records: Mapping[str, Record]) -> dict[str, float]:
    """Return the mean seconds of the units of each kind; those without all of their records do not count."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for unit in units:
        if all(trial.key in records for trial in unit.trials):
            found[kind_of(unit)].append(sum(records[trial.key].seconds for trial in unit.trials))
    return {kind: sum(seconds) / len(seconds) for kind, seconds in found.items()}


class Outlook:
    """The seconds of fitting that are left, all workers taken together.

    ``records`` are those that the store had. ``earlier`` are seconds of each kind from an earlier run, or from the reference;
    they count where the records say nothing.
    """

    def __init__(self, units: Sequence[Unit], records: Mapping[str, Record], earlier: Mapping[str, float]) -> None:
        self._kinds = {trial.key: kind_of(unit) for unit in units for trial in unit.trials}
        self._trials = {kind_of(unit): len(unit.trials) for unit in units}
        self._known = {**earlier, **unit_seconds(units, records)}
        self._missing = self._kinds.keys() - records.keys()
        self._left = Counter(self._kinds[key] for key in self._missing)  # trials of each kind
        self._fresh: Counter[str] = Counter()  # trials of each kind that were fitted now
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.spent = 0.0

    def add(self, records: Iterable[Record]) -> None:
        """Take note of new records: their seconds say more than older ones."""
        for record in records:
            kind = self._kinds[record.key]
            if record.key in self._missing:
                self._missing.remove(record.key)
                self._left[kind] -= 1
            self._fresh[kind] += 1
            self._seconds[kind] += record.seconds
            self.spent += record.seconds

    def left(self) -> float | None:
        """Return the seconds that are left; None where a kind of units was never seen."""
        total = 0.0
        for kind, count in self._left.items():
            if fresh := self._fresh[kind]:
                total += count * self._seconds[kind] / fresh
            elif count and kind not in self._known:
                return None
            elif count:
                total += count * self._known[kind] / self._trials[kind]
        return total
