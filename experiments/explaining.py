"""What pydantic says of a config, put plainly, and where in the file it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from mmc.experiments.errors import KeyPath
from mmc.words import nearest

Problem = tuple[KeyPath, str]
_COMMA = re.compile(r"[-+]?\d+,\d+")
_LONGEST = 60


def explain(error: ValidationError, document: JsonValue, model: type[BaseModel]) -> Iterator[Problem]:
    """Yield the place and a sentence for everything that is wrong with a document."""
    for detail in error.errors():
        yield _explained(detail, document, model)


def shown(given: object) -> str:
    """Return a value as it may stand in a message: not too long."""
    text = repr(given)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def decimal_comma(given: object) -> str:
    """Return a hint where a number was written with a decimal comma."""
    comma = isinstance(given, str) and _COMMA.fullmatch(given)
    return f"; write {given.replace(',', '.')}, with a point" if comma and isinstance(given, str) else ""


def _explained(detail: ErrorDetails, document: JsonValue, model: type[BaseModel]) -> Problem:
    where = _place(detail["loc"], document)
    key, given, context = ".".join(map(str, where)), detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            comma = given is None and str(where[-1]).isdigit()
            hint = "numbers are written with a point, such as 0.5" if comma else _hint(where, model)
            return where, f"unknown key {where[-1]!r}: {hint}"
        case "missing":
            missing = str(detail["loc"][-1])
            return where, f"{'.'.join([key, missing]) if key else missing} is missing"
        case "union_tag_invalid":
            tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
            return (*where, "kind"), f"{key}.kind: unknown {context['tag']!r}: {nearest(context['tag'], tags)}"
        case "union_tag_not_found":
            return where, f"{key} needs a 'kind': {_kinds(where, model)}"
        case "literal_error":
            choices = [choice.strip(" '") for choice in context["expected"].replace(" or ", ", ").split(",")]
            return where, f"{key}: {shown(given)} is not possible: {nearest(str(given), choices)}"
        case "finite_number":
            return where, f"{key}: {given} is not finite"
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            return where, f"{key}: {message[0].lower()}{message[1:]} (given: {shown(given)}){decimal_comma(given)}"


def _place(loc: KeyPath, document: JsonValue) -> KeyPath:
    """Return the parts of an error's path that are in the document: pydantic adds words of its own for unions."""
    where: list[str | int] = []
    at = document
    for part in loc:
        if isinstance(at, dict) and part in at:
            at = at[str(part)]
        elif isinstance(at, list) and isinstance(part, int) and part < len(at):
            at = at[part]
        else:
            continue
        where.append(part)
    return tuple(where)


def _hint(where: KeyPath, model: type[BaseModel]) -> str:
    """Return the nearest of the keys that are valid beside an unknown one."""
    found = [key for part in _schemas(where[:-1], model) for key in _mapping(part.get("properties"))]
    return nearest(str(where[-1]), found)


def _kinds(where: KeyPath, model: type[BaseModel]) -> str:
    kinds = [_mapping(_mapping(part.get("properties")).get("kind")).get("const") for part in _schemas(where, model)]
    return ", ".join(str(kind) for kind in kinds if kind is not None)


def _schemas(where: KeyPath, model: type[BaseModel]) -> list[dict[str, JsonValue]]:
    """Return the schemas of all that may stand at a place."""
    whole: dict[str, JsonValue] = model.model_json_schema()
    definitions = _mapping(whole.get("$defs"))
    at = _branches(whole, definitions)
    for part in where:
        inner = [_mapping(found) for schema in at for found in _inside(schema, part)]
        at = [branch for schema in inner for branch in _branches(schema, definitions)]
    return at


def _inside(schema: dict[str, JsonValue], part: str | int) -> Iterator[JsonValue]:
    if isinstance(part, int):
        yield schema.get("items")
    elif part in (properties := _mapping(schema.get("properties"))):
        yield properties[part]
    else:
        yield schema.get("additionalProperties")


def _branches(schema: dict[str, JsonValue], definitions: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the alternatives of a schema, with references followed."""
    if isinstance(reference := schema.get("$ref"), str):
        return _branches(_mapping(definitions.get(reference.rpartition("/")[2])), definitions)
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return [branch for option in options for branch in _branches(_mapping(option), definitions)]
    return [schema]


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
