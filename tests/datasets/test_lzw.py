"""Files of compress, against a plain writer of the format and against gzip, which reads it too."""

import shutil
import subprocess

import numpy as np
import pytest

from mmc.datasets import lzw

from .tiny import compress

RNG = np.random.default_rng(0)
TEXTS = {
    "empty": b"",
    "one byte": b"a",
    "a code of itself": b"a" * 5000,
    "numbers": " ".join(f"{v:.2f}" for v in RNG.normal(size=12000)).encode(),
    "noise": RNG.integers(0, 256, 3000).astype(np.uint8).tobytes(),
}


@pytest.mark.parametrize("clear_at", [(), (40, 41, 700, 2500)])
@pytest.mark.parametrize("widest", [10, 12, 16])
@pytest.mark.parametrize("text", TEXTS)
def test_what_was_written_is_read(text, widest, clear_at):
    packed = compress(TEXTS[text], widest, clear_at)
    assert lzw.decompress(packed) == TEXTS[text]
    if shutil.which("gzip") and TEXTS[text]:
        assert subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True).stdout == TEXTS[text]


@pytest.mark.parametrize(
    "damaged", [b"", b"\x1f\x9d", b"\x1f\x9d\x80abc", b"\x1f\x8b\x90abc", b"\x1f\x9d\x90" + b"\xff" * 40]
)
def test_damage_is_an_error(damaged):
    with pytest.raises(ValueError, match=r"not a file of compress|before its turn"):
        lzw.decompress(damaged)


@pytest.mark.parametrize("text", TEXTS)
def test_a_cut_gives_a_beginning(text):
    """The data may end inside a code; the reader must end too."""
    packed = compress(TEXTS[text], 12)
    for end in {*range(3, min(40, len(packed))), len(packed)}:
        assert TEXTS[text].startswith(lzw.decompress(packed[:end]))
