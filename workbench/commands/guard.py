"""A command whose failures are said in words, with their exit codes."""

from __future__ import annotations

import codecs
import errno
import gc
import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from workbench.commands.codes import BAD, FAULT, INTERRUPTED
from workbench.contract.errors import InputError, Notice

FULL = (errno.ENOSPC, errno.EDQUOT)

SPELLED = "fluidproof-spelled"  # how a terminal that knows no Greek is written to
SIGNS = {
    **dict.fromkeys("–—−‑", "-"),
    **dict.fromkeys("“”„‘’", "'"),
    **dict.fromkeys("·•", "|"),
    **{
        "…": "...",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "±": "+-",
        "→": "->",
        "←": "<-",
        "≈": "~",
    },
    **{"°": "deg", "²": "^2", "³": "^3", "¹": "^1", "⁻": "^-", "µ": "u", "∞": "inf", "√": "sqrt"},
    **{"Σ": "Sum", "∈": "in", "½": "1/2", "¼": "1/4", "∂": "d"},
}

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

    seen: list[int] = []
    codecs.register_error(SPELLED, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SPELLED)
    try:
        with warnings.catch_warnings():
            # A diverging run overflows; the verdict says so.
            warnings.simplefilter("ignore", RuntimeWarning)
            warnings.simplefilter("always", Notice)
            warnings.showwarning = _told
            with _interrupts() as seen:
                return action()
    except InputError as why:
        complain(str(why))
        return BAD
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:  # the reader has gone (`| head`)
        _silenced()
        return BAD
    except MemoryError:
        complain(
            "there is not enough memory for this\n  mend: shorten the run, or log less often (log_period)"
        )
        return BAD
    except Exception as why:
        if seen:  # a library that was being imported turned the interrupt into a failure of its own
            return _interrupted()
        if isinstance(why, OSError) and why.errno in FULL:
            complain(f"{why.filename or 'standard output'}: there is no space left to write to")
            _silenced()
            return BAD
        return _fault(why)


def _fault(why: Exception) -> int:
    """The code for a failure of the program itself, raised again where somebody looks for it."""
    from workbench.commands.terminal import complain

    if os.environ.get("FLUIDPROOF_DEBUG"):
        raise why
    complain(
        f"a fault of the workbench, not of your file: {type(why).__name__}: {why}\n"
        "  mend: run it again with FLUIDPROOF_DEBUG=1 and report what it prints"
    )
    return FAULT


def _silenced() -> None:
    """What is left for standard output goes nowhere, so that Python does not complain of it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    from workbench.commands.terminal import complain

    complain("interrupted; files not listed above were not written")
    return INTERRUPTED


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Ctrl-C raises KeyboardInterrupt inside, as ever, and is remembered in the list that this yields."""
    seen: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _spelled(why: UnicodeError) -> tuple[str, int]:
    """Letters that a stream cannot take, in ASCII: λ_x is lambda_x, as files may write it, 10 m/s² is 10 m/s^2."""
    from workbench.cases.shape import spelled

    assert isinstance(why, UnicodeEncodeError)
    cannot = why.object[why.start : why.end]
    found = ""
    for k, letter in enumerate(cannot, why.start):
        word = (
            SIGNS.get(letter)
            or spelled(why.object[k : k + 2])[: None if k + 1 >= len(why.object) else -1]
        )
        found += unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode() or "?"
    return found, why.end


def _told(message, *_) -> None:
    """A warning as one line for readers, without the line of code that gave it."""
    from workbench.commands.terminal import complain

    complain(f"note: {message}")
