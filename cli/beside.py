"""Work that is done in a thread while the command goes on: figures are drawn while the next config is fitted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

Later = Callable[[Callable[[], None]], None]


@contextmanager
def beside() -> Iterator[Later]:
    """Yield a function that takes pieces of work. They are done one after the other; the context ends when all are done.

    An error in one is raised when the next is given, or at the end. If the context ends with an error of its own, what was not
    begun is left.
    """
    thread = ThreadPoolExecutor(1)
    given: deque[Future[None]] = deque()

    def later(work: Callable[[], None]) -> None:
        while given and given[0].done():
            given.popleft().result()
        given.append(thread.submit(work))

    try:
        yield later
        for work in given:
            work.result()
    finally:
        thread.shutdown(cancel_futures=True)
