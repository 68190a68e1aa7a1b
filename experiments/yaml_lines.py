"""YAML that remembers its lines, so that an error in a config can point at the place.

Plain words mean what they mean in YAML 1.2: yes, no, on and dates are text, 1e-3 is a number, 010 is ten. The document
is made of text, numbers, true, false, null, lists and keys that are text: nothing else comes out of a file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml
from pydantic import JsonValue

from mmc.experiments.errors import ConfigError, KeyPath
from mmc.words import near_file

LARGEST = 500_000  # bytes of a file
MOST = 50_000  # values in it, aliases written out
DEEPEST = 40
LONGEST_KEY = 200
_CORE = "tag:yaml.org,2002:"

_TABLES = (".csv", ".tsv", ".txt", ".data")  # endings of files that are no configs


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema: which plain words are not text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (as in its base)


for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", [*"~nN", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", [*"-+.0123456789"]),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", [*"-+."]),
):
    _Loader.add_implicit_resolver(_CORE + _kind, re.compile(rf"(?:{_pattern})\Z"), _first)

_SCALARS: Mapping[str, Callable[[str], JsonValue]] = {
    _CORE + "null": lambda text: None,
    _CORE + "bool": lambda text: text.lower() == "true",
    _CORE + "int": lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text),
    _CORE + "float": lambda text: float(re.sub(r"\.(?=[iInN])", "", text)),
    _CORE + "str": str,
}


def read(path: Path) -> tuple[dict[str, JsonValue], dict[KeyPath, int]]:
    """Return the keys of a file and the line of each; raise ConfigError for anything that is not plain YAML."""
    text, reader = _text(path), _Reader(path)
    try:
        node = _composed(text)
        if node is None:
            raise ConfigError(f"{path}: the file is empty")
        document = reader.value(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: not valid YAML: {_advice(error)}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply; a config needs a few levels only") from None
    if not isinstance(document, dict) and path.suffix.lower() in _TABLES:
        raise ConfigError(
            f"{path}: this is a table, not a config; `mmc fit {path} --target COLUMN` makes a classifier of it, "
            "and a study names it below `datasets`"
        )
    if not isinstance(document, dict):
        raise ConfigError(f"{path}:1: a config is a mapping of keys, such as title, datasets and methods")
    return document, reader.lines


def _composed(text: str) -> yaml.Node | None:
    loader = _Loader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    """Return the line of a key, or of the nearest part of the document that contains it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        there = (file.name for file in path.parent.glob("*.y*ml"))
        raise ConfigError(f"{path}: no such file{near_file(path.name, there)}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    if len(data) > LARGEST:
        raise ConfigError(f"{path}: larger than {LARGEST:,} bytes; is it a config?")
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from None
    for number, line_text in enumerate(text.split("\n"), 1):
        if (strange := _strange(line_text.rstrip("\r"))) is not None:
            raise ConfigError(f"{path}:{number}: the character {strange} cannot stand in a config; delete it")
    return text


def _strange(text: str, allowed: str = "\t") -> str | None:
    """Return the name of a character that is no text: a control character, or half of a surrogate pair."""
    found = (c for c in text if c not in allowed and unicodedata.category(c) in ("Cc", "Cs"))
    return next((f"U+{ord(c):04X}" for c in found), None)


def _advice(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong in a person's words."""
    problem, context = str(error.problem), str(error.context)
    if "'\\t'" in problem:
        return "a tab; indent with spaces"
    if "mapping values are not allowed" in problem:
        return "a colon inside text, or wrong indentation; put text with a colon in quotes"
    if "expected a single document" in context:
        return "a second document begins here ('---'); a config is one document"
    if "expected <block end>" in problem:
        return "the indentation does not fit the lines above"
    if "could not find expected ':'" in problem:
        return "a line without ':' among keys; is the line above continued, or a colon missing?"
    if "found undefined alias" in problem or "found unknown escape" in problem:
        return f"{problem}; put the text in quotes" if "alias" in problem else f"{problem}; use single quotes"
    if "unexpected end of stream" in problem or "but got '<stream end>'" in problem:
        return "the file ends inside quotes or brackets"
    return problem


class _Reader:
    """Makes a plain document of YAML's nodes, and notes the lines of its keys."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: dict[KeyPath, int] = {}
        self._count = 0

    def value(self, node: yaml.Node, path: KeyPath) -> JsonValue:
        """Return the value of a node."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._count += 1
        if self._count > MOST or len(path) > DEEPEST:
            many = f"more than {MOST:,} values" if self._count > MOST else "nested too deeply"
            raise self._error(node, f"{many}, aliases written out; a config is a short text")
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node)
        raise self._error(node, f"the tag {node.tag!r} is not for configs; leave it out")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for key, value in node.value:
            name = self._key(key)
            if name in found:
                raise self._error(key, f"{name!r} is given twice; keep one of them")
            self.lines[(*path, name)] = key.start_mark.line + 1
            found[name] = self.value(value, (*path, name))
        return found

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, "a key is text; put it in quotes")
        name = str(node.value)
        if (strange := _strange(name, "")) is not None:
            raise self._error(node, f"the character {strange} cannot stand in a key; delete it")
        if len(name) > LONGEST_KEY:
            raise self._error(node, f"a key of {len(name)} characters; take at most {LONGEST_KEY}")
        return name

    def _scalar(self, node: yaml.ScalarNode) -> JsonValue:
        try:
            value = _SCALARS[node.tag](node.value)
        except ValueError:
            raise self._error(node, f"{node.value[:40]!r} is no number that can be read; put text in quotes") from None
        if isinstance(value, str) and (strange := _strange(value, "\t\n")) is not None:
            raise self._error(node, f"the character {strange} cannot stand in a config; delete it")
        return value

    def _error(self, node: yaml.Node, text: str) -> ConfigError:
        return ConfigError(f"{self.file}:{node.start_mark.line + 1}: {text}")
