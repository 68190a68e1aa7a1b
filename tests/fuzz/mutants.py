"""Mutants: small faults put into methods/ and experiments/, one at a time. The tests that touch the module must notice.

``python -m tests.fuzz.mutants --count 300 --seed 0`` prints the share that is killed and every survivor. A mutant is killed
if a test fails or hangs. Only tests that name the module are run, so that the share is a lower bound. Not in ``make test``.
"""

import argparse
import ast
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("cli", "configs", "datasets", "experiments", "methods")
MUTATED = ("methods", "experiments")
SECONDS = 240
_COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """A fault: the file, the line, what it was, and the whole text with the fault in it."""

    file: Path
    line: int
    kind: str
    before: str
    after: str
    text: str

    def __str__(self):
        return f"{self.file.as_posix()}:{self.line}: {self.kind}: {self.before} -> {self.after}"


def _changes(node):
    """Yield what can be changed about a node: the kind of change, the field, its new value."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        yield "comparison", "ops", [_COMPARED[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield "arithmetic", "op", _COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        yield "and/or", "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield "constant", "value", node.value + 1 if isinstance(node.value, int) else node.value * 1e4 or 1.0
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "condition", "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", "op", ast.UAdd()


def _code(tree):
    """Yield the nodes that run: no annotations, no text of errors, no __all__."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "exc", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.AST):
                yield child
                yield from _code(child)


def _sites(tree):
    """Return all places of a file that can be changed: the node, and what its change is."""
    return [(node, *change) for node in _code(tree) for change in _changes(node)]


def mutant(file, number):
    """Return a mutant of a file by its number."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    node, kind, field, new = _sites(tree)[number]
    before = ast.unparse(node).partition("\n")[0]
    setattr(node, field, new)
    after = ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]
    return Mutant(file, node.lineno, kind, before[:100], after[:100], ast.unparse(tree))


def tests_of(file):
    """Return the test files that name a module, those that mirror it first."""
    module = ".".join(file.with_suffix("").parts)
    words = (f"mmc.{module} ", f"mmc.{module}\n", f'"{module}', f"from mmc.{module.rpartition('.')[0]} import")
    mirrored, named = [], []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        if {"fuzz", "engines"} & set(test.parts):  # slow, and about processes
            continue
        text = test.read_text("utf-8")
        if test.stem == f"test_{file.stem}":
            mirrored.append(test)
        elif any(word in text for word in words[:3]) or (words[3] in text and file.stem in text):
            named.append(test)
    if len(file.parts) > 2 and file.parts[0] == "methods":  # a solver or problem is tested through its estimators
        of_methods = [test for test in sorted((ROOT / "tests/methods").glob("test_*.py")) if test not in named]
        named += [test for test in of_methods if file.stem in test.read_text("utf-8")]
    return [test.relative_to(ROOT) for test in [*mirrored, *named]] or [
        test.relative_to(ROOT) for test in sorted((ROOT / "tests" / file.parts[0]).glob("test_*.py"))
    ]


def copied(folder):
    """Lay the project out in a folder as it is imported, so that its modules come before the installed ones."""
    shutil.copytree(ROOT / "mmc", folder / "mmc", ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / "mmc" / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests", "benchmarks", "results", "docs", "configs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png", "*.sqlite"))
    for name in ("README.md", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, folder / name)


def _in_child(folder, tests):
    """Run tests in a child process; return its exit code, or None if it took too long."""
    child = os.fork()
    if not child:
        try:
            os.setsid()
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            sys.path[:] = [str(folder), *(place for place in sys.path if place not in ("", str(ROOT)))]
            for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "mmc")]:
                del sys.modules[name]
            sys.dont_write_bytecode = True
            os.environ["PYTHONPATH"] = str(folder)
            import pytest

            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *map(str, tests)]))
        except BaseException:
            code = 99
        os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def survives(fault, folder, passing):
    """Whether no test notices a mutant. ``passing`` keeps which tests pass without a fault: others prove nothing."""
    tests = tests_of(fault.file)
    for test in tests:
        if test not in passing:
            passing[test] = _in_child(folder, [test]) == 0
    place = folder / "mmc" / fault.file
    right = place.read_text("utf-8")
    place.write_text(fault.text, "utf-8")
    try:
        return all(_in_child(folder, [test]) == 0 for test in tests if passing[test])
    finally:
        place.write_text(right, "utf-8")


def sample(count, seed):
    """Return so many mutants of all files, each equally likely."""
    files = [f.relative_to(ROOT) for room in MUTATED for f in sorted((ROOT / room).rglob("*.py"))]
    everything = [
        (file, number) for file in files for number in range(len(_sites(ast.parse((ROOT / file).read_text("utf-8")))))
    ]
    chosen = random.Random(seed).sample(everything, min(count, len(everything)))
    return [mutant(*place) for place in chosen], len(everything)


def main():
    """Print what became of a sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="leave out so many of the sample, those of an earlier run")
    parser.add_argument("--stop", type=int, default=None)
    parser.add_argument("--passing", type=Path, help="a file that keeps which tests pass, for a run in parts")
    given = parser.parse_args()
    import pytest  # noqa: F401, what every child needs is imported once
    import sklearn.utils.estimator_checks  # noqa: F401

    chosen, total = sample(given.count, given.seed)
    print(f"{len(chosen)} of {total} mutants, seed {given.seed}", flush=True)
    ends, passing = Counter(), {}
    if given.passing and given.passing.exists():
        passing = {Path(test): fine for test, fine in json.loads(given.passing.read_text("utf-8")).items()}
    with tempfile.TemporaryDirectory() as place:
        copied(folder := Path(place))
        for number, fault in enumerate(chosen[given.start : given.stop], given.start + 1):
            end = "survived" if survives(fault, folder, passing) else "killed"
            ends[fault.file.parts[0], end] += 1
            killed = sum(n for (_, how), n in ends.items() if how == "killed")
            print(f"{number} {end} ({killed} killed): {fault}", flush=True)
    if given.passing:
        given.passing.write_text(json.dumps({str(test): fine for test, fine in passing.items()}), "utf-8")
    if broken := [str(test) for test, fine in passing.items() if not fine]:
        print(f"left out, since they fail without a fault: {', '.join(broken)}")
    for room in MUTATED:
        killed, survived = ends[room, "killed"], ends[room, "survived"]
        print(f"{room}: {killed} of {killed + survived} killed")


if __name__ == "__main__":
    main()
