"""The theorem's hypotheses, one by one, each with its margin and where it is worst.

Which ones there are, the law's certificate says (`certificate(plant).hypotheses(run, claim)`), made of the ones below.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from workbench.contract.capabilities import OnSupply
from workbench.contract.parameters import digest
from workbench.contract.system import innermost
from workbench.contract.wrappers import Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.verification.measured import measured, term
from workbench.verification.rates import body_rates, reduced_rate
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption, Verdict


def check_hypotheses(claim, run: Run) -> Verdict:
    """Every hypothesis of Theorem 5 and of what completes it, on this run."""
    stated = innermost(run.loop.controller).certificate(run.loop.plant).hypotheses(run, claim)
    found = measured(run, list(stated))
    met = sum(a.holds is True for a in found)
    missing = "; ".join(
        f"{a.text} ({a.worst})" if a.worst else a.text for a in found if a.holds is not True
    )
    holds = met == len(found)
    return Verdict(
        "hypotheses",
        f"theorem's hypotheses: {met} of {len(found)} met",
        holds if holds else False,
        "sampled",
        worst=f"not met: {missing}" if missing else "all met on this run",
        source="[Petrovic22] Theorem 5, Assumptions 1–5",
        assumptions=tuple(found) if holds else (),
        counted=claim.counted,
        data={"met": met, "of": len(found), "assumptions": [vars(a) for a in found]},
    )


def manipulator(run, claim):
    """All of a manipulator's under virtual decomposition control."""
    law = innermost(run.loop.controller)
    plant = run.loop.plant
    yield from gains(law, plant, force_rate(law, plant), law.k_x)
    yield from (
        *friction(run),
        *geometry(run, claim.lever),
        *valves(run),
        *supply(run),
        *reference(run),
    )
    yield from (*knowledge(run, law), *signal_path(run))


def force_rate(law, plant) -> float:
    """Rate of Δf²/(2βk_x), 1/s: 2βk_f with the true β."""
    return 2 * min(law.βk_f) * plant.oil.β / law.model.oil.β


def gains(law, plant, c_f, k_x):
    """Positive gains: K_A ≻ 0 for every body, k_x, k_f > 0; with the rate they give beside c_f, the actuators' own."""
    yield positive_gains(body_rates(law, plant), c_f, k_x)


def positive_gains(rates, c_f: float, k_x) -> Assumption:
    """That of gains, for rates of the bodies as (1/s, whether confirmed exactly), actuators' c_f and velocity gains k_x."""
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


def friction(run):
    """Each cylinder's friction increasing (interval slope ≥ 0) over the speeds of the run; laws with memory by their storage."""
    plant, law = run.loop.plant, innermost(run.loop.controller)
    for label, c, known in zip(plant.labels, plant.cylinders, law.model.cylinders):
        q = run.balance.quantities
        yield rubbing(run, label, c.friction, known.friction, q[f"ẋ {label}"], q[f"Δẋ {label}"])


def rubbing(run, label, law, known, v, Δv) -> Assumption:
    """That of one cylinder, whose controller knows the law `known`, at speeds v and required speeds v + Δv."""
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
    """A law with memory takes only power with its own storage: an observer of the same law, slow enough, within its domain."""
    what = f"friction of cylinder {label} ({type(law).__name__}) passive with its own storage"
    limit, source = law.power_limit(), "storage ½σ_0(ẑ − z)², and of the film"
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


def proven_lever(segment, low: float, high: float) -> float:
    """A lower bound of |dx/dq| proven for every pose between the two joint angles (intervals through the same text)."""
    from workbench.numerics.intervals import lower_bound

    return lower_bound(lambda q: np.abs(segment.lever(q)), low, high)


def geometry(run, least):
    """Lever arms away from zero, pistons inside their strokes."""
    plant = run.loop.plant
    for label, segment, (low, high) in zip(plant.labels, plant.segments, plant.joint_range()):
        if not segment.slides:
            bound = proven_lever(segment, low, high)
            yield Assumption(
                f"lever arm of cylinder {label} not zero anywhere in its stroke",
                True if bound > 0 else None,
                bound,
                "m",
                f"at least {bound:.3g} m, proven for the whole stroke",
                "sin q_j2 = 0 is a pole of (68)",
            )
    for label, segment in zip(plant.labels, plant.segments):
        if not segment.slides:
            yield lever(run, label, least)
        yield stroke(run, label)


def lever(run, label: str, least: float) -> Assumption:
    """A lever arm away from zero by `least`, m."""
    arm = np.abs(run.balance.quantities[f"lever {label}"])
    k = int(np.argmin(arm))
    return Assumption(
        f"lever arm |dx/dq| of cylinder {label} ≥ {least:g} m",
        bool(arm[k] >= least),
        float(arm[k] - least),
        "m",
        f"{arm[k]:.3g} m at t = {run.balance.t[k]:.2f} s",
        "sin q_j2 = 0 is a pole of (68)",
    )


def stroke(run, label: str) -> Assumption:
    """A piston inside its stroke."""
    q = run.balance.quantities
    room = np.minimum(q[f"x {label}"], q[f"room {label}"])
    k = int(np.argmin(room))
    return Assumption(
        f"piston {label} inside its stroke",
        bool(room[k] > 0),
        float(room[k]),
        "m",
        f"{1e3 * room[k]:.3g} mm left at t = {run.balance.t[k]:.2f} s",
        "[Petrovic22] Assumption 4",
    )


def wrappers(controller) -> list:
    """Everything around the law, from the outside in."""
    found = []
    while controller.inner is not None:
        found.append(controller)
        controller = controller.inner
    return found


def valves(run):
    """Valves invertible: both denominators of (89) positive and |u| ≤ u_max; this replaces Assumption 5 (sufficient only)."""
    for label, c in zip(run.loop.plant.labels, run.loop.plant.cylinders):
        yield valve(run, label, c)


def valve(run, label: str, cylinder) -> Assumption:
    """That of one cylinder's valve."""
    q, u_max = run.balance.quantities, cylinder.valve.u_max
    low = np.minimum(q[f"D₊ {label}"], q[f"D₋ {label}"])
    share = low / max(float(np.median(low)), 1e-300)
    u = np.abs(q[f"inverse {label}"])
    own = [min(-w.low, w.high) for w in wrappers(run.loop.controller) if isinstance(w, Saturated)]
    most = min([u_max, *own])
    k, m = int(np.argmin(low)), int(np.argmax(u))
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


def reference(run):
    """q_d ∈ C² with bounded jerk; where the jerk jumps, ḟ_pr does too."""
    own = run.demand.reference
    if own is None:
        return
    times, jumps = own.jerk_jumps()
    n = len(times)
    yield Assumption(
        "reference in C² with bounded jerk",
        True,
        None,
        "",
        f"jerk jumps at {n} instants, where ḟ_pr is discontinuous" if n else "no jerk jumps",
        "(90)",
    )


def knowledge(run, law):
    """Controller's model = plant, and what the law takes for granted."""
    yield from told(run, law, {"pose": None, "pressures": None, "name": ""})
    lag = [
        label
        for label, c in zip(run.loop.plant.labels, run.loop.plant.cylinders)
        if c.valve.lag != "ideal"
    ]
    yield unlagged(run.loop.plant.cylinders[0].valve, lag)
    moving = any(
        n.startswith(("V_b", "ω_b", "A_b", "α_b", "g_")) for n in run.scenario.disturbances
    )
    yield Assumption(
        "base at rest, or its motion known",
        not moving,
        None,
        "",
        "the law takes the base to be at rest" if moving else "",
        "V_r = V at B_c1",
        terms=("base B_c1", "model"),
    )
    yield wrench(run)


def unlagged(valve, lag, of: str = "") -> Assumption:
    """Valves without lag; `lag`: labels of those that have one, all like `valve`; `of`: whose valves, in words."""
    order = "1" if valve.lag == "first" else "2"
    return Assumption(
        f"valves without lag{of}",
        not lag,
        None,
        "",
        f"spool of order {order} at {valve.frequency:g} Hz" if lag else "",
        "(82), (83) are static",
        terms=("valve",),
    )


def wrench(run) -> Assumption:
    """No force on the tip that the law does not know."""
    tip = any(n.startswith(("f_D", "m_D")) for n in run.scenario.disturbances)
    return Assumption(
        "no unmodelled tip wrench",
        not tip,
        None,
        "",
        "its power enters as −p_D" if tip else "",
        "Definition 4",
        terms=tips(run),
    )


def tips(run) -> tuple[str, ...]:
    """Outer cuts at a tip."""
    return tuple(cut for cut in run.balance.cuts() if cut.startswith("tip "))


def told(run, law, aside):
    """Controller's model = plant, and ḟ_pr exact."""
    yield known(run, law, aside)
    yield Assumption(
        "ḟ_pr exact along the true motion",
        True,
        None,
        "",
        f"formed as {law.derivative!r}",
        "(90)",
        terms=("derivative",),
    )


def known(run, law, aside) -> Assumption:
    """Controller's model = plant; where it starts, `aside`, is no matter."""
    plant = run.loop.plant
    if isinstance(plant, OnSupply):  # the machine on a pump, whose pressure the law is told
        plant, aside = plant.machine, aside | {"p_s": plant.machine.p_s}
    blank = lambda p: digest(replace(p, **aside)) if p.__class__ is plant.__class__ else ""
    same = blank(law.model) == blank(plant)
    d = np.abs(
        sum(
            (
                v
                for (_, _, name), v in run.balance.perturbations.items()
                if name in ("model", "parameters")
            ),
            np.zeros(1),
        )
    )
    return Assumption(
        "the controller's model is the plant",
        same,
        None if same else -float(d.max()),
        "W",
        "" if same else f"model and parameter terms up to {d.max():.3g} W",
        "[Petrovic22] known parameters",
        terms=("parameters", "model"),
    )


def signal_path(run):
    """No hold, delay, filter, noise or quantiser between plant and law."""
    around, T = wrappers(run.loop.controller), run.loop.controller.period
    lag = sum(w.delay for w in around if isinstance(w, Delayed))
    wrong = [
        *("noise" for w in around if isinstance(w, Noisy) and w.σ > 0),
        *("quantised" for w in around if isinstance(w, Quantised)),
        *(f"filter {w.frequency:g} Hz" for w in around if isinstance(w, Filtered)),
    ]
    plain = (Delayed, Filtered, Noisy, Quantised, Sampled, Saturated)
    other = [type(w).__name__ for w in around if not isinstance(w, plain) and not w.supplies]
    yield Assumption(
        "continuous law, no hold",
        T is None,
        None,
        "",
        f"hold {1e3 * T:g} ms" if T else "",
        "Theorem 5",
        terms=("hold",),
    )
    yield Assumption(
        "no delay", lag == 0, None, "", f"delay {1e3 * lag:g} ms" if lag else "", "Theorem 5"
    )
    yield Assumption(
        "true states measured",
        not wrong,
        None,
        "",
        ", ".join(wrong),
        "Theorem 5",
        terms=("measurement",),
    )
    if other:
        yield Assumption(
            "nothing unknown between plant and law",
            None,
            None,
            "",
            ", ".join(other),
            "Theorem 5",
            terms=("measurement", "saturation", "hold"),
        )


def rate_left(run, points: int = 12) -> float:
    """Reduced rate over the run's poses (1/s) with what falling friction takes; 0 when nothing is proved to be left."""
    law, plant = innermost(run.loop.controller), run.loop.plant
    found, μ = list(friction(run)), []
    for a, c in zip(found, plant.cylinders):
        falls = max(-a.margin, 0.0) if a.margin is not None else np.inf
        μ.append(falls if not c.friction.states("") else 0.0 if a.holds else np.inf)
    if not np.isfinite(μ).all():
        return 0.0
    q = np.column_stack([run.log.array(n) for n in plant.joint_names])
    picks = q[np.linspace(0, len(q) - 1, points).astype(int)]
    return min([force_rate(law, plant), *(reduced_rate(law, plant, row, μ) for row in picks)])


def path_rate(run) -> tuple[float, float]:
    """(rate c from the bodies and actuators alone, rate over the run's poses, never smaller), 1/s, as the certificate says."""
    return innermost(run.loop.controller).certificate(run.loop.plant).rates(run)


def manipulator_rates(run) -> tuple[float, float]:
    """(rate from the bodies and actuators alone, reduced rate over the run's poses), 1/s; the reduced one only for a base at
    rest."""
    law, plant = innermost(run.loop.controller), run.loop.plant
    return rates_along(run, law, plant, force_rate(law, plant))


def rates_along(run, law, plant, c_f, points: int = 12) -> tuple[float, float]:
    """The same for a law around the bodies of `plant`, whose actuators decay at c_f."""
    own = min([c for c, _ in body_rates(law, plant).values()] + [c_f])
    if any(n.startswith(("V_b", "ω_b")) for n in run.scenario.disturbances):
        return own, own
    q = np.column_stack([run.log.array(n) for n in plant.joint_names])
    picks = q[np.linspace(0, len(q) - 1, points).astype(int)]
    return own, max(own, min([c_f, *(reduced_rate(law, plant, row) for row in picks)]))
