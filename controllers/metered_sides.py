"""The bodies' side of the ledger of `MeteredVDC`: entries, cuts, friction, geometry and rates of a crane, or of arms.

bodies(m, xp, u, rates)   → Side: entries; ẋ, ẋ_r, f_cr of the true bodies; true f_c, ṗ; friction's force, law, states
cut(i), subsystem(i)      where rod i meets its bodies, and whose it is
shown(m)                  quantities for the hypotheses
hypotheses(run, claim, c_f), rates(run, c_f), monitors(quantities)     c_f: rate of the rods, 1/s
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from controllers.metered_machines import Measured, OfArms, machine
from controllers.vdc_ledger import VDCLedger
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry
from workbench.verification.verdict import Assumption


class Side(NamedTuple):
    """See `bodies` in the module's docstring; rubs: (f_f, friction or None, its states) of every rod."""

    entries: list[Entry]
    need: Any
    f_c: list
    v: list
    rubs: list


@final
@dataclass(frozen=True)
class CraneSide:
    """Bodies of a `MeteredCrane`: those of `VDCLedger`."""

    law: Any
    plant: MeteredCrane

    @property
    def ledger(self) -> VDCLedger:
        return VDCLedger(self.law.machine.bodies, self.plant.crane)

    def bodies(self, m: Measured, xp, u, rates) -> Side:
        n, crane = self.plant.n, self.plant.crane
        whole, given = self.plant._whole(xp, u)
        parts, (_, base, tip) = crane.split(whole), crane.surroundings(given)
        rows, need, f_c = self.ledger.bodies(m.q, m.qd, list(rates[n : 2 * n]), m.τ, base, tip)
        f_f = crane.friction(parts, need.xd)
        return Side(
            rows,
            need,
            f_c,
            list(rates[2 * n : 3 * n]),
            [(f, c.friction, z) for f, c, z in zip(f_f, self.plant.cylinders, parts.rub)],
        )

    def cut(self, i) -> str:
        return self.ledger.rod(i)

    def subsystem(self, i) -> str:
        return self.ledger.rod(i).rsplit(" ", 1)[0]

    def shown(self, m: Measured) -> dict:
        x, _, lever = self.plant.crane.cylinder_motion(m.q, m.qd)
        rows = zip(self.plant.labels, self.plant.cylinders, x, lever)
        return {
            key: value
            for k, c, at, l in rows
            for key, value in ((f"x {k}", at), (f"room {k}", c.stroke - at), (f"lever {k}", l))
        }

    def hypotheses(self, run, claim, c_f):
        yield from hypotheses.gains(self.law.machine.bodies, self.plant.crane, c_f, self.law.k_x)
        yield from (*hypotheses.friction(run), *hypotheses.geometry(run, claim.lever))

    def rates(self, run, c_f) -> tuple[float, float]:
        return hypotheses.rates_along(run, self.law.machine.bodies, self.plant.crane, c_f)

    def monitors(self, q) -> dict:
        found = {
            f"piston {k} inside stroke": np.minimum(q[f"x {k}"], q[f"room {k}"]) / (c.stroke / 2)
            for k, c in zip(self.plant.labels, self.plant.cylinders)
        }
        return found | _levers(
            q, [k for k, s in zip(self.plant.labels, self.plant.segments) if not s.slides]
        )


@final
@dataclass(frozen=True)
class ArmsSide:
    """Bodies of `MeteredArms`: v_A = ½ I (θ̇_r − θ̇)², v̇_A = −K_A (θ̇_r − θ̇)² + Δẋ (f_cr − f_c) − power at the tip."""

    law: Any
    plant: MeteredArms

    def bodies(self, m: Measured, xp, u, rates) -> Side:
        own: OfArms = machine(self.law, self.plant)
        need, (ω_r, _), rows, f_c = own.required(m), own.motion(m), [], []
        n = own.n
        for i, (a, K_A, θ, ω, to) in enumerate(
            zip(self.plant.arms, own.fed_back(), m.q, m.qd, ω_r)
        ):
            Δω, Δx, tip = (
                to - ω,
                need.xd_r[i] - need.xd[i],
                a.torque(θ, 0.0, u[len(u) - n + i], 0.0),
            )
            held = a.torque(θ, 0.0, 0.0, self.plant.g) + tip
            f_c.append((a.inertia * rates[3 * i + 1] - held) / a.lever(θ))
            D, rod = K_A * Δω**2, Δx * (need.f_c[i] - f_c[i])
            size = (
                np.abs(Δx) * (np.abs(need.f_c[i]) + np.abs(f_c[i]))
                + np.abs(Δω) * (np.abs(held) + np.abs(tip))
                + D
            )
            rows.append(
                Entry(
                    self.subsystem(i),
                    "body",
                    0.5 * a.inertia * Δω**2,
                    D,
                    {self.cut(i): rod, f"tip {a.name}": -Δω * tip},
                    {},
                    size,
                )
            )
        return Side(rows, need, f_c, [rates[3 * i + 2] for i in range(n)], [(0.0, None, [])] * n)

    def cut(self, i) -> str:
        return f"rod {self.plant.names[i]}"

    def subsystem(self, i) -> str:
        return f"arm {self.plant.names[i]}"

    def shown(self, m: Measured) -> dict:
        return {f"lever {a.name}": a.lever(θ) for a, θ in zip(self.plant.arms, m.q)}

    def hypotheses(self, run, claim, c_f):
        c = min(self.rates(run, c_f))
        yield Assumption(
            "K_A ≻ 0 for every arm, and k_x, k_f > 0",
            c > 0 and min(self.law.k_x) > 0,
            c,
            "1/s",
            f"rate c = {c:.3g} 1/s",
            "K_A of the model against the true inertia",
        )
        for k in self.plant.names:
            lever = np.abs(run.balance.quantities[f"lever {k}"])
            i = int(np.argmin(lever))
            yield Assumption(
                f"lever arm |dℓ/dθ| of arm {k} ≥ {claim.lever:g} m",
                bool(lever[i] >= claim.lever),
                float(lever[i] - claim.lever),
                "m",
                f"{lever[i]:.3g} m at t = {run.balance.t[i]:.2f} s",
                "f_cr divides by it",
            )

    def rates(self, run, c_f) -> tuple[float, float]:
        own = machine(self.law, self.plant)
        c = float(
            min(c_f, *(2 * K_A / a.inertia for K_A, a in zip(own.fed_back(), self.plant.arms)))
        )
        return c, c

    def monitors(self, q) -> dict:
        return _levers(q, self.plant.names)


def _levers(q, labels) -> dict:
    return {
        f"lever arm {k}": np.abs(q[f"lever {k}"]) / np.abs(q[f"lever {k}"]).max() for k in labels
    }


def side(law, plant) -> CraneSide | ArmsSide:
    """The side of `plant`."""
    return (CraneSide if isinstance(plant, MeteredCrane) else ArmsSide)(law, plant)
