"""libsvm's (svmlight's) text format: ``label index:value index:value … # comment``, zeros left out.

Columns have no names in it: the label's column gets the name that the caller has for it, the others are x1, x2, …
Indices count from 1; if an index 0 occurs in the file they count from 0, and the first column is x0.
"""

from __future__ import annotations

from array import array

import numpy as np

from mmc.datasets.dataset import DataError
from mmc.datasets.reader import Reader, Source
from mmc.datasets.table import Table, brief

_BYTES_PER_COLUMN = 256  # of its name and its array, beside the values
_LARGEST_INDEX = 10**12


def read(source: Source) -> Table:
    """Return the table in the text; raise DataError for a token that is not ``index:value``."""
    path = source.path
    labels: list[str] = []
    lines: list[int] = []
    rows, indices, values = array("q"), array("q"), array("d")
    for line, content in enumerate(source.lines(), 1):
        tokens = content.partition("#")[0].split()
        if not tokens:
            continue
        if ":" in tokens[0]:
            raise DataError(f"{path}:{line}: the row starts with {brief(tokens[0], 60)!r}; its label must come first")
        last = -1
        for token in tokens[1:]:
            index, value = _split(token, path, line)
            if index <= last:
                raise DataError(f"{path}:{line}: index {index} follows index {last}; indices must ascend in a row")
            last = index
            rows.append(len(labels))
            indices.append(index)
            values.append(value)
        labels.append(tokens[0])
        lines.append(line)
        source.check_cells(len(labels), len(values) // 2)  # a value takes 24 bytes
    if not labels:
        raise DataError(f"{path} is empty; a libsvm file has one row per line: label index:value …")
    first = 0 if 0 in indices else 1
    width = max(indices, default=first - 1) - first + 1
    source.limit.check(8 * len(labels) * width, f"{path}: {len(labels)} rows of {width} features")
    source.limit.check(_BYTES_PER_COLUMN * width, f"{path}: {width} features, by the largest index,")
    dense = np.zeros((len(labels), width))  # the methods need dense arrays
    dense[np.asarray(rows), np.asarray(indices) - first] = values
    names = [source.target, *(f"x{first + column}" for column in range(width))]
    return Table(path, names, [labels, *dense.T], lines)


def _split(token: str, path: str, line: int) -> tuple[int, float]:
    index, colon, value = token.partition(":")
    if index == "qid":
        raise DataError(f"{path}:{line}: {token!r}: query ids are for ranking; remove them")
    try:
        if not (colon and index.isdecimal() and token.isascii()) or "_" in value:
            raise ValueError
        number = int(index)
        if number > _LARGEST_INDEX:
            raise ValueError
        return number, float(value)
    except ValueError:
        raise DataError(f"{path}:{line}: {brief(token, 60)!r} is not of the form index:value, like 3:0.5") from None


READERS = (Reader("libsvm", read, ("svm", "svmlight"), frozenset({"encoding"}), target="label"),)
