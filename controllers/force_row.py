"""The row of one drive with oil in the dissipation ledger of virtual decomposition control, whatever its valve is.

    v_p  = Δf²/(2β k_x) + friction's storage,   Δf = f_pr − f_p,   Δẋ = ẋ_r − ẋ           (97), (98)
    v̇_p  = −(k_f/k_x) Δf² − Δẋ (f_cr − f_c) + Σ d                                        (C.10), (C.11), completed

Perturbations d: those of friction (`controllers.observed_friction`); "model" Δẋ (f_cr of the true bodies − f_cr of the law's own);
and Δf/k_x times the parts of u_fr − u_f, on the way from what the certificate requires to the flow that the oil gets.

Source: [Petrovic22].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.verification.ledger import Entry


class ForceRow(NamedTuple):
    """One drive at one state; true values unless said otherwise.

    subsystem, label, cut   names
    β, k_x, k_f             bulk modulus of its oil, Pa; gains of the law
    Δf, Δx                  f_pr − f_p [N], ẋ_r − ẋ [m/s]
    f_cr, own_f_cr, f_c     required force for the true bodies, and for the law's; the true force
    ladder                  (what the step to the next brings in, u_f) from u_fr to the flow that the oil gets
    friction                (storage [J], perturbation → W)
    forces, flows           what else is subtracted: forces [N]; magnitude of the terms of u_fr [m²/s]
    """

    subsystem: str
    label: str
    cut: str
    β: object
    k_x: object
    k_f: object
    Δf: object
    Δx: object
    f_cr: object
    own_f_cr: object
    f_c: object
    ladder: list
    friction: tuple
    forces: tuple
    flows: object


def entry(row: ForceRow) -> Entry:
    """The row."""
    storage, friction = row.friction
    D = row.k_f / row.k_x * row.Δf**2
    d = _telescoped(row)
    for name, value in friction.items():
        d[name] = d.get(name, 0.0) + value
    d["model"] = row.Δx * (row.f_cr - row.own_f_cr)
    return Entry(
        row.subsystem,
        f"actuator {row.label}",
        row.Δf**2 / (2 * row.β * row.k_x) + storage,
        D,
        {row.cut: -row.Δx * (row.f_cr - row.f_c)},
        d,
        _size(row) + D + storage,
    )


def _telescoped(row: ForceRow) -> dict:
    d: dict = {}
    for (name, a), (_, b) in zip(row.ladder[:-1], row.ladder[1:]):
        d[name] = d.get(name, 0.0) + row.Δf / row.k_x * (a - b)
    return d


def _size(row: ForceRow):
    """Magnitudes of all terms before subtraction, W, without dissipation and storage."""
    forces = sum(np.abs(f) for f in (row.f_cr, row.own_f_cr, row.f_c, *row.forces))
    flows = sum(np.abs(flow) for _, flow in row.ladder) + row.flows
    return np.abs(row.Δx) * forces + np.abs(row.Δf) / row.k_x * flows
