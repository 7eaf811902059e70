"""Hypotheses about valves and their supply: invertible (89), without lag, fed by a pump that gives what they take."""

from __future__ import annotations

import numpy as np

from workbench.contract.wrappers import Saturated
from workbench.verification.hypotheses.signal_path import wrappers
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption


def valves(run):
    """Valves invertible: both denominators of (89) positive and |u| ≤ u_max; this replaces Assumption 5 (sufficient only)."""
    for label, c in zip(run.loop.plant.labels, run.loop.plant.cylinders):
        yield valve(run, label, c)


def valve(run, label: str, cylinder) -> Assumption:
    """The valve of one cylinder is invertible within its range: both denominators of (89) positive, |u| ≤ u_max."""
    q = run.balance.quantities
    u_max = cylinder.valve.u_max
    low = np.minimum(q[f"D₊ {label}"], q[f"D₋ {label}"])
    share = low / max(float(np.median(low)), 1e-300)
    u = np.abs(q[f"inverse {label}"])
    own = [min(-w.low, w.high) for w in wrappers(run.loop.controller) if isinstance(w, Saturated)]
    most = min([u_max, *own])
    k = int(np.argmin(low))
    m = int(np.argmax(u))
    return Assumption(
        f"valve {label} invertible within ±{most:g} V",
        bool(low[k] > 0 and u[m] <= most),
        float(most - u[m]),
        "V",
        f"|u| ≤ {u[m]:.3g} V (t = {run.balance.t[m]:.2f} s), "
        f"denominators ≥ {100 * share[k]:.3g} % of their median",
        "[Petrovic22] (89), in place of Assumption 5",
        terms=tuple(term(f"actuator {label}", name) for name in ("valve inverse", "saturation")),
    )


def supply(run):
    """The pump delivers what all valves take."""
    yield pump_flow(run, run.loop.plant.Q_max)


def pump_flow(run, most: float) -> Assumption:
    """Flow of all valves against the pump's largest, m³/s."""
    Q = run.balance.quantities["pump flow"]
    k = int(np.argmax(Q))
    return Assumption(
        "pump flow ≥ Σ Q",
        bool(Q[k] <= most),
        float(most - Q[k]),
        "m^3/s",
        f"{6e4 * Q[k]:.3g} of {6e4 * most:.3g} l/min at t = {run.balance.t[k]:.2f} s",
        "constant supply pressure (82), (83)",
    )


def unlagged(which, of: str = "") -> Assumption:
    """None of the valves `which` has lag; of several that have one the first is told. `of`: whose valves, in words."""
    lagged = [valve for valve in which if valve.lag != "ideal"]
    worst = ""
    if lagged:
        order = "1" if lagged[0].lag == "first" else "2"
        worst = f"spool of order {order} at {lagged[0].frequency:g} Hz"
    return Assumption(
        f"valves without lag{of}",
        not lagged,
        None,
        "",
        worst,
        "(82), (83) are static",
        terms=("valve",),
    )
