"""The first study of a table: a commented config that runs as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mmc.datasets import DataError, DataSet, load_file
from mmc.datasets.categories import TooManyTexts
from mmc.experiments import files
from mmc.experiments.errors import UserError
from mmc.experiments.own.columns import converted, looks_like_id, recognise
from mmc.experiments.own.errors import TableError
from mmc.experiments.own.reading import read
from mmc.experiments.schema import schema

SCHEMA = "mmc.schema.json"
_FEW = 60  # rows of the smaller class below which a study splits less
_MANY = 5000  # rows above which it repeats less: two repetitions tell little of a difference, but they take less time

_STUDY = """\
# yaml-language-server: $schema={schema}
# A study of {table}: {rows} rows, {features} features, classes {classes}.
# `mmc validate {name}` checks it, `mmc run {name}` runs it; a rerun does only what is missing.
title: {title}
seed: 0  # decides every split and every draw

datasets:
  {label}:
    file: {file}
    target: {target}
{options}
scale: standard  # on each training part; or none, unit, minmax

split: {{kind: stratified-kfold, folds: {folds}, repetitions: {repetitions}}}
{multiclass}
methods:  # `mmc list methods` shows ours; any classifier of scikit-learn by its path
{methods}
table:
  rows: [method]
  columns: []
  metrics: [{metrics}]
  paired: SVM  # compares every other method with this one on the same splits
"""
_TWO = """\
  SVM:  # tuned inside each training part, never on a test part
    method: svm
    kernel: rbf
    tune: {grid: {"C_pos, C_neg": [0.3, 3, 30], gamma: [0.01, 0.1, 1]}, folds: 3}
  MPM:  # the least worst-case error of both classes, by the moments of the training part
    method: mpm
    tune: {grid: {ridge: [0.001, 0.1, 1]}, folds: 3}
  logistic:
    method: sklearn.linear_model.LogisticRegression
    tune: {grid: {C: {logspace: [0.01, 100, 5]}}, folds: 3}
  forest:
    method: sklearn.ensemble.RandomForestClassifier
    n_estimators: 100
"""
_SEVERAL = """\
  SVM:  # a classifier for every pair of classes; best: the point of the grid with the least error
    method: svm
    kernel: rbf
    grid: {"C_pos, C_neg": [1, 10], gamma: [0.01, 0.1]}
    best: error
  LDA: {method: lda}
  logistic: {method: sklearn.linear_model.LogisticRegression}
  forest: {method: sklearn.ensemble.RandomForestClassifier, n_estimators: 100}
"""


def start(table: Path, target: str, out: Path) -> list[Path]:
    """Write a study of a table and the schema beside it; return the files. Neither is written over.

    Raises UserError or DataError where the table cannot be read, or a file is there already.
    """
    if out.suffix not in (".yaml", ".yml"):
        raise UserError(f"--out {out}: a config ends in .yaml")
    if out.exists():
        raise UserError(f"{out} is there already; give another name with --out")
    data, options = _read(table, target)
    beside = out.parent / SCHEMA
    files.write(out, _text(data, options, table, target, out))
    files.write(beside, json.dumps(schema(), indent=1) + "\n")
    return [out, beside]


def _read(table: Path, target: str) -> tuple[DataSet, list[str]]:
    """Return the data, and the lines of the config that say how to read them."""
    drop = dict.fromkeys(_ids(table, target), "looks like an ID")
    encode = False
    while True:
        try:
            data = load_file(table, target=target, drop=list(drop), encode=encode)
            break
        except TooManyTexts as error:
            drop[error.column] = f"{error.count} different texts"
        except DataError:
            if encode:
                raise
            encode = True
    options = []
    if drop:
        reasons = _words("; ".join(f"{name}: {reason}" for name, reason in drop.items()))
        options.append(f"drop: [{', '.join(map(_quoted, drop))}]  # {reasons}")
    if encode:
        options.append("encode: true  # dates become days; text becomes a column of 0 and 1 for each category")
    if data.dropped:
        options.append(f"missing: drop  # {data.dropped} rows lack a cell; `impute` fills in the mean of the column")
    return data, options


def _ids(table: Path, target: str) -> list[str]:
    """Return the columns that look like an ID, as `mmc fit` finds them; none where it cannot read the format."""
    try:
        frame = read(table).drop(columns=target, errors="ignore")
        columns = [recognise(str(name), frame[name]) for name in frame.columns]
        return [c.name for c in columns if looks_like_id(c, converted(frame[c.name], c, table))]
    except TableError:
        return []


def _text(data: DataSet, options: list[str], table: Path, target: str, out: Path) -> str:
    two = len(data.classes) == 2
    if two:
        positive = f"positive: {json.dumps(data.positive_class)}  # the class that error_pos is about"
        options = [*options, positive]
    smallest = min(data.classes.values())
    folds = max(2, min(5 if smallest >= _FEW else 3, smallest // 2))
    return _STUDY.format(
        schema=SCHEMA,
        table=_words(table.name),
        rows=len(data.y),
        features=data.X.shape[1],
        classes=_words(", ".join(f"{label} ({count})" for label, count in list(data.classes.items())[:8])),
        name=_words(out.name),
        title=_quoted(f"Study of {table.name}"),
        label=_quoted(table.name.partition(".")[0] or "data"),
        file=_quoted(Path(os.path.relpath(table.resolve(), out.parent.resolve())).as_posix()),
        target=_quoted(target),
        options="".join(f"    {line}\n" for line in options),
        folds=folds,
        repetitions=5 if len(data.y) <= _MANY else 2,
        multiclass="" if two else "multiclass: one-vs-one\n",
        methods=_TWO if two else _SEVERAL,
        metrics="error, error_pos, error_neg, fit_seconds" if two else "error, fit_seconds",
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _words(text: str) -> str:
    """Return text for a comment: on one line."""
    return "".join(c if c.isprintable() else " " for c in text)
