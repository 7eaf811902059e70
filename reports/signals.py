"""Which signals of a log belong together, by the names plants and controllers give them."""

from __future__ import annotations

import numpy as np

from workbench.contract.system import controls
from workbench.contract.units import display, pretty
from workbench.run.log import Log
from workbench.run.spaces import tool

from .style import named

MOST = 6  # curves in one panel
POINTS = 400  # of a path that is worked out, about
COMMANDS = 8  # drawn, at most
PAIRS = (
    ("p_a_", "p_b_"),
    ("P_A_", "P_B_"),
    ("P_h_", "P_r_"),
)  # how two chambers of one actuator are called


def names_of(plant) -> dict[str, str]:
    """Actuator label → name of its segment ("t2" → "extension"); empty for plants without labels."""
    if plant is None:
        return {}
    return {label: named(s.name, 28) for label, s in zip(plant.labels, plant.segments)}


def actuator(plant, label: str) -> str:
    """'t2' as 'extension (t2)' where the plant has such an actuator; any other name as it is."""
    name = names_of(plant).get(label)
    return f"{name} ({label})" if name else label


def labels_of(log: Log, prefix: str, suffix: str = "") -> list[str]:
    """Actuator labels l for which prefix + l + suffix is logged, in the log's order."""
    own = [name for name in log.names if name.startswith(prefix) and name.endswith(suffix)]
    labels = [name.removeprefix(prefix).removesuffix(suffix) for name in own]
    return [label for label in labels if numbered(label)]


def numbered(label: str) -> bool:
    """Whether a label is that of a numbered actuator: "1", "t2"."""
    return label.lstrip("t").isdigit()


def title_of(plant, label: str) -> str:
    """'lift, cylinder 1'."""
    name = names_of(plant).get(label)
    shown = named(label, 28)
    if name:
        return f"{name}, cylinder {shown}"
    if plant is not None and plant.arms:
        return f"arm {shown}"
    return f"actuator {shown}"


def followed(log: Log) -> list[str]:
    """Signals that are logged together with what they should be, "x" with "x_d"; their rates are left out."""
    both = [n for n in log.names if f"{n}_d" in log]
    return [n for n in both if not (n.startswith("d") and n[1:] in log)]


def wanted_path(log: Log, plant) -> tuple[np.ndarray, np.ndarray] | None:
    """Desired x, y (m) of the tool: logged, or where the desired joint positions put it; None when neither is there."""
    points = wanted_points(log, plant)
    return None if points is None else points[:2]


def wanted_points(log: Log, plant) -> tuple[np.ndarray, ...] | None:
    """Desired x, y, z (m) of the tool, as `wanted_path`; of a logged x, y in the plane of the first z."""
    if not {"tcp_x", "tcp_y"} <= set(log.names):
        return None
    if {"tcp_x_d", "tcp_y_d"} <= set(log.names):
        x = log.array("tcp_x_d")
        y = log.array("tcp_y_d")
        height = log.array("tcp_z")[0] if "tcp_z" in log else 0.0
        return x, y, np.full(len(x), height)
    wanted = [] if plant is None else [f"{n}_d" for n in plant.joint_names]
    if not wanted or not set(wanted) <= set(log.names):
        return None
    every = max(1, len(log) // POINTS)
    q = np.stack([log.array(n)[::every] for n in wanted], axis=1)
    return tuple(tool(plant, q).T)


def errors(log: Log) -> list[str]:
    """Tracking errors "e_…" without what a law remembers of them, "e_…_slow"; at most `MOST`."""
    found = [n for n in log.names if n.startswith("e_") and not remembered(log, n)]
    return found[:MOST]


def remembered(log: Log, name: str) -> bool:
    """Whether a signal is what a law remembers of another one that is logged, behind a filter: "e_x_slow", "p_a_lift_slow"."""
    return name.endswith("_slow") and name.removesuffix("_slow") in log


def forces(log: Log) -> list[tuple[str, str, str]]:
    """(label, required, achieved) piston forces."""
    return [(k, f"f_pr{k}", f"f_p{k}") for k in labels_of(log, "f_pr") if f"f_p{k}" in log]


def pressures(log: Log, plant=None) -> list[tuple[str, list[str]]]:
    """(label, pressures of its chambers); a plant without chamber pairs gives one group "": those it names, else all."""
    pairs = [(k, [f"p_a{k}", f"p_b{k}"]) for k in labels_of(log, "p_a") if f"p_b{k}" in log]
    for one, other in PAIRS:
        pairs = pairs or _paired(log, one, other)
    if pairs:
        return pairs
    named_by_plant = [] if plant is None else [n for n in plant.pressure_names if n in log]
    in_pascal = [s.name for s in log.signals if s.unit == "Pa" and not s.name.endswith("_d")]
    rest = named_by_plant or in_pascal
    return [("", rest[:MOST])] if rest else []


def _paired(log: Log, one: str, other: str) -> list[tuple[str, list[str]]]:
    """(label, [one + label, other + label]) of every label for which both are logged."""
    own = [n for n in log.names if n.startswith(one) and not remembered(log, n)]
    labels = [n.removeprefix(one) for n in own]
    return [(label, [one + label, other + label]) for label in labels if other + label in log]


def supplies(log: Log, plant) -> list[str]:
    """Supply pressures that are logged because they are states, such as that of a load-sensing pump."""
    return [] if plant is None else [n for n in plant.supply_names if n in log]


def commands(log: Log, plant) -> list[tuple[str, str]]:
    """(label, signal) of what the controller commands."""
    inputs = set() if plant is None else {s.name for s in controls(plant)}
    found = [n for n in log.names if n in inputs] or _voltages(log)
    return [(name.removeprefix("u_"), name) for name in found[:COMMANDS]]


def _voltages(log: Log) -> list[str]:
    """Voltages "u_…" that are neither where a spool is nor what is held between samples."""
    volts = [s.name for s in log.signals if s.unit == "V" and s.name.startswith("u_")]
    return [n for n in volts if not n.startswith("u_s_") and not n.endswith("_held")]


def scaled(log: Log, *signals: str) -> tuple[list[np.ndarray], str]:
    """Values in the unit in which the largest reads well, and that unit as text."""
    unit = log.signal(signals[0]).unit
    values = [log.array(n) for n in signals]
    # Of a run that blew up the most part was still a run.
    name, size = unit_for(unit, *values, share=0.98 if log.status.completed else 0.5)
    return [v / size for v in values], name


def unit_for(unit: str, *values, share: float = 0.98) -> tuple[str, float]:
    """Unit in which these values read well, as text, and its size in SI."""
    every = np.concatenate([np.zeros(0), *(np.asarray(v, float).ravel() for v in values)])
    known = np.abs(every[np.isfinite(every)])
    bulk = float(np.quantile(known, share)) if known.size else 0.0
    name, size = display(unit, bulk)
    return pretty(name), size
