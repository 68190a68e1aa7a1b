"""Little sets in the formats of the large ones, and a plain writer of .Z files, to compare the reader with."""

import hashlib
import json
import struct

import numpy as np

from mmc.datasets.registry import Entry, Part


def _sha(numbers):
    return hashlib.sha256(json.dumps(numbers.shape).encode() + numbers.tobytes()).hexdigest()


def make(layout, url="http://127.0.0.1:9/"):
    """Return (entry, plain contents by file, features, labels) of a set with 7 training and 5 test rows."""
    rng = np.random.default_rng(3)
    files, parts = {}, []
    X, y = np.empty((0, 4)), []

    def add(file, content, numbers):
        files[file] = content
        parts.append(Part(file, f"{url}{file}.gz", numbers.shape, _sha(numbers), also=(file.replace("-", "."),)))

    for name, rows in (("one-train", 7), ("one-test", 5)):
        labels = np.arange(rows) % 3 + 9
        if layout == "idx":
            values = rng.integers(0, 256, (rows, 2, 2)).astype(np.uint8)
            add(f"{name}-images", b"\0\0\x08\x03" + struct.pack(">3I", rows, 2, 2) + values.tobytes(), values)
            small = labels.astype(np.uint8)
            add(f"{name}-labels", b"\0\0\x08\x01" + struct.pack(">I", rows) + small.tobytes(), small)
        else:
            values = rng.integers(-1000, 1001, (rows, 4)) / 1000
            both = np.column_stack([labels, values] if layout == "label-first" else [values, labels])
            comma = " " if layout == "label-first" else ", "
            add(name, "".join(comma.join(f"{v:.4f}" for v in row) + " \n" for row in both).encode(), both)
        X, y = np.vstack([X, values.reshape(rows, 4)]), [*y, *map(str, labels)]
    counts = {label: y.count(label) for label in sorted(set(y))}
    digest = hashlib.sha256(b"[12, 4]" + X.astype("<f8").tobytes() + json.dumps(y).encode()).hexdigest()
    facts = dict.fromkeys(("description", "source", "licence", "citation"), "x")
    entry = Entry(
        "tiny", **facts, rows=12, features=4, classes=counts, content_hash=digest, kind="large", n_train=7,
        parts=tuple(parts), layout=layout,
    )  # fmt: skip
    return entry, files, X, y


def compress(content, widest=16, clear_at=()):
    """Return the content as a .Z file: codes are written one by one into a stream of bits; clears where told."""
    bits, group = [], 0
    width, table, word = 9, {bytes([v]): v for v in range(256)}, b""
    free, first = 257, True

    def emit(code):
        nonlocal group
        bits.extend(code >> i & 1 for i in range(width))
        group += 1

    def pad():
        nonlocal group
        bits.extend([0] * (-group % 8 * width))
        group = 0

    def put(code):  # the reader adds its entry one code later than the writer: the width follows the reader
        nonlocal width, free, first
        emit(code)
        if not first and free < 1 << widest:
            free += 1
        first = False
        if width < widest and free == 1 << width:
            pad()
            width += 1

    for at in range(len(content)):
        longer = word + content[at : at + 1]
        if longer in table:
            word = longer
            continue
        put(table[word])
        if len(table) + 1 < 1 << widest:
            table[longer] = len(table) + 1
        word = longer[-1:]
        if at in clear_at:
            emit(256)
            pad()
            width, table, free, first = 9, {bytes([v]): v for v in range(256)}, 257, True
    if word:
        put(table[word])
    bits.extend([0] * (-len(bits) % 8))
    return bytes([0x1F, 0x9D, 0x80 | widest]) + np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()
