"""Where the pump's power goes in a run of a machine whose drives behind metering valves hold oil that can be compressed.

Pressures of the chambers are states. What a suction check lets in follows from how far its chamber is below the tank's pressure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plants.components.orifice import root as smooth_root
from plants.valve_circuits.accounts.account import (
    ValveAccount,
    by_model,
    check_logged,
    columns,
    counted,
    fed,
    line_pressure,
)
from workbench.contract.system import names


class _Filled(NamedTuple):
    """What one drive does along a run: valve → W by law, work on the rod [W], d(energy of its oil)/dt [W], what it takes [m³/s]."""

    law: dict[str, np.ndarray]
    work: np.ndarray
    stored: np.ndarray
    flow: np.ndarray


def of_filled(plant, log) -> ValveAccount:
    """Of a run of a plant with a mechanism, whose drives that name `valves` all have their chambers' pressures as states.

    The model's account is `powers`, the oil's energy changes by `rhs`.
    """
    check_logged(log, names(plant.states))
    machine = plant.mechanism
    called = plant.called
    x = columns(log, plant.states)
    u = columns(log, plant.inputs)
    powers, rates = _by_name(plant, x, u)
    drives = {a.name: a.drive for a in machine.actuators if a.drive.valves}
    supply = machine.supply
    P = line_pressure(supply, log)
    law = {}
    work = {}
    drawn = {}
    ranges = {}
    stored = np.zeros(len(P))
    flow = np.zeros(len(P))
    for k, drive in drives.items():
        sides = [called.get(name, name) for name in drive.pressures(k)]
        pressures = [log.array(name) for name in sides]
        row = drive.row(columns(log, drive.inputs(k)))
        of_states = [rates[name] for name in (f"rod_{k}", *drive.pressures(k))]
        found = _filled(drive, row, P, pressures, of_states)
        law |= {f"{valve}_{k}": power for valve, power in found.law.items()}
        work[f"rod_{k}"] = found.work
        stored = stored + found.stored
        flow = flow + found.flow
        for name, p in zip(sides, pressures):
            drawn[name] = drive.G * np.maximum(-p, 0.0)
            ranges[name] = (p, p)
    for name in _others(machine, drives):
        taken = log.array(called.get(name, name))
        work[name] = P * taken
        flow = flow + taken
    account = supply.account(P, flow, rates.get(supply.pressure_name, 0.0))
    return ValveAccount(
        log.time,
        account.given,
        account.lost | law,
        work,
        account.stored + stored,
        np.arange(len(P)),
        by_model(supply, drives, powers),
        drawn,
        ranges,
        (),
        tuple(counted(log, powers, fed(machine, powers))),
    )


def _by_name(plant, x, u) -> tuple[dict, dict]:
    """(powers of the plant, rates of its mechanism's states), by name, along a run."""
    by_cause = np.broadcast_arrays(*plant.powers(0.0, x, u))
    rates = plant.inner(plant.rhs(0.0, x, u))
    return dict(zip(plant.power_names, by_cause)), dict(zip(names(plant.mechanism.states), rates))


def _others(machine, drives) -> list[str]:
    """Flows that a machine takes from its supply for what is none of these drives."""
    return [name for name in machine.flow_names if name.removeprefix("Q_s_") not in drives]


def _filled(drive, row, P, pressures: list, rates: list[Any]) -> _Filled:
    """rates: of the rod and of both pressures."""
    h, r = pressures
    v, rate_h, rate_r = rates
    work = (row[0] * h - row[1] * r) * v
    stored = drive.V_h / drive.β * h * rate_h + drive.V_r / drive.β * r * rate_r
    into = (k * smooth_root(np.maximum(P - p, 0.0), drive.w) for k, p in zip(row[4:6], pressures))
    return _Filled(_losses(row, P, h, r, drive.w, drive.G), work, stored, sum(into))


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
