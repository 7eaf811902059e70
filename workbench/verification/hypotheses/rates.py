"""Rates at which the accompanying function v falls, in 1/s: of the bodies, of the actuators, and over the poses of a run.

Body A with K_A ≻ 0 gives v̇_A ≤ −c_A v_A where K_A + K_Aᵀ − c_A M_A ⪰ 0; an actuator's Δf²/(2βk_x) falls at 2βk_f. The
smallest of them is the rate that (99) states for the whole machine.
"""

from __future__ import annotations

import numpy as np

from workbench.contract.system import innermost
from workbench.verification.hypotheses.friction import friction
from workbench.verification.ledger.rates import body_rates, reduced_rate
from workbench.verification.verdict import Assumption


def force_rate(law, plant) -> float:
    """Rate of Δf²/(2βk_x), 1/s: 2βk_f with the true β."""
    return 2 * min(law.βk_f) * plant.oil.β / law.model.oil.β


def gains(law, plant, c_f, k_x):
    """Positive gains: K_A ≻ 0 for every body, k_x, k_f > 0; with the rate they give beside c_f, the actuators' own."""
    yield positive_gains(body_rates(law, plant), c_f, k_x)


def positive_gains(rates, c_f: float, k_x) -> Assumption:
    """K_A ≻ 0 and k_x > 0. rates: body → (rate in 1/s, whether exact arithmetic confirms it); c_f: rate of the actuators, 1/s."""
    low = min(rates, key=lambda k: rates[k][0])
    c, exact = rates[low]
    c_body = min(c, c_f)
    return Assumption(
        "K_A ≻ 0 for every body, and k_x, k_f > 0",
        c > 0 and exact and min(k_x, default=1.0) > 0,
        c_body,
        "1/s",
        f"{low}: rate c = {c_body:.3g} 1/s" + ("" if exact else ", not confirmed exactly"),
        "rational LDLᵀ of K_A + K_Aᵀ − c M_A",
    )


def rate_left(run, points: int = 12) -> float:
    """Reduced rate over the run's poses (1/s) with what falling friction takes; 0 when nothing is proved to be left."""
    law = innermost(run.loop.controller)
    plant = run.loop.plant
    found = list(friction(run))
    μ = []
    for a, c in zip(found, plant.cylinders):
        if c.friction.states(""):
            μ.append(0.0 if a.holds else np.inf)
        else:
            μ.append(np.inf if a.margin is None else max(-a.margin, 0.0))
    if not np.isfinite(μ).all():
        return 0.0
    picks = _poses(run, plant, points)
    return min([force_rate(law, plant), *(reduced_rate(law, plant, row, μ) for row in picks)])


def _poses(run, plant, points: int) -> np.ndarray:
    """Positions of the plant at some instants of the run, spread evenly."""
    q = np.column_stack([run.log.array(name) for name in plant.position_names])
    return q[np.linspace(0, len(q) - 1, points).astype(int)]


def manipulator_rates(run) -> tuple[float, float]:
    """(rate from the bodies and actuators alone, reduced rate over the run's poses), 1/s; the reduced one only for a base at
    rest."""
    law = innermost(run.loop.controller)
    plant = run.loop.plant
    return rates_along(run, law, plant, force_rate(law, plant))


def rates_along(run, law, plant, c_f, points: int = 12) -> tuple[float, float]:
    """(rate of bodies and actuators, reduced rate over the poses of the run), 1/s, of a law whose actuators decay at c_f."""
    own = min([c for c, _ in body_rates(law, plant).values()] + [c_f])
    if any(n.startswith(("V_b", "ω_b")) for n in run.scenario.disturbances):
        return own, own
    picks = _poses(run, plant, points)
    return own, max(own, min([c_f, *(reduced_rate(law, plant, row) for row in picks)]))
