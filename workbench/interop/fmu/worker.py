"""The process that runs an FMU: requests come in, answers go out, and it ends when nobody asks any more.

A message is two numbers (what, length) and its bytes: JSON where words are needed, else doubles. What the FMU prints is lost. The
process may crash or hang: `link` notices.
"""

from __future__ import annotations

import json
import os
import struct
import threading
import time
from typing import Any, BinaryIO

import numpy as np

OPEN, BEGIN, MEASURE, ADVANCE, FLOW, SLOPES = range(6)
DONE, REFUSED, FAILED = range(3)
HEAD = struct.Struct("<II")
INSTANT = struct.Struct("<d")
STEPS = struct.Struct("<ddII")
ORPHANED = 2.0  # s between looks whether anybody is left who asks
MEMORY = 16 << 30  # bytes of address space


def main() -> None:
    """Serve until the line is closed."""
    line_in = os.fdopen(os.dup(0), "rb")
    line_out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # an FMU may print
        os.dup2(null, descriptor)
    _bounded()
    threading.Thread(target=_not_orphaned, args=(os.getppid(),), daemon=True).start()
    served = _Served()
    while len(head := line_in.read(HEAD.size)) == HEAD.size:
        what, size = HEAD.unpack(head)
        status, answer = _answer(served, what, line_in.read(size))
        _send(line_out, status, answer)
    os._exit(0)  # what the FMU left behind is not waited for


def _not_orphaned(parent: int) -> None:
    """End with the process that started this one, whatever the FMU does then."""
    while os.getppid() == parent:
        time.sleep(ORPHANED)
    os._exit(0)


def _bounded() -> None:
    """No core files, and no more memory than any plant needs."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):  # a system without such limits
        pass


def _send(line: BinaryIO, status: int, answer: bytes) -> None:
    line.write(HEAD.pack(status, len(answer)) + answer)
    line.flush()


def _answer(served: _Served, what: int, given: bytes) -> tuple[int, bytes]:
    try:
        return DONE, served.doing[what](given)
    except Exception as why:
        inside = served.inside
        words = f"{type(why).__name__}: {why}" if _is_ours(why) else str(why)
        told = "; ".join(inside.messages) if inside else ""
        text = json.dumps([words, told])
        return (REFUSED if served.running else FAILED), text.encode()


def _is_ours(why: Exception) -> bool:
    """Whether it is neither a status of the FMU nor what FMPy says about it."""
    return type(why).__name__ not in ("Refused", "FMICallException", "Exception")


class _Served:
    """The FMU of this process."""

    def __init__(self) -> None:
        self.running: Any = None
        self.doing = (
            self.open,
            self.begin,
            self.measure,
            self.advance,
            self.flow,
            self.slopes,
        )

    @property
    def inside(self) -> Any:
        return self.running and self.running.inside

    def open(self, given: bytes) -> bytes:
        from workbench.interop.fmu.exchange import ModelExchange
        from workbench.interop.fmu.stepping import CoSimulation

        spec = json.loads(given)
        kind = ModelExchange if spec["kind"] == "model-exchange" else CoSimulation
        self.running = kind(spec)
        return b""

    def begin(self, given: bytes) -> bytes:
        settings, x0 = json.loads(given)
        start = None if x0 is None else np.array(x0, float)
        x = self.running.begin(settings, start)
        switches = self.running.inside.exchange and self.running.switches
        return INSTANT.pack(float(switches)) + x.tobytes()

    def _instant(self, given: bytes) -> tuple[float, np.ndarray, np.ndarray]:
        (t,) = INSTANT.unpack_from(given)
        values = np.frombuffer(given, float, offset=INSTANT.size)
        n = self.running.nx
        return t, values[:n], values[n:]

    def measure(self, given: bytes) -> bytes:
        return self.running.measure(*self._instant(given)).tobytes()

    def flow(self, given: bytes) -> bytes:
        """ẋ and, at the same instant, the outputs."""
        t, x, u = self._instant(given)
        return self.running.flow(t, x, u).tobytes() + self.running.y.read().tobytes()

    def advance(self, given: bytes) -> bytes:
        running = self.running
        t, h, n, rows = STEPS.unpack_from(given)
        values = np.frombuffer(given, float, offset=STEPS.size)
        x = values[: running.nx]
        F = values[running.nx :].reshape(n, 3, running.nu)
        x, kept = running.advance(t, h, n, rows, x, F)
        return x.tobytes() + kept.tobytes()

    def slopes(self, given: bytes) -> bytes:
        t, x, u, unknowns, knowns = json.loads(given)
        found = self.running.slopes(t, np.array(x, float), np.array(u, float), unknowns, knowns)
        return np.ascontiguousarray(found).tobytes()


if __name__ == "__main__":
    main()
