"""Work on processes of this machine. A process that dies is replaced and what it did is tried again."""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from typing import Any

from workbench.contract.errors import InputError

DIED = "the process that ran it died"
TRIES = 3  # times a case may take its process with it
# Small matrices: threads would only wait for cores.
_THREADS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_processes(
    study: Any,
    todo: Sequence[tuple[int, Any]],
    jobs: int,
    answer: Callable[[Any, Any], Any],
    lost: Callable[[str], Any],
) -> Iterator[tuple[int, Any]]:
    """(place, `answer(study, point)`) of every (place, point), as they finish; `lost(how)` where its process died TRIES times.

    Processes are started afresh (spawned), each with one thread of linear algebra.

    Raises InputError when the study cannot be sent to another process, or none can be started.
    """
    packed = _packed((study, answer))
    waiting = deque(todo)
    tries = dict.fromkeys((i for i, _ in todo), 0)
    unready = 0  # processes killed before they were ready for a case, one after the other
    # connection → (process, (place, point) or None before it is ready)
    running: dict[connection.Connection, tuple] = {}
    try:
        with _one_thread():
            for _ in range(min(jobs, len(todo))):
                _start(packed, running)
            while running:
                for line in connection.wait(list(running)):
                    process, busy = running.pop(line)
                    try:
                        found = line.recv()
                    except (EOFError, ConnectionError):
                        line.close()
                        process.join()
                        if busy is None:
                            unready += 1
                            _check_start(process, unready)
                        else:
                            yield from _lost(process, busy, waiting, tries, lost)
                        if waiting:
                            _start(packed, running)
                        continue
                    _check_understood(found)
                    unready = 0
                    _go_on(line, process, waiting, running)
                    if busy is not None:
                        yield busy[0], found
    finally:
        _end(running)


def _check_understood(found: Any) -> None:
    """InputError where a process says that it cannot read the study."""
    if isinstance(found, str) and found:
        raise InputError(
            f"the study cannot be used in another process: {found}",
            mend="define it in a module, or run with one job",
        )


def _go_on(line: connection.Connection, process: Any, waiting: deque, running: dict) -> None:
    """Give a process that is ready the next case; let it go where none is waiting."""
    if not waiting:
        _dismiss(line, process)
        return
    case = waiting.popleft()
    running[line] = process, case
    with suppress(ConnectionError):  # it died meanwhile: its end of the line says so next
        line.send(case)


def _end(running: dict) -> None:
    """End all processes that still run."""
    for line, (process, _) in running.items():
        process.terminate()
        line.close()
    for process, _ in running.values():
        process.join(5)
        if process.is_alive():
            process.kill()


def _packed(study: tuple[Any, Callable]) -> bytes:
    try:
        from cloudpickle import dumps  # also takes what was typed in a notebook
    except ImportError:
        from pickle import dumps
    try:
        return dumps(study)
    except Exception as why:
        raise InputError(
            f"the study cannot be sent to another process: {why}",
            mend="define it at the top of a module, or run with one job",
        ) from why


def _start(packed: bytes, running: dict) -> None:
    context = get_context("spawn")
    line, other = context.Pipe()
    process = context.Process(target=_work, args=(other, packed), daemon=True, name="worker")
    process.start()
    other.close()
    running[line] = process, None


def _check_start(process, times: int) -> None:
    """A process ended before its first case. Killed, it is replaced, TRIES times in a row; else it cannot be started at all."""
    code = process.exitcode
    if code is None or code >= 0:
        raise InputError(
            f"a process could not be started (exit code {code})",
            mend="in a script, call it below 'if __name__ == \"__main__\":'; or run with one job",
        )
    if times >= TRIES:
        raise InputError(
            f"processes were killed {times} times before their first case, by signal {-code}, as "
            "when memory runs out",
            mend="run with fewer jobs, or close what else needs memory",
        )


def _lost(
    process, busy, waiting: deque, tries: dict, lost: Callable[[str], Any]
) -> Iterator[tuple[int, Any]]:
    """A process died: its case goes to the front, or is given up."""
    tries[busy[0]] += 1
    if tries[busy[0]] < TRIES:
        waiting.appendleft(busy)
        return
    code = process.exitcode
    how = (
        f"by signal {-code}, as when memory runs out"
        if code and code < 0
        else f"with exit code {code}"
    )
    yield busy[0], lost(f"{DIED} {TRIES} times, {how}")


def _dismiss(line, process) -> None:
    with suppress(OSError):
        line.send(None)
    line.close()
    process.join(5)


@contextmanager
def _one_thread():
    """The environment that new processes get."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _work(line, packed: bytes) -> None:
    """What a process does: ready, then one case after the other, until told to stop or left alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends this process
    try:
        study, answer = pickle.loads(packed)
    except Exception as why:
        line.send(f"{type(why).__name__}: {why}")
        return
    with suppress(EOFError, ConnectionError, BrokenPipeError):  # the parent is gone
        line.send("")
        while (case := line.recv()) is not None:
            line.send(answer(study, case[1]))
