"""A drive and a supply of one's own, each a class that answers its contract: the machine runs, is limited and accounts for them."""

from dataclasses import dataclass, replace
from typing import Annotated, final

import numpy as np
import pytest
from mechanisms import lift

from controllers import PID
from plants import ConstantPressure, Cylinder, MeteredSection, ServoCylinder, SharedPump
from plants.drives.contract import Drive, Line, Sizes
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body
from plants.supplies.contract import Supply, flow_limit
from workbench import ClosedLoop, InputError, Sampled, Scenario, Sine, simulate
from workbench.cases.schema import json_schema
from workbench.contract.machine_limits import Limit
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import Signal, names


@final
@dataclass(frozen=True)
class Ram(Drive):
    """A single-acting ram with compressible oil: ṗ = β/V (Q − A ṡ), Q = k u √(p_s − p) one way and √(p − p_r) the other."""

    needs_supply = True
    limit: Annotated[float, Unit("1"), "largest opening", positive] = 1.0
    A: Annotated[float, Unit("m^2"), "area", positive] = 2e-3
    k: Annotated[float, Unit("m^3/(s Pa^0.5)"), "valve, fully open", positive] = 2e-7
    C: Annotated[float, Unit("m^3/Pa"), "compliance of the oil", positive] = 1e-12
    d: Annotated[float, Unit("N s/m"), "viscous friction", positive] = 2e3

    def __post_init__(self):
        check_bounds(self)

    def states(self, label):
        return (Signal(f"p_{label}", "Pa", "pressure"),)

    def inputs(self, label):
        return (Signal(f"u_{label}", "1", "opening"),)

    def pressures(self, label):
        return (f"p_{label}",)

    def power_names(self, label):
        return tuple(f"{cause}_{label}" for cause in ("supply", "tank", "valve", "friction"))

    def _flows(self, x, u, line):
        out = self.k * np.maximum(u[0], 0.0) * np.sqrt(np.maximum(line.p_s - x[0], 0.0))
        back = self.k * np.maximum(-u[0], 0.0) * np.sqrt(np.maximum(x[0] - line.p_r, 0.0))
        return out, back

    def force(self, x, s, sdot, u, line):
        return self.A * x[0] - self.d * sdot

    def rates(self, x, s, sdot, u, line):
        out, back = self._flows(x, u, line)
        return [(out - back - self.A * sdot) / self.C]

    def flow(self, x, s, sdot, u, line):
        return self._flows(x, u, line)[0]

    def stored(self, x, s):
        return 0.5 * self.C * x[0] ** 2

    def powers(self, x, s, sdot, u, line):
        out, back = self._flows(x, u, line)
        lost = (line.p_s - x[0]) * out + (x[0] - line.p_r) * back
        return [line.p_s * out, -line.p_r * back, -lost, -self.d * sdot**2]

    def initial(self, s, force, line):
        return [force / self.A]

    def bears(self, line):
        return self.A * line.p_r, self.A * line.p_s

    def bears_by(self, line):
        return "the supply"

    def sizes(self, line):
        p = line.p_s
        return Sizes(p, "supply", p * self.A, p * self.A, 1.0, self.velocity_gain_on(line))

    def velocity_gain_on(self, line):
        return self.k * (line.p_s - line.p_r) ** 0.5 / self.A


@final
@dataclass(frozen=True)
class Accumulator(Supply):
    """A vessel that nothing refills: its pressure falls as oil is taken, C ṗ = −ΣQ."""

    p_0: Annotated[float, Unit("Pa"), "pressure at the start", positive] = 120e5
    C: Annotated[float, Unit("m^3/Pa"), "capacity", positive] = 5e-10

    def states(self):
        return (Signal("p_acc", "Pa", "pressure of the vessel"),)

    def line(self, y):
        return Line(y[0], 0.0)

    @property
    def most(self):
        return Line(self.p_0, 0.0)

    def _taken(self, takers):
        return sum(drive.flow(*pull.at) for drive, pull in takers)

    def rates(self, y, takers, w):
        return [-self._taken(takers) / self.C]

    def power_names(self):
        return ("delivered",)

    def powers(self, y, takers, w):
        return [-y[0] * self._taken(takers)]

    def stored(self, y):
        return 0.5 * self.C * y[0] ** 2

    def initial(self, tops):
        return [self.p_0]

    def machine_limits(self, flows):
        return flow_limit(flows, 1e-3)


@final
@dataclass(frozen=True)
class Refilled(Supply):
    """A vessel that a pump refills with the flow it is told: C ṗ = Q − ΣQ."""

    C: Annotated[float, Unit("m^3/Pa"), "capacity", positive] = 5e-10

    def states(self):
        return (Signal("p_acc", "Pa", "pressure of the vessel"),)

    def inputs(self):
        return (Signal("Q_in", "m^3/s", "flow of the pump"),)

    def logged(self):
        return (Signal("Q_left", "m^3/s", "flow into the vessel"),)

    def shown(self, y, takers, w):
        return [w[0] - sum(drive.flow(*pull.at) for drive, pull in takers)]

    def line(self, y):
        return Line(y[0], 0.0)

    @property
    def most(self):
        return Line(120e5, 0.0)

    def rates(self, y, takers, w):
        return [self.shown(y, takers, w)[0] / self.C]

    def power_names(self):
        return ("pumped", "delivered")

    def powers(self, y, takers, w):
        left = self.shown(y, takers, w)[0]
        return [y[0] * w[0], y[0] * (left - w[0])]

    def stored(self, y):
        return 0.5 * self.C * y[0] ** 2

    def initial(self, tops):
        return [100e5]

    def limits(self):
        return {"Q_in": (0.0, 5e-4)}

    def machine_limits(self, flows):
        return ()


def machine(drive=None, supply=None):
    return lift(drive or Ram(), supply=supply or Accumulator())


def test_a_drive_and_a_supply_of_ones_own_run_and_their_energy_closes():
    plant = machine()
    assert names(plant.states) == ["x_load", "dx_load", "p_c", "p_acc"]
    log = simulate(plant, Scenario(0.8, disturbances={"u_c": 0.3}))
    assert log.status.completed and np.ptp(log.array("x_load")) > 0.02
    taken = np.trapezoid(log.array("Q_s_c"), log.time)
    assert log.array("p_acc")[0] - log.array("p_acc")[-1] == pytest.approx(taken / 5e-10, rel=1e-3)
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in plant.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-6 * np.abs(log.array("E_supply_c")).max()


def test_a_supply_may_have_inputs_of_its_own():
    plant = machine(supply=Refilled())
    assert names(plant.inputs) == ["u_c", "Q_in"]
    assert plant.limits() == {"u_c": (-1.0, 1.0), "Q_in": (0.0, 5e-4)}
    log = simulate(plant, Scenario(0.5, disturbances={"u_c": 0.3, "Q_in": 2e-4}))
    assert log.status.completed
    p = log.array("p_acc")
    filled = np.trapezoid(log.array("Q_left"), log.time)
    assert p[-1] - p[0] == pytest.approx(filled / 5e-10, rel=1e-3)
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in plant.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-6 * np.abs(log.array("E_pumped")).max()


def test_a_drive_that_miscounts_its_work_is_seen_in_the_balance():
    def forgetful(self, x, s, sdot, u, line):
        powers = honest(self, x, s, sdot, u, line)
        return [*powers[:2], 0.0 * powers[2], powers[3]]

    honest = Ram.powers
    broken = type("Forgetful", (Ram,), {"powers": forgetful})
    log = simulate(machine(broken()), Scenario(0.3, disturbances={"u_c": 0.3}))
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in machine(broken()).power_names)
    assert np.abs(stored - stored[0] - spent).max() > 1e-2 * log.array("E_supply_c").max()


def test_what_they_say_reaches_limits_scales_holding_and_gains():
    plant = machine()
    kinds = [k.kind for k in plant.machine_limits()]
    assert kinds.count("flow") == 1 and kinds.count("command") == 1
    assert all(isinstance(k, Limit) for k in plant.machine_limits())
    (held,) = plant.holding(plant.initial(), [0.0])
    assert (held.low, held.high) == (0.0, 2e-3 * 120e5)
    assert held.needs == pytest.approx(310.0 * 9.81)
    assert plant.scales()["pressure"].value == 120e5
    assert plant.velocity_gain == pytest.approx(2e-7 * 120e5**0.5 / 2e-3)
    loop = ClosedLoop(plant, Sampled(PID(plant, **PID.suited(plant)), 1e-3))
    log = simulate(loop, Scenario(1.0, reference=Sine("output", "start", (0.02,), 0.5)))
    assert log.status.completed and np.ptp(log.array("s_c")) > 0.01


def test_they_go_with_those_that_are_shipped():
    log = simulate(machine(supply=ConstantPressure()), Scenario(0.2, disturbances={"u_c": 0.2}))
    assert log.status.completed and np.ptp(log.array("x_load")) > 1e-3
    servo = ServoCylinder(Cylinder(0.06, 0.035, 0.55), 0.0)
    log = simulate(machine(servo), Scenario(0.2, disturbances={"u_c": 1.0}))
    assert log.status.completed and np.ptp(log.array("p_acc")) > 0.0


def test_every_actuator_has_the_gain_of_its_own_drive():
    """Two drives of different kinds on one machine: the default law is suited to each."""
    cylinder = Cylinder(0.06, 0.035, 0.55, V_a0=5e-4, V_b0=5e-4)
    bodies = tuple(
        Body(name, "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=200.0, start=0.3)
        for name in ("left", "right")
    )
    drives = {"left": ServoCylinder(cylinder, 0.0), "right": MeteredSection(cylinder, 0.0)}
    actuators = tuple(Actuator(f"c_{k}", drive, joint=k) for k, drive in drives.items())
    plant = Mechanism(bodies, actuators=actuators, supply=SharedPump())
    servo, metered = plant.velocity_gains
    line = plant.supply.most
    assert (servo, metered) == tuple(d.velocity_gain_on(line) for d in drives.values())
    assert PID.suited(plant)["K_v"] == pytest.approx((1.0 / servo, 1.0 / metered))
    assert plant.velocity_gain == pytest.approx(0.5 * (servo + metered))
    log = simulate(plant, Scenario(0.2, disturbances={"u_c_left": 1.0, "u_c_c_right": 0.2}))
    assert log.status.completed
    assert min(np.ptp(log.array("x_left")), np.ptp(log.array("x_right"))) > 1e-4
    same = replace(plant, actuators=(actuators[0], replace(actuators[1], drive=drives["left"])))
    assert same.velocity_gains == () and same.velocity_gain == pytest.approx(servo)


def test_what_is_no_drive_and_no_supply_is_refused():
    plant = machine()
    with pytest.raises(InputError, match="drive: expected Force .* got 'Ram'"):
        replace(plant.actuators[0], drive="Ram")
    with pytest.raises(InputError, match="supply: expected ConstantPressure .* got Ram"):
        replace(plant, supply=Ram())


def test_a_file_names_a_kind_that_there_is():
    defs = json_schema(Actuator)["$defs"]
    drive = defs["Actuator (named)"]["properties"]["drive"]
    options = defs[drive["$ref"].rpartition("/")[2]]["anyOf"][0]["anyOf"]
    named = {option["$ref"].rpartition("/")[2] for option in options if "$ref" in option}
    assert {"Force", "ServoCylinder", "MeteredSection", "IEHADrive"} <= named
    assert "Drive" not in named and {} not in options


def test_what_answers_too_little_of_a_contract_is_none():
    @dataclass(frozen=True)
    class Weak(Drive):
        """Knows its force alone."""

        def force(self, x, s, sdot, u, line):
            return 0.0

    @dataclass(frozen=True)
    class Dry(Supply):
        """Has no line."""

    with pytest.raises(TypeError, match="Weak .* abstract methods? .*power_names"):
        Weak()
    with pytest.raises(TypeError, match="Dry .* abstract methods? .*line"):
        Dry()
