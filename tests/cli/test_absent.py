"""Data that are not on this machine: said clearly, and no failure of everything else."""

import pytest

from mmc.cli import check_verb, verbs
from mmc.cli.choices import Places, Power, Selection
from mmc.cli.report_verb import report
from mmc.datasets import REGISTRY, DataError
from mmc.experiments.config import bundled
from mmc.experiments.errors import ConfigError, DataAbsent
from mmc.experiments.folders import STORE, packaged
from mmc.experiments.plan import absent
from mmc.experiments.store import Store
from mmc.experiments.validation import load

SMALL = (
    "title: small\ndatasets:\n  two_norm: {options: {n_pos: 30, n_neg: 30}}\nmethods:\n  L: {method: lda}\n"
    "table: {metrics: [error]}\n"
)


ALL = Selection(everything=True)


def at(folder):
    return Places(folder, folder / "references")


def run(folder, *names, everything=False, long=False):
    return verbs.run(Selection(names, everything, long), at(folder), Power(1))


def check(folder, *names, everything=False, update=False, long=False):
    verb = check_verb.update if update else check_verb.check
    return verb(Selection(names, everything, long), at(folder), Power(1))


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
    for module in ("cli.choices", "experiments.config"):
        monkeypatch.setattr(f"mmc.{module}.bundled", lambda: configs)
    monkeypatch.setattr("mmc.cli.choices.packaged", lambda: tmp_path / "package")
    return downloads


def test_all_go_on_past_what_is_not_here(asked, tmp_path, capsys):
    run(tmp_path, everything=True)
    printed = capsys.readouterr().out
    assert "mmrm_usps: not run: data set 'usps' is not on this machine" in printed
    assert "by hand" not in printed
    assert "0 informative matches, 3 not run, of 3 reported numbers" in printed
    assert (tmp_path / "small" / "table.csv").exists()
    assert not (tmp_path / "mmrm_usps").exists(), "an older table must not be overwritten"
    assert asked == ["usps"]
    verbs.show(ALL, at(tmp_path))
    verbs.plot(ALL, at(tmp_path))
    assert capsys.readouterr().out.count("mmrm_usps: not run: not on this machine: usps; `mmc data fetch usps`") == 2
    assert asked == ["usps"], "what only reads never downloads"


def test_one_that_is_named_fails(asked, tmp_path):
    with pytest.raises(ConfigError, match=r"(?s)is not on this machine.*by hand"):
        run(tmp_path, "mmrm_usps")
    with pytest.raises(ConfigError, match="mmrm_usps: data set 'usps'") as both:
        run(tmp_path, "mmrm_usps", "small")
    assert "small" not in str(both.value)
    assert (tmp_path / "small" / "table.csv").exists()
    with pytest.raises(DataAbsent, match="mmc data fetch usps"):
        verbs.show(Selection(("mmrm_usps",)), at(tmp_path))


def test_the_reference_is_shown_where_neither_data_nor_records_are(asked, tmp_path, monkeypatch, capsys):
    """As after `pip install`: the references came with the package."""
    monkeypatch.setattr("mmc.cli.choices.packaged", packaged)
    verbs.show(Selection(("mmrm_usps",)), at(tmp_path))
    printed = capsys.readouterr().out
    assert "mmrm_usps: not run here. This is the reference of commit" in printed
    assert "of 3 reported numbers" in printed
    assert asked == []


def test_a_config_is_valid_without_its_data(asked, capsys):
    verbs.validate(ALL)
    printed = capsys.readouterr().out.replace("\n", " ")
    assert "mmrm_usps.yaml: ok, but not on this machine: usps" in printed
    assert "small.yaml: ok, 3 trials" in printed
    assert asked == []


def test_a_check_of_all_leaves_it_out_and_downloads_nothing(asked, tmp_path, capsys):
    assert check(tmp_path, "small", update=True) == 0
    assert check(tmp_path, everything=True) == 0
    printed = capsys.readouterr().out
    assert "mmrm_usps: not run" in printed
    assert "small: 1 cells, none moved" in printed
    assert asked == []


def test_the_report_counts_its_numbers_as_not_run(asked, tmp_path, capsys):
    with Store(tmp_path / STORE):
        pass
    report(None, tmp_path / "report.html", at(tmp_path))
    assert "mmrm_usps: not run: not on this machine: usps" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text("utf-8")
    section = page[page.index('id="mmrm_usps"') :]
    assert "<b>Not run:</b> not on this machine: usps" in section[: section.index("</article>")]
    assert asked == []


def test_all_leaves_out_what_takes_long_and_says_so(asked, tmp_path, monkeypatch, capsys):
    (tmp_path / "slow.yaml").write_text(SMALL + "long: true\n")
    configs = {name: tmp_path / f"{name}.yaml" for name in ("slow", "small")}
    for module in ("cli.choices", "experiments.config"):
        monkeypatch.setattr(f"mmc.{module}.bundled", lambda: configs)
    run(tmp_path, everything=True)
    printed = capsys.readouterr().out
    assert (
        "left out, because they take more than ten minutes each: slow; `mmc run --all --long` takes them in" in printed
    )
    assert not (tmp_path / "slow").exists()
    verbs.show(ALL, at(tmp_path))
    assert "has no records" not in capsys.readouterr().out, "both have the same trials, and the same keys"

    run(tmp_path, everything=True, long=True)
    run(tmp_path, "slow", everything=True)
    assert "left out" not in capsys.readouterr().out
    assert (tmp_path / "slow" / "table.csv").exists()

    assert check(tmp_path, everything=True, update=True) == 0
    assert check(tmp_path, everything=True) == 0
    assert capsys.readouterr().out.count("more than ten minutes each: slow") == 2
    assert not (tmp_path / "references" / "slow").exists()
    assert check(tmp_path, everything=True, update=True, long=True) == 0
    assert (tmp_path / "references" / "slow" / "reference.csv").exists()


def test_show_of_all_goes_on_past_what_was_not_run(asked, tmp_path, capsys):
    with Store(tmp_path / STORE):
        pass
    verbs.show(ALL, at(tmp_path))
    assert "has no records of small yet: `mmc run small` makes them" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="has no records of small yet"):
        verbs.show(Selection(("small",)), at(tmp_path))


@pytest.mark.parametrize("name", bundled())
def test_only_large_sets_can_be_absent(name, tmp_path, monkeypatch):
    """Not what comes with the package, is generated, or is stated in the config."""
    monkeypatch.setattr("mmc.datasets.finding.cache", lambda: tmp_path)
    monkeypatch.delenv("MMC_DATA_DIR", raising=False)
    assert {REGISTRY[away].kind for away in absent(load(name), None)} <= {"large"}
