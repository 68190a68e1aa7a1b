"""What the tests of this room share."""

import pytest


@pytest.fixture
def put(tmp_path):
    """Write text (or bytes) to a file of the given name and return its path."""

    def _put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _put
