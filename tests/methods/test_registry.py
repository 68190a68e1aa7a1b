"""Methods by key: what a config may name, and that a name alone never runs code."""

import sys

import numpy as np
import pytest
import sklearn.datasets
import sklearn.ensemble  # noqa: F401 (what scikit-learn itself needs is here before an attack)

import mmc.methods.outside  # noqa: F401 (as in every process that fits one)
from mmc.methods import CATALOGUE
from mmc.methods.registry import METHODS

EVIL = "from pathlib import Path\nPath({sign!r}).touch()\nfrom sklearn.svm import SVC\nclass Mine(SVC): pass\n"
ATTACKS = (
    "os.system",
    "logging.os.system",
    "builtins.exec",
    "subprocess.Popen",
    "evil.Mine",
    "evil:Mine",
    "evil",
    "sklearn_evil.ensemble.Mine",
    "sklearn.os.system",
    "sklearn.ensemble.os.system",
    "sklearn.ensemble._forest.os.system",
    "sklearn.ensemble.np.load",
    "sklearn.externals.joblib.load",
    "sklearn.externals.evil",
    "sklearn.conftest.Mine",
    "sklearn.base.sys.exit",
    "sklearn.datasets.fetch_openml",
    "sklearn.preprocessing.FunctionTransformer",
    "sklearn.pipeline.Pipeline",
    "sklearn.ensemble.RandomForestRegressor",
    "sklearn.ensemble._forest.ForestClassifier",
    "sklearn.ensemble.VotingClassifier",
    "sklearn.ensemble.__class__",
    "sklearn.ensemble.RandomForestClassifier.__init__",
    "sklearn..evil.Mine",
    "sklearn.",
    "..evil.Mine",
    " sklearn.ensemble.RandomForestClassifier",
    "__import__('os').system('touch x')",
)


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Return the file that importing a module on the path would make."""
    sign = tmp_path / "sign"
    for name in ("evil", "sklearn_evil"):
        (tmp_path / f"{name}.py").write_text(EVIL.format(sign=str(sign)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return sign


@pytest.mark.parametrize("key", ATTACKS)
def test_what_is_no_classifier_of_scikit_learn_is_refused_before_import(key, evil):
    before = set(sys.modules)
    assert key not in METHODS
    told = METHODS.problem(key)
    assert key.split(".")[-1].split(":")[-1] in told
    new = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names
    assert new <= {"sklearn", "scipy", "numpy", "joblib", "threadpoolctl"}
    assert key.startswith("sklearn.") or not new
    assert not evil.exists()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("sklearn.ensemble.RandomForestClasifier", "did you mean 'RandomForestClassifier'?"),
        ("sklearn.ensamble.RandomForestClassifier", "did you mean 'ensemble'?"),
        ("RandomForestClassifier", "sklearn.MODULE.RandomForestClassifier"),
        ("smv", "did you mean 'svm'?"),
        ("lightgbm.LGBMClassifier", "--plugin FILE.py"),
    ],
)
def test_a_misspelt_method_gets_a_hint(key, told):
    assert told in METHODS.problem(key)


def test_every_plain_classifier_of_scikit_learn_has_a_path():
    from sklearn.utils import all_estimators

    from mmc.methods.outside import required_of

    found = 0
    for name, kind in all_estimators("classifier"):
        path = ".".join([*kind.__module__.split(".")[:2], name])
        if required_of(kind):
            assert "is built around" in METHODS.problem(path)
        else:
            assert METHODS[path].load() is kind, path
            found += 1
    assert found > 30


def test_ours_come_first_and_are_listed():
    assert list(METHODS)[: len(CATALOGUE)] == list(CATALOGUE)
    assert all(METHODS[key] is entry and not entry.outside for key, entry in CATALOGUE.items())


def test_a_method_from_outside_says_where_it_comes_from():
    import sklearn

    forest = METHODS["sklearn.ensemble.RandomForestClassifier"]
    assert forest.origin == f"scikit-learn {sklearn.__version__}"
    assert forest.identity()["origin"] == forest.origin
    assert "n_estimators" in forest.parameters()
    assert forest.seeded(["n_estimators"])
    assert not forest.seeded(["random_state"])
    assert not METHODS["sklearn.naive_bayes.GaussianNB"].seeded([])


class TestAdapter:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)

    def path(self, key, grid, **params):
        estimator = METHODS[key].start(params, 7)
        return list(estimator.fit_path(self.X, self.y, grid, self.X))

    @pytest.mark.parametrize(
        "key",
        [
            "sklearn.linear_model.LogisticRegression",  # decision_function
            "sklearn.ensemble.RandomForestClassifier",  # predict_proba
            "sklearn.neighbors.KNeighborsClassifier",
            "sklearn.linear_model.Perceptron",
        ],
    )
    def test_the_threshold_is_the_classifiers_own(self, key):
        (step,) = self.path(key, [{}])
        assert np.array_equal(np.where(step.decision > 0, 1, -1), step.estimator.predict(self.X))

    def test_there_is_no_certificate(self):
        (step,) = self.path("sklearn.naive_bayes.GaussianNB", [{}])
        assert not step.estimator.solution_.certified
        assert step.estimator.solution_.status == "solved"

    def test_a_seed_is_given_where_it_is_taken(self):
        key = "sklearn.ensemble.ExtraTreesClassifier"
        one, again = (self.path(key, [{"n_estimators": 5}])[0].decision for _ in range(2))
        assert np.array_equal(one, again)
        (step,) = self.path(key, [{"n_estimators": 5, "random_state": 3}])
        assert step.estimator.model.random_state == 3

    def test_an_iteration_that_stops_short_is_told(self):
        (step,) = self.path("sklearn.neural_network.MLPClassifier", [{"max_iter": 2}])
        assert step.estimator.solution_.status == "iteration-cap"
        assert step.estimator.solution_.iterations == 2

    def test_a_point_that_cannot_be_fitted_does_not_end_the_grid(self):
        grid = [{"penalty": "l1", "solver": "lbfgs"}, {"solver": "lbfgs"}]
        bad, good = self.path("sklearn.linear_model.LogisticRegression", grid)
        assert "ValueError" in str(bad.error)
        assert good.estimator is not None
