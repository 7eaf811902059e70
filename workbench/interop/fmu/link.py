"""The line to a process that runs an FMU: asked with a time limit, and every way it can end becomes a sentence.

failure                     what follows
a status of the FMU         InputError with the function, the status and what the FMU said
a crash                     InputError with the signal; the process is gone, the next run gets another one
no answer in `limit`        the process is killed, InputError
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.interop.fmu import worker
from workbench.interop.fmu.worker import (
    ADVANCE,
    BEGIN,
    DONE,
    FLOW,
    HEAD,
    INSTANT,
    MEASURE,
    OPEN,
    REFUSED,
    SLOPES,
    STEPS,
)

START = 60.0  # s, for a new process
LOOK = 0.05  # s between looks at the clock
IDLE = 3  # processes of one FMU that wait for the next run
INSTALL = "install it: pip install 'fluidproof[fmi]'"
WHAT = "an FMU, foreign code"
_NAMES = ("loading", "initialising", "measuring", "stepping", "evaluating", "differentiating")


def check_installed() -> None:
    """Raise InputError where FMPy is missing."""
    if find_spec("fmpy") is None:
        raise InputError("running an FMU needs the package FMPy", mend=INSTALL)


@final
@dataclass(frozen=True)
class Spec:
    """What a process needs to know of an FMU: text for `worker`; once: a process serves one run only; tool: it needs the
    tool that made it."""

    file: str
    text: str
    limit: float
    once: bool
    tool: bool = False


class Link:
    """One process with one FMU, for one run at a time."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.deadline = np.inf
        self.late = False
        self.made_by = os.getpid()
        self.lock = threading.Lock()
        paths = json.dumps([os.path.abspath(p) for p in sys.path if isinstance(p, str)])
        text = f"import sys; sys.path[:] = {paths}; from {worker.__name__} import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the parent, which ends this process
        )
        _all.add(self)
        watch = threading.Thread(target=_watch, args=(weakref.ref(self),), daemon=True)
        watch.start()
        try:
            self.ask(OPEN, spec.text.encode(), limit=max(START, spec.limit))
        except BaseException:
            self.close()
            raise

    def begin(self, settings: list, x0: list | None) -> tuple[bool, np.ndarray]:
        """(whether it has events, the states it begins with) of a new run."""
        answer = self.ask(BEGIN, json.dumps([settings, x0]).encode())
        return bool(INSTANT.unpack_from(answer)[0]), np.frombuffer(answer, float, offset=8)

    def measure(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Outputs now."""
        given = INSTANT.pack(t) + x.tobytes() + u.tobytes()
        return np.frombuffer(self.ask(MEASURE, given, t), float)

    def flow(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """ẋ, then the outputs."""
        given = INSTANT.pack(t) + x.tobytes() + u.tobytes()
        return np.frombuffer(self.ask(FLOW, given, t), float)

    def advance(
        self, t: float, h: float, n: int, rows: int, x: np.ndarray, F: np.ndarray
    ) -> np.ndarray:
        """The state after n steps, then the rows; see `stepping.Running.advance`."""
        given = STEPS.pack(t, h, n, rows) + x.tobytes() + F.tobytes()
        return np.frombuffer(self.ask(ADVANCE, given, t), float)

    def slopes(self, t: float, x: list, u: list, unknowns: list, knowns: list) -> np.ndarray:
        """∂unknown/∂known by directional derivatives."""
        answer = self.ask(SLOPES, json.dumps([t, x, u, unknowns, knowns]).encode(), t)
        return np.frombuffer(answer, float).reshape(len(unknowns), len(knowns))

    def ask(self, what: int, given: bytes, t: float = 0.0, limit: float | None = None) -> bytes:
        """The answer. Raises InputError as the module says."""
        with self.lock:
            self.deadline = time.monotonic() + (self.spec.limit if limit is None else limit)
            try:
                status, answer = self._exchanged(what, given)
            except (OSError, ValueError, EOFError):
                raise self._gone(_NAMES[what], t) from None
            except (
                BaseException
            ):  # interrupted: its answer would be taken for that of the next question
                self.close()
                raise
            finally:
                self.deadline = np.inf
        if status != DONE:
            raise self._refused(status, _NAMES[what], t, answer)
        return answer

    def _exchanged(self, what: int, given: bytes) -> tuple[int, bytes]:
        line = self.process
        assert line.stdin and line.stdout
        line.stdin.write(HEAD.pack(what, len(given)) + given)
        line.stdin.flush()
        head = line.stdout.read(HEAD.size)
        if len(head) < HEAD.size:
            raise EOFError
        status, size = HEAD.unpack(head)
        answer = line.stdout.read(size)
        if len(answer) < size:
            raise EOFError
        return status, answer

    def _refused(self, status: int, doing: str, t: float, answer: bytes) -> InputError:
        words, told = json.loads(answer)
        said = f" ({told})" if told else ""
        when = f" at t = {t:.6g} s" if status == REFUSED and doing != "initialising" else ""
        needs = "it says that it needs the tool that made it: is that installed? "
        return InputError(
            f"the FMU failed while {doing}{when}: {words}{said}",
            file=self.spec.file,
            mend=needs * self.spec.tool
            + "its inputs, parameters and start values may be out of its range; try it in the tool that made it",
        )

    def _gone(self, doing: str, t: float) -> InputError:
        self.close()
        when = f" at t = {t:.6g} s" if t else ""
        if self.late:
            return InputError(
                f"the FMU did not answer for {self.spec.limit:g} s while {doing}{when}, and was ended",
                file=self.spec.file,
                mend="give it more time (time_limit), or look for what it waits for",
            )
        code = self.process.returncode
        how = "ended its process" if code is None or code >= 0 else f"crashed ({_signal(code)})"
        return InputError(
            f"the FMU {how} while {doing}{when}",
            file=self.spec.file,
            mend="this is a fault of the FMU, or of inputs beyond its range; try it in the tool that made it",
        )

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5.0)
        for line in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                if line:
                    line.close()


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _watch(known: weakref.ref) -> None:
    """Kill a process that has not answered in time; end with the link."""
    while True:
        time.sleep(LOOK)
        link = known()
        if link is None or not link.alive:
            return
        if time.monotonic() > link.deadline:
            link.late = True
            link.process.kill()
            return
        del link


_all: Any = weakref.WeakSet()
_idle: dict[tuple[int, Spec], list[Link]] = {}
_pool = threading.RLock()  # a run that is forgotten gives its process back, at any instant


def taken(spec: Spec) -> Link:
    """A process for a run of this FMU: one that waits, else a new one. Processes are not shared after a fork."""
    check_installed()
    with _pool:
        waiting = _idle.get((os.getpid(), spec), [])
        while waiting:
            link = waiting.pop()
            if link.alive:
                return link
    return Link(spec)


def given_back(link: Link) -> None:
    """A run is over: its process waits for the next one."""
    with _pool:
        waiting = _idle.setdefault((os.getpid(), link.spec), [])
        if link.alive and not link.spec.once and len(waiting) < IDLE:
            waiting.append(link)
            return
    link.close()


@atexit.register
def _ended() -> None:
    for link in list(_all):
        if link.made_by == os.getpid():
            link.close()


def short_name(file: str) -> str:
    """A file without its folders, for titles."""
    return short(os.path.basename(file))
