"""What is wrong with a config, in words: what the types cannot say, and what pydantic says, put plainly."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from mmc.experiments.claims import CLAIMS
from mmc.experiments.config import Axis, Experiment, Fixed, points
from mmc.experiments.measures import MEASURES
from mmc.experiments.metrics import COUNTED, VOTED
from mmc.experiments.yaml_lines import KeyPath
from mmc.methods import CATALOGUE
from mmc.words import nearest


def semantic(experiment: Experiment, folder: Path) -> Iterator[tuple[KeyPath, str]]:
    """What the types cannot say: words that must be known elsewhere, and files beside the config."""
    from mmc.datasets import REGISTRY
    from mmc.experiments.figures import check as check_figure
    from mmc.experiments.knowledge import problems

    for label, data in experiment.datasets.items():
        assert data is not None
        where: KeyPath = ("datasets", label)
        yield from (((*where, *place), text) for place, text in problems(data, folder))
        if data.sets_alone:
            if label in REGISTRY:
                hint = f"say name: {label} to add knowledge sets to it, or give sets without points another label"
                yield where, f"{label} is a registered data set: {hint}"
            continue
        if data.file is None and data.name not in REGISTRY:
            yield where, f"unknown data set {data.name!r}: {nearest(str(data.name), REGISTRY)}"
        suffix = (data.format or str(data.file).removesuffix(".gz")).rpartition(".")[2]
        if data.file is not None and data.target is None and suffix not in ("libsvm", "svmlight", "svm"):
            yield where, f"{label}: a file needs 'target', the name of the column with the classes"
        if experiment.split.redraw and (data.file or REGISTRY[str(data.name)].kind != "generated"):
            yield ("split", "redraw"), f"redraw: {label} is not a generated set, it cannot be drawn anew"
    if isinstance(experiment.split, Fixed) and experiment.split.repetitions > 1 and not experiment.split.redraw:
        yield ("split", "repetitions"), "a fixed split is always the same; repetitions need redraw, for a generated set"
    if experiment.multiclass:
        yield from _multiclass(experiment)
    metrics = VOTED if experiment.multiclass else COUNTED
    names: set[str] = set()
    for label, spec in experiment.methods.items():
        where = ("methods", label)
        if spec.method not in CATALOGUE:
            yield (*where, "method"), f"unknown method {spec.method!r}: {nearest(spec.method, CATALOGUE)}"
            continue
        entry = CATALOGUE[spec.method]
        if spec.tune and spec.grid is not None:
            yield (*where, "tune"), f"{label}: give a grid to search inside 'tune', or a 'grid' to report, not both"
        first = spec.tune.first if spec.tune and isinstance(spec.tune.first, dict) else {}
        for place, labels in ((("datasets",), spec.datasets or ()), (("tune", "first"), first)):
            for dataset in labels:
                if dataset not in experiment.datasets:
                    hint = nearest(dataset, experiment.datasets)
                    yield (*where, *place), f"{label}: no data set {dataset!r}: {hint}"
        if spec.beside is not None and spec.beside not in experiment.methods:
            yield (*where, "beside"), f"{label}: beside {spec.beside!r}: {nearest(spec.beside, experiment.methods)}"
        for key, name in (("best", spec.best), ("metric", spec.tune.metric if spec.tune else None)):
            if name is not None and name not in metrics:
                yield (*where, key), f"{label}: no metric {name!r}: {nearest(name, metrics)}"
        grid = points(spec.tune.grid) if spec.tune else experiment.points_of(label)
        sources = [(where, spec.params)]
        own = (
            ("methods", label, "tune", "grid")
            if spec.tune
            else (*where, "grid")
            if spec.grid is not None
            else ("grid",)
        )
        sources += [
            ((*own, i) if isinstance(spec.grid or experiment.grid, list) else own, p) for i, p in enumerate(grid)
        ]
        if not grid:
            yield own, f"{label}: the grid has no points"
        for place, params in sources:
            for key in params:
                if key not in entry.parameters() or key == "pos_label":
                    known = [p for p in entry.parameters() if p != "pos_label"]
                    yield (*place, key), f"{spec.method} has no parameter {key!r}: {nearest(key, known)}"
            names |= set(params)
        solver = spec.params.get("solver")
        if solver is not None and solver not in entry.solvers:
            yield (
                (*where, "solver"),
                f"{spec.method} has no solver {solver!r}: {nearest(str(solver), entry.solvers)}",
            )
        for point in ({**spec.params, **p} for p in grid):
            if point.get("kernel") in ("rbf", "poly") and point.get("gamma") is None:
                yield where, f"{label}: kernel {point['kernel']!r} needs 'gamma', its width"
                break
    for name, given in experiment.measures.items():
        if name not in MEASURES:
            yield ("measures", name), f"no measure {name!r}: {nearest(name, MEASURES)}"
            continue
        spec_of = inspect.getfullargspec(MEASURES[name])
        for key in given.keys() - set(spec_of.kwonlyargs):
            yield ("measures", name, key), f"{name} has no option {key!r}: {nearest(key, spec_of.kwonlyargs)}"
        for key in set(spec_of.kwonlyargs) - given.keys() - set(spec_of.kwonlydefaults or {}):
            yield ("measures", name), f"{name} needs {key!r}"
    if experiment.claims is not None and experiment.claims not in CLAIMS:
        yield ("claims",), f"no claims {experiment.claims!r}: {nearest(experiment.claims, CLAIMS)}"
    for label, figure in experiment.figures.items():
        for below, text in check_figure(figure.kind, figure.options, experiment):
            yield ("figures", label, *below), text
    if experiment.table.paired is not None and experiment.table.paired not in experiment.methods:
        hint = nearest(experiment.table.paired, experiment.methods)
        yield ("table", "paired"), f"table.paired: no method {experiment.table.paired!r}: {hint}"
    keys = {"dataset", "method"} | names
    for part in ("rows", "columns"):
        for index, key in enumerate(getattr(experiment.table, part)):
            if key not in keys:
                yield ("table", part, index), f"table.{part}: no key {key!r}: {nearest(key, keys)}"


def _multiclass(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """What has no meaning for several classes, one against one."""
    for label, data in experiment.datasets.items():
        if data is not None and data.positive is not None:
            yield ("datasets", label, "positive"), f"{label}: one against one, no class is the positive one"
    for label, spec in experiment.methods.items():
        if spec.tune is not None:
            yield (
                ("methods", label, "tune"),
                f"{label}: 'tune' would tune every pair of classes for itself; use 'grid' with 'best: error'",
            )
        if experiment.table.paired and spec.best is None and len(experiment.points_of(label)) > 1:
            yield ("table", "paired"), f"table.paired: {label} has a grid; 'best' says which point is compared"
    for index, name in enumerate(experiment.table.metrics):
        if name in COUNTED and name not in VOTED:
            yield ("table", "metrics", index), f"{name} is for two classes: {nearest(name, VOTED)}"


def explain(detail: Any) -> tuple[KeyPath, str]:
    """Turn one of pydantic's errors into a place and a sentence."""
    where, fields = _place(detail["loc"])
    key = ".".join(str(part) for part in where)
    match detail["type"]:
        case "extra_forbidden":
            return where, f"unknown key {where[-1]!r}: {nearest(str(where[-1]), fields)}"
        case "missing":
            return where[:-1], f"{key} is missing"
        case "union_tag_invalid":
            tags = [t.strip(" '") for t in detail["ctx"]["expected_tags"].split(",")]
            return (
                *where,
                "kind",
            ), f"{key}.kind: unknown {detail['ctx']['tag']!r}: {nearest(detail['ctx']['tag'], tags)}"
        case "union_tag_not_found":
            return where, f"{key} needs a 'kind': stratified-kfold, partitions or fixed"
        case "literal_error":
            given = detail["input"]
            choices = [c.strip(" '") for c in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
            return where, f"{key}: {given!r} is not possible: {nearest(str(given), choices)}"
        case _:
            message = detail["msg"][0].lower() + detail["msg"][1:]
            return where, f"{key}: {message} (given: {detail['input']!r})"


def _place(loc: tuple[Any, ...]) -> tuple[KeyPath, list[str]]:
    """Drop pydantic's own words (union branches) from an error's path; return it with the keys valid at its end."""
    model: Any = Experiment
    where: list[Any] = []
    fields: list[str] = list(Experiment.model_fields)
    for part in loc:
        if part == "Axis":
            model = Axis
            continue
        inner = _models(model)
        named = {m for m in inner if part in m.model_fields}
        if isinstance(part, str) and inner and not named and model is not Experiment and part in _branches(model):
            model = next((m for m in inner if part == _tag(m) or part == m.__name__), model)
            continue
        if isinstance(part, str) and ("[" in part or part in ("list", "dict", "constrained-int")):
            continue
        if inner:
            fields = sorted({f for m in inner for f in m.model_fields})
        where.append(part)
        if named:
            model = next(iter(named)).model_fields[part].annotation
        elif isinstance(part, int):
            model = _item(model)
        elif get_args(model):
            model = get_args(model)[-1] if get_origin(model) is dict else model
    return tuple(where), fields


def _item(annotation: Any) -> Any:
    """Return the type of the items of the list that an annotation allows."""
    if get_origin(annotation) is list:
        return get_args(annotation)[0]
    return next((item for arg in get_args(annotation) if (item := _item(arg)) is not None), None)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (dict, list):
        return []
    return [m for arg in get_args(annotation) for m in _models(arg)]


def _tag(model: type[BaseModel]) -> str | None:
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation)[0] if kind else None


def _branches(annotation: Any) -> set[str]:
    return {str(_tag(m)) for m in _models(annotation)} | {m.__name__ for m in _models(annotation)}
