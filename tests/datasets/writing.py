"""One table, written in every format by the plainest means, so that the readers can be compared."""

import gzip
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet


def _quoted(cell):
    return '"' + str(cell).replace('"', '""') + '"'


def _arff_quoted(cell):
    return "'" + str(cell).replace("\\", "\\\\").replace("'", "\\'") + "'"


def write(folder: Path, format: str, X, y, names) -> Path:
    """Write features and labels to ``folder/table.<format>``, the labels last under the name ``target``."""
    path = folder / f"table.{format}"
    if format.removesuffix(".gz") in ("csv", "tsv"):
        comma = "," if format.startswith("csv") else "\t"
        rows = [comma.join(map(_quoted, [*names, "target"]))]
        rows += [comma.join([*map(repr, x), _quoted(label)]) for x, label in zip(X.tolist(), y, strict=True)]
        text = "\n".join(rows) + "\n"
    elif format == "arff":
        text = "% a table\n@RELATION t\n\n" + "".join(f"@attribute {_arff_quoted(n)} numeric\n" for n in names)
        text += f"@attribute target {{{','.join(map(_arff_quoted, sorted(set(y))))}}}\n@data\n"
        text += "".join(
            ",".join([*map(repr, x), _arff_quoted(label)]) + "\n" for x, label in zip(X.tolist(), y, strict=True)
        )
    elif format == "libsvm":
        text = "".join(
            " ".join([str(label), *(f"{j}:{v!r}" for j, v in enumerate(x, 1) if v or j == len(x))]) + "\n"
            for x, label in zip(X.tolist(), y, strict=True)
        )
    else:
        columns = {name: X[:, j] for j, name in enumerate(names)}
        parquet.write_table(pa.table({**columns, "target": [str(label) for label in y]}), path)
        return path
    path.write_bytes(gzip.compress(text.encode()) if format.endswith(".gz") else text.encode())
    return path
