"""Every registered set is what the registry says, and costs no heavy import."""

import logging
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mmc.datasets import REGISTRY, DataError, load, loading, verify

# Counted in the originals, independently of the registry: all rows, features, classes among the complete rows.
ORIGINALS = {
    "breast_cancer": (569, 30, {"malignant": 212, "benign": 357}),
    "breast_cancer_wisconsin": (699, 9, {"benign": 444, "malignant": 239}),
    "heart_cleveland": (303, 13, {"healthy": 160, "disease": 137}),
    "heart_statlog": (270, 13, {"healthy": 150, "disease": 120}),
    "pima": (768, 8, {"pos": 268, "neg": 500}),
    "ionosphere": (351, 34, {"good": 225, "bad": 126}),
    "sonar": (208, 60, {"M": 111, "R": 97}),
    "letter": (20000, 16, None),
    "ring_norm": (400, 2, {"pos": 209, "neg": 191}),
    "two_norm": (500, 2, {"pos": 266, "neg": 234}),
    "gamma_synthetic": (300, 2, {"pos": 150, "neg": 150}),
    "bsvm_toy": (900, 2, {"pos": 500, "neg": 400}),
    "noisy_normals": (204, 2, {"pos": 102, "neg": 102}),
    "separable_normals": (300, 10, {"pos": 120, "neg": 180}),
    "random_circles": (4, 2, {"biggest": 1, "other": 3}),
}


def test_every_set_is_counted_here():
    assert set(ORIGINALS) == {name for name, entry in REGISTRY.items() if entry.kind != "large"}  # test_originals


@pytest.mark.parametrize("name", ORIGINALS)
def test_registry_tells_the_truth(name):
    verify(name)
    data, entry, (rows, features, classes) = load(name), REGISTRY[name], ORIGINALS[name]
    assert data.X.shape == (rows - data.dropped, features)
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert len(data.feature_names) == features == len(set(data.feature_names))
    assert data.y.dtype.kind == "U"
    assert classes is None or data.classes == classes
    assert sum(data.classes.values()) == len(data.X)
    assert data.positive == entry.positive
    assert data.positive is None or data.positive in data.classes
    for fact in (entry.description, entry.source, entry.licence, entry.citation):
        assert fact


def test_missing_rows_are_dropped_and_the_log_says_how_many(caplog):
    with caplog.at_level(logging.INFO, "mmc.datasets"):
        assert load("breast_cancer_wisconsin").dropped == 16
    assert "16 of 699 rows" in caplog.text
    with pytest.raises(DataError, match=r"\.csv:25: column 'bare_nuclei'.* 16 of 699 rows; fill .* missing='drop'"):
        load("breast_cancer_wisconsin", missing="error")


def test_letter_is_in_the_order_of_the_original():
    data = load("letter")
    assert data.n_train == 16000
    assert len(data.classes) == 26
    # The first rows of the UCI file, as its documentation prints them.
    assert data.y[:3].tolist() == ["T", "I", "D"]
    assert data.X[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]


def test_breast_cancer_is_scikit_learns(monkeypatch):
    from sklearn.datasets import load_breast_cancer

    bunch, data = load_breast_cancer(), load("breast_cancer")
    np.testing.assert_array_equal(data.X, bunch.data)
    assert (data.y == "malignant").tolist() == (bunch.target == 0).tolist()
    assert data.feature_names == tuple(bunch.feature_names)
    monkeypatch.setattr("mmc.datasets.library.find_spec", lambda name: None)  # the file is not where it was
    assert load("breast_cancer").content_hash == data.content_hash


def test_statlog_is_a_part_of_cleveland():
    whole, part = load("heart_cleveland"), load("heart_statlog")
    rows = {(*x, label) for x, label in zip(whole.X.tolist(), whole.y, strict=True)}
    assert all((*x, label) in rows for x, label in zip(part.X.tolist(), part.y, strict=True))


def test_loading_imports_nothing_heavy():
    script = (
        "import sys, mmc.datasets as d; assert 'numpy' not in sys.modules; d.load('breast_cancer'); d.load('letter');"
        "d.load('ring_norm'); print([m for m in ('sklearn', 'pandas', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_changed_content_is_refused(monkeypatch):
    entry = REGISTRY["sonar"]
    monkeypatch.setitem(REGISTRY, "sonar", replace(entry, content_hash="0" * 64))
    with pytest.raises(DataError, match=r"'sonar' has the content .*, but the registry says 0{64}: .* install"):
        load("sonar")


@pytest.mark.parametrize(
    ("fact", "value"),
    [("rows", 1), ("features", 1), ("classes", {}), ("dropped", 1), ("n_train", 1), ("positive", "R")],
)
def test_verify_notices_every_wrong_fact(monkeypatch, fact, value):
    if fact == "positive":  # it decides what is loaded, so that it can only be wrong in the loader
        wrong = replace(loading.load("sonar"), positive=value)
        monkeypatch.setattr(loading, "load", lambda name, data_dir: wrong)
    else:
        monkeypatch.setitem(REGISTRY, "two_norm", replace(REGISTRY["two_norm"], **{fact: value}))
    with pytest.raises(DataError, match=r"the registry says"):
        verify("sonar" if fact == "positive" else "two_norm")


@pytest.mark.parametrize("name", [n for n, e in REGISTRY.items() if e.kind == "vendored"])
def test_a_seed_changes_nothing_in_a_fixed_set(name):
    assert load(name, seed=7).content_hash == REGISTRY[name].content_hash


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("soner"), r"no data set 'soner': did you mean 'sonar'\?"),
        (lambda: load("zzz"), r"no data set 'zzz': valid: breast_cancer, .*two_norm"),
        (lambda: load("sonar", n_pos=3), r"'sonar' has no option 'n_pos': it takes none"),
        (lambda: load("ring_norm", n_feature=3), r"no option 'n_feature': did you mean 'n_features'\?"),
        (lambda: load("sonar", missing="keep"), r"missing='keep' is no way to treat missing cells: 'drop'.*'error'"),
        (lambda: load("two_norm", seed=-1), r"'two_norm': seed must be a whole number from 0 on, not -1"),
        (lambda: load("two_norm", seed=1.5), r"seed must be a whole number from 0 on, not 1.5"),
        (lambda: load("two_norm", n_pos=0), r"option 'n_pos' \(rows of the positive class\) must be a positive whole"),
        (lambda: load("two_norm", n_pos=2.0), r"'n_pos' .* must be a positive whole number, not 2.0"),
        (lambda: load("two_norm", n_neg=True), r"'n_neg' .* must be a positive whole number, not True"),
        (lambda: load("bsvm_toy", sigma_pos=-1), r"'sigma_pos' .* must be a positive number, not -1"),
        (lambda: load("bsvm_toy", sigma_pos=float("nan")), r"'sigma_pos' .* must be a positive number, not nan"),
        (lambda: load("gamma_synthetic", shape=[1]), r"'shape' .* must be a list of 2 positive numbers, not \[1\]"),
        (
            lambda: load("gamma_synthetic", displacement="ab"),
            r"'displacement' .* must be a list of 2 numbers, not 'ab'",
        ),
        (lambda: load("gamma_synthetic", rotation="x"), r"'rotation' .* must be a number, not 'x'"),
    ],
)
def test_bad_requests(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_a_data_set_cannot_be_written():
    data = load("sonar")
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        data.y[:] = "R"
