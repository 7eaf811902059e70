"""A drive that gives the force it is told: u = f_cr.

It stores nothing and perturbs by −Δẋ (f_cr − f_c) alone: "model" Δẋ (f_cr of the true bodies − f_cr of the law's own), and Δẋ times
the steps from the law's command to the force that acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from controllers.vdc.part import Given, Part
from plants.drives.laws import Force, Torque


@final
@dataclass(frozen=True)
class PureForce(Part):
    """See the module."""

    serves: ClassVar[tuple[type, ...]] = (Force, Torque)
    needs_rate: ClassVar[bool] = False

    label: str
    drive: Force | Torque

    def believed(self, p, s, v, ẑ, line, f_pr):
        return f_pr

    def command(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        return f_pr

    def entry(self, drive, given: Given):
        from workbench.verification.ledger.balance import Entry

        Δx = given.v_r - given.v
        most = drive.limit
        cut = given.u if most is None else np.clip(given.u, -most, most)
        ladder = [given.own_f_cr, *given.steps.values(), cut, given.f_c]
        names = [*given.steps, "saturation", "drive"]
        d = {"model": Δx * given.erring}
        for name, a, b in zip(names, ladder[:-1], ladder[1:]):
            d[name] = d.get(name, 0.0) + Δx * (a - b)
        flow = -Δx * (given.f_cr - given.f_c)
        size = np.abs(Δx) * (np.abs(given.f_cr) + sum(np.abs(f) for f in ladder))
        return Entry(self.label, f"actuator {self.label}", 0.0, 0.0, {given.cut: flow}, d, size)

    def shown(self, drive, given: Given) -> dict:
        return {f"lever {self.label}": given.lever, f"Δẋ {self.label}": given.v_r - given.v}

    def hypotheses(self, run, drive):
        return ()

    def rate(self, drive) -> float:
        """Rate at which its storage decays, 1/s; it has none."""
        return np.inf
