"""The example plugin: installed by pip into a new environment, used from YAML, and refused where it is not installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
PIP = ("install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")


def environment(folder):
    """Return the Python of a new environment that has all that this one has, mmc too, and nothing of its own."""
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (site,) = folder.glob("**/site-packages")
    here = sysconfig.get_path("purelib")
    (site / "parent.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    return python


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return environment(tmp_path_factory.mktemp("bare") / "env")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the Python of a new environment into which pip installed the package, without a network."""
    folder = tmp_path_factory.mktemp("plugin")
    python = environment(folder / "env")
    shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--python", str(python), *PIP, str(folder / "source")]
    subprocess.run(pip, capture_output=True, text=True, check=True)
    return python


def mmc(python, *words, cwd=None):
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "160"}
    command = [python, "-c", "from mmc.cli import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd)


def test_the_study_runs_where_the_package_is_installed(installed, tmp_path):
    done = mmc(installed, "run", EXAMPLE / "study.yaml", "--results", tmp_path, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    header, *rows = (tmp_path / "study" / "table.csv").read_text().splitlines()
    names = header.split(",")
    cells = [dict(zip(names, row.split(","), strict=True)) for row in rows]
    found = {(c["dataset"], c["method"], c["metric"]): c["mean"] for c in cells}
    for dataset in ("spirals", "heart_statlog"):
        assert float(found[dataset, "least squares", "gap"]) <= 1e-10  # what its solver was asked for
        assert float(found[dataset, "directly", "gap"]) <= 1e-8
        assert found[dataset, "centroids", "gap"] == ""
    assert "without a certificate of their optimum: centroids." in done.stdout


def test_lists_say_where_each_comes_from(installed):
    methods = mmc(installed, "list", "methods").stdout
    assert any(line.split()[:4] == ["centroids", "Centroids", "mmc-example", "0.1.0"] for line in methods.splitlines())
    assert "conjugate gradients on the normal equations" in mmc(installed, "list", "solvers").stdout.lower()
    sets = mmc(installed, "list", "datasets").stdout
    assert any(line.split()[:1] == ["spirals"] and "mmc-example 0.1.0" in line for line in sets.splitlines())


def test_without_the_package_the_study_is_refused(bare, tmp_path):
    done = mmc(bare, "validate", EXAMPLE / "study.yaml", cwd=tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert any("study.yaml:4:" in line and "unknown data set 'spirals'" in line for line in lines)
    assert any("study.yaml:8:" in line and "unknown method 'least-squares-plane'" in line for line in lines)
    assert all("install it or use --plugin FILE.py" in line for line in lines if "unknown" in line)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("centre: [mean, median]", "center: [mean]", "has no parameter 'center': did you mean 'centre'?"),
        ("centre: [mean, median]", "centre: [mode]", "The 'centre' parameter of Centroids must be"),
        ("solver: direct", "solver: directly", "has no solver 'directly': did you mean 'direct'?"),
        ("solver: direct", "solver_options: {max_iters: 5}", "no option 'max_iters': did you mean 'max_iter'?"),
    ],
)
def test_parameters_of_a_plugin_are_checked_before_anything_runs(installed, tmp_path, old, new, told):
    text = (EXAMPLE / "study.yaml").read_text()
    assert old in text
    (tmp_path / "study.yaml").write_text(text.replace(old, new))
    done = mmc(installed, "run", tmp_path / "study.yaml", "--results", tmp_path / "runs")
    assert done.returncode == 2
    line = 1 + next(i for i, words in enumerate(text.splitlines()) if old in words)
    assert told in done.stderr
    assert f"study.yaml:{line}:" in done.stderr


def test_the_doctest_and_both_solvers(installed):
    code = (
        "import doctest, numpy as np, mmc_example.estimator as e\n"
        "assert doctest.testmod(e).failed == 0\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(40, 5)); y = (X[:, 0] > 0).astype(int)\n"
        "one, two = (e.LeastSquaresPlane(solver=s).fit(X, y) for s in ('direct', 'conjugate-gradients'))\n"
        "assert np.allclose(one.coef_, two.coef_, atol=1e-5), (one.coef_, two.coef_)\n"
        "assert one.solution_.gap < 1e-12 and two.solution_.gap <= 1e-10\n"
    )
    subprocess.run([installed, "-c", code], check=True)
