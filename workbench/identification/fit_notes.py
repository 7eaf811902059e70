"""What is said of a fit: numbers derived from it, ends of its bounds, warnings."""

from __future__ import annotations

import numpy as np

from workbench.identification.delays import widened
from workbench.identification.descent import Task
from workbench.identification.uncertainty import estimates, lag_estimates

SLOW = 0.01  # share of a turn of e over the whole record: a pole so slow looks like an integrator


def _derived(shapes, channels, C, freedom, delays):
    """Σλ and single lags of each channel, and words about those that are not identifiable."""
    found = []
    notes = []
    at = 0
    for s, c in zip(shapes, channels):
        first = at + s.zeros + 1
        n = s.lags
        at += s.size
        if n == 0:
            continue
        own = C[first : first + n, first : first + n]
        total = estimates([f"Σλ_{s.input}"], [c.lag], ["s"], own[:1, :1], freedom)[0]
        first_lag = f"a_1_{s.input}"
        along = {i: {total.name: v[first_lag], "closed": v["closed"]} for i, v in delays.items()}
        total = widened([total], along)[0]
        single = lag_estimates(s.input, np.array(c.a), own, freedom) if n > 1 else ()
        found += [total, *single]
        if any(not e.identified for e in single):
            half = (total.high - total.low) / 2
            known = (
                f"their sum is: Σλ = {total.value:.4g} ± {half:.2g} s"
                if total.identified
                else "nor is their sum"
            )
            lags = ", ".join(f"λ_{i}" for i in range(1, n + 1))
            notes.append(
                f"{lags} of {s.input} cannot be told apart from these signals (not identifiable one by one); {known}"
            )
    return tuple(found), notes


def _at_edge(undamped, vanished) -> list[str]:
    stopped = [
        f"{name}: the search was stopped by the edge of stability, {where}. There is no minimum, and the intervals do not "
        "count. Try another order, integrators or another start; if the plant itself is unstable, allow it "
        "(Shape(stable=False), --unstable)"
        for name, where in undamped.items()
    ]
    return stopped + [
        f"{name}: {where}, shorter than these samples show. The order is too high, or the search began too far away"
        for name, where in vanished.items()
    ]


def _warnings(task: Task, channels, result, found) -> list[str]:
    notes = []
    if result.status <= 0:
        notes.append("the search did not converge; take the numbers with care")
    vague = [e.name for e in found if not e.identified]
    if vague:
        notes.append(f"not identified (interval wider than the value): {', '.join(vague)}")
    for c in channels:
        if not c.stable:
            notes.append(f"the channel of {c.input} is unstable")
        seen = [r for r in task.records if c.input in r.input_names]
        T = max(r.T for r in seen)
        length = max(r.t[-1] - r.t[0] for r in seen)
        if c.a and c.stable and not c.poles[0].imag and -c.poles[0].real * length < SLOW:
            notes.append(
                f"{c.input}: a pole at {c.poles[0].real:.2g} 1/s is too slow for {length:.3g} s of record to tell it from "
                "an integrator: count it as one (integrators=1, --integrator), or record longer"
            )
        if c.a and abs(c.lag) < 0.1 * T:
            notes.append(
                f"the lag of {c.input} is far below the sample time; sample faster to see it"
            )
    return notes
