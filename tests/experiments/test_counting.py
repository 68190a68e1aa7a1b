"""What is counted, and on what: no test row decides a fit, and a bound is kept or it is not."""

from types import SimpleNamespace

import numpy as np
import pytest

from mmc.experiments.plan import plan
from mmc.experiments.preparation import prepared
from mmc.experiments.trials import outcome, run_unit
from mmc.experiments.validation import load
from mmc.methods.solution import Solution, Status

STUDY = """\
title: t
datasets: {{d: {{file: d.csv, target: y, positive: b{pca}}}}}
scale: {scale}
split: {{kind: fixed, train: 40}}
methods:
  SVM: {{method: svm}}
"""


def units(folder, scale, pca, test_rows):
    """Return the plan of a study whose first 40 rows are trained on and whose other rows are these."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(3, 2, size=(40, 3)), test_rows])
    labels = ["ab"[i % 2] for i in range(len(rows))]
    lines = [",".join([*(repr(float(v)) for v in row), label]) for row, label in zip(rows, labels, strict=True)]
    folder.mkdir()
    (folder / "d.csv").write_text("\n".join(["p,q,r,y", *lines]))
    (folder / "t.yaml").write_text(STUDY.format(scale=scale, pca=", pca: 2" if pca else ""))
    return plan(load(folder / "t.yaml"))


@pytest.mark.parametrize("pca", [False, True])
@pytest.mark.parametrize("scale", ["standard", "unit", "minmax", "none"])
def test_no_test_row_has_a_say_in_what_is_trained_on(tmp_path, scale, pca):
    """Test rows far away change neither the training part nor the fit, and each is placed by the training part alone."""
    near, far = np.full((10, 3), 3.0), np.full((10, 3), 3.0)
    far[1:] = 1e4
    (one,), (other,) = units(tmp_path / "near", scale, pca, near), units(tmp_path / "far", scale, pca, far)
    first, second = prepared(one.where), prepared(other.where)
    np.testing.assert_array_equal(first.train, second.train)
    np.testing.assert_array_equal(first.test[0], second.test[0])
    (fit,), (again,) = run_unit(one), run_unit(other)
    assert fit.proof.objective == again.proof.objective
    assert fit.facts["n_support"] == again.facts["n_support"]


@pytest.mark.parametrize(("wrong", "held"), [(0, 100.0), (5, 100.0), (6, 0.0), (7, 0.0)])
def test_a_bound_is_kept_only_if_no_point_too_many_is_wrong(wrong, held):
    """A worst-case error of 5 % on 100 test points: five may be wrong, not six."""
    truth = np.repeat([1, -1], 100)
    said = np.where(np.arange(200) < wrong, -1.0, truth)
    model = SimpleNamespace(
        worst_case_error_=np.array([0.2, 0.05]), solution_=Solution(Status.SOLVED, 1.0, 0.0, 1, 0.0, "none", "1")
    )
    facts = outcome(
        "", SimpleNamespace(error=None, estimator=model, decision=said, predicted=None, seconds=0.0), truth
    ).facts
    assert facts["bound_pos"] == pytest.approx(95)
    assert (facts["held_pos"], facts["held_neg"]) == (held, 100.0)
