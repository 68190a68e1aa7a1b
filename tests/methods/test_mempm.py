"""MEMPM: the best point of the curve, and the proof that no hyperplane is better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmc.methods import BMPM, MEMPM, MPM
from mmc.methods.problems import Answer
from mmc.methods.problems.mean_accuracy import MeanAccuracy, Rule, Touching, certify
from mmc.methods.solvers import mean_frontier
from tests.methods.moment_pairs import random_pair

RBF = {"kernel": "rbf", "gamma": 0.05}


def two_classes(seed=0, n=60, p=4, apart=2.0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * n, p)) @ rng.normal(size=(p, p)), np.repeat([0, 1], n)
    X[y == 1] = 0.6 * X[y == 1] + apart
    return X, y


def mean(model, theta):
    return theta * (1 - model.worst_case_error_[1]) + (1 - theta) * (1 - model.worst_case_error_[0])


@pytest.mark.filterwarnings("ignore::mmc.methods.solution.BoundWarning")
@pytest.mark.parametrize("params", [{}, {"ridge": 0}, {"ridge": None}, RBF, {**RBF, "ridge": 1e-3, "ridge_kind": "w"}])
@pytest.mark.parametrize("theta", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_no_point_of_the_frontier_is_better(theta, params):
    X, y = two_classes()
    model = MEMPM(theta, **params).fit(X, y)
    pos, neg = model.frontier(2001)
    best = np.max(theta * pos + (1 - theta) * neg)
    assert model.solution_.gap < 1e-6
    assert model.solution_.objective == pytest.approx(mean(model, theta))
    assert best * (1 - 1e-5) <= model.solution_.objective * (1 + 1e-9)
    assert model.solution_.objective >= best - 1e-9
    assert mean(model, theta) >= mean(MPM(**params).fit(X, y), theta) - 1e-12


def test_between_the_ends_it_is_bmpm_at_its_own_level():
    X, y = two_classes()
    model = MEMPM(0.5).fit(X, y)
    same = BMPM(1 - model.worst_case_error_[0]).fit(X, y)
    np.testing.assert_allclose(same.worst_case_error_, model.worst_case_error_, atol=1e-9)
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=1e-6)


def test_a_larger_weight_is_kinder_to_its_class():
    X, y = two_classes(apart=1.0)
    errors = [MEMPM(theta).fit(X, y).worst_case_error_ for theta in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert np.all(np.diff(errors, axis=0) @ [[1, 0], [0, -1]] >= -1e-9)


def test_swapping_the_classes_and_the_weight_changes_nothing():
    X, y = two_classes()
    first, second = MEMPM(0.3).fit(X, y), MEMPM(0.7, pos_label=0).fit(X, y)
    np.testing.assert_allclose(first.worst_case_error_, second.worst_case_error_, atol=1e-7)


def test_close_classes_leave_all_to_one():
    X, y = two_classes(apart=0.1)
    model = MEMPM(0.5).fit(X, y)
    assert model.worst_case_error_.max() > 1 - 1e-9
    assert model.solution_.gap < 1e-6


def test_uncertain_means_cost_accuracy():
    X, y = two_classes()
    values = [MEMPM(mean_uncertainty=nu).fit(X, y).solution_.objective for nu in (0.0, 0.1, (0.3, 0.1), 0.3)]
    assert np.all(np.diff(values) < 0)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 8), theta=st.floats(0, 1))
def test_the_certificate_is_a_bound_on_every_hyperplane(seed, n, theta):
    """Any list of touching points bounds what random hyperplanes reach; those of the solver bound it tightly."""
    pair, rng = random_pair(n, seed), np.random.default_rng(seed)
    problem = MeanAccuracy(pair, theta)
    size = rng.uniform(0, 5)
    assert problem.value(size, size) == pytest.approx(size**2 / (1 + size**2))  # nothing is uncertain unless it is said
    answer = mean_frontier.solve(problem)
    proof = certify(problem, answer)
    assert proof.gap < 1e-6
    few = Touching(np.sort(rng.uniform(0, pair.largest, 3)), rng.normal(size=(3, n)))
    loose = certify(problem, Answer(answer.primal, few, 0, ""))
    assert loose.gap >= 0
    upper = proof.objective * (1 + proof.gap)
    for _ in range(50):
        a = rng.normal(size=n)
        if abs(a @ pair.d) < 1e-9:
            continue
        a /= a @ pair.d
        rule = Rule(a, float(rng.uniform(0, 1 / pair.spreads(a)[1])))
        other = certify(problem, Answer(rule, few, 0, ""))
        assert other.objective <= upper + 1e-12
        assert other.objective <= loose.objective * (1 + loose.gap) + 1e-12


def test_a_weight_outside_of_0_1_is_refused():
    with pytest.raises(ValueError, match="weight_pos"):
        MEMPM(1.5).fit(*two_classes())
