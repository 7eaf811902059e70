"""The most likely cause of what went wrong, named first in the verdict that counts.

Asked only where a counted claim is violated, or practical stability undecided; a sound loop pays nothing. In this order:

    wires      crossed, flipped or in another unit: undone on the logged samples, the residual vanishes (`cause_wiring`)
    edge       where the linearised loop grows: the smallest single change with which it does not (`cause_linear`)
    removal    one fault at a time is taken away (a number of model, law, machine or signal path put back, a disturbance left
               out), the same scenario is run again, shorter; how much better it goes is weighed with how odd the number was
               (`cause_trials`)
    modes      what hardly decays in the linearised loop
    ledger     the named perturbation that is the largest share of what v lives on

A cause is a guess with evidence, no verdict: it changes words and data, never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.numerics.overflow import may_overflow
from workbench.run.steps import Steps
from workbench.verification.cause_feedback import feedback
from workbench.verification.cause_linear import WITHIN, hardly_decays, lets_go, out_of_reach
from workbench.verification.cause_trial import Trial
from workbench.verification.cause_trials import believed, trials
from workbench.verification.cause_wiring import rewired
from workbench.verification.disturbed import SPREAD
from workbench.verification.ledger import has_ledger
from workbench.verification.ledger_claims import outside, readable
from workbench.verification.run import Run, run_many
from workbench.verification.scales import scales
from workbench.verification.starts import drawn, scenario_from
from workbench.verification.verdict import Verdict

# What a claim of these says of itself is its cause: a fault of the books, or of the machine alone.
SELF_SAID = (
    "identity",
    "power-flows",
    "energy-balance",
    "valve-losses",
    "unique-velocity",
    "incremental-passivity",
    "holds-weight",
    "falsify",
)
MOST = 40  # trials of one loop; of one called from Python, where a run takes seconds, HOSTED
HOSTED = 6
LONGEST = 6.0  # s of a trial's run
HOSTED_SAMPLES = 1500
SOUND = 0.35  # badness below which a run shows no fault
HELPS = 0.25  # least share of the badness that a removal must take away
ALIKE = 0.95  # of the best removal's share: others among numbers tried in turn are told with it
KICKS = 4  # other starts that are tried where the run itself shows nothing


@dataclass(frozen=True)
class Cause:
    """What most likely went wrong: its kind, a sentence, and the share of the badness that goes with it (None: not tried)."""

    kind: str
    words: str
    share: float | None = None


def with_cause(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts, those counted that went wrong with the most likely cause first."""
    wrong = [v for v in verdicts if v.counted and v.key not in SELF_SAID and _wrong(v)]
    if not wrong or run.loop.controller is None:
        return list(verdicts)
    found = _guess(likely_cause, run)
    if found is None:
        return list(verdicts)
    return [_named(v, found) if any(v is w for w in wrong) else v for v in verdicts]


def _wrong(v: Verdict) -> bool:
    return v.holds is False or (v.holds is None and v.key == "practical-stability")


def _named(v: Verdict, found: Cause) -> Verdict:
    words = f"most likely cause: {found.words}"
    return replace(
        v,
        worst=f"{words}; {v.worst}" if v.worst else words,
        data={**v.data, "cause": {"kind": found.kind, "words": found.words, "share": found.share}},
    )


def likely_cause(run: Run) -> Cause | None:
    """The most likely cause of a run that went wrong; None where nothing that can be tried explains it."""
    wires = _guess(rewired, run)
    if wires:
        return Cause("wiring", wires)
    edge, size = _guess(lets_go, run) or ("", math.inf)
    if edge and size <= WITHIN:
        return Cause("edge", edge)
    hidden = _guess(out_of_reach, run)
    if hidden:
        return Cause("mode", hidden)
    found = _guess(removal, run)
    # A removal that heals outweighs a sign that a linearisation sees; half a healing does not.
    if found is None or (found.share is not None and found.share < 0.8):
        turned = "" if has_ledger(run.loop) else _guess(feedback, run)
        if turned:
            return Cause("wiring", turned)
    if edge:
        return Cause("edge", edge)
    if found is None or found.kind == "reference":
        slow = _guess(hardly_decays, run)
        if slow:
            return Cause("mode", slow)
    return found or largest_term(run) or jumping(run) or at_limits(run)


def _guess(find: Callable, run: Run):
    """What `find` says of the run; None where it fails: it asks a user's own law at odd values, and others may still find it."""
    try:
        return find(run)
    except Exception:
        return None


def jumping(run: Run) -> Cause | None:
    """A reference that jumps while the loop runs: what has a mass is off its path for a while after each jump."""
    reference = run.demand.reference
    if not isinstance(reference, Steps):
        return None
    times = [t for t in reference.jumps() if t < run.scenario.length()]
    if not times:
        return None
    told = ", ".join(f"{t:g} s" for t in times[:3])
    return Cause("reference", f"the reference jumps at t = {told}, which no machine follows")


def at_limits(run: Run) -> Cause | None:
    """Commands that stay at their limits for most of the run: the machine is too weak for what it is asked."""
    shares = {}
    for name, (low, high) in run.loop.plant.limits().items():
        if name in run.log:
            u, edge = run.log.array(name), 1e-6 * (high - low)
            shares[name] = float(np.mean((u <= low + edge) | (u >= high - edge)))
    name = max(shares, key=shares.get, default=None)
    if name is None or shares[name] < 0.3:
        return None
    return Cause(
        "limit",
        f"{name} is at its limit for {100 * shares[name]:.0f} % of the run: more is asked than the machine has",
    )


# ---- one fault at a time taken away ---------------------------------------------------------------------------------
def removal(run: Run) -> Cause | None:
    """The removal that makes the run go better by most, weighed with how odd the number was."""
    hosted = run.loop.hosted
    tried = trials(run)
    tried = _ranked(run, tried)[: HOSTED if hosted else MOST]
    before, scenario = shown(run, hosted)
    if not tried or before < SOUND:
        return None
    jobs, kept = [], []
    for trial in tried:
        jobs.append((trial.on(run.loop), replace(scenario, **trial.scenario)))
        kept.append(trial)
    found = _judged(jobs)
    shares = [max(0.0, (before - after) / before) for after in found]
    weights = [share * (0.2 + trial.oddness) for share, trial in zip(shares, kept)]
    best = int(np.argmax(weights))
    if shares[best] < HELPS:
        return None
    told = dict.fromkeys([kept[best].words])
    if " " in kept[best].kind:  # one of many numbers that were tried in turn
        alike = [k for k, s in enumerate(shares) if s >= ALIKE * shares[best]]
        told |= dict.fromkeys(kept[k].words for k in sorted(alike, key=lambda k: -weights[k]))
    return Cause(kept[best].kind, "; or ".join(list(told)[:3]), shares[best])


def _judged(jobs) -> list[float]:
    """Badness of every job; of one that cannot be run at all, inf."""
    try:
        return run_many(jobs, badness)
    except (InputError, ArithmeticError, ValueError):
        found = []
        for job in jobs:
            try:
                found += run_many([job], badness)
            except (InputError, ArithmeticError, ValueError):
                found.append(math.inf)
        return found


def shown(run: Run, hosted: bool) -> tuple[float, object]:
    """(badness, scenario) of the run, shortened; started off the path where the run as it is shows no fault."""
    longest = HOSTED_SAMPLES * float(run.loop.period or 1e-3) if hosted else LONGEST
    brief = replace(run.scenario, duration=min(run.scenario.length(), longest), log_period=None)
    for scenario in (brief, *kicked(run, brief)):
        (bad,) = _judged([(run.loop, scenario)])
        if bad >= SOUND:
            return (bad if math.isfinite(bad) else 10.0), scenario
    return bad, scenario


def kicked(run: Run, scenario) -> list:
    """The scenario from the starts of the claim on practical stability; its reference does not move with the start."""
    still = replace(scenario, reference=run.demand.reference or scenario.reference)
    return [scenario_from(run, start, still) for start in drawn(run, KICKS, SPREAD)]


def badness(run: Run) -> float:
    """How badly a run went: 0 at its best, one for every decade that error, saturation, chatter or pressures are off; 5 and more
    where it diverged or left the machine."""
    end, length = run.log.status.t_end, run.scenario.length()
    if not run.log.status.completed or run.left[1]:
        early = min(end, run.left[0]) / length
        return 8.0 - 3.0 * min(1.0, max(0.0, early))
    return min(5.0, sum(math.log10(1.0 + part) for part in parts(run)))


@may_overflow()
def parts(run: Run) -> list[float]:
    """What goes wrong on a run, each as a multiple of what would not matter."""
    own, log = scales(run.loop.plant), run.log
    late = slice(len(log.time) // 2, None)
    found = []
    e = run.tool_error
    if e is not None and len(e) > 2:
        scale = own.of_unit(run.error_unit)
        size = scale.value if scale is not None else max(float(np.abs(e).max()), 1e-12)
        found.append(float(np.nanmax(e[late])) / (1e-3 * size))
    for name, (low, high) in run.loop.plant.limits().items():
        if name not in log:
            continue
        u = log.array(name)[late]
        at = float(np.mean((u <= low + 1e-6 * (high - low)) | (u >= high - 1e-6 * (high - low))))
        rough = float(np.sqrt(np.mean(np.diff(u, 2) ** 2))) / (high - low) if len(u) > 3 else 0.0
        found += [at / 0.02, rough / 0.02]
    if own.pressure is not None:
        p = np.array(
            [log.array(name)[late] for name in run.loop.plant.pressure_names if name in log]
        )
        beyond = (
            max(
                float(p.max()) / own.pressure.value - 1.25,
                -float(p.min()) / own.pressure.value,
                0.0,
            )
            if p.size
            else 0.0
        )
        found.append(beyond / 0.02)
    return [part if math.isfinite(part) else 1e6 for part in found]


# ---- what the ledger says -------------------------------------------------------------------------------------------
def _ranked(run: Run, tried: list[Trial]) -> list[Trial]:
    """Wrong numbers of the model, sorted by how much their correction reduces the model's terms along the run."""
    path, model = believed(run.loop)
    own = [t for t in tried if t.kind == "model" and all(p.startswith(path) for p in t.numbers)]
    if model is None or len(own) < 2 or not has_ledger(run.loop):
        return tried
    before, size = mismatch(run, run.loop), {}
    for trial in own:
        size[id(trial)] = before - mismatch(run, bind(run.loop, dict(trial.numbers)))
    words = {t.words: size[id(t)] for t in own}
    return sorted(tried, key=lambda t: (-words.get(t.words, 0.0), -t.oddness))


def mismatch(run: Run, loop) -> float:
    """What model and parameters cost along the run with the numbers of `loop`: sum of their terms' sizes, W."""
    t, x, w = run.instants
    rows = np.unique(np.linspace(0, len(t) - 1, min(len(t), 200)).astype(int))
    b = run.ledger(
        loop, t[rows], np.ascontiguousarray(x[rows]), np.ascontiguousarray(w[rows])
    ).finite()
    terms = [
        np.abs(d)
        for (_, _, name), d in b.perturbations.items()
        if name in ("model", "parameters", "friction")
    ]
    return float(sum(term.sum() for term in terms))


def largest_term(run: Run) -> Cause | None:
    """The named perturbation that brings most of what v lives on; None for a law without a ledger."""
    if not has_ledger(run.loop) or len(run.log.time) < 2:
        return None
    b = run.balance.part(readable(run.balance))
    brought = (
        {key: float(np.maximum(d, 0.0).sum()) for key, d in outside(b).items()} if len(b.t) else {}
    )
    total = sum(brought.values())
    if not total > 0:
        return None
    (s, c, name), most = max(brought.items(), key=lambda entry: entry[1])
    return Cause(
        "term", f"the {name} term of {c} ({s}) brings {100 * most / total:.0f} % of what v lives on"
    )
