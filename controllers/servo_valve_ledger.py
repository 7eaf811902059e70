"""Two chambers behind a servo valve in the dissipation ledger of virtual decomposition control: `controllers.force_row`.

Parts of u_fr − u_f on the way from the certificate to the oil: "valve inverse", the steps of the command by name, "saturation",
"valve".

Source: [Petrovic22].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from controllers import force_row
from controllers.force_row import ForceRow
from controllers.observed_friction import account
from controllers.servo_valve import Valve
from workbench.verification.ledger import Entry


class Side(NamedTuple):
    """One cylinder at one state: what its part of the ledger is made of; true values unless said otherwise.

    subsystem, label, cut   names;      valve   true cylinder, with the law's gains
    x, xd, xd_r, pair       position, velocity, required velocity of the piston; (p_a, p_b)
    f_pr, f_pr_rate         required piston force and its rate, of the law's own model at true states
    f_cr, own_f_cr, f_c     required force for the true bodies, and for the law's; the true force
    f_fr, f_f               required friction, friction
    Q_a, Q_b                flows through the valve;      steps   perturbation → voltage, on the way to the valve's input
    u                       the valve's input, V
    rub, ẑ, ẑ_law, ẑ_flow   states of the friction law; the observer's; its rate by the law; its rate in the loop
    """

    subsystem: str
    label: str
    cut: str
    valve: Valve
    x: object
    xd: object
    xd_r: object
    pair: tuple
    f_pr: object
    f_pr_rate: object
    f_cr: object
    own_f_cr: object
    f_c: object
    f_fr: object
    f_f: object
    Q_a: object
    Q_b: object
    steps: dict
    u: object
    rub: list
    ẑ: list
    ẑ_law: list
    ẑ_flow: list

    @property
    def Δf(self):
        """f_pr − f_p, N."""
        return self.f_pr - self.valve.cylinder.force(*self.pair)

    @property
    def Δx(self):
        """ẋ_r − ẋ, m/s."""
        return self.xd_r - self.xd


def entry(side: Side) -> Entry:
    """The row of the chambers in the ledger."""
    v = side.valve
    c = side.valve.cylinder
    g_a, g_b = c.gains(v.oil, side.x, *side.pair)
    drift = (g_a * c.A_a + g_b * c.A_b) * np.abs(side.xd)
    return force_row.entry(
        ForceRow(
            side.subsystem,
            side.label,
            side.cut,
            v.oil.β,
            v.k_x,
            v.k_f,
            side.Δf,
            side.Δx,
            side.f_cr,
            side.own_f_cr,
            side.f_c,
            _ladder(side),
            _friction(side),
            (side.f_pr, c.force(*side.pair), side.f_fr, side.f_f),
            np.abs(side.f_pr_rate) / v.oil.β + drift,
        )
    )


def shown(side: Side, lever, room) -> dict:
    """Quantities that hypotheses look at; lever: m (of a joint, metres a radian), room: to the end of the stroke, m, or None."""
    u_fr = _wanted(side)
    D_plus, D_minus = side.valve.denominators(side.x, side.pair)
    values = {
        "undamped": _friction(side)[0],
        "Δf": side.Δf,
        "Δẋ": side.Δx,
        "u_fr": u_fr,
        "D₊": D_plus,
        "D₋": D_minus,
        "lever": lever,
        "ẋ": side.xd,
        "command": side.u,
        "inverse": side.valve.cylinder.valve.invert(u_fr, D_plus, D_minus),
    }
    if room is not None:
        values |= {"room": room, "x": side.x}
    return {f"{name} {side.label}": value for name, value in values.items()}


def _wanted(side: Side):
    """u_fr at true states."""
    return side.valve.flow(side.x, side.xd, side.pair, side.f_pr, side.f_pr_rate, side.xd_r)


def _ladder(side: Side) -> list[tuple]:
    """(what the step to the next brings in, u_f) from u_fr to the flow that goes through the valve."""
    v = side.valve
    D_plus, D_minus = v.denominators(side.x, side.pair)
    opened = lambda volt: unsaturated(v.cylinder.valve, volt, D_plus, D_minus)
    u_fr = _wanted(side)
    most = v.cylinder.valve.u_max
    g_a, g_b = v.cylinder.gains(v.oil, side.x, *side.pair)
    flows = [
        u_fr,
        opened(v.cylinder.valve.invert(u_fr, D_plus, D_minus)),
        *(opened(volt) for volt in side.steps.values()),
        opened(np.clip(side.u, -most, most)),
        g_a * side.Q_a - g_b * side.Q_b,
    ]
    return list(zip(("valve inverse", *side.steps, "saturation", "valve", ""), flows))


def _friction(side: Side) -> tuple[object, dict]:
    """(storage, perturbations) of friction."""
    law = side.valve.cylinder.friction
    return account(
        law,
        side.f_fr,
        side.f_f,
        side.Δx,
        side.xd,
        side.rub,
        side.ẑ,
        side.ẑ_law,
        side.ẑ_flow,
    )


def unsaturated(valve, volt, D_plus, D_minus):
    """u_f a valve without end stops would give at voltage `volt`."""
    o = volt - np.clip(volt, -valve.dead_band, valve.dead_band)
    return np.maximum(o, 0.0) * D_plus + np.minimum(o, 0.0) * D_minus
