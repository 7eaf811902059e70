"""Work that goes on beside the caller's, on threads: simulated runs are compiled and run outside Python's lock.

What is found is the same as one after the other, only earlier: claims share nothing that one of them changes for another.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TypeVar

from workbench.run.workers import Workers

Found = TypeVar("Found")
GIVES_WAY = 10  # added to the nice value of threads beside the caller's


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

    with Workers(max(1, len(works)), initializer=_give_way) as pool:
        found = [pool.submit(work, look) for work in works]
        try:
            yield found
        except BaseException:
            over.set()
            for one in found:
                one.cancel()
            raise


def _give_way() -> None:
    """Let the caller's thread go first where processors are few: what waits for it can begin sooner, and this work fills the gaps.

    Only Linux has priorities of threads.
    """
    if sys.platform == "linux":
        own = threading.get_native_id()
        with suppress(OSError):  # a system that refuses it: the work is as soon as any other
            before = os.getpriority(os.PRIO_PROCESS, own)
            os.setpriority(os.PRIO_PROCESS, own, before + GIVES_WAY)
