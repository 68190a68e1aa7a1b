"""Mutated configs: whatever is done to a config, validation gives a plan of work or one clear error, in bounded time.

    python -m tests.fuzz.configs --count 20000 --seed 0

takes the bundled configs and small ones with a file, knowledge sets and reported numbers of their own, mutates each in a
way that its number and the seed decide (keys, values, types, text), and validates it as `mmc validate` does: reading, parameter
values, data and figures. It prints how many were clean (valid, or refused with a ConfigError), how many raised
something else, and how many took too long. ``--keep FOLDER`` saves those that were not clean.
"""

from __future__ import annotations

import argparse
import copy
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import yaml

from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError, UserError
from mmc.experiments.plan import absent, plan
from mmc.experiments.validation import check_figures, load
from mmc.experiments.values import check_values

SECONDS = 20
MOST_PLANNED = 3000  # trials of a valid config that are spelled out here

OWN = """\
title: own data
seed: 1
datasets:
  mine: {file: mine.csv, target: kind, positive: "10", separator: ";", missing: drop}
  both: {file: points.csv, target: kind, knowledge: sets.csv}
scale: minmax
split: {kind: partitions, train: 0.7, repetitions: 2}
costs: {pos: 5, neg: 1}
methods:
  SVM: {method: svm, tune: {grid: {"C_pos, C_neg": {logspace: [0.01, 10, 4]}}, folds: 2, metric: risk, first: 1}}
  B: {method: bsvm, kernel: rbf, gamma: 0.5, grid: [{C1: 1, C2: 2}, {C1: 3, C2: 4, rho1: 1, rho2: 2}], best: error}
measures: {band: {rho: [1, 1.5]}}
table: {rows: [dataset, C1], columns: [method], metrics: [risk, error, in_band], spread: se, decimals: 3, paired: SVM}
reported:
  file: own.csv
  where: {table: one}
  source: nowhere
  deviations: [{where: {dataset: mine, method: [SVM]}, reason: none}]
figures: {f: {kind: boundaries, methods: [SVM], dashed: [SVM]}}
"""
FILES = {
    "mine.csv": "a;b;kind\n" + "".join(f"{i % 7};{i * i % 11};{(2, 10)[i % 2]}\n" for i in range(30)),
    "points.csv": "u,v,kind\n" + "".join(f"{i % 5},{i * i % 13},{'ab'[i % 2]}\n" for i in range(30)),
    "sets.csv": "label,u,v,radius\na,1,2,0.5\nb,3,4,0.25\n",
    "reported/own.csv": "table,dataset,method,metric,value\none,mine,SVM,risk,3.5\none,mine,B,error,×\n",
}
ODD: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, -3, 0.5, 1e-300, 1e300, 10**30, -(10**400), 10**7, float("inf"), float("nan")),
    *("", " ", "yes", "0,2", "1e-3", "2024-01-01", "\x00", "\x1b[31m", "\ud800", "$", "[/x]", "é" * 300, "../../pwn"),
    *("error", "risk", "accuracy", "pima", "SVM", "svm", "rbf", "linear", "fixed", "libsvm", "dataset", "method"),
    *([], {}, [[]], [1, [2, [3]]], [None], {"a": 1}, {"linspace": [0, 1, -3]}, {"logspace": [-1, 0, 3]}),
    *({"linspace": [0, 1, 10**7]}, {"linspace": [1, 2]}, {"kind": "fixed"}, ["x"] * 50, list(range(200))),
)
WORDS = [
    "method",
    "tune",
    "grid",
    "best",
    "beside",
    "datasets",
    "options",
    "file",
    "target",
    "positive",
    "missing",
    "drop",
    "encode",
    "separator",
    "decimal",
    "encoding",
    "missing_values",
    "features",
    "name",
    "format",
    "part",
    "subsample",
    "pca",
    "knowledge",
    "label",
    "center",
    "radius",
    "matrix",
    "kind",
    "folds",
    "train",
    "repetitions",
    "redraw",
    "stratified",
    "seed",
    "scale",
    "multiclass",
    "costs",
    "measures",
    "claims",
    "table",
    "reported",
    "figures",
    "long",
    "paper",
    "notes",
    "kernel",
    "gamma",
    "degree",
    "solver",
    "solver_options",
    "ridge",
    "C",
    "C_pos",
    "C_neg",
    "eta_pos",
    "eta_neg",
    "metric",
    "x",
    "lines",
    "metrics",
    "rows",
    "columns",
]
TEXTS = (
    *(
        "\t",
        "\x00",
        "\x1b",
        "\x85",
        "\ufeff",
        ":",
        ": ",
        "- ",
        "---\n",
        "...",
        "&a ",
        "*a",
        "<<: *a",
        "? [a, b]\n: c\n",
    ),
    *("!!python/object/apply:os.system [ls]", "!!set {a}", "!!binary aGk=", "!!int x", "{" * 200, "[" * 3000, "'", '"'),
    *("#", "|", ">", "%YAML 9.9\n", "1:30", "010", "0x", "1_000", "9" * 5000, ".inf", "~", "2024-01-01", "\r", "\n\n"),
    "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b]\n"
    "d: &d [*c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e]\n",
    "a: &r [*r]\n",
)


class TooLong(Exception):
    """Validation took longer than the limit."""


@cache
def originals() -> list[str]:
    """Return the texts that are mutated."""
    toy = "smem_toy_circles", "bsvm_toy", "nath_figure4", "bmpm_sensitivity", "mmrm_usps"
    return [OWN, OWN, *(path.read_text("utf-8") for path in bundled().values())] + [
        bundled()[name].read_text("utf-8") for name in toy
    ]


@cache
def _document(text: str) -> object:
    return yaml.safe_load(text)


def places(node: object) -> Iterator[tuple[dict[str, object] | list[object], str | int]]:
    """Yield every (container, key) of a document."""
    keys: list[tuple[dict[str, object] | list[object], str | int]] = []
    if isinstance(node, dict):
        keys = [(node, key) for key in node]
    elif isinstance(node, list):
        keys = [(node, index) for index in range(len(node))]
    for container, key in keys:
        yield container, key
        yield from places(container[key])  # type: ignore[index]


def change(document: object, rng: random.Random) -> None:
    """Change one place of a document: another value, another key, one more, one less, twice the same."""
    container, key = rng.choice(list(places(document)) or [({}, "")])
    value = rng.choice((rng.choice(ODD), rng.choice(WORDS), rng.randint(-3, 50), rng.uniform(-1, 3)))
    other = rng.choice((rng.choice(WORDS), str(rng.choice(ODD)), str(key) + "x", str(key)[:-1]))
    kind = rng.randrange(6)
    if isinstance(container, dict):
        if kind == 0:
            container[other] = container.pop(str(key), value)
        elif kind == 1:
            container.pop(str(key), None)
        elif kind == 2:
            container[other] = copy.deepcopy(value)
        elif kind == 3:
            container[str(key)] = [container.get(str(key)), value]
        else:
            container[str(key)] = copy.deepcopy(value)
    elif kind == 0:
        del container[int(key)]
    elif kind == 1:
        container.insert(int(key), copy.deepcopy(value))
    elif kind == 2:
        container.append(copy.deepcopy(container[int(key)]))
    else:
        container[int(key)] = copy.deepcopy(value)


def mutated(number: int, seed: int) -> bytes:
    """Return the bytes of a mutated config."""
    rng = random.Random(f"{seed}/{number}")
    text = rng.choice(originals())
    if rng.random() < 0.75:
        document = copy.deepcopy(_document(text))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
            change(document, rng)
        try:
            flow = rng.random() < 0.3
            text = yaml.safe_dump(document, allow_unicode=True, sort_keys=False, default_flow_style=flow or None)
        except (yaml.YAMLError, ValueError, RecursionError):
            text = repr(document)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        for _ in range(rng.choice((1, 2, 5))):
            data = _text_changed(data, rng)
    return data


def _text_changed(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 3, 40)))
    put = rng.choice((rng.choice(TEXTS).encode("utf-8", "surrogatepass"), rng.randbytes(2), b"", data[:end][-30:]))
    return data[:start] + put + data[end:]


def validated(path: Path) -> str:
    """Validate a config as `mmc validate` does; return "valid", "refused", or what went wrong."""
    try:
        config = load(path)
        check_values(config)
        if config.experiment.trials() <= MOST_PLANNED and not absent(config, None):
            check_figures(config, plan(config))
        return "valid"
    except UserError as error:
        return "refused" if isinstance(error, ConfigError) and str(error).strip() else f"no words: {error!r}"
    except TooLong:
        return "hang"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        mine = next((f for f in reversed(frames) if "/experiments/" in f.filename), frames[-1])
        return f"{type(error).__name__} at {Path(mine.filename).name}:{mine.lineno} ({str(error)[:80]!r})"


def _ring(signum: int, frame: FrameType | None) -> None:
    raise TooLong


def run(count: int, seed: int, keep: Path | None = None, start: int = 0) -> Counter[str]:
    """Validate so many mutated configs, from the one with the number ``start``; return how they ended."""
    found: Counter[str] = Counter()
    before = signal.signal(signal.SIGPROF, _ring)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("error")
        folder = Path(name)
        (folder / "reported").mkdir()
        for file, text in FILES.items():
            (folder / file).write_text(text, "utf-8")
        for path in (bundled()["breast_cancer"].parent / "reported").iterdir():
            (folder / "reported" / path.name).write_bytes(path.read_bytes())
        for number in range(start, start + count):
            data = mutated(number, seed)
            path = folder / "study.yaml"
            path.write_bytes(data)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of work: a busy machine makes no hang
            try:
                ending = validated(path)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            found[ending] += 1
            if ending not in ("valid", "refused") and keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{number}.yaml").write_bytes(data)
    signal.signal(signal.SIGPROF, before)
    return found


def main() -> int:
    """Run the fuzzer from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first one, for runs in pieces")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    found = run(options.count, options.seed, options.keep, options.start)
    for ending, times in found.most_common():
        print(f"{times:7d}  {ending}")
    clean = found["valid"] + found["refused"]
    hangs = found["hang"]
    print(
        f"{options.count} configs from {options.start}, seed {options.seed}: {clean} clean, {options.count - clean - hangs} tracebacks, {hangs} hangs"
    )
    return int(clean != options.count)


if __name__ == "__main__":
    sys.exit(main())
