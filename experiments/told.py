"""Claims that need code of their own: about curves, clusters and quotients that only some methods leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mmc.experiments.cells import Table
from mmc.experiments.claims import Claim, Kept
from mmc.experiments.config import Experiment
from mmc.experiments.measures import BandOptions
from mmc.experiments.metrics import COUNTED, Costs
from mmc.experiments.records import Counts, Record
from mmc.experiments.results import Results
from mmc.experiments.statements import Pairing
from mmc.methods import CATALOGUE


def _paired(results: Results, dataset: str, *labels: str, needs: str = "") -> list[tuple[Record, ...]]:
    """Return the records of all these methods on each split; one without a classifier or the fact it ``needs`` is left out."""
    by_split: dict[tuple[int, int], dict[str, Record]] = {}
    for unit in results.units:
        record = results.records.get(unit.trials[0].key)
        if unit.source.label != dataset or record is None or record.counts is None:
            continue
        if not needs or needs in record.facts:
            by_split.setdefault((unit.split.repetition, unit.split.fold), {})[unit.label] = record
    return [tuple(of[name] for name in labels) for of in by_split.values() if of.keys() >= set(labels)]


def _error(record: Record) -> float:
    """Return the error of a record in %."""
    return COUNTED["error"].value(record.counts or Counts(), Costs())


def _span(values: Iterable[float], form: str = ".2f") -> str:
    drawn = list(values)
    spread = f" ± {np.std(drawn, ddof=1):{form}}" if len(drawn) > 1 and np.isfinite(drawn).all() else ""
    return f"{np.mean(drawn):{form}}{spread}"


def bsvm(results: Results) -> Iterator[Claim]:
    """Pendse's four statements about the toy data, over all draws, at each number of points per cluster."""
    for dataset in results.config.experiment.datasets:
        draws = _paired(results, dataset, "C-SVM", "B-SVM", needs="cluster_spread")
        if not draws:
            continue
        c, b = zip(*draws, strict=True)
        n = len(draws)
        rho2 = BandOptions.model_validate(results.config.experiment.measures["band"]).rho[1]
        bounded = [v.facts["max_abs"] <= rho2 + 1e-3 for v in b]
        yield Claim(
            f"{dataset}: B-SVM limits |g| to ρ2 = {rho2:g} (4.2)",
            f"largest |g| {_span((v.facts['max_abs'] for v in b), '.3f')}; within the bound on {sum(bounded)} of {n} draws",
            Kept.of_draws(bounded),
        )
        lower = [v.facts["centre"] < v.facts["others"] for v in c]
        yield Claim(
            f"{dataset}: C-SVM gives the central cluster of class +1 lower values (4.2)",
            f"centre {_span(v.facts['centre'] for v in c)}, others {_span(v.facts['others'] for v in c)}; "
            f"lower on {sum(lower)} of {n} draws",
            Kept.of_draws(lower),
        )
        even = [y.facts["cluster_spread"] < x.facts["cluster_spread"] for x, y in draws]
        yield Claim(
            f"{dataset}: B-SVM balances the clusters of class +1 (4.2)",
            f"spread of the cluster means in % of their mean {_span((v.facts['cluster_spread'] for v in b), '.1f')}, C-SVM "
            f"{_span((v.facts['cluster_spread'] for v in c), '.1f')}, C-SVM clipped to ±ρ2 "
            f"{_span((v.facts['cluster_spread_clipped'] for v in c), '.1f')}; less than C-SVM's on {sum(even)} of {n} draws "
            f"(B-SVM's centre {_span(v.facts['centre'] for v in b)}, others {_span(v.facts['others'] for v in b)})",
            Kept.of_draws(even),
        )
        curves = np.array([v.curves["curve"] for v in b])
        above = np.array([v.curves["curve"] for v in c]) > curves
        clipped = np.array([v.curves["curve_clipped"] for v in c]) > curves
        where = np.flatnonzero(above.any(axis=0)) * 100 / (above.shape[1] - 1)
        last = f", up to {where.max():.0f} % of max |g|" if len(where) else ""
        larger = sum(v.facts["area"] for v in b) > sum(v.facts["area"] for v in c)
        yield Claim(
            f"{dataset}: B-SVM is more accurate at every threshold (4.3)",
            f"area under S(t) {_span(v.facts['area'] for v in b)}, C-SVM {_span(v.facts['area'] for v in c)}, C-SVM clipped to ±ρ2 "
            f"{_span(v.facts['area_clipped'] for v in c)}; C-SVM is above at {100 * above.mean():.0f} % of the thresholds{last}, "
            f"clipped at {100 * clipped.mean():.0f} %",
            Kept.HOLDS if not above.any() else Kept.PARTLY if larger else Kept.FAILS,
        )


_NO_AREA = 5e-4  # % of the area: what three decimals show as none
_SOLVED = 1e-5  # relative distance from the optimum


def smem(results: Results) -> Iterator[Claim]:
    """Pothin & Richard's statements about SMEM on knowledge sets, tested by area; the distances are from the exact (6)."""
    for dataset in results.config.experiment.datasets:
        draws = _paired(results, dataset, "SC-SVM", "TSVC", "SMEM")
        if not draws:
            continue
        errors = [tuple(_error(values) for values in draw) for draw in draws]
        least = [mine < min(others) for *others, mine in errors]
        shown = ", ".join(
            f"{name} {_span(of)} %"
            for name, of in zip(("SC-SVM", "TSVC", "SMEM"), zip(*errors, strict=True), strict=True)
        )
        yield Claim(
            f"{dataset}: SMEM outperforms SC-SVM and TSVC (section 4)",
            f"area on the wrong side: {shown}; SMEM's is the least on {sum(least)} of {len(least)}",
            Kept.of_draws(least),
        )
        pairs = _paired(results, dataset, "SMEM", "SMEM, shared slack", needs="exact_gap")
        if pairs:
            own, shared = ([values.facts["exact_gap"] for values in of] for of in zip(*pairs, strict=True))
            yield Claim(
                f"{dataset}: the algorithm of Table 1 solves (6) (section 3)",
                f"relative distance of its value from the optimum: {_span(own)}, at most {max(own):.2f}; with one slack "
                f"shared by the points of a set and a small ε at most {max(shared):.1g}",
                Kept.of_draws([gap <= _SOLVED for gap in own]),
            )
        hard = _paired(results, dataset, "HMEM", "SMEM", "TSVC")
        if not hard:
            continue
        none = [[_error(values) < _NO_AREA for values in of] for of in zip(*hard, strict=True)]
        gap = max(values.facts["exact_gap"] for values, _, _ in hard)
        yield Claim(
            f"{dataset}: sets that a hyperplane separates are separated without error, unlike by TSVC (3.1)",
            f"no area is wrong with the hard margin (HMEM) on {sum(none[0])} of {len(hard)}, with SMEM on {sum(none[1])}, "
            f"with TSVC on {sum(none[2])}; HMEM's value is at most {gap:.1g} from the optimum of (5), relatively",
            Kept.of_draws(none[1]),
        )


_MACHINES = {"lda": "2.1", "mpm": "2.2", "svm": "2.3", "m4": "2.4", "mmrm": "3.1"}
_EQUAL = 1e-6  # relative: what solvers leave between two ways to the same direction


def _quotients(pair: str, keys: Iterable[str], draws: Sequence[tuple[Record, ...]]) -> dict[str, NDArray[np.float64]]:
    return {
        key: np.array([values.facts.get(pair, np.inf) for values in of])
        for key, of in zip(keys, zip(*draws, strict=True), strict=True)
    }


def framework(results: Results) -> Iterator[Claim]:
    """Gu & Guo's section 2: each min-max machine has the least quotient d_w / d_b of its own; one without any is ∞."""
    experiment = results.config.experiment
    for dataset in experiment.datasets:
        labels = {spec.method: label for label, spec in experiment.methods_on(dataset).items()}
        draws = _paired(results, dataset, *labels.values(), needs="separates")
        if not draws:
            continue
        for key, section in _MACHINES.items():
            if key not in labels:
                continue
            pair = CATALOGUE[key].optimises
            others = _quotients(pair, labels, draws)
            mine = others.pop(key)
            least = np.min(list(others.values()), axis=0)
            best = np.isfinite(mine) & (mine <= least * (1 + _EQUAL))
            shared = int(np.sum(best & (mine >= least * (1 - _EQUAL))))
            second = min(others, key=lambda name: float(np.mean(others[name])))
            yield Claim(
                f"{dataset}: {labels[key]} minimises {pair} ({section})",
                f"{_span(mine, '.3f')}, the least of {len(labels)} on {best.sum()} of {len(best)} draws"
                + (f" (on {shared} not alone)" if shared else "")
                + f"; the next on average is {labels[second]}, {_span(others[second], '.3f')}",
                Kept.of_draws(best.tolist()),
            )
        if {"rmm", "svm"} <= labels.keys():
            pair = CATALOGUE["rmm"].optimises
            found = _quotients(pair, labels, draws)
            larger = found["rmm"] > found["svm"] * (1 + _EQUAL)
            smaller = found["rmm"] < found["svm"] * (1 - _EQUAL)
            yield Claim(
                f"{dataset}: {labels['rmm']} has a smaller {pair} than {labels['svm']} (2.5)",
                f"{_span(found['rmm'], '.3f')}, {labels['svm']} {_span(found['svm'], '.3f')}; smaller on {smaller.sum()} of "
                f"{len(draws)} draws, larger on {larger.sum()}",
                Kept.HOLDS if not larger.any() and smaller.any() else Kept.PARTLY if smaller.any() else Kept.FAILS,
            )


TOLD: Mapping[str, Callable[[Results], Iterator[Claim]]] = {
    "bsvm": bsvm,
    "smem": smem,
    "framework": framework,
}


def claims_of(results: Results) -> list[Claim]:
    """Return what the paper says in words, with verdicts; nothing if the config has no claims."""
    experiment = results.config.experiment
    if isinstance(experiment.claims, str):
        return list(TOLD[experiment.claims](results))
    return stated(experiment, results.table)


def stated(experiment: Experiment, table: Table, paired: bool = True) -> list[Claim]:
    """Return the statements of a config, tested on its table; ``paired``: its repetitions are known one by one."""
    statements = experiment.claims if isinstance(experiment.claims, list) else []
    overlap = 0.0 if experiment.split.redraw else experiment.split.overlap  # data drawn anew share no rows
    return [statement.tested(table, Pairing(overlap, paired)) for statement in statements]
