"""One machine whose drives are of six kinds, two of them on one joint: it runs, accounts for its energy and is judged."""

from types import SimpleNamespace

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from mechanisms import CYLINDER, MOTOR, bar

from controllers import VDC
from plants.components.circuit import ThrottledCircuit
from plants.drives.hydraulic_motor import HydraulicMotor
from plants.drives.ieha_drive import IEHADrive
from plants.drives.laws import Force, Torque
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.drives.servo_cylinder import ServoCylinder
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin
from plants.supplies.instant_pump import InstantPump
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Pump, Section
from workbench import Scenario, Sine, simulate
from workbench.run.dead_ends import below_vacuum
from workbench.verification.claims import EnergyBalance, Hypotheses, Identity
from workbench.verification.judge import verify

CLOSED = 0.8  # m, of both cylinders of the boom
SECTION = Section(A_h=20e-4, A_r=12e-4, P_hM=220e5, P_rM=220e5)
CIRCUIT = ThrottledCircuit(s_0=1.05, l_20=0.25, l_30=0.35, p_P=180e5, bore=0.07)


def at(body, x, y):
    return Pin(body, (x, y, 0.0))


def machine():
    """A boom on a servo cylinder and a metered one, an arm on a throttled one, a slide on an IEHA, one that a force pushes, and a
    beam that a motor turns beside them."""
    boom = bar("boom", "ground", 2.4, 190.0, point=(0.0, 1.2, 0.0), start="20 deg", hold=True)
    arm = bar("arm", "boom", 1.5, 70.0, point=(2.4, 0.0, 0.0), start="-60 deg", hold=True)
    pumped = Body(
        "pumped", "arm", "prismatic", (1.5, 0.0, 0.0), (1.0, 0.0, 0.0), mass=4.0, start=0.3
    )
    pushed = Body(
        "pushed", "arm", "prismatic", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), mass=7.0, start=0.1
    )
    beam = bar("beam", "ground", 1.1, 80.0, start="10 deg", damping=15.0)
    return Mechanism(
        (boom, arm, pumped, pushed, beam),
        actuators=(
            Actuator(
                "left",
                ServoCylinder(CYLINDER, CLOSED),
                at("ground", 0.45, 0.35),
                at("boom", 0.95, -0.06),
            ),
            Actuator(
                "right",
                MeteredSection(CYLINDER, CLOSED),
                at("ground", 0.62, 0.42),
                at("boom", 1.10, -0.06),
            ),
            Actuator("tilt", CIRCUIT, at("boom", 1.4, 0.30), at("arm", -0.22, 0.25)),
            Actuator("pumped", IEHADrive(middle=0.3), joint="pumped"),
            Actuator("pushed", Force(limit=900.0), joint="pushed"),
            Actuator("motor", HydraulicMotor(MOTOR), joint="beam"),
        ),
        supply=SharedPump(),
        method="minimal",
    )


WAVE = Scenario(
    1.2, reference=Sine("joint", "start", (0.05, 0.05, 0.01, 0.02, 0.05), 0.5, ramp=0.3)
)


@pytest.fixture(scope="module")
def plant():
    return machine()


@pytest.fixture(scope="module")
def loop(plant):
    return loop_of(VDC(plant))


@pytest.fixture(scope="module")
def log(loop):
    found = simulate(loop, WAVE)
    assert found.status.completed, found.status.message
    return found


def test_every_row_of_the_ledger_closes_and_every_cut_cancels(loop):
    """Two kinds side by side on the boom share its load; each has a row of its own."""
    b = at_random(loop, seed=2, count=3)
    assert not unbalanced(b) and not open_cuts(b)


def beside(supply):
    """A boom on a metered rod, and a wrist that a torque turns: of the two only the rod takes oil."""
    boom = bar("boom", "ground", 2.0, 80.0, point=(0.0, 1.0, 0.0), start="15 deg", hold=True)
    wrist = bar("wrist", "boom", 0.5, 12.0, point=(2.0, 0.0, 0.0), start="-40 deg", hold=True)
    rod = MeteredRod(K=8e6, B=6e4, section=SECTION)
    return Mechanism(
        (boom, wrist),
        actuators=(
            Actuator("turn", Torque(), joint="wrist"),
            Actuator("lift", rod, at("ground", 0.4, 0.3), at("boom", 0.8, 0.0)),
        ),
        supply=supply,
        method="minimal",
    )


@pytest.mark.parametrize("supply", (InstantPump(Pump(Q=50e-3 / 60, P_M=170e5)), SharedPump()))
def test_a_pump_that_feeds_one_of_two_drives_is_asked_for_that_one(supply):
    """Rows and cuts close, and the pressure that the law expects is what the rod alone leaves of the pump's flow."""
    plant = beside(supply)
    law = VDC(plant)
    b = at_random(loop_of(law), seed=4, count=3)
    assert not unbalanced(b) and not open_cuts(b)
    speeds = [0.3, 0.04]
    line = law.asked(plant, [0.0, 3000.0], speeds, speeds, [[], [0.0]], [[], [0.0]])
    if not supply.settles:
        assert line is None
        return
    asked, areas = law.parts[1].asks(plant.actuators[1].drive, 3000.0, 0.04, 0.04, [0.0], [0.0])
    assert line.p_s == supply.left_by([areas], [asked]) < supply.left_by([], [])


def test_its_energy_closes_with_every_kind_in_the_account(plant, log):
    stored = log.array("E_stored")
    spent = sum(log.array(f"E_{name}") for name in plant.power_names)
    assert np.abs(stored - stored[0] - spent).max() < 1e-9 * np.abs(log.array("E_pump")).max()
    for kind in ("left", "right", "tilt", "pumped", "motor"):
        names = [name for name in plant.power_names if name.endswith(f"_{kind}")]
        assert max(np.ptp(log.array(f"E_{name}")) for name in names) > 0.1


def power_gap(plant) -> float:
    """d(stored)/dt along the flow, by central differences, against the sum of the powers, as a share of the largest power."""
    rng = np.random.default_rng(5)
    start = np.array(plant.initial(), float)
    sizes = np.where(np.abs(start) > 1e4, 0.05 * np.abs(start), 0.02)
    u, h, worst = [0.3, 0.2, 1.0, 2e-5, 900.0, 0.5], 1e-7, 0.0
    for _ in range(4):
        x = start + sizes * rng.uniform(-1.0, 1.0, len(start))
        flow = np.array(plant.rhs(0.0, list(x), u), float)
        ahead, behind = (float(plant.stored(0.0, list(x + s * h * flow), u)) for s in (1, -1))
        powers = [float(p) for p in plant.powers(0.0, list(x), u)]
        gap = (ahead - behind) / (2 * h) - sum(powers)
        worst = max(worst, abs(gap) / max(map(abs, powers)))
    return worst


def test_powers_are_the_rate_of_the_stored_energy_by_differences(plant):
    assert power_gap(plant) < 1e-6


@pytest.mark.parametrize(
    "kind", [Force, ServoCylinder, MeteredSection, ThrottledCircuit, IEHADrive, HydraulicMotor]
)
def test_a_drive_that_counts_its_largest_power_double_is_seen(plant, kind, monkeypatch):
    honest = kind.powers

    def twice(self, *at):
        powers = honest(self, *at)
        largest = max(range(len(powers)), key=lambda k: abs(float(powers[k])))
        return [2 * p if k == largest else p for k, p in enumerate(powers)]

    monkeypatch.setattr(kind, "powers", twice)
    assert power_gap(plant) > 1e-5


def test_vacuum_is_that_of_each_drive(plant, log):
    """An electro-hydraulic actuator counts from the atmosphere: what is vacuum to a servo valve's chambers is not to its own."""
    assert log.array("P_A_pumped").min() < 0.0 == plant.vacua["p_a_left"]
    assert "P_A_pumped" not in plant.vacua
    assert below_vacuum(plant, log) == (np.inf, "")
    high = plant.vacua | {"p_a_left": 2.0 * log.array("p_a_left").max()}
    assert "p_a_left falls below vacuum" in below_vacuum(SimpleNamespace(vacua=high), log)[1]


def test_it_is_judged(loop):
    """Sound parts hold; hypotheses of the theorem that lags and throttles break are named with their drives."""
    energy, identity, hypotheses = verify(loop, WAVE, [EnergyBalance(), Identity(), Hypotheses()])
    assert energy.holds is True and identity.holds is True
    assert hypotheses.holds is False and "tilt" in hypotheses.worst
