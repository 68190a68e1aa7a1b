"""The solvers of the minimax problem agree with each other, with a modelling language and with the paper's lemmas."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from mmc.methods import NotConverged
from mmc.methods.minimax import certify
from mmc.methods.solvers import fractional, frontier, gradient_projection, least_squares, minimax_socp
from mmc.methods.solvers.frontier import Minimax, Pair

BIASED = {
    "frontier": frontier.solve,
    "cholesky": lambda problem: frontier.solve(problem, factor="cholesky"),
    "fractional": fractional.solve,
    "gradient-projection": gradient_projection.solve,
    "socp": minimax_socp.solve,
    "ecos": lambda problem: minimax_socp.solve(problem, backend="ecos"),
}
BALANCED = {
    "frontier": frontier.solve,
    "cholesky": lambda problem: frontier.solve(problem, factor="cholesky"),
    "least-squares": least_squares.solve,
    "socp": minimax_socp.solve,
    "ecos": lambda problem: minimax_socp.solve(problem, backend="ecos"),
}


def level(kappa):
    return kappa**2 / (1 + kappa**2)


def pair_of(X, Y, ridge=0.0):
    Sx, Sy = (np.cov(Z.T, bias=True) + ridge * np.eye(Z.shape[1]) for Z in (X, Y))
    return Pair(X.mean(axis=0) - Y.mean(axis=0), Sx, Sy)


def random_pair(n, seed):
    """Two correlated classes of different spread, in units that differ by up to four orders of magnitude."""
    rng = np.random.default_rng(seed)
    m = 4 * n + 10
    units = 10 ** rng.uniform(-2, 2, n)
    X = rng.normal(size=(m, n)) @ rng.normal(size=(n, n)) + rng.normal(size=n)
    Y = 10 ** rng.uniform(-0.5, 0.5) * rng.normal(size=(m, n)) @ rng.normal(size=(n, n))
    return pair_of(X * units, Y * units)


def kernel_pair(N, ridge):
    data = load_breast_cancer()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    rows = np.random.default_rng(0).permutation(len(X))[:N]
    K = rbf_kernel(X[rows], gamma=1 / 100)
    return pair_of(K[data.target[rows] == 0], K[data.target[rows] == 1], ridge)


def real_pair(load):
    data = load()
    return pair_of(data.data[data.target == 0], data.data[data.target == 1])


PROBLEMS = {
    **{f"random {n}": (random_pair, n, n) for n in (2, 3, 7, 20, 60)},
    "breast cancer": (real_pair, load_breast_cancer),
    "wine": (real_pair, load_wine),
    "kernel 120": (kernel_pair, 120, 1e-3),
}


@pytest.fixture(params=PROBLEMS, scope="module")
def pair(request):
    make, *arguments = PROBLEMS[request.param]
    return make(*arguments)


def biased(pair, share):
    """The problem at a share of the largest level that the negative class can be promised."""
    wanted = share * level(pair.spectrum[0].ends[1])
    return Minimax(pair, np.sqrt(wanted / (1 - wanted)))


def accuracy(problem, answer):
    """α of any a, from the covariances alone."""
    sx, sy = problem.pair.spreads(answer.a)
    assert answer.a @ problem.pair.d == pytest.approx(1, rel=1e-9)
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
        values = {n: accuracy(problem, solve(problem)) for n, solve in solvers.items() if n not in ("socp", "ecos")}
        assert values == pytest.approx(dict.fromkeys(values, values["frontier"]), abs=1e-8)


def test_agreement_with_cvxpy(pair):
    """MPM as Lanckriet states it; BMPM by its dual, the distance of x̄ from the other class's ellipsoid."""
    cp = pytest.importorskip("cvxpy")
    W = np.linalg.inv(np.linalg.cholesky(pair.Sx + pair.Sy))  # cvxpy is given a well-scaled problem
    d = W @ pair.d
    Cx, Cy = (np.linalg.cholesky(W @ S @ W.T).T for S in (pair.Sx, pair.Sy))
    options = {"solver": cp.CLARABEL, "tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9}
    a = cp.Variable(len(d))
    total = cp.Problem(cp.Minimize(cp.norm(Cx @ a) + cp.norm(Cy @ a)), [d @ a == 1]).solve(**options)
    problem = Minimax(pair)
    assert accuracy(problem, frontier.solve(problem)) == pytest.approx(level(1 / total), abs=1e-7)
    problem = biased(pair, 0.5)
    u, v = cp.Variable(len(d)), cp.Variable(len(d))
    distance = cp.Problem(cp.Minimize(cp.norm(u)), [Cx.T @ u + Cy.T @ v == d, cp.norm(v) <= problem.kappa])
    assert accuracy(problem, frontier.solve(problem)) == pytest.approx(level(distance.solve(**options)), abs=1e-7)


def test_stationarity(pair):
    """At the optimum κ(α) Σx a/√(a'Σx a) + κ(γ) Σy a/√(a'Σy a) = d, the condition for (9) with (10)."""
    problem = biased(pair, 0.5)
    a = frontier.solve(problem).a
    sx, sy = pair.spreads(a)
    pull = (1 - problem.kappa * sy) / sx**2 * (pair.Sx @ a) + problem.kappa / sy * (pair.Sy @ a)
    scale = np.sqrt(np.diag(pair.Sx) + np.diag(pair.Sy))
    np.testing.assert_allclose(pull / scale, pair.d / scale, atol=1e-9)


def test_no_other_direction_is_better(pair):
    problem = biased(pair, 0.5)
    a, best = frontier.solve(problem).a, accuracy(problem, frontier.solve(problem))
    rng = np.random.default_rng(0)
    scale = 1 / np.sqrt(np.diag(pair.Sx) + np.diag(pair.Sy))
    for size in (1e-4, 1e-2, 1):
        for _ in range(20):
            b = a + size * np.linalg.norm(a / scale) * scale * rng.normal(size=len(a))
            b /= b @ pair.d
            sx, sy = pair.spreads(b)
            value = (1 - problem.kappa * sy) / sx
            assert value < 0 or level(value) <= best + 1e-12


def test_the_certificate_bounds_the_optimum_from_any_direction(pair):
    """For any feasible a: primal value ≤ optimum ≤ primal value · (1 + gap); the gap closes only at the optimum."""
    problem = biased(pair, 0.3)
    a = frontier.solve(problem).a
    best, _, _, gap = certify(pair, a, problem.kappa)
    assert gap < 1e-9
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1):
        b = a + size * (pair.start - a) + size * np.abs(a) * rng.normal(size=len(a))
        b /= b @ pair.d
        value, _, _, gap = certify(pair, b, problem.kappa)
        if value > 0:
            assert value < best < value * (1 + gap)
    total, _, _, gap = certify(pair, pair.start, None)
    balanced = certify(pair, frontier.solve(Minimax(pair)).a, None)[0]
    assert total < balanced < total * (1 + gap)


def test_the_curve_is_monotone_and_its_roots_are_on_it(pair):
    curve = pair.spectrum[0]
    kappas = np.linspace(0.01, 0.99, 99) * curve.ends[1]
    r, _ = curve.at(kappas)
    pos, neg = curve.kappas(r)
    np.testing.assert_allclose(neg, kappas, rtol=1e-12)
    assert np.all(np.diff(pos) < 0)
    assert pos[0] < curve.ends[0]
    for i in (0, 50, 98):
        single = frontier.solve(Minimax(pair, kappas[i]))
        assert certify(pair, single.a, kappas[i])[0] == pytest.approx(pos[i], rel=1e-7)
    np.testing.assert_allclose(*curve.kappas(curve.balanced()[0]), rtol=1e-12)


def test_the_ends_of_the_curve_are_the_mahalanobis_distances(pair):
    ends = [np.sqrt(pair.d @ np.linalg.solve(S, pair.d)) for S in (pair.Sx, pair.Sy)]
    np.testing.assert_allclose(pair.spectrum[0].ends, ends, rtol=1e-7)


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
