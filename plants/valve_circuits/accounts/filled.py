"""The account of a run's power for drives behind metering valves whose oil is compressible.

The pressures of their chambers are states; the flow that a suction check lets in follows from how far one is below the tank's.
"""

from __future__ import annotations

from typing import NamedTuple

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
    """One drive along a run.

    law        valve → power that it takes, W;   work: power on the rod, W;   stored: d(energy of its oil)/dt, W
    flow       what the drive takes from the pump's line, m³/s
    pressures  logged name → pressure of a chamber, Pa;   G: slope of its suction checks, m³/(s Pa)
    """

    law: dict[str, np.ndarray]
    work: np.ndarray
    stored: np.ndarray
    flow: np.ndarray
    pressures: dict[str, np.ndarray]
    G: float


def of_filled(plant, log) -> ValveAccount:
    """The account of a run of a plant with a mechanism; every drive with `valves` has its chambers' pressures as states."""
    check_logged(log, names(plant.states))
    machine = plant.mechanism
    supply = machine.supply
    powers, rates = _by_name(plant, columns(log, plant.states), columns(log, plant.inputs))
    drives = {a.name: a.drive for a in machine.actuators if a.drive.valves}
    P = line_pressure(supply, log)
    filled = {k: _filled(k, drive, P, plant.called, log, rates) for k, drive in drives.items()}
    others = {
        name: log.array(plant.called.get(name, name))
        for name in machine.flow_names
        if name.removeprefix("Q_s_") not in drives
    }
    flow = sum((*(one.flow for one in filled.values()), *others.values()), np.zeros(len(P)))
    account = supply.account(P, flow, rates.get(supply.pressure_name, 0.0))
    law = dict(account.lost)
    work = {}
    drawn = {}
    ranges = {}
    for k, one in filled.items():
        law |= {f"{valve}_{k}": power for valve, power in one.law.items()}
        work[f"rod_{k}"] = one.work
        for name, pressure in one.pressures.items():
            drawn[name] = one.G * np.maximum(-pressure, 0.0)
            ranges[name] = (pressure, pressure)
    return ValveAccount(
        t=log.time,
        pump=account.given,
        law=law,
        work=work | {name: P * taken for name, taken in others.items()},
        stored=sum((one.stored for one in filled.values()), account.stored),
        at=np.arange(len(P)),
        given=by_model(supply, drives, powers),
        drawn=drawn,
        ranges=ranges,
        suspects=(),
        counted=tuple(counted(log, powers, fed(machine, powers))),
    )


def _by_name(plant, x, u) -> tuple[dict, dict]:
    """(powers of the plant, rates of its mechanism's states), by name, along a run."""
    by_cause = np.broadcast_arrays(*plant.powers(0.0, x, u))
    rates = plant.inner(plant.rhs(0.0, x, u))
    return dict(zip(plant.power_names, by_cause)), dict(zip(names(plant.mechanism.states), rates))


def _filled(k: str, drive, P, called: dict, log, rates: dict) -> _Filled:
    """The drive named k along a run. called: the mechanism's name of a signal → its name in the log. rates: state → its rate."""
    row = drive.row(columns(log, drive.inputs(k)))
    sides = drive.pressures(k)
    pressures = {called.get(name, name): log.array(called.get(name, name)) for name in sides}
    h, r = pressures.values()
    rate_h, rate_r = (rates[name] for name in sides)
    A_h, A_r, _, _, k_ph, k_pr, *_ = row
    into_h = k_ph * smooth_root(np.maximum(P - h, 0.0), drive.w)
    into_r = k_pr * smooth_root(np.maximum(P - r, 0.0), drive.w)
    return _Filled(
        law=_losses(row, P, h, r, drive.w, drive.G),
        work=(A_h * h - A_r * r) * rates[f"rod_{k}"],
        stored=drive.V_h / drive.β * h * rate_h + drive.V_r / drive.β * r * rate_r,
        flow=into_h + into_r,
        pressures=pressures,
        G=drive.G,
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
