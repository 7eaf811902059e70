"""Practical stability of the sampled loop, and how far it reaches in sample time and delay."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.errors import InputError
from workbench.units import format_quantity as say
from workbench.verdict import Verdict
from workbench.verification.requirements import diverged, oscillation, too_short
from workbench.verification.run import Run, run_many, variant
from workbench.verification.run import run as simulated

HEADROOM = 10.0  # a bound nobody stated: so many times the largest settled v of the nominal run
WORST_ERROR = 20e-3  # m: no bound is set on a run with a larger tool error
FLOOR, CHATTER = 1e-3, 0.05  # rad or m, share of full command rms: oscillation smaller than this does not end a scan
SETTLE = 3.0  # s allowed for settling in the runs of a scan
SOURCE = "runs from other starts over twice the duration"
SCANNED = "scan from the scenario's own start, then bracket"


def longer(scenario):
    """The scenario over at least twice the duration: the path walked again where it closes, else held at its end."""
    reference, twice = scenario.reference, 2 * scenario.length()
    points = getattr(reference, "points", None)
    if points and points[0] == points[-1]:
        reference = replace(reference, repeat=2 * reference.repeat)
        twice += getattr(reference, "dwell", 0.0)
    return replace(scenario, reference=reference, duration=twice)


def walking(run: Run, settle: float) -> Run:
    """A run whose settled part walks the path too: the same, or where most of its path is over by then, the longer one.

    What is left of v while a machine rests bounds nothing that happens while it moves.
    """
    again, lap = longer(run.scenario), getattr(run.scenario.reference, "duration", math.inf)
    if again.reference is run.scenario.reference or settle <= lap / 2 or not run.log.status.completed:
        return run
    return simulated(run.loop, again)


def settled_storage(run: Run, settle: float) -> tuple[float, float, str]:
    """(largest v after settling, its time, largest cause there); inf for a run that diverged or left a stroke."""
    if not run.log.status.completed:
        return math.inf, run.log.status.t_end, run.log.status.message
    if run.left[1]:
        return math.inf, *run.left
    t, v = run.storage
    first = int(np.searchsorted(t, min(settle, 0.9 * t[-1])))
    k = first + int(np.argmax(np.where(np.isfinite(v[first:]), v[first:], math.inf)))
    if not math.isfinite(v[k]):
        return math.inf, float(t[k]), f"v is not finite at t = {t[k]:.3f} s"
    own = {(s, c, name): d[0] for (s, c, name), d in run.at(k).perturbations.items()}
    s, c, name = max(own, key=lambda key: own[key])
    return float(v[k]), float(t[k]), f"structure {s}, {name} term of {c}"


def check_practical(claim, run: Run, tick: Callable[[], None] | None = None) -> Verdict:
    """v ≤ bound after settling on every run; the bound stated beforehand, or set on the nominal run.

    A bound nobody stated must be set on a run that settles: ten times a limit cycle would bound a limit cycle.
    """
    v0, t0, why0 = settled_storage(run if claim.bound is not None else walking(run, claim.settle), claim.settle)
    bound, stated = (claim.bound, True) if claim.bound is not None else (HEADROOM * v0, False)
    text = f"practically stable, v ≤ {say(bound, 'J', 3)}" if math.isfinite(bound) else "practically stable"
    gone = diverged("practical-stability", text, run, claim.counted, SOURCE)
    short = too_short("practical-stability", text, run, claim.settle, claim.counted, SOURCE)
    if gone or short:
        return gone or short
    if not math.isfinite(v0):
        return Verdict("practical-stability", text, False, "sampled", worst=why0, source=SOURCE, counted=claim.counted)
    unsound = "" if stated else _unsound(run)
    if unsound:
        return Verdict("practical-stability", text, None,
                worst=f"a bound set on a run that is itself not sound proves nothing ({unsound}); "
                       "state one", source=SOURCE, counted=claim.counted, data={"nominal": v0})
    if claim.runs < 1:
        return Verdict("practical-stability", text, None, worst="no other starts were asked for (runs: 0)", source=SOURCE,
                       counted=claim.counted)
    jobs = other_starts(run, claim)
    found = run_many(jobs, lambda r: (*settled_storage(r, claim.settle), "" if stated else _oscillation(r)), tick)
    worst = max(range(len(found)), key=lambda i: found[i][0])
    restless = next((f[3] for f in [(0, 0, 0, "" if stated else _oscillation(run)), *found] if f[3]), "")
    v, t, why = found[worst][:3] if found[worst][0] > v0 else (v0, t0, why0)
    n = len(found)
    data = {"bound": bound, "stated": stated, "nominal": v0, "largest": v if math.isfinite(v) else None, "runs": n,
            "violation_probability_at_95": 1 - 0.05 ** (1 / n) if v <= bound and not restless else None,
            "duration": jobs[0][1].length()}
    if not math.isfinite(v):
        return Verdict("practical-stability", text, False, "sampled", worst=f"start {worst + 1} of {n}: {why}", source=SOURCE,
                       counted=claim.counted, data=data)
    if restless:
        return Verdict("practical-stability", text, False, "sampled",
                worst=f"does not settle: {restless}; no bound was stated that "
                       "could allow it", source=SOURCE, counted=claim.counted, data=data)
    set_on = "bound stated" if stated else "bound set on the nominal run"
    return Verdict("practical-stability", text, v <= bound, "sampled", bound - v, "J", bound,
                   f"{say(v, 'J', 3)} at t = {t:.2f} s, {why}; {n} other starts, {set_on}", source=SOURCE, counted=claim.counted,
                   data=data)


def _unsound(run: Run) -> str:
    """Why no bound may be set on this run: it oscillates, or its tool is far off; empty when neither."""
    e = run.tool_error
    far = e is not None and float(e[run.settled(SETTLE)].max()) > WORST_ERROR
    return _oscillation(run) or (f"error {say(float(e[run.settled(SETTLE)].max()), run.error_unit, 3)}" if far else "")


def other_starts(run: Run, claim) -> list[tuple]:
    """Loop and scenario of every other start: joint positions off by up to `spread`, at rest, twice the duration."""
    plant, base = run.loop.plant, longer(run.scenario)
    began = [run.log.array(name)[0] for name in plant.joint_names]
    q0 = np.array(run.scenario.start if run.scenario.start is not None else began)
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
        if not run.log.status.completed or run.left[1]:
            return False, math.inf, math.inf, run.log.status.message if not run.log.status.completed else run.left[1]
        part = run.fine.settled(SETTLE)
        e = run.fine.tool_error
        error = float(e[part].max()) if e is not None else math.nan
        v = math.nan
        if bound is not None:
            t, stored = run.storage
            v = float(stored[np.searchsorted(t, min(SETTLE, 0.9 * t[-1])):].max())
            if v > bound:
                return False, v, error, _oscillation(run) or f"v = {say(v, 'J', 3)}"
        if e is not None and error > claim.error:
            return False, v, error, _oscillation(run) or f"error {say(error, run.error_unit, 3)}"
        cycle = _oscillation(run)
        return not cycle, v, error, cycle

    return judge


def _oscillation(run: Run) -> str:
    found = oscillation(run, FLOOR, CHATTER)
    return f"{found[1]} of {found[0]}, {found[2]:.3g} Hz" if found else ""


def scan(make: Callable[[float], tuple], values, judge, tick=None, rounds: int = 2, down: bool = False) -> Reach:
    """Outcomes along `values` (away from the nominal one) until one fails, then the edge bracketed between the last good value
    before the first bad one and that one, two inner values a round. Stability need not be monotone, so everything nearer than
    the edge was tried too.
    """
    tried: dict[float, tuple] = {}
    nearer = (lambda a, b: a > b) if down else (lambda a, b: a < b)
    for i in range(0, len(values), 2):
        batch = list(values[i: i + 2])
        tried |= dict(zip(batch, run_many([make(v) for v in batch], judge, tick)))
        if not all(tried[v][0] for v in batch):
            break
    failed = [v for v in tried if not tried[v][0]]
    bad = None if not failed else max(failed) if down else min(failed)
    passed = [v for v in tried if tried[v][0] and (bad is None or nearer(v, bad))]
    good = (min(passed) if down else max(passed)) if passed else (1.0 if down else 0.0)
    for _ in range(rounds if bad is not None and passed else 0):
        inner = [good ** (1 - k) * bad**k if good > 0 and bad > 0 else good + k * (bad - good) for k in (1 / 3, 2 / 3)]
        tried |= dict(zip(inner, run_many([make(v) for v in inner], judge, tick)))
        failed = [v for v in inner if not tried[v][0]]
        if failed:
            bad = max(failed) if down else min(failed)
        passed = [v for v in inner if tried[v][0] and nearer(v, bad)]
        good = (min(passed) if down else max(passed)) if passed else good
    order = sorted(tried)
    return Reach(tuple(order), *(tuple(tried[v][i] for v in order) for i in range(4)), good, bad)


def check_sample_time(claim, run: Run, bound: float | None, tick=None) -> Verdict:
    """Largest sample time at which the practical claim still holds."""
    own = float(run.loop.period or 1e-3)
    least = claim.at_least or own
    quick = replace(run.scenario, log_period=None)
    make = lambda T: variant(run.loop, quick, T_s=T)
    return _limit("sample-time", "sample time", claim, run, own, own, least, make, bound, tick)


def check_delay(claim, run: Run, bound: float | None, tick=None) -> Verdict:
    """Largest delay between sample and valve at which the practical claim still holds."""
    T = float(run.loop.period or 1e-3)
    own = float(getattr(run.loop.controller, "delay", 0.0))
    least = claim.at_least or own
    capacity = int(math.ceil(max(claim.up_to, least) / T)) + 1
    quick = replace(run.scenario, log_period=None)
    make = lambda d: variant(run.loop, quick, delay=d, capacity=capacity)
    return _limit("delay", "delay", claim, run, own, T / 2, least, make, bound, tick)


def check_parameter(claim, run: Run, bound: float | None, tick=None) -> Verdict:
    """How far a parameter of the true plant may move, the controller's model as it is."""
    from workbench.parameters import bind, leaves
    from workbench.system import ClosedLoop

    found = {leaf.path: leaf for leaf in leaves(run.loop.plant)
             if leaf.path == claim.parameter or leaf.path.endswith("." + claim.parameter)}
    if not found:
        import difflib

        known = [leaf.path for leaf in leaves(run.loop.plant)]
        near = difflib.get_close_matches(claim.parameter, [*known, *{".".join(k.split(".")[-2:]) for k in known}], 3)
        raise InputError(f"claim parameter-limit: the plant has no number {claim.parameter!r}", key="parameter",
                         mend=f"did you mean {' or '.join(near)}?" if near else f"for example {', '.join(known[:3])}")
    zero = all(leaf.value == 0 for leaf in found.values())
    start = 0.0 if zero else 1.0
    values = np.linspace(start, claim.to, 9) if zero or claim.to < 1 else np.geomspace(1.0, claim.to, 9)

    def make(k):
        plant = bind(run.loop.plant, {path: float(k) if zero else leaf.value * float(k) for path, leaf in found.items()})
        return ClosedLoop(plant, run.loop.controller), run.scenario

    text = f"stays so up to {claim.parameter} {'=' if zero else '×'} {claim.at_least or claim.to:g}"
    gone = diverged("parameter-limit", text, run, claim.counted, SCANNED)
    if gone:
        return gone
    wanted = claim.at_least or claim.to
    down = claim.to < start
    short = too_short("parameter-limit", text, run, SETTLE, claim.counted, SCANNED)
    if short:
        return short
    values = sorted({float(v) for v in values} | {float(wanted)}, reverse=down)
    reach = scan(make, values, outcome(claim, claim.bound or bound), tick, down=down)
    unit = next(iter(found.values())).info.unit if zero else "1"
    good = reach.good if reach.bad is not None or reach.values else claim.to
    k = next((i for i, v in enumerate(reach.values) if v == reach.bad), None)
    holds = reach.bad is None or (reach.bad < wanted if down else reach.bad > wanted)
    sign = -1 if down else 1
    data = {"values": reach.values, "ok": reach.ok, "v": reach.v, "error": reach.error, "why": reach.why, "good": good,
            "bad": reach.bad, "paths": sorted(found)}
    return Verdict("parameter-limit", text, holds, "sampled", sign * (good - wanted), unit, wanted,
                   f"{good:.4g}; at {reach.bad:.4g}: {reach.why[k]}" if reach.bad is not None else
                   f"nothing failed up to {good:g}, the end of the scan", source=SCANNED, counted=claim.counted,
                           data=data)


def _limit(key, what, claim, run, own, first, least, make, bound, tick):
    text = f"stays so up to {what} {say(least, 's', 3)}"
    gone = diverged(f"{key}-limit", text, run, claim.counted, SCANNED)
    if gone:
        return gone
    short = too_short(f"{key}-limit", text, run, SETTLE, claim.counted, SCANNED)
    if short:
        return short
    # What is asked for is tried itself, and everything nearer with it: stability need not be monotone.
    values = sorted({float(v) for v in np.geomspace(own or first, max(claim.up_to, own), 9)} | {own, least})
    found = scan(make, values, outcome(claim, claim.bound or bound), tick)
    k = next((i for i, v in enumerate(found.values) if v == found.bad), None)
    data = {"values": found.values, "ok": found.ok, "v": found.v, "error": found.error, "good": found.good, "bad": found.bad,
            "why": found.why}
    if found.bad is None:
        return Verdict(f"{key}-limit", text, True, "sampled", found.good - least, "s", least,
                       f"nothing failed up to {say(found.good, 's', 3)}, the end of the scan", source=SCANNED,
                       counted=claim.counted, data=data)
    holds = found.bad > least and any(found.ok)
    return Verdict(f"{key}-limit", text, holds, "sampled", found.good - least, "s", least,
                   (f"{say(found.good, 's', 3)}; at" if found.good > 0 else "fails at the shortest tried,")
                   + f" {say(found.bad, 's', 3)}: {found.why[k]}", source=SCANNED,
                   counted=claim.counted, data=data)
