"""The closed loop of `simulation.py` for integrators other than ours: its flow and jump as plain functions, and SciPy on them."""

from __future__ import annotations

import numpy as np
from common import T_S

from workbench.contract.system import names


class Callables:
    """x ↦ ẋ and the jump of a fused loop as fast plain functions: the generated C by its address."""

    def __init__(self, loop, scenario):
        from workbench.numerics.calculus import trace
        from workbench.numerics.mapped import Mapped
        from workbench.run.demand import Demand
        from workbench.run.start import start_state

        x0 = start_state(loop, scenario)
        demand = Demand(loop, scenario, x0)
        traced = trace(loop, demand.live)
        self.loop = loop
        self.traced = traced
        self.c = traced.constants(loop)
        self.n = len(loop.states)
        self.inputs = demand.at(np.arange(int(round(scenario.length() / T_S)) + 1) * T_S)
        self.x0 = np.array(traced.start(0.0, x0, self.inputs[0], self.c)).ravel()
        self._flow, self._jump = Mapped(traced.flow), Mapped(traced.jump)

    def jump(self, k, x):
        return self._jump(np.array([[k * T_S]]), x[None], self.inputs[k], self.c)[0]

    def compiled(self, w):
        """The flow in C, called through ctypes."""
        import ctypes

        f, c, n = self._flow, self.c, self.n
        t_, x_, y_ = np.zeros(1), np.empty(n), np.empty(f.n_out)
        work = np.empty(f.f.sz_w() + 1)
        arg = (ctypes.c_void_p * 4)(*(a.ctypes.data for a in (t_, x_, w, c)))
        res = (ctypes.c_void_p * 1)(y_.ctypes.data)
        addresses = (ctypes.addressof(arg), ctypes.addressof(res), 0, work.ctypes.data, 0)
        each, at = f.lib.each, tuple(map(ctypes.c_void_p, addresses))

        def rhs(t, x):
            t_[0] = t
            x_[:] = x
            each(*at)
            return y_[:n].copy()

        rhs.keep = (arg, res, work, w, c)  # alive as long as the function
        return rhs

    def machine(self, w):
        """The flow in CasADi's virtual machine."""
        return lambda t, x: np.array(self.traced.flow(t, x, w, self.c)).ravel()[: self.n]


def restarted(fast: Callables, kind, samples: int, method: str, rtol: float) -> np.ndarray:
    """scipy's solve_ivp, started anew at every sample; states at the samples, after the jump."""
    from scipy.integrate import solve_ivp

    x = fast.x0.copy()
    found = np.empty((samples + 1, fast.n))
    least = np.where([s.unit == "Pa" for s in fast.loop.states], 1e5, 1e-2)
    scale = np.maximum(np.abs(x), least)
    for k in range(samples + 1):
        x = found[k] = fast.jump(k, x)
        if k < samples:
            span = (k * T_S, (k + 1) * T_S)
            run = solve_ivp(kind(fast.inputs[k]), span, x, method, rtol=rtol, atol=rtol * scale)
            x = run.y[:, -1]
    return found


def plain_text(loop, scenario, samples: int) -> None:
    """solve_ivp on the equations as they stand, plain Python and NumPy on floats."""
    from scipy.integrate import solve_ivp

    fast = Callables(loop, scenario)
    x = fast.x0.copy()
    order = [names(loop.inputs).index(n) for n in fast.traced.live]
    base = [loop.defaults().get(s.name, 0.0) for s in loop.inputs]
    for k in range(samples):
        w = list(base)
        for i, value in zip(order, fast.inputs[k]):
            w[i] = float(value)
        x = np.array(loop.update(k * T_S, [float(v) for v in x], w), float)
        rhs = lambda t, s, w=w: np.array(loop.rhs(t, s.tolist(), w), float)
        scale = np.maximum(np.abs(x), 1e-2)
        span = (k * T_S, (k + 1) * T_S)
        x = solve_ivp(rhs, span, x, "RK45", rtol=1e-6, atol=1e-6 * scale).y[:, -1]
