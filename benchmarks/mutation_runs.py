"""Tests run again and again in forks of one process that has collected them: for a map of what they reach, and for mutants.

A plugin of pytest, used by `benchmarks/mutation.py`. Everything is imported and collected once; each fork then starts in
milliseconds with nothing cached. A change inside functions is made by putting the changed code into the functions that are
loaded; one that acts while a module is imported needs a fresh process, on a copy of the tree.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
import traceback
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from mutants import ROOT, Mutant, mutated

MEMORY = 8 * 2**30  # bytes of address space a fork may take


class Forks:
    """Runs tests in forks. `work(session)` is called instead of pytest's own loop."""

    def __init__(self, work):
        self.work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session) -> bool:
        gc.collect()
        keep_functions()
        gc.freeze()  # forks share its pages; what is frozen, `gc.get_objects` does not show
        self.work(session)
        return True


def forked(task, limit: float) -> int | None:
    """The exit status of task() in a fork that prints nothing; None past the limit in s."""
    child = os.fork()
    if child == 0:
        _run_and_leave(task)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run_and_leave(task) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    status = 70
    try:
        status = task()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


# ---- a mutant ---------------------------------------------------------------------------------------------------------
class CannotReplace(Exception):
    """The changed code does not fit the functions that are loaded."""


_functions: dict[str, list[FunctionType]] = defaultdict(list)  # of each file, before the forks


def keep_functions() -> None:
    """Remember the functions of ours that are loaded, by file."""
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(f"{ROOT}/"):
            _functions[thing.__code__.co_filename].append(thing)


def functions_of(file: str) -> list[FunctionType]:
    """The functions of a file, which is imported where nothing has imported it yet."""
    import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    path = str(ROOT / file)
    since = [
        thing
        for thing in gc.get_objects()
        if type(thing) is FunctionType and thing.__code__.co_filename == path
    ]
    return [*_functions[path], *since]


def replace_code(mutant: Mutant) -> None:
    """Put the changed code of a file into its functions, wherever they are referred to."""
    path = str(ROOT / mutant.file)
    source = mutated(Path(path).read_text("utf-8"), mutant)
    made = _codes(compile(source, path, "exec", dont_inherit=True))
    places = 0
    for thing in functions_of(mutant.file):
        new = made.get((thing.__code__.co_qualname, thing.__code__.co_firstlineno))
        if new is None:
            continue
        try:
            thing.__code__ = new
        except ValueError as why:
            raise CannotReplace(str(why)) from why
        name = new.co_qualname.partition(".<locals>")[0]
        places += name == mutant.function
    if not places:
        raise CannotReplace(f"{mutant.function} is not loaded")


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    found = {}
    stack = [code]
    while stack:
        one = stack.pop()
        found[one.co_qualname, one.co_firstlineno] = one
        stack += [c for c in one.co_consts if isinstance(c, CodeType)]
    return found


KILLED, SURVIVED, NOT_APPLIED = 1, 0, 3


def tried(session, items, mutant: Mutant | None) -> int:
    """Run tests with the change made, up to the first that fails."""
    if mutant is not None:
        try:
            replace_code(mutant)
        except CannotReplace:
            return NOT_APPLIED
    for item, following in zip(items, [*items[1:], None]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return KILLED
    return SURVIVED
