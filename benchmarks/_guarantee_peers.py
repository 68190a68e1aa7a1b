"""RateGuarantee beside MAPIE and scikit-learn: the same classifier, the same calibration samples, the truth being known.

A logistic regression is fitted once on a part of each set. The rest is the population: calibration samples are drawn from it
with replacement, so the true errors of every rule are counted on the population and exact. Simulated sets have a population of
20,000 examples of each class.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from mapie.risk_control import BinaryClassificationController
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._guarantee_simulation import gaussian, skewed
from mmc.datasets import load
from mmc.methods import RateGuarantee
from mmc.methods.numerics.kernels import Array

RATE, CONFIDENCE, REPETITIONS = 0.05, 0.95, 500
SIZES = (100, 500)  # calibration examples of each class
REAL = ("heart_statlog", "pima", "breast_cancer")
SIMULATED = {"Gaussian": gaussian, "skewed": skewed}
Labels = NDArray[np.int64]
Rule = Callable[[Array], Labels]


@dataclass(frozen=True)
class Peer:
    """A way to set a threshold: what it promises, its settings, and how it is done; None where it finds none."""

    name: str
    promises: str
    settings: str
    calibrate: Callable[[ClassifierMixin, Array, Labels], Rule | None]


@dataclass(frozen=True)
class Result:
    """What one peer did on one set, over all repetitions."""

    data: str
    n: int
    peer: str
    repetitions: int
    no_rule: int
    broken: int  # repetitions in which the true error of the limited class exceeds the rate
    error: float  # its mean true error
    other: float  # mean true error of the other class
    seconds: float  # mean time to calibrate


def compare(repetitions: int = REPETITIONS) -> Iterator[Result]:
    """Yield every peer on every set."""
    for data in (*REAL, *SIMULATED):
        for n in SIZES:
            yield from _on(data, n, repetitions)


def _on(data: str, n: int, repetitions: int) -> Iterator[Result]:
    train, (X, y) = _parts(data)
    classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(*train)
    rng = np.random.default_rng(0)
    errors: dict[str, list[tuple[float, float]]] = {peer.name: [] for peer in PEERS}
    seconds = dict.fromkeys(errors, 0.0)
    for _ in range(repetitions):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == label), n) for label in (0, 1)])
        for peer in PEERS:
            start = time.process_time()
            rule = peer.calibrate(classifier, X[rows], y[rows])
            seconds[peer.name] += time.process_time() - start
            if rule is not None:
                said = rule(X)
                errors[peer.name].append((float(np.mean(said[y == 0] == 1)), float(np.mean(said[y == 1] == 0))))
    for name, found in errors.items():
        alarms, missed = np.array(found).reshape(-1, 2).T
        yield Result(
            data=data,
            n=n,
            peer=name,
            repetitions=repetitions,
            no_rule=repetitions - len(found),
            broken=int((missed > RATE).sum()),
            error=float(missed.mean()) if found else np.nan,
            other=float(alarms.mean()) if found else np.nan,
            seconds=seconds[name] / repetitions,
        )


def _parts(data: str) -> tuple[tuple[Array, Labels], tuple[Array, Labels]]:
    """Return a training part and the population; 1 is the class with the limit."""
    if data in SIMULATED:
        rng = np.random.default_rng(0)
        sizes = 200, 20_000
        train, population = (
            (np.vstack([SIMULATED[data](rng, label, n) for label in (0, 1)]), np.repeat([0, 1], n)) for n in sizes
        )
        return train, population
    found = load(data)
    y = (found.y == found.positive).astype(np.int64)
    X, rest, labels, others = train_test_split(found.X, y, train_size=0.4, stratify=y, random_state=0)
    return (X, labels), (rest, others)


def _ours(classifier: ClassifierMixin, X: Array, y: Labels) -> Rule:
    model = RateGuarantee(classifier, {1: RATE}, confidence=CONFIDENCE, calibration="prefit")
    rule: Rule = model.fit(X, y).predict
    return rule


def _mapie(method: str, thresholds: int, classifier: ClassifierMixin, X: Array, y: Labels) -> Rule | None:
    controller = BinaryClassificationController(
        classifier.predict_proba,
        "recall",
        1 - RATE,
        CONFIDENCE,
        best_predict_param_choice="fpr",
        list_predict_params=np.linspace(0, 0.99, thresholds),
        fwer_method=method,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no threshold is counted here
        controller.calibrate(X, y)
    return None if controller.best_predict_param is None else controller.predict


def _floor(y: Labels, said: Labels) -> float:
    """The specificity where the recall is at least 1 − RATE; otherwise less than any, the more the further it is."""
    recall = float(np.mean(said[y == 1] == 1))
    return float(np.mean(said[y == 0] == 0)) if recall >= 1 - RATE else recall - 1


def _tuned(classifier: ClassifierMixin, X: Array, y: Labels) -> Rule:
    model = TunedThresholdClassifierCV(classifier, scoring=make_scorer(_floor), cv="prefit", refit=False)
    rule: Rule = model.fit(X, y).predict
    return rule


PEERS = (
    Peer(
        "RateGuarantee",
        "error ≤ 5 % with 95 % confidence, any distribution, any sample size",
        'calibration="prefit"; the order statistic of the scores',
        _ours,
    ),
    Peer(
        "MAPIE, default",
        "error ≤ 5 % with 95 % confidence, any distribution, any sample size",
        'BinaryClassificationController, risk="recall", target 0.95, best by "fpr", 100 thresholds, Bonferroni–Holm',
        lambda *given: _mapie("bonferroni_holm", 100, *given),
    ),
    Peer(
        "MAPIE, fixed sequence",
        "error ≤ 5 % with 95 % confidence, any distribution, any sample size",
        "the same with 1,000 thresholds tested in order, which costs no correction",
        lambda *given: _mapie("fixed_sequence", 1000, *given),
    ),
    Peer(
        "scikit-learn, recall floor",
        "nothing on new data: the recall on the calibration sample is at least 95 %",
        'TunedThresholdClassifierCV, cv="prefit", scorer: specificity if recall ≥ 0.95, 100 thresholds',
        _tuned,
    ),
)
