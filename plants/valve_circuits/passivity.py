"""Incremental passivity of a quasistatic circuit: proven from convexity, its conditions checked, and tried on samples.

Claim: for openings and pump the same, (v − v')·(f − f') ≤ 0 for any f ∈ Γ(v), f' ∈ Γ(v'): passive from v to −f, incrementally.

Proof. With every characteristic increasing, (39), (91) are the optimality conditions of a convex programme in the pressures
(`kernel`), so Γ(v) are the forces of its minimisers. Its value φ(v) = min_p D(p) − Q P + v·f(p), a minimum of functions affine in
v, is concave; it is finite, as the pressures lie in a bounded set. f ∈ Γ(v) are its supergradients, so −Γ is the subdifferential of
a finite convex function: monotone, and maximally so. Hence also Λ(β, ·) is single-valued for β > 0.

What it needs is compared exactly: no coefficient and no opening below zero, limits above the tank, a pump whose flow does not grow
with its pressure (here constant), areas above zero. It says nothing of openings that are fed back from v or f, of load-sensing
pumps or counterbalance valves, and it is not strict: on a relief's plateau the force does not change with v.

Source: ours; [Kikuuwe21] observes that Γ decreases. Maximality: Rockafellar's theorem on subdifferentials.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.roots import resolve_all
from workbench.verdict import Assumption, Verdict

_TEXT = "incrementally passive from v to −f under common openings, {} on one pump"
_SOURCE = "convexity of the circuit's programme; Γ is the supergradient of a finite concave function"
_ROUNDING = 1e-7  # of (|v| + |v'| + Q/A)·(|f| + |f'|): about 1e-8 m/s is what a root in steep orifices resolves


def conditions(circuit: Circuit) -> tuple[Assumption, ...]:
    """What the proof needs of the circuit's numbers, each compared exactly; margins are the smallest number of its kind."""
    s, p = circuit.sections, circuit.pump
    valves = {f"{x.name}.{c}": getattr(x, c) for x in s for c in ("c_ph", "c_pr", "c_th", "c_tr", "c_a")} | {"pump.c_b": p.c_b}
    reliefs = {f"{x.name}.{c}": getattr(x, c) for x in s for c in ("P_hM", "P_rM")} | {"pump.P_M": p.P_M}
    areas = {f"{x.name}.{c}": getattr(x, c) for x in s for c in ("A_h", "A_r")}
    found = [_least("flow through every orifice rises with its pressure drop (c u ≥ 0)", valves, "m^3/(s*Pa^0.5)", strict=False),
             _least("every relief is above the tank, so that pressures lie in a bounded set", reliefs, "Pa", strict=True),
             _least("areas are above zero", areas, "m^2", strict=True)]
    flow = Assumption("the pump's flow does not grow with its pressure (constant, above zero)", bool(0 < p.Q < np.inf), p.Q,
                      "m^3/s")
    return (*found, flow)


def _least(text: str, numbers: dict, unit: str, strict: bool) -> Assumption:
    where = min(numbers, key=lambda k: numbers[k] if np.isfinite(numbers[k]) else -np.inf)
    low = numbers[where]
    holds = bool(0 < low < np.inf if strict else 0 <= low < np.inf)
    return Assumption(text, holds, low if low == low else None, unit, where)


def check_passive(circuit: Circuit, samples: int = 300, seed: int = 0, counted: bool = True) -> Verdict:
    """The claim above for a circuit, all its openings and all velocities: `proof` where the conditions hold.

    Beside the proof, pairs of states at random openings are solved; one with (v − v')·(f − f') > 0 beyond rounding refutes what is
    computed: then the verdict is violated, with the pair. Conditions that do not hold leave it undecided.
    """
    text = _TEXT.format("1 section" if len(circuit.sections) == 1 else f"{len(circuit.sections)} sections")
    needed = conditions(circuit)
    lacking = [a for a in needed if not a.holds]
    if lacking:
        return Verdict("incremental-passivity", text, None, worst=f"{lacking[0].text}: not so, {lacking[0].worst}", source=_SOURCE,
                       assumptions=needed, counted=counted)
    worst, at = _tried(circuit, samples, seed)
    data = {"samples": samples, "seed": seed, "largest": worst, "rounding": _ROUNDING}
    if worst > _ROUNDING:
        return Verdict("incremental-passivity", text, False, "sampled", _ROUNDING - worst, "1", _ROUNDING,
                       worst=f"(v − v')·(f − f') > 0 at {at}", assumptions=needed, source=_SOURCE, counted=counted, data=data)
    return Verdict("incremental-passivity", text, True, "proof", source=_SOURCE, assumptions=needed, counted=counted, data=data,
                   worst=f"none of {samples} pairs tried at random openings is against it; openings fed back are outside it")


def _tried(circuit: Circuit, samples: int, seed: int) -> tuple[float, str]:
    """Largest (v − v')·(f − f') of pairs under common random openings, a third of them 0 or 1, over what rounding is measured by,
    and where."""
    rng, N, s = np.random.default_rng(seed), len(circuit.sections), circuit.sections
    full = np.array([[x.A_h, x.A_r, x.P_hM, x.P_rM, x.c_ph, x.c_pr, x.c_th, x.c_tr, x.c_a] for x in s])
    rows, z = np.tile(full, (samples, 1, 1)), rng.uniform(size=(samples, N, 5))
    rows[:, :, 4:] *= np.where(z < 0.15, 0.0, np.where(z > 0.85, 1.0, rng.uniform(size=z.shape)))
    way = rng.choice((-1, 0, 1), (samples, N, 1))  # both directions open at once in a third
    rows[:, :, [4, 7]] *= way >= 0
    rows[:, :, [5, 6]] *= way <= 0
    supply = np.tile([circuit.pump.Q, circuit.pump.P_M, circuit.pump.c_b], (samples, 1))
    supply[:, 2] *= rng.choice((0.0, 1.0, rng.uniform()), samples)
    most = full[:, 0] * full[:, 2] + full[:, 1] * full[:, 3]
    ends = []
    for _ in range(2):
        β, f_bar = 10 ** rng.uniform(4, 8, (samples, N)), rng.uniform(-1.2, 1.2, (samples, N)) * most
        v, P = np.zeros((samples, N)), np.zeros(samples)
        resolve_all(rows, supply, β, f_bar, v, P)
        ends.append((v, β * v + f_bar, np.abs(β * v) + np.abs(f_bar)))
    (v, f, a), (w, g, b) = ends
    size = ((np.abs(v) + np.abs(w) + circuit.pump.Q / full[:, 0]) * (a + b)).sum(1)
    share = ((v - w) * (f - g)).sum(1) / size
    i = int(np.argmax(np.where(np.isfinite(share), share, np.inf)))
    return float(share[i]), f"v = {v[i].tolist()}, f = {f[i].tolist()} and v' = {w[i].tolist()}, f' = {g[i].tolist()}"
