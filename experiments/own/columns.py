"""What the columns of a table hold: numbers, dates or text. Recognised once, and demanded of every later table."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api import types
from pydantic import BaseModel, ConfigDict
from skrub import ToDatetime

from mmc.experiments.own.errors import TableError
from mmc.words import nearest

_ENOUGH = 20  # rows below which distinct values say nothing
_ID_NAME = re.compile(r"(^|[^a-z])(id|uid|uuid|key|nr|no|number|index|code)$|[a-z]Id$|[a-z]ID$")


class Column(BaseModel):
    """A column of the table that a model was fitted on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: Literal["number", "date", "text"]
    format: str | None = None  # how its dates are written as text
    categories: tuple[str, ...] | None = None  # those that the encoder knows


def recognise(name: str, cells: pd.Series) -> Column:
    """Return what a column holds: numbers if all its cells are, else dates if all are, else text."""
    present = cells.dropna()
    if types.is_datetime64_any_dtype(cells):
        return Column(name=name, kind="date")
    if types.is_numeric_dtype(cells) and not types.is_bool_dtype(cells):
        return Column(name=name, kind="number")
    if len(present) and present.map(lambda cell: isinstance(cell, datetime.date)).all():
        return Column(name=name, kind="date")
    text = _text(present)
    if _numbers(text).notna().all():
        return Column(name=name, kind="number")
    form = _date_format(text)
    return Column(name=name, kind="date", format=form) if form else Column(name=name, kind="text")


def converted(cells: pd.Series, column: Column, path: object) -> pd.Series:
    """Return the cells as what the column holds; raise TableError for one that cannot be."""
    if column.kind == "text":
        _refuse_other_kind(cells, column, path)
        return _text(cells)
    if column.kind == "number":
        dates = types.is_datetime64_any_dtype(cells)
        values = pd.Series(np.nan, cells.index) if dates else _numbers(cells)
        wrong = cells.notna() & ~np.isfinite(values)
    else:
        values = _dates(cells, column.format)
        wrong = cells.notna() & values.isna()
    if wrong.any():
        row = wrong.idxmax()
        what = "finite numbers" if column.kind == "number" else f"dates{_like(column)}"
        raise TableError(
            f"{path}: column {column.name!r} must hold {what}, but row {int(str(row)) + 1} has {str(cells[row])!r}"
        )
    return values


def frame_of(table: pd.DataFrame, columns: Sequence[Column], path: object) -> pd.DataFrame:
    """Return the columns of a table that a model uses, as what they hold; the others are left out."""
    for column in columns:
        if column.name not in table.columns:
            others = [str(name) for name in table.columns if name not in {known.name for known in columns}]
            hint = f": {nearest(column.name, others)}" if others else ""
            raise TableError(f"{path} has no column {column.name!r}, which the model uses{hint}")
    return pd.DataFrame({c.name: converted(table[c.name], c, path) for c in columns}, index=table.index)


def labels_of(cells: pd.Series, name: str, path: object) -> pd.Series:
    """Return the target's labels as text, 1.0 as 1; raise TableError where one is missing or they are not two."""
    text = _text(cells)
    missing = text.isna()
    if missing.any():
        raise TableError(
            f"{path}: the target {name!r} is missing in {int(missing.sum())} of {len(text)} rows (first: row "
            f"{int(missing.argmax()) + 1}); fill it in, or leave these rows out"
        )
    numbers = _numbers(text)
    if numbers.notna().all() and (numbers == numbers.round()).all():
        text = numbers.astype("int64").astype("str")
    kinds = sorted(text.unique())
    if len(kinds) == 1:
        raise TableError(f"{path}: the target {name!r} has one class only, {kinds[0]!r} in every row; it needs two")
    if len(kinds) > 2:
        shown = ", ".join(map(repr, kinds[:4])) + (", …" if len(kinds) > 4 else "")
        raise TableError(
            f"{path}: the target {name!r} has {len(kinds)} different labels ({shown}); it needs two. Join them into two "
            "classes in a column of their own"
        )
    return text


def looks_like_id(column: Column, cells: pd.Series) -> bool:
    """Whether every row has another value that counts or names it."""
    if len(cells) < _ENOUGH or cells.isna().any() or not cells.is_unique:
        return False
    if column.kind == "text":
        return not cells.str.contains(r"\s").any()
    if column.kind == "date" or (cells != cells.round()).any():
        return False
    consecutive = cells.max() - cells.min() == len(cells) - 1
    return bool(consecutive or _ID_NAME.search(column.name.lower()) or _ID_NAME.search(column.name))


def new_categories(cells: pd.Series, column: Column) -> int:
    """Return how many cells hold a category that the encoder does not know."""
    if column.categories is None:
        return 0
    return int((~cells.dropna().isin(column.categories)).sum())


def _refuse_other_kind(cells: pd.Series, column: Column, path: object) -> None:
    """Raise TableError where a column of text now holds nothing but numbers or dates."""
    other = types.is_datetime64_any_dtype(cells) or (types.is_numeric_dtype(cells) and not types.is_bool_dtype(cells))
    text = _text(cells.dropna())
    known = column.categories
    if not other and known is not None and len(text):
        other = bool(_numbers(text).notna().all()) and not text.isin(known).any()
    if other and len(text):
        raise TableError(
            f"{path}: column {column.name!r} held text when the model was fitted, such as "
            f"{(known or ('words',))[0]!r}; now it holds {text.iloc[0]!r}"
        )


def _text(cells: pd.Series) -> pd.Series:
    """Return the cells as text, missing ones missing; a number without fraction as an integer."""
    if types.is_string_dtype(cells) and cells.dtype != object:
        return cells.str.strip()
    return cells.map(_words, na_action="ignore").astype("str").where(cells.notna())


def _words(cell: object) -> str:
    if isinstance(cell, (Real, Decimal)) and not isinstance(cell, bool) and cell == cell // 1:
        return f"{cell:.0f}" if isinstance(cell, (float, np.floating)) else str(cell // 1)
    return str(cell).strip()


def _numbers(cells: pd.Series) -> pd.Series:
    """Return the cells as floats, NaN for what is no number."""
    plain = types.is_numeric_dtype(cells) and not types.is_bool_dtype(cells)
    return pd.to_numeric(cells if plain else _text(cells), errors="coerce").astype("float64")


def _dates(cells: pd.Series, form: str | None) -> pd.Series:
    if not types.is_datetime64_any_dtype(cells):
        cells = pd.to_datetime(cells, format=form, errors="coerce", utc=form is not None and "%z" in form)
    naive = cells if cells.dt.tz is None else cells.dt.tz_convert("UTC").dt.tz_localize(None)
    return naive.astype("datetime64[us]")


def _date_format(text: pd.Series) -> str | None:
    """Return how all cells are written as dates; None if they are not."""
    reader = ToDatetime()
    try:
        found = reader.fit_transform(text.rename("dates"))
    except ValueError:
        return None
    form = reader.format_
    return str(form) if form is not None and found.notna().all() else None


def _like(column: Column) -> str:
    return f" like {datetime.datetime(2024, 12, 31).strftime(column.format)!r}" if column.format else ""
