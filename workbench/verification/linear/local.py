"""Local analysis: the loop linearised where it stands still, exactly sampled; eigenvalues and margins per actuator.

At rest a valve is exactly between its two sides, where nothing has a derivative. Each combination of sides is linearised
apart (the reference is moved by an amount that opens every valve by a hair to the chosen side), and the worst counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import Traced, trace
from workbench.run.demand import Demand
from workbench.verification.linear.commanded_at_rest import HAIR, refuse_shut, steer_to
from workbench.verification.linear.resting import Rest, continuous, monodromy
from workbench.verification.run import Run

# Typical sizes by unit, so that rounding is judged on comparable numbers.
SCALE = {
    "Pa": 1e6,
    "V/s": 100.0,
}


@dataclass(frozen=True, eq=False)
class Local:
    """One linearisation: x_{k+1} = A x_k (or ẋ = A x), a signal entering at each actuator's command (B), the command (C)."""

    sides: tuple[int, ...]
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    T: float | None
    states: tuple[str, ...]
    residual: float
    deflated: int = 0  # directions taken out, neutral or dying away
    leak: float = 0.0  # how far those are from exactly invariant


def jacobians(traced: Traced) -> dict[str, ca.Function]:
    """∂/∂x and ∂/∂w of flow, jump, release and the logged quantities."""
    made = {}
    for name in ("flow", "jump", "release", "log"):
        f = getattr(traced, name)
        a = [ca.SX.sym(n, f.size1_in(i)) for i, n in enumerate("txwc")]
        y = f(*a)
        made[name] = ca.Function(
            name, a, [ca.densify(ca.jacobian(y, a[1])), ca.densify(ca.jacobian(y, a[2]))]
        )
    return made


_jacobians: dict = {}


def linearised(run: Run) -> list[Local]:
    """The loop at its start, at rest, for every combination of valve sides; once a run. Raises InputError, with the reason."""
    from workbench.run.start import start_state

    if "linearised" not in run.kept:
        # At rest where the run starts, whatever the run then does; disturbances at what they are by default.
        x0 = start_state(run.loop, replace(run.scenario, offset={}))
        run.kept["linearised"] = standing(run.loop, run.scenario, x0)
    return run.kept["linearised"]


def standing(loop, scenario, x0: np.ndarray, alike: bool = False) -> list[Local]:
    """The loop at rest at the state x0, the reference where x0 is, for every combination of valve sides.

    alike: all valves on the same side only. Raises InputError, with the reason, for a loop without a derivative.
    """
    if loop.hosted:
        return [_hosted(loop)]
    if loop.no_derivative:
        raise InputError(loop.no_derivative, mend="verify the loop without it")
    demand = Demand(loop, replace(scenario, reference=None, offset={}), x0)
    traced = trace(loop, demand.live)
    jac = jacobians_of(traced)
    c = traced.constants(loop)
    w0 = demand.at(np.zeros(1))[0].copy()
    moving = [
        i
        for i, n in enumerate(demand.live)
        if n.endswith("_d") and n.startswith("d") and demand.kinds[n] == "reference"
    ]
    w0[moving] = 0.0
    for i, n in enumerate(demand.live):
        if demand.kinds[n] != "reference":
            w0[i] = loop.defaults().get(n, 0.0)
    x0 = np.array(traced.start(0.0, x0, w0, c)).ravel()
    steer = [
        i for i, n in enumerate(demand.live) if demand.kinds[n] == "reference" and i not in moving
    ][: len(loop.controller.commands)]
    valves = min(len(loop.plant.cylinders), 3)
    combinations = itertools.product((1, -1), repeat=valves)
    if alike:
        combinations = dict.fromkeys(((1,) * valves, (-1,) * valves))
    return [
        _one(Rest(loop, traced, jac, c, x0.copy(), w0.copy()), steer, sides)
        for sides in combinations
    ]


def jacobians_of(traced: Traced) -> dict[str, ca.Function]:
    """`jacobians` of a trace, made once."""
    if id(traced) not in _jacobians:
        _jacobians[id(traced)] = (traced, jacobians(traced))
    return _jacobians[id(traced)][1]


def _hosted(loop) -> Local:
    """A law called from Python that says what it does near rest, as a predictive one does: as in `linear-stability`."""
    from workbench.verification.linear.loop import closed, point

    at = point(loop.plant, {})
    M, B, C = closed(loop, at)
    state = names(loop.plant.states)
    residual = float(
        np.abs(np.array(loop.plant.rhs(0.0, at.x, at.u), float) / _sizes(loop.plant.states)).max()
    )
    return Local(
        sides=(),
        A=M,
        B=B,
        C=C,
        T=float(loop.period),
        states=(*state, *["the law's memory"] * (len(M) - len(state))),
        residual=residual,
    )


def _one(at: Rest, steer: list[int], sides: tuple[int, ...]) -> Local:
    """The loop linearised with its valves open by a hair to these sides; steer: inputs that are moved until they are."""
    loop = at.loop
    plant = loop.plant
    cylinders = plant.cylinders
    sides = (*sides, *[1] * (len(cylinders) - len(sides)))
    # With overlap, a hair beyond it: inside nothing moves, whatever the law does.
    wanted = np.array(sides) * [HAIR + c.valve.dead_band for c in cylinders]
    for label, opening in zip(plant.labels, wanted):
        at.put(f"u_s_{label}", opening)
    sampled = loop.period is not None
    shown = names(loop.monitors)
    rows = [shown.index(u) for u in at.commands]
    part = "log"
    law = at.traced.log
    pick = rows
    if sampled:
        part = "jump"
        law = at.traced.jump
        pick = at.held
    commanded = lambda: at.value(law)[pick]
    if cylinders:
        slope = lambda: at.by_inputs(part)[pick][:, steer]
        steer_to(at.w, steer, slope, lambda: wanted - commanded())
    else:  # nothing to steer clear of: the command as the law gives it
        wanted = commanded()
        refuse_shut(loop, at.commands, wanted)
    if sampled:
        at.x[at.held] = wanted
        for u, value in zip(at.commands, wanted):
            at.put(f"{u}_applied", value)
    n = len(at.state)
    A = at.by_states("flow")[:n]
    residual = float(np.abs(at.value(at.traced.flow)[:n] / _sizes(loop.states)).max())
    # A command the law does not give is no equilibrium either.
    residual = max(residual, float(np.abs(commanded() - wanted).max(initial=0.0)))
    M, B, C = monodromy(at, A) if sampled else continuous(at, A, rows, wanted)
    found = Local(sides, A=M, B=B, C=C, T=loop.period, states=tuple(at.state), residual=residual)
    return _deflate(found, plant, _sizes(loop.states))


def _sizes(signals):
    return np.array([1e-5 if s.bristle else SCALE.get(s.unit, 1.0) for s in signals])


def _deflate(local: Local, plant, sizes: np.ndarray) -> Local:
    """Every state in its size, and the common mode of every cylinder's pressures taken out.

    That mode leaves f_p alone and is neutral at rest, outside v. It stays in where it is not invariant, or grows.
    """
    A = local.A / sizes[:, None] * sizes[None, :]
    B = local.B / sizes[:, None]
    C = local.C * sizes[None, :]
    scaled = replace(local, A=A, B=B, C=C)
    paired = chambers(plant, local.states)
    if not paired:
        return scaled
    Q, D, kept = _directions(local.states, paired)
    leak = float(np.abs(Q.T @ A @ D).max() + np.abs(C @ D).max())
    λ = np.linalg.eigvals(D.T @ A @ D)
    # How far from neutral or dying away they are.
    own = float(λ.real.max() if local.T is None else np.abs(λ).max() - 1)
    if max(leak, own) > 1e-4 * max(1.0, np.linalg.norm(A, 2)):
        return replace(scaled, leak=leak)
    return replace(
        scaled,
        A=Q.T @ A @ Q,
        B=Q.T @ B,
        C=C @ Q,
        states=kept,
        deflated=D.shape[1],
        leak=leak,
    )


def _directions(states: Sequence[str], paired: Mapping[str, tuple[str, Any]]):
    """(directions kept, common modes, names of those kept): of two pressures f_p is kept, ∝ A_a p_a − A_b p_b.

    A law's own filters of both pressures ("…_slow") follow the common mode and go with it.
    """
    keep = []
    gone = []
    kept = []
    others = {other for other, _ in paired.values()}
    for i, name in enumerate(states):
        if name in others:
            continue
        e = np.zeros(len(states))
        if name not in paired:
            e[i] = 1.0
            kept.append(name)
        else:
            other, cylinder = paired[name]
            k = list(states).index(other)
            size = np.hypot(cylinder.A_a, cylinder.A_b)
            common = np.zeros(len(states))
            common[i], common[k] = cylinder.A_b / size, cylinder.A_a / size
            e[i], e[k] = cylinder.A_a / size, -cylinder.A_b / size
            gone.append(common)
            kept.append(f"f_p{name[3:]}")
        keep.append(e)
    return np.array(keep).T, np.array(gone).T, tuple(kept)


def chambers(plant, state) -> dict[str, tuple[str, object]]:
    """Pressure of chamber a → (pressure of chamber b, their cylinder), and a law's own filters of them."""
    return {
        f"p_a{label}{end}": (f"p_b{label}{end}", c)
        for label, c in zip(plant.labels, plant.cylinders)
        for end in ("", "_slow")
        if f"p_b{label}{end}" in state
    }
