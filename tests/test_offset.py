"""A start away from the path is away from the path: `scenario.offset` moves the machine, never the
reference.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from small import Feedback, Linear

from controllers import PID
from plants import MeteredCrane, machine
from workbench import (
    ClosedLoop,
    Controller,
    Hold,
    InputError,
    Sampled,
    Scenario,
    Signal,
    Sine,
    Waypoints,
    simulate,
)
from workbench.contract.system import names
from workbench.run.demand import Demand
from workbench.run.spaces import task_values
from workbench.run.start import start_state

CRANE = machine("hiab-xs031").plant.locked(extension=0.37)
PLANTS = {
    "crane": CRANE,
    "metered crane": MeteredCrane(CRANE, u_b=0.03),
    "four-bar": machine("four-bar").plant,
}


@dataclass(frozen=True)
class Listening(Controller):
    """Commands nothing and asks for the reference of every coordinate of one space."""

    plant: object
    wanted: tuple[str, ...]
    measured = ()

    @property
    def commands(self):
        return tuple(s for s in self.plant.inputs if s.kind == "")

    @property
    def references(self):
        return tuple(Signal(f"{name}_d", kind="reference") for name in self.wanted)

    def command(self, t, z, y, r):
        return [0.0] * len(self.commands)


def references(space, n):
    """Every kind of reference that may begin where the machine stands."""
    size = tuple(0.01 * (i + 1) for i in range(n))
    return [
        None,
        Hold(space, "start"),
        Sine(space, "start", size, 0.5),
        Waypoints(space, ("start", "start"), 1.0),
    ]


def first_row(plant, space, reference, offset):
    """(reference at t = 0, initial state) of a loop that listens to `space`."""
    loop = ClosedLoop(plant, Sampled(Listening(plant, tuple(plant.task_names(space))), 1e-3))
    scenario = Scenario(0.01, reference, offset=offset)
    x0 = start_state(loop, scenario)
    return Demand(loop, scenario, x0).at(np.array([0.0]))[0], x0


@pytest.mark.parametrize("name", PLANTS)
def test_error_at_the_start_is_the_offset_in_every_space(name):
    plant = PLANTS[name]
    nominal = np.array(plant.initial()[: plant.n])
    moved = {state: 0.004 * (i + 1) for i, state in enumerate(names(plant.states)[: plant.n])}
    for space in plant.spaces:
        for reference in references(space, plant.n):
            wanted, x0 = first_row(plant, space, reference, moved)
            assert x0[: plant.n] - nominal == pytest.approx(list(moved.values()), abs=1e-12)
            assert wanted == pytest.approx(task_values(plant, space, nominal), abs=1e-9)
            gap = task_values(plant, space, x0[: plant.n]) - wanted
            assert (np.abs(gap) > 1e-4).all()


def test_a_path_given_in_another_space_stays_too():
    """The law listens to joints, the path is Cartesian and begins at "start"."""
    loop = ClosedLoop(CRANE, Sampled(Listening(CRANE, ("q_1", "q_2")), 1e-3))
    scenario = Scenario(0.01, Hold("cartesian", "start"), offset={"q_1": 0.02})
    wanted = Demand(loop, scenario, start_state(loop, scenario)).at(np.array([0.0]))[0]
    assert wanted == pytest.approx(CRANE.initial()[:2], abs=1e-9)


def test_start_moves_the_reference_and_the_offset_does_not():
    """`start` says where the path begins; the offset is on top of it."""
    loop = ClosedLoop(CRANE, Sampled(Listening(CRANE, ("q_1", "q_2")), 1e-3))
    start = tuple(q + 0.03 for q in CRANE.initial()[:2])
    for reference in references("joint", 2):
        scenario = Scenario(0.01, reference, start=start, offset={"q_2": -0.01})
        x0 = start_state(loop, scenario)
        wanted = Demand(loop, scenario, x0).at(np.array([0.0]))[0]
        assert wanted == pytest.approx(start, abs=1e-12)
        assert x0[:2] - wanted == pytest.approx([0.0, -0.01], abs=1e-12)


OUTPUT = [
    None,
    Hold("output", "start"),
    Sine("output", "start", (0.2,), 0.5),
    Waypoints("output", ("start", "start"), 1.0),
]


@pytest.mark.parametrize("reference", OUTPUT)
def test_outputs_and_log(reference):
    """End to end: the first row of the log has the offset as its error, for measured outputs."""
    plant = Linear(A=((0.0, 1.0), (-2.0, -0.7)), B=((0.0,), (1.0,)), C=((3.0, 0.0),), x0=(0.4, 0.0))
    loop = ClosedLoop(plant, Feedback(plant, ((1.0,),), ((1.5,),)))
    log = simulate(loop, Scenario(0.01, reference, offset={"x0": 0.05}), compiled=False)
    assert log.array("y0")[0] - log.array("y0_d")[0] == pytest.approx(0.15, abs=1e-12)
    assert log.array("y0_d")[0] == pytest.approx(1.2, abs=1e-12)


def test_a_law_called_from_python_sees_the_offset():
    """The same first row fused and called from Python."""

    class Still:
        references = ("x_1_d", "x_2_d")

        def __call__(self, t, y, r):
            return [0.0, 0.0]

    scenario = Scenario(0.003, offset={"q_1": 0.02})
    before, after = (
        task_values(CRANE, "piston", [CRANE.initial()[0] + d, CRANE.initial()[1]])
        for d in (0.0, 0.02)
    )
    for law in (Sampled(PID(CRANE), 1e-3), Still()):
        log = simulate(ClosedLoop(CRANE, law), scenario, compiled=False)
        assert log.array("x_1_d")[0] == pytest.approx(before[0], abs=1e-12)
        assert log.array("x_1")[0] == pytest.approx(after[0], abs=1e-12)


def test_an_offset_of_rates_and_pressures_leaves_the_path_alone():
    plain = first_row(CRANE, "piston", None, {})[0]
    assert first_row(CRANE, "piston", None, {"dq_1": 0.3, "p_a1": 4e5})[0] == pytest.approx(
        plain, abs=1e-12
    )


def test_an_offset_out_of_reach_is_refused():
    with pytest.raises(InputError, match="start with its offset.*outside its stroke") as refused:
        first_row(CRANE, "joint", None, {"q_1": -1.5})
    assert refused.value.key == "scenario.offset"
