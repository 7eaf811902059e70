"""Where the pump's power goes in a run of a mechanism whose drives stand behind metering valves, on any supply.

The plant of the run is the mechanism itself, or one that is a mechanism under names of its own (`plants.multibody.built`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plants.valve_circuits.accounts.account import (
    ValveAccount,
    by_model,
    check_logged,
    columns,
    counted,
    fed,
    line_pressure,
    quasistatic,
)
from plants.valve_circuits.accounts.section import Section, own_rows, section_flows
from plants.valve_circuits.circuit import Circuit
from plants.valve_circuits.diagnosis import suspects
from workbench.contract.system import names


class _Along(NamedTuple):
    """A run as the mechanism sees it: its rates and what it logs by its names, the plant's powers by theirs, along the run."""

    rates: dict[str, Any]
    shown: dict[str, Any]
    powers: dict[str, np.ndarray]


def of_mechanism(plant, circuit: Circuit, log) -> ValveAccount:
    """Of a run of a plant with a mechanism; `circuit` has a section of its own name for every drive behind metering valves.

    The model's account is `powers`, in which every drive names its own `valves`. Velocity and force of a rod are those of the log;
    where that has no velocity, it is the one at the states, corrected for what the log has as force: f = B v + what the states say.
    What drives take is that of the log, or what the mechanism says at the states. A drive on the same supply that meters nothing is
    in the account with the oil it takes.
    """
    machine = plant.mechanism
    called = plant.called
    metered = {s.name for s in circuit.sections}
    drives = {a.name: a.drive for a in machine.actuators if a.name in metered}
    keys = ("f_p", "P_h", "P_r")
    told = {name: called.get(name, name) for name in _each(keys, drives)}
    check_logged(log, told.values())
    along = _along(plant, log)
    supply = machine.supply
    flow_names = machine.flow_names
    P = line_pressure(supply, log)
    sections = _sections(drives, circuit, along, log, told)
    flows = {k: section_flows(section, P) for k, section in sections.items()}
    taken = {name: _logged(log, called.get(name, name), along.shown[name]) for name in flow_names}
    rate = along.rates.get(supply.pressure_name, 0.0)
    account = supply.account(P, sum(taken.values()), rate)
    whole = quasistatic(
        log.time,
        account.given,
        sections,
        flows,
        account.lost,
        account.stored,
        np.arange(len(log.time)),
        by_model(supply, drives, along.powers),
        P,
        supply.circuit_pump.Q,
        suspects(log.time, sections, flows, supply.numbers, P, held=not supply.settles),
    )
    others = {name: P * q for name, q in taken.items() if name.removeprefix("Q_s_") not in drives}
    own = fed(machine, along.powers)
    return whole._replace(
        work=whole.work | others,
        counted=tuple(counted(log, along.powers, own)),
    )


def _logged(log, name: str, otherwise) -> np.ndarray:
    return log.array(name) if name in log else otherwise


def _each(keys, drives) -> list[str]:
    return [f"{key}_{k}" for k in drives for key in keys]


def _along(plant, log) -> _Along:
    machine = plant.mechanism
    x = columns(log, plant.states)
    u = columns(log, plant.inputs)
    every = np.zeros(len(log.time))

    def by_name(known, values):
        return dict(zip(known, np.broadcast_arrays(*values, every)))

    return _Along(
        by_name(names(machine.states), plant.inner(plant.rhs(0.0, x, u))),
        by_name(names(machine.monitors), machine.monitor(0.0, plant.inner(x), plant.given(u))),
        by_name(plant.power_names, plant.powers(0.0, x, u)),
    )


def _sections(drives: dict, circuit: Circuit, along: _Along, log, told) -> dict[str, Section]:
    """Every section along the run: openings by the circuit's own numbers, pressures and force of the log."""
    commands = [columns(log, drive.inputs(k)) for k, drive in drives.items()]
    openings = [drive.regenerated(u) for drive, u in zip(drives.values(), commands)]
    rows = own_rows(circuit, [u[0] for u in commands], openings)
    found = {}
    for (k, drive), row in zip(drives.items(), rows):
        f, P_h, P_r = (log.array(told[name]) for name in _each(("f_p", "P_h", "P_r"), [k]))
        v = along.rates[f"rod_{k}"] + (f - along.shown[f"f_p_{k}"]) / drive.damping
        found[k] = Section(row, _logged(log, f"v_{k}", v), f, P_h, P_r)
    return found
