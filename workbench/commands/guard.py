"""A command whose failures are said in words, with their exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.contract.errors import InputError, Notice

BAD = 3
FAULT = 70
INTERRUPTED = 130

OBJECTS = 50_000  # made and not given back between two looks for circles of objects; Python's own number is 700


@contextmanager
def few_collections() -> Iterator[None]:
    """Python's search for circles of objects that nobody holds is rare inside: graphs of expressions have many objects and few
    circles, and each search walks through all of them.
    """
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _guarded(action: Callable[[], int]) -> int:
    """Run a command; every way it can fail becomes a message and an exit code."""
    import warnings

    from workbench.commands.terminal import complain

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that cannot show β still shows the rest
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", RuntimeWarning
            )  # a diverging run overflows; the verdict says so
            warnings.simplefilter("always", Notice)
            warnings.showwarning = _told
            return action()
    except InputError as why:
        complain(str(why))
        return BAD
    except KeyboardInterrupt:
        complain("interrupted; files not listed above were not written")
        return INTERRUPTED
    except (
        BrokenPipeError
    ):  # the reader has gone (`| head`); Python must not complain when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD
    except MemoryError:
        complain(
            "there is not enough memory for this\n  mend: shorten the run, or log less often (log_period)"
        )
        return BAD
    except Exception as why:
        if os.environ.get("FLUIDPROOF_DEBUG"):
            raise
        complain(
            f"a fault of the workbench, not of your file: {type(why).__name__}: {why}\n"
            "  mend: run it again with FLUIDPROOF_DEBUG=1 and report what it prints"
        )
        return FAULT


def _told(message, *_) -> None:
    """A warning as one line for readers, without the line of code that gave it."""
    from workbench.commands.terminal import complain

    complain(f"note: {message}")
