"""What tests of several rooms share."""

import threading

import pytest

from tests.datasets.serving import Server


@pytest.fixture
def server():
    """Return a running server, without files."""
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()
