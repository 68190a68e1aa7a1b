"""A streamed fit keeps what a fit in memory promises, sees the same parts in every pass, and holds no rows."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import mmc
from mmc.cli import app
from mmc.experiments.own import stream_reading, streaming
from mmc.experiments.own.errors import RequestError, TableError
from mmc.experiments.own.fitting import Request

from .making import parts


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(stream_reading, "_BLOCK", 30_000)
    monkeypatch.setattr(stream_reading, "_ROWS", 500)


def written(tmp_path, ending=".csv", n=6000, **changes):
    table = parts(n).assign(**changes)
    path = tmp_path / f"parts{ending}"
    table.to_csv(path, index=False) if ending == ".csv" else table.to_parquet(path)
    return path


def streamed(path, **options):
    request = Request(path, "verdict", **{"max_error": {"defect": 0.2}, **options})
    seen = []
    chosen = streaming.choose_streamed(request, lambda *_: None, lambda *now: seen.append(now))
    return chosen, streaming.finish_streamed(chosen, lambda *now: seen.append(now)), seen


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_promise_is_kept_and_every_row_is_counted_once(tmp_path, ending):
    path = written(tmp_path, ending)
    chosen, outcome, seen = streamed(path)
    counts = dict(outcome.chosen.sizes)
    assert list(counts) == ["training", "calibration", "test"]
    table = parts(6000)
    for at, label in enumerate(("defect", "fine")):
        assert sum(part[at] for part in counts.values()) == (table["verdict"] == label).sum()
    for name, share in (("calibration", chosen.shares.calibration), ("test", 0.2)):
        assert sum(counts[name]) / 6000 == pytest.approx(share, abs=4 * (share * (1 - share) / 6000) ** 0.5)
    promise = outcome.promises[0]
    assert promise.asked == 0.2
    assert promise.bound <= 0.2
    assert promise.n == counts["calibration"][0]
    assert not outcome.doubts
    assert {words for *_, words in seen} == {"reading", "summing up", "scoring"}
    size = path.stat().st_size
    assert [read for read, _, words in seen if words == "scoring"][-1] == size


def test_the_scaling_and_the_classifier_are_those_of_all_training_rows(tmp_path):
    path = written(tmp_path)
    _, outcome, _ = streamed(path)
    pipeline = outcome.model.estimator_
    table = parts(6000)
    keys = streaming.hashed(0, 6000, 0)
    shares = outcome.chosen.shares
    train = keys >= shares.test + shares.calibration
    frame = streaming.frame_of(table, outcome.chosen.examples.columns, path)
    X = np.asarray(pipeline[:-2].transform(frame[train]), dtype=np.float64)
    np.testing.assert_allclose(pipeline[-2].mean_, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pipeline[-2].scale_, np.where(X.std(axis=0) > 0, X.std(axis=0), 1), rtol=1e-9)
    again = type(pipeline[-1])(**pipeline[-1].get_params()).fit(pipeline[-2].transform(X), table["verdict"][train])
    np.testing.assert_allclose(pipeline[-1].coef_, again.coef_, rtol=1e-8, atol=1e-9 * np.abs(again.coef_).max())


def test_the_seed_decides_the_parts():
    first, again, other = (streaming.hashed(100, 5000, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(streaming.hashed(0, 5100, 1)[100:], first)
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.06
    assert np.histogram(first, 10, (0, 1))[0].min() > 400


def test_a_sample_of_scores_is_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "SCORES", 300)
    _, outcome, _ = streamed(written(tmp_path))
    assert outcome.promises[0].n == 300
    assert outcome.promises[0].bound <= 0.2


def test_the_command_streams_large_files_and_predicts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path)
    asked = ["fit", str(path), "--target", "verdict", "--max-error", "defect=0.2", "--out", "p.model"]
    done = CliRunner().invoke(app, [*asked, "--memory", "0.1"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "is large beside the memory" in said
    assert "6,000 rows: training" in said
    done = CliRunner().invoke(app, ["predict", "p.model", str(path), "--out", "out.csv"])
    assert done.exit_code == 0, done.output
    table, found = parts(6000), pd.read_csv("out.csv")
    wrong = (found["label"] != table["verdict"])[table["verdict"] == "defect"].mean()
    assert wrong < 0.23
    assert mmc.load("p.model").guarantee_["defect"].asked == 0.2
    assert not streaming.too_large(path, None)
    shown = CliRunner().invoke(app, ["fit", str(path), "--target", "verdict", "--memory", "0.1"])
    assert shown.exit_code == 0, shown.output
    assert "rows needed" in shown.output


def test_what_is_wrong_with_a_streamed_table_is_told(tmp_path):
    path = written(tmp_path)
    with pytest.raises(RequestError, match="no column 'verdikt' for --target"):
        streaming.choose_streamed(Request(path, "verdikt"), lambda *_: None, lambda *_: None)
    with pytest.raises(RequestError, match="needs all rows at once"):
        streamed(path, methods=["svm"])
    with pytest.raises(TableError, match="the target 'verdict' is missing"):
        streamed(written(tmp_path, verdict=parts(6000)["verdict"].where(np.arange(6000) != 5990)))
    late = parts(6000)["verdict"].where(np.arange(6000) != 5, "scrap")
    with pytest.raises(TableError, match="'scrap'"):
        streamed(written(tmp_path, verdict=late))
    text = parts(6000)["weight"].astype(object).where(streaming.hashed(0, 6000, 0) > 0.02, "heavy")
    with pytest.raises(TableError, match="heavy"):
        streamed(written(tmp_path, weight=text))
