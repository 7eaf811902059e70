"""Claims read off the dissipation ledger: identity, power flows, inequality (99), rate, diagnosis v̂."""

from __future__ import annotations

import numpy as np

from workbench.demand import Demand
from workbench.units import format_quantity as say
from workbench.verdict import Verdict
from workbench.verification.ledger import Balance, coarse, ledger_function
from workbench.verification.run import Run

SOURCE = "[Petrovic22] (94)–(99), (C.1)–(C.12), completed"
RANDOM_STATES = 400
BRISTLES = 1e-5  # m, spread of deflections at random states


def check_identity(claim, run: Run) -> Verdict:
    """The completed identity at logged and at random states, entry by entry; no entry's dissipation is negative."""
    worst, where, n, gains = 0.0, "", 0, ""
    for title, b in (("logged", run.balance), ("random", random_balance(run))):
        r = np.abs(b.residual())
        r[~np.isfinite(r)] = np.inf
        if not run.log.status.completed:  # numbers too large to be squared say nothing
            r[~np.isfinite(b.scale).all(axis=1)] = 0.0
        k, i = np.unravel_index(np.argmax(r), r.shape)
        given = np.where(np.isfinite(b.dissipation / b.weight), b.dissipation / b.weight, 0.0).min(axis=0)
        if given.min() < -claim.tolerance:  # a feedback of the wrong sign balances as well as the right one
            gains = f"; {'.'.join(b.entries[int(np.argmin(given))])} dissipates less than nothing: a gain has the wrong sign"
        n += len(b.t)
        if r[k, i] >= worst:
            worst = float(r[k, i])
            at = f"t = {b.t[k]:.3f} s" if title == "logged" else f"random state {k}"
            where = f"{'.'.join(b.entries[i])}, {at}"
    return Verdict("identity", f"the completed identity holds at {n} states", worst <= claim.tolerance and not gains, "numerical",
                   claim.tolerance - worst, "1", claim.tolerance, f"residual {worst:.1e} of its terms, {where}{gains}",
                   source=SOURCE, counted=claim.counted, data={"residual": worst, "states": n})


def random_balance(run: Run, n: int = RANDOM_STATES, seed: int = 7) -> Balance:
    """The ledger at random states, inputs and references around the run's (the identity holds for any)."""
    demand: Demand = run.demand
    rng = np.random.default_rng(seed)
    f = ledger_function(run.loop, demand.live)
    x = np.column_stack([run.log.array(s.name) for s in run.loop.states])
    w = demand.at(run.log.time)
    pick = rng.integers(0, len(x), n)
    x, w = x[pick].copy(), w[pick].copy()
    plant = run.loop.plant
    spread = {"rad": 0.1, "m": 0.02, "rad/s": 0.3, "m/s": 0.1, "Pa": 1e6, "V": 2.0, "V/s": 30.0}
    for i, s in enumerate(run.loop.states):
        size = BRISTLES if s.unit == "m" and s.name.startswith("z_") else spread.get(s.unit, 0.0)
        x[:, i] += size * rng.uniform(-1, 1, n)
    w *= 1 + 0.3 * rng.uniform(-1, 1, w.shape)
    low, high = np.array(plant.joint_range()).T
    joints = [[s.name for s in run.loop.states].index(name) for name in plant.joint_names]
    x[:, joints] = np.clip(x[:, joints], low + 0.02 * (high - low), high - 0.02 * (high - low))
    return f(run.loop, np.zeros(n), x, w)


def check_power_flows(claim, run: Run) -> Verdict:
    """Both sides of every inner cut cancel; a cut that does not (or has one side only) names the components that meet there."""
    b = run.balance
    sums, sizes, sides = b.cuts(), b.cut_scale(), b.sides()
    worst, name = 0.0, ""
    for cut, values in sums.items():
        if len(sides[cut]) < 2 and outer(cut):
            continue
        shares = np.abs(values) / np.maximum(sizes[cut], 1e-300)
        share = float(np.where(np.isfinite(shares), shares, np.inf).max())
        if share > worst or not name:  # also where all cancel to the last digit
            worst, name = share, cut
    top = max((float(np.abs(v).max()) for v in b.flows.values()), default=0.0)
    who = " and ".join(".".join(s) for s in sides.get(name, ()))
    return Verdict("power-flows", "virtual power flows cancel at every inner cut", worst <= claim.tolerance, "numerical",
                   claim.tolerance - worst, "1", claim.tolerance,
                   f"{worst:.0e} of up to {say(top, 'W', 3)}, cut {name} ({who})" if name else "no inner cut",
                   source="[Petrovic22] Theorem 2",
                   counted=claim.counted, data={"share": worst, "cut": name, "largest": top})


def check_inequality(claim, run: Run) -> Verdict:
    """(99) at every logged state, per structure: the named perturbations, with the tip's power, must not be positive in sum."""
    b = run.balance
    excess, top = per_structure_excess(b), float(np.abs(b.total_rate).max())
    floor = 1e-12 * b.scale.sum(axis=1)
    total = np.column_stack(list(excess.values()))
    bad = ~(total <= floor[:, None]).all(axis=1)
    k, j = np.unravel_index(np.argmax(np.where(np.isfinite(total), total, np.inf)), total.shape)
    if not np.isfinite(total[k, j]) or (not bad.any() and coarse(run.loop, run.log)):
        why = f"not a number at t = {b.t[k]:.3f} s" if bad.any() else "the log skips samples: what the hold does is not in it"
        return Verdict("inequality-99", f"(99) holds at {len(bad)} logged instants", None, worst=why, source="[Petrovic22] (99)",
                       counted=claim.counted)
    cause = worst_cause(b, list(excess)[j], k)
    share = float(bad.mean())
    return Verdict("inequality-99", f"(99) holds at {len(bad)} logged instants", not bad.any(), "sampled",
                   -float(total[k, j]) if bad.any() else 0.0, "W", 0.0,
                   f"violated at {100 * share:.3g} % of instants, most by {say(total[k, j], 'W', 3)} "
                   f"(largest |v̇| {say(top, 'W', 3)}) at "
                   f"t = {b.t[k]:.3f} s, structure {list(excess)[j]}, {cause}" if bad.any() else "nowhere positive",
                   source="[Petrovic22] (99)", counted=claim.counted, data={"share": share, "excess": float(total[k, j]),
                                                                            "largest_rate": top})


def outer(cut: str) -> bool:
    """Whether a cut is towards the outside: the base or the tip. Any other has two sides, or one was forgotten."""
    return cut.startswith(("base ", "tip "))


def per_structure_excess(b: Balance) -> dict[str, np.ndarray]:
    """Sum of the named perturbations and of the tip's power per structure (N,), W: what (99) leaves out."""
    found: dict[str, np.ndarray] = {}
    for (s, _, _), values in outside(b).items():
        found[s] = found.get(s, 0.0) + values
    return found


def outside(b: Balance) -> dict[tuple[str, str, str], np.ndarray]:
    """Everything (99) does not name: perturbations, and power through outer cuts other than the base's."""
    sides = b.sides()
    return b.perturbations | {key: v for key, v in b.flows.items() if len(sides[key[2]]) == 1 and not key[2].startswith("base ")}


def worst_cause(b: Balance, structure: str, k: int) -> str:
    """Name of the largest perturbation of a structure at instant k."""
    own = {(c, name): v[k] for (s, c, name), v in outside(b).items() if s == structure}
    c, name = max(own, key=lambda key: own[key])
    return f"{name} term of {c}"


def predicted(b: Balance, rate: float) -> np.ndarray:
    """v̂ with v̂' = −c v̂ + d, v̂(0) = v(0) on the ledger's instants: which part of v comes from which cause, no evidence of its
    own.

    Where the law's memory jumps (a sampled observer of bristles), v̂ jumps as v does.
    """
    d = b.drive(rate)
    v = np.empty(len(b.t))
    v[0] = b.total[0]
    step = np.diff(b.t)
    decay = np.exp(-rate * step)
    gain = np.where(rate * step > 1e-12, (1 - decay) / max(rate, 1e-300), step) if rate > 0 else step
    drive = np.where(step > 0, gain * (d[1:] + d[:-1]) / 2, np.diff(b.total))
    for k in range(len(step)):
        v[k + 1] = decay[k] * v[k] + drive[k]
    return v
