"""Damaged stores: bits flipped, pages swapped, files cut off. What is shown is true, or there is a message.

``python -m tests.fuzz.stores`` prints what became of them.
"""

import argparse
import logging
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from mmc.experiments import render
from mmc.experiments.engines import engine
from mmc.experiments.errors import StoreError
from mmc.experiments.run import recall, run
from mmc.experiments.store import Store
from mmc.experiments.validation import load

STUDY = """\
title: small
datasets:
  two_norm: {options: {n_pos: 30, n_neg: 30}}
split: {kind: stratified-kfold, folds: 3, repetitions: 10}
methods:
  L: {method: lda}
  M: {method: mpm}
"""
PAGE = 4096


def flip(data, dice):
    """Flip one bit."""
    place = dice.randrange(len(data))
    data[place] ^= 1 << dice.randrange(8)


def flip_many(data, dice):
    """Flip a hundred bits."""
    for _ in range(100):
        flip(data, dice)


def flip_header(data, dice):
    """Flip a bit of SQLite's header."""
    data[dice.randrange(min(100, len(data)))] ^= 1 << dice.randrange(8)


def flip_digit(data, dice):
    """Turn a digit into another one: the text stays well formed."""
    places = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    if places:
        data[dice.choice(places)] = dice.randrange(48, 58)


def zero(data, dice):
    """Fill a page with zeros."""
    start = dice.randrange(0, len(data), PAGE)
    data[start : start + PAGE] = bytes(len(data[start : start + PAGE]))


def noise(data, dice):
    """Fill a page with noise."""
    start = dice.randrange(0, len(data), PAGE)
    data[start : start + PAGE] = dice.randbytes(len(data[start : start + PAGE]))


def swap(data, dice):
    """Swap two pages."""
    one, other = (dice.randrange(0, max(1, len(data) // PAGE)) * PAGE for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


def cut(data, dice):
    """Cut the file off."""
    del data[dice.randrange(len(data)) :]


def lengthen(data, dice):
    """Add noise at the end."""
    data += dice.randbytes(dice.randrange(1, 3 * PAGE))


DAMAGES = (flip, flip, flip_many, flip_header, flip_digit, flip_digit, zero, noise, swap, cut, lengthen)


def damaged(folder, dice):
    """Damage one of the files of a store; return how, in words."""
    file = dice.choice(sorted(folder.iterdir()))
    if dice.random() < 0.05:
        file.unlink()
        return f"deleted {file.suffix}"
    data = bytearray(file.read_bytes())
    how = dice.choice(DAMAGES)
    if data:
        how(data, dice)
    file.write_bytes(data)
    return f"{how.__name__} {file.suffix}"


def fuzz(count, seed):
    """Damage so many stores; return how many ended in which way, and the cases that must not be."""
    dice = random.Random(seed)
    ends, wrong = Counter(), []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "small.yaml").write_text(STUDY)
        config = load(root / "small.yaml")
        sound = [root / kind for kind in ("closed", "open")]
        with Store(sound[0] / "store.sqlite") as store:
            truth = run(config, store, engine(1))
        with Store(sound[1] / "store.sqlite") as store:  # its log is not yet in the file
            store.put(truth.records.values())
            store.commit()
            shutil.copytree(sound[1], root / "caught")
        sound[1] = root / "caught"
        table = render.to_csv(truth.table)

        def known(units):
            """The fits are the same every time, so they are not made again."""
            for unit in units:
                yield [truth.records[trial.key] for trial in unit.trials]

        for number in range(count):
            folder = root / str(number)
            shutil.copytree(dice.choice(sound), folder)
            how = damaged(folder, dice)
            try:
                if (folder / "store.sqlite").exists():
                    with Store(folder / "store.sqlite", readonly=True) as store:
                        shown = recall(config, store)
                    if any(record != truth.records[key] for key, record in shown.records.items()):
                        raise AssertionError("show would print what is not true")
                with Store(folder / "store.sqlite") as store:
                    again = run(config, store, known)
                if render.to_csv(again.table) != table:
                    raise AssertionError("the table is wrong")
                ends["right table"] += 1
            except StoreError:
                ends["one message"] += 1
            except Exception as error:
                ends["wrong or a traceback"] += 1
                wrong.append(f"case {number}, {how}: {error!r}")
            shutil.rmtree(folder)
    return ends, wrong


def main(arguments=None):
    """Print the counts; return 1 if a store led to a wrong table or a traceback."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.stores", description="Read damaged stores.")
    parser.add_argument("--count", type=int, default=440, help="how many stores")
    parser.add_argument("--seed", type=int, default=0, help="decides the damage")
    given = parser.parse_args(arguments)
    logging.getLogger("mmc").setLevel(logging.ERROR)
    ends, wrong = fuzz(given.count, given.seed)
    print(f"{given.count} damaged stores, seed {given.seed}")
    print(", ".join(f"{ends[word]} {word}" for word in ("right table", "one message", "wrong or a traceback")))
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
