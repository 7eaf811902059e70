"""The dissipation ledger of virtual decomposition control on a four-bar: three bars, two inner pins, one actuator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from controllers.force_position import BARS, ForcePosition, balance, bars, motion
from controllers.unlimited import instant
from plants.components.circuit_inverse import drift, gains, invert, passed, slopes
from plants.four_bar import FourBar
from workbench.verification import hypotheses
from workbench.verification.ledger import Entry
from workbench.verification.verdict import Assumption

NAME = "four-bar"


@final
@dataclass(frozen=True)
class ForcePositionLedger:
    """Entries for every bar and the actuator, at true states.

        v_A = ½ ΔVᵀ M_A ΔV with the true M_A,      v̇_A = −ΔVᵀ K_A ΔV + (flows through pins B, C and the rod)
        v_p = Δf²/(2β k_x) + friction's storage,   v̇_p = −(k_f/k_x) Δf² − Δṡ (f_cr − f_c) + Σ d

    The ground's pins A and E rest, so nothing flows there. Perturbations d: "friction", "model", and Δf/k_x times the parts of
    u_fr − u_f, telescoped from the law at true states to the flow there is: "valve inverse", "parameters", "derivative",
    "measurement", "saturation", "hold", "spool" (its lag), "throttle" (oil between valve and throttle).
    """

    law: ForcePosition
    plant: FourBar

    def entries(self, loop, t, x, w, rates) -> tuple[list[Entry], dict]:
        """Entries at one state of the loop, and the quantities its hypotheses need; rates: the loop's ẋ there."""
        law, plant, m = self.law, self.plant, len(self.law.references)
        xp, z, y, r, u = loop.parts(t, x, w)
        (z_1, ż_1), z̈_1, n = xp[:2], rates[1], len(law.states)
        ẑ, ẑ_flow = list(z[:n]), list(rates[len(plant.states) : len(plant.states) + n])
        ż_r, z̈_r = law.required_motion(z_1, ż_1, r[:m])
        made, pose = bars(plant, z_1)
        need = law.required(z_1, ż_1, ż_r, z̈_r, plant)
        _, A = motion(plant, z_1, pose, ż_1, ż_1, z̈_1)
        true = balance(plant, z_1, made, pose, A)
        fed, ΔV = law.fed_back(plant, z_1, ż_r - ż_1)
        Δs = plant.lever(z_1) * (ż_r - ż_1)
        rod = Δs * (need.f_c - true.f_c), np.abs(Δs) * (np.abs(need.f_c) + np.abs(true.f_c))
        rows = self._bars(made, ΔV, fed, need, true, rod)
        actuator, quantities = self._actuator(
            loop, t, xp, y, r[:m], r, z, ẑ, ẑ_flow, u, ż_r, z̈_1, need, true, rates
        )
        return [*rows, actuator], quantities

    # ---- what the argument asks for ---------------------------------------------------------------------------------
    def hypotheses(self, run, claim):
        """Positive gains, friction, lever arm, stroke, an invertible valve, a known model and a clean signal path."""
        law, q, t = self.law, run.balance.quantities, run.balance.t
        c = self.rates(run)[0]
        yield Assumption(
            "K_A ≻ 0 for every bar, and k_x, k_f > 0",
            c > 0 and law.k_x > 0,
            c,
            "1/s",
            f"rate c = {c:.3g} 1/s",
            "K_A = κ M_A of the model against the true M_A",
        )
        friction = self.plant.circuit.friction
        yield hypotheses.rubbing(
            run, "c", friction, law.friction, q["speed"], q["required speed"] - q["speed"]
        )
        limit = self.plant.circuit.limit
        for text, margin, unit, source in (
            (
                f"lever arm |ds/dz_1| ≥ {claim.lever:g} m",
                np.abs(q["lever"]) - claim.lever,
                "m",
                "f_cr divides by it",
            ),
            ("piston inside its stroke", q["room"], "m", "volumes that do not vanish"),
            ("u_f rises with the opening", q["opening"], "m", "an inverse of valve and throttle"),
            (
                f"required opening within ±{limit:g} V",
                limit - np.abs(q["inverse"]),
                "V",
                "the same",
            ),
        ):
            k = int(np.argmin(margin))
            terms = ("valve inverse", "saturation") if text.startswith("required opening") else ()
            yield Assumption(
                text,
                bool(margin[k] > 0),
                float(margin[k]),
                unit,
                f"{margin[k]:.3g} {unit} left at t = {t[k]:.2f} s",
                source,
                terms,
            )
        yield from hypotheses.reference(run)
        yield from hypotheses.told(run, law, {"z_10": self.plant.z_10, "F_0": None, "name": ""})
        circuit = self.plant.circuit
        yield Assumption(
            "valve without lag",
            False,
            None,
            "",
            f"spool with τ = {1e3 * circuit.τ:.3g} ms",
            "u_f at the opening asked for",
            ("spool",),
        )
        yield Assumption(
            "no oil between valve and throttle",
            False,
            None,
            "",
            f"{1e6 * circuit.V_h1:.3g} ml",
            "both carry the same flow",
            ("throttle",),
        )
        yield from hypotheses.signal_path(run)

    def rates(self, run):
        """(c, c) [1/s], the largest with K_A + K_Aᵀ − c M_A ⪰ 0 for every bar and c ≤ 2 β k_f."""
        model, plant = self.law.model, self.plant
        shares = [
            (a / b, (a * L * L) / (b * L_p * L_p))
            for a, b, L, L_p in (
                (model.m_1, plant.m_1, model.L_1, plant.L_1),
                (model.m_2, plant.m_2, model.L_2, plant.L_2),
                (model.m_3, plant.m_3, model.L_3, plant.L_3),
            )
        ]
        c = min(
            2 * self.law.κ * min(map(min, shares)),
            2 * self.law.βk_f * plant.circuit.B_oil / model.circuit.B_oil,
        )
        return c, c

    def monitors(self, balance) -> dict:
        """Hypothesis → its margin along the run, 1 at ease, negative where it is not met."""
        q, (low, high) = balance.quantities, self.plant.circuit.range
        limit, most = (
            self.plant.circuit.limit,
            lambda name: max(float(np.abs(q[name]).max()), 1e-300),
        )
        return {
            "piston inside stroke": 2 * q["room"] / (high - low),
            f"valve within ±{limit:g} V": 1 - np.abs(q["inverse"]) / limit,
            "lever arm": np.abs(q["lever"]) / most("lever"),
            "u_f rises with the opening": q["opening"] / most("opening"),
        }

    # ---- entries ----------------------------------------------------------------------------------------------------
    def _bars(self, made, ΔV, fed, need, true, rod):
        # Each side of a pin takes the velocity of its own bar, carried there.
        B, C = (need.f_B, true.f_B), (need.f_C, true.f_C)
        flows = {
            "crank": {"rod": rod, "B": _leaving(_flow(ΔV[0], made[0].far, B))},
            "coupler": {
                "B": _flow(ΔV[1], made[1].near, B),
                "C": _leaving(_flow(ΔV[1], made[1].far, C)),
            },
            "rocker": {"C": _flow(ΔV[2], made[2].near, C)},
        }
        rows = []
        for k, (name, bar) in enumerate(zip(BARS, made)):
            M, e = (bar.m, bar.m, bar.I), ΔV[k]
            D = sum(a * b for a, b in zip(e, fed[k]))
            scale = (
                sum(
                    np.abs(a) * (np.abs(b) + np.abs(c))
                    for a, b, c in zip(e, need.nets[k], true.nets[k])
                )
                + np.abs(D)
                + sum(size for _, size in flows[name].values())
            )
            rows.append(
                Entry(
                    NAME,
                    name,
                    0.5 * sum(m * a * a for m, a in zip(M, e)),
                    D,
                    {cut: power for cut, (power, _) in flows[name].items()},
                    {},
                    scale,
                )
            )
        return rows

    def _actuator(
        self, loop, t, xp, y, r, everything, z, ẑ, ẑ_flow, u, ż_r, z̈_1, need, true, rates
    ):
        law, plant, c = self.law, self.plant, self.plant.circuit
        z_1, ż_1, _, p_2, p_3, U = xp[:6]
        s, lever, β = plant.length(z_1), plant.lever(z_1), c.B_oil
        sdot, Δs, rub = lever * ż_1, lever * (ż_r - ż_1), xp[6:]
        f_fr, ẑ_law = law.friction.observer(
            law.model.lever(z_1) * ż_1, law.model.lever(z_1) * ż_r, ẑ
        )
        own = law.required(z_1, ż_1, *law.required_motion(z_1, ż_1, r)).f_c
        f_pr, f_p, f_f = own + f_fr, c.A_2 * p_2 - c.A_3 * p_3, c.friction.force(sdot, rub)
        f_pr_rate = law.force_rate(z_1, ż_1, z̈_1, r, ẑ, ẑ_flow)
        Δf, k_x, k_f = f_pr - f_p, law.k_x, law.βk_f / law.model.circuit.B_oil
        g = gains(c, s)
        Q = c.flows(xp[2:])
        u_fr = f_pr_rate / β + drift(c, s, sdot) + k_x * Δs + k_f * Δf
        through = lambda volt: passed(c, s, p_2, p_3, volt)
        steps = self._commands(loop, t, z, ẑ, y, [z_1, ż_1, p_2, p_3], r, everything, f_pr_rate, u)
        ladder = [
            u_fr,
            through(invert(c, s, p_2, p_3, u_fr)),
            *map(through, steps),
            through(U),
            g[0] * Q.throttle + g[1] * Q.out_3,
        ]
        titles = (
            "valve inverse",
            "parameters",
            "derivative",
            "measurement",
            "saturation",
            "hold",
            "spool",
            "throttle",
        )
        d = {name: Δf / k_x * (a - b) for name, a, b in zip(titles, ladder[:-1], ladder[1:])}
        d["friction"], store = -Δs * (f_fr - f_f), 0.0
        if rub and type(c.friction) is type(law.friction):
            store, true_rates = c.friction.storage(ẑ, rub), c.friction.rate(sdot, rub)
            strain = c.friction.strain(ẑ, rub)
            d["friction"] = d["friction"] + sum(
                k * (a - b) for k, a, b in zip(strain, ẑ_law, true_rates)
            )
            d["hold"] = d["hold"] + sum(k * (a - b) for k, a, b in zip(strain, ẑ_flow, ẑ_law))
        d["model"] = Δs * (need.f_c - own)
        D = k_f / k_x * Δf**2
        sizes = sum(map(np.abs, (f_pr, f_p, need.f_c, true.f_c, own, f_fr, f_f)))
        scale = (
            np.abs(Δs) * sizes
            + D
            + np.abs(Δf)
            / k_x
            * (
                sum(map(np.abs, ladder))
                + np.abs(f_pr_rate) / β
                + np.abs(drift(c, s, sdot))
                + k_f * sizes
            )
        )
        out, back = slopes(c, s, p_2, p_3)
        quantities = {
            "inverse": invert(c, s, p_2, p_3, u_fr),
            "opening": np.minimum(sum(out), sum(back)),
            "lever": lever,
            "speed": sdot,
            "required speed": sdot + Δs,
            "room": np.minimum(s - c.range[0], c.range[1] - s),
        }
        row = Entry(
            NAME,
            "cylinder",
            Δf**2 / (2 * β * k_x) + store,
            D,
            {"rod": -Δs * (need.f_c - true.f_c)},
            d,
            scale,
        )
        return row, quantities

    def _commands(self, loop, t, z, ẑ, y, exact, r, everything, f_pr_rate, u):
        """Voltages on the way from the law at true states to the valve's input: exact, with the law's own ḟ_pr, with measured
        signals, within limits, and as held."""
        law = self.law
        ideal, formed = law.law(ẑ, exact, r, f_pr_rate)[3], law.law(ẑ, exact, r)[3]
        now = instant(loop.controller)
        size = len(now.states)
        given = now.command(t, list(z[:size]), y, everything)[0]
        seen = law.law(ẑ, y[:4], r)[3] if now is law else given
        return ideal, formed, seen, given, u[0]


def _flow(V, arm, forces):
    """Virtual power entering a bar at a pin `arm` from its centre, and the magnitude of its terms."""
    required, true = forces
    v = [V[0] - V[2] * arm[1], V[1] + V[2] * arm[0]]
    size = sum(
        (np.abs(a) + np.abs(V[2] * l)) * (np.abs(f) + np.abs(g))
        for a, l, f, g in zip(V, (arm[1], arm[0]), required, true)
    )
    return sum(a * (f - g) for a, f, g in zip(v, required, true)), size


def _leaving(pair):
    return -pair[0], pair[1]
