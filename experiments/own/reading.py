"""Tables as people have them: CSV, TSV, Parquet and Excel, in parts of bounded size.

Cells of text files stay text here; ``columns.py`` decides what they hold. A part of a large file may look different from
the whole: a column of numbers can begin with a thousand empty cells.
"""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pandas as pd

from mmc.experiments.own.errors import TableError
from mmc.words import nearest

ROWS = 40_000  # of one part
MISSING = (  # what a missing cell may hold: what pandas takes for one, and a question mark
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null", "?"),
)
_SEPARATORS = ",;\t|"
_NOT_UTF8 = "{} is not UTF-8 text; save it as “CSV UTF-8”"
_NO_FIT = "{}: a row does not fit the header ({}); check its quotes"
_LARGEST_SHEET = 1 << 30  # bytes unpacked: an Excel file is a zip archive and may hide a large one


def read(path: Path) -> pd.DataFrame:
    """Return the whole table."""
    parts = list(chunks(path))
    if not parts:
        raise TableError(f"{path} has no rows below its column names")
    return pd.concat(parts, ignore_index=True)


def chunks(path: Path, rows: int = ROWS) -> Iterator[pd.DataFrame]:
    """Yield the table in parts of so many rows, each numbered from where the last one ended."""
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise TableError(f"{path}: what kind of table is it? The name should end in one of {', '.join(_READERS)}")
    if not path.is_file():
        near = [file.name for file in path.parent.glob("*") if file.suffix.lower() in _READERS]
        hint = f"; {nearest(path.name, near)}" if near else ""
        raise TableError(f"{path}: no such file{hint}")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty; its first line must hold the column names")
    start = 0
    for part in _READERS[kind](path, rows):
        if part.empty:
            continue
        yield part.set_axis(pd.RangeIndex(start, start + len(part)), axis="index")
        start += len(part)


def _names(path: Path, names: list[str]) -> list[str]:
    """Return the column names; one without a name gets its number (pandas writes its index like this)."""
    found = [name.strip() or f"unnamed {number}" for number, name in enumerate(names, 1)]
    for name, times in Counter(found).items():
        if times > 1:
            raise TableError(f"{path}: two columns are called {name!r}; rename or remove one of them")
    return found


def header(path: Path) -> tuple[list[str], str, int]:
    """Return the column names of a text file, what separates its cells, and how many lines the names take."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            tab = path.suffix.lower() == ".tsv"
            separator = "\t" if tab else max(_SEPARATORS, key=lambda mark: (first.count(mark), mark == ","))
            file.seek(0)
            lines = csv.reader(file, delimiter=separator)
            return _names(path, next(lines, [])), separator, lines.line_num
    except UnicodeDecodeError:
        raise TableError(_NOT_UTF8.format(path)) from None
    except csv.Error as error:
        raise TableError(_NO_FIT.format(path, error)) from None


def _delimited(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    names, separator, _ = header(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows that are longer than the header
            with pd.read_csv(
                path,
                sep=separator,
                names=names,
                header=0,
                dtype=str,
                index_col=False,
                na_values=list(MISSING),
                keep_default_na=False,
                skipinitialspace=True,
                encoding="utf-8-sig",
                chunksize=rows,
            ) as parts:
                yield from parts
    except UnicodeDecodeError:
        raise TableError(_NOT_UTF8.format(path)) from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise TableError(_NO_FIT.format(path, str(error).strip())) from None


def _parquet(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            for field in schema:
                if pa.types.is_nested(field.type):
                    raise TableError(f"{path}: column {field.name!r} holds {field.type}; each cell must hold one value")
            names = _names(path, list(schema.names))
            for batch in file.iter_batches(batch_size=rows):
                yield batch.to_pandas(ignore_metadata=True).set_axis(names, axis="columns")
    except pa.ArrowException as error:
        raise TableError(f"{path} is not a Parquet file that can be read ({str(error).splitlines()[0]})") from None


def _excel(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    """Yield the first sheet."""
    import openpyxl

    try:
        with ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST_SHEET:
                raise TableError(f"{path} unpacks to more than 1 GiB; save it as CSV or Parquet")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and rules that are of no use here
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            cells = book.worksheets[0].iter_rows(values_only=True)
            names = _names(path, ["" if name is None else str(name) for name in next(cells, ())])
            if not names:
                raise TableError(f"{path}: the first sheet is empty; its first row must hold the column names")
            while part := list(islice(cells, rows)):
                kept = [row[: len(names)] for row in part if any(cell is not None for cell in row)]
                yield pd.DataFrame(kept, columns=names, dtype=object).replace("", None)
        finally:
            book.close()
    except (BadZipFile, KeyError, IndexError, OSError, ValueError) as error:
        raise TableError(f"{path} is not an Excel file that can be read ({error}); save it as .xlsx or CSV") from None


_READERS: dict[str, Callable[[Path, int], Iterator[pd.DataFrame]]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".txt": _delimited,
    ".parquet": _parquet,
    ".xlsx": _excel,
}
