"""Where the pump's power goes in a run of `MeteredArms`."""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.accounts.account import ValveAccount, check_logged, columns, quasistatic
from plants.valve_circuits.accounts.section import _EDGE, Section, own_rows, section_flows
from plants.valve_circuits.circuit import Openings
from plants.valve_circuits.crossed import passed
from plants.valve_circuits.diagnosis import suspects
from plants.valve_circuits.roots import resolve
from workbench.contract.system import controls
from workbench.run.log import column

_VALVES = ("ph", "pr", "th", "tr", "a", "hR", "rR")
_MOST = 300  # instants at which arms are solved for once more


def of_arms(plant, log) -> ValveAccount:
    """Of a run of `MeteredArms`: the model's account is `valve_powers`, which solves for the pressures once more."""
    check_logged(log, [f"{key}_{n}" for n in plant.names for key in ("v", "f", "P_h", "P_r")])
    P = column(log, "P")
    given = columns(log, controls(plant))
    rows = own_rows(plant.circuit, given[: len(plant.arms)], plant.regeneration(given))
    sections = {
        n: Section(row, *(log.array(f"{key}_{n}") for key in ("v", "f", "P_h", "P_r")))
        for n, row in zip(plant.names, rows)
    }
    Q, P_M, k_b = plant.supply
    flows = {n: section_flows(s, P) for n, s in sections.items()}
    Q_M = (
        Q
        - k_b * np.sqrt(np.maximum(P, 0.0))
        - sum(np.maximum(q.Q_ph + q.Q_pr, 0.0) for q in flows.values())
    )
    law = {
        "bleed": k_b * np.maximum(P, 0.0) ** 1.5,
        "pR": np.where(P >= P_M * (1 - _EDGE), Q_M * P, 0.0),
    }
    every = max(1, -(-len(log.time) // _MOST))
    given = valve_powers(plant, log, every)
    return quasistatic(
        log.time,
        Q * P,
        sections,
        flows,
        law,
        np.zeros(len(log.time)),
        np.arange(0, len(log.time), every),
        {k: p for k, p in given.items() if k not in ("t", "pump") and not k.startswith("rod_")},
        P,
        Q,
        suspects(log.time, sections, flows, plant.supply, P, held=False),
    )


def valve_powers(plant, log, every: int = 1) -> dict[str, np.ndarray]:
    """Powers [W] at every `every`-th instant of a log of a `MeteredArms`: "t" [s], "pump", "bleed", "pR", and for each arm "rod_…"
    (f v) and its valves "ph_…", "pr_…", "th_…", "tr_…", "a_…" (regeneration), "hR_…", "rR_…". The pump's is the sum of all others.

    The log must have v and f of every arm (one from `simulate` does), a command it has not was 0; raises InputError where not.
    """
    check_logged(log, [f"{key}_{name}" for name in plant.names for key in ("v", "f")])
    v, f, u_c = (
        np.stack([column(log, f"{key}_{name}")[::every] for name in plant.names], -1)
        for key in ("v", "f", "u_c")
    )
    opened = plant.regeneration([u[::every] for u in columns(log, controls(plant))])
    u_a = np.stack(np.broadcast_arrays(*opened, v[:, 0])[:-1], -1)
    keys = (
        "pump",
        "bleed",
        "pR",
        *(f"{valve}_{name}" for name in plant.names for valve in ("rod", *_VALVES)),
    )
    found = {key: np.zeros(len(v)) for key in keys}
    circuit, (Q, _, k_b), β = plant.circuit, plant.supply, np.array([a.B for a in plant.arms])
    supply = circuit.supply(plant.u_b)
    at = np.zeros(9)
    for i, (w, g, u, a) in enumerate(zip(v, f, np.clip(u_c, -1.0, 1.0), u_a)):
        rows = circuit.rows([Openings.command(float(c), float(r)) for c, r in zip(u, a)])
        P = resolve(rows, supply, β, g - β * w, np.zeros(len(w)), np.zeros(len(w)))
        left = Q - k_b * np.sqrt(P)
        for name, row, own, force, b in zip(plant.names, rows, w, g, β):
            passed(row, b, force - b * own, P, at)
            h, r, q = at[0], at[1], at[2:]
            left -= max(q[0] + q[1], 0.0)
            taken = (
                force * own,
                q[0] * (P - h),
                q[1] * (P - r),
                q[2] * h,
                q[3] * r,
                q[4] * (r - h),
                q[5] * h,
                q[6] * r,
            )
            for valve, power in zip(("rod", *_VALVES), taken):
                found[f"{valve}_{name}"][i] = power
        found["pump"][i], found["bleed"][i], found["pR"][i] = (
            Q * P,
            k_b * P**1.5,
            max(left, 0.0) * P,
        )
    return {"t": log.time[::every], **found}
