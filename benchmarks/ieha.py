"""How fast and how exactly the actuator runs, beside SciPy's stiff solvers on the same compiled equations, in one run.

    python benchmarks/ieha.py            short spans; what is slower is measured on fewer milliseconds and says so
    python benchmarks/ieha.py 0.1        the span of our own runs, s

Every solver gets the same right-hand side and Jacobian as compiled C; only the stepping is its own. Errors are largest
differences over the span from a run of ours with errors a hundred times smaller, itself held against SciPy's Radau.
Times are CPU seconds per simulated second, best of three (one for SciPy); ours with the number of steps tried: they
follow the load's swing while it dies out, and then are one a logged row, so that longer spans cost less a second.
"""

from __future__ import annotations

import ctypes
import sys
import time
from dataclasses import replace

import numpy as np
from scipy.integrate import solve_ivp

from plants import IEHA, machine
from workbench.contract.system import names
from workbench.numerics.c_code import address
from workbench.numerics.calculus import trace
from workbench.numerics.stiff import stiff_loop

X = 4e-4
SHOWN = ("E", "P_A", "P_B", "Y", "dY")
ASKED = {"E": 2e-9, "P_A": 500.0, "P_B": 500.0, "Y": 1e-7, "dY": 5e-5}


class Compiled:
    """f(t, x) and its Jacobian through ctypes, from the library our own integrator uses."""

    def __init__(self, plant: IEHA):
        traced = trace(plant, ("X",))
        self.machine, self.c = stiff_loop(plant, traced)
        if self.machine.lib is None:
            raise SystemExit("this comparison needs a C compiler")
        self.traced, self.n, m = traced, len(plant.states), len(plant.states) + traced.n_powers
        self.t, self.x, self.w, self.dw = np.zeros(1), np.zeros(self.n), np.array([X]), np.zeros(1)
        self.f, self.J, self.rate = np.zeros(m), np.zeros(self.machine.pattern.nnz()), np.zeros(m)
        self.at = tuple(np.array(v) for v in self.machine.pattern.get_triplet())
        self.dense, self.work = np.zeros((m, m)), np.zeros(self.machine.work)
        self._flow = self._bound("flow", (self.t, self.x, self.w, self.c), (self.f,))
        self._slope = self._bound(
            "slope", (self.t, self.x, self.w, self.dw, self.c), (self.J, self.rate)
        )

    def _bound(self, name, arguments, results):
        pack = lambda arrays: (ctypes.c_void_p * len(arrays))(*[address(a) for a in arrays])
        a, r, f = pack(arguments), pack(results), getattr(self.machine.lib, name)
        f.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int,
        ]
        keep = (a, r)
        return lambda keep=keep: f(
            ctypes.addressof(a), ctypes.addressof(r), None, address(self.work), 0
        )

    def rhs(self, t, x):
        self.t[0], self.x[:] = t, x
        self._flow()
        return self.f[: self.n].copy()

    def jac(self, t, x):
        self.t[0], self.x[:] = t, x
        self._slope()
        self.dense[self.at] = self.J
        return self.dense[: self.n, : self.n].copy()

    def run(self, x0, T, rows_each, finer=1.0):
        """Our integrator on logged rows T apart: (rows, CPU seconds)."""
        c, traced = self.c.copy(), self.traced
        c[self.machine.n_c : self.machine.n_c + traced.n_moving] *= finer
        state = np.concatenate([x0, np.zeros(traced.n_powers)])
        rows = np.zeros((rows_each, self.machine.row))
        W = np.full((rows_each, 1), X)
        F = np.full((rows_each * 5, 1), X)
        began = time.process_time()
        done = self.machine.run(0, rows_each, 1, False, T, 0, 0.0, 1, T, state, W, F, c, rows)
        spent = time.process_time() - began
        assert done == rows_each
        return rows[:, : self.n], spent


def scipy_run(system: Compiled, x0, T, n, method, rtol, size, edge):
    """SciPy on the same rows, restarted at the changes of ports so that none is missed: (rows, CPU seconds)."""
    instants = np.arange(n) * T
    stops = (
        sorted({*instants[1:], *(edge * k for k in range(1, int(instants[-1] / edge) + 1))})
        if edge
        else instants[1:]
    )
    rows, x, t = {0.0: np.array(x0)}, np.array(x0), 0.0
    began = time.process_time()
    for stop in stops:
        if stop - t > 1e-9:
            x = solve_ivp(
                system.rhs,
                (t, stop),
                x,
                method,
                rtol=rtol,
                atol=rtol * size,
                jac=system.jac,
                max_step=5e-6 if edge else np.inf,
            ).y[:, -1]
            t = stop
        rows[stop] = x
    return np.array([rows[at] for at in instants]), time.process_time() - began


def line(what, rate, errors, note=""):
    cells = "".join(f"{e:11.1e}" for e in errors) if errors is not None else " " * 55
    print(f"{what:34s}{rate:9.4f}{cells}  {note}")


def main(span: float = 0.05) -> None:
    print(f"{'X = 0.4 mm from rest':34s}{'s/s':>9s}" + "".join(f"{name:>11s}" for name in SHOWN))
    line("asked for", float("nan"), [ASKED[n] for n in SHOWN])
    for which in ("control", "figures"):
        for detail in ("averaged", "ripple", "full"):
            plant = replace(machine(f"ieha-{which}").plant, detail=detail)
            system = Compiled(plant)
            x0, T = plant.initial(), 1e-3
            n = round(span / T) + 1
            pick = [names(plant.states).index(name) for name in SHOWN]
            size = np.array(
                [
                    {"E": 1e-4, "dE": 1e-2, "Y": 1e-3, "dY": 1e-2}.get(name, 1e5)
                    for name in names(plant.states)
                ]
            )
            finest, _ = system.run(x0, T, n, 0.01)
            tried = system.machine.steps()[0]
            runs = [system.run(x0, T, n) for _ in range(3)]
            tried = (system.machine.steps()[0] - tried) // 3
            apart = lambda rows, finest=finest, pick=pick: np.abs(rows - finest[: len(rows)])[
                :, pick
            ].max(axis=0)
            print(f"\n{which}, {detail} ({len(plant.states)} states)")
            line(
                "  Fluidproof, adaptive",
                min(r[1] for r in runs) / ((n - 1) * T),
                apart(runs[0][0]),
                f"{(n - 1) * T:g} s, {tried} steps",
            )
            edge = plant.adaptive.period
            for method, rtol, few in (("LSODA", 1e-6, 6), ("Radau", 1e-6, 6)):
                rows = few if edge else n
                found, spent = scipy_run(system, x0, T, rows, method, rtol, size, edge)
                line(
                    f"  SciPy {method}, rtol {rtol:g}",
                    spent / ((rows - 1) * T),
                    apart(found),
                    f"{(rows - 1) * T:g} s" + (", extrapolated" if rows < n else ""),
                )


if __name__ == "__main__":
    main(*(float(a) for a in sys.argv[1:2]))
