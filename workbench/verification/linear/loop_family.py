"""A closed loop linearised at a point as matrices of parameters that lie in a box. See `linear.loop`."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.numerics.expressions import column, symbols
from workbench.verification.linear.family import Family
from workbench.verification.linear.loop import Point, flat, linear_law, refuse_turning
from workbench.verification.linear.sampled_data import whole_and_rest


def family_of(loop, at: Point, box) -> tuple[Family, list[tuple[float, float]]]:
    """The closed loop as matrices of the box's parameters; states (x, applied command, commands on their way, z)."""
    refuse_turning(loop.plant)
    law = linear_law(loop)
    _, _, C = flat(loop, at)
    low, _ = delays = box.get("delay", (law.delay, law.delay))
    whole, rest = whole_and_rest(low, law.T)
    _refuse_beyond_a_sample(delays, whole, law.T)
    text = _plant_text(loop, at, [name for name in box if name != "delay"])
    parts = _Parts(n=C.shape[1], m=law.D.shape[0], k=len(law.A), whole=whole)
    jump = _sampled(parts, law, C)
    release = _released(parts)
    flow = lambda θ: _held(parts, text(θ))
    order = tuple(box)
    early, late = _times(order, whole, rest, law.T)
    before = ((flow, early),) if early else ()
    stages = (
        (lambda θ: jump.tolist(), None),
        *before,
        (lambda θ: release.tolist(), None),
        (flow, late),
    )
    return Family(order, stages, law.T), [box[name] for name in order]


def _refuse_beyond_a_sample(delays, whole: int, T: float) -> None:
    """A range of the delay has to stay between two neighbouring multiples of T."""
    low, high = delays
    if low < 0 or high > (whole + 1) * T * (1 + 1e-9):
        raise InputError(
            f"box.delay: the range {low:g} … {high:g} s reaches over a sample",
            mend=f"stay between two multiples of {T:g} s, and add a claim for the next",
        )


def _times(order, whole: int, rest: float, T: float):
    """How long after a sample the older command is still applied, and how long the next; numbers, or texts of θ."""
    if "delay" not in order:
        return rest, T - rest
    i = order.index("delay")
    return (lambda θ: θ[i] - whole * T), (lambda θ: (whole + 1) * T - θ[i])


@dataclass(frozen=True)
class _Parts:
    """Where things stand in the loop's state: n states x, m commands applied, `whole` + 1 sets of m on their way, k of the law."""

    n: int
    m: int
    k: int
    whole: int

    @property
    def size(self) -> int:
        return self.n + self.m * (self.whole + 2) + self.k

    @property
    def x(self) -> slice:
        return slice(0, self.n)

    @property
    def z(self) -> slice:
        return slice(self.size - self.k, self.size)

    def command(self, i: int) -> slice:
        """0: what is applied; 1: the newest on its way; larger numbers are older."""
        first = self.n + self.m * i
        return slice(first, first + self.m)


def _sampled(parts: _Parts, law, C) -> np.ndarray:
    """At a sample: the law takes y = C x, commands on their way grow older by one, its own is the newest."""
    same = np.eye(parts.m)
    jump = np.eye(parts.size)
    for i in range(parts.whole, 0, -1):
        jump[parts.command(i + 1)] = 0.0
        jump[parts.command(i + 1), parts.command(i)] = same
    newest = parts.command(1)
    jump[newest] = 0.0
    jump[newest, parts.x] = law.D @ C
    jump[newest, parts.z] = law.C
    jump[parts.z] = 0.0
    jump[parts.z, parts.x] = law.B @ C
    jump[parts.z, parts.z] = law.A
    return jump


def _released(parts: _Parts) -> np.ndarray:
    """When the rest of the delay is over: the oldest command on its way is the one applied."""
    release = np.eye(parts.size)
    release[parts.command(0)] = 0.0
    release[parts.command(0), parts.command(parts.whole + 1)] = np.eye(parts.m)
    return release


def _held(parts: _Parts, rows) -> list:
    """Between: x moves by the plant's rows (A B), everything else stands."""
    others = [0.0] * (parts.size - parts.n - parts.m)
    standing = [[0.0] * parts.size for _ in range(parts.size - parts.n)]
    return [[*row, *others] for row in rows] + standing


def _plant_text(loop, at: Point, moving):
    """θ → rows (A B) of the plant's flow at `at`, by the commands."""
    plant = loop.plant
    x, states = symbols("x", len(plant.states))
    u, inputs = symbols("u", len(plant.inputs))
    p, parameters = symbols("p", len(moving))
    drives = [names(plant.inputs).index(s.name) for s in loop.controller.commands]
    changed = bind(plant, dict(zip(moving, parameters)))
    flow = column(changed.rhs(0.0, states, inputs))
    J = ca.jacobian(flow, ca.vertcat(x, ca.vertcat(*[inputs[i] for i in drives])))
    f = ca.Function("rows", [x, u, p], [ca.densify(J)])
    order = {name: i for i, name in enumerate(moving)}

    def text(θ):
        values = ca.vertcat(*[θ[order[name]] for name in moving]) if moving else []
        M = f(at.x, at.u, values)
        return [[M[i, j] for j in range(M.size2())] for i in range(M.size1())]

    return text
