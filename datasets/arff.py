"""Dense ARFF: ``@relation``, one ``@attribute`` per column, ``@data``, then rows of comma-separated values.

Numeric and nominal attributes are read; a string or date attribute may stand in the file as long as it is not used as a
feature. ``%`` starts a comment line. Names and values may be quoted by ' or ", with backslash escapes inside.
"""

from __future__ import annotations

import re

from mmc.datasets.dataset import DataError
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Table, brief, hint

# Possessive (*+): what is taken is not given back, so that each pattern looks at every character once.
_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_NAME = re.compile(rf"@attribute\s++({_QUOTED}|[^\s'\"{{]++)\s*+", re.IGNORECASE)
_VALUE = re.compile(rf"\s*+({_QUOTED}|[^,'\"]*+)\s*+(,|$)")
_NOMINAL = re.compile(rf"\s*+({_QUOTED}|[^,'\"}}]*+)\s*+([,}}])")
_ESCAPE = re.compile(r"\\(.)")
_TYPES = ("numeric", "real", "integer", "string", "date", "relational")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


def read(source: Source) -> Table:
    """Return the table in the text; raise DataError where it is not dense ARFF."""
    path, missing = source.path, source.notation.missing
    names: list[str] = []
    nominal: dict[int, set[str]] = {}
    rows: list[list[str]] = []
    lines: list[int] = []
    in_data = False
    for number, line in enumerate(source.lines(), 1):
        line = line.strip()
        place = f"{path}:{number}"
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append(_row(line, place, names, nominal, missing))
            lines.append(number)
            source.check_cells(len(rows), len(rows) * len(names))
        elif word == "@attribute":
            name, values = _attribute(line, place)
            if values is not None:
                nominal[len(names)] = values
            names.append(name)
        elif word == "@data":
            in_data = True
        elif word != "@relation":
            raise DataError(
                f"{place}: {brief(line, 60)!r} is not an ARFF declaration; before the rows there are @relation, "
                "@attribute and @data"
            )
    if not names:
        what = "has no @attribute" if in_data or source.data.strip() else "is empty"
        raise DataError(f"{path} {what}; an ARFF file declares its columns before @data")
    if not in_data:
        raise DataError(f"{path}: there is no @data line; the rows stand below it")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return Table(path, names, columns, lines)


def _attribute(line: str, place: str) -> tuple[str, set[str] | None]:
    """Return the name and, of a nominal attribute, the declared values."""
    match = _NAME.match(line)
    kind = line[match.end() :] if match else ""
    if not match or not kind or kind.startswith("%"):
        raise DataError(f"{place}: {brief(line, 60)!r} is not of the form: @attribute name type")
    name = _unquote(match[1])
    if kind.startswith("{"):
        return name, set(_values(_NOMINAL, line, place, match.end() + 1))
    word = kind.split("%")[0].split()[0].lower()
    if word not in _TYPES:
        raise DataError(
            f"{place}: attribute {brief(name, 60)!r} has no known type {brief(word, 60)!r}: {hint(word, _TYPES)}"
        )
    if word == "relational":
        raise DataError(
            f"{place}: attribute {brief(name, 60)!r} is relational, which is not supported; flatten it into columns"
        )
    return name, None


def _row(line: str, place: str, names: list[str], nominal: dict[int, set[str]], missing: frozenset[str]) -> list[str]:
    if line.startswith("{"):
        raise DataError(f"{place}: sparse ARFF is not supported; write the rows densely, or use the libsvm format")
    cells = _values(_VALUE, line, place)
    if len(cells) != len(names):
        raise DataError(f"{place}: {len(cells)} cells where the header declares {len(names)} attributes")
    for column, allowed in nominal.items():
        cell = cells[column]
        if cell not in allowed and cell.lower() not in missing:
            raise DataError(
                f"{place}: column {names[column]!r}: {brief(cell, 60)!r} is not one of its declared values: "
                f"{hint(cell, sorted(allowed))}"
            )
    return cells


def _values(pattern: re.Pattern[str], line: str, place: str, position: int = 0) -> list[str]:
    """Return the values from a position on, up to the first that no comma follows."""
    values, more = [], True
    while more:
        match = pattern.match(line, position)
        if not match:
            raise DataError(f"{place}: {brief(line[position:].strip(), 60)!r}: a quote is not closed, or is misplaced")
        values.append(_unquote(match[1].strip()))
        position, more = match.end(), match[2] == ","
    return values


def _unquote(text: str) -> str:
    if text[:1] not in {"'", '"'}:
        return text
    return _ESCAPE.sub(lambda match: _CONTROL.get(match[1], match[1]), text[1:-1])


READERS = (Reader("arff", read, options=frozenset({"encoding"})),)
