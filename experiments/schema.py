"""A JSON schema of configs, with the parameters of every method: what editors complete and check with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real

from mmc import datasets
from mmc.experiments.config import Experiment
from mmc.experiments.figures import FIGURES, options_of
from mmc.experiments.records import Json
from mmc.methods import Method
from mmc.methods._sklearn import Interval, StrOptions
from mmc.methods.registry import METHODS

Schema = dict[str, Json]
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> Schema:
    """Return the schema of a config."""
    made: Schema = Experiment.model_json_schema()
    parts = _mapping(made["$defs"])
    properties = _mapping(made["properties"])
    shared = _mapping(_mapping(parts["MethodSpec"])["properties"])
    parts["MethodSpec"] = {
        **_mapping(parts["MethodSpec"]),
        "properties": {**shared, "method": _method_names(shared["method"])},
        "additionalProperties": True,
        "allOf": [_parameters(key, method, shared) for key, method in METHODS.items()],
    }
    parts["FigureSpec"] = {
        **_mapping(parts["FigureSpec"]),
        "properties": {"kind": {"enum": list(FIGURES)}},
        "additionalProperties": True,
        "allOf": [_figure(kind) for kind in FIGURES],
    }
    named = _mapping(_mapping(parts["DataSpec"])["properties"])
    parts["DataSpec"] = {
        **_mapping(parts["DataSpec"]),
        "properties": {**named, "name": {"anyOf": [{"enum": list(datasets.known())}, {"type": "null"}]}},
    }
    sets = _mapping(properties["datasets"])
    empty: Schema = {**sets, "additionalProperties": {"anyOf": [{"$ref": "#/$defs/DataSpec"}, {"type": "null"}]}}
    return {"$schema": DRAFT, **made, "$defs": parts, "properties": {**properties, "datasets": empty}}


def _mapping(value: Json) -> dict[str, Json]:
    assert isinstance(value, Mapping)
    return dict(value)


def _method_names(base: Json) -> Json:
    path: Schema = {"type": "string", "pattern": r"^sklearn\.[a-z_]+\.[A-Za-z]+$"}
    return {**_mapping(base), "anyOf": [{"enum": list(METHODS)}, path]}


def _parameters(key: str, method: Method, shared: Iterable[str]) -> Schema:
    """Return what holds if a method has this key: its parameters, and no others."""
    limits: Mapping[str, object] = getattr(method.load(), "_parameter_constraints", {})
    own: Schema = {name: _values(limits.get(name)) for name in method.parameters() if name != "pos_label"}
    if method.solvers:
        own["solver"] = {"enum": list(method.solvers)}
    if not method.foreign:
        own["multiclass"] = {"const": "pairs"}
    allowed: Schema = {**dict.fromkeys(shared, True), **own}
    return {
        "if": {"properties": {"method": {"const": key}}, "required": ["method"]},
        "then": {"properties": allowed, "additionalProperties": False},
    }


def _values(limits: object) -> Json:
    """Return the schema of a parameter's values, from what scikit-learn checks; anything where that is not known."""
    if not isinstance(limits, list):
        return True
    kinds = [_kind(limit) for limit in limits]
    return {"anyOf": [kind for kind in kinds if kind is not None]} if None not in kinds else True


def _kind(limit: object) -> Json:
    """Return the schema of one kind of value; None where JSON cannot say it; False where YAML cannot give it."""
    if isinstance(limit, Interval) and limit.type in (Real, Integral):
        return _interval(limit)
    if isinstance(limit, StrOptions):
        return {"enum": sorted(limit.options)}
    if limit is callable:
        return False
    known: dict[object, Json] = {None: {"type": "null"}, str: {"type": "string"}, dict: {"type": "object"}}
    words: dict[object, Json] = {"boolean": {"type": "boolean"}, "array-like": {"type": "array"}}
    return {**known, **words}.get(limit) if isinstance(limit, (str, type, type(None))) else None


def _interval(limit: Interval) -> Schema:
    found: Schema = {"type": "integer" if limit.type is Integral else "number"}
    if limit.left is not None:
        found["minimum" if limit.closed in ("left", "both") else "exclusiveMinimum"] = limit.left
    if limit.right is not None:
        found["maximum" if limit.closed in ("right", "both") else "exclusiveMaximum"] = limit.right
    return found


def _figure(kind: str) -> Schema:
    """Return what holds of a figure of a kind: its options, and no others."""
    options = options_of(kind).model_json_schema()
    fields: Schema = dict.fromkeys(options.get("properties", {}), True)
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": {"properties": {"kind": True, **fields}, "additionalProperties": False},
    }
