"""A sampled loop as a linear one: what the law does near rest, and the plant linearised, sampled exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.capabilities import LinearisesItself
from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.plain import Plain
from workbench.contract.system import find, innermost, names
from workbench.contract.units import format_quantity, quantity
from workbench.contract.wrappers import Delayed
from workbench.numerics.expressions import column, quick, symbols
from workbench.numerics.linearisation import linearize
from workbench.numerics.switches import jumps, refuse_undecided
from workbench.verification.linear.delay_margin import LateCommand
from workbench.verification.linear.sampled_data import sampled

NO_EQUATIONS = "code, of which no linear law is known"
TURNS = "changes with time itself: linearised at one instant it says nothing"


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


class Curved(InputError):
    """The law is nonlinear: its Jacobian depends on where it is taken."""


def linear_law(loop, tangent: bool = False) -> LinearLaw:
    """The loop's law near rest, inside its limits, as a linear law from sample to sample.

    tangent: False refuses a nonlinear law; True linearises it at rest. Raises InputError, with the reason, where there is none.
    """
    controller = loop.controller
    delay = 0.0
    if loop.period is None:
        raise InputError(
            "the law is continuous: it has no samples", mend="give the loop a sample_time"
        )
    if isinstance(controller, Delayed):
        delay = float(controller.delay)
        controller = controller.inner
    law = innermost(controller)
    if isinstance(law, Plain):
        if not isinstance(law.law, LinearNearRest):
            raise InputError(
                f"{law.name} is {NO_EQUATIONS}",
                mend="ask this of PID, LQR or MPC",
            )
        if controller.inner is not law:
            raise InputError(
                "filters, noise or limits around a predictive controller are not linearised",
                mend="leave them out",
            )
        return LinearLaw(*law.law.linear_law(), float(loop.period), delay)
    if why := no_tangent(loop):
        raise InputError(why, mend="verify the loop without it")
    A, B, C, D = law_slopes(controller, curved=tangent)
    still = (A == np.eye(len(A))).all(axis=1) & (B == 0).all(axis=1)
    own = [name for name, s in zip(names(controller.states), still) if s]
    return LinearLaw(
        A[~still][:, ~still], B[~still], C[:, ~still], D, float(loop.period), delay, tuple(own)
    )


def law_slopes(controller, flows: bool = False, curved: bool = False):
    """Jacobians (A, B, C, D) of a law that is an expression: of its jump (flows: of its flow) and its command, at zero.

    Raises InputError where they do not describe the law: it has a kink there, depends on time, or is nonlinear (unless `curved`).
    """
    n, p, q = (len(s) for s in (controller.states, controller.measured, controller.references))
    (z, zs), (y, ys) = symbols("z", n), symbols("y", p)
    r = [0.0] * q
    t = quick(ca.SX.sym("t"))
    after = controller.rhs(t, zs, ys, r) if flows else controller.update(t, zs, ys, r)
    both = ca.vertcat(column(after), column(controller.command(t, zs if flows else after, ys, r)))
    known = ca.vertcat(z, y)
    if ca.depends_on(ca.jacobian(both, known), t):
        raise InputError(f"the law {TURNS}", mend="verify it by runs")
    both = ca.substitute(both, t, 0.0)
    slopes = ca.densify(ca.jacobian(both, known))
    f, g = (ca.Function("law", [z, y], [ca.densify(e)]) for e in (both, slopes))
    rest = [np.zeros(n), np.zeros(p)]
    M = np.array(g(*rest)).reshape(both.numel(), n + p)
    if not np.isfinite(M).all():
        raise InputError("the law has no derivative at rest", mend="verify it by runs")
    # Slopes are constant on each side of a switch.
    if not curved and not ca.jacobian(ca.vec(slopes), known).is_zero():
        raise Curved("the law is not linear", mend="verify it by runs")
    refuse_undecided(f, rest, M, (0, 1))
    J = M[:, :n]
    K = M[:, n:]
    return J[:n], K[:n], J[n:], K[n:]


@dataclass(frozen=True, eq=False)
class Point:
    """Where the plant is linearised: states x, inputs u; `words` names what differs from the plant's own start."""

    x: list[float]
    u: list[float]
    words: str


def point(plant, at: Mapping[str, Any]) -> Point:
    """The plant's start, with what `at` says (names of states and inputs → number or quantity)."""
    x = list(map(float, plant.initial()))
    given = {**plant.defaults()}
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
    if found.D[rows].any():
        raise InputError(
            "what is measured follows the commands directly, which a linear loop here does not",
            mend="put the actuator's lag in front, or measure a state",
        )
    return found.A, found.B, found.C[rows]


def no_tangent(loop) -> str:
    """Why the loop has no derivative at a point; "" where it has one, also where the plant gives its own derivatives."""
    own = isinstance(loop.plant, LinearisesItself)
    return loop.controller.no_derivative if own else loop.no_derivative


def closed(loop, where: Point) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, B, C): the loop on (x, past commands, z) from sample to sample, where a signal added to each command enters, and
    the commands; of a continuous law the loop's flow."""
    refuse_changing(loop.plant)
    if loop.period is None:
        return _flowing(loop, where)
    plant, M = stepped(loop, where)()
    law = linear_law(loop)
    enter = np.vstack([plant.B, np.zeros((len(law.A), plant.B.shape[1]))])
    return M, enter, np.hstack([law.D @ plant.C, law.C])


def stepped(loop, where: Point) -> Callable:
    """Delays added to the commands, s (one number or one a command) → (plant from sample to sample, the loop's matrix)."""
    law, (A, B, C) = linear_law(loop), flat(loop, where)

    def at(more=0.0):
        plant = sampled(
            A, B, C, np.zeros((len(C), B.shape[1])), law.T, law.delay + np.asarray(more, float)
        )
        return plant, np.block(
            [[plant.A + plant.B @ law.D @ plant.C, plant.B @ law.C], [law.B @ plant.C, law.A]]
        )

    return at


def late_command(loop, where: Point, i: int) -> LateCommand:
    """Command i of a sampled loop, for a search over its delay; the loop's present delay is taken out of the matrix."""
    law, (A, B, C) = linear_law(loop), flat(loop, where)
    delays = np.full(B.shape[1], law.delay)
    delays[i] = 0.0
    plant = sampled(A, B, C, np.zeros((len(C), B.shape[1])), law.T, delays)
    M = np.block([[plant.A + plant.B @ law.D @ plant.C, plant.B @ law.C], [law.B @ plant.C, law.A]])
    K = np.hstack([law.D @ plant.C, law.C])[i]
    return LateCommand(A, B[:, i], M, K, np.eye(len(M), len(A)), law.T, law.delay)


def _flowing(loop, where: Point):
    """(M, B, C) of the loop with a continuous law, ẋ = M x: B of the commands into the plant, C of the law."""
    Az, Bz, Cz, D = flowing_law(loop)
    A, B, C = flat(loop, where)
    M = np.block([[A + B @ D @ C, B @ Cz], [Bz @ C, Az]])
    return M, np.vstack([B, np.zeros((len(Az), B.shape[1]))]), np.hstack([D @ C, Cz])


def flowing_law(loop) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(A, B, C, D) of a continuous law, ż = A z + B y, u = C z + D y, memory that never changes left out.

    Raises InputError, with the reason, for a law that is code.
    """
    controller = loop.controller
    if isinstance(innermost(controller), Plain) or no_tangent(loop):
        raise InputError(
            no_tangent(loop) or f"the law is {NO_EQUATIONS}",
            mend="verify it by runs",
        )
    A, B, C, D = law_slopes(controller, flows=True)
    moves = A.any(axis=1) | B.any(axis=1)
    return A[moves][:, moves], B[moves], C[:, moves], D


def constant_memory(loop) -> tuple[str, ...]:
    """Names of the law's memory that never changes near rest, and is left out of `closed`."""
    if loop.period is not None:
        return linear_law(loop).constant
    A, B, _, _ = law_slopes(loop.controller, flows=True)
    return tuple(
        n for n, a, b in zip(names(loop.controller.states), A, B) if not a.any() and not b.any()
    )


def refuse_turning(plant) -> None:
    """Raise InputError where the flow depends on time explicitly, as that of a pump modelled piston by piston.

    A plant that linearises itself is asked there.
    """
    if isinstance(plant, LinearisesItself):
        return
    flow, t, _ = _in_time(plant)
    if ca.depends_on(flow, t):
        raise InputError(f"the plant {TURNS}", mend="ask this of the averaged plant")


def refuse_changing(plant) -> None:
    """Raise InputError where the flow's derivative depends on time: a plant that is shaken alike in all its states has one."""
    if isinstance(plant, LinearisesItself):
        return
    flow, t, known = _in_time(plant)
    if ca.depends_on(flow, t) and ca.depends_on(ca.jacobian(flow, known), t):
        raise InputError(f"the plant {TURNS}", mend="ask this of the averaged plant")


def _in_time(plant) -> tuple[ca.SX, ca.SX, ca.SX]:
    """The flow of a plant, time, and what else it depends on."""
    (x, xs), (u, us) = (symbols(c, len(s)) for c, s in (("x", plant.states), ("u", plant.inputs)))
    t = quick(ca.SX.sym("t"))
    return column(plant.rhs(t, xs, us)), t, ca.vertcat(x, u)


def is_linear(plant) -> bool:
    """Whether flow and outputs are linear in states and inputs: their Jacobian contains neither, and nothing switches.

    Time may not move them either: a plant that is shaken has no state in which it rests. Of a plant on floats that is not
    known, so it is not.
    """
    if plant.on_floats:
        return False
    x, xs = symbols("x", len(plant.states))
    u, us = symbols("u", len(plant.inputs))
    t = quick(ca.SX.sym("t"))
    both = ca.vertcat(column(plant.rhs(t, xs, us)), column(plant.out(t, xs)))
    whole = ca.vertcat(x, u)
    if ca.depends_on(both, t) or ca.depends_on(ca.jacobian(both, whole), whole):
        return False
    if jumps(whole, both):
        return False
    at_rest = ca.Function("rest", [whole, t], [both])(0.0, 0.0)
    return not np.array(at_rest).any()


def in_names(text: str, loop: Any) -> str:
    """A text with x[0], x[1] … replaced by names of the plant's states; entries beyond these are "the law's memory"."""
    own = names(loop.plant.states)
    return re.sub(
        r"x\[(\d+)\]",
        lambda m: own[int(m[1])] if int(m[1]) < len(own) else "the law's memory",
        text,
    )
