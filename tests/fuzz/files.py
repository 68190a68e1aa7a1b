"""Damaged data files: whatever is done to a file, its reader gives a data set or one clear error, in bounded time and memory.

    python -m tests.fuzz.files --count 3000 --seed 0

makes small valid files in every format, damages each in a way that its number and the seed decide, and loads them in worker
processes. It prints how many ended cleanly (a data set, or a DataError), with another exception, with a dead process, not
within the time limit, or with more memory than the limit. ``--keep FOLDER`` saves those that did not end cleanly.
"""

from __future__ import annotations

import argparse
import gzip
import io
import multiprocessing
import random
import re
import resource
import struct
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from datetime import date
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
from pyarrow import parquet

from mmc.datasets import DataError, load_file
from mmc.datasets.bounds import Limit
from mmc.datasets.unpacking import unpack
from tests.datasets.tiny import compress

SECONDS = 10.0
MEGABYTES = 512  # beside what the process had before
_LIMIT = 64 << 20
_NUMBERS = (0, 1, 2, 127, 128, 255, 256, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_TEXTS = (
    "1e999",
    "-inf",
    "9" * 400,
    "99999999999",
    '"',
    "'",
    "\n",
    "\r",
    ",",
    ";",
    "\t",
    "\0",
    "é",
    " " * 5000,
    "{",
    "}",
    "%",
    "?",
    ":",
)

CSV = (
    "a,b,colour,day,kind\n1,2.5,red,2020-01-02,x\n-3e2,,blue,2021-05-06,y\n7,?,red,1999-12-31,x\n"
    + "4,5,blue,,y\n" * 20
)
ARFF = (
    "% note\n@relation 'r r'\n@attribute a real\n@attribute \"b c\" integer\n@attribute note string\n"
    "@attribute kind {x,'y z'}\n@data\n1,2,'it\\'s',x\n?,3,\"a,b\",'y z'\n" + "5,6,?,x\n" * 10
)
LIBSVM = "+1 1:0.5 3:2e3 # note\n-1 2:7\n" * 10
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"encode": True, "missing": "impute"},
    {"missing": "error"},
    {"missing_values": ["red", 7], "features": ["a"]},
)


def _parquet(compression: str, dictionary: bool) -> bytes:
    table = pa.table(
        {
            "a": pa.array([1, None, 3] * 10),
            "b": pa.array([0.5, 1.5, float("nan")] * 10, pa.float32()),
            "flag": pa.array([True, False, None] * 10),
            "day": pa.array([date(2020, 1, 2), None, date(1999, 1, 1)] * 10),
            "list": pa.array([[1, 2], [], None] * 10),
            "kind": pa.array(["x", "y", "x"] * 10),
        }
    )
    stream = io.BytesIO()
    parquet.write_table(table, stream, compression=compression, use_dictionary=dictionary, row_group_size=16)
    return stream.getvalue()


def _xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row in [
        ["a", "day", "colour", "kind"],
        [1, date(2020, 1, 2), "red", "x"],
        [2.5, None, None, "y"],
        [True, None, "blue", "x"],
    ]:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    members = _members(stream.getvalue())
    core = "docProps/core.xml"
    members[core] = re.sub(rb"\d{4}-[\d:T-]+Z", b"2020-01-02T03:04:05Z", members[core])  # the same file at every time
    return pack_zip(members)


def pack_zip(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@cache
def samples() -> dict[str, bytes]:
    """Return a valid file of every kind. Two files of one format have names that differ before the first point."""
    text = CSV.encode()
    idx = b"\0\0\x08\x03" + struct.pack(">3I", 7, 2, 2) + bytes(28)
    return {
        "plain.csv": text,
        "plain.tsv": text.replace(b",", b"\t"),
        "semicolon.csv": text.replace(b",", b";"),
        "packed.csv.gz": gzip.compress(text, mtime=0),
        "packed.csv.Z": compress(text),
        "packed.csv.zip": pack_zip({"packed.csv": text}),
        "plain.arff": ARFF.encode(),
        "plain.libsvm": LIBSVM.encode(),
        "snappy.parquet": _parquet("snappy", True),
        "zstd.parquet": _parquet("zstd", False),
        "bare.parquet": _parquet("none", True),
        "gzip.parquet": _parquet("gzip", True),
        "book.xlsx": _xlsx(),
        "download.gz": gzip.compress(idx, mtime=0),
        "download.Z": compress(idx * 40),
        "download.zip": pack_zip({"inner/one.Z": compress(idx), "readme": b"x"}),
    }


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return the data with a few kinds of damage."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        size = len(content)
        start = rng.randrange(size + 1)
        part = bytes(content[start : start + rng.randrange(1, 2 + size // 4)])
        match rng.randrange(9):
            case 0 if size:
                content[rng.randrange(size)] ^= 1 << rng.randrange(8)
            case 1 if size:
                content[rng.randrange(size)] = rng.choice((0, 1, 10, 34, 44, 127, 128, 255))
            case 2:
                del content[start:]
            case 3:
                del content[start : start + len(part)]
            case 4:
                content[start:start] = part * rng.choice((1, 2, 50))
            case 5:
                content[start:start] = rng.randbytes(rng.randrange(1, 9))
            case 6:
                content[start : start + 4] = struct.pack(rng.choice("<>") + "I", rng.choice(_NUMBERS))
            case 7:
                content[start:start] = rng.choice(_TEXTS).encode()
            case 8:
                content[start : start + len(part)] = other[rng.randrange(len(other)) :][: len(part)]
    return bytes(content)


def make(number: int, seed: int) -> tuple[str, bytes, dict[str, Any]]:
    """Return the name, the content and the options of a damaged file. Half of the packed ones are damaged inside."""
    rng = random.Random(f"{seed} {number}")
    files = samples()
    name = list(files)[number % len(files)]
    data, other = files[name], rng.choice(list(files.values()))
    if name.endswith((".zip", ".xlsx")) and rng.random() < 0.6:
        members = _members(data)
        hit = rng.choice(list(members))
        members[hit] = mutate(rng, members[hit], other)
        data = pack_zip(members)
    elif name.endswith(".gz") and rng.random() < 0.5:
        data = gzip.compress(mutate(rng, gzip.decompress(data), other), mtime=0)
    else:
        data = mutate(rng, data, other)
    return name, data, rng.choice(OPTIONS)


def outcome(path: Path, options: dict[str, Any]) -> str:
    """Return how reading a file ends: "clean", or "traceback" with the exception and where it was raised."""
    try:
        if path.name.startswith("download"):
            unpack(path.read_bytes(), str(path), ("one",), Limit(_LIMIT))
        else:
            load_file(path, target="kind", max_bytes=_LIMIT, **options)
    except DataError as error:
        if not str(error).isprintable():
            return f"traceback: a message with control characters: {str(error)!r}"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"traceback: {type(error).__name__}: {str(error)[:80]} ({Path(frame.filename).name}:{frame.lineno})"
    return "clean"


def _work(connection: Connection, seed: int, folder: str) -> None:
    """Load the files whose numbers come in; send back how each ended."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while (number := connection.recv()) is not None:
        name, data, options = make(number, seed)
        path = Path(folder) / name
        path.write_bytes(data)
        ended = outcome(path, options)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        connection.send(f"memory: {grown:.0f} MB" if grown > MEGABYTES else ended)


class Worker:
    """A process that loads files, and is replaced when it hangs, dies or has grown."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._folder = tempfile.TemporaryDirectory(prefix="mmc-fuzz-")
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, far = context.Pipe()
        self._process = context.Process(target=_work, args=(far, self._seed, self._folder.name), daemon=True)
        self._process.start()
        far.close()

    def load(self, number: int, seconds: float = SECONDS) -> str:
        """Return how a file ends: "clean", or "traceback", "hang", "crash" or "memory" with what is known of it."""
        try:
            self._connection.send(number)
            ended: str = self._connection.recv() if self._connection.poll(seconds) else f"hang: over {seconds:g} s"
        except (EOFError, OSError):
            self._process.join(5)
            ended = f"crash: the process died ({self._process.exitcode})"
        if ended.startswith(("hang", "crash", "memory")):
            self._end()
            self._start()
        return ended

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def close(self) -> None:
        """End the process and remove its folder."""
        self._end()
        self._folder.cleanup()


def run(numbers: range, seed: int) -> dict[int, str]:
    """Return how each of the numbered files ended."""
    worker = Worker(seed)
    try:
        worker.load(0, 120)  # the first one waits for imports
        return {number: worker.load(number) for number in numbers}
    finally:
        worker.close()


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; return 1 if a file did not end cleanly."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files", description="Load damaged data files.")
    parser.add_argument("--count", type=int, default=3000, help="how many files")
    parser.add_argument("--seed", type=int, default=0, help="decides the damage")
    parser.add_argument("--keep", type=Path, help="a folder for the files that did not end cleanly")
    given = parser.parse_args(arguments)
    ended = run(range(given.count), given.seed)
    counts = Counter(text.split(":")[0] for text in ended.values())
    print(f"{given.count} files, seed {given.seed}, at most {SECONDS:g} s and {MEGABYTES} MB each")
    print(", ".join(f"{counts[word]} {word}" for word in ("clean", "traceback", "hang", "crash", "memory")))
    for number, text in ended.items():
        if text != "clean":
            name, data, _ = make(number, given.seed)
            print(f"  {number} {name}: {text}")
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{number} {name}").write_bytes(data)
    return int(counts["clean"] < given.count)


if __name__ == "__main__":
    sys.exit(main())
