"""The tables of docs/which_method.md, made from the committed study: ``python -m mmc.experiments.study_page`` renews them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mmc.experiments.cells import Table
from mmc.experiments.figures.ranks import Array, Ranking, Ranks
from mmc.experiments.reference import kept_table
from mmc.experiments.validation import load

STUDY = "study_methods"
_HEADS = {
    "ranks_error": "error % on average",
    "ranks_risk_5_1": "risk 5:1 on average",
    "ranks_risk_1_5": "risk 1:5 on average",
}


def parts(results: Path) -> Mapping[str, str]:
    """Return the text of each marked part, by the name of its figure."""
    config = load(STUDY)
    table = kept_table(config, results / STUDY)
    found = {}
    for name, head in _HEADS.items():
        figure = Ranks.model_validate(config.experiment.figures[name].options)
        labels, scores, left_out = figure.scores(table, config.experiment)
        ranking = Ranking.of(labels, scores, figure.alpha)
        means = dict(zip(labels, scores.mean(axis=0).tolist(), strict=True))
        best = dict(zip(labels, _firsts(scores), strict=True))
        lines = [
            f"| method | mean rank | {head} | best on | training s per split |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        for method, rank in zip(ranking.methods, ranking.ranks, strict=True):
            seconds = _seconds(table, method)
            lines.append(f"| {method} | {rank:.1f} | {means[method]:.1f} | {best[method]} | {seconds:.2g} |")
        away = f" Left out: {', '.join(left_out)}." if left_out else ""
        lines += [
            "",
            f"{ranking.datasets} data sets; Friedman p = {ranking.p:.2g}; two methods differ at 5 % if their mean "
            f"ranks are {ranking.cd:.1f} apart (Nemenyi).{away}",
        ]
        found[name] = "\n".join(lines) + "\n"
    return found


def _firsts(scores: Array) -> list[int]:
    """Return on how many data sets each method has the least score; equals count for each of them."""
    return [int(count) for count in np.sum(scores <= scores.min(axis=1, keepdims=True), axis=0)]


def _seconds(table: Table, method: str) -> float:
    """Return the mean seconds of the fits of one split, tuning not counted."""
    cells = [
        c for c in table.cells if c.metric == "train_seconds" and c.keys["method"] == method and c.mean is not None
    ]
    splits = sum(cell.trials / max(cell.draws, 1) for cell in cells)
    return sum(cell.mean for cell in cells if cell.mean is not None) / splits


def renewed(text: str, results: Path) -> str:
    """Return the page with its marked parts made anew."""
    for name, part in parts(results).items():
        text = _replaced(text, name, part)
    return text


def _replaced(text: str, name: str, part: str) -> str:
    first, last = f"<!-- {name}: made by `python -m mmc.experiments.study_page` -->\n", f"<!-- end of {name} -->"
    before, found, rest = text.partition(first)
    _, ended, after = rest.partition(last)
    if not (found and ended):
        raise ValueError(f"the page has no part {name!r} between {first.strip()} and {last}")
    return f"{before}{first}{part}{last}{after}"


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    page = folder / "docs" / "which_method.md"
    page.write_text(renewed(page.read_text("utf-8"), folder / "results"), "utf-8")
