"""A scan of files and frames gives the moments of the whole table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mmc.methods import LDA, Moments, sources


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(sources, "CELLS", 3000)
    monkeypatch.setattr(sources, "_BLOCK", 20_000)


def frame(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)) + 1e3, columns=["a", "b", "c"])
    data["n"] = rng.integers(0, 9, n)
    data["f"] = rng.normal(size=n).astype(np.float32)
    data["y"] = np.where(rng.random(n) < 0.4, "yes", "no")
    data["w"] = rng.integers(0, 3, n)
    return data


def assert_moments(found, data, weight=False, columns=("a", "b", "c", "n", "f")):
    expected = Moments.of(data[[*columns]], data["y"], data["w"] if weight else None)
    assert list(found) == list(expected)
    for label, m in found.items():
        assert m.count == expected[label].count
        assert m.names == tuple(columns)
        np.testing.assert_allclose(m.mean, expected[label].mean, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(m.covariance, expected[label].covariance, rtol=1e-9, atol=1e-12)
        assert m.fourth == pytest.approx(expected[label].fourth, rel=1e-10)


def write(data, path):
    data.to_parquet(path, row_group_size=700) if path.suffix == ".parquet" else data.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_file_several_files_and_a_folder(tmp_path, ending):
    data = frame()
    if ending == ".csv":
        data["f"] = data["f"].astype(np.float64)  # float32 would be written with fewer digits
    columns = ["a", "b", "c", "n", "f"]
    one = write(data, tmp_path / f"all{ending}")
    assert_moments(Moments.scan(one, target="y", columns=columns), data)
    assert_moments(Moments.scan(str(one), target="y", columns=columns, weight="w"), data, weight=True)
    assert_moments(Moments.scan(write(data[["a", "y"]], tmp_path / f"two{ending}"), target="y"), data, columns=("a",))
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "README.txt").write_text("not a table")
    parts = [write(part, folder / f"{i}{ending}") for i, part in enumerate((data[:1], data[1:2500], data[2500:]))]
    assert_moments(Moments.scan(parts, target="y", columns=columns), data)
    assert_moments(Moments.scan(folder, target="y", columns=columns), data)


def test_frames():
    data = frame()
    columns = ["a", "b", "c", "n", "f"]
    assert_moments(Moments.scan(data, target="y", columns=columns, weight="w"), data, weight=True)
    assert_moments(Moments.scan(pl.from_pandas(data), target="y", columns=columns), data)
    categorical = data.assign(y=data["y"].astype("category"))
    assert_moments(Moments.scan(categorical, target="y", columns=columns), data)


def test_a_file_that_begins_with_whole_numbers_or_holds_numbers_as_labels(tmp_path):
    data = pd.DataFrame({"x": np.r_[np.arange(4000), 0.5, 0.25], "y": np.arange(4002) % 2})
    found = Moments.scan(write(data, tmp_path / "t.csv"), target="y")
    assert list(found) == [0, 1]
    assert found.total().mean[0] == pytest.approx(data["x"].mean(), rel=1e-12)


def test_fit_from_a_scan(tmp_path):
    data = frame()
    model = LDA().fit_moments(Moments.scan(write(data, tmp_path / "t.csv"), target="y", columns=["a", "b", "c"]))
    whole = LDA().fit(data[["a", "b", "c"]], data["y"])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(data[["a", "b", "c"]]), whole.predict(data[["a", "b", "c"]]))


def test_what_cannot_be_scanned_is_told(tmp_path):
    data = frame(50)
    path = write(data, tmp_path / "t.csv")
    for source, options, why in (
        (tmp_path / "no.csv", {}, "no such file"),
        (path, {"target": "yy"}, "no column 'yy'"),
        (path, {"columns": ["a", "bb"]}, "no column 'bb'"),
        (path, {"columns": ["a", "y"]}, "besides the target"),
        (data.assign(t="x"), {}, "'t' holds"),
        ([path, write(data, tmp_path / "t.parquet")], {}, "files of one kind"),
        (data.assign(a=np.nan), {}, "'a' has 50 missing cells"),
        (data.assign(a=np.inf), {}, "NaN or infinity"),
        (data.assign(y=None), {}, "without a label"),
        (data.assign(w=-1), {"weight": "w"}, "negative weight"),
        (data[:0], {}, "no rows"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=why):
            Moments.scan(source, **{"target": "y", **options})
    with pytest.raises(TypeError, match="a scan takes paths"):
        Moments.scan(3, target="y")
    for name, text in (("short.csv", "a,y\n1,u\n2\n"), ("text.csv", "a,y\n" + "1,u\n" * 30_000 + "oops,v\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=name):
            Moments.scan(tmp_path / name, target="y")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match=r"t\.parquet"):
        Moments.scan(tmp_path / "t.parquet", target="y")


def test_dask_partitions_and_workers(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    data = frame()
    columns = ["a", "b", "c", "n", "f"]
    parted = dask.from_pandas(data, npartitions=7)
    assert_moments(Moments.scan(parted, target="y", columns=columns), data)
    path = write(data, tmp_path / "t.parquet")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_moments(Moments.scan(parted, target="y", columns=columns, cluster=client), data)
        assert_moments(Moments.scan(path, target="y", columns=columns, cluster=client), data)
        travelled = [entry["total"] for worker in cluster.workers.values() for entry in worker.transfer_outgoing_log]
        partition = data.memory_usage(index=False).sum() / parted.npartitions
        assert max(travelled, default=0) < partition / 2, "only moments travel"
