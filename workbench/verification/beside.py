"""Work that goes on beside the caller's, on threads: simulated runs are compiled and run outside Python's lock.

What is found is the same as one after the other, only earlier: claims share nothing that one of them changes for another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from workbench.run.workers import Workers

Found = TypeVar("Found")


class Abandoned(Exception):
    """Raised inside of work that nobody waits for any more."""


@contextmanager
def beside(
    works: Sequence[Callable[[Callable[[], None]], Found]],
) -> Iterator[list[Future[Found]]]:
    """The results to come of `works`, each on a thread of its own while the caller goes on.

    Each is called with a function to call along the way: it raises Abandoned where the caller has failed or was interrupted
    meanwhile, so that a scan of many runs ends with the run it is in.
    """
    over = threading.Event()

    def look() -> None:
        if over.is_set():
            raise Abandoned

    with Workers(max(1, len(works))) as pool:
        found = [pool.submit(work, look) for work in works]
        try:
            yield found
        except BaseException:
            over.set()
            for one in found:
                one.cancel()
            raise
