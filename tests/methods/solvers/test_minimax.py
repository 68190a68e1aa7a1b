"""The solvers of the minimax problem agree with each other, with a modelling language and with the paper's lemmas."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from mmc.methods import NotConverged
from mmc.methods.problems.minimax import Minimax
from mmc.methods.solvers import cvxpy_minimax, fractional, frontier, gradient_projection, least_squares, minimax_socp

from ..moment_pairs import PROBLEMS, biased, kernel_pair, level, random_pair, real_pair

BIASED = {
    "frontier": frontier.solve,
    "cholesky": lambda problem: frontier.solve(problem, factor="cholesky"),
    "fractional": fractional.solve,
    "gradient-projection": gradient_projection.solve,
    "socp": minimax_socp.solve,
    "ecos": lambda problem: minimax_socp.solve(problem, backend="ecos"),
    "cvxpy": cvxpy_minimax.solve,
}
BALANCED = {
    "frontier": frontier.solve,
    "cholesky": lambda problem: frontier.solve(problem, factor="cholesky"),
    "least-squares": least_squares.solve,
    "socp": minimax_socp.solve,
    "ecos": lambda problem: minimax_socp.solve(problem, backend="ecos"),
    "cvxpy": cvxpy_minimax.solve,
}


@pytest.fixture(params=PROBLEMS, scope="module")
def pair(request):
    make, *arguments = PROBLEMS[request.param]
    return make(*arguments)


def accuracy(problem, answer):
    """α of any a, from the covariances alone."""
    sx, sy = problem.pair.spreads(answer.primal)
    assert answer.primal @ problem.pair.d == pytest.approx(1, rel=1e-9)
    return level(1 / (sx + sy) if problem.kappa is None else (1 - problem.kappa * sy) / sx)


def test_balanced_solvers_agree(pair):
    problem = Minimax(pair)
    values = {name: accuracy(problem, solve(problem)) for name, solve in BALANCED.items()}
    assert values == pytest.approx(dict.fromkeys(values, values["frontier"]), abs=1e-8)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_biased_solvers_agree(pair, share):
    problem = biased(pair, share)
    values = {name: accuracy(problem, solve(problem)) for name, solve in BIASED.items()}
    assert values == pytest.approx(dict.fromkeys(values, values["frontier"]), abs=1e-8)


@pytest.mark.parametrize("ridge", [1e-2, 1e-5])
def test_solvers_agree_on_a_kernel_of_300_points(ridge):
    pair = kernel_pair(300, ridge)
    for problem, solvers in ((Minimax(pair), BALANCED), (biased(pair, 0.5), BIASED)):
        values = {
            n: accuracy(problem, solve(problem)) for n, solve in solvers.items() if n not in ("socp", "ecos", "cvxpy")
        }
        assert values == pytest.approx(dict.fromkeys(values, values["frontier"]), abs=1e-8)


def test_stationarity(pair):
    """At the optimum κ(α) Σx a/√(a'Σx a) + κ(γ) Σy a/√(a'Σy a) = d, the condition for (9) with (10)."""
    problem = biased(pair, 0.5)
    a = frontier.solve(problem).primal
    sx, sy = pair.spreads(a)
    pull = (1 - problem.kappa * sy) / sx**2 * (pair.Sx @ a) + problem.kappa / sy * (pair.Sy @ a)
    scale = np.sqrt(np.diag(pair.Sx) + np.diag(pair.Sy))
    np.testing.assert_allclose(pull / scale, pair.d / scale, atol=1e-9)


def test_no_other_direction_is_better(pair):
    problem = biased(pair, 0.5)
    a, best = frontier.solve(problem).primal, accuracy(problem, frontier.solve(problem))
    rng = np.random.default_rng(0)
    scale = 1 / np.sqrt(np.diag(pair.Sx) + np.diag(pair.Sy))
    for size in (1e-4, 1e-2, 1):
        for _ in range(20):
            b = a + size * np.linalg.norm(a / scale) * scale * rng.normal(size=len(a))
            b /= b @ pair.d
            sx, sy = pair.spreads(b)
            value = (1 - problem.kappa * sy) / sx
            assert value < 0 or level(value) <= best + 1e-12


@pytest.mark.parametrize(
    ("solve", "options"),
    [
        (gradient_projection.solve, {"max_iter": 2}),
        (fractional.solve, {"max_iter": 1}),
        (fractional.solve, {"max_inner": 2}),
        (least_squares.solve, {"max_iter": 2}),
        (minimax_socp.solve, {"max_iter": 1}),
        (minimax_socp.solve, {"tol": 1e-25}),
        (minimax_socp.solve, {"tol": 1e-25, "backend": "ecos"}),
    ],
)
def test_a_solver_that_stops_short_says_so(solve, options):
    pair = real_pair(load_breast_cancer)
    with pytest.raises(NotConverged) as error:
        solve(Minimax(pair) if solve is least_squares.solve else biased(pair, 0.5), **options)
    assert error.value.iterations > 0
    assert error.value.residual > 0


def test_an_unknown_backend_or_factor_is_refused():
    with pytest.raises(ValueError, match="valid: clarabel, ecos"):
        minimax_socp.solve(Minimax(random_pair(2, 0)), backend="scs")
    with pytest.raises(ValueError, match="valid: eigen, cholesky"):
        frontier.solve(Minimax(random_pair(2, 0)), factor="lu")
