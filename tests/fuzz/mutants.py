"""Mutants: small faults put into methods/ and experiments/, one at a time. A test that runs the line must notice.

``python -m tests.fuzz.mutants --record`` runs the tests once and keeps which of them run which lines (with ``coverage``), in
build/mutants. ``python -m tests.fuzz.mutants --count 300 --seed 0`` then puts in one fault after the other and runs only these
tests, the quickest first, until one fails, each fault in a fork of one process that has collected all tests. Not in ``make test``.

A fault inside a function is swapped in as its code; any other (a constant of a module, a default, a compiled loop, a function
whose answers are kept) takes a new import. Coverage does not see compiled code: it has the tests of the modules that import it. A mutant is killed if a test fails that passes without it, or needs many times its processor time. It survives if no
test runs the line, if all that were run pass, and if they would take longer than ``--seconds``: the share is a lower bound.
Numbers in annotations and in the text of errors and warnings are no mutants.
"""

import argparse
import ast
import contextlib
import gc
import importlib.util
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, FunctionType

import psutil
import pytest

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "build" / "mutants"
MUTATED = ("methods", "experiments")
EVERYWHERE = "tests/test_values.py"  # looks at all modules
ASKED = [
    "tests/methods",
    "tests/experiments",
    "tests/cli",
    "tests/test_reference.py",
    "tests/test_labels.py",
    EVERYWHERE,
]
LEFT_OUT = ("tests/experiments/engines",)  # about processes: a fault there is asked no test, and survives
FILES = 6  # test files that are collected anew for a fault that runs on import
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
    """A fault: the file, the line, what it was, the changed tree, and the function around it (None: it runs on import)."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    tree: ast.Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | None

    def __str__(self):
        return f"{self.file}:{self.line}: {self.kind}: {self.before} -> {self.after}"

    @property
    def module(self):
        return "mmc." + ".".join(Path(self.file).with_suffix("").parts).removesuffix(".__init__")

    @property
    def on_import(self):
        """Whether the line runs on import, is compiled, or its answers may be kept already: swapping code would not do."""
        return self.function is None or any(
            word in ast.unparse(one) for one in self.function.decorator_list for word in ("compiled", "cache")
        )

    @property
    def undone(self):
        """The same place without the fault."""
        return replace(self, tree=ast.parse((ROOT / self.file).read_text("utf-8")))

    def code(self):
        """Return the changed code of the whole module; the lines are as before."""
        return compile(self.tree, str(ROOT / self.file), "exec", dont_inherit=True)


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


def _says(node):
    """Whether a node is the text of a warning, or only there for types."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith(("warn", "_warn"))
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _code(node, function=None):
    """Yield the nodes that run, each with the outermost function around it: no annotations, no text of errors."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "exc", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _says(child):
                continue
            within = function
            if within is None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and field == "body":
                within = node
            yield child, within
            yield from _code(child, within)


def _sites(tree):
    """Return all places of a file that can be changed: the node, the function around it, and what its change is."""
    return [(node, within, *change) for node, within in _code(tree) for change in _changes(node)]


def mutant(file, number):
    """Return a mutant of a file by its number."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    node, within, kind, field, new = _sites(tree)[number]
    line = getattr(node, "test", node).lineno  # of an `if` whose condition starts on the next line, that one is run
    before = ast.unparse(node).partition("\n")[0]
    setattr(node, field, new)
    ast.fix_missing_locations(tree)
    after = ast.unparse(node).partition("\n")[0]
    return Mutant(file, line, kind, before[:100], after[:100], tree, within)


@cache
def _texts():
    """Return the text of every file that faults are put into."""
    files = [file for room in MUTATED for file in sorted((ROOT / room).rglob("*.py"))]
    return {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files}


def _importers(module):
    """Return the files that import a module."""
    room, _, name = module.rpartition(".")
    wanted = re.compile(rf"^\s*(from {module} |import {module}\b|from {room} import .*\b{name}\b)", re.MULTILINE)
    return [file for file, text in _texts().items() if wanted.search(text)]


def sample(count, seed):
    """Return so many mutants of all files, each equally likely."""
    everything = [(file, number) for file, text in _texts().items() for number in range(len(_sites(ast.parse(text))))]
    chosen = random.Random(seed).sample(everything, min(count, len(everything)))
    return [mutant(*place) for place in chosen], len(everything)


class Recorder:
    """A pytest plugin that keeps which test runs which lines, and how long it takes."""

    def __init__(self, name):
        import coverage

        KEPT.mkdir(parents=True, exist_ok=True)
        self.durations, self.kept = {}, KEPT / f"{name}.json"
        data = KEPT / f"{name}.coverage"
        data.unlink(missing_ok=True)
        source = [str(ROOT / room) for room in MUTATED]
        self.coverage = coverage.Coverage(data_file=str(data), source=source, config_file=False, messages=False)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report):
        seconds, fine = self.durations.get(report.nodeid, (0.0, True))
        self.durations[report.nodeid] = (seconds + report.duration, fine and not report.failed)

    def pytest_sessionfinish(self):
        self.coverage.stop()
        self.coverage.save()
        self.kept.write_text(json.dumps(self.durations), "utf-8")


class Known:
    """What was recorded: the tests that pass, how long each takes, and which of them run a line."""

    def __init__(self):
        import coverage

        self.durations, self.data = {}, []
        for kept in sorted(KEPT.glob("*.json")):
            found = json.loads(kept.read_text("utf-8"))
            self.durations |= {test: seconds for test, (seconds, fine) in found.items() if fine}
            self.data.append(coverage.CoverageData(str(kept.with_suffix(".coverage"))))
            self.data[-1].read()

    @cache  # noqa: B019, one object lives as long as the process
    def lines(self, file):
        """Return the tests that run each line of a file, but for those that only look at it."""
        found, asked = {}, {test for test in self.durations if _file(test) != EVERYWHERE}
        for data in self.data:
            for line, tests in data.contexts_by_lineno(str(ROOT / file)).items():
                found.setdefault(line, set()).update(test for test in tests if test in asked)
        return found

    def of_files(self, files):
        """Return the tests that run any line of these files."""
        return set().union(*(tests for file in files for tests in self.lines(file).values()))

    def tests(self, fault, seconds):
        """Return the tests to run: those of the line, the quickest first, then others of their files; in so many seconds.

        A line that only runs on import has the tests of its whole module, one that is compiled also those of the modules
        that import it. Others of the same files come after, since a fixture or a cache may have run the line for them.
        """
        if f"tests/{fault.file}".startswith(LEFT_OUT):
            return [], 0
        first = (f"/test_{Path(fault.file).stem}.py", *([EVERYWHERE] if fault.function is None else []))
        direct = self.lines(fault.file).get(fault.line, set())
        if fault.on_import:
            near = [fault.file] if fault.function is None else [fault.file, *_importers(fault.module)]
            direct = direct or self.of_files(near)
            most = dict(Counter(map(_file, direct)).most_common(FILES))
            direct = {test for test in direct if _file(test) in most}
            direct |= {test for test in self.durations if _file(test).endswith(first)}
        files = set(map(_file, direct))
        beside = {test for test in self.durations if _file(test) in files} - direct
        order = [
            *sorted(direct, key=lambda test: (not _file(test).endswith(first), self.durations[test])),
            *sorted(beside, key=self.durations.get),
        ]
        chosen, total = [], 0.0
        for test in order:
            total += self.durations[test] if _file(test) != EVERYWHERE else 0.0  # it takes long for its imports alone
            if total > seconds and chosen:
                break
            chosen.append(test)
        return chosen, len(order)


def _file(test):
    return test.partition("::")[0]


def _codes(code):
    """Yield a code object and all inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def swapped(fault):
    """Give every living function at the fault's place the changed code; return whether there was one."""
    decorators = [one.lineno for one in fault.function.decorator_list]
    first, name = min([fault.function.lineno, *decorators]), fault.function.name
    new = next(c for c in _codes(fault.code()) if c.co_name == name and c.co_firstlineno == first)
    alive = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
    at_place = [one for one in alive if (one.__code__.co_name, one.__code__.co_firstlineno) == (name, first)]
    here = [one for one in at_place if Path(one.__code__.co_filename).resolve() == (ROOT / fault.file).resolve()]
    for one in here:
        one.__code__ = new
    return bool(here)


class _Faulty(MetaPathFinder):
    """Imports one module with a fault in it."""

    def __init__(self, fault):
        self.fault = fault

    def find_spec(self, name, path=None, target=None):
        if name != self.fault.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        spec.loader.get_code = lambda _: self.fault.code()
        return spec


def _waited_for(child):
    """Wait for a process, and end one that has used no processor time for a minute: it waits for something for ever."""
    used, since = -1.0, time.monotonic()
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        now = sum(psutil.Process(child).cpu_times()[:2])
        if now > used:
            used, since = now, time.monotonic()
        elif time.monotonic() > since + 60:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            return os.waitpid(child, 0)
        time.sleep(0.02)
    return done


class Attack:
    """A pytest plugin that puts in fault after fault in place of running the tests."""

    def __init__(self, faults, start, known, seconds, out):
        self.faults, self.start, self.known, self.seconds, self.out = faults, start, known, seconds, out
        self.ends, self.sound, self.failed = Counter(), {}, None

    def pytest_runtestloop(self, session):
        self.items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        for number, fault in enumerate(self.faults, self.start + 1):
            end = self.end_of(fault)
            self.ends[fault.file.partition("/")[0], end.partition(":")[0]] += 1
            print(f"{number} {end}: {fault}", file=self.out, flush=True)
        return True

    def pytest_runtest_logreport(self, report):
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    def end_of(self, fault):
        """Return what became of a mutant, in words."""
        while True:
            tests, known = self.known.tests(fault, self.seconds)
            tests = [test for test in tests if test in self.items and self.sound.get(test, True)]
            if not tests:
                return "survived: no test that is asked runs it"
            by = self.run(tests, fault)
            if by is None:
                return f"survived: {len(tests)} of {known} tests"
            if by in ("hang", "crash"):
                return f"killed: {by}"
            if by not in self.sound:
                self.sound[by] = self.run([by], fault.undone if fault.on_import else None) is None
            if self.sound[by]:
                return f"killed: {by.removeprefix('tests/')}"

    def run(self, tests, fault):
        """Return the test that fails with a fault in a fork, ``hang`` or ``crash``, or None."""
        expected = sum(self.known.durations[test] for test in tests)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            code = 70
            try:
                code = self._child(tests, fault, writer, int(30 + 4 * expected))
            finally:
                os._exit(code)
        os.close(writer)
        done = _waited_for(child)
        with os.fdopen(reader) as told:
            by = told.read()
        code = os.waitstatus_to_exitcode(done[1])
        if code in (0, 1):
            return by or None
        return "hang" if code in (-signal.SIGKILL, -signal.SIGXCPU) else "crash"

    def _child(self, tests, fault, writer, seconds):
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds,) * 2)
        if fault is None or (not fault.on_import and swapped(fault)):
            items = [self.items[test] for test in tests]
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed is not None:
                    break
        else:
            self._anew(tests, fault)
        os.write(writer, (self.failed or "").encode())
        return 0 if self.failed is None else 1

    def _anew(self, tests, fault):
        """Import everything again, with the fault, and run tests."""
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "mmc")]:
            del sys.modules[name]
        if fault.function is not None:
            import numba

            numba.config.CACHE_DIR = tempfile.mkdtemp()  # its cache knows code by the file, not by its constants
        sys.meta_path.insert(0, _Faulty(fault))
        order = {test: place for place, test in enumerate(tests)}
        again = Attack([], 0, self.known, self.seconds, self.out)

        class Chosen:
            def pytest_collection_modifyitems(self, items):
                items[:] = sorted((item for item in items if item.nodeid in order), key=lambda i: order[i.nodeid])

            def pytest_runtest_logreport(self, report):
                again.pytest_runtest_logreport(report)

        files = list(dict.fromkeys(map(_file, tests)))
        code = pytest.main([*_QUIET, "-x", *files], plugins=[Chosen()])
        self.failed = again.failed or (
            "import" if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else None
        )


_QUIET = ["-s", "-p", "no:cacheprovider", "-p", "no:xdist"]


def record(asked):
    """Run tests and keep what they run."""
    name = "-".join(Path(one).with_suffix("").name for one in asked)[:100] or "all"
    left_out = [f"--ignore={place}" for place in LEFT_OUT]
    asked = asked or ASKED
    return pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *left_out, *asked], plugins=[Recorder(name)])


def main():
    """Record, or print what became of a sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--record", nargs="*", metavar="TESTS", help="run tests once (all, or these) and keep what they run"
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="leave out so many of the sample, those of an earlier run")
    parser.add_argument("--stop", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=15.0, help="how long the tests of one mutant take together")
    given = parser.parse_args()
    os.chdir(ROOT)
    if given.record is not None:
        sys.exit(record(given.record))
    chosen, total = sample(given.count, given.seed)
    print(f"{len(chosen)} of {total} mutants, seed {given.seed}", flush=True)
    part = chosen[given.start : given.stop]
    attack = Attack(part, given.start, Known(), given.seconds, sys.stdout)
    with tempfile.TemporaryDirectory() as place:
        pytest.main([*_QUIET, f"--basetemp={place}/tests", *ASKED], plugins=[attack])
    for room in MUTATED:
        killed, survived = attack.ends[room, "killed"], attack.ends[room, "survived"]
        print(f"{room}: {killed} of {killed + survived} killed")


if __name__ == "__main__":
    main()
