"""A step of driver.c that ends on the kinks on its way, as a graph of CasADi.

Rare branches (a kink, how often to double φ functions) are CasADi's switches, which evaluate only what is taken.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from workbench.contract.scalars import Scalar, Vector
from workbench.numerics.step_vm import Steps
from workbench.numerics.stepping import KINKS, LOOKS, PASSED


class Kinks(Steps):
    """Functions of a step in which guards may change their sign: see `native.Loop`."""

    def advance(self) -> ca.Function:
        """(t, h, z, V, c) → z after a step that ends on kinks on its way."""
        step = self.step()
        own = self.symbols()
        if not self.n_g:
            return ca.Function("advance", own, [step(*own)[0]])
        rest = self.rest(step, KINKS)
        return ca.Function("advance", own, [rest(*own, 0.0, ca.DM.zeros(self.n_g))])

    def rest(self, step: Any, left: int) -> ca.Function:
        """(t, h, z, V, c, fraction done, guards passed) → z after the step, ending on `left` more kinks at most."""
        own = self.symbols()
        a = ca.MX.sym("a")
        passed = ca.MX.sym("passed", self.n_g)
        z, g_0, g_1 = self.part(step, own, a, 1.0)
        if left:
            theirs = [
                *own,
                a,
                passed,
                ca.MX.sym("end", self.n_z),
                *(ca.MX.sym(n, self.n_g) for n in ("g_0", "g_1")),
            ]
            through = ca.Function("through", theirs, [self.through(step, left, *theirs)])
            past = ca.Function("past", theirs, [theirs[7]])
            crossed = self.crossing(g_0, g_1, passed) <= 1
            z = ca.Function.if_else("kink", through, past)(crossed, *own, a, passed, z, g_0, g_1)
        return ca.Function("rest", [*own, a, passed], [z])

    def through(
        self,
        step: Any,
        left: Any,
        t: Scalar,
        h: Scalar,
        z: Vector,
        V: Any,
        c: Any,
        done: Any,
        passed: Any,
        _: Any,
        g_0: Any,
        g_1: Any,
    ) -> Any:
        """z after the step: up to the first kink by false position, then the rest."""
        own = [t, h, z, V, c]
        low = 0.0
        high = 1.0
        g_low = g_0
        g_high = g_1
        at = self.crossing(g_0, g_1, passed)
        for look in range(LOOKS):
            to = done + at * (1 - done)
            end, _, g = self.part(step, own, done, to)
            if look + 1 < LOOKS:
                over = self.crossing(g_0, g, passed) <= 1
                low = ca.if_else(over, low, at)
                g_low = ca.if_else(over, g_low, g)
                high = ca.if_else(over, at, high)
                g_high = ca.if_else(over, g, g_high)
                share = self.crossing(g_low, g_high, passed)
                at = low + (high - low) * ca.if_else(share > 1, 0, share)
        passed = ca.fmax(passed, ca.fabs(g) <= PASSED * ca.fabs(g_0 - g_1))
        return self.rest(step, left - 1)(t, h, end, V, c, to, passed)

    def crossing(self, g_0: Any, g_1: Any, passed: Any) -> Any:
        """First part of a step at which a guard changes its sign, on a straight line; 2 where none does."""
        changes = ca.logic_and(g_0 * g_1 < 0, ca.logic_not(passed))
        return ca.mmin(ca.vertcat(2, ca.if_else(changes, g_0 / (g_0 - g_1), 2)))

    def part(self, step: Any, own: Any, a: Any, b: Any) -> Any:
        """`step` from fraction a of its length to b, with inputs on the parabola through its stages."""
        t, h, z, V, c = own
        if self.driven:
            w = self.inputs(V)
            rows = []
            for s in (a, (a + b) / 2, b):
                rows.append(
                    (1 - s) * (1 - 2 * s) * w[0] + 4 * s * (1 - s) * w[1] + s * (2 * s - 1) * w[2]
                )
            V = ca.vertcat(*rows)
        return step(t + a * h, (b - a) * h, z, V, c)
