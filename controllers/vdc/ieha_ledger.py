"""An integrated electro-hydraulic actuator in the dissipation ledger; equations in `controllers.vdc.ieha`.

Its row is that of `controllers.force_row`; perturbations d as of a servo valve (`controllers.servo_valve_ledger`), with the ring's
eccentricity in the place of the voltage.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controllers import force_row
from controllers.force_row import ForceRow
from controllers.observed_friction import account
from controllers.vdc.ieha import gains, pumped
from controllers.vdc.part import Given
from plants.drives.ieha_drive import OWN, IEHADrive
from workbench.verification import hypotheses as common
from workbench.verification.ledger import Entry
from workbench.verification.measured import term
from workbench.verification.verdict import Assumption


class Side(NamedTuple):
    """One actuator at one state, true values: f_p, friction with what is not oil, Δf, Δẋ, u_fr with X for it, ladder of u_f."""

    f_p: Any
    f_f: Any
    Δf: Any
    Δx: Any
    u_fr: Any
    X: Any
    ladder: list


def side(part, drive: IEHADrive, given: Given) -> Side:
    """See `Side`."""
    pressures = given.x[3], given.x[4]
    f_p = part.pushed(drive, pressures)
    wanted = part.wanted(drive, given.s, given.v, given.v_r, pressures, given.f_pr, given.f_pr_rate)
    X = part.ring(drive, given.s, pressures, wanted)
    fed = sum(gains(drive, given.s - drive.middle))
    given_by = lambda E: fed * pumped(drive, E, *pressures)
    made = drive.delivery(0.0, drive.whole(given.x, given.s, given.v))
    most = drive.stop_E.limit
    flows = [
        wanted,
        given_by(X),
        *(given_by(E) for E in given.steps.values()),
        given_by(np.clip(given.u, -most, most)),
        fed * (made.Q_A - made.Q_B),
    ]
    names = ("valve inverse", *given.steps, "saturation", "valve", "")
    Δx = given.v_r - given.v
    ladder = list(zip(names, flows))
    return Side(f_p, f_p - given.f_c, given.f_pr - f_p, Δx, wanted, X, ladder)


def rubs(drive: IEHADrive, given: Given, own: Side) -> tuple:
    """(storage, perturbations) of friction."""
    return account(
        drive.friction,
        given.f_fr,
        own.f_f,
        own.Δx,
        given.v,
        list(given.x[OWN:]),
        given.ẑ,
        given.ẑ_law,
        given.ẑ_flow,
    )


def entry(part, drive: IEHADrive, given: Given) -> Entry:
    """The actuator's row of the ledger."""
    own = side(part, drive, given)
    return force_row.entry(
        ForceRow(
            part.label,
            part.label,
            given.cut,
            drive.oil.β,
            part.k_x,
            part.βk_f / part.drive.oil.β,
            own.Δf,
            own.Δx,
            given.f_cr,
            given.own_f_cr,
            given.f_c,
            own.ladder,
            rubs(drive, given, own),
            (given.f_pr, own.f_p, given.f_fr, own.f_f),
            np.abs(given.f_pr_rate) / drive.oil.β,
        )
    )


def shown(part, drive: IEHADrive, given: Given) -> dict:
    """Quantities that hypotheses look at."""
    own = side(part, drive, given)
    low, high = drive.range
    values = {
        "undamped": rubs(drive, given, own)[0],
        "Δf": own.Δf,
        "Δẋ": own.Δx,
        "u_fr": own.u_fr,
        "lever": given.lever,
        "x": given.s - low,
        "room": high - given.s,
        "ẋ": given.v,
        "command": given.u,
        "inverse": own.X,
    }
    return {f"{name} {part.label}": value for name, value in values.items()}


def hypotheses(part, run, drive: IEHADrive):
    """Friction, stroke, travel of the ring, a ring that is where it is told to be."""
    q, t, k = run.balance.quantities, run.balance.t, part.label
    yield common.rubbing(run, k, drive.friction, part.drive.friction, q[f"ẋ {k}"], q[f"Δẋ {k}"])
    yield common.stroke(run, k)
    X, most = np.abs(q[f"inverse {k}"]), drive.stop_E.limit
    i = int(np.argmax(X))
    yield Assumption(
        f"ring of {k} within ±{1e3 * most:g} mm",
        bool(X[i] <= most),
        float(most - X[i]),
        "m",
        f"{1e3 * X[i]:.3g} mm at t = {t[i]:.2f} s",
        "Q_r of the averaged pump",
        terms=tuple(term(f"actuator {k}", name) for name in ("valve inverse", "saturation")),
    )
    yield Assumption(
        f"ring of {k} without lag or overlap",
        False,
        None,
        "",
        f"a carriage of {drive.m_e:g} kg behind a micro-valve, overlap {1e6 * drive.distributor.E_d:g} µm",
        "X stands for E",
        terms=(term(f"actuator {k}", "valve"),),
    )
