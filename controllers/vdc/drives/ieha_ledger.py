"""An integrated electro-hydraulic actuator in the dissipation ledger; equations in `ieha`.

Its row is that of `oil_ledger`; perturbations d as of a servo valve (`servo_valve_ledger`), with
the ring's eccentricity in the place of the voltage.
"""

from __future__ import annotations

import numpy as np

from controllers.vdc.drives.ieha_pump import gains, pumped
from controllers.vdc.drives.oil_ledger import Side
from controllers.vdc.part import Given
from plants.drives.ieha_drive import IEHADrive
from workbench.verification import hypotheses as common
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption


def side(part, drive: IEHADrive, given: Given) -> Side:
    """The actuator at one state; its friction f_f is all that is not oil."""
    pressures = given.x[3], given.x[4]
    f_p = part.pushed(drive, pressures)
    u_fr = part.wanted(drive, given.s, given.v, given.v_r, pressures, given.f_pr, given.f_pr_rate)
    X = part.ring(drive, given.s, pressures, u_fr)
    fed = sum(gains(drive, given.s - drive.middle))
    made = drive.delivery(drive.angle(given.x), drive.whole(given.x, given.s, given.v))
    most = drive.stop_E.limit
    rings = (X, *given.steps.values(), np.clip(given.u, -most, most))
    flows = [
        u_fr,
        *(fed * pumped(drive, E, *pressures) for E in rings),
        fed * (made.Q_A - made.Q_B),
    ]
    names = ("valve inverse", *given.steps, "saturation", "valve", "")
    ladder = list(zip(names, flows))
    return Side(f_p, f_p - given.f_c, drive.rubbed(given.x), u_fr, X, ladder)


def hypotheses(part, run, drive: IEHADrive):
    """Friction, stroke, travel of the ring, a ring that is where it is told to be."""
    q = run.balance.quantities
    t = run.balance.t
    k = part.label
    yield common.rubbing(run, k, drive.friction, part.drive.friction, q[f"ẋ {k}"], q[f"Δẋ {k}"])
    yield common.stroke(run, k)
    X = np.abs(q[f"inverse {k}"])
    most = drive.stop_E.limit
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
