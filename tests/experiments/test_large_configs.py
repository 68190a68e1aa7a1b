"""The parameters of Gu & Guo's large sets are those that cross-validation chose, and the same wherever they stand."""

import csv
from pathlib import Path

import pytest

from mmc.experiments.validation import load

SETS = ("usps", "letters", "isolet", "mnist")
CHOSEN = Path(__file__).parents[2] / "results" / "mmrm_large_cv" / "table.csv"


def params(config, label):
    return config.experiment.methods[label].params


@pytest.fixture(scope="module")
def search():
    return load("mmrm_large_cv")


@pytest.mark.parametrize("name", SETS)
def test_all_methods_share_gamma_and_C(search, name):
    config = load(f"mmrm_{name}")
    svm, rmm, mmrm = (params(config, label) for label in ("SVM", "RMM", "MMRM"))
    assert {(m["kernel"], m["gamma"]) for m in (svm, rmm, mmrm)} == {("rbf", svm["gamma"])}
    assert svm["C_pos"] == svm["C_neg"] == rmm["C"] == mmrm["C"]
    assert mmrm["C_unit"] == "absolute"
    searched = params(search, f"RMM {name}")
    assert (searched["gamma"], searched["C"]) == (rmm["gamma"], rmm["C"])
    grid = search.experiment.points_of(f"SVM {name}")
    assert {key: svm[key] for key in ("gamma", "C_pos", "C_neg")} in grid
    assert {"B": rmm["B"]} in search.experiment.points_of(f"RMM {name}")


@pytest.mark.parametrize("name", SETS)
def test_they_are_what_cross_validation_found_best(name):
    if not CHOSEN.exists():
        pytest.skip("the cross-validation of the large sets was not run yet")
    with CHOSEN.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "errors"]
    best = {}
    for method in ("SVM", "RMM"):
        mine = [row for row in rows if row["method"] == f"{method} {name}"]
        assert all(row["mean"] for row in mine)
        best[method] = min(mine, key=lambda row: float(row["mean"]))  # of equals the first
    config = load(f"mmrm_{name}")
    svm, rmm = params(config, "SVM"), params(config, "RMM")
    assert (svm["gamma"], svm["C_pos"]) == (float(best["SVM"]["gamma"]), float(best["SVM"]["C_pos"]))
    assert rmm["B"] == float(best["RMM"]["B"])


def test_figure_2_is_drawn_from_the_fits_of_table_2():
    """The same data, split, scaling and method: the same keys, so nothing is fitted twice."""
    table, figure = (load(name).experiment for name in ("mmrm_usps", "mmrm_figure2"))
    assert table.methods["MMRM"] == figure.methods["MMRM"]
    for key in ("datasets", "scale", "split", "multiclass", "seed", "measures"):
        assert getattr(table, key) == getattr(figure, key)
