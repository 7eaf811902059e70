"""The dissipation ledger of virtual decomposition control behind metering valves: the crane's bodies, and its rods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from controllers.metered_vdc import LARGEST, MeteredVDC
from controllers.vdc_ledger import VDCLedger, instant, unlimited
from plants.metered_crane import MeteredCrane
from plants.valve_circuits.inverse import MOST
from workbench.verdict import Assumption
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry

STEPS = ("hold", "parameters", "valve inverse", "parameters", "measurement", "saturation", "hold", "saturation")


@final
@dataclass(frozen=True)
class MeteredVDCLedger:
    """Entries for every body, which are those of `VDCLedger`, and every rod, at true states.

        v_p = Δf²/(2 K k_x) + friction's storage,   Δf = f_Kr − f_K,   Δẋ = ẋ_r − ẋ,   K, τ, B = τ K the plant's
        D_p = (k_f/k_x)(1 − B k_f/4) Δf² + B k_x (Δẋ + k_f Δf/(2 k_x))²
        v̇_p = −D_p − Δẋ (f_cr − f_c) + Σ d

    so the oil's own damping is dissipation too, and D_p ≥ 0 as long as τ K k_f ≤ 4. Perturbations d: "friction" and "model" as in
    `VDCLedger`; (Δf/k_x + B Δẋ) times the parts of ṗ_r − ṗ, telescoped from the law at true states to what the valves do: "hold"
    (the memory f_Kr, and the command), "parameters", "valve inverse" (no opening gives ṗ_r: pump too weak, a relief or a check
    carries the rod), "measurement", "saturation" (the valves' ends); and −Δẋ times what f_Kr + τ ḟ_Kr is off f_r by, in "hold" and
    "parameters". The pump's pressure is outside v: `hypotheses` asks that there be enough.
    """

    law: MeteredVDC
    plant: MeteredCrane

    @property
    def crane(self) -> VDCLedger:
        """The ledger of the bodies."""
        return VDCLedger(self.law.bodies, self.plant.crane)

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        law, plant, n = self.law, self.plant, self.plant.n
        xp, z, y, r, u = loop.parts(t, x, w)
        whole, given = plant._whole(xp, u)
        parts, (_, base, tip) = plant.crane.split(whole), plant.crane.surroundings(given)
        z, z_flow = list(z), list(rates[len(plant.states):])
        at = {s.name: value for s, value in zip(plant.outputs, plant.out(t, xp))}
        m = law.parts([at[s.name] for s in law.measured], r)
        rows, need, f_c = self.crane.bodies(m.q, m.qd, list(rates[n: 2 * n]), m.τ, base, tip)
        more, quantities = self._rods(loop, t, xp, z, z_flow, y, r, u, parts, m, need, f_c)
        return [*rows, *more], quantities

    # ---- what the argument asks for ---------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Positive gains, friction, lever arms and strokes, pressure and openings enough, known model, clean signal path."""
        law, plant, q, t = self.law, self.plant, run.balance.quantities, run.balance.t
        yield from hypotheses.gains(law.bodies, plant.crane, self.force_rate())
        most = plant.τ * max(self._force_gains())
        yield Assumption("τ K k_f ≤ 4 for every rod", most <= LARGEST, LARGEST - most, "1", f"{most:.3g}", "D_p ≥ 0")
        yield from (*hypotheses.friction(run), *hypotheses.geometry(run, claim.lever))
        for k in plant.labels:
            u, push, inside = (q[f"{name} {k}"] for name in ("inverse", "push", "inside"))
            i = int(np.argmax(np.abs(u)))
            asked = "no opening does it" if np.abs(u[i]) >= MOST else f"asks for {u[i]:.3g}"
            yield Assumption(f"valve {k} within ±1", bool(np.abs(u[i]) <= 1.0), float(1.0 - np.abs(u[i])), "1",
                             f"{asked} at t = {t[i]:.2f} s", "an opening that gives ṗ_r")
            for text, margin, why in ((f"pump's pressure moves rod {k} as required", push, "A P − F > 0"),
                                      (f"no relief or check carries rod {k}", inside, "both orifices in series carry it")):
                i = int(np.argmin(margin))
                yield Assumption(text, bool(margin[i] > 0), float(margin[i]), "Pa",
                                 f"{margin[i] / 1e5:.3g} bar left at t = {t[i]:.2f} s", why)
        yield hypotheses.known(run, law, {"name": ""})
        yield hypotheses.wrench(run)
        yield from hypotheses.signal_path(run)

    def _force_gains(self) -> list[float]:
        """K k_f with the plant's K, 1/s."""
        law = self.law
        return [float(g * a / b) for g, a, b in zip(law.per_rod(law.Kk_f), self.plant.stiffness(), law.model.stiffness())]

    def force_rate(self) -> float:
        """Rate of Δf²/(2 K k_x), 1/s: 2 K k_f (1 − τ K k_f/4), the slowest rod's."""
        return min(2.0 * g * (1.0 - self.plant.τ * g / LARGEST) for g in self._force_gains())

    def rates(self, run):
        """(rate of the bodies and rods alone, over the run's poses), 1/s."""
        return hypotheses.rates_along(run, self.law.bodies, self.plant.crane, self.force_rate())

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, found = balance.quantities, {}
        for k, c in zip(self.plant.labels, self.plant.cylinders):
            found[f"piston {k} inside stroke"] = np.minimum(q[f"x {k}"], q[f"room {k}"]) / (c.stroke / 2)
            found[f"valve {k} within ±1"] = 1.0 - np.abs(q[f"inverse {k}"])
            found[f"pressure for rod {k}"] = q[f"push {k}"] / self.plant.pump.P_M
            found[f"rod {k} off reliefs and checks"] = q[f"inside {k}"] / self.plant.pump.P_M
            if not k.startswith("t"):
                found[f"lever arm {k}"] = np.abs(q[f"lever {k}"]) / np.abs(q[f"lever {k}"]).max()
        return found

    # ---- rods -------------------------------------------------------------------------------------------------------
    def _rods(self, loop, t, xp, z, z_flow, y, r, u, parts, m, need, f_c):
        law, plant, k = self.law, self.plant, self.law.observers
        x, xd, lever = plant.crane.cylinder_motion(m.q, m.qd)
        own = law.sought(z, [*m.q, *m.qd, *m.f_K, m.P], r)  # at true states
        f_Kr, flow = z[k: k + plant.n], z_flow[k: k + plant.n]
        ladder, valves, done = self._ladder(loop, t, xp, z, y, r, u, m, need, own, flow)
        f_fr, ẑ_law = law.bodies.rubbing(xd, need.xd_r, z[:k])
        f_f = plant.crane.friction(parts, xd)
        rows, quantities, first = [], {}, 0
        for i, (c, label) in enumerate(zip(plant.cylinders, plant.labels)):
            Δf, Δx = f_Kr[i] - m.f_K[i], need.xd_r[i] - xd[i]
            d, D, storage, size = self._rod(i, Δf, Δx, ladder[i], flow[i], own.f_Kr_rate[i])
            d |= {"friction": -Δx * (f_fr[i] - f_f[i]), "model": Δx * (need.f_c[i] - own.need.f_c[i])}
            n_z, n_ẑ = len(c.friction.states("")), len(law.model.cylinders[i].friction.states(""))
            here, store = slice(first, first + n_ẑ), 0.0
            first += n_ẑ
            if n_z and n_z == n_ẑ:  # the law's own storage, where plant and model both have it
                store, strain = c.friction.storage(z[here], parts.rub[i]), c.friction.strain(z[here], parts.rub[i])
                rub = c.friction.rate(xd[i], parts.rub[i])
                d["friction"] = d["friction"] + sum(s * (a - b) for s, a, b in zip(strain, ẑ_law[here], rub))
                d["hold"] = d["hold"] + sum(s * (a - b) for s, a, b in zip(strain, z_flow[here], ẑ_law[here]))
            forces = (f_Kr[i], m.f_K[i], need.f_c[i], own.need.f_c[i], f_c[i], f_fr[i], f_f[i], done.f[i])
            size = size(np.abs(f_Kr[i]) + np.abs(m.f_K[i]), np.abs(xd[i])) + np.abs(Δx) * sum(map(np.abs, forces)) + D + store
            rows.append(Entry(self.crane._segment(i), f"rod {label}", storage + store, D,
                              {self.crane.rod(i): -Δx * (need.f_c[i] - f_c[i])}, d, size))
            quantities |= {f"undamped {label}": store, f"Δf {label}": Δf, f"Δẋ {label}": Δx, f"lever {label}": lever[i],
                           f"room {label}": c.stroke - x[i], f"x {label}": x[i], f"ẋ {label}": xd[i],
                           **self._margins(label, valves[i])}
        return rows, quantities

    def _ladder(self, loop, t, xp, z, y, r, u, m, need, own, flow):
        """ṗ of every rod on the way from what the certificate requires to what the valves do (`STEPS`); the openings wanted at
        true states by true numbers; what the valves do."""
        law, plant, xd = self.law, self.plant, need.xd
        K, known = plant.stiffness(), law.model.stiffness()
        v_r = [law.rods(xd, need.xd_r, m.f_K, z[law.observers: law.observers + plant.n], rate, stiff, known)
               for rate, stiff in ((flow, K), (own.f_Kr_rate, K), (own.f_Kr_rate, known))]
        valves = plant.openings(v_r[-1], [g + plant.τ * k * (v - d) for g, k, v, d in zip(m.f_K, K, v_r[-1], xd)], m.P)
        volts = ([o.u for o in valves], [o.u for o in own.openings], *self._commands(loop, t, z, y, r, u))
        done = plant.motion(xp, u)
        return list(zip(*v_r, *(plant.motion(xp, u, plant.opened(v)).v for v in volts), done.v)), valves, done

    def _rod(self, i, Δf, Δx, steps, flow, rate):
        """(d by name, D_p, Δf²/(2 K k_x), size of all terms before subtraction as a function of |f_Kr| + |f_K| and |ẋ|)."""
        law, τ, K = self.law, self.plant.τ, self.plant.stiffness()[i]
        k_x, k_f = law.per_rod(law.k_x)[i], law.per_rod(law.Kk_f)[i] / law.model.stiffness()[i]
        B, d = τ * K, dict.fromkeys(STEPS, 0.0)
        for name, a, b in zip(STEPS, steps[:-1], steps[1:]):
            d[name] = d[name] + (Δf / k_x + B * Δx) * (a - b)
        d["hold"] = d["hold"] - Δx * τ * (flow - rate)
        d["parameters"] = d["parameters"] - Δx * (τ - law.model.τ) * rate
        D = k_f / k_x * (1.0 - B * k_f / LARGEST) * Δf**2 + B * k_x * (Δx + 0.5 * k_f / k_x * Δf) ** 2
        weight = np.abs(Δf) / k_x + B * np.abs(Δx)
        size = lambda forces, speed: (weight * (sum(map(np.abs, steps)) + np.abs(flow) / K + k_f * forces + speed)
                                      + np.abs(Δx) * τ * np.abs(rate))
        return d, D, Δf**2 / (2 * K * k_x), size

    @staticmethod
    def _margins(label, o) -> dict:
        """Pressure left for the orifices; how far both chambers are from their reliefs and the fed one from its check, Pa."""
        inside = np.minimum(np.minimum(o.fed, o.P_iM - o.fed), o.P_oM - o.drained)
        return {f"inverse {label}": o.u, f"push {label}": o.push / o.A, f"inside {label}": inside}

    def _commands(self, loop, t, z, y, r, u):
        """Openings from what the law measures, within the limits the controller sets itself, and as held."""
        now = instant(loop.controller)
        size = len(now.states)
        return unlimited(now).command(t, z[:size], y, r), now.command(t, z[:size], y, r), list(u[: self.plant.n])
