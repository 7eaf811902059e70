"""A metered section in the dissipation ledger; equations in `metered_section`.

    v̇_p = −D_p − Δẋ (f_cr − f_c) + Σ d

Perturbations d: "friction" and "model" as behind a servo valve; (Δf/k_m + B Δẋ) times the differences of successive speeds on
the way from ṙ_r, which the certificate requires, to the true ṙ (`Rod.ladder`); and −Δẋ (f_Kr + τ ḟ_Kr − f_pr), which is not zero
where the law is held or has other parameters: part of "hold" and "parameters".
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from controllers.vdc.drives.metered_drive import Metering, settling
from controllers.vdc.drives.observed_friction import account
from controllers.vdc.part import Given
from plants.drives.metering import NO_PUMP
from plants.valve_circuits.inverse import MOST, velocity, whole
from workbench.verification import hypotheses as common
from workbench.verification.ledger.balance import Entry
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption


def of_rod(part, drive: Metering, given: Given) -> Given:
    """`given` with forces and speeds of the rod in place of those along the drive's line, by the gear i = rod per line.

    What the law computed is converted by the gear of the law's own model.
    """
    i = drive.i
    known = part.drive.i
    return given._replace(
        v=i * given.v,
        v_r=i * given.v_r,
        own_f_cr=given.own_f_cr / known,
        f_fr=given.f_fr / known,
        own_f_fr=given.own_f_fr / known,
        f_cr=given.f_cr / i,
        f_c=given.f_c / i,
    )


class Rod(NamedTuple):
    """One section at one state, true values: K, B of the oil, f_K, Δf, Δẋ; the law's k_f.

    required: ṙ_r as the law computes it. ladder: (name, speed ṙ) from the speed that the certificate requires to the true one;
    `name` is the perturbation by which the next speed differs from this one.
    """

    K: Any
    B: Any
    f_K: Any
    Δf: Any
    Δx: Any
    k_f: Any
    required: Any
    ladder: list


def rod(part, drive: Metering, given: Given) -> Rod:
    """See `Rod`; given: as `of_rod` returns it."""
    K = drive.stiffness
    B = drive.damping
    known = part.drive.stiffness
    f_K = drive.spring(given.x, given.s)
    f_Kr = given.ẑ[-1]
    wanted = lambda rate, K: part.wanted(given.v, given.v_r, f_K, f_Kr, rate[-1], K)
    required = wanted(given.ẑ_law, known)
    own = part.opened(drive, required, given.v, f_K, given.asked)
    P = given.asked.p_s - given.asked.p_r
    held = f_K - B * given.v
    section = whole(drive)
    moved = lambda u: velocity(section, u, NO_PUMP, B, held, P)
    commands = [own.u, *given.steps.values(), np.clip(given.u, -1.0, 1.0)]
    names = [*given.steps, "saturation", "pump"]
    true = drive.at_work(given.x, given.s, given.v / drive.i, [given.u], given.line).speed
    return Rod(
        K=K,
        B=B,
        f_K=f_K,
        Δf=f_Kr - f_K,
        Δx=given.v_r - given.v,
        k_f=part.Kk_f / known,
        required=required,
        ladder=[
            ("hold", wanted(given.ẑ_flow, K)),
            ("parameters", wanted(given.ẑ_own, K)),
            ("parameters", wanted(given.ẑ_law, K)),
            ("valve inverse", required),
            *zip(names, map(moved, commands)),
            ("", true),
        ],
    )


def entry(part, drive: Metering, given: Given) -> Entry:
    """The section's row of the ledger."""
    given = of_rod(part, drive, given)
    own = rod(part, drive, given)
    K = own.K
    B = own.B
    Δf = own.Δf
    Δx = own.Δx
    k_f = own.k_f
    k_m = part.k_m
    flow = given.ẑ_flow[-1]
    rate = given.ẑ_law[-1]
    weight = Δf / k_m + B * Δx
    d: dict = {}
    for (name, a), (_, b) in zip(own.ladder[:-1], own.ladder[1:]):
        d[name] = d.get(name, 0.0) + weight * (a - b)
    by_model = given.ẑ_own[-1]
    d["hold"] = d["hold"] - Δx * B / K * (flow - by_model)
    d["parameters"] = d["parameters"] - Δx * B / K * (by_model - rate)
    d["parameters"] = d["parameters"] - Δx * (B / K - settling(part.drive)) * rate
    d["model"] = Δx * given.erring
    storage, friction = rubs(drive, given, Δx)
    for name, value in friction.items():
        d[name] = d.get(name, 0.0) + value
    D = k_f / k_m * (1.0 - B * k_f / 4.0) * Δf**2 + B * k_m * (Δx + 0.5 * k_f / k_m * Δf) ** 2
    stored = Δf**2 / (2 * K * k_m) + storage
    return Entry(
        part.label,
        f"actuator {part.label}",
        stored,
        D,
        {given.cut: -Δx * (given.f_cr - given.f_c)},
        d,
        _size(part, drive, given, own) + D + storage,
    )


def rubs(drive: Metering, given: Given, Δx) -> tuple:
    """(storage, perturbations) of friction; the law's memory ends with what is required of the oil's spring."""
    return account(
        drive.friction,
        given.f_fr,
        drive.rubbing(given.x, given.v),
        Δx,
        given.v,
        list(given.x[1:]),
        list(given.ẑ[:-1]),
        given.ẑ_law[:-1],
        given.ẑ_flow[:-1],
        given.ẑ_own[:-1],
    )


def _size(part, drive, given: Given, own: Rod):
    """Magnitudes of all terms before subtraction, W."""
    flow = given.ẑ_flow[-1]
    rate = given.ẑ_law[-1]
    weight = np.abs(own.Δf) / part.k_m + own.B * np.abs(own.Δx)
    forces = np.abs(given.ẑ[-1]) + np.abs(own.f_K)
    speeds = sum(np.abs(speed) for _, speed in own.ladder)
    size = weight * (
        speeds + (np.abs(flow) + np.abs(rate)) / own.K + own.k_f * forces + np.abs(given.v)
    )
    others = (
        given.f_cr,
        given.own_f_cr,
        given.f_c,
        given.f_fr,
        given.own_f_fr,
        drive.rubbing(given.x, given.v),
    )
    moved = own.B * (np.abs(own.ladder[-1][1]) + np.abs(given.v))
    size = size + np.abs(own.Δx) * own.B / own.K * (np.abs(flow) + np.abs(rate))
    return size + np.abs(own.Δx) * (forces + sum(np.abs(f) for f in others) + moved)


def shown(part, drive: Metering, given: Given) -> dict:
    """Quantities that hypotheses look at."""
    given = of_rod(part, drive, given)
    own = rod(part, drive, given)
    o = part.opened(drive, own.required, given.v, own.f_K, given.asked)
    inside = np.minimum(np.minimum(o.fed, o.P_iM - o.fed), o.P_oM - o.drained)
    low, high = drive.range
    values = {
        "undamped": rubs(drive, given, own.Δx)[0],
        "Δf": own.Δf,
        "Δẋ": own.Δx,
        "ẋ": given.v,
        "x": given.s - low,
        "room": high - given.s,
        "lever": given.lever,
        "command": given.u,
        "inverse": o.u,
        "push": o.push / o.A,
        "inside": inside,
    }
    return {f"{name} {part.label}": value for name, value in values.items()}


def hypotheses(part, run, drive: Metering):
    """Friction, stroke, damping of the oil, openings and pressure enough."""
    q = run.balance.quantities
    t = run.balance.t
    k = part.label
    known = part.drive.friction
    law = drive.friction
    yield common.rubbing(run, k, law, known, q[f"ẋ {k}"], q[f"Δẋ {k}"])
    if drive.range[1] < inf:
        yield common.stroke(run, k)
    most = part.Kk_f * drive.damping / part.drive.stiffness
    yield Assumption(
        f"B k_f ≤ 4 for {k}", bool(most <= 4.0), float(4.0 - most), "1", f"{most:.3g}", "D_p ≥ 0"
    )
    u = np.abs(q[f"inverse {k}"])
    i = int(np.argmax(u))
    asked = "no opening does it" if u[i] >= MOST else f"asks for {u[i]:.3g}"
    component = f"actuator {k}"
    yield Assumption(
        f"valve {k} within ±1",
        bool(u[i] <= 1.0),
        float(1.0 - u[i]),
        "1",
        f"{asked} at t = {t[i]:.2f} s",
        "an opening that gives ṙ_r",
        (term(component, "saturation"), term(component, "valve inverse")),
    )
    for text, name, why, perturbation in (
        (f"pump's pressure moves {k} as required", "push", "A P − F > 0", "pump"),
        (
            f"no relief or check carries {k}",
            "inside",
            "both orifices in series carry it",
            "valve inverse",
        ),
    ):
        margin = q[f"{name} {k}"]
        i = int(np.argmin(margin))
        yield Assumption(
            text,
            bool(margin[i] > 0),
            float(margin[i]),
            "Pa",
            f"{margin[i] / 1e5:.3g} bar left at t = {t[i]:.2f} s",
            why,
            (term(component, perturbation),),
        )
