"""Data that are not on this machine: said clearly, and no failure of everything else."""

import pytest

from mmc.cli import verbs
from mmc.cli.report_verb import report
from mmc.datasets import REGISTRY, DataError
from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError, DataAbsent
from mmc.experiments.plan import absent
from mmc.experiments.run import STORE
from mmc.experiments.store import Store
from mmc.experiments.validation import load

SMALL = (
    "title: small\ndatasets:\n  two_norm: {options: {n_pos: 30, n_neg: 30}}\nmethods:\n  L: {method: lda}\n"
    "table: {metrics: [error]}\n"
)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """No data directory, an empty cache, no network; two configs come with mmc, the one that lacks its data first."""
    downloads = []

    def refuse(entry, *_):
        downloads.append(entry.name)
        raise DataError(f"data set {entry.name!r} is not on this machine, and could not be downloaded\nby hand: ...")

    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    for module in ("finding", "fetching"):
        monkeypatch.setattr(f"mmc.datasets.{module}.cache", lambda: tmp_path / "cache")
    monkeypatch.setattr("mmc.datasets.fetching._download", refuse)
    (tmp_path / "small.yaml").write_text(SMALL)
    configs = {"mmrm_usps": bundled()["mmrm_usps"], "small": tmp_path / "small.yaml"}
    for module in ("cli.verbs", "cli.report_verb", "experiments.config"):
        monkeypatch.setattr(f"mmc.{module}.bundled", lambda: configs)
    return downloads


def test_all_go_on_past_what_is_not_here(asked, tmp_path, capsys):
    verbs.run(None, True, 1, False, tmp_path, None)
    printed = capsys.readouterr().out
    assert "mmrm_usps: not run: data set 'usps' is not on this machine" in printed
    assert "by hand" not in printed
    assert "0 informative matches, 3 not run, of 3 reported numbers" in printed
    assert (tmp_path / "small" / "table.csv").exists()
    assert not (tmp_path / "mmrm_usps").exists(), "an older table must not be overwritten"
    assert asked == ["usps"]
    verbs.show(None, True, tmp_path, None)
    verbs.plot(None, True, tmp_path, None)
    assert capsys.readouterr().out.count("mmrm_usps: not run: not on this machine: usps; `mmc data fetch usps`") == 2
    assert asked == ["usps"], "what only reads never downloads"


def test_one_that_is_named_fails(asked, tmp_path):
    with pytest.raises(ConfigError, match=r"(?s)is not on this machine.*by hand"):
        verbs.run(["mmrm_usps"], False, 1, False, tmp_path, None)
    with pytest.raises(ConfigError, match="mmrm_usps: data set 'usps'") as both:
        verbs.run(["mmrm_usps", "small"], False, 1, False, tmp_path, None)
    assert "small" not in str(both.value)
    assert (tmp_path / "small" / "table.csv").exists()
    with pytest.raises(DataAbsent, match="mmc data fetch usps"):
        verbs.show(["mmrm_usps"], False, tmp_path, None)


def test_a_config_is_valid_without_its_data(asked, capsys):
    verbs.validate(None, True)
    printed = capsys.readouterr().out.replace("\n", " ")
    assert "mmrm_usps.yaml: ok, but not on this machine: usps" in printed
    assert "small.yaml: ok, 3 trials" in printed
    assert asked == []


def test_a_check_of_all_leaves_it_out_and_downloads_nothing(asked, tmp_path, capsys):
    assert verbs.check(["small"], False, 1, True, tmp_path, None) == 0
    assert verbs.check(None, True, 1, False, tmp_path, None) == 0
    printed = capsys.readouterr().out
    assert "mmrm_usps: not run" in printed
    assert "small: 1 cells, none moved" in printed
    assert asked == []


def test_the_report_counts_its_numbers_as_not_run(asked, tmp_path, capsys):
    with Store(tmp_path / STORE):
        pass
    report(None, tmp_path / "report.html", tmp_path, None)
    assert "mmrm_usps: not run: not on this machine: usps" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text("utf-8")
    section = page[page.index('id="mmrm_usps"') :]
    assert "<b>Not run:</b> not on this machine: usps" in section[: section.index("</article>")]
    assert asked == []


def test_all_leaves_out_what_takes_long_and_says_so(asked, tmp_path, monkeypatch, capsys):
    (tmp_path / "slow.yaml").write_text(SMALL + "long: true\n")
    configs = {name: tmp_path / f"{name}.yaml" for name in ("slow", "small")}
    for module in ("cli.verbs", "experiments.config"):
        monkeypatch.setattr(f"mmc.{module}.bundled", lambda: configs)
    verbs.run(None, True, 1, False, tmp_path, None)
    printed = capsys.readouterr().out
    assert (
        "left out, because they take more than ten minutes each: slow; `mmc run --all --long` takes them in" in printed
    )
    assert not (tmp_path / "slow").exists()
    verbs.show(None, True, tmp_path, None)
    assert "store has no records" not in capsys.readouterr().out, "both have the same trials, and the same keys"

    verbs.run(None, True, 1, False, tmp_path, None, long=True)
    verbs.run(["slow"], True, 1, False, tmp_path, None)
    assert "left out" not in capsys.readouterr().out
    assert (tmp_path / "slow" / "table.csv").exists()

    assert verbs.check(None, True, 1, True, tmp_path, None) == 0
    assert verbs.check(None, True, 1, False, tmp_path, None) == 0
    assert capsys.readouterr().out.count("more than ten minutes each: slow") == 2
    assert not (tmp_path / "slow" / "reference.csv").exists()
    assert verbs.check(None, True, 1, True, tmp_path, None, long=True) == 0
    assert (tmp_path / "slow" / "reference.csv").exists()


def test_show_of_all_goes_on_past_what_was_not_run(asked, tmp_path, capsys):
    with Store(tmp_path / STORE):
        pass
    verbs.show(None, True, tmp_path, None)
    assert "the store has no records of small yet: `mmc run small` makes them" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="the store has no records of small yet"):
        verbs.show(["small"], False, tmp_path, None)


@pytest.mark.parametrize("name", bundled())
def test_only_large_sets_can_be_absent(name, tmp_path, monkeypatch):
    """Not what comes with the package, is generated, or is stated in the config."""
    monkeypatch.setattr("mmc.datasets.finding.cache", lambda: tmp_path)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    assert {REGISTRY[away].kind for away in absent(load(name), None)} <= {"large"}
