"""Power laws through what was measured: exact where the measurements are, ended by a limit, absent where too few are told."""

import csv

import numpy as np
import pytest

from benchmarks import __main__ as benchmarks
from benchmarks._scaling import AHEAD, Fit, _law, amount, duration, earlier, text, write


def _fits(model="SVM, libsvm", sizes=(1000, 2000, 4000, 8000), memory=1e-3):
    return [Fit(model, n, 2e-6 * n**1.5, memory * n, None) for n in sizes]


def test_a_power_law_is_found_and_extended():
    law = _law(_fits(), "SVM, libsvm", "seconds")
    assert law.line.slope == pytest.approx(1.5)
    assert law.line.slope_se == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(law(np.array(AHEAD)), 2e-6 * AHEAD**1.5)


def test_scatter_widens_the_band_with_the_distance():
    fits = [Fit(f.model, f.n, f.seconds * 1.3 ** (-1) ** i, f.megabytes, None) for i, f in enumerate(_fits())]
    law, low, high = _law(fits, "SVM, libsvm", "seconds")(np.array([3000, AHEAD]))
    assert np.all((low < law) & (law < high))
    assert high[1] / low[1] > high[0] / low[0]


def test_memory_ends_at_the_setting_that_limits_it():
    assert _law(_fits(memory=1e-2), "SVM, libsvm", "megabytes")(np.array(AHEAD))[0] == 200
    assert _law(_fits("MMRM", memory=1e-2), "MMRM", "megabytes")(np.array(AHEAD))[0] == pytest.approx(1180)


def test_memory_that_cannot_be_told_takes_no_part():
    fits = [Fit("MMRM", n, 1.0, 0.0 if n < 3000 else 1e-2 * n, None) for n in (500, 1000, 4000, 8000, 16000)]
    assert _law(fits, "MMRM", "megabytes").line.slope == pytest.approx(1)
    assert _law(fits[:4], "MMRM", "megabytes") is None


def test_the_files_hold_every_measurement(tmp_path):
    fits = [
        *_fits(),
        *(Fit("MMRM", f.n, 9 * f.seconds, f.megabytes, 1e-5) for f in _fits()),
        Fit("LP", 1000, 7.0, 9.0, 1e-9),
    ]
    write(fits, tmp_path)
    with (tmp_path / "scaling.csv").open() as file:
        assert [float(row["seconds"]) for row in csv.DictReader(file)] == [fit.seconds for fit in fits]
    assert {path.name for path in tmp_path.iterdir()} == {f"scaling.{end}" for end in ("csv", "svg", "png", "md")}
    assert "| LP | 7.0 | – | – | – | – | – |" in text(fits)


def test_earlier_code_stands_beside_this_one_at_the_largest_size_of_both(tmp_path):
    before = [Fit("RMM", f.n, f.seconds, f.megabytes, 1e-7) for f in _fits(sizes=(1000, 2000, 4000), memory=2e-3)]
    write(before, tmp_path)
    (tmp_path / "scaling.csv").rename(tmp_path / "before.csv")
    write([Fit("RMM", f.n, f.seconds / 4, f.megabytes, 1e-7) for f in _fits(memory=2e-3)], tmp_path)
    assert earlier(tmp_path) == before
    law, memory = "1.500 ± 0.000 | 1.500 ± 0.000", "1.000 ± 0.000 | 1.000 ± 0.000"
    assert f"| RMM | 4,000 | 0.51 | 0.13 | {law} | 8.0 | 8.0 | {memory} |\n" in (tmp_path / "scaling.md").read_text()


@pytest.mark.parametrize(
    ("value", "words"), [(0.5, "0.5 s"), (119, "120 s"), (1200, "20 min"), (90e3, "25 h"), (1e6, "12 days")]
)
def test_durations_in_words(value, words):
    assert duration(value) == words


def test_amounts_in_words():
    assert [amount(v) for v in (12.3, 1234, 1.3e6)] == ["12 MB", "1.2 GB", "1.3 TB"]


@pytest.mark.parametrize("name", ["scaling", "usps"])
def test_a_benchmark_without_its_data_says_so(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MMC_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert benchmarks.main([name]) == 0
    assert "is not on this machine" in capsys.readouterr().out
