"""A throttled circuit in the dissipation ledger; equations in `throttled`.

Its row is that of `oil_ledger`. Parts of u_fr − u_f, each an opening that has lasted: "valve inverse", the steps of
the command by name, "saturation", "spool" (its lag), "throttle" (oil between valve and throttle).
"""

from __future__ import annotations

import numpy as np

from controllers.vdc.drives.oil_ledger import Side
from controllers.vdc.part import Given
from plants.components.circuit import KEPT, ThrottledCircuit
from plants.components.circuit_inverse import drift, gains, invert, passed, slopes
from workbench.verification import hypotheses as common
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption


def side(part, circuit: ThrottledCircuit, given: Given) -> Side:
    """The circuit at one state."""
    _, p_2, p_3, spool = given.x[:KEPT]
    p = (p_2, p_3)
    s = given.s
    u_fr = part.wanted(circuit, s, given.v, given.v_r, p, given.f_pr, given.f_pr_rate)
    U = invert(circuit, s, *p, u_fr)
    most = circuit.limit
    volts = (U, *given.steps.values(), np.clip(given.u, -most, most), spool)
    names = ("valve inverse", *given.steps, "saturation", "spool", "throttle", "")
    g_2, g_3 = gains(circuit, s)
    Q = circuit.flows(given.x)
    flows = [
        u_fr,
        *(passed(circuit, s, *p, volt) for volt in volts),
        g_2 * Q.throttle + g_3 * Q.out_3,
    ]
    out, back = slopes(circuit, s, *p)
    return Side(
        f_p=part.pushed(circuit, *p),
        f_f=circuit.rubbing(given.x, given.v),
        bristles=list(given.x[KEPT:]),
        u_fr=u_fr,
        inverse=U,
        ladder=list(zip(names, flows)),
        moving=np.abs(drift(circuit, s, given.v)),
        more={"opening": np.minimum(sum(out), sum(back))},
    )


def hypotheses(part, run, circuit: ThrottledCircuit):
    """Friction, stroke, an opening that the valve has, a spool without lag, no oil between valve and throttle."""
    q = run.balance.quantities
    k = part.label
    v = run.balance.quantities[f"ẋ {part.label}"]
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
