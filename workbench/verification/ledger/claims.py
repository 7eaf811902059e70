"""Claims read off the dissipation ledger: identity, power flows, inequality (99), rate, diagnosis v̂."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from workbench.contract.capabilities import HasJointRange
from workbench.contract.units import format_quantity as say
from workbench.run.demand import Demand
from workbench.run.fitted import fitted
from workbench.verification.ledger.balance import Balance, ledger_function
from workbench.verification.ledger.ends import coarse
from workbench.verification.run import Run
from workbench.verification.scales import power_floor
from workbench.verification.verdict import Verdict

SOURCE = "[Petrovic22] (94)–(99), (C.1)–(C.12), completed"
RANDOM_STATES = 400
AROUND = "ledger at random states"
NORM = "(99): v̇ ≤ −Σ ΔVᵀK_AΔV − Σ (k_f/k_x)Δf² + p_Bc1 at every instant"
# W: terms beyond are those of a run that blows up, and overflow when they are multiplied.
HUGE = 1e100
BRISTLES = 1e-5  # m, spread of deflections at random states


def check_identity(claim: Any, run: Run) -> Verdict:
    """The completed identity at logged and at random states, entry by entry; no entry's dissipation is negative."""
    worst = 0.0
    where = ""
    n = 0
    gains = ""
    for title, b in (("logged", _kept(run)), ("random", _around(run))):
        r = np.abs(b.residual())
        r[~np.isfinite(r)] = np.inf
        r[~readable(b)] = 0.0
        k, i = np.unravel_index(np.argmax(r), r.shape)
        given = np.where(np.isfinite(b.dissipation / b.weight), b.dissipation / b.weight, 0.0).min(
            axis=0
        )
        # a feedback of the wrong sign balances as well as the right one.
        if given.min() < -claim.tolerance:
            gains = f"; {'.'.join(b.entries[int(np.argmin(given))])} dissipates less than nothing: a gain has the wrong sign"
        n += len(b.t)
        if r[k, i] >= worst:
            worst = float(r[k, i])
            at = f"t = {b.t[k]:.3f} s" if title == "logged" else f"random state {k}"
            where = f"{'.'.join(b.entries[i])}, {at}"
    return Verdict(
        key="identity",
        claim=f"the completed identity holds at {n} states",
        holds=worst <= claim.tolerance and not gains,
        strength="numerical",
        margin=claim.tolerance - worst,
        unit="1",
        limit=claim.tolerance,
        worst=f"residual {worst:.1e} of its terms, {where}{gains}{_until(run)}",
        source=SOURCE,
        counted=claim.counted,
        data={"residual": worst, "states": n},
    )


def _kept(run: Run) -> Balance:
    """The ledger along the run; these claims are asked of laws that keep one (`needs_ledger`)."""
    assert run.balance is not None
    return run.balance


def readable(b: Balance) -> np.ndarray:
    """(N,) whether the numbers of an instant can be subtracted at all: those of a run that blows up overflow first."""
    with np.errstate(invalid="ignore"):
        return (np.abs(b.scale) < HUGE).all(axis=1)


def _until(run: Run) -> str:
    """What a verdict adds about a run that diverged."""
    return "" if run.log.status.completed else f"; before the run {run.log.status.message}"


def _around(run: Run) -> Balance:
    """The ledger at random states around the run's, computed once for the claims that share it."""
    if AROUND not in run.kept:
        run.kept[AROUND] = random_balance(run)
    return run.kept[AROUND]


def random_balance(run: Run, n: int = RANDOM_STATES, seed: int = 7) -> Balance:
    """The ledger at random states, inputs and references around the run's (the identity holds for any)."""
    demand: Demand = run.demand
    rng = np.random.default_rng(seed)
    f = ledger_function(run.loop, demand.live)
    x = np.column_stack([run.log.array(s.name) for s in run.loop.states])
    w = demand.at(run.log.time)
    pick = rng.integers(0, len(x), n)
    x = x[pick].copy()
    w = w[pick].copy()
    plant: Any = run.loop.plant
    spread = {"rad": 0.1, "m": 0.02, "rad/s": 0.3, "m/s": 0.1, "Pa": 1e6, "V": 2.0, "V/s": 30.0}
    for i, s in enumerate(run.loop.states):
        size = BRISTLES if s.bristle else spread.get(s.unit, 0.0)
        x[:, i] += size * rng.uniform(-1, 1, n)
    w *= 1 + 0.3 * rng.uniform(-1, 1, w.shape)
    joints = [[s.name for s in run.loop.states].index(name) for name in plant.position_names]
    low, high = _joint_room(run, joints)
    x[:, joints] = np.clip(x[:, joints], low + 0.02 * (high - low), high - 0.02 * (high - low))
    if plant.dependent:
        x = np.array([fitted(run.loop, row) for row in x])
    return f(run.loop, np.zeros(n), x, w)


def _joint_room(run: Run, joints: Any) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest joint positions of random states: those of the machine, or those of the run where it does not know."""
    plant = run.loop.plant
    if isinstance(plant, HasJointRange):
        low, high = np.array(plant.joint_range()).T
        return low, high
    seen = np.column_stack([run.log.array(run.loop.states[i].name) for i in joints])
    return seen.min(axis=0), seen.max(axis=0)


def check_power_flows(claim: Any, run: Run) -> Verdict:
    """Both sides of every inner cut cancel; a cut that does not (or has one side only) names the components that meet there.

    Cancelling is a law of mechanics at every state, so that random states are asked as well: a machine at rest has no flows.
    """
    logged = _kept(run).part(readable(_kept(run)))
    said = partial(
        Verdict,
        "power-flows",
        "virtual power flows cancel at every inner cut",
        source="[Petrovic22] Theorem 2",
        counted=claim.counted,
    )
    if not len(logged.t):
        return said(None, worst=f"nothing to read: {run.log.status.message}")
    worst = 0.0
    name = ""
    for b in (logged, _around(run)):
        for cut, share in cut_shares(b.part(readable(b))).items():
            if share > worst or not name:  # also where all cancel to the last digit
                worst = share
                name = cut
    if not name:  # a ledger without inner cuts has lost them, or has none: nothing was looked at
        return said(None, worst="no inner cut")
    top = max(float(np.abs(v).max()) for v in logged.flows.values())
    who = " and ".join(".".join(s) for s in logged.sides()[name])
    return said(
        worst <= claim.tolerance,
        "numerical",
        claim.tolerance - worst,
        "1",
        claim.tolerance,
        f"{worst:.0e} of what meets there, at cut {name} ({who}); flows of up to {say(top, 'W', 3)} in the run{_until(run)}",
        data={"share": worst, "cut": name, "largest": top},
    )


def cut_shares(b: Balance) -> dict[str, float]:
    """Inner cut → largest sum of its two sides, as a share of the terms that it is the difference of."""
    found = {}
    sides = b.sides()
    sizes = b.cut_scale()
    for cut, values in b.cuts().items():
        if len(sides[cut]) < 2 and outer(cut):
            continue
        shares = np.abs(values) / np.maximum(sizes[cut], 1e-300)
        found[cut] = float(np.where(np.isfinite(shares), shares, np.inf).max(initial=0.0))
    return found


def check_inequality(claim: Any, run: Run) -> Verdict:
    """(99) at every logged state, per structure: the named perturbations, with the tip's power, must not be positive in sum."""
    b = _kept(run).part(readable(_kept(run)))
    said = partial(
        Verdict, "inequality-99", NORM, source="[Petrovic22] (99)", counted=claim.counted
    )
    if not len(b.t):
        return said(None, worst=f"nothing to read: {run.log.status.message}")
    excess = per_structure_excess(b)
    top = float(np.abs(b.total_rate).max())
    floor = np.maximum(1e-12 * b.scale.sum(axis=1), power_floor(run))
    total = np.column_stack(list(excess.values()))
    bad = ~(total <= floor[:, None]).all(axis=1)
    k, j = np.unravel_index(np.argmax(np.where(np.isfinite(total), total, np.inf)), total.shape)
    unseen = _unseen(run, b, float(total[k, j]), bad, top)
    if unseen:
        data = {"share": float(bad.mean()), "largest_rate": top}
        return said(None, worst=unseen, data=data)
    cause = worst_cause(b, list(excess)[j], int(k))
    share = float(bad.mean())
    room = float(floor[k])
    worst = f"at all {len(bad)} logged instants, to rounding ({say(room, 'W', 2)})"
    if bad.any():
        worst = (
            f"not at {100 * share:.3g} % of {len(bad)} instants, most by {say(total[k, j], 'W', 3)} (largest |v̇| "
            f"{say(top, 'W', 3)}) at t = {b.t[k]:.3f} s, structure {list(excess)[j]}, {cause}"
        )
    return said(
        not bad.any(),
        "sampled",
        -float(total[k, j]) if bad.any() else 0.0,
        "W",
        0.0,
        worst,
        data={"share": share, "excess": float(total[k, j]), "largest_rate": top},
        instant=float(b.t[k]) if bad.any() else None,
    )


def _unseen(run: Run, b: Balance, most: float, bad: np.ndarray, top: float) -> str:
    """Why (99) is neither met nor violated on this run; empty when it is one of them."""
    if not np.isfinite(most):
        return "not a number: the run says nothing there"
    if not bad.any() and not run.log.status.completed:
        return f"it holds until the run {run.log.status.message}"
    if not bad.any() and coarse(run.loop, run.log):
        return "the log skips samples: what the hold does is not in it"
    if not bad.any() and top <= power_floor(run):
        return (
            f"|v̇| stays below {say(power_floor(run), 'W', 2)}, which is rounding for this machine: "
            "start away from the reference"
        )
    return ""


def outer(cut: str) -> bool:
    """Whether a cut is towards the outside: the base or the tip. Any other has two sides, or one was forgotten."""
    return cut.split(" ")[0] in ("base", "tip")


def per_structure_excess(b: Balance) -> dict[str, np.ndarray]:
    """Sum of the named perturbations and of the tip's power per structure (N,), W: what (99) leaves out."""
    found: dict[str, np.ndarray] = {}
    for (s, _, _), values in outside(b).items():
        found[s] = found.get(s, 0.0) + values
    return found


def outside(b: Balance) -> dict[tuple[str, str, str], np.ndarray]:
    """Everything (99) does not name: perturbations, and power through outer cuts other than the base's."""
    sides = b.sides()
    return b.perturbations | {
        key: v
        for key, v in b.flows.items()
        if len(sides[key[2]]) == 1 and not key[2].startswith("base ")
    }


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
    gain = (
        np.where(rate * step > 1e-12, (1 - decay) / max(rate, 1e-300), step) if rate > 0 else step
    )
    drive = np.where(step > 0, gain * (d[1:] + d[:-1]) / 2, np.diff(b.total))
    for k in range(len(step)):
        v[k + 1] = decay[k] * v[k] + drive[k]
    return v
