"""A sample of the damaged files; ``python -m tests.fuzz.files`` runs them all."""

import pytest

pytest.importorskip("resource")

from tests.fuzz import files


def test_every_sample_is_valid(tmp_path):
    for name, data in files.samples().items():
        path = tmp_path / name
        path.write_bytes(data)
        if name.startswith("download"):
            assert files.unpack(data, str(path), ("one",), files.Limit())
        else:
            target, encode = "kind", not name.endswith((".arff", ".libsvm"))
            drop = ["note"] if name.endswith(".arff") else ["list"] if name.endswith(".parquet") else []
            files.load_file(path, target=target, encode=encode, missing="impute", drop=drop)


def test_damaged_files_end_cleanly():
    ended = files.run(range(1600), seed=1)
    assert {number: text for number, text in ended.items() if text != "clean"} == {}


def test_the_same_number_is_the_same_file():
    assert files.make(17, 3) == files.make(17, 3)
    assert files.make(17, 3)[1] != files.make(17, 4)[1]
