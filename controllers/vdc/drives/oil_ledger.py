"""The row of one drive with oil in the dissipation ledger of virtual decomposition control, whatever its valve is.

    v_p  = Δf²/(2β k_x) + friction's storage,   Δf = f_pr − f_p,   Δẋ = ẋ_r − ẋ           (97), (98)
    v̇_p  = −(k_f/k_x) Δf² − Δẋ (f_cr − f_c) + Σ d                                        (C.10), (C.11), completed

Perturbations d: those of friction (`observed_friction`); "model", Δẋ times the difference of f_cr + f_fr between the true machine
and the law's model; and Δf/k_x times the differences of successive flows on the way from the required u_fr to the true u_f
(`Side.ladder`).

Source: [Petrovic22].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controllers.vdc.drives.observed_friction import account
from controllers.vdc.part import Given
from workbench.verification.ledger.balance import Entry


class Side(NamedTuple):
    """One drive at one state, true values.

    f_p, f_f, bristles   force of the oil [N], friction [N], states of the friction law
    u_fr, inverse        required flow u_fr [m²/s], and the command that gives it
    ladder               (name, u_f [m²/s]) from the required flow to the true one; `name` is the perturbation by which the next
                         flow differs from this one
    moving               magnitude [m²/s] of the terms of u_fr, besides ḟ_pr/β, that the valve does not make
    more                 name → further quantity that hypotheses need
    """

    f_p: Any
    f_f: Any
    bristles: list
    u_fr: Any
    inverse: Any
    ladder: list
    moving: Any = 0.0
    more: dict[str, Any] = {}


def entry(part, drive, given: Given) -> Entry:
    """The drive's row of the ledger."""
    own = part.side(drive, given)
    β = part.modulus(drive)
    Δf = given.f_pr - own.f_p
    Δx = given.v_r - given.v
    storage, rubbed = friction(part, drive, given, own)
    D = part.k_f / part.k_x * Δf**2
    d = _telescoped(own.ladder, Δf / part.k_x)
    for name, value in rubbed.items():
        d[name] = d.get(name, 0.0) + value
    d["model"] = Δx * given.erring
    subtracted = (
        given.f_cr,
        given.own_f_cr,
        given.f_c,
        given.f_pr,
        own.f_p,
        given.f_fr,
        given.own_f_fr,
        own.f_f,
    )
    forces = sum(np.abs(force) for force in subtracted)
    driving = np.abs(given.f_pr_rate) / β + own.moving
    flows = sum(np.abs(flow) for _, flow in own.ladder) + driving
    size = np.abs(Δx) * forces + np.abs(Δf) / part.k_x * flows
    return Entry(
        part.label,
        f"actuator {part.label}",
        Δf**2 / (2 * β * part.k_x) + storage,
        D,
        {given.cut: -Δx * (given.f_cr - given.f_c)},
        d,
        size + D + storage,
    )


def friction(part, drive, given: Given, own: Side) -> tuple[Any, dict]:
    """(storage [J], perturbation → W) of friction."""
    return account(
        part.friction(drive),
        given.f_fr,
        own.f_f,
        given.v_r - given.v,
        given.v,
        own.bristles,
        given.ẑ,
        given.ẑ_law,
        given.ẑ_flow,
    )


def _telescoped(ladder: list, share) -> dict:
    d: dict = {}
    for (name, a), (_, b) in zip(ladder[:-1], ladder[1:]):
        d[name] = d.get(name, 0.0) + share * (a - b)
    return d


def shown(part, drive, given: Given) -> dict:
    """Quantities that hypotheses look at; x and room, to the ends of the stroke, where there is one."""
    own = part.side(drive, given)
    low, high = drive.range
    values = {
        "undamped": friction(part, drive, given, own)[0],
        "Δf": given.f_pr - own.f_p,
        "Δẋ": given.v_r - given.v,
        "u_fr": own.u_fr,
        "lever": given.lever,
        "ẋ": given.v,
        "command": given.u,
        "inverse": own.inverse,
        **own.more,
    }
    if not drive.turns:
        values |= {"x": given.s - low, "room": high - given.s}
    return {f"{name} {part.label}": value for name, value in values.items()}
