"""Where the pump's power goes in a run of `MeteredCrane`."""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.accounts.account import (
    ValveAccount,
    check_logged,
    columns,
    counted,
    quasistatic,
)
from plants.valve_circuits.accounts.section import Section, own_rows, section_flows
from plants.valve_circuits.diagnosis import suspects


def of_crane(plant, log) -> ValveAccount:
    """Of a run of `MeteredCrane`: the model's account is `powers`, which joins valves by where they stand, in and out."""
    check_logged(log, [f"{key}_{k}" for k in plant.labels for key in ("f", "P_h", "P_r")])
    x, u = columns(log, plant.states), columns(log, plant.inputs)
    (speeds, forces), P = plant.rods(x, u), x[3 * plant.n]
    rows, sections = own_rows(plant.circuit, u[: plant.n], [0.0] * plant.n), {}
    for k, row, v, f, K in zip(plant.labels, rows, speeds, forces, plant.stiffness()):
        told = log.array(
            f"f_{k}"
        )  # f = B v + what the states say, so the force of the log has its velocity, too
        sections[k] = Section(
            row, v + (told - f) / (plant.τ * K), told, log.array(f"P_h_{k}"), log.array(f"P_r_{k}")
        )
    flows = {k: section_flows(s, P) for k, s in sections.items()}
    Q, P_M, k_b = plant.supply
    law = {
        "bleed": k_b * np.maximum(P, 0.0) ** 1.5,
        "relief": plant.G * np.maximum(P - P_M, 0.0) * P,
    }
    powers = dict(zip(plant.power_names, np.broadcast_arrays(*plant.powers(0.0, x, u))))
    given = {
        k: -p for k, p in powers.items() if k.partition("_")[0] in ("bleed", "relief", "in", "out")
    }
    oil = plant.V_p / plant.crane.oil.β * P * plant.rhs(0.0, x, u)[3 * plant.n]
    found = suspects(log.time, sections, flows, plant.supply, P, held=True)
    whole = quasistatic(
        log.time,
        powers["pump"],
        sections,
        flows,
        law,
        oil,
        np.arange(len(log.time)),
        given,
        P,
        Q,
        found,
    )
    joined = {k: p for k, p in whole.law.items() if k in law}
    for k in plant.labels:
        joined |= {
            f"in_{k}": sum(whole.law[f"{e}_{k}"] for e in ("ph", "pr")),
            f"out_{k}": sum(whole.law[f"{e}_{k}"] for e in ("th", "tr", "a", "hR", "rR")),
        }
    return whole._replace(law=joined, counted=tuple(counted(log, powers)))
