"""Robustness by its definition: for every instant the minima and maxima over all others, written out. And sentences at random.

Nothing here shares a line with the monitor: windows are found by asking every pair of instants, until by asking every pair of
pairs, and what is unknown after the run is no array but an infinity that is put in by hand.
"""

import numpy as np

from workbench.verification.temporal import syntax as S

WORST, BEST = -np.inf, np.inf


def asked(interval, past, t, k, complete=True):
    """(samples of the interval at sample k, whether it goes on after the run)."""
    n, slack = len(t), 1e-9
    sign = -1 if past else 1
    begin, end = sorted((t[k] + sign * interval.begin, t[k] + sign * interval.end))
    side = range(k + 1) if past else range(k, n)
    inside = [j for j in side if begin - slack <= t[j] <= end + slack]
    if past:
        if not inside and end + slack >= t[0]:
            inside = [max(j for j in range(n) if t[j] <= end + slack)]
        return inside, False
    after = begin > t[-1] + slack
    if not inside and not after:
        inside = [max(j for j in range(n) if t[j] <= end + slack)]
    goes_on = after or (not complete if np.isinf(interval.end) else end > t[-1] + slack)
    return inside, bool(goes_on)


def rho(formula, margins, t, unknown, complete=True):
    """ρ at every sample, `unknown` in place of whatever a formula would be after the run."""
    n = len(t)
    if isinstance(formula, S.Comparison):
        return [float(m) for m in margins[formula]]
    if isinstance(formula, S.Not):
        return [-r for r in rho(formula.part, margins, t, -unknown, complete)]
    if isinstance(formula, S.Junction):
        parts = [rho(part, margins, t, unknown, complete) for part in formula.parts]
        return [(min if formula.kind == "and" else max)(column) for column in zip(*parts)]
    found = []
    if isinstance(formula, S.Timed):
        part = rho(formula.part, margins, t, unknown, complete)
        for k in range(n):
            inside, goes_on = asked(formula.interval, formula.past, t, k, complete)
            seen = [part[j] for j in inside] + ([unknown] if goes_on else [])
            found.append(min(seen, default=BEST) if formula.every else max(seen, default=WORST))
        return found
    left, right = (rho(p, margins, t, unknown, complete) for p in (formula.left, formula.right))
    for k in range(n):
        inside, goes_on = asked(formula.interval, formula.past, t, k, complete)
        between = (
            (lambda j, k=k: range(j + 1, k + 1)) if formula.past else (lambda j, k=k: range(k, j))
        )
        seen = [min([right[j], *(left[i] for i in between(j))]) for j in inside]
        if goes_on:
            seen.append(min([unknown, *left[k:]]))
        found.append(max(seen, default=WORST))
    return found


def truth(formula, told, t, k, unknown):
    """What a formula says at sample k, by words alone: True or False; `unknown` is what is said of after the run."""
    if isinstance(formula, S.Comparison):
        return bool(told[formula][k])
    if isinstance(formula, S.Not):
        return not truth(formula.part, told, t, k, not unknown)
    if isinstance(formula, S.Junction):
        each = (truth(part, told, t, k, unknown) for part in formula.parts)
        return all(each) if formula.kind == "and" else any(each)
    inside, goes_on = asked(formula.interval, formula.past, t, k)
    after = [unknown] if goes_on else []
    if isinstance(formula, S.Timed):
        each = [truth(formula.part, told, t, j, unknown) for j in inside] + after
        return all(each) if formula.every else any(each)
    for j in inside:
        path = range(j + 1, k + 1) if formula.past else range(k, j)
        if truth(formula.right, told, t, j, unknown) and all(
            truth(formula.left, told, t, i, unknown) for i in path
        ):
            return True
    rest = (truth(formula.left, told, t, i, unknown) for i in range(k, len(t)))
    return goes_on and unknown and all(rest)


def sentence(rng, depth=3, step=0.1, longest=8, names=("x", "y")):
    """A sentence at random over plain signals: intervals of whole steps."""
    if depth == 0 or rng.random() < 0.15:
        name, sign = rng.choice(names), rng.choice(["<", "<=", ">", ">="])
        return f"{name} {sign} {rng.integers(-8, 9) / 8}"
    inner = lambda: f"({sentence(rng, depth - 1, step, longest, names)})"
    kind = rng.choice("always eventually historically once not and or implies until since".split())
    if kind in ("and", "or", "implies"):
        return f"{inner()} {kind} {inner()}"
    if kind == "not":
        return f"not {inner()}"
    ends = np.sort(rng.integers(0, longest, 2)) * step
    bounded = rng.random() < 0.8
    interval = f"[{ends[0]:.4g} s, {ends[1]:.4g} s]" if bounded else ""
    if kind in ("until", "since"):
        return f"{inner()} {kind}{interval} {inner()}"
    return f"{kind}{interval} {inner()}"
