"""The code that decides a record is in its key; the code that only shows it is not."""

import ast
from pathlib import Path

import pytest

from mmc.experiments import fingerprint as fp
from mmc.methods import CATALOGUE

SVM = CATALOGUE["svm"]


@pytest.fixture
def edited(monkeypatch, tmp_path):
    """Return a function that gives the fingerprint after an edit of a module."""
    once = fp._file

    def after(module, method=SVM, solver="libsvm"):
        copy = tmp_path / "edited.py"
        copy.write_text(once(module).read_text("utf-8") + "\n# edited\n", "utf-8")
        monkeypatch.setattr(fp, "_file", lambda name: copy if name == module else once(name))
        fp._fingerprint.cache_clear()
        fp._source.cache_clear()
        return fp.fingerprint(method, solver)

    yield after
    monkeypatch.undo()
    fp._fingerprint.cache_clear()
    fp._source.cache_clear()


@pytest.mark.parametrize(
    "module",
    [
        *(f"mmc.experiments.{name}" for name in ("trials", "preparation", "splits", "knowledge", "areas", "measures")),
        *("mmc.experiments.metrics", "mmc.experiments.records", "mmc.datasets.dataset", "mmc.labels"),
        *("mmc.methods.dispersions", "mmc.methods.svm", "mmc.methods.base", "mmc.methods.solvers.libsvm"),
    ],
)
def test_an_edit_of_what_decides_a_record_makes_another_key(edited, module):
    """Scaling, PCA, counting, inner folds, measures and what is behind them: after an edit no old record is served."""
    before = fp.fingerprint(SVM, "libsvm")
    assert edited(module) != before


@pytest.mark.parametrize(
    "module",
    [
        *(f"mmc.experiments.{name}" for name in ("tables", "render", "plan", "validation", "config", "run", "store")),
        *(
            "mmc.experiments.figures.plane",
            "mmc.experiments.report",
            "mmc.methods",
            "mmc.datasets.registry",
            "mmc.methods.lda",
        ),
    ],
)
def test_an_edit_of_what_shows_or_plans_it_does_not(edited, module):
    before = fp.fingerprint(SVM, "libsvm")
    assert edited(module) == before


def test_solvers_differ():
    assert fp.fingerprint(SVM, "libsvm") != fp.fingerprint(SVM, "interior-point")


@pytest.mark.parametrize("method", CATALOGUE.values(), ids=lambda method: method.key)
def test_every_method_and_solver_is_found(method):
    for solver, module in method.solvers.items():
        start = (fp.WORKER, f"mmc.methods.{method.module}", f"mmc.methods.solvers.{module}")
        modules, libraries = fp.closure(start)
        assert set(start) <= set(modules)
        assert "numpy" in libraries
        assert "pydantic" not in libraries
        assert len(fp.fingerprint(method, solver)["source"]) == 16


def test_imports_are_those_of_the_whole_syntax():
    root = Path(fp.__file__).parents[1]
    sources = [
        path.read_text("utf-8")
        for room in ("datasets", "experiments", "methods", "mmc")
        for path in (root / room).rglob("*.py")
    ]
    assert len(sources) > 100
    written = "if a:\n    import b.c as d, e  # (f\nfrom g import (  # h\n    i,\n)\n"
    for source in (*sources, written):
        names = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert fp.imported(source) == names


def test_a_sentence_is_no_import():
    assert fp.imported('"""What comes\nfrom here on, and\nimport of goods.\n"""\nimport a\n') == {"a"}
