"""A loop and a function V of its state as expressions in which every number of the loop is a symbol. See `motion`.

Numbers of the loop (parameters, constants) are symbols held at their values, so that no derivative is rounded before it is
enclosed. Every entry of the flow, and of what jumps, is multiplied by 1 + η with η held in a box around zero (the margin
of the data): what the last digits decide is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import System, names
from workbench.numerics.calculus import Traced
from workbench.numerics.expressions import column, symbols
from workbench.numerics.intervals.enclosure import box
from workbench.numerics.intervals.rules import Box
from workbench.verification.rigorous.lifting import Lifted, lift
from workbench.verification.rigorous.paving import Bound


@dataclass(frozen=True, eq=False)
class Text:
    """V, the flow and what jumps, over the states x, what varies, and numbers that are fixed in boxes.

    names   of all states; at: places of the box's states among them
    fixed   symbols that are held, each in the box of `values` at its place; data: the places of η there
    value   V(x); flow: ẋ · (1 + η); jumped: x⁺ · (1 + η), None of a loop in continuous time
    T       the sample time, one of `fixed`
    edges   V and f with their steps and kinks listed; None in continuous time
    """

    names: list[str]
    at: list[int]
    x: ca.SX
    vary: ca.SX
    fixed: ca.SX
    values: list[Box]
    data: slice
    value: ca.SX
    flow: ca.SX
    jumped: ca.SX | None
    T: ca.SX
    edges: Lifted | None

    @property
    def z(self) -> ca.SX:
        """The states of the box, then what varies."""
        return ca.vertcat(self.x[self.at], self.vary)

    @property
    def along(self) -> ca.SX:
        """All states, then what varies: what paths between two samples are enclosed over."""
        return ca.vertcat(self.x, self.vary)

    def bound(self, e: ca.SX) -> Bound:
        """Bounds of a scalar expression over z."""
        return Bound(self.z, e, self.fixed, self.values)

    def bound_along(self, e: ca.SX) -> Bound:
        """Bounds of a scalar expression over all states and what varies."""
        return Bound(self.along, e, self.fixed, self.values)

    def outside(self, e: ca.SX) -> list[int]:
        """States without a range in the box that an expression depends on."""
        left = (i for i in range(self.x.numel()) if i not in self.at)
        return [i for i in left if ca.depends_on(e, self.x[i])]

    def within(self, e: ca.SX) -> Bound:
        """Bounds of an expression that may depend on states of the box only, else an InputError names the others."""
        self.check_within(e)
        return self.bound(e)

    def check_within(self, e: ca.SX) -> None:
        """Raise InputError where an expression depends on a state that the box gives no range."""
        left = self.outside(e)
        if left:
            gone = ", ".join(self.names[i] for i in left)
            raise InputError(
                f"V moves with {gone}, which the box gives no range",
                key="box",
                mend="give every state that matters a range in the box",
            )


def text_of(
    system: System,
    traced: Traced,
    V: Callable[[Sequence], object],
    at: list[int],
    inputs: Mapping,
    parameters: Mapping,
) -> Text:
    """The expressions of a loop and V; at: places of the states that V is given."""
    n = traced.n_states
    x, xs = symbols("x", n)
    w, c, vary, held, numbers = _numbers(system, traced, inputs, parameters)

    def part(name, y):
        return getattr(traced, name)(0.0, y, w, c)[:n]

    sampled = system.period is not None
    η = ca.SX.sym("η", 2 * n)  # relative changes of the flow and of what jumps
    T = ca.SX.sym("T")
    fixed = ca.vertcat(held, η)
    base = ca.vertcat(x, vary, fixed)
    value = column([V([xs[i] for i in at])])
    flow = part("flow", x)
    jumped = part("release", part("jump", x)) if sampled else x
    whole = lift(base, ca.vertcat(value, flow, jumped))
    data = slice(len(numbers), len(numbers) + η.numel())
    period = float(system.period) if sampled else 0.0
    numbers = [*numbers, *[0.0] * η.numel(), *whole.constants, period]
    return Text(
        names=names(system.states),
        at=at,
        x=x,
        vary=vary,
        fixed=ca.vertcat(fixed, whole.κ, T),
        values=[box(v, v) for v in numbers],
        data=data,
        value=whole.expression[0],
        flow=whole.expression[1 : n + 1] * (1 + η[:n]),
        jumped=_changed(whole.expression[n + 1 :], x, η[n:]) if sampled else None,
        T=T,
        edges=lift(base, ca.vertcat(value, part("flow", x))) if sampled else None,
    )


def _changed(jumped: ca.SX, x: ca.SX, η: ca.SX) -> ca.SX:
    """What jumps, every entry off by a share of itself; an entry that stays is exact."""
    found = []
    for i in range(x.numel()):
        stays = jumped[i].element_hash() == x[i].element_hash()
        found.append(jumped[i] if stays else jumped[i] * (1 + η[i]))
    return ca.vertcat(*found)


def _numbers(system: System, traced: Traced, inputs: Mapping, parameters: Mapping):
    """(w, c as expressions; symbols that vary; symbols held, and at which values)."""
    held = []
    values = []
    vary = {}

    def symbol(name, value):
        s = ca.SX.sym(name)
        if value is None:
            vary[name] = s
        else:
            held.append(s)
            values.append(float(value))
        return s

    w = [symbol(name, None if np.ndim(v) else v) for name, v in inputs.items()]
    between = list(vary.values())
    for path in parameters:
        if path not in traced.paths:
            known = ", ".join(traced.paths[:8])
            raise InputError(f"no parameter {path!r}", key="parameters", mend=f"such as {known}")
    if parameters:
        own = {leaf.path: leaf.value for leaf in leaves(system)}
        given = [None if path in parameters else own[path] for path in traced.paths]
        c = traced.prelude(column([symbol(*entry) for entry in zip(traced.paths, given)]))
    else:
        c = column([symbol(f"c{i}", v) for i, v in enumerate(traced.constants(system))])
    varying = [*between, *(vary[path] for path in parameters)]
    stack = lambda e: ca.vertcat(*e) if e else ca.SX(0, 1)
    return column(w), c, stack(varying), stack(held), values
