"""The scenario section of a case file: points in the unit of their space, a path checked before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from workbench.cases import form
from workbench.cases.build import build
from workbench.cases.default_path import DEMO, to_both_sides
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.refusals import unknown
from workbench.contract.capabilities import HasTask
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.contract.units import stated
from workbench.run.reference import Sine
from workbench.run.sampling import Space
from workbench.run.scenario import Scenario
from workbench.run.targets import check_space, parse

MOST_INSTANTS = 500_000  # of a path that are looked at before a run
# Keys with numbers in the unit of the space.
POINTS = (
    "points",
    "point",
    "centre",
    "amplitude",
    "values",
)


def default_scenario(loop: ClosedLoop) -> Scenario:
    """The demo path where the plant reaches it, else the machine's own, else a slow sine around the start, else holding still.

    For an actuator the 1 cm of [Alfayad16] at half its frequency: the open circuit cannot go faster.
    """
    plant = loop.plant
    choices = [Scenario(reference=DEMO)] if plant.structures else []
    if plant.structures:
        size = tuple(0.05 * (high - low) for low, high in plant.joint_range())
        choices.append(Scenario(20.0, Sine("joint", "start", size, 0.1)))
    if plant.demo_path is not None:
        choices.append(to_both_sides(plant))
    if plant.velocity_gain is not None:
        choices.append(Scenario(12.0, Sine("output", "start", (0.01,), 0.25)))
    for scenario in choices:
        try:
            check(loop, scenario)
            return scenario
        except InputError:
            continue
    return Scenario(10.0)


def check(loop: ClosedLoop, scenario: Scenario) -> None:
    """Raise InputError for a scenario this loop cannot run: states and signals it has not, a path out of reach."""
    from workbench.run.demand import Demand
    from workbench.run.grid import grid
    from workbench.run.room import check_inputs
    from workbench.run.start import start_state

    g = grid(loop, scenario)
    _check_sample_time(loop, scenario)
    demand = Demand(loop, scenario, start_state(loop, scenario))
    check_inputs(g.n, len(demand.live))
    looked_at = np.arange(0, g.n, -(-g.n // MOST_INSTANTS))  # the run itself looks at all of them
    demand.check(looked_at * g.T)


def _check_sample_time(loop: ClosedLoop, scenario: Scenario) -> None:
    """InputError for a loop that is sampled at the start of its run and never again."""
    length = scenario.length()
    if loop.period is not None and loop.period > length:
        raise InputError(
            f"a sample time of {loop.period:g} s is longer than the run, {length:g} s",
            mend="give a shorter sample time, or a longer run",
        )


def read_scenario(
    node: Node, loop: ClosedLoop, folder: Path, provenance: dict[str, Provenance]
) -> Scenario:
    """The Scenario of the section, checked against the loop."""
    plant = loop.plant
    node = _with_plain_points(node, loop)
    spec = build(form.Run, node, "scenario", provenance)
    with located(node, "scenario"):
        units = {s.name: s.unit for s in (*loop.states, *loop.inputs)}
        given = node.value if isinstance(node.value, dict) else {}
        for name in spec.offset:
            if name not in names(loop.states):
                raise unknown(
                    given["offset"].value[name],
                    name,
                    names(loop.states),
                    "scenario.offset",
                    "state",
                )
        scenario = Scenario(
            duration=spec.duration,
            reference=_reference(spec.reference, given.get("reference"), folder, plant=plant),
            disturbances=_disturbances(given.get("disturbances"), loop, folder, units),
            start=None if spec.start is None else _start(spec.start, plant),
            offset={
                name: _quantity(value, units.get(name, "1"), f"offset.{name}")
                for name, value in spec.offset.items()
            },
            seed=spec.seed,
            log_period=spec.log_period,
            max_step=spec.max_step,
        )
        if scenario.reference is None:
            scenario = _with_default_reference(loop, scenario)
        check(loop, scenario)
    return scenario


def _with_default_reference(loop: ClosedLoop, scenario: Scenario) -> Scenario:
    """The default path, where it can be walked from this start; else standing still. None where nothing follows one."""
    if not any(s.kind == "reference" for s in loop.inputs):
        return replace(scenario, duration=scenario.duration or 10.0)
    default = default_scenario(loop)
    choice = replace(
        scenario, reference=default.reference, duration=scenario.duration or default.duration
    )
    try:
        check(loop, choice)
    except InputError:
        choice = replace(scenario, duration=scenario.duration or 10.0)
    return choice


def _reference(made: Any, node: Node | None, folder: Path, units=(), plant=None) -> Any:
    """A path, read from its file where it names one. units: of its components, by default those of a space of the plant."""
    if not isinstance(made, form.Recorded):
        return made
    from workbench.run.spline import Spline

    if plant is not None and made.space != "output":
        units = _units(plant, made.space)
    with located(node.value.get("file", node), "scenario.reference.file"):
        return Spline.from_csv(folder / made.file, made.space, units)


def _disturbances(node: Node | None, loop: ClosedLoop, folder: Path, units: dict[str, str]) -> dict:
    if node is None or node.value is None:
        return {}
    found = {}
    known = [s for s in loop.inputs if s.kind in ("", "disturbance")]
    for name, child in node.value.items():
        key = f"scenario.disturbances.{name}"
        if name not in names(known):
            if name in names(loop.plant.inputs):
                raise child.error(
                    f"{name} is what the controller commands",
                    key=key,
                    mend="write 'controller: OpenLoop' to drive it from here, or remove this line",
                )
            raise unknown(child, name, names(known), "scenario.disturbances")
        if not isinstance(child.value, dict):
            with located(child, key):
                found[name] = stated(child.value, units[name])
            continue
        inside = {"space": Node("output", child.line, child.column, child.file), **child.value}
        made = build(
            form.Reference,
            _in_units(Node(inside, child.line, child.column, child.file), [units[name]]),
            key,
        )
        found[name] = _reference(made, child, folder, [units[name]])
    return found


def _start(values, plant) -> tuple[float, ...]:
    units = _units(plant, "joint")
    if len(values) != len(units) and units:
        raise InputError(
            f"start: expected {len(units)} joint positions ({', '.join(plant.task_names('joint'))}), "
            f"got {len(values)}",
            mend="give one a joint",
        )
    return tuple(_quantity(v, u, "start") for v, u in zip(values, units or ["1"] * len(values)))


def _quantity(value, unit: str, where: str) -> float:
    try:
        return stated(value, unit)
    except InputError as why:
        raise InputError(f"{where}: {why.message}", mend=why.mend) from None


# ---- units of points ----------------------------------------------------------------------------------------
def _units(plant, space: str) -> list[str]:
    """Units of the components of a space."""
    if isinstance(plant, HasTask) and space in plant.spaces:
        own = {s.name: s.unit for s in plant.states}
        return [own.get(name, "m") for name in plant.task_names(space)]
    return [s.unit for s in plant.outputs] if space == "output" else []


def _with_plain_points(node: Node, loop) -> Node:
    """The section with "2.5 m" in the points of its reference turned into numbers."""
    reference = node.value.get("reference") if isinstance(node.value, dict) else None
    if reference is None or not isinstance(reference.value, dict):
        return node
    path = reference.value.get("path")  # of one that strays from it
    walked = path if path is not None and isinstance(path.value, dict) else reference
    space = walked.value.get("space")
    units = (
        _units(loop.plant, space.value)
        if space is not None and isinstance(space.value, str)
        else []
    )
    if not units:
        _check_space(loop.plant, space)
    if space is not None and space.value == "output" and (n := _components(walked)) < len(units):
        wanted = [s.name.split("@")[0] for s in loop.inputs if s.kind == "reference"]
        # As `Demand` resolves them.
        followed = dict.fromkeys(parse(name)[0] for name in wanted if name.endswith("_d"))
        own = {s.name: s.unit for s in loop.plant.outputs}
        if n in (1, len(followed)):
            units = [own[name] for name in followed if name in own][:n] or units
    plain = _in_units(reference, units)
    if walked is not reference:
        plain = replace(plain, value={**plain.value, "path": _in_units(walked, units)})
    return replace(node, value={**node.value, "reference": plain})


def _components(reference: Node) -> int:
    """Components of the points of an output reference as it is written."""
    counts = [1]
    for key, child in reference.value.items():
        if key in POINTS and isinstance(child.value, list):
            counts += [len(c.value) for c in child.value if isinstance(c.value, list)]
            numbers = not any(isinstance(c.value, list) for c in child.value)
            if numbers and key not in ("values", "points"):
                counts.append(len(child.value))
    return max(counts)


def _check_space(plant, space: Node | None) -> None:
    """InputError, at its line, for a space of a path that a plant does not have."""
    if space is None or space.value not in get_args(Space):
        return
    try:
        check_space(plant, space.value)
    except InputError as why:
        raise space.error(why.message, key="scenario.reference.space", mend=why.mend) from None


def _in_units(reference: Node, units: list[str]) -> Node:
    inside = {
        key: _numbers(child, units, f"scenario.reference.{key}") if key in POINTS else child
        for key, child in reference.value.items()
    }
    return replace(reference, value=inside)


def _numbers(node: Node, units: list[str], key: str) -> Node:
    if not isinstance(node.value, list):
        return node
    if (
        key.endswith(".values")
        and units
        and not any(isinstance(child.value, list) for child in node.value)
    ):
        units = units[:1] * len(node.value)  # a list of numbers: one component at many instants
    new = []
    for i, child in enumerate(node.value):
        if isinstance(child.value, list):
            child = _numbers(child, units, f"{key}.{i}")
        elif _is_number(child.value) and i >= len(units) > 0 and not key.endswith(".points"):
            many = "a single component" if len(units) == 1 else f"{len(units)} components"
            raise child.error(
                f"expected {many} in this space, got {len(node.value)}",
                key=key,
                mend="give one for each of its coordinates",
            )
        elif _is_number(child.value) and i < len(units):
            with located(child, f"{key}.{i}"):
                child = replace(child, value=stated(child.value, units[i]))
        new.append(child)
    return replace(node, value=new)


def _is_number(value: object) -> bool:
    """Whether a number is written there, with a unit or without one."""
    if isinstance(value, str):
        return value[:1] in tuple("+-.0123456789")
    return isinstance(value, int | float) and not isinstance(value, bool)
