"""What stands below a table about its data: rows used and left out, the classes, and which of them is the positive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pydantic import TypeAdapter, ValidationError

from mmc.experiments.records import Json
from mmc.labels import is_number

FEW = 10  # rows of a class below which one is told
_SHOWN = 6  # classes that are listed


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
