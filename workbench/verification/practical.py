"""Practical stability of the sampled loop, and how far it reaches in sample time and delay."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.errors import InputError
from workbench.verdict import Verdict
from workbench.verification.requirements import diverged, oscillation
from workbench.verification.run import Run, run_many, variant

HEADROOM = 10.0  # a bound nobody stated: so many times the largest settled v of the nominal run
FLOOR, CHATTER = 1e-3, 0.5  # rad or m, V rms: oscillation smaller than this does not end a scan
SOURCE = "runs from other starts over twice the duration"


def longer(scenario):
    """The scenario over at least twice the duration: the path walked again where it closes, else held at its end."""
    reference, twice = scenario.reference, 2 * scenario.length()
    points = getattr(reference, "points", None)
    if points and points[0] == points[-1]:
        reference = replace(reference, repeat=2 * reference.repeat)
        twice += getattr(reference, "dwell", 0.0)
    return replace(scenario, reference=reference, duration=twice)


def settled_storage(run: Run, settle: float) -> tuple[float, float, str]:
    """(largest v after settling, its time, largest cause there); inf for a run that did not end."""
    if not run.log.status.completed:
        return math.inf, run.log.status.t_end, run.log.status.message
    t, v = run.storage
    first = int(np.searchsorted(t, min(settle, 0.9 * t[-1])))
    k = first + int(np.argmax(v[first:]))
    own = {(s, c, name): d[0] for (s, c, name), d in run.at(k).perturbations.items()}
    s, c, name = max(own, key=lambda key: own[key])
    return float(v[k]), float(t[k]), f"structure {s}, {name} term of {c}"


def check_practical(claim, run: Run, tick: Callable[[], None] | None = None) -> Verdict:
    """v ≤ bound after settling on every run; the bound stated beforehand, or set on the nominal run."""
    v0, t0, why0 = settled_storage(run, claim.settle)
    bound, stated = (claim.bound, True) if claim.bound is not None else (HEADROOM * v0, False)
    text = f"practically stable, v ≤ {1e3 * bound:.3g} mJ" if math.isfinite(bound) else "practically stable"
    gone = diverged("practical-stability", text, run, claim.counted, SOURCE)
    if gone:
        return gone
    if claim.runs < 1:
        return Verdict("practical-stability", text, None, worst="no other starts were asked for (runs: 0)", source=SOURCE,
                       counted=claim.counted)
    jobs = other_starts(run, claim)
    found = run_many(jobs, lambda r: settled_storage(r, claim.settle), tick)
    worst = max(range(len(found)), key=lambda i: found[i][0])
    v, t, why = found[worst] if found[worst][0] > v0 else (v0, t0, why0)
    n = len(found)
    data = {"bound": bound, "stated": stated, "nominal": v0, "largest": v if math.isfinite(v) else None, "runs": n,
            "violation_probability_at_95": 1 - 0.05 ** (1 / n), "duration": jobs[0][1].length()}
    if not math.isfinite(v):
        return Verdict("practical-stability", text, False, "sampled", worst=f"start {worst + 1} of {n}: {why}", source=SOURCE,
                       counted=claim.counted, data=data)
    set_on = "bound stated" if stated else "bound set on the nominal run"
    return Verdict("practical-stability", text, v <= bound, "sampled", bound - v, "J", bound,
                   f"{1e3 * v:.3g} mJ at t = {t:.2f} s, {why}; {n} other starts, {set_on}", source=SOURCE, counted=claim.counted,
                   data=data)


def other_starts(run: Run, claim) -> list[tuple]:
    """Loop and scenario of every other start: joint positions off by up to `spread`, at rest, twice the duration."""
    plant, base = run.loop.plant, longer(run.scenario)
    q0 = np.array(run.scenario.start if run.scenario.start is not None else run.log.values[0, : plant.n])
    fixed = run.demand.reference  # where the nominal run went: other starts must come back to it
    rng = np.random.default_rng(run.scenario.seed + 1)
    jobs = []
    reference = replace(fixed, **({"repeat": base.reference.repeat} if hasattr(base.reference, "repeat") else {})) \
        if fixed is not None else None
    while len(jobs) < claim.runs:
        q = q0 + claim.spread * rng.uniform(-1, 1, plant.n)
        try:
            plant.check_pose(q)
        except ValueError:
            claim = replace(claim, spread=claim.spread * 0.9)
            if claim.spread < 1e-6:
                raise InputError("practical-stability: no other start fits inside the strokes",
                                 mend="start further from the ends of the strokes") from None
            continue
        jobs.append((run.loop, replace(base, start=tuple(map(float, q)), reference=reference, seed=len(jobs) + 1)))
    return jobs


# ---- limits -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reach:
    """What a scan found: tried values with their outcome, the last good and the first bad one."""

    values: tuple[float, ...]
    ok: tuple[bool, ...]
    v: tuple[float, ...]
    error: tuple[float, ...]
    why: tuple[str, ...]
    good: float
    bad: float | None


def outcome(claim, bound: float | None) -> Callable[[Run], tuple[bool, float, float, str]]:
    """(still holds, largest settled v, largest settled tool error, why not) of a run."""
    def judge(run: Run):
        if not run.log.status.completed:
            return False, math.inf, math.inf, run.log.status.message
        part = run.settled(3.0)
        e = run.tool_error
        error = float(e[part].max()) if e is not None else math.nan
        v = math.nan
        if bound is not None:
            v = settled_storage(run, 3.0)[0]
            if v > bound:
                return False, v, error, _oscillation(run) or f"v = {1e3 * v:.3g} mJ"
        if e is not None and error > claim.error:
            return False, v, error, _oscillation(run) or f"tool error {1e3 * error:.3g} mm"
        cycle = _oscillation(run)
        return not cycle, v, error, cycle

    return judge


def _oscillation(run: Run) -> str:
    found = oscillation(run, FLOOR, CHATTER)
    return f"{found[1]} of {found[0]}, {found[2]:.3g} Hz" if found else ""


def scan(make: Callable[[float], tuple], values, judge, tick=None, bisections: int = 4) -> Reach:
    """Outcomes at rising values up to the second bad one in a row, then the edge bracketed between the last good value before
    the first bad one and that one (stability need not be monotone: everything below the edge was tried)."""
    tried: dict[float, tuple] = {}
    for pair in zip(*[iter([*values, None] if len(values) % 2 else values)] * 2):
        batch = [v for v in pair if v is not None]
        for v, found in zip(batch, run_many([make(v) for v in batch], judge, tick)):
            tried[v] = found
        if not all(tried[v][0] for v in batch):
            break
    bad = min((v for v in tried if not tried[v][0]), default=None)
    good = max((v for v in tried if tried[v][0] and (bad is None or v < bad)), default=0.0)
    for _ in range(bisections if bad is not None and good > 0 else 0):
        middle = math.sqrt(good * bad)
        (tried[middle],) = run_many([make(middle)], judge, tick)
        good, bad = (middle, bad) if tried[middle][0] else (good, middle)
    order = sorted(tried)
    return Reach(tuple(order), *(tuple(tried[v][i] for v in order) for i in range(4)), good, bad)


def check_sample_time(claim, run: Run, bound: float | None, tick=None) -> Verdict:
    """Largest sample time at which the practical claim still holds."""
    own = float(run.loop.period or 1e-3)
    least = claim.at_least or own
    quick = replace(run.scenario, log_period=None)
    make = lambda T: variant(run.loop, quick, T_s=T)
    return _limit("sample-time", "sample time", claim, run, own, least, make, bound, tick)


def check_delay(claim, run: Run, bound: float | None, tick=None) -> Verdict:
    """Largest delay between sample and valve at which the practical claim still holds."""
    T = float(run.loop.period or 1e-3)
    own = float(getattr(run.loop.controller, "delay", 0.0))
    least = claim.at_least or own
    capacity = int(math.ceil(claim.up_to / T)) + 1
    quick = replace(run.scenario, log_period=max(T, 5e-3))
    make = lambda d: variant(run.loop, quick, delay=d, capacity=capacity)
    return _limit("delay", "delay", claim, run, own or T / 2, least, make, None if bound is None else bound, tick)


def _limit(key, what, claim, run, own, least, make, bound, tick):
    text = f"stays so up to {what} {1e3 * least:.3g} ms"
    gone = diverged(f"{key}-limit", text, run, claim.counted, "scan, then bracket")
    if gone:
        return gone
    values = [float(v) for v in np.geomspace(own, claim.up_to, 9)]
    found = scan(make, values, outcome(claim, bound), tick)
    k = next((i for i, ok in enumerate(found.ok) if not ok), None)
    data = {"values": found.values, "ok": found.ok, "v": found.v, "error": found.error, "good": found.good, "bad": found.bad,
            "why": found.why}
    if found.bad is None:
        return Verdict(f"{key}-limit", text, True, "sampled", found.good - least, "s", least,
                       f"nothing failed up to {1e3 * found.good:.3g} ms, the end of the scan", source="scan, then bracket",
                       counted=claim.counted, data=data)
    holds = found.good >= least * (1 - 1e-9) and (least > 0 or found.good > 0)
    return Verdict(f"{key}-limit", text, holds, "sampled", found.good - least, "s", least,
                   f"{1e3 * found.good:.3g} ms; at {1e3 * found.bad:.3g} ms: {found.why[k]}", source="scan, then bracket",
                   counted=claim.counted, data=data)
