"""A closed loop linearised at a point as matrices of parameters that lie in a box. See `linear_loop`."""

from __future__ import annotations

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.numerics.calculus import column, symbols
from workbench.verification.family import Family
from workbench.verification.linear_loop import Point, flat, linear_law, refuse_turning
from workbench.verification.sampled_data import whole_and_rest


def family_of(loop, at: Point, box) -> tuple[Family, list[tuple[float, float]]]:
    """The closed loop as matrices of the box's parameters; states (x, applied command, commands on their way, z)."""
    refuse_turning(loop.plant)
    law = linear_law(loop)
    _, _, C = flat(loop, at)
    low, high = box.get("delay", (law.delay, law.delay))
    d, rest = whole_and_rest(low, law.T)
    if low < 0 or high > (d + 1) * law.T * (1 + 1e-9):
        raise InputError(
            f"box.delay: the range {low:g} … {high:g} s reaches over a sample",
            mend=f"stay between two multiples of {law.T:g} s, and add a claim for the next",
        )
    moving = [name for name in box if name != "delay"]
    text = _plant_text(loop, at, moving)
    n, m, k = C.shape[1], law.D.shape[0], len(law.A)
    N = n + m * (d + 2) + k
    place = lambda i: slice(n + m * i, n + m * (i + 1))  # 0: applied, 1 …: newest, older
    z = slice(N - k, N)
    jump = np.eye(N)
    release = np.eye(N)
    for i in range(d, 0, -1):  # commands on their way grow older
        jump[place(i + 1)] = 0.0
        jump[place(i + 1), place(i)] = np.eye(m)
    jump[place(1)] = 0.0
    jump[z] = 0.0
    jump[place(1), :n] = law.D @ C
    jump[place(1), z] = law.C
    jump[z, :n] = law.B @ C
    jump[z, z] = law.A
    release[place(0)] = 0.0
    release[place(0), place(d + 1)] = np.eye(m)

    def flow(θ):
        return [[*row, *[0.0] * (N - n - m)] for row in text(θ)] + [[0.0] * N for _ in range(N - n)]

    order = list(box)
    if "delay" in box:
        i, shift = order.index("delay"), d * law.T
        early, late = ((flow, lambda θ: θ[i] - shift),), (flow, lambda θ: (d + 1) * law.T - θ[i])
    else:
        early, late = ((flow, rest),) if rest else (), (flow, law.T - rest)
    stages = ((lambda θ: jump.tolist(), None), *early, (lambda θ: release.tolist(), None), late)
    return Family(tuple(order), stages, law.T), [box[name] for name in order]


def _plant_text(loop, at: Point, moving):
    """θ → rows (A B) of the plant's flow at `at`, by the commands."""
    plant = loop.plant
    (x, xs), (u, us), (p, ps) = (
        symbols(c, k)
        for c, k in (("x", len(plant.states)), ("u", len(plant.inputs)), ("p", len(moving)))
    )
    drives = [names(plant.inputs).index(s.name) for s in loop.controller.commands]
    flow = column(bind(plant, dict(zip(moving, ps))).rhs(0.0, xs, us))
    J = ca.jacobian(flow, ca.vertcat(x, ca.vertcat(*[us[i] for i in drives])))
    f = ca.Function("rows", [x, u, p], [ca.densify(J)])
    order = {name: i for i, name in enumerate(moving)}

    def text(θ):
        M = f(at.x, at.u, ca.vertcat(*[θ[order[name]] for name in moving]) if moving else [])
        return [[M[i, j] for j in range(M.size2())] for i in range(M.size1())]

    return text
