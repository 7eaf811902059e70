"""What stands around a law that has no equations, as graphs: what it is given, and what becomes of its commands.

Sampled, filters, limits, quantisers and delays are traced by their own text around a gap in the law's place:

    (y', r') = seen(t, z, y, r),  u' = law(y', r'),  (z⁺, u) = after(t, z, y, r, u'),  z the memory of the wrappers
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.once import traced
from workbench.contract.parameters import bind, leaves
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Controller, Signal, innermost, rewrapped
from workbench.numerics.calculus import check_constants, hoist
from workbench.numerics.expressions import column, symbols

ARGUMENTS = ("t", "memory", "measured", "references", "moves", "constants")


@dataclass(frozen=True, eq=False)
class Gap(Controller):
    """In the place of a law: its commands are symbols, and what it is given is kept."""

    law: Any
    moves: Sequence[ca.SX]
    given: list = field(default_factory=list)

    @property
    def measured(self) -> tuple[Signal, ...]:
        return self.law.measured

    @property
    def references(self) -> tuple[Signal, ...]:
        return self.law.references

    @property
    def commands(self) -> tuple[Signal, ...]:
        return self.law.commands

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        self.given[:] = [*y, *r]
        return []

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        self.given[:] = [*y, *r]
        return [], list(self.moves)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Functions of `ARGUMENTS`, by name, with the numbers c that they take.

    seen_at_start, seen: measurements and references as the law is given them. around_start: memory of the wrappers that fits the
    first measurement. around_step, around_release: (memory, commands) at a sample, and `lag` after it, where there is one.
    """

    functions: dict[str, ca.Function]
    constants: np.ndarray


def surroundings(controller: Any) -> Surroundings:
    """The wrappers of a controller, without the law inside."""
    law = innermost(controller)
    moves, each = symbols("m", len(law.commands))
    gap = Gap(law, each)
    hollow = rewrapped(controller, gap)
    free = [leaf for leaf in leaves(hollow) if not leaf.constant]
    p, entries = symbols("p", len(free))
    bound = bind(hollow, {leaf.path: e for leaf, e in zip(free, entries)})
    t = ca.SX.sym("t")
    z, zs = symbols("z", len(bound.states))
    y, ys = symbols("y", len(bound.measured))
    r, rs = symbols("r", len(bound.references))
    results: dict[str, list[list]] = {}
    with traced():
        settled = bound.start(t, zs, ys, rs)
        results["seen_at_start"] = [list(gap.given)]
        results["around_start"] = [settled]
        after = bound.update(t, zs, ys, rs)
        results["seen"] = [list(gap.given)]
        results["around_step"] = [after, bound.command(t, after, ys, rs)]
        if bound.lag:
            later = bound.release(t, zs, ys, rs)
            results["around_release"] = [later, bound.command(t, later, ys, rs)]
    expressions, c, prelude = hoist([column(e) for parts in results.values() for e in parts], p)
    left = iter(expressions)
    functions = {}
    for name, parts in results.items():
        found = [next(left) for _ in parts]
        given = [t, z, y, r, moves, c]
        functions[name] = ca.Function(name, given, found, list(ARGUMENTS), ["z", "u"][: len(found)])
        check_constants(functions[name], f"{type(controller).__name__}.{name}")
    numbers = ca.Function("prepare", [p], [ca.densify(prelude)])([leaf.value for leaf in free])
    return Surroundings(functions, np.array(numbers, float).ravel())
