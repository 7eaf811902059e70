"""A system linearised, and its equilibria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.capabilities import LinearisesItself
from workbench.contract.errors import InputError
from workbench.contract.system import Signal, System, find, names
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.switches import Edges


@dataclass(frozen=True, eq=False)
class Linearisation:
    """δẋ = A δx + B δu, δy = C δx + D δu about (x, u), SI units, with the names of all three.

    residual: the largest |ẋ| at the point, 0 at an equilibrium.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    x: np.ndarray
    u: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    residual: float


def _check_flow(system: System) -> None:
    """InputError for a system whose flow has no derivative, or is only half of it."""
    if system.no_derivative:
        raise InputError(
            f"cannot linearise: {system.no_derivative}", mend="linearise the loop without it"
        )
    if system.period is not None:
        raise InputError(
            "cannot linearise the flow of a sampled loop: its flow holds the command constant",
            mend="linearise the plant; to_control(loop, linear=True) gives the loop from sample to sample",
        )


def _check_count(where: str, values: Sequence[float], signals: Sequence[Signal]) -> None:
    """InputError where there is not one number for every signal; where: the function and its argument."""
    if len(values) != len(signals):
        raise InputError(
            f"{where}: expected {len(signals)} numbers, got {len(values)}",
            mend=f"give them in order: {', '.join(names(signals))}",
        )


def linearize(
    system: System,
    x: Sequence[float],
    u: Sequence[float] | None = None,
    t: float = 0.0,
    inputs: Sequence[str] | None = None,
) -> Linearisation:
    """Exact Jacobians A = ∂ẋ/∂x, B = ∂ẋ/∂u, C = ∂y/∂x, D = ∂y/∂u of flow and measured outputs at (t, x, u), SI units.

    x       states, in their order
    u       all inputs, disturbances among them; left out, their defaults
    t       time, s, for a system that knows it
    inputs  names of the inputs to differentiate by; left out, all

        x, u, residual = fp.equilibrium(plant, plant.initial())
        poles = np.linalg.eigvals(fp.linearize(plant, x).A)

    A plant without an expression graph, such as an FMU, gives
    derivatives of its own (`workbench.contract.capabilities.LinearisesItself`).

    Raises InputError for a system without a derivative (quantiser, noise, sampling), and where flow or outputs have a kink at
    the point itself (a valve exactly between its sides, a saturation at its limit): move the point off the kink.
    """
    if not isinstance(system, LinearisesItself):
        _check_flow(system)
    live = tuple(names(system.inputs) if inputs is None else inputs)
    for name in live:
        find(system.inputs, name, "linearize, inputs")
    defaults = [system.defaults().get(s.name, 0.0) for s in system.inputs]
    u = defaults if u is None else list(u)
    _check_count("linearize, x", x, system.states)
    _check_count("linearize, u", u, system.inputs)
    if isinstance(system, LinearisesItself):
        return system.linearised(x, u, live)
    # Inputs not asked for still act at their value; those at their default are folded into the graph.
    extra = tuple(
        s.name
        for s, value, own in zip(system.inputs, u, defaults)
        if value != own and s.name not in live
    )
    return _by_graph(system, x, u, t, live, extra)


def _by_graph(
    system: System,
    x: Sequence[float],
    u: Sequence[float],
    t: float,
    live: tuple[str, ...],
    extra: tuple[str, ...],
) -> Linearisation:
    """The derivatives of a system's graph by its states and inputs `live`; extra: other inputs that are not at their default."""
    traced = trace(system, live + extra)
    c = traced.constants(system)
    at = dict(zip(names(system.inputs), u))
    w = [float(at[name]) for name in live + extra]
    n = traced.n_states
    m = len(live)
    jac, jac_out = _jacobians(traced)
    A, B = (np.array(J) for J in jac(t, x, w, c))
    C, D = (np.array(J) for J in jac_out(t, x, w, c))
    of_flow, of_out = _edges(traced)
    of_flow.refuse_undecided([t, x, w, c], np.hstack([A, B])[:n])
    of_out.refuse_undecided([t, x, w, c], np.hstack([C, D]))
    B = B[:, :m]
    D = D[:, :m]
    w = w[:m]
    residual = float(np.abs(np.array(traced.flow(t, x, w, c)).ravel()[:n]).max(initial=0.0))
    return Linearisation(
        A=A[:n],
        B=B[:n],
        C=C,
        D=D,
        x=np.asarray(x, float),
        u=np.asarray(w, float),
        states=tuple(names(system.states)),
        inputs=live,
        outputs=tuple(names(system.outputs)),
        residual=residual,
    )


_jacs: dict = {}


def _jacobians(traced: Traced) -> Any:
    if id(traced) not in _jacs:
        made = []
        for f in (traced.flow, traced.out):
            t, x, w, c = (ca.SX.sym(n, f.size1_in(i)) for i, n in enumerate("txwc"))
            y = f(t, x, w, c)
            made.append(
                ca.Function(
                    "jacobians",
                    [t, x, w, c],
                    [ca.densify(ca.jacobian(y, x)), ca.densify(ca.jacobian(y, w))],
                )
            )
        _jacs[id(traced)] = (traced, *made)
    return _jacs[id(traced)][1:]


_kept_edges: dict = {}


def _edges(traced: Traced) -> tuple[Edges, Edges]:
    """Edges of the switches of flow and outputs."""
    if id(traced) not in _kept_edges:
        made = (Edges(traced.flow, (1, 2)), Edges(traced.out, (1, 2)))
        _kept_edges[id(traced)] = (traced, made)
    return _kept_edges[id(traced)][1]


def equilibrium(
    system: System,
    x: Sequence[float],
    u: Sequence[float] | None = None,
    hold: Sequence[str] = (),
    tol: float = 1e-10,
) -> tuple[np.ndarray, np.ndarray, float]:
    """(x, u, residual) near a guess with ẋ = 0, by least squares on all states and controls but those named in `hold`.

    x         the guess of the states, in their order, in SI units; `system.initial()` is one
    u         the guess of the inputs; left out, zero. What is returned has the controls alone, without disturbances
    hold      names of states and controls that stay as they are
    tol       largest step, as a share of what each column of the Jacobian weighs, at which the search ends
    residual  largest |ẋ| that is left, in SI units: it is for the caller to judge

    Pressures and angles weigh alike, since the Jacobian is scaled by its columns. Raises InputError for a guess of another
    length and for names that are no states or controls.
    """
    controls = [s for s in system.inputs if s.kind == ""]
    for name in hold:
        find((*system.states, *controls), name, "equilibrium, hold")
    _check_count("equilibrium, x", x, system.states)
    traced = trace(system, tuple(names(controls)))
    jac, _ = _jacobians(traced)
    c = traced.constants(system)
    n = traced.n_states
    state = np.array(x, float)
    w = np.zeros(len(controls)) if u is None else np.array(u, float)[: len(controls)]
    free = [i for i, s in enumerate((*system.states, *controls)) if s.name not in hold]
    for _ in range(60):
        f = np.array(traced.flow(0.0, state, w, c)).ravel()[:n]
        A, B = (np.array(J)[:n] for J in jac(0.0, state, w, c))
        J = np.hstack([A, B])[:, free]
        rows = np.maximum(np.abs(J).max(axis=1), 1e-300)
        J = J / rows[:, None]
        g = f / rows
        columns = np.maximum(np.abs(J).max(axis=0), 1e-300)
        step = np.linalg.lstsq(J / columns, -g, rcond=1e-12)[0] / columns
        z = np.concatenate([state, w])
        z[free] += step
        state = z[:n]
        w = z[n:]
        if np.abs(step * columns).max(initial=0.0) < tol:
            break
    left = np.array(traced.flow(0.0, state, w, c)).ravel()[:n]
    return state, w, float(np.abs(left).max(initial=0.0))
