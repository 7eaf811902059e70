"""That Λ is one velocity: proven from strict convexity, its conditions checked, and tried on samples.

Claim: for any openings, β > 0 and f̄ there is exactly one v with β_j v_j + f̄_j ∈ Γ_j(v), for any number of sections on one pump,
with regeneration, whatever the areas and also where regeneration alone drains a side (u_tr = 0).

Proof. Pressures satisfy (39), (91) and f = βv + f̄ exactly where they minimise

    D(p) − Q P + Σ_j (f_j − f̄_j)²/(2β_j),   f_j = (A_h P_h − A_r P_r)_j,   0 ≤ P_h ≤ P_hM, 0 ≤ P_r ≤ P_rM, 0 ≤ P ≤ P_M, P ≤ P_c

(constraints are linear, so the optimality conditions are necessary; the programme is convex, so they are sufficient). p = 0 is
admitted; f lies between −A_r P_rM and A_h P_hM; P_c need not be larger than the largest of the others; so a minimum is attained.
If two minimisers had different f, the cost half-way between them would be smaller, as D is convex and the squares strictly so:
f is unique, and v_j = (f_j − f̄_j)/β_j with it. Pressures need not be. At a given pressure P of the pump the same holds, P taken
from the unknowns.

Conditions are those of `passivity`, and β_j > 0. Beside them, states at random openings are solved in two ways that share no
iteration, by Newton's method and closed forms (`quick`) and by nested roots on brackets (`kernel`), whose pressures must satisfy
every orifice's law and every chamber's balance of oil, written once more in `accounts`. By the proof what satisfies them is it.

Source: ours; [Kikuuwe21] leaves several actuators with regeneration open, and asks for A_h ≥ A_r and u_tr > 0 with one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plants.valve_circuits.accounts import Section, section_flows
from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.kernel import _next, pumped, section
from plants.valve_circuits.passivity import conditions, drawn, on, undecided
from plants.valve_circuits.roots import resolve_all
from workbench.verification.verdict import Assumption, Verdict

_KEY = "unique-velocity"
_SOURCE = "strict convexity in f of the circuit's programme"
_SAME = 1e-7  # share of |v| + v_0: how far the two ways may be apart
_MET = 1e-6  # share of the flow at that speed: how well relations must be met, orifices being steep at no drop


def check_unique(
    circuit: Circuit,
    β: Mapping[str, float] | None = None,
    samples: int = 100,
    seed: int = 0,
    counted: bool = True,
    held: bool = False,
) -> Verdict:
    """The claim above for a circuit, all its openings and all f̄: `proof` where the conditions hold.

    β: name → number [N s/m] of those the machine has; any β > 0 where left out. held: the pump holds some pressure whatever is
    taken. Conditions that do not hold leave it undecided; two ways that find different velocities, or pressures that do not satisfy
    the circuit's relations, refute what is computed: violated, with the openings and the load.
    """
    text = f"one velocity for any load and openings, {on(circuit, held)}"
    needed = (*conditions(circuit), *_damped(β))
    lacking = undecided(_KEY, text, _SOURCE, needed, counted)
    if lacking:
        return lacking
    apart, left, at = _tried(circuit, samples, seed, held)
    data = {"samples": samples, "seed": seed, "apart": apart, "left": left}
    if not (apart <= _SAME and left <= _MET):
        return Verdict(
            _KEY,
            text,
            False,
            "sampled",
            worst=at,
            assumptions=needed,
            source=_SOURCE,
            counted=counted,
            data=data,
        )
    return Verdict(
        _KEY,
        text,
        True,
        "proof",
        assumptions=needed,
        source=_SOURCE,
        counted=counted,
        data=data,
        worst=f"{samples} random states solved two ways agree to {apart:.1g} of full speed",
    )


def _damped(β) -> tuple[Assumption, ...]:
    text = "β above zero, so that the programme is strictly convex in f"
    if β is None:
        return ()
    where = min(β, key=lambda k: β[k] if np.isfinite(β[k]) else -np.inf)
    return (
        Assumption(
            text,
            bool(0 < β[where] < np.inf),
            β[where] if β[where] == β[where] else None,
            "N*s/m",
            where,
        ),
    )


def _tried(circuit: Circuit, samples: int, seed: int, held: bool) -> tuple[float, float, str]:
    """Largest difference of the two ways, largest flow that the relations leave (shares of full speed), where either is."""
    d = drawn(circuit, samples, np.random.default_rng(seed), held)
    v = np.zeros(d.β.shape)
    P = np.zeros(samples)
    resolve_all(d.rows, d.supply, d.β, d.f, v, P)
    apart = np.zeros(samples)
    left = np.zeros(samples)
    for m in range(samples):
        pump, w, p = nested(d.rows[m], d.supply[m], d.β[m], d.f[m])
        apart[m] = np.max(np.abs(w - v[m]) / (np.abs(w) + d.v_0))
        left[m] = relations_left(d.rows[m], d.supply[m], w, pump, p) / (
            d.rows[m, :, 0] @ (np.abs(w) + d.v_0)
        )
    apart, left = (np.where(np.isfinite(x), x, np.inf) for x in (apart, left))
    m = int(np.argmax(np.maximum(apart / _SAME, left / _MET)))
    what = (
        f"two ways differ by {apart[m]:.2g} of full speed"
        if apart[m] > _SAME
        else f"oil balances are off by {left[m]:.2g}"
    )
    return (
        float(apart.max()),
        float(left.max()),
        (f"{what} at β = {d.β[m].tolist()}, f̄ = {d.f[m].tolist()}, rows {d.rows[m].tolist()}"),
    )


def nested(rows, supply, β, f):
    """P, velocities (N,) and pressures [(P_h, P_r), …] by roots on brackets alone."""

    def at(P):
        p = [section(row, P, -g / b, 1.0 / b) for row, b, g in zip(rows, β, f)]
        taken = sum(pumped(row, P, -g / b, 1.0 / b, *x) for row, b, g, x in zip(rows, β, f, p))
        return supply[0] - supply[2] * np.sqrt(P) - taken, p

    def found(P, p):
        return (
            P,
            np.array(
                [(row[0] * x - row[1] * y - g) / b for row, b, g, (x, y) in zip(rows, β, f, p)]
            ),
            p,
        )

    low = 0.0
    high = supply[1]
    r_high, p = at(high)
    if r_high >= 0.0:
        return found(high, p)
    r_low = supply[0]
    before = np.inf
    for step in range(400):
        P = _next(low, -r_low, high, -r_high, before, step)
        if not low < P < high:
            break
        before, (r, tried) = high - low, at(P)
        if r > 0.0:
            low = P
            r_low = r
        else:
            high = P
            r_high = r
            p = tried
    return found(high, p)


def relations_left(rows, supply, v, P: float, pressures) -> float:
    """The largest flow by which (39), (91) are not met at velocities and pressures, m³/s."""
    left = supply[0] - supply[2] * np.sqrt(P)
    worst = 0.0
    for row, w, (h, r) in zip(rows, v, pressures):
        q = section_flows(Section(row, w, 0.0, h, r), P)
        # Out only at the relief, in only at the tank's pressure.
        for over, p, top in (
            (q.Q_ho, h, row[2]),
            (q.Q_ro, r, row[3]),
        ):
            worst = max(
                worst, over if p < top * (1 - 1e-9) else 0.0, -over if p > top * 1e-9 else 0.0
            )
        taken = q.Q_ph + q.Q_pr
        left = left - max(taken, 0.0)
        worst = max(worst, -taken)
    return float(max(worst, -left, left if P < supply[1] * (1 - 1e-9) else 0.0))
