"""A servo valve's cylinder in the dissipation ledger of virtual decomposition control.

    v_p  = Δf²/(2β k_x) + friction's storage,   Δf = f_pr − f_p,   Δẋ = ẋ_r − ẋ           (97), (98)
    v̇_p  = −(k_f/k_x) Δf² − Δẋ (f_cr − f_c) + Σ d                                        (C.10), (C.11), completed

Perturbations d: "friction" −Δẋ (f_fr − f_f), with its storage's rate; "model" Δẋ (f_cr of the true bodies − f_cr of the law's own);
and Δf/k_x times the parts of u_fr − u_f on the way from the certificate to the oil: "valve inverse", the steps of the command by
name, "saturation", "valve".

Source: [Petrovic22].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
    """The cylinder's row of the ledger."""
    v, Δf, Δx = side.valve, side.Δf, side.Δx
    ladder = _ladder(side)
    storage, friction = _friction(side)
    D = v.k_f / v.k_x * Δf**2
    d = _telescoped(side, ladder)
    for name, value in friction.items():
        d[name] = d.get(name, 0.0) + value
    d["model"] = Δx * (side.f_cr - side.own_f_cr)
    return Entry(
        side.subsystem,
        f"actuator {side.label}",
        Δf**2 / (2 * v.oil.β * v.k_x) + storage,
        D,
        {side.cut: -Δx * (side.f_cr - side.f_c)},
        d,
        _size(side, ladder) + D + storage,
    )


def shown(side: Side, lever, room) -> dict:
    """Quantities that hypotheses look at; lever: m (of a joint, metres a radian), room: to the end of the stroke, m."""
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
        "room": room,
        "x": side.x,
        "ẋ": side.xd,
        "command": side.u,
        "inverse": side.valve.cylinder.valve.invert(u_fr, D_plus, D_minus),
    }
    return {f"{name} {side.label}": value for name, value in values.items()}


def _wanted(side: Side):
    """u_fr at true states."""
    return side.valve.flow(side.x, side.xd, side.pair, side.f_pr, side.f_pr_rate, side.xd_r)


def _ladder(side: Side) -> list[tuple]:
    """(what the step to the next brings in, u_f) from u_fr to the flow that goes through the valve."""
    v = side.valve
    D_plus, D_minus = v.denominators(side.x, side.pair)
    opened = lambda volt: unsaturated(v.cylinder.valve, volt, D_plus, D_minus)
    u_fr, most = _wanted(side), v.cylinder.valve.u_max
    g_a, g_b = v.cylinder.gains(v.oil, side.x, *side.pair)
    flows = [
        u_fr,
        opened(v.cylinder.valve.invert(u_fr, D_plus, D_minus)),
        *(opened(volt) for volt in side.steps.values()),
        opened(np.clip(side.u, -most, most)),
        g_a * side.Q_a - g_b * side.Q_b,
    ]
    return list(zip(("valve inverse", *side.steps, "saturation", "valve", ""), flows))


def _telescoped(side: Side, ladder) -> dict:
    d: dict = {}
    for (name, a), (_, b) in zip(ladder[:-1], ladder[1:]):
        d[name] = d.get(name, 0.0) + side.Δf / side.valve.k_x * (a - b)
    return d


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


def _size(side: Side, ladder):
    """Magnitudes of all terms before subtraction, W, without dissipation and storage."""
    v, c = side.valve, side.valve.cylinder
    g_a, g_b = c.gains(v.oil, side.x, *side.pair)
    forces = (side.f_pr, c.force(*side.pair), side.f_cr, side.f_c, side.f_fr, side.f_f)
    flows = sum(np.abs(flow) for _, flow in ladder) + np.abs(side.f_pr_rate) / v.oil.β
    flows = flows + (g_a * c.A_a + g_b * c.A_b) * np.abs(side.xd)
    return np.abs(side.Δx) * sum(np.abs(f) for f in forces) + np.abs(side.Δf) / v.k_x * flows


def unsaturated(valve, volt, D_plus, D_minus):
    """u_f a valve without end stops would give at voltage `volt`."""
    o = volt - np.clip(volt, -valve.dead_band, valve.dead_band)
    return np.maximum(o, 0.0) * D_plus + np.minimum(o, 0.0) * D_minus
