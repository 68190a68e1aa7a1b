"""The committed results: run anew they are the same, and README, tables and references agree with each other."""

import csv
import io
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mmc.experiments import findings, study_page
from mmc.experiments.cells import Verdict
from mmc.experiments.check import compare
from mmc.experiments.claims import to_markdown
from mmc.experiments.config import bundled
from mmc.experiments.engines import engine
from mmc.experiments.escape import markdown
from mmc.experiments.notes import reasons, summary
from mmc.experiments.places import matches
from mmc.experiments.readme import PAGES, committed, renewed
from mmc.experiments.reference import read_reference, table_of
from mmc.experiments.render import FORMATS, to_csv
from mmc.experiments.run import run
from mmc.experiments.scoreboard import PAPERS
from mmc.experiments.store import Store
from mmc.experiments.validation import load
from mmc.methods import CATALOGUE

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
QUICK = (
    "heart_disease",
    "nath_figure4",
    "bmpm_synthetic_distance",
    "bsvm_toy",
    "smem_breast_cancer",
    "smem_toy_circles",
    "smem_toy_ellipses",
    "mmrm_framework",
    "mempm",
)
# Configs whose committed tables are older than their reference, and why nobody has run them again. Best kept empty.
STALE: dict[str, str] = {}


def test_the_quick_tables_touch_every_method():
    used = {spec.method for name in QUICK for spec in load(name).experiment.methods.values()}
    assert used == set(CATALOGUE)


@pytest.mark.parametrize("name", QUICK)
def test_no_cell_moved(name):
    with Store(None) as store:
        outcome = run(load(name), store, engine(1))
    moved = [str(change) for change in compare(outcome.table, read_reference(RESULTS / name))]
    assert not moved, "\n".join(moved)
    if outcome.claims:
        kept = (RESULTS / name / "claims.md").read_text("utf-8")
        assert _verdicts(to_markdown(outcome.claims)) == _verdicts(kept)


def _verdicts(claims):
    """Return statement and verdict of each line; what stands between them are measured numbers."""
    return [(line.split(" | ")[0], line.split(" | ")[-1]) for line in claims.splitlines()]


# -- the committed files agree with each other --------------------------------------------------------------------------
def close(one, other):
    """Whether two lines of CSV are the same, but for the last of six digits."""
    if one.keys() != other.keys():
        return False
    for name, text in one.items():
        try:
            same = float(text) == pytest.approx(float(other[name]), rel=1e-4, abs=1e-4)
        except ValueError:
            same = text == other[name]
        if not same:
            return False
    return True


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", bundled())
def test_the_verdicts_of_a_reference_are_those_of_todays_rules(name):
    """Judged anew from its own numbers and today's config, a reference is the same: nothing in it was written by hand."""
    if name in STALE:
        pytest.skip(STALE[name])
    kept = lines_of((RESULTS / name / "reference.csv").read_text("utf-8"))
    made = lines_of(to_csv(table_of(load(name), read_reference(RESULTS / name))))
    assert len(made) == len(kept)
    different = [(one, other) for one, other in zip(made, kept, strict=True) if not close(one, other)]
    assert not different, different[0]


def nudged(reference, by):
    """Return a reference whose numbers are a little larger: which way half a unit is rounded, six digits cannot say."""
    return {
        place: {**row, **{n: repr(float(row[n]) * (1 + by)) for n in ("mean", "std", "se") if row[n]}}
        for place, row in reference.items()
    }


def disagreements(name, folder):
    """Return what a config's tables say and its reference does not."""
    reference = read_reference(RESULTS / name)
    tables = [table_of(load(name), nudged(reference, by)) for by in (0.0, 1e-6, -1e-6)]
    csvs = [
        (place / file).read_text("utf-8") for place, file in ((folder, "table.csv"), (RESULTS / name, "reference.csv"))
    ]
    found = [] if csvs[0] == csvs[1] else ["table.csv and reference.csv differ"]
    for ending, between in (("md", " | "), ("tex", " & ")):
        written = _numbers((folder / f"table.{ending}").read_text("utf-8"), between)
        made = [_numbers(FORMATS[ending](table), between) for table in tables]
        if any(len(written) != len(grid) for grid in made):
            found.append(f"table.{ending} has other rows")
            continue
        for line, *lines in zip(written, *made, strict=True):
            found += [part for part, *parts in zip(line, *lines, strict=True) if part not in parts]
    text = (folder / "table.md").read_text("utf-8")
    return found + [line for line in (summary(tables[0]), *map(str, reasons(tables[0]))) if line not in text]


def _numbers(text, between):
    """Return the cells of the rows of a table."""
    return [line.split(between) for line in text.splitlines() if between in line and not line.startswith(("-", "%"))]


@pytest.mark.parametrize("name", bundled())
def test_the_tables_are_those_of_the_reference(name):
    found = disagreements(name, RESULTS / name)
    if name in STALE:
        assert found, f"{name} is up to date: take it from STALE"
    else:
        assert not found, "\n".join(found)
    assert (RESULTS / name / "run.json").stat().st_size > 0


@pytest.mark.parametrize(("old", "new"), [("12.92", "12.93"), ("| 31.25 ", "| 31.52 "), ("16 (6)", "18 (6)")])
def test_a_number_that_is_edited_by_hand_is_found(tmp_path, old, new):
    for file in (RESULTS / "heart_disease").iterdir():
        text = file.read_text("utf-8")
        (tmp_path / file.name).write_text(text.replace(old, new) if file.name == "table.md" else text, "utf-8")
    assert old in (RESULTS / "heart_disease" / "table.md").read_text("utf-8")
    assert disagreements("heart_disease", tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_the_readme_is_made_from_the_references(page):
    """`make readme` renews it."""
    if PAGES[page] == study_page.PARTS and study_page.STUDY in STALE:
        pytest.skip(STALE[study_page.STUDY])
    text = (ROOT / page).read_text("utf-8")
    assert renewed(text, RESULTS, *PAGES[page]) == text


def test_the_findings_are_made_from_the_results():
    """`make readme` renews them."""
    assert findings.page(committed(RESULTS), RESULTS) == (ROOT / "docs" / "findings.md").read_text("utf-8")


# -- what the configs say of the papers ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", bundled())
def test_the_claims_are_those_of_the_config(name):
    experiment, kept = load(name).experiment, RESULTS / name / "claims.md"
    if isinstance(experiment.claims, list) and kept.exists():
        said = [line.split(" | ")[0].removeprefix("| ") for line in kept.read_text("utf-8").splitlines()[2:]]
        assert said == [markdown(claim.says) for claim in experiment.claims]
    else:
        assert kept.exists() == isinstance(experiment.claims, str) or experiment.long


def test_every_paper_has_claims():
    assert {load(name).experiment.paper for name in bundled() if load(name).experiment.claims} == set(PAPERS)


@pytest.mark.parametrize("name", bundled())
def test_every_deviation_and_every_fitted_number_has_an_experiment(name):
    reported = load(name).experiment.reported
    if reported:
        assert {one.see for one in reported.deviations} <= set(bundled())
        assert {one.sweep for one in reported.fitted} <= set(bundled())


@pytest.mark.parametrize("name", bundled())
def test_a_number_that_is_judged_elsewhere_is_judged_there(name):
    config = load(name)
    for other in config.experiment.reported.elsewhere if config.experiment.reported else ():
        shown = [cell for cell in table_of(config, read_reference(RESULTS / name)).cells if cell.see == other.config]
        judged = table_of(load(other.config), read_reference(RESULTS / other.config)).judged
        places = [(cell.place, cell.metric, cell.reported) for cell in judged if cell.verdict is not Verdict.NOT_RUN]
        mine = [cell for cell in shown if matches(other.where, {**cell.place, "metric": cell.metric})]
        assert mine
        assert all(
            any(
                cell.metric == metric and cell.reported == printed and matches(place, {**cell.keys, **cell.place})
                for place, metric, printed in places
            )
            for cell in mine
        )


def test_the_epsilon_of_nl_socp_is_chosen_by_its_rule():
    """Of those with no printed number outside, the one whose least joint p over the four sets is largest."""
    least, outside = defaultdict(lambda: 1.0), Counter()
    for name in ("nath_ridge", "nath_ridge_drawn"):
        text = (RESULTS / name / "table.md").read_text("utf-8")
        for ridge, p in re.findall(r"ridge = (\S+): \d+ printed numbers together: p = ([\d.e-]+)", text):
            least[float(ridge)] = min(least[float(ridge)], float(p))
        for row in read_reference(RESULTS / name).values():
            outside[float(row["ridge"])] += row["verdict"] == "differs"
    assert len(least) == 5
    inside = {ridge: p for ridge, p in least.items() if not outside[ridge]}
    best = max(inside, key=lambda ridge: inside[ridge])
    for name in ("breast_cancer", "heart_disease", "ring_norm", "two_norm"):
        assert load(name).experiment.methods["NL-SOCP"].params["ridge"] == best
