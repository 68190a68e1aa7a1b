"""From a table to numbers: skrub's TableVectorizer, then the median for missing cells, then one scale for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from skrub import StringEncoder, TableVectorizer

from mmc.experiments.own.columns import Column

_TELLING = 0.99  # area under the curve of one column alone from which it looks like the answer


def preparation() -> Pipeline:
    """Return the steps before the classifier."""
    return Pipeline(
        [
            ("table", TableVectorizer(high_cardinality=StringEncoder(random_state=0), drop_if_constant=True)),
            ("impute", SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)),
            ("scale", StandardScaler()),
        ]
    )


def lean(table: TableVectorizer) -> None:
    """Forget the steps that a fitted vectorizer keeps besides its pipeline, which has them all: a saved model is a third."""
    for name in ("_preprocessors", "_encoders", "_named_encoders", "_postprocessors"):
        vars(table).pop(name, None)


@dataclass(frozen=True)
class Treatment:
    """What became of a column."""

    name: str
    holds: str
    missing: int
    became: str


def treatments(table: TableVectorizer, frame: pd.DataFrame, columns: Iterable[Column]) -> list[Treatment]:
    """Return what a fitted vectorizer does with each column of the training part."""
    return [
        Treatment(c.name, c.kind, int(frame[c.name].isna().sum()), _became(table, c.name, frame[c.name]))
        for c in columns
    ]


def _became(table: TableVectorizer, name: str, cells: pd.Series) -> str:
    kind = table.column_to_kind_.get(name)
    if kind is None:
        return "not used: no values" if cells.isna().all() else "not used: the same in every row"
    outputs = table.input_to_outputs_[name]
    if kind == "numeric":
        return "scaled" + ("; median for missing cells" if cells.isna().any() else "")
    if kind == "low_cardinality":
        return f"{cells.nunique()} categories, as 0 or 1"
    if kind == "datetime":
        return ", ".join(str(out).removeprefix(f"{name}_").replace("_", " ") for out in outputs)
    return f"text, as {len(outputs)} numbers from its letters"


def with_categories(table: TableVectorizer, columns: Sequence[Column]) -> list[Column]:
    """Return the columns with the categories that a fitted vectorizer knows."""
    known = {
        name: tuple(str(cell) for cell in encoder.categories_[0] if isinstance(cell, str))
        for name, encoder in table.transformers_.items()
        if hasattr(encoder, "categories_")
    }
    return [column.model_copy(update={"categories": known.get(column.name)}) for column in columns]


def tells_the_answer(cells: pd.Series, column: Column, positive: NDArray[np.bool_]) -> float | None:
    """Return how well one column alone separates the classes, if almost perfectly: the area under its curve."""
    gaps = cells.isna().to_numpy()
    areas = [_area(gaps.astype(float), positive)]
    if not gaps.all():
        if column.kind == "text":
            coded = TargetEncoder(target_type="binary", random_state=0).fit_transform(
                cells.fillna("").to_numpy(dtype=object).reshape(-1, 1), positive.astype(int)
            )
            values = coded[:, 0]
        else:
            values = cells.to_numpy().astype("int64" if column.kind == "date" else "float64").astype("float64")
            values = np.where(gaps, np.median(values[~gaps]), values)
        areas.append(_area(values, positive))
    best = max(areas)
    return best if best >= _TELLING else None


def _area(values: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    area = float(roc_auc_score(positive, values))
    return max(area, 1 - area)
