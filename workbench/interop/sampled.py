"""A sampled loop as a linear system from one sample to the next.

    x(kT) → jump of the sample → flow over the lag → release → flow over T − lag → x((k+1)T)
    δx⁺ = Φ(T − lag) R Φ(lag) J δx + … δw,   δy = C δx

J and R are the exact derivatives of the two jumps, Φ that of the flow, each where the loop comes along on its way through the
sample; w, the loop's inputs, are held over it. States and outputs are those before the jump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.switches import refuse_undecided
from workbench.run.demand import Demand
from workbench.run.scenario import Scenario
from workbench.verification.linear.sampled_data import hold


class Step(NamedTuple):
    """δx⁺ = A δx + B δw,  δy = C δx."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray


def loop_step(
    loop: System,
    x: Sequence[float] | None,
    start: Sequence[float],
    given: Mapping[str, float],
    live: Sequence[str],
) -> Step:
    """The sampled loop about states x before a sample; None: where it begins from `start`, its law's memory settled.

    given: inputs, by name; other references hold the loop where it stands, other disturbances are at their default.
    live: the inputs that δw stands for. Outputs are the measured ones, or the states where nothing is measured.
    Raises InputError for a loop without a derivative, and where a switch is exactly at its edge.
    """
    if loop.no_derivative:
        raise InputError(
            f"cannot linearise the sampled loop: {loop.no_derivative}",
            mend="convert the loop without it, or the plant alone",
        )
    demand = Demand(loop, Scenario(duration=1.0), np.array(start, float))
    values = {**loop.defaults(), **dict(zip(demand.live, demand.at(np.zeros(1))[0])), **given}
    order = tuple(dict.fromkeys((*live, *demand.live, *given)))
    w = np.array([float(values.get(name, 0.0)) for name in order])
    traced = trace(loop, order)
    c = traced.constants(loop)
    settled = np.array(traced.start(0.0, start, w, c)).ravel()
    step = _whole(loop, traced, settled if x is None else np.array(x, float), w, c)
    C = step.C if loop.outputs else np.eye(len(start))
    return Step(step.A, step.B[:, : len(live)], C)


def _whole(loop: System, traced: Traced, x: np.ndarray, w: np.ndarray, c: np.ndarray) -> Step:
    """One sample, by all inputs of the trace."""
    lag = float(loop.lag)
    rest = float(loop.period or 0.0) - lag
    here = x
    A = np.eye(len(x))
    B = np.zeros((len(x), len(w)))
    parts = [(traced.jump, 0.0), (traced.flow, lag), (traced.release, 0.0), (traced.flow, rest)]
    for f, span in parts if lag > 0 else [parts[0], parts[-1]]:
        own, driven = _slopes(traced, f, here, w, c)
        if f is traced.flow:
            own, driven = hold(own, driven, span)
        else:
            here = np.array(f(0.0, here, w, c)).ravel()
        A = own @ A
        B = own @ B + driven
    return Step(A, B, _slopes(traced, traced.out, x, w, c)[0])


def _slopes(
    traced: Traced, f: ca.Function, x: np.ndarray, w: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of f by x and w; of a flow, those of the states alone."""
    t, xs, ws, cs = (ca.SX.sym(n, f.size1_in(i)) for i, n in enumerate("txwc"))
    J = ca.densify(ca.jacobian(f(t, xs, ws, cs), ca.vertcat(xs, ws)))
    M = np.array(ca.Function("slopes", [t, xs, ws, cs], [J])(0.0, x, w, c))
    M = M.reshape(-1, len(x) + len(w))
    if not np.isfinite(M).all():
        raise InputError(
            "cannot linearise the sampled loop: it has no derivative there",
            mend="give states x and inputs u where it has one",
        )
    rows = traced.n_states if f is traced.flow else len(M)
    refuse_undecided(f, [0.0, x, w, c], M[:rows], (1, 2))
    return M[:rows, : len(x)], M[:rows, len(x) :]
