"""Claims on a predictive controller along a run: its stability argument, its solver, its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.contract.plain import Plain
from workbench.contract.wrappers import Delayed
from workbench.verification.linear.loop import is_linear
from workbench.verification.predictive.kept import exceeded
from workbench.verification.predictive.of_run import constant, cost_asked, predictive
from workbench.verification.verdict import Assumption, Verdict


def check_mpc_stability(claim: Any, run: Any) -> Verdict:
    """The textbook's argument, every hypothesis of it checked; near the steady state only where there is no terminal set."""
    from workbench.verification.predictive.claims import mpc_stability
    from workbench.verification.predictive.local import local_stability

    cost_asked(claim, run.loop)
    law = predictive(run.loop)
    key = "mpc-stability"
    text = (
        "from every feasible start, this run's among them, the predictive controller stays feasible, its cost falls by the "
        "stage cost, and the state goes to the target"
    )
    r, lost = _lost(run, law)
    said = partial(Verdict, key, text, counted=claim.counted)
    try:
        given, left = law.ingredients([0.0] * len(law.follows) if r is None else r, tuple(lost))
    except InputError as reason:
        return said(None, worst=reason.message, source="terminal ingredients")
    if lost or law.terminal != "set":
        if not lost and law.observer is None and not given.lost:
            return _begins_feasible(run, replace(local_stability(given), counted=claim.counted))
        decides = (
            ""
            if law.terminal == "set"
            else "; terminal: set would meet it, else practical-stability decides"
        )
        return said(
            None,
            worst=f"the theorem's hypotheses that are not met: {'; '.join(given.lost)}{decides}",
            source="shifted solution",
            assumptions=tuple(Assumption(t, False) for t in given.lost),
        )
    restless = [name for name in left if np.ptp(run.log.array(name)) > 0]
    if restless:
        alone = f"{', '.join(restless)} moves although no command drives it"
        worst = f"{alone}, which the argument leaves out: start at rest"
        return said(None, worst=worst, source="shifted solution")
    found = _argued(mpc_stability(given), left)
    return _begins_feasible(run, replace(found, claim=text, counted=claim.counted))


def _argued(answers: Sequence[Verdict], left: Any) -> Verdict:
    """The argument's verdict with what those on cost and feasibility say; left: states that nothing but themselves drives."""
    cost, kept, found = answers
    notes = tuple(
        Assumption(f"{name} at rest: nothing but itself drives it", True) for name in left
    )
    worst = found.worst
    if found.holds is None and False in (cost.holds, kept.holds):
        worst = f"{worst}; {cost.worst}; {kept.worst}"
    elif found.holds:
        worst = f"{worst}; {kept.worst}"
    return replace(found, worst=worst, assumptions=(*found.assumptions, *notes))


def _lost(run: Any, law: Any) -> tuple[Any, list[str]]:
    """(constant references of the run, or None; hypotheses of the argument that the loop does not meet)."""
    loop = run.loop
    r, why = constant(run)
    lost = [why] if why else []
    if digest(law.model) != digest(loop.plant):
        lost.append("model = plant")
    if not is_linear(loop.plant):
        lost.append("the plant is linear")
    lost += _around(loop, law)
    return r, lost


def _begins_feasible(run: Any, found: Verdict) -> Verdict:
    """The verdict, undecided where the run's first problem was not solved: a proof about feasible starts is not about it."""
    status, fallback, _, _ = _solves(run)
    if not found.holds or (status[0] in (1, 2) and not fallback[0]):
        return found
    why = FALLBACK.get(int(fallback[0]), "fallback")
    if status[0] not in (1, 2):
        why = STATUS.get(int(status[0]), f"status {status[0]}")
    return replace(
        found,
        holds=None,
        strength=None,
        margin=None,
        worst=f"this run's start is outside what is proven: its first "
        f"problem is not solved ({why}); from feasible starts: {found.worst}",
    )


def _around(loop: Any, law: Any) -> list[str]:
    """What stands between the controller and the plant that the argument knows nothing of."""
    controller = loop.controller
    found = []
    if isinstance(controller, Delayed):
        if controller.delay != law.delay:
            found.append("the loop's delay is the one the controller predicts through")
        controller = controller.inner
    elif law.delay:
        found.append("the loop's delay is the one the controller predicts through")
    if not isinstance(controller.inner, Plain):
        found.append("nothing (filter, noise, rounding) between plant and controller")
    if float(loop.period) != law.T_s:
        found.append("the loop's sample time is the controller's")
    return found


STATUS = {
    -1: "infeasible",
    -2: "cycling",
    -3: "unbounded",
    -4: "too many iterations",
    -5: "not convex",
    4: "inaccurate",
    -9: "beyond a limit",
    -10: "no finite model",
}


FALLBACK = {1: "last solution", 2: "terminal law", 3: "command held"}


def _solves(run: Any) -> tuple[np.ndarray, np.ndarray, str, dict]:
    """(statuses, fallbacks, in words what was not optimal, counts)."""
    status, fallback = (
        np.rint(run.log.array(f"mpc_{n}")).astype(int) for n in ("status", "fallback")
    )
    counts = {}
    for values, said, good in ((status, STATUS, (1, 2)), (fallback, FALLBACK, (0,))):
        for v in np.unique(values):
            if v not in good:
                counts[said.get(int(v), f"status {v}")] = int((values == v).sum())
    first = np.flatnonzero(~np.isin(status, (1, 2)) | (fallback != 0))
    words = ", ".join(f"{k}: {v}" for k, v in counts.items())
    return (
        status,
        fallback,
        f"{words}; the first at t = {run.log.time[first[0]]:.4g} s" if len(first) else "",
        counts,
    )


def check_solves(claim: Any, run: Any) -> Verdict:
    """Share of samples whose problem was solved to optimality, statuses and fallbacks listed; limits that hold nothing."""
    text = "every sample solved to optimality"
    if claim.share:
        text = f"at most {100 * claim.share:g} % of the samples not solved to optimality"
    cost_asked(claim, run.loop)
    status, fallback, words, counts = _solves(run)
    share = float(np.mean(~np.isin(status, (1, 2)) | (fallback != 0)))
    iterations = int(run.log.array("mpc_iterations").max())
    found = Verdict(
        key="solves",
        claim=text,
        holds=share <= claim.share,
        strength="sampled",
        margin=claim.share - share,
        unit="1",
        limit=claim.share,
        worst=words or f"all {len(status)} samples optimal, at most {iterations} iterations",
        source="solver statuses in the log",
        counted=claim.counted,
        data={"samples": len(status), "not_optimal": counts},
    )
    if not run.log.status.completed:
        return replace(
            found, holds=False, margin=None, limit=None, worst=run.log.status.message, data={}
        )
    beyond = exceeded(predictive(run.loop), run)
    return found.overruled(beyond, False) if beyond and found.holds else found


def _unpromised(claim: Any, run: Any, law: Any) -> str:
    """Why nothing promises that the cost falls: the model is not the plant, or the argument is not shown; "" where it is."""
    if digest(law.model) != digest(run.loop.plant):
        return "the model is not the plant"
    argument = check_mpc_stability(claim, run)
    return f"the argument is not shown ({argument.worst})" if argument.holds is None else ""


def check_cost_decrease(claim: Any, run: Any) -> Verdict:
    """V falls by ℓ at every sample of the run; where it does not and nothing promises that it would, undecided."""
    from workbench.verification.predictive.claims import cost_on_log

    cost_asked(claim, run.loop)
    law = predictive(run.loop)
    key = "cost-decrease"
    text = "the predictive controller's cost falls by the stage cost at every sample of the run"
    r, why = constant(run)
    t = run.log.time
    if why or len(t) < 3 or abs(t[1] - t[0] - run.loop.period) > 1e-9 * run.loop.period:
        reason = (
            f"only where {why}" if why else "every sample must be in the log: leave log_period out"
        )
        return Verdict(key, text, None, worst=reason, source="logged costs", counted=claim.counted)
    log = run.log
    stack = lambda signals: np.column_stack([log.array(s.name) for s in signals])
    V = log.array("mpc_cost")
    # What is weighed is what the law commands, which reaches the plant when its dead time has passed.
    commanded = np.column_stack([log.array(f"{s.name}_held") for s in law.commands])
    ℓ = law.stage_costs(stack(law.follows), r, commanded)
    status, fallback, _, _ = _solves(run)
    floor = claim.floor * float(np.max(V[np.isfinite(V)], initial=0.0))
    said = ["optimal" if s in (1, 2) else STATUS.get(int(s), str(s)) for s in status]
    found = cost_on_log(V, ℓ, said, fallback != 0, floor)
    why = _unpromised(claim, run, law) if found.holds is False else ""
    if why:
        unpromised = f"{why}, so that nothing promises that the cost falls"
        found = replace(found, holds=None, strength=None, worst=f"{unpromised}: {found.worst}")
    return replace(
        found,
        key=key,
        claim=text,
        counted=claim.counted,
        limit=floor,
        worst=f"{found.worst}; {len(V)} samples, noise allowed {floor:.3g}",
    )
