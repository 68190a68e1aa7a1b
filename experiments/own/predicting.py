"""A saved model on a new table, in parts of bounded size: a file larger than the memory is no trouble."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.pipeline import Pipeline

from mmc.experiments.own.choosing import quiet
from mmc.experiments.own.columns import frame_of, new_categories
from mmc.experiments.own.errors import ModelFileError, TableError
from mmc.experiments.own.model_file import ModelFacts, TableFacts, load_with_facts
from mmc.experiments.own.reading import ROWS, chunks, header
from mmc.experiments.own.stream_reading import batches
from mmc.methods import RateGuarantee

_OWN = ("label", "score", "abstained")


@dataclass
class Summary:
    """What was predicted, and what was strange about the table."""

    facts: ModelFacts
    rows: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    abstained: int = 0
    new: Counter[str] = field(default_factory=Counter)  # cells with a category that training did not have, per column
    id: str | None = None


def predict(
    model_path: Path, table_path: Path, out: Path, watch: Callable[[int], None] = lambda rows: None, rows: int = ROWS
) -> Summary:
    """Write the predictions for a table: the ID if there is one, else the row's number; label, score, abstention.

    The file is written whole or not at all.
    """
    model, facts = load_with_facts(model_path)
    if facts.table is None or not isinstance(model, RateGuarantee) or not isinstance(model.estimator_, Pipeline):
        raise ModelFileError(f"{model_path} does not know its columns: `mmc predict` takes models that `mmc fit` wrote")
    if out.resolve() in (model_path.resolve(), table_path.resolve()):
        raise TableError(f"--out {out} would overwrite what is read; name another file")
    partly = out.with_name(out.name + ".part")
    try:
        try:
            summary = _written(model, facts, partly, _quick(table_path, facts.table, rows), table_path, watch)
        except TableError:  # the other way takes every cell that can be read, and names the one that cannot
            summary = _written(model, facts, partly, chunks(table_path, rows), table_path, watch)
        if not summary.rows:
            raise TableError(f"{table_path} has no rows below its column names")
        partly.replace(out)
    except OSError as error:
        raise TableError(f"cannot write {out}: {error.strerror}") from None
    finally:
        partly.unlink(missing_ok=True)
    return summary


def _quick(path: Path, table: TableFacts, rows: int) -> Iterator[pd.DataFrame]:
    """Yield the columns that are used, numbers as such: five times as fast as cells of text. Raise TableError if it cannot."""
    if not path.is_file() or path.suffix.lower() not in (".csv", ".tsv"):
        raise TableError(f"{path} is no table of text")
    other = table.id if table.id in header(path)[0] else None
    start = 0
    for batch, _ in batches(path, table.columns, other, rows):
        for cells in batch.columns:
            if pa.types.is_string(cells.type) and pc.any(pc.starts_with(cells, " ")).as_py():
                raise TableError(f"{path}: a cell begins with a space, and a quote may follow")
        frame: pd.DataFrame = batch.to_pandas()
        yield frame.set_axis(pd.RangeIndex(start, start + len(frame)), axis="index")
        start += len(frame)


def _written(
    model: RateGuarantee,
    facts: ModelFacts,
    out: Path,
    parts: Iterator[pd.DataFrame],
    path: Path,
    watch: Callable[[int], None],
) -> Summary:
    """Write the predictions for all parts of a table."""
    assert facts.table is not None
    summary = Summary(facts)
    with out.open("w", encoding="utf-8", newline="") as file:
        for part in parts:
            found = _part(model, facts.table, part, path, summary)
            found.to_csv(file, index=False, header=summary.rows == 0, lineterminator="\n")
            summary.rows += len(part)
            watch(summary.rows)
    return summary


def _part(model: RateGuarantee, table: TableFacts, part: pd.DataFrame, path: Path, summary: Summary) -> pd.DataFrame:
    frame = frame_of(part, table.columns, path)
    for column in table.columns:
        summary.new[column.name] += new_categories(frame[column.name], column)
    with quiet():  # new categories are counted above
        numbers = model.estimator_[:-1].transform(frame)
    rule = copy(model)  # the same thresholds, on numbers that are ready: they are prepared once, not for each question
    rule.estimator_ = model.estimator_[-1]
    decision, labels = rule.decision_function(numbers), rule.predict(numbers)
    abstained = labels == model.abstain if model.abstain is not None else np.zeros(len(labels), dtype=bool)
    summary.labels.update(labels.tolist())
    summary.abstained += int(abstained.sum())
    known = table.id is not None and table.id in part.columns
    summary.id = table.id if known else None
    keys = part[table.id] if known else pd.Series(part.index + 1, index=part.index)
    name = str(table.id) if known and table.id not in _OWN else "row" if not known else "id"
    columns = {name: keys, "label": labels, "score": decision, "abstained": abstained.astype(int)}
    return pd.DataFrame(columns, index=part.index)
