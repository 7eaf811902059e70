"""Incremental passivity of a quasistatic circuit: proven from convexity, its conditions checked, and tried on samples.

Claim: for openings and pump the same, (v − v')·(f − f') ≤ 0 for any f ∈ Γ(v), f' ∈ Γ(v'): passive from v to −f, incrementally.

Proof. With every characteristic increasing, (39), (91) are the optimality conditions of a convex programme in the pressures
(`kernel`), so Γ(v) are the forces of its minimisers. Its value φ(v) = min_p D(p) − Q P + v·f(p), a minimum of functions affine in
v, is concave; it is finite, as the pressures lie in a bounded set. f ∈ Γ(v) are its supergradients, so −Γ is the subdifferential of
a finite convex function: monotone, and maximally so. A pump that holds its pressure P instead, whatever is taken, takes P from the
unknowns and −Q P from the sum, and nothing from the argument.

What it needs is compared exactly, and read from what the parts say they are made of: no coefficient below zero (a potential
(2/3) k |Δp|^1.5 is convex exactly then), limits above the tank, a pump whose flow does not grow with its pressure (here constant),
areas above zero; a number or a part of another kind is not covered, and leaves the claim undecided. It says nothing of openings
that are fed back from v or f, of load-sensing pumps or counterbalance valves, and it is not strict: on a relief's plateau the force
does not change with v.

Source: ours; [Kikuuwe21] observes that Γ decreases. Maximality: Rockafellar's theorem on subdifferentials.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from plants.valve_circuits.circuit import FLOW, Circuit, Motor, Pump, Section
from plants.valve_circuits.roots import resolve_all
from workbench.contract.parameters import described
from workbench.verification.verdict import Assumption, Verdict

_TEXT = "incrementally passive from v to −f under common openings, {}"
_SOURCE = (
    "convexity of the circuit's programme; Γ is the supergradient of a finite concave function"
)
_ROUNDING = 1e-7  # share of (|v| + |v'| + v_0)·(|f| + |f'|): about 1e-8 m/s is what a root in steep orifices resolves
_AREAS = ("m^2", "m^3/rad")
_KNOWN = (Section, Motor, Pump)  # others may mean something else by a unit


def conditions(circuit: Circuit) -> tuple[Assumption, ...]:
    """What the proof needs of the circuit's numbers, each compared exactly; margins are the smallest number of its kind."""
    kinds: dict[str, dict] = {FLOW.symbol: {}, "Pa": {}, "area": {}, "m^3/s": {}, "": {}}
    for label, part in [*((s.name, s) for s in circuit.sections), ("pump", circuit.pump)]:
        infos = described(part)
        known = type(part) in _KNOWN
        for f in fields(part):
            unit = getattr(infos[f.name], "unit", None)
            value = getattr(part, f.name)
            kind = "area" if unit in _AREAS else unit if unit in kinds and known else ""
            if f.name != "name":
                kinds[kind][f"{label}.{f.name}"] = value
    flows = kinds["m^3/s"]
    unknown = [*kinds[""], *(k for k in kinds["m^3/s"] if k != "pump.Q")]
    found = [
        _least(
            "flow through every orifice rises with its pressure drop (c u ≥ 0)",
            kinds[FLOW.symbol],
            FLOW.symbol,
            False,
        ),
        _least(
            "every relief is above the tank, so that pressures lie in a bounded set",
            kinds["Pa"],
            "Pa",
            True,
        ),
        _least("areas are above zero", kinds["area"], "m^2", True),
        _least(
            "the pump's flow does not grow with its pressure (constant, above zero)",
            flows,
            "m^3/s",
            True,
        ),
    ]
    if unknown:
        found.insert(
            0,
            Assumption(
                "nothing in it but orifices, reliefs, checks, areas and a constant flow",
                None,
                None,
                "",
                ", ".join(unknown),
            ),
        )
    return tuple(found)


def _least(text: str, numbers: dict, unit: str, strict: bool) -> Assumption:
    if not numbers:
        return Assumption(text, None, None, unit, "none found")
    where = min(numbers, key=lambda k: numbers[k] if np.isfinite(numbers[k]) else -np.inf)
    low = numbers[where]
    holds = bool(0 < low < np.inf if strict else 0 <= low < np.inf)
    return Assumption(text, holds, low if low == low else None, unit, where)


def on(circuit: Circuit, held: bool) -> str:
    """How many sections on what pump, in words."""
    n = len(circuit.sections)
    return f"{n} section{'s' if n > 1 else ''} " + (
        "at a common pressure of the pump" if held else "on one pump"
    )


def undecided(key: str, text: str, source: str, needed, counted: bool) -> Verdict | None:
    """Where a condition does not hold or is not known, else None."""
    lacking = sorted((a for a in needed if not a.holds), key=lambda a: a.holds is None)
    if not lacking:
        return None
    word = "not so" if lacking[0].holds is False else "not known of"
    return Verdict(
        key,
        text,
        None,
        worst=f"{lacking[0].text}: {word}, {lacking[0].worst}",
        source=source,
        assumptions=needed,
        counted=counted,
    )


def check_passive(
    circuit: Circuit, samples: int = 300, seed: int = 0, counted: bool = True, held: bool = False
) -> Verdict:
    """The claim above for a circuit, all its openings and all velocities: `proof` where the conditions hold.

    held: the pump holds some pressure, the same for both states, whatever is taken. Beside the proof, pairs of states at random
    openings are solved; one with (v − v')·(f − f') > 0 beyond rounding refutes what is computed: then the verdict is violated, with
    the pair. Conditions that do not hold leave it undecided.
    """
    text = _TEXT.format(on(circuit, held))
    needed = conditions(circuit)
    lacking = undecided("incremental-passivity", text, _SOURCE, needed, counted)
    if lacking:
        return lacking
    worst, at = _tried(circuit, samples, seed, held)
    data = {"samples": samples, "seed": seed, "largest": worst, "rounding": _ROUNDING}
    if not worst <= _ROUNDING:
        return Verdict(
            "incremental-passivity",
            text,
            False,
            "sampled",
            _ROUNDING - worst,
            "1",
            _ROUNDING,
            worst=f"(v − v')·(f − f') > 0 at {at}",
            assumptions=needed,
            source=_SOURCE,
            counted=counted,
            data=data,
        )
    return Verdict(
        "incremental-passivity",
        text,
        True,
        "proof",
        source=_SOURCE,
        assumptions=needed,
        counted=counted,
        data=data,
        worst=f"none of {samples} pairs tried at random openings is against it; openings fed back are outside it",
    )


class Drawn(NamedTuple):
    """Random openings of a circuit, and loads: rows (M, N, 9), supply (M, 3), β [N s/m] and f̄ [N] (M, N); v_0 [m/s] (N): full
    speed, of a head side fed by the pump and drained by the widest orifice at its relief."""

    rows: np.ndarray
    supply: np.ndarray
    β: np.ndarray
    f: np.ndarray
    v_0: np.ndarray


def drawn(circuit: Circuit, samples: int, rng, held: bool = False) -> Drawn:
    """A third of the openings 0 or 1, both directions open at once in a third of the sections."""
    N = len(circuit.sections)
    s = circuit.sections
    full = np.array(
        [[x.A_h, x.A_r, x.P_hM, x.P_rM, x.c_ph, x.c_pr, x.c_th, x.c_tr, x.c_a] for x in s]
    )
    rows = np.tile(full, (samples, 1, 1))
    z = rng.uniform(size=(samples, N, 5))
    rows[:, :, 4:] *= np.where(z < 0.15, 0.0, np.where(z > 0.85, 1.0, rng.uniform(size=z.shape)))
    way = rng.choice((-1, 0, 1), (samples, N, 1))
    rows[:, :, [4, 7]] *= way >= 0
    rows[:, :, [5, 6]] *= way <= 0
    supply = np.tile([circuit.pump.Q, circuit.pump.P_M, circuit.pump.c_b], (samples, 1))
    supply[:, 2] *= rng.choice((0.0, 1.0, rng.uniform()), samples)
    v_0 = (circuit.pump.Q + full[:, 4:].max(1) * np.sqrt(full[:, 2])) / full[:, 0]
    if held:  # more than all sections can take, at some pressure
        supply = np.stack(
            [
                np.full(samples, 10 * full[:, 0] @ v_0),
                circuit.pump.P_M * rng.uniform(0.05, 1.05, samples),
                np.zeros(samples),
            ],
            1,
        )
    return Drawn(rows, supply, *loads(full, v_0, samples, rng), v_0)


def loads(full, v_0, samples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """β over four decades around what relief and orifice suggest, f̄ up to a fifth beyond the reliefs."""
    most = full[:, 0] * full[:, 2] + full[:, 1] * full[:, 3]
    size = (samples, len(full))
    return most / v_0 * 10 ** rng.uniform(-2, 2, size), rng.uniform(-1.2, 1.2, size) * most


def _tried(circuit: Circuit, samples: int, seed: int, held: bool) -> tuple[float, str]:
    """Largest (v − v')·(f − f') of pairs under common random openings over what rounding is measured by, ∞ where it is no number;
    and where."""
    rng = np.random.default_rng(seed)
    d = drawn(circuit, samples, rng, held)
    ends = []
    for β, f_bar in ((d.β, d.f), loads(d.rows[0], d.v_0, samples, rng)):
        v = np.zeros(β.shape)
        P = np.zeros(samples)
        resolve_all(d.rows, d.supply, β, f_bar, v, P)
        ends.append((v, β * v + f_bar, np.abs(β * v) + np.abs(f_bar)))
    (v, f, a), (w, g, b) = ends
    size = ((np.abs(v) + np.abs(w) + d.v_0) * (a + b)).sum(1)
    share = ((v - w) * (f - g)).sum(1) / size
    share = np.where(np.isfinite(share), share, np.inf)
    i = int(np.argmax(share))
    where = (
        f"v = {v[i].tolist()}, f = {f[i].tolist()} and v' = {w[i].tolist()}, f' = {g[i].tolist()}"
    )
    return float(share[i]), where
