"""Two chambers behind a servo valve in the dissipation ledger of virtual decomposition control: `oil_ledger`.

Parts of u_fr − u_f on the way from the certificate to the oil: "valve inverse", the steps of the command by name, "saturation",
"valve".

Source: [Petrovic22].
"""

from __future__ import annotations

import numpy as np

from controllers.vdc.drives.oil_ledger import Side
from controllers.vdc.part import Given
from plants.drives.servo import ServoDrive


def side(part, drive: ServoDrive, given: Given) -> Side:
    """The chambers at one state."""
    pressures, _, bristles = drive.parts(given.x)
    work = drive.at_work(given.x, given.s, given.v, [given.u], given.line)
    valve = part.valve(drive, given.line)
    chambers = drive.chambers
    x = drive.place(given.s)
    u_fr = valve.flow(x, given.v, pressures, given.f_pr, given.f_pr_rate, given.v_r)
    D_plus, D_minus = valve.denominators(x, pressures)
    u = chambers.valve.invert(u_fr, D_plus, D_minus)
    most = chambers.valve.u_max
    volts = (u, *given.steps.values(), np.clip(given.u, -most, most))
    g_a, g_b = chambers.gains(drive.oil, x, *pressures)
    flows = [
        u_fr,
        *(unsaturated(chambers.valve, volt, D_plus, D_minus) for volt in volts),
        g_a * work.Q_a - g_b * work.Q_b,
    ]
    names = ("valve inverse", *given.steps, "saturation", "valve", "")
    return Side(
        f_p=chambers.force(*pressures),
        f_f=drive.rubbing(given.x, given.v),
        bristles=bristles,
        u_fr=u_fr,
        inverse=u,
        ladder=list(zip(names, flows)),
        moving=(g_a * chambers.A_a + g_b * chambers.A_b) * np.abs(given.v),
        more={"D₊": D_plus, "D₋": D_minus},
    )


def unsaturated(valve, volt, D_plus, D_minus):
    """u_f a valve without end stops would give at voltage `volt`."""
    o = volt - np.clip(volt, -valve.dead_band, valve.dead_band)
    return np.maximum(o, 0.0) * D_plus + np.minimum(o, 0.0) * D_minus
