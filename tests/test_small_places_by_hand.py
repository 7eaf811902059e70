"""Small places of machines and their files, from numbers written down: no two alike, none at the origin."""

from types import SimpleNamespace

import numpy as np
import pytest
from mechanisms import ROD, bar
from test_four_bar import ODD

from plants import machine_files
from plants.components import sizes
from plants.components.friction import Frictionless, LuGre
from plants.drives.compressible_rod import CompressibleRod
from plants.ieha.statements import Statements
from plants.metered.arms_names import MeteredArmsNames
from plants.multibody import effort, leading, pins
from plants.multibody import measured as told
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Body, Pin
from plants.supplies.constant import ConstantPressure
from plants.supplies.load_sensing import LoadSensing
from workbench.contract.errors import InputError


# ---- plants -------------------------------------------------------------------------------------
def test_a_four_bar_shows_its_cylinder_its_states_and_the_cranks_angle_from_the_vertical():
    x = [0.7, -0.3, 4e6, 2e6, 0.1, 0.2]
    found = ODD.out(0.0, x)
    assert found == pytest.approx(
        [ODD.length(0.7), -0.3 * ODD.lever(0.7), *x[:5], np.pi / 2 - 0.7], rel=1e-12
    )


def test_limits_of_a_four_bar():
    found = {limit.name: limit for limit in ODD.machine_limits()}
    vacuum = [found[f"vacuum in {name}"] for name in ODD.pressure_names]
    assert len(vacuum) == 3 and all((v.low, v.high) == (0.0, np.inf) for v in vacuum)
    spool = found["spool"]
    assert (spool.low, spool.high) == (-ODD.circuit.U_max, ODD.circuit.U_max) and spool.bearable
    assert not any(limit.bearable for limit in vacuum)


def test_limits_of_a_throttled_circuit():
    *vacuum, spool = ODD.circuit.machine_limits("c", "arm")
    assert [(v.signals, v.low, v.high) for v in vacuum] == [
        ((name,), 0.0, np.inf) for name in ("p_1_c", "p_2_c", "p_3_c")
    ]
    assert (spool.signals, spool.high, spool.key) == (("U_c",), ODD.circuit.U_max, "arm.U_max")


def test_oil_of_both_sides_stores_what_its_pressure_presses_together():
    """V P²/2β of each side, beside what the rod stores."""
    drive = CompressibleRod(ROD, β=1.3e9, V_h=7e-3, V_r=2e-3)
    P_h, P_r, s = 4e6, 9e6, 0.35
    oil = (7e-3 * P_h**2 + 2e-3 * P_r**2) / 2.6e9
    spring = ROD.stored([0.351, P_h, P_r], s)
    assert spring == pytest.approx(0.5 * ROD.K * 0.001**2, rel=1e-6)
    assert drive.stored([0.351, P_h, P_r], s) == pytest.approx(spring + oil, rel=1e-12)


def two_bars(**options):
    """Bars of 2 m and 3 m about z, the second on a spot of the first at 1.5 m."""
    lower = bar("lower", "ground", 2.0, 10.0)
    upper = bar("upper", "lower", 3.0, 5.0, point=(1.5, 0.0, 0.0))
    return Mechanism((lower, upper), **options)


def test_how_far_a_cut_is_open_is_the_length_of_its_rows(monkeypatch):
    """3 mm, 4 mm and 12 mm apart: 13 mm."""
    rows = [SimpleNamespace(value=v) for v in (3e-3, -4e-3, 12e-3)]
    monkeypatch.setattr(told.loops, "rows", lambda loop, motion, a, b: rows)
    monkeypatch.setattr(told.dynamics, "bends", lambda self, z, motion: [])
    monkeypatch.setattr(told.acting, "shown", lambda self, pulls, own, u: [])
    made = SimpleNamespace(
        split=lambda x: ([], [], []), closed=lambda z, rates: None, loops=("cut",), cuts=((0, 1),),
        pulls=lambda *given: [], _following=lambda z, rates: [], tcp=None,
    )  # fmt: skip
    (owner,) = (c for c in vars(told).values() if isinstance(c, type) and "monitor" in vars(c))
    assert owner.monitor(made, 0.0, [], []) == pytest.approx([13e-3])


def test_where_a_tool_is():
    """Of a pin at (0.8, 0.1) of the upper bar, by two turns."""
    arm = two_bars(tcp=Pin("upper", (0.8, 0.1, 0.4)))
    a, b = 0.3, -1.1
    x = 1.5 * np.cos(a) + 0.8 * np.cos(a + b) - 0.1 * np.sin(a + b)
    y = 1.5 * np.sin(a) + 0.8 * np.sin(a + b) + 0.1 * np.cos(a + b)
    assert arm.has_tool
    assert arm.tool([a, b]) == pytest.approx([x, y, 0.4], rel=1e-12)


def test_a_mechanism_without_a_tool_says_so():
    assert not two_bars().has_tool
    with pytest.raises(AttributeError, match="give it a tcp"):
        two_bars().tool([0.3, 0.2])


def test_a_body_that_turns_as_it_likes_has_no_tool_to_follow():
    ball = Body("ball", joint="spherical", mass=2.0, inertia=(0.1, 0.2, 0.25, 0.0, 0.0, 0.0))
    assert not Mechanism((ball,), tcp=Pin("ball", (0.1, 0.0, 0.0))).has_tool


@pytest.mark.parametrize("turns", [-2, -1, 0, 1, 3])
def test_an_arm_turns_between_the_two_lines_through_its_cylinders_joint(turns):
    """dead + k π around where it starts, dead the angle of the cylinder's joint as the arm sees it; a motor half a turn."""
    dead = 0.3 + np.arctan2(0.5, -0.2)
    arm = SimpleNamespace(
        turns=False, θ_0=dead + (turns + 0.25) * np.pi, α=0.3, r_bx=-0.2, r_by=0.5
    )
    motor = SimpleNamespace(turns=True, θ_0=0.7)
    found = MeteredArmsNames.joint_range(SimpleNamespace(arms=(arm, motor)))
    assert found[0] == pytest.approx((dead + turns * np.pi, dead + (turns + 1) * np.pi))
    assert found[1] == pytest.approx((0.7 - np.pi, 0.7 + np.pi))


@pytest.mark.parametrize("θ, fine", [(0.5, True), (0.2, False), (0.9, False), (0.1, False)])
def test_an_arm_at_the_end_of_its_range_points_through_its_joint(θ, fine):
    own = SimpleNamespace(joint_names=("θ_a", "θ_b"), joint_range=lambda: [(-1.0, 1.0), (0.2, 0.9)])
    if fine:
        MeteredArmsNames.check_pose(own, (0.0, θ))
    else:
        with pytest.raises(InputError, match="θ_0: θ_b = "):
            MeteredArmsNames.check_pose(own, (0.0, θ))


@pytest.mark.parametrize(
    "N, turning, pulse",
    [(5, True, np.pi / 40), (6, True, 2 * np.pi / 48), (5, False, 0.0), (6, False, 0.0)],
)
def test_from_one_piston_to_the_next(N, turning, pulse):
    """ω = 8 rad/s: an even number of pistons changes ports two at a time."""
    pump = SimpleNamespace(N=N, ω=8.0)
    found = Statements.pulse.fget(SimpleNamespace(turning=turning, pump=pump))
    assert found == pytest.approx(pulse, rel=1e-12, abs=0.0)


def test_a_cylinder_rubs_that_has_a_law_of_friction():
    assert Statements.rubs.fget(SimpleNamespace(friction=LuGre())) is True
    assert Statements.rubs.fget(SimpleNamespace(friction=Frictionless())) is False


def test_two_pins_of_like_names_are_named():
    assert pins._nearest("pin_4", ["pin_1", "pin_2", "pin_3"]).count("pin_") == 2
    assert pins._nearest("pin_4", ["pin_1", "eye"]) == "did you mean pin_1?"
    assert pins._nearest("tooth", ["pin_1", "eye"]) == ""


def test_a_supply_gives_its_pressure_times_its_flow_and_has_a_pump_above_the_return():
    given, lost, stored = ConstantPressure().account(
        np.array([2e6, 3e6]), np.array([2e-3, 1e-3]), 0
    )
    assert given.tolist() == [4e3, 3e3] and lost == {} and stored.tolist() == [0.0, 0.0]
    pump = LoadSensing(p_top=200e5, p_r=3e5, Q_max=1.5e-3).circuit_pump
    assert (pump.Q, pump.P_M) == (1.5e-3, 197e5)


def test_a_size_at_either_end_of_its_range_was_written_in_another_unit():
    inside = {sizes.length: (1e-6, 14.9), sizes.flow: (1e-9, 0.99), sizes.pressure: (1.1e4, 9e8)}
    ends = {sizes.length: (0.0, 15.0), sizes.flow: (0.0, 1.0), sizes.pressure: (1e4, 1e9)}
    for bound, values in inside.items():
        assert all(bound.admits(v) for v in values)
        assert not any(bound.admits(v) for v in ends[bound])
        assert not any(bound.admits(v) for v in (-1.0, 1e10))


def test_what_a_motion_asks_of_pump_and_valves(monkeypatch):
    """Rates 1, 2, 0 and −1 m/s of two rods: areas by the way they move; the fastest of each against its valve's √½."""
    t = np.array([0.0, 1.0, 2.0, 3.0])
    lengths = [np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, -2.0, -4.0, -6.0])]
    drive = lambda out, back, speed: SimpleNamespace(
        areas=(out, back), sizes=lambda line: speed and SimpleNamespace(speed=speed)
    )
    drives = (drive(3.0, 2.0, 10.0), drive(1.0, 4.0, None))
    made = SimpleNamespace(
        actuators=[SimpleNamespace(drive=d) for d in drives], line_unloaded=None,
        supply=SimpleNamespace(Q_max=20.0),
    )  # fmt: skip
    monkeypatch.setattr(effort.coordinates, "driven", lambda mechanism: [0, 1])
    monkeypatch.setattr(effort.coordinates, "lengths", lambda mechanism, q: lengths)
    assert effort.effort(made, t, []) == pytest.approx((3.0 * 1.0 + 4.0 * 2.0) / 20.0)
    lengths[0] = np.array([0.0, 0.0, 12.0, 24.0])  # rates 0, 6, 12, 12
    made.supply = None
    assert effort.effort(made, t, []) == pytest.approx(12.0 / (np.sqrt(0.5) * 10.0))


# ---- which rates lead ------------------------------------------------------------------------
FREE = np.array([[0.6, 0.0], [0.59, 0.05], [0.0, 0.8], [0.0, 0.0]])  # two motions of four rates


@pytest.mark.parametrize(
    "order, least, chosen",
    [
        ((0, 1, 2, 3), 0.2, [0, 2]),  # the second shows what the first has shown
        ((1, 0, 2, 3), 0.2, [1, 2]),
        ((0, 1, 2, 3), 0.01, [0, 1]),
        ((3, 2, 1, 0), 0.2, [2, 1]),
        ((3, 0, 1), 0.2, [0]),
    ],
)
def test_rates_that_lead_each_show_a_motion_of_their_own(order, least, chosen):
    assert leading._distinct(FREE, order, least) == chosen


def test_held_joints_lead_then_driven_ones_then_those_of_one_number():
    kinds = ("spherical", "revolute", "revolute", "prismatic")
    bodies = [SimpleNamespace(name=f"b{j}", hold=j == 2, joint=k) for j, k in enumerate(kinds)]
    tree = SimpleNamespace(body_of=(0, 0, 0, 1, 2, 3), order=[0, 3, 1, 2])
    driven = (SimpleNamespace(joint="b1"), SimpleNamespace(joint=None))
    machine = SimpleNamespace(tree=tree, bodies=bodies, actuators=driven)
    order = sorted(range(6), key=lambda i: leading._rank(machine, i))
    assert order == [4, 3, 5, 0, 1, 2]


# ---- files of machines --------------------------------------------------------------------------
def test_two_machines_of_like_names_are_named(monkeypatch):
    monkeypatch.setattr(machine_files, "machines", lambda: ("crane-1", "crane-2", "crane-3"))
    with pytest.raises(InputError) as refused:
        machine_files.file_of("crane-4")
    assert refused.value.mend.count("crane-") == 2 and " or " in refused.value.mend
    with pytest.raises(InputError, match="zzz") as refused:
        machine_files.file_of("zzz")
    assert refused.value.mend == "choose from crane-1, crane-2, crane-3"


def test_what_a_machines_file_has_beside_its_plant_is_named(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("plant:\n  type: Crane\nsources: {}\nlaw: {}\nclaims: []\n", "utf-8")
    with pytest.raises(InputError, match="this one has law, claims, too"):
        machine_files.machine_sections(path)
    path.write_text("plant:\n  type: Crane\nsources: {}\n", "utf-8")
    assert list(machine_files.machine_sections(path)) == ["plant", "sources"]
