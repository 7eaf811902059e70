"""Small places of plants, each on numbers that are written down: supplies, limits, gains, bodies and what is asked of them."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from plants import machine
from plants.components.circuit_signals import CircuitSignals
from plants.components.cylinder import Walls
from plants.crane import abilities as crane_abilities
from plants.crane import planar
from plants.crane.on_pump import OnPump
from plants.drives import metering
from plants.drives.behind_valves import BehindValves
from plants.drives.contract import Line
from plants.drives.ieha_drive import OWN, IEHADrive
from plants.four_bar.abilities import FourBarAbilities
from plants.machine_files import like
from plants.metered.arm import Arm
from plants.metered.arms_valves import MeteredArmsValves
from plants.metered.on_valves import pump_limit
from plants.metered.twin import MeteredTwin
from plants.multibody import drive_forces, planar_rates, reach
from plants.multibody.abilities import Abilities
from plants.multibody.built import Built
from plants.multibody.lumped import Lump, joined
from plants.supplies.shared_pump import SharedPump, idle
from plants.valve_circuits.circuit import Pump, Section
from workbench.contract.errors import InputError


# ---- hydraulics ----------------------------------------------------------------------------------------------------------------
def test_oil_hose_and_tube_give_way_one_after_the_other():
    """V/B = V/β + V_h/B_h + (V − V_h)/B_c."""
    V, V_h, β = 3e-3, 5e-4, 1.2e9
    soft = V / β + V_h / 4e8
    assert Walls(B_h=4e8).modulus(β, V, V_h) == pytest.approx(V / soft)
    tube = (V - V_h) / 9e10
    assert Walls(B_h=4e8, B_c=9e10).modulus(β, V, V_h) == pytest.approx(V / (soft + tube))


PUMP = SharedPump(pump=Pump(Q=2e-3, P_M=1.5e7), u_b=0.1, V_p=3e-3, G=4e-9, β=7e8)


@pytest.mark.parametrize("P, opens", [(1.0e7, 0.0), (1.6e7, 4e-3), (0.0, 0.0), (-2e5, 0.0)])
def test_where_the_power_of_a_pump_goes(P, opens):
    """Q P through the bleed, k_b √P, through the relief, G (P − P_M)⁺, and into its own oil, V/β P Ṗ; none below the tank."""
    found = PUMP.account(P, 1e-4, 3e6)
    bled = PUMP.k_b * np.sqrt(max(P, 0.0))
    assert found.given == pytest.approx(2e-3 * P)
    assert found.lost == {
        "bleed": pytest.approx(bled * max(P, 0.0)),
        "relief": pytest.approx(opens * P),
    }
    assert found.stored == pytest.approx(3e-3 / 7e8 * P * 3e6)
    assert PUMP.lost([P]) == (pytest.approx(bled), pytest.approx(opens))
    taken = [(SimpleNamespace(flow=lambda a, b: a + 2 * b), SimpleNamespace(at=(1e-4, 2e-4)))] * 2
    (rate,) = PUMP.rates([P], taken, None)
    assert rate == pytest.approx(7e8 / 3e-3 * (2e-3 - bled - opens - 1e-3))
    top = max(P, 0.0)
    expected = [2e-3 * top, -bled * top, -opens * top, -1e-3 * top]
    assert PUMP.powers([P], taken, None) == pytest.approx(expected)
    assert PUMP.stored([P]) == pytest.approx(0.5 * 3e-3 / 7e8 * P**2)


@pytest.mark.parametrize("k_b", [1e-6, 2e-3 / 1.5e7**0.5, 1e-6 * 0.3])
def test_the_pressure_of_a_pump_with_all_valves_shut(k_b):
    P = idle(2e-3, 1.5e7, k_b, 4e-9)
    assert k_b * np.sqrt(P) + 4e-9 * max(P - 1.5e7, 0.0) == pytest.approx(2e-3)


def test_the_highest_pressure_of_a_pump_is_where_the_relief_takes_it_all():
    limit = pump_limit(Pump(Q=2e-3, P_M=1.5e7), 4e-9, "pump.P_M")
    assert limit.high == pytest.approx(1.5e7 + 5e5) and limit.low == -inf
    assert (limit.signals, limit.unit, limit.key) == (("P",), "Pa", "pump.P_M")
    (own,) = PUMP.machine_limits(None)
    assert own.high == pytest.approx(1.55e7) and own.low == -inf


def test_a_spool_has_a_reference_named_after_its_place():
    (plain,), (named,) = CircuitSignals.inputs(None), CircuitSignals.inputs(None, "left")
    assert plain.meaning == "reference of the spool" and plain.unit == "V"
    assert named.meaning == "reference of the spool, left" and named.name != plain.name


def test_gains_of_a_section_are_those_between_its_lines():
    """Per turn of the arm where a motor turns it through a gear."""
    section = Section()
    drive = SimpleNamespace(section=section, i=4.0)
    found = BehindValves.velocity_gain_on(drive, Line(1.8e7, 3e6))
    assert found == pytest.approx(metering.speed_gain(section, 1.5e7) / 4.0)


def test_an_averaged_pump_has_no_angle():
    x = list(range(10, 30))
    assert IEHADrive.angle(SimpleNamespace(turning=True), x) == x[OWN]
    assert IEHADrive.angle(SimpleNamespace(turning=False), x) == 0.0


# ---- machines ------------------------------------------------------------------------------------------------------------------
def test_the_travel_of_a_spool_is_borne():
    """It is a limit that may be reached; a valve without a spool has none."""
    valve = SimpleNamespace(
        u_max=7.5, spool_states=lambda label: (SimpleNamespace(name=f"u_{label}"), None)
    )
    segment = SimpleNamespace(name="lift", cylinder=SimpleNamespace(valve=valve))
    (limit,) = crane_abilities._spool("1", segment)
    assert (limit.low, limit.high, limit.bearable) == (-7.5, 7.5, True)
    assert limit.signals == ("u_1",) and limit.key == "lift.cylinder.valve.u_max"
    valve.spool_states = lambda label: ()
    assert crane_abilities._spool("1", segment) == []


@pytest.mark.parametrize("p, fits", [(0.0, True), (1.0, True), (-1e-9, False), (1.0 + 1e-9, False)])
def test_pressures_of_a_machine_are_within_what_its_supply_can_give(p, fits):
    """A share of the supply's pressure on one side; the other side is in the middle."""
    crane = machine("hiab-xs031").plant
    pair = (0.5 * crane.p_s, p * crane.p_s)
    pairs = (pair, *[(0.5 * crane.p_s,) * 2] * (crane.n - 1))
    if fits:
        assert replace(crane, pressures=pairs).pressures == pairs
        return
    with pytest.raises(InputError, match="pressures: p_b.* = .* bar is outside 0"):
        replace(crane, pressures=pairs)


@pytest.mark.parametrize("lines, found", [(1, 40.0), (2, [30.0, 40.0]), (3, [20.0, 30.0, 40.0])])
def test_the_supply_of_a_machine_on_pumps_is_the_last_of_its_states(lines, found):
    own = SimpleNamespace(lines=range(lines))
    assert OnPump.supply(own, [10.0, 20.0, 30.0, 40.0]) == found


def test_a_link_turns_about_the_plane_or_slides_along_itself():
    link = planar.Link(mass=70.0, r=0.4, s=-0.1, inertia=9.0)
    slides, turns = (
        planar._body("b", "a", link, (1.0, 2.0, 0.0), slides) for slides in (True, False)
    )
    assert slides.joint == "prismatic" and slides.axis == (1.0, 0.0, 0.0)
    assert turns.joint == "revolute" and turns.axis == planar.Body.axis
    assert turns.com == (0.4, -0.1, 0.0) and turns.inertia == (0.0, 0.0, 9.0, 0.0, 0.0, 0.0)
    assert (turns.mass, turns.parent, turns.point) == (70.0, "a", (1.0, 2.0, 0.0))


def test_the_shipped_machine_like_another_is_the_one_of_its_name():
    crane = machine("hiab-xs031").plant
    assert like(replace(crane, g=1.6)) == crane
    assert like(replace(crane, name="another")) is None


def test_what_a_four_bar_linkage_needs_to_hold_still():
    circuit = SimpleNamespace(bears=lambda: (-7.0, 9.0), bears_by=lambda: "the relief")
    own = SimpleNamespace(circuit=circuit, holding_force=lambda q: 10.0 * q)
    (found,) = FourBarAbilities.holding(own, [3.0, 5.0], None)
    assert (found.name, found.needs, found.low, found.high, found.unit) == (
        "cylinder",
        30.0,
        -7.0,
        9.0,
        "N",
    )


def test_what_metered_arms_need_to_hold_still():
    """Each against its weight and the force at its tip, at the angles that it has; the last inputs are these forces."""
    arms = (Arm(), replace(Arm(), name="2", M=700.0, L_f=1.25, θ_0=0.4))
    own = SimpleNamespace(arms=arms, g=9.8, bearing=lambda *given: given)
    x = [0.2, 9.0, 9.0, -0.5, 9.0, 9.0, 9.0]
    u = [8.0, 8.0, 300.0, -200.0]
    for j, (_, name, needs, unit) in enumerate(MeteredArmsValves.holding(own, x, u)):
        arm, θ, f = arms[j], x[3 * j], u[2 + j]
        assert needs * arm.lever(θ) == pytest.approx(
            (arm.M * 9.8 * arm.L_g - arm.L_f * f) * np.cos(θ)
        )
        assert (name, unit) == (f"arm {arm.name}", "N")


@pytest.mark.parametrize("n", [1, 3])
def test_every_state_of_a_twin_has_its_tolerance(n):
    """Angle, rate and rod of each arm, two pressures of each and the pump's."""
    found = MeteredTwin.adaptive.fget(SimpleNamespace(names=range(n))).errors
    assert len(found) == 5 * n + 1 and found[: 3 * n] == (1e-9, 1e-8, 1e-10) * n
    assert set(found[3 * n :]) == {10.0}


# ---- mechanisms ----
@pytest.mark.parametrize(
    "told, kind",
    [
        ((None, None), "FilledValves"),
        ((None, 1.0), "MeteringValves"),
        ((1.0, None), "MeteringValves"),
    ],
)
def test_valves_are_in_a_circuit_where_one_of_them_is(told, kind):
    drives = [SimpleNamespace(valves=True, metering=lambda name, t=t: t) for t in told]
    own = SimpleNamespace(actuators=[SimpleNamespace(name="a", drive=d) for d in drives])
    assert type(Abilities.valves.fget(own)).__name__ == kind
    dry = SimpleNamespace(
        actuators=[SimpleNamespace(name="a", drive=SimpleNamespace(valves=False))]
    )
    assert Abilities.valves.fget(dry) is None


def test_two_bodies_that_are_fixed_to_each_other():
    """Masses 2 and 3, 5 apart along (3, 4, 0)/5: m₁m₂/m (d·d 1 − d dᵀ) with both tensors; spreads add, and m₁m₂/m d·d."""
    a = Lump(2.0, (1.0, 1.0, 1.0), (10.0, 20.0, 30.0, 1.0, 2.0, 3.0), 0.5)
    b = Lump(3.0, (0.0, 0.0, 0.5), (100.0, 200.0, 300.0, 4.0, 5.0, 6.0), 0.25)
    found = joined(a, b, (4.0, 5.0, 0.5))
    assert found.mass == 5.0 and found.com == pytest.approx((2.8, 3.4, 1.0))
    tensor = (110 + 1.2 * 16, 220 + 1.2 * 9, 330 + 1.2 * 25, 5 - 1.2 * 12, 7.0, 9.0)
    assert found.inertia == pytest.approx(tensor) and found.spread == pytest.approx(0.75 + 30.0)


def bearing(*ends):
    drive = lambda low, high: SimpleNamespace(drive=SimpleNamespace(bears=lambda line: (low, high)))
    return SimpleNamespace(actuators=[drive(*pair) for pair in ends], lead=[0], line_at_most=None)


@pytest.mark.parametrize(
    "ends, found",
    [
        (((-4.0, 2.0), (-1.0, 8.0)), [0.25, 1.0]),
        (((-4.0, 2.0), (-inf, 8.0)), [1.0, 1.0]),
        (((-4.0, np.float64(2.0)), (-1.0, 3.0)), [1.0, 0.5625]),
        (((-5.0, 2.0),), [1.0]),
    ],
)
def test_drives_count_by_what_they_can_bear(monkeypatch, ends, found):
    """Squares of shares of the largest; where one bears everything, or there is no choice, all alike."""
    monkeypatch.setattr(drive_forces.coordinates, "driven", lambda mechanism: range(len(ends)))
    assert drive_forces.weights(bearing(*ends)) == pytest.approx(found)


@pytest.mark.parametrize("base, turned", [(-1, False), (0, True), (1, True)])
def test_unit_forces_in_the_plane_of_a_loop(monkeypatch, base, turned):
    """Along the axes of the body on which the loop hangs, the ground's without one, at the place of the cut."""
    monkeypatch.setattr(
        planar_rates.planar, "plane_axes", lambda mechanism, k: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    )
    quarter = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]  # about z
    plain = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    motion = SimpleNamespace(r=[[5.0, 0.0, 0.0], [0.0, 7.0, 0.0]], R=[quarter, quarter])
    loop = SimpleNamespace(b=SimpleNamespace(point=(2.0, 1.0, 0.0)))
    rig = SimpleNamespace(cuts=[(0, 1)], loops=[loop])
    found = planar_rates.wrenches(rig, SimpleNamespace(loop=0, base=base), motion)
    at = np.array([-1.0, 9.0, 0.0])  # the point turned, and the body's place
    ways = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]] if turned else [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for (force, moment), way in zip(found, ways):
        assert list(force) == way and moment == pytest.approx(np.cross(at, way))
    motion.R = [plain, plain]
    rig.cuts = [(0, -1)]
    (_, moment), _ = planar_rates.wrenches(rig, SimpleNamespace(loop=0, base=-1), motion)
    assert moment == pytest.approx(np.cross([2.0, 1.0, 0.0], [1.0, 0.0, 0.0]))


def test_motions_of_two_cylinders_have_those_between_them(monkeypatch):
    """Strips along the second one from some places of the first; between two strips a share of each."""
    monkeypatch.setattr(reach, "ALONG", 5)
    monkeypatch.setattr(reach, "AGAIN", 3)
    monkeypatch.setattr(reach, "_some", lambda motion, many: motion[:many])
    monkeypatch.setattr(reach, "_even", lambda ways, many: ways)
    monkeypatch.setattr(
        reach, "beside", lambda rig, name, at: [at + [0.0, 10.0 * k] for k in range(5)]
    )
    motion = np.array([[0.0, 0.0], [4.0, 1.0], [6.0, 5.0]])
    start = np.array([100.0, 200.0])
    found = reach._both(None, "lift", motion, start).reshape(5, 5, 2)
    assert found[:, 0].tolist() == [[0.0, 0.0], [2.0, 0.5], [4.0, 1.0], [5.0, 3.0], [6.0, 5.0]]
    assert found[3, 4].tolist() == [5.0, 43.0]


def test_places_of_a_mechanisms_states_among_those_of_a_plant():
    """By another name where it is called so; by name where time tells it."""
    signals = lambda *names: tuple(SimpleNamespace(name=n) for n in names)
    own = SimpleNamespace(
        states=signals("s", "v", "q_2"), called={"q_1": "s", "dq_1": "v"}, timed=lambda t: {"q_0": t},
        mechanism=SimpleNamespace(states=signals("q_0", "dq_1", "q_2", "q_1")),
    )  # fmt: skip
    places = Built.__dict__["places"]
    found = places.func(own) if hasattr(places, "func") else places.fget(own)
    assert found == ("q_0", 1, 2, 0)
