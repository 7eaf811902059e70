"""What every plant must keep: the contract of `workbench.contract.system`, and one text for floats and expressions.

A new plant is tested by adding it to PLANTS.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import casadi as ca
import mechanisms
import numpy as np
import pytest
from draws import apart, on_floats, plant_inputs, plant_state, varied_machine

from controllers.open_loop import OpenLoop
from plants import Arm, MeteredArms, MeteredCrane, MeteredTwin, machine, machines
from workbench import ClosedLoop, InputError, Scenario, Signal, System, changed, simulate
from workbench.contract.parameters import Unit, leaves
from workbench.contract.system import names
from workbench.contract.units import quantity
from workbench.numerics.calculus import trace

PLANTS = {name: machine(name).plant for name in machines()} | {
    **{
        f"{name}, {detail}": replace(machine(name).plant, detail=detail)
        for name in ("ieha-figures", "ieha-control")
        for detail in ("ripple", "full")
    },
    **{
        f"four-bar, {law}": changed(machine("four-bar").plant, {"friction": {"law": law}})
        for law in ("BengisuAkay", "LuGre", "ModifiedLuGre")
    },
    "crane, locked": machine("hiab-xs031").plant.locked(extension=0.37),
    **{f"mechanism, {name}": make() for name, make in mechanisms.EVERY.items()},
    "metered arm": MeteredArms(),
    "metered arms, two": MeteredArms(arms=(Arm(K=3e7), Arm("2", L_m=0.7, θ_0=-0.3))),
    "metered twin": MeteredTwin(
        of=MeteredArms(arms=(Arm(K=3e7), Arm("2", L_m=0.7, θ_0=-0.3))), β=1.3e9
    ),
    "metered crane": MeteredCrane(machine("hiab-xs031").plant, u_b=0.03),
    "random, one structure": varied_machine(1, (False,)),
    "random, slide": varied_machine(2, (True,)),
    "random, two structures": varied_machine(3, (False, True)),
    "random, three structures": varied_machine(5, (True, False, True)),
}
FUNCTIONS = {
    "rhs": lambda s, t, x, u: s.rhs(t[0], x, u),
    "out": lambda s, t, x, u: s.out(t[0], x),
    "monitor": lambda s, t, x, u: s.monitor(t[0], x, u),
    "powers": lambda s, t, x, u: s.powers(t[0], x, u),
    "stored": lambda s, t, x, u: [s.stored(t[0], x, u)],
    "update": lambda s, t, x, u: s.update(t[0], x, u),
    "guards": lambda s, t, x, u: s.guards(t[0], x, u),
}
every_plant = pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)


@every_plant
@pytest.mark.parametrize("function", FUNCTIONS)
def test_same_text_on_floats_and_expressions(plant, function):
    rng = np.random.default_rng(7)
    for _ in range(2):
        x, u = plant_state(rng, plant), plant_inputs(rng, plant)
        assert apart(plant, FUNCTIONS[function], [0.3], x, u) < 1e-12


@pytest.mark.parametrize("name", [name for name in PLANTS if name.startswith("metered")])
@pytest.mark.parametrize("beyond", [1.0, -1.0])
def test_an_opening_beyond_fully_open_is_refused(name, beyond):
    """The plant would cut it without a word: beyond its limits a command changes nothing."""
    plant = PLANTS[name]
    loop = ClosedLoop(plant, OpenLoop(plant))
    command, (low, high) = next(iter(plant.limits().items()))
    value = 0.5 * (low + high) + 0.8 * beyond * (high - low)
    with pytest.raises(InputError, match="which can be"):
        simulate(loop, Scenario(duration=0.01, disturbances={command: value}))


@every_plant
def test_contract(plant):
    lengths = {
        "rhs": len(plant.states),
        "out": len(plant.outputs),
        "monitor": len(plant.monitors),
        "powers": len(plant.power_names),
        "stored": 1,
        "update": len(plant.states),
    }
    rng = np.random.default_rng(8)
    x, u = plant_state(rng, plant), plant_inputs(rng, plant)
    lengths["guards"] = len(plant.guards(0.0, x, u))
    assert {name: len(on_floats(plant, f, [0.0], x, u)) for name, f in FUNCTIONS.items()} == lengths
    assert len(plant.initial()) == len(plant.states) and np.isfinite(plant.initial()).all()
    signals = [*plant.states, *plant.inputs, *plant.outputs, *plant.monitors]
    for group in (plant.states, plant.inputs, plant.outputs, plant.monitors):
        assert len(set(names(group))) == len(group)
    assert {s.kind for s in signals} <= {"", "disturbance", "friction"} and all(
        s.meaning for s in signals
    )
    for s in signals:
        quantity(f"1 {s.unit}" if s.unit != "1" else 1.0, s.unit)  # a unit pint knows
    assert set(plant.defaults()) <= set(names(plant.inputs)) and set(plant.stiff) <= set(
        names(plant.states)
    )
    assert len({leaf.path for leaf in leaves(plant)}) == len(list(leaves(plant)))


@every_plant
def test_a_rate_has_the_unit_of_what_it_is_the_rate_of(plant):
    units = {s.name: s.unit for s in (*plant.states, *plant.outputs, *plant.monitors)}
    for name, unit in units.items():
        if name.startswith("d") and name[1:] in units:
            assert unit == f"{units[name[1:]]}/s", name


@every_plant
def test_outputs_and_signals_agree(plant):
    """A measured or logged signal called as a state is that state."""
    rng = np.random.default_rng(9)
    x, u = plant_state(rng, plant), plant_inputs(rng, plant)
    state, shown = dict(zip(names(plant.states), x)), {}
    for group, values in (
        (plant.outputs, plant.out(0.0, x)),
        (plant.monitors, plant.monitor(0.0, x, u)),
    ):
        for s, v in zip(group, values):
            assert shown.setdefault(s.name, v) == v and state.get(s.name, v) == v, s.name


@every_plant
def test_out_needs_no_inputs_and_zeros_are_constants(plant):
    traced = trace(plant, names(plant.inputs))
    assert traced.out.jac_sparsity(0, 2).nnz() == 0
    if not plant.structures:
        return
    voltages = names(plant.inputs[: plant.n])
    fixed = trace(plant, voltages)
    moving = trace(plant, (*voltages, *(s.name for s in plant.inputs if s.name.startswith("V_b"))))
    assert (
        fixed.flow.n_instructions() < moving.flow.n_instructions()
    )  # a base at rest costs nothing


@dataclass(frozen=True)
class Odd(System):
    """ẋ = −k x, with a fault of choice."""

    k: Annotated[float, Unit("1/s")] = 2.3
    fault: str = ""
    states = (Signal("x", "m", "position"),)
    inputs = ()

    def initial(self):
        return [0.7]

    def rhs(self, t, x, u):
        if self.fault == "other numbers":
            return [-self.k * x[0] * (1 + 1e-11 * isinstance(x[0], ca.SX))]
        if self.fault == "not a number":
            return [-self.k * x[0] + (float("nan") if isinstance(x[0], ca.SX) else 0.0)]
        if self.fault == "array":
            held = np.zeros(1)
            held[0] = -self.k * x[0]
            return list(held)
        if self.fault == "branch":
            return [-self.k * x[0] if x[0] > 0 else 0.0]
        return [-self.k * x[0]]


def test_planted_faults_are_seen():
    same = FUNCTIONS["rhs"]
    assert apart(Odd(), same, [0.1], [0.4], []) < 1e-15
    assert apart(Odd(fault="other numbers"), same, [0.1], [0.4], []) > 1e-12
    for fault, sentence in (
        ("not a number", "one thing on numbers and another on expressions"),
        ("array", "write vectors as lists"),
        ("branch", "np.where"),
    ):
        with pytest.raises(InputError, match=sentence):
            simulate(Odd(fault=fault), Scenario(0.1))


def test_unlike_names_of_parts_are_refused_where_numbers_would_be_mixed_up():
    plant = PLANTS["random, two structures"]
    twins = replace(plant, structures=tuple(replace(s, name="same") for s in plant.structures))
    with pytest.raises(InputError, match="two parts are called 'same'"):
        trace(twins, ())
