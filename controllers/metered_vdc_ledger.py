"""The dissipation ledger of virtual decomposition control behind metering valves: bodies, and rods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from controllers.metered_machines import OfArms, OfCrane, machine
from controllers.metered_sides import ArmsSide, CraneSide, side
from controllers.metered_vdc import LARGEST, MeteredVDC
from controllers.unlimited import instant, unlimited
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.valve_circuits.inverse import MOST, velocity
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry
from workbench.verification.measured import term
from workbench.verification.verdict import Assumption

STEPS = (
    "hold",
    "parameters",
    "valve inverse",
    "parameters",
    "measurement",
    "saturation",
    "hold",
    "saturation",
    "pump",
)


@final
@dataclass(frozen=True)
class MeteredVDCLedger:
    """Entries for every body (`metered_sides`) and every rod, at true states.

        v_p = Δf²/(2 K k_x) + friction's storage,   Δf = f_Kr − f_K,   Δẋ = ẋ_r − ẋ,   K, B, τ = B/K the plant's
        D_p = (k_f/k_x)(1 − B k_f/4) Δf² + B k_x (Δẋ + k_f Δf/(2 k_x))²
        v̇_p = −D_p − Δẋ (f_cr − f_c) + Σ d

    so the oil's own damping is dissipation too, and D_p ≥ 0 as long as B k_f ≤ 4. Perturbations d: "friction" and "model" as in
    `VDCLedger`; (Δf/k_x + B Δẋ) times the parts of ṗ_r − ṗ, telescoped from the law at true states to what the valves do: "hold"
    (the memory f_Kr, and the command), "parameters", "valve inverse" (no opening gives ṗ_r: pump too weak, a relief or a check
    carries the rod), "measurement", "saturation" (the valves' ends), "pump" (its pressure is not the one at which all rods move as
    required; only where it is no state); and −Δẋ times what f_Kr + τ ḟ_Kr is off f_r by, in "hold" and "parameters". The pump's
    pressure is outside v: `hypotheses` asks that there be enough.
    """

    law: MeteredVDC
    plant: MeteredCrane | MeteredArms

    @property
    def side(self) -> CraneSide | ArmsSide:
        """The bodies."""
        return side(self.law, self.plant)

    @property
    def true(self) -> OfCrane | OfArms:
        """The machine with the plant's numbers."""
        return machine(self.law, self.plant)

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        law, plant = self.law, self.plant
        xp, z, y, r, u = loop.parts(t, x, w)
        z, z_flow = list(z), list(rates[len(plant.states) :])
        at = {s.name: value for s, value in zip(plant.outputs, plant.out(t, xp))}
        exact = [at[s.name] for s in law.measured]
        m, own = self.true.read(exact, r), law.sought(z, exact, r)  # the law at true states
        bodies = self.side.bodies(m, xp, u, rates)
        ladder, valves = self._ladder(loop, t, z, y, r, u, m, bodies, own, z_flow)
        rods, quantities = self._rods(z, z_flow, m, bodies, own, ladder, valves)
        return [*bodies.entries, *rods], quantities | self.side.shown(m)

    # ---- what the argument asks for ---------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Positive gains, friction, lever arms and strokes, pressure and openings enough, known model, clean signal path."""
        law, q, t = self.law, run.balance.quantities, run.balance.t
        yield from self.side.hypotheses(run, claim, self.force_rate())
        most = max(g * B / K for g, K, B in zip(self._force_gains(), self.true.K, self.true.B))
        yield Assumption(
            "B k_f ≤ 4 for every rod",
            bool(most <= LARGEST),
            float(LARGEST - most),
            "1",
            f"{most:.3g}",
            "D_p ≥ 0",
        )
        for k in self.true.labels:
            u, push, inside = (q[f"{name} {k}"] for name in ("inverse", "push", "inside"))
            i = int(np.argmax(np.abs(u)))
            asked = "no opening does it" if np.abs(u[i]) >= MOST else f"asks for {u[i]:.3g}"
            yield Assumption(
                f"valve {k} within ±1",
                bool(np.abs(u[i]) <= 1.0),
                float(1.0 - np.abs(u[i])),
                "1",
                f"{asked} at t = {t[i]:.2f} s",
                "an opening that gives ṗ_r",
                (term(f"rod {k}", "saturation"), term(f"rod {k}", "valve inverse")),
            )
            for text, margin, why, name in (
                (f"pump's pressure moves rod {k} as required", push, "A P − F > 0", "pump"),
                (
                    f"no relief or check carries rod {k}",
                    inside,
                    "both orifices in series carry it",
                    "valve inverse",
                ),
            ):
                i = int(np.argmin(margin))
                yield Assumption(
                    text,
                    bool(margin[i] > 0),
                    float(margin[i]),
                    "Pa",
                    f"{margin[i] / 1e5:.3g} bar left at t = {t[i]:.2f} s",
                    why,
                    (term(f"rod {k}", name),),
                )
        yield hypotheses.known(run, law, {"name": ""})
        yield hypotheses.wrench(run)
        yield from hypotheses.signal_path(run)

    def _force_gains(self) -> list[float]:
        """K k_f with the plant's K, 1/s."""
        gains = self.law.per_rod(self.law.Kk_f)
        return [float(g * a / b) for g, a, b in zip(gains, self.true.K, self.law.machine.K)]

    def force_rate(self) -> float:
        """Rate of Δf²/(2 K k_x), 1/s: 2 K k_f (1 − B k_f/4), the slowest rod's."""
        true = self.true
        return float(
            min(
                2.0 * g * (1.0 - B / K * g / LARGEST)
                for g, K, B in zip(self._force_gains(), true.K, true.B)
            )
        )

    def rates(self, run):
        """(rate of the bodies and rods alone, over the run's poses), 1/s."""
        return self.side.rates(run, self.force_rate())

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, found = balance.quantities, {}
        for k in self.true.labels:
            found[f"valve {k} within ±1"] = 1.0 - np.abs(q[f"inverse {k}"])
            found[f"pressure for rod {k}"] = q[f"push {k}"] / self.plant.pump.P_M
            found[f"rod {k} off reliefs and checks"] = q[f"inside {k}"] / self.plant.pump.P_M
        return self.side.monitors(q) | found

    # ---- rods -------------------------------------------------------------------------------------------------------
    def _rods(self, z, z_flow, m, bodies, own, ladder, valves):
        law, need, true = self.law, bodies.need, self.true
        k, known = len(law.machine.observers), self._friction()
        f_Kr, flow, rows, quantities, first = z[k:], z_flow[k:], [], {}, 0
        for i, (label, (f_f, friction, rub)) in enumerate(zip(true.labels, bodies.rubs)):
            Δf, Δx = f_Kr[i] - m.f_K[i], need.xd_r[i] - need.xd[i]
            d, D, storage, size = self._rod(i, Δf, Δx, ladder[i], flow[i], own.f_Kr_rate[i])
            f_fr, here = own.f_r[i] - own.need.f_c[i], slice(first, first + known[i])
            d |= {"friction": -Δx * (f_fr - f_f), "model": Δx * (need.f_c[i] - own.need.f_c[i])}
            first, store = first + known[i], 0.0
            if (
                rub and len(rub) == known[i]
            ):  # the law's own storage, where plant and model both have it
                store, strain = friction.storage(z[here], rub), friction.strain(z[here], rub)
                true_rates = friction.rate(need.xd[i], rub)
                d["friction"] = d["friction"] + sum(
                    s * (a - b) for s, a, b in zip(strain, own.ẑ_rate[here], true_rates)
                )
                d["hold"] = d["hold"] + sum(
                    s * (a - b) for s, a, b in zip(strain, z_flow[here], own.ẑ_rate[here])
                )
            forces = (
                f_Kr[i],
                m.f_K[i],
                need.f_c[i],
                own.need.f_c[i],
                bodies.f_c[i],
                f_fr,
                f_f,
                true.B[i] * bodies.v[i],
            )
            size = size(np.abs(f_Kr[i]) + np.abs(m.f_K[i]), np.abs(need.xd[i])) + D + store
            size = size + np.abs(Δx) * (sum(map(np.abs, forces)) + true.B[i] * np.abs(need.xd[i]))
            rows.append(
                Entry(
                    self.side.subsystem(i),
                    f"rod {label}",
                    storage + store,
                    D,
                    {self.side.cut(i): -Δx * (need.f_c[i] - bodies.f_c[i])},
                    d,
                    size,
                )
            )
            quantities |= {
                f"undamped {label}": store,
                f"Δf {label}": Δf,
                f"Δẋ {label}": Δx,
                f"ẋ {label}": need.xd[i],
                **self._margins(label, valves[i]),
            }
        return rows, quantities

    def _friction(self) -> list[int]:
        """How many states friction has in the law, rod by rod."""
        cylinders = self.law.model.cylinders
        return [len(c.friction.states("")) for c in cylinders] or [0] * self.true.n

    def _ladder(self, loop, t, z, y, r, u, m, bodies, own, z_flow):
        """ṗ of every rod on the way from what the certificate requires to what the valves do (`STEPS`), all but the last at the
        pressure where the rods move as required; the openings wanted at true states by true numbers."""
        law, plant, true, need = self.law, self.plant, self.true, bodies.need
        k, known, limits = len(law.machine.observers), law.machine.K, list(plant.limits().values())
        v_r = [
            law.rods(need.xd, need.xd_r, m.f_K, z[k:], rate, K, known)
            for rate, K in ((z_flow[k:], true.K), (own.f_Kr_rate, true.K), (own.f_Kr_rate, known))
        ]
        P, valves = law.valves(true, m, need.xd, v_r[-1])
        held = [f - B * d for f, B, d in zip(m.f_K, true.B, need.xd)]
        last = list(u[: true.n])
        volts = (
            [o.u for o in valves],
            [o.u for o in own.openings],
            *self._commands(loop, t, z, y, r),
            last,
            [np.clip(a, *limit) for a, limit in zip(last, limits)],
        )
        moved = [
            [
                velocity(row, a, plant.supply, B, h, P)
                for row, a, B, h in zip(true.rows, volt, true.B, held)
            ]
            for volt in volts
        ]
        return list(zip(*v_r, *moved, bodies.v)), valves

    def _rod(self, i, Δf, Δx, steps, flow, rate):
        """(d by name, D_p, Δf²/(2 K k_x), size of all terms before subtraction as a function of |f_Kr| + |f_K| and |ẋ|)."""
        law, K, B = self.law, self.true.K[i], self.true.B[i]
        known = law.machine.B[i] / law.machine.K[i]
        k_x, k_f = law.per_rod(law.k_x)[i], law.per_rod(law.Kk_f)[i] / law.machine.K[i]
        d = dict.fromkeys(STEPS, 0.0)
        for name, a, b in zip(STEPS, steps[:-1], steps[1:]):
            d[name] = d[name] + (Δf / k_x + B * Δx) * (a - b)
        d["hold"] = d["hold"] - Δx * B / K * (flow - rate)
        d["parameters"] = d["parameters"] - Δx * (B / K - known) * rate
        D = (
            k_f / k_x * (1.0 - B * k_f / LARGEST) * Δf**2
            + B * k_x * (Δx + 0.5 * k_f / k_x * Δf) ** 2
        )
        weight = np.abs(Δf) / k_x + B * np.abs(Δx)
        size = lambda forces, speed: (
            weight * (sum(map(np.abs, steps)) + np.abs(flow) / K + k_f * forces + speed)
            + np.abs(Δx) * B / K * np.abs(rate)
        )
        return d, D, Δf**2 / (2 * K * k_x), size

    @staticmethod
    def _margins(label, o) -> dict:
        """Pressure left for the orifices; how far both chambers are from their reliefs and the fed one from its check, Pa."""
        inside = np.minimum(np.minimum(o.fed, o.P_iM - o.fed), o.P_oM - o.drained)
        return {f"inverse {label}": o.u, f"push {label}": o.push / o.A, f"inside {label}": inside}

    def _commands(self, loop, t, z, y, r):
        """Openings from what the law measures, and within the limits the controller sets itself."""
        now = instant(loop.controller)
        size = len(now.states)
        return unlimited(now).command(t, z[:size], y, r), now.command(t, z[:size], y, r)
