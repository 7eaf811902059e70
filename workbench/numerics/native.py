"""Expression graphs as compiled code: C by CasADi's code generation, the system's compiler, a cache on disk.

Without a compiler the same graphs run in CasADi's virtual machine, slower; that is said once. Both give the same numbers
(floating-point contraction is off), but for the last bit of sines, cosines and hyperbolic tangents (functions.h).
"""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics import exponential
from workbench.numerics.c_code import (
    MOST_OPERATIONS,
    NUMBERS,
    address,
    library_of,
    own_text,
    renamed,
    together,
)
from workbench.numerics.calculus import Traced
from workbench.numerics.mapped import Mapped
from workbench.numerics.samples import Samples
from workbench.numerics.stepping import END, HAIR, KINKS, LOOKS, OFFSETS, PASSED


def declare(lib: Any) -> None:
    """What a loop's compiled functions take and give; those of driver.c and of stiff.c take the same."""
    p = ctypes.c_void_p
    l = ctypes.c_long
    d = ctypes.c_double
    lib.run.argtypes = [l, l, l, ctypes.c_int, d, l, d, l, d, p, p, p, p, p, p]
    lib.run.restype = l
    lib.measure.argtypes = lib.begin.argtypes = [d, p, p, p, p, p]


class Loop:
    """`run` over samples for one Traced system, compiled, or in the virtual machine when that is not possible.

    A step is RK4, or the exponential Runge–Kutta method of order four where states that the system names stiff are so in this step
    (`workbench.numerics.exponential`). A step in which a guard changes its sign is taken in two, the first ending where the guard
    is zero: a kink inside a step costs two orders, at its end none. Where that is follows from the guard at the last stage
    (right to third order, which is enough: a kink missed by δ costs δ²), by LOOKS steps of false position.
    """

    around = "driver.c"  # the C text around its functions

    def __init__(
        self, traced: Traced, compiled: bool | None = None, monitored: bool = True
    ) -> None:
        """monitored: monitors are worked out within the run, row by row; else after it, many rows side by side, which is
        several times faster where a call makes many rows. The numbers are the same."""
        self.traced = traced
        self.monitored = monitored or traced.sided is not None
        self.offsets: tuple[float, ...] = (*OFFSETS[:-1], END)
        self.n_x, self.n_q, self.n_w = traced.n_states, traced.n_powers, len(traced.live)
        self.n_m = traced.log.size1_out(0)
        self.lib = None if compiled is False else self._build()
        self.maps: dict = {}  # of the virtual machine

    @cached_property
    def flow(self) -> ca.Function:
        """What a stage needs: the flow, then the guards."""
        return together(self.traced.motion, self.traced.guards)

    @cached_property
    def first(self) -> ca.Function | None:
        """What the first stage of an exponential step needs: `flow`, then J; None where steps are RK4."""
        t = self.traced
        return together(t.motion, t.guards, t.stiff) if t.blocks else None

    @property
    def row(self) -> int:
        """Numbers per logged sample: states, power integrals, monitors with the stored energy last."""
        return self.n_x + self.n_q + self.n_m

    def _build(self) -> Any:
        text = self.text()
        if text is None:
            return None
        named, sizes = text
        if self.monitored:
            return self._library(named, sizes)
        own = [f for f in named if f.name() != "logged"]
        with ThreadPoolExecutor(1) as beside:
            log = beside.submit(self._log)
            lib = self._library(own, {**sizes, "NM": 0})
            self.log = log.result()
        return lib

    def _library(self, named: list[ca.Function], sizes: dict[str, object]) -> Any:
        lib = library_of(named, {**sizes, "LANES": 1}, own_text(self.around), NUMBERS)
        if lib is not None:
            declare(lib)
            self.work = max(f.sz_w() for f in named) + 1
        return lib

    def _log(self) -> Any:
        """The monitors of many rows at once."""
        return Mapped(self.traced.log)

    def text(self) -> tuple[list[ca.Function], dict[str, object]] | None:
        """(functions that driver.c calls, by name; its #defines); None where they are too long for a compiler."""
        t = self.traced
        parts = {
            "flow": self.flow,
            "jump": t.jump,
            "release": t.release,
            "start": t.start,
            "measured": t.out,
            **shown(t),
            **projection(t),
        }
        if (
            max(f.n_instructions() for f in (*parts.values(), self.first or self.flow))
            > MOST_OPERATIONS
        ):
            return None
        sizes = {
            "NX": self.n_x,
            "NI": t.n_moving,
            "NQ": self.n_q,
            "NW": self.n_w,
            "NM": self.n_m,
            "ROW": self.row,
            "NG": t.guards.size1_out(0),
            "STAGES": len(OFFSETS),
            "WSTRIDE": self.n_w if t.flow_is_driven else 0,
            "KINKS": KINKS,
            "LOOKS": LOOKS,
            "PASSED": PASSED,
            "NS": 0,
            "PROJECTED": len(projection(t)),
        }
        if t.sided is not None:
            sizes |= {"SIDED": t.sided, "HAIR": HAIR}
        named = [renamed(f, name) for name, f in parts.items()]
        if self.first is not None:
            sizes |= _exponential_defines(t)
            kinds = [
                f(m)
                for m in sorted(set(t.blocks))
                for f in (exponential.series, exponential.doubled, exponential.weights)
            ]
            named += [renamed(self.first, "first"), *kinds]
        return named, sizes

    def begin(self, t0: Scalar, x: Vector, w: Vector, c: Any) -> np.ndarray:
        """Initial state with the controller's memory made consistent with the first measurement."""
        return np.array(self.traced.start(t0, x, w, c)).ravel()

    def run(self, *given: Any) -> int:
        """Run `Samples(*given)`; how many samples were done before the state left the numbers."""
        asked = Samples(*given)
        if self.lib is None:
            return self._run_vm(asked)
        numbers = (*asked[:3], int(asked.jumping), *asked[4:9])
        arrays = (asked.state, asked.W, asked.F, asked.c, asked.rows, np.empty(self.work))
        done = self.lib.run(*numbers, *map(address, arrays))
        rows = asked.table(self.row)
        if rows is not None and not self.monitored:
            self._monitor(asked, done, rows)
        return done

    def _monitor(self, asked: Samples, done: int, rows: np.ndarray) -> None:
        """Write the monitors of the rows of the samples that were done."""
        t, w = asked.logged(done, len(self.offsets))
        own = rows[: len(t)]
        x = own[:, : self.n_x]
        monitors = own[:, self.n_x + self.n_q :]
        self.log(t[:, None], x, w, asked.c, out=monitors)

    def _run_vm(self, asked: Samples) -> int:
        from workbench.numerics.native_vm import run

        return run(self, asked)


def _exponential_defines(t: Traced) -> dict[str, object]:
    """What driver.c must know of the stiff blocks: sizes, places, and for each its functions of `exponential`."""
    rows = {
        "STIFF_AT": t.stiff_at,
        "BLOCK_AT": np.cumsum([0, *t.blocks]),
        "ENTRY_AT": np.cumsum([0, *(m * m for m in t.blocks)]),
        "SERIES": [f"series{m}" for m in t.blocks],
        "DOUBLED": [f"doubled{m}" for m in t.blocks],
        "WEIGHTS": [f"weights{m}" for m in t.blocks],
        "PLAIN": [repr(v) for v in exponential.PLAIN.values()],
    }
    return {
        "NS": len(t.stiff_at),
        "NB": len(t.blocks),
        "MB": max(t.blocks),
        "NJ": sum(m * m for m in t.blocks),
        "DOUBLINGS": exponential.DOUBLINGS,
        "GENTLE": exponential.GENTLE,
        "SHORT": exponential.SHORT,
        "BALANCED": exponential.BALANCED,
    } | {name: "{" + ", ".join(map(str, row)) + "}" for name, row in rows.items()}


def shown(t: Traced) -> dict[str, ca.Function]:
    """What a row shows beside states and integrals, by the name it has in C; empty where that is nothing."""
    return {"logged": t.log} if t.log.size1_out(0) else {}


def projection(t: Traced) -> dict[str, ca.Function]:
    """What puts the state back on its constraints, by the name it has in C; empty where nothing does."""
    return {} if t.project is None else {"project": t.project}
