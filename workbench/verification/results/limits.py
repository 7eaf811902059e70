"""What a run had as limits, and how long it was at them."""

from __future__ import annotations

import numpy as np

from workbench.contract.capabilities import Predictive
from workbench.contract.system import names
from workbench.verification.results.model import law_of
from workbench.verification.run import Run


def limits(run: Run) -> list[dict]:
    """Everything that has a limit: {name, unit, kind ("command", "slew", "output"), soft, t, value, low, high, active (N,),
    share}; active within a billionth of a command's range, a millionth of another's."""
    law = law_of(run.loop)
    log = run.log
    found = []
    T = float(run.loop.period or 0.0)
    each_sample = T and len(log.time) > 1 and abs(log.time[1] - log.time[0] - T) < 1e-9 * T

    def add(*given, soft=False):
        found.append(_limit(log.time, *given, soft))

    free = [np.inf] * len(run.loop.controller.commands)
    slews = law.each("slew") if isinstance(law, Predictive) else free
    for (name, (low, high)), slew in zip(_command_limits(run, law).items(), slews):
        unit = log.signal(name).unit
        u = log.array(name)
        if np.isfinite(low) or np.isfinite(high):
            add(name, unit, "command", u, low, high)
        if np.isfinite(slew) and each_sample:
            add(name, f"{unit}/s", "slew", np.diff(u, prepend=u[0]) / T, -slew, slew)
    for limit in law.limits:
        if limit.name in log:
            low = -np.inf if limit.low is None else limit.low
            high = np.inf if limit.high is None else limit.high
            unit = log.signal(limit.name).unit
            y = log.array(limit.name)
            add(limit.name, unit, "output", y, low, high, soft=limit.soft)
    return found


def _limit(t, name, unit, kind, value, low, high, soft: bool) -> dict:
    """One limit along the run, and where it is active."""
    ends = [abs(v) for v in (low, high) if np.isfinite(v)]
    size = high - low if np.isfinite(high - low) else max(ends)
    near = (1e-9 if kind == "command" else 1e-6) * size
    active = (value >= high - near) | (value <= low + near)
    return {
        "name": name,
        "unit": unit,
        "kind": kind,
        "soft": soft,
        "t": t,
        "value": value,
        "low": float(low),
        "high": float(high),
        "active": active,
        "share": float(np.mean(active)),
    }


def _command_limits(run, law) -> dict[str, tuple[float, float]]:
    """Range of every command: the plant's, narrowed by wrappers and the law's own limits."""
    from workbench.verification.observed.shares import command_limits

    outer = command_limits(run.loop)
    own = names(run.loop.controller.commands)
    if isinstance(law, Predictive):
        low = law.each("u_min")
        high = law.each("u_max")
    else:
        most = law.u_max if isinstance(law.u_max, (int, float)) else np.inf
        low = [-most] * len(own)
        high = [most] * len(own)
    ranges = {}
    for name, a, b in zip(own, low, high):
        c, d = outer.get(name, (-np.inf, np.inf))
        ranges[name] = (max(float(a), c), min(float(b), d))
    return ranges
