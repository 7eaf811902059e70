"""What a certificate asks of a supply pressure that is a state: see `plants.crane.on_pump` and `plants.supplies`.

The balance of v is that of a constant supply: ḟ_p = β(u_f − hẋ − ℓ) with u_f = D₊ o⁺ + D₋ o⁻; p_s enters by D± alone, and the
valve's inverse takes it as it is at that instant. So (99) asks of the pump only that the valves stay invertible, and that the law
is told. The pump's own motion, like the chambers' common mode, is outside v: it is bounded apart.

One spool opens both sides of a cylinder: what empties one chamber must fill the other. At a speed and a piston force f_p, steadily,

    sinking   A_a ẋ = c_n1 √(p_a − p_r) o,  A_b ẋ = c_p2 √(p_s − p_b) o   ⇒   p_s − p_b = ρ² (p_a − p_r),  ρ = A_b c_n1/(A_a c_p2)
    rising    A_a ẋ = c_p1 √(p_s − p_a) o,  A_b ẋ = c_n2 √(p_b − p_r) o   ⇒   p_s − p_a = σ² (p_b − p_r),  σ = A_a c_n2/(A_b c_p1)

which with f_p = A_a p_a − A_b p_b gives the pressure at which the chamber that fills comes to rest. Where that is negative, the
load runs away from the oil, which cavitates (a model without air lets the pressure fall below zero instead). What mends it is a
supply that stays higher, a narrower outlet, or valves that let oil in from the return line.

Source: [Petrovic22] (82)–(93) with p_s a signal; [Merritt67] for notches of one spool.
"""

from __future__ import annotations

import numpy as np

from workbench.contract.declared import Notched
from workbench.contract.system import innermost
from workbench.verification.verdict import Assumption

RESTS = 1e-3  # share of the interval of its aim: a supply pressure that stays as near to its end does not move
SEEN = "other loads or paths may ask more of it; run it there"
OPEN = 0.1  # V: what a valve that waits for its pump opens fills nothing


def pump(run):
    """The assumptions on the pump, one by one."""
    yield told(run)
    yield from within(run)
    yield from fills(run)
    # What the law gives up while it waits (`OnMeasuredSupply`) is the ledger's term, which fails this.
    yield Assumption(
        "no valve waits for its pump",
        True,
        None,
        "",
        "",
        "(89): the opening asked for is the one it has",
        terms=("pump",),
    )


def told(run) -> Assumption:
    """Assumption that the law measures the supply pressure, itself or through a wrapper."""
    controller = run.loop.controller
    wrappers = [controller, *_around(controller)]
    measures = set(run.loop.plant.supply_names) <= {s.name for s in controller.measured}
    knows = measures or any(wrapper.supplies for wrapper in wrappers)
    believed = innermost(controller).model
    return Assumption(
        "the law is told the supply pressure",
        knows,
        None,
        "",
        "" if knows else f"it takes it to be {believed.p_s / 1e5:g} bar",
        "(89) at the p_s of the instant",
        terms=("measurement",),
    )


def within(run):
    """Assumption that the supply pressure stays in the interval of its set point, where there is one."""
    plant = run.loop.plant
    if plant.supply_range is None:
        return
    low, high = map(float, plant.supply_range)
    p = np.column_stack([run.log.array(name) for name in plant.supply_names])
    room = float(min(p.min() - low, high - p.max()))
    # A first-order lag never leaves the interval of its aim; rounding of the integrator is no reason to say it did.
    yield Assumption(
        f"supply pressure within {low / 1e5:g} … {high / 1e5:g} bar; the pump itself is outside v",
        room >= -1e-6 * high,
        room,
        "Pa",
        f"{p.min() / 1e5:.3g} … {p.max() / 1e5:.3g} bar on this run",
        "first-order lag of an aim in there",
    )


def unmoved(run) -> tuple[Assumption, ...]:
    """That a pump which regulates its pressure did so on this run, where it stayed at the least or the most that it gives."""
    bounds = run.loop.plant.supply_range
    if bounds is None:
        return ()
    low, high = map(float, bounds)
    p = np.array([run.log.array(name) for name in run.loop.plant.supply_names])
    near = RESTS * (high - low)
    end = next((e for e in (low, high) if (np.abs(p - e) <= near).all()), None)
    if end is None:
        return ()
    word = "least" if end == low else "most"
    seen = f"it stayed at {end / 1e5:.3g} bar, the {word} it gives: its margin and its lag did nothing on this run"
    return (Assumption("the pump's pressure follows the loads", None, None, "", seen, SEEN),)


def fills(run) -> list[Assumption]:
    """Assumptions that the supply fills every pair of chambers behind one spool as fast as one of them is emptied; for any law."""
    log = run.log
    plant = run.loop.plant
    p = [log.array(name) for name in plant.supply_names] or [np.full(len(log.time), plant.p_s)]
    return [filled(run, one, p[i % len(p)]) for i, one in enumerate(plant.notched)]


def _around(controller):
    while controller.inner is not None:
        yield controller
        controller = controller.inner


def steady(c, o, f_p, p_s, p_r):
    """Pressure at which the chamber that opening o fills comes to rest, Pa; p_s where the valve is shut."""
    v = c.valve
    A_a = c.A_a
    A_b = c.A_b
    ρρ = (A_b * v.c_n1 / (A_a * v.c_p2)) ** 2
    σσ = (A_a * v.c_n2 / (A_b * v.c_p1)) ** 2
    p_a = (f_p + A_b * (p_s + ρρ * p_r)) / (A_a + A_b * ρρ)
    p_b = (A_a * (p_s + σσ * p_r) - f_p) / (A_b + A_a * σσ)
    return np.where(o < 0, (A_a * p_a - f_p) / A_b, np.where(o > 0, (f_p + A_b * p_b) / A_a, p_s))


def filled(run, one: Notched, p_s) -> Assumption:
    """Assumption that the supply fills the growing chamber wherever the piston moves to the side that its valve is open to."""
    log = run.log
    p_r = _return(run.loop.plant)
    chambers = one.chambers
    valve = chambers.valve
    if one.spool:
        at = log.array(one.spool)
    else:
        at = np.clip(log.array(one.command), -valve.u_max, valve.u_max)
    o = valve.opening(at)
    force = log.array(one.force)
    along = (np.abs(o) > OPEN) & (o * log.array(one.speed) > 0)
    p = steady(chambers, np.where(along, o, 0.0), force, p_s, p_r)
    i = int(np.argmin(p))
    short = float(np.mean(p < 0))
    side = "b" if o[i] < 0 else "a"

    def rests_at(more):
        return float(steady(chambers, o[i], force[i], p_s[i] + more, p_r))

    need = ""
    if short:
        # Linear in the supply pressure.
        lacks = -rests_at(0.0) / (rests_at(1e5) - rests_at(0.0)) * 1e5
        need = f", not the {(p_s[i] + lacks) / 1e5:.3g} bar it needs; so for {100 * short:.2g} % of the time"
    return Assumption(
        f"supply fills cylinder {one.label} as fast as it empties",
        bool(p[i] >= 0),
        float(p[i]),
        "Pa",
        f"chamber {side} would come to rest at {p[i] / 1e5:.3g} bar, t = {log.time[i]:.2f} s, "
        f"supply {p_s[i] / 1e5:.3g} bar{need}",
        "notches of one spool, steady flow",
    )


def _return(plant) -> float:
    """Pressure of the return line, Pa, which is a number on every pump."""
    return plant.p_r if plant.p_r is not None else plant.mechanism.supply.most.p_r
