"""What a config says of a data set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag

from mmc.experiments.model import Model


def _label(given: object) -> object:
    if not isinstance(given, (str, int, float)):
        raise ValueError("a label is text or a number")
    return given


Label = Annotated[str | int | float | bool, BeforeValidator(_label)]


SOURCES = ("name", "file", "openml", "sklearn")


class SetSpec(Model):
    """A knowledge set: a sphere with a ``radius`` or an ellipsoid with a ``matrix`` Σ around ``center``; else a point."""

    label: Label
    center: list[float] = Field(min_length=1)
    radius: float | None = None
    matrix: list[list[float]] | None = None


# A tag in brackets is a word of pydantic's in an error's path, as list[...] is.
_SetsOrFile = Annotated[
    Annotated[str, Tag("[file]")] | Annotated[list[SetSpec], Field(min_length=1), Tag("[sets]")],
    Discriminator(lambda given: "[file]" if isinstance(given, str) else "[sets]"),
]
_AllOrSome = Annotated[
    Annotated[bool, Tag("[all]")] | Annotated[list[str], Tag("[some]")],
    Discriminator(lambda given: "[some]" if isinstance(given, list) else "[all]"),
]


class FileKeys(Model):
    """How a file of the user's own is read; each key that is given goes to the reader (``mmc.datasets.load_file``)."""

    target: str | None = None
    format: str | None = None
    features: list[str] | None = None
    drop: list[str] | None = None
    encode: _AllOrSome | None = None
    missing_values: list[Label] | None = None
    separator: Annotated[str, Field(min_length=1)] | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None

    def given(self) -> dict[str, object]:
        """Return the keys that the config gives."""
        return {name: value for name in FileKeys.model_fields if (value := getattr(self, name)) is not None}


class DataSpec(FileKeys):
    """A data set: one of the registry (``name``; default: its label here), a file of the user's own, a set of OpenML by its number
    (``openml``, read like a file) or one of scikit-learn's (``sklearn``).

    ``missing`` says what becomes of rows with missing cells: ``drop``, ``error`` or ``impute``. ``part: train`` takes only
    the rows that the set declares as its training part; ``subsample`` so many of all rows, drawn with the config's seed,
    in which every class (and either part) keeps its share. ``pca`` replaces the scaled features by so many principal
    components, those of each split's training part. ``knowledge`` adds knowledge sets: a list of them, or a CSV file
    beside the config (its format: ``mmc.methods.shapes``). Without ``name`` and ``file`` the data set consists of them
    alone.
    """

    name: str | None = None
    options: dict[str, JsonValue] = Field(default_factory=dict)
    file: str | None = None
    openml: Annotated[int, Field(ge=1)] | None = None
    sklearn: str | None = None
    positive: Label | None = None
    missing: Literal["drop", "error", "impute"] = "drop"
    part: Literal["train"] | None = None
    subsample: Annotated[int, Field(ge=2)] | None = None
    pca: Annotated[int, Field(ge=1)] | None = None
    knowledge: _SetsOrFile | None = None

    @property
    def sets_alone(self) -> bool:
        """Whether the data set has knowledge sets and no points."""
        return self.knowledge is not None and not self.sources

    @property
    def sources(self) -> list[str]:
        """Where the points come from: the keys that say it."""
        return [name for name in SOURCES if getattr(self, name) is not None]


def written(label: Label) -> str:
    """Return a label as data sets write it: a whole number without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
