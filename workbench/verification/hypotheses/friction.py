"""Hypotheses about friction: it increases with speed, or takes only power together with its own storage.

A static law f_f(v) is met in the ledger as −Δẋ (f_fr − f_f), which is ≤ 0 where f_f increases between the true and the
required speed. A law with bristles or a film stores energy of its own, and an observer of the same law runs beside it.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from workbench.contract.system import innermost
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption


def friction(run):
    """Each cylinder's friction increasing (interval slope ≥ 0) over the speeds of the run; laws with memory by their storage."""
    plant = run.loop.plant
    law = innermost(run.loop.controller)
    for label, c, known in zip(plant.labels, plant.cylinders, law.model.cylinders):
        q = run.balance.quantities
        yield rubbing(run, label, c.friction, known.friction, q[f"ẋ {label}"], q[f"Δẋ {label}"])


def rubbing(run, label, law, known, v, Δv) -> Assumption:
    """Friction of one cylinder increases up to the speeds v and the required v + Δv; its controller knows the law `known`."""
    top = float(np.abs(v).max())
    if law.states(""):
        return passive(run, label, law, known, top)
    # The part −Δẋ(f_fr − f_f) looks at the law between true and required speed.
    top = max(top, float(np.abs(v + Δv).max()))
    slope = float(law.slope(max(top, 1e-9))[0])
    return Assumption(
        f"friction of cylinder {label} ({type(law).__name__}) increasing",
        slope >= 0,
        slope,
        "N s/m",
        f"slope ≥ {slope:.4g} N s/m up to {top:.3g} m/s",
        "interval bound of the law",
        terms=rubs(label),
    )


def rubs(label: str) -> tuple[str, ...]:
    """The friction term of the cylinder or rod called `label`."""
    return tuple(
        term(component, "friction")
        for component in (f"actuator {label}", f"rod {label}", "cylinder")
    )


def passive(run, label, law, known, top: float) -> Assumption:
    """With its storage counted, friction with memory takes power: same law observed, speeds small, states in its domain."""
    what = f"friction of cylinder {label} ({type(law).__name__}) passive with its own storage"
    limit = law.power_limit()
    source = "storage ½σ_0(ẑ − z)², and of the film"
    z = [run.log.array(s.name) for s in law.states(label)]
    room = min((float(np.min(margin)) for margin in law.domain(z)), default=0.0)
    words = f"speeds up to {top:.3g} m/s, passive up to {limit:.3g} m/s"
    if known != law:
        return Assumption(
            what,
            None,
            None,
            "",
            f"not proved: the model has {_told(known, law)}",
            source,
            rubs(label),
        )
    if room < 0:
        return Assumption(
            what,
            None,
            None,
            "",
            f"not proved: a bristle deflection is {1e6 * -room:.3g} µm beyond F_s/σ_0",
            source,
            rubs(label),
        )
    if top <= limit:
        return Assumption(what, True, limit - top, "m/s", words, source, rubs(label))
    # The limit is sufficient; the quadratic form itself fails where |v| > 4 (σ_1 + b) g(v)/σ_1², with g at its largest.
    fails = top > law.quadratic_limit() * law.grip(top, [0.0, 0.0]) / law.F_c
    return Assumption(
        what, False if fails else None, limit - top, "m/s", words, source, rubs(label)
    )


def _told(known, law) -> str:
    if type(known) is not type(law):
        return type(known).__name__
    pairs = [(f.name, getattr(known, f.name), getattr(law, f.name)) for f in fields(law)]
    return ", ".join(f"{name} = {own:g}" for name, own, true in pairs if own != true)
