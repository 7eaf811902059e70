"""A throttled circuit in the dissipation ledger; equations in `controllers.vdc.throttled`.

Its row is that of `controllers.force_row`. Parts of u_fr − u_f, each an opening that has lasted: "valve inverse", the steps of the
command by name, "saturation", "spool" (its lag), "throttle" (oil between valve and throttle).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controllers import force_row
from controllers.force_row import ForceRow
from controllers.observed_friction import account
from controllers.vdc.part import Given
from controllers.vdc.throttled import ThrottledPart, pushed
from plants.components.circuit import KEPT, ThrottledCircuit
from plants.components.circuit_inverse import drift, gains, invert, passed, slopes
from workbench.verification import hypotheses as common
from workbench.verification.ledger import Entry
from workbench.verification.measured import term
from workbench.verification.verdict import Assumption


class Side(NamedTuple):
    """One circuit at one state, true values: p_2 and p_3, f_p, friction, Δf, Δṡ, u_fr with U for it, ladder of u_f."""

    p: tuple
    f_p: Any
    f_f: Any
    Δf: Any
    Δx: Any
    u_fr: Any
    U: Any
    ladder: list


def side(part: ThrottledPart, circuit: ThrottledCircuit, given: Given) -> Side:
    """See `Side`."""
    _, p_2, p_3, spool = given.x[:KEPT]
    p, s = (p_2, p_3), given.s
    f_p = pushed(circuit, *p)
    u_fr = part.wanted(circuit, s, given.v, given.v_r, p, given.f_pr, given.f_pr_rate)
    U, most = invert(circuit, s, *p, u_fr), circuit.limit
    volts = (*given.steps.values(), np.clip(given.u, -most, most), spool)
    names = ("valve inverse", *given.steps, "saturation", "spool", "throttle", "")
    (g_2, g_3), Q = gains(circuit, s), circuit.flows(given.x)
    flows = [
        u_fr,
        *(passed(circuit, s, *p, volt) for volt in (U, *volts)),
        g_2 * Q.throttle + g_3 * Q.out_3,
    ]
    f_f = circuit.rubbing(given.x, given.v)
    Δx = given.v_r - given.v
    return Side(p, f_p, f_f, given.f_pr - f_p, Δx, u_fr, U, list(zip(names, flows)))


def rubs(circuit: ThrottledCircuit, given: Given, own: Side) -> tuple:
    """(storage, perturbations) of friction."""
    bristles = list(given.x[KEPT:])
    return account(
        circuit.friction,
        given.f_fr,
        own.f_f,
        own.Δx,
        given.v,
        bristles,
        given.ẑ,
        given.ẑ_law,
        given.ẑ_flow,
    )


def entry(part: ThrottledPart, circuit: ThrottledCircuit, given: Given) -> Entry:
    """The circuit's row of the ledger."""
    own = side(part, circuit, given)
    moving = np.abs(drift(circuit, given.s, given.v))
    return force_row.entry(
        ForceRow(
            part.label,
            part.label,
            given.cut,
            circuit.B_oil,
            part.k_x,
            part.βk_f / part.drive.B_oil,
            own.Δf,
            own.Δx,
            given.f_cr,
            given.own_f_cr,
            given.f_c,
            own.ladder,
            rubs(circuit, given, own),
            (given.f_pr, own.f_p, given.f_fr, own.f_f),
            np.abs(given.f_pr_rate) / circuit.B_oil + moving,
        )
    )


def shown(part: ThrottledPart, circuit: ThrottledCircuit, given: Given) -> dict:
    """Quantities that hypotheses look at."""
    own = side(part, circuit, given)
    low, high = circuit.range
    out, back = slopes(circuit, given.s, *own.p)
    values = {
        "undamped": rubs(circuit, given, own)[0],
        "Δf": own.Δf,
        "Δẋ": own.Δx,
        "u_fr": own.u_fr,
        "opening": np.minimum(sum(out), sum(back)),
        "lever": given.lever,
        "x": given.s - low,
        "room": high - given.s,
        "ẋ": given.v,
        "command": given.u,
        "inverse": own.U,
    }
    return {f"{name} {part.label}": value for name, value in values.items()}


def hypotheses(part: ThrottledPart, run, circuit: ThrottledCircuit):
    """Friction, stroke, an opening that the valve has, a spool without lag, no oil between valve and throttle."""
    q, k, v = run.balance.quantities, part.label, run.balance.quantities[f"ẋ {part.label}"]
    yield common.rubbing(run, k, circuit.friction, part.drive.friction, v, q[f"Δẋ {k}"])
    yield common.stroke(run, k)
    yield rising(run, k)
    yield within(run, k, circuit.limit)
    yield Assumption(
        f"valve of {k} without lag",
        False,
        None,
        "",
        f"spool with τ = {1e3 * circuit.τ:.3g} ms",
        "u_f at the opening asked for",
        (term(f"actuator {k}", "spool"),),
    )
    yield Assumption(
        f"no oil between valve and throttle of {k}",
        False,
        None,
        "",
        f"{1e6 * circuit.V_h1:.3g} ml",
        "both carry the same flow",
        (term(f"actuator {k}", "throttle"),),
    )


def rising(run, k: str) -> Assumption:
    """u_f rises with the opening, m²/s for each m³/s of C_vd U."""
    slope = run.balance.quantities[f"opening {k}"]
    i = int(np.argmin(slope))
    return Assumption(
        f"u_f of {k} rises with the opening",
        bool(slope[i] > 0),
        float(slope[i]),
        "Pa^0.5/m",
        f"{slope[i]:.3g} √Pa/m at t = {run.balance.t[i]:.2f} s",
        "an inverse of valve and throttle",
    )


def within(run, k: str, most: float) -> Assumption:
    """The opening that is required is one that the valve has."""
    volts = np.abs(run.balance.quantities[f"inverse {k}"])
    i = int(np.argmax(volts))
    return Assumption(
        f"required opening of {k} within ±{most:g} V",
        bool(volts[i] <= most),
        float(most - volts[i]),
        "V",
        f"{volts[i]:.3g} V at t = {run.balance.t[i]:.2f} s",
        "an inverse of valve and throttle",
        tuple(term(f"actuator {k}", name) for name in ("valve inverse", "saturation")),
    )
