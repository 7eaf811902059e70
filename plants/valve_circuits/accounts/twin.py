"""Where the pump's power goes in a run of `MeteredTwin`, the circuit with compressible oil."""

from __future__ import annotations

import numpy as np

from plants.components.orifice import root as smooth_root
from plants.valve_circuits.accounts.account import ValveAccount, check_logged, columns, counted
from workbench.contract.system import names


def of_twin(plant, log) -> ValveAccount:
    """Of a run of `MeteredTwin`: pressures are its states, the model's account is `powers`, the oil's energy changes by `rhs`."""
    x = columns(log, plant.states)
    u = columns(log, plant.inputs)
    n = len(plant.names)
    P = x[-1]
    w = plant.w
    G = plant.G
    check_logged(log, names(plant.states))
    Q, P_M, k_b = plant.of.supply
    powers = dict(zip(plant.power_names, np.broadcast_arrays(*plant.powers(0.0, x, u))))
    rate = plant.rhs(0.0, x, u)
    law = {"bleed": k_b * smooth_root(P, w) * P, "relief": G * np.maximum(P - P_M, 0.0) * P}
    work = {}
    drawn = {}
    for name, row, h, r, v in zip(
        plant.names, plant.of.rows(u), x[3 * n : -1 : 2], x[3 * n + 1 : -1 : 2], rate[2 : 3 * n : 3]
    ):
        for valve, power in _losses(row, P, h, r, w, G).items():
            law[f"{valve}_{name}"] = power
        A_h, A_r = row[:2]
        work[f"rod_{name}"] = (A_h * h - A_r * r) * v
        drawn |= {f"P_h_{name}": G * np.maximum(-h, 0.0), f"P_r_{name}": G * np.maximum(-r, 0.0)}
    volumes = [*[V for _ in range(n) for V in (plant.V_h, plant.V_r)], plant.V_p]
    oil = sum(V / plant.β * p * change for V, p, change in zip(volumes, x[3 * n :], rate[3 * n :]))
    given = {
        k: -p
        for k, p in powers.items()
        if k != "pump" and k.partition("_")[0] not in ("element", "tip")
    }
    ranges = {name: (log.array(name), log.array(name)) for name in drawn}
    return ValveAccount(
        log.time,
        Q * P,
        law,
        work,
        oil,
        np.arange(len(P)),
        given,
        drawn,
        ranges,
        (),
        tuple(counted(log, powers)),
    )


def _losses(row, P, h, r, w: float, G: float) -> dict[str, np.ndarray]:
    """valve → W it takes at the pressures P, h, r [Pa]; w: pressure over which roots are smooth, G: slope of reliefs and checks."""
    _, _, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a = row
    one_way = lambda k, drop: k * smooth_root(np.maximum(drop, 0.0), w) * drop
    over = lambda p, top: G * (np.maximum(p - top, 0.0) + np.minimum(p, 0.0)) * p
    return {
        "ph": one_way(k_ph, P - h),
        "pr": one_way(k_pr, P - r),
        "th": k_th * smooth_root(h, w) * h,
        "tr": k_tr * smooth_root(r, w) * r,
        "a": one_way(k_a, r - h),
        "h_limits": over(h, P_hM),
        "r_limits": over(r, P_rM),
    }
