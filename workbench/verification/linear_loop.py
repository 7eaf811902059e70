"""A sampled loop as a linear one: what the law does near rest, and the plant linearised, sampled exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.calculus import column, linearize, symbols
from workbench.errors import InputError
from workbench.system import Plain, find, innermost, names
from workbench.units import format_quantity, quantity
from workbench.verification.sampled_data import sampled


@dataclass(frozen=True, eq=False)
class LinearLaw:
    """z⁺ = A z + B y, u = C z + D y every T seconds, u applied `delay` later; y in the order of `measured`.

    constant: names of memory that never changes (the sum of a PID without integral action): a number, left out of z.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    T: float
    delay: float
    constant: tuple[str, ...] = ()


def linear_law(loop) -> LinearLaw:
    """The loop's law near rest, inside its limits. Raises InputError, with the reason, where it is none."""
    controller, delay = loop.controller, 0.0
    if loop.period is None:
        raise InputError("the law is continuous: it has no samples", mend="give the loop a sample_time")
    if hasattr(controller, "capacity") and hasattr(controller, "delay"):
        delay, controller = float(controller.delay), controller.inner
    law = innermost(controller)
    if isinstance(law, Plain):
        if not hasattr(law.law, "linear_law"):
            raise InputError(f"{law.name} is code, of which no linear law is known", mend="ask this of PID, LQR or MPC")
        if getattr(controller, "inner", None) is not law:
            raise InputError("filters, noise or limits around a predictive controller are not linearised",
                             mend="leave them out")
        return LinearLaw(*law.law.linear_law(), float(loop.period), delay)
    if loop.no_derivative:
        raise InputError(loop.no_derivative, mend="verify the loop without it")
    A, B, C, D = _traced(controller)
    still = (A == np.eye(len(A))).all(axis=1) & (B == 0).all(axis=1)
    own = [name for name, s in zip(names(controller.states), still) if s]
    return LinearLaw(A[~still][:, ~still], B[~still], C[:, ~still], D, float(loop.period), delay, tuple(own))


def _traced(controller):
    """Jacobians of jump and command of a law that is an expression."""
    n, p, q = (len(s) for s in (controller.states, controller.measured, controller.references))
    (z, zs), (y, ys) = symbols("z", n), symbols("y", p)
    r = [0.0] * q
    after = controller.update(0.0, zs, ys, r)
    both = ca.vertcat(column(after), column(controller.command(0.0, after, ys, r)))
    f = ca.Function("law", [z, y], [ca.densify(ca.jacobian(both, z)), ca.densify(ca.jacobian(both, y))])
    J, K = (np.array(M) for M in f(np.zeros(n), np.zeros(p)))
    if not (np.isfinite(J).all() and np.isfinite(K).all()):
        raise InputError("the law has no derivative at rest", mend="verify it by runs")
    return J[:n], K[:n], J[n:], K[n:]


@dataclass(frozen=True, eq=False)
class Point:
    """Where the plant is linearised: states x, inputs u; `words` names what differs from the plant's own start."""

    x: list[float]
    u: list[float]
    words: str


def point(plant, at: Mapping[str, Any]) -> Point:
    """The plant's start, with what `at` says (names of states and inputs → number or quantity)."""
    x, given = list(map(float, plant.initial())), {**plant.defaults()}
    said = []
    for name, value in at.items():
        signal = find((*plant.states, *plant.inputs), name, "at: states and inputs")
        number = quantity(value, signal.unit)
        said.append(f"{name} = {format_quantity(number, signal.unit)}")
        if name in names(plant.states):
            x[names(plant.states).index(name)] = number
        else:
            given[name] = number
    return Point(x, [float(given.get(s.name, 0.0)) for s in plant.inputs], ", ".join(said))


def flat(loop, where: Point):
    """(A, B, C): the plant at that point; columns of B for the law's commands, rows of C for what it measures."""
    own = names(loop.controller.commands)
    found = linearize(loop.plant, where.x, where.u, inputs=own)
    rows = [names(loop.plant.outputs).index(s.name) for s in loop.controller.measured]
    return found.A, found.B, found.C[rows]


def closed(loop, where: Point) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, B, C): the loop on (x, past commands, z) from sample to sample, where a signal added to each command enters, and
    the commands."""
    if turns(loop.plant):
        raise InputError("the plant changes with time itself: linearised at one instant it says nothing",
                         mend="ask this of the averaged plant")
    law, (A, B, C) = linear_law(loop), flat(loop, where)
    plant = sampled(A, B, C, np.zeros((len(C), B.shape[1])), law.T, law.delay)
    M = np.block([[plant.A + plant.B @ law.D @ plant.C, plant.B @ law.C], [law.B @ plant.C, law.A]])
    enter = np.vstack([plant.B, np.zeros((len(law.A), plant.B.shape[1]))])
    return M, enter, np.hstack([law.D @ plant.C, law.C])


def closed_matrix(loop, where: Point) -> np.ndarray:
    """M alone."""
    return closed(loop, where)[0]


def turns(plant) -> bool:
    """Whether the plant's flow depends on time itself, as that of a pump whose pistons are seen one by one."""
    xs, us = (symbols(c, len(s))[1] for c, s in (("x", plant.states), ("u", plant.inputs)))
    t = ca.SX.sym("t")
    return bool(ca.depends_on(column(plant.rhs(t, xs, us)), t))


def is_linear(plant) -> bool:
    """Whether flow and outputs are linear in states and inputs: their Jacobian contains neither."""
    x, xs = symbols("x", len(plant.states))
    u, us = symbols("u", len(plant.inputs))
    t = ca.SX.sym("t")
    both = ca.vertcat(column(plant.rhs(t, xs, us)), column(plant.out(t, xs)))
    whole = ca.vertcat(x, u)
    if ca.depends_on(ca.jacobian(both, whole), ca.vertcat(whole, t)):
        return False
    at_rest = ca.Function("rest", [whole, t], [both])(np.zeros(whole.numel()), 0.0)
    return not np.array(at_rest).any()
