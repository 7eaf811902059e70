"""The excavator of the two-tonne class: what its drawing says, what its cylinders carry, and where its bucket comes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mechanisms import CYLINDER, lift

from controllers import PID, VDC
from plants import machine
from plants.multibody.reach import ranges, tool_points
from plants.multibody.strokes import strokes
from workbench import InputError, Scenario, Waypoints, load, simulate, verify
from workbench.cases.file import loads
from workbench.commands import cli
from workbench.contract.system import innermost
from workbench.run.targets import check_strokes
from workbench.verification.claims import Identity, PowerFlows, Tracking

EXAMPLES = Path(__file__).parents[1] / "examples"
FILE = Path(__file__).parents[1] / "plants" / "parameters" / "excavator.yaml"
DIGGER = machine("excavator").plant


def outputs(x):
    return dict(zip((s.name for s in DIGGER.outputs), DIGGER.out(0.0, x)))


def test_it_takes_sixty_lines_to_write():
    lines = [line for line in FILE.read_text("utf-8").splitlines() if line.strip()]
    assert len([line for line in lines if not line.lstrip().startswith("#")]) <= 60


def test_what_it_reaches():
    """Class of two tonnes: about 4 m ahead, 2.2 m deep, 3 m high."""
    across, up, _ = tool_points(DIGGER).T
    assert 3.9 < across.max() < 4.1
    assert -2.4 < up.min() < -2.2 and 2.9 < up.max() < 3.3
    bucket = np.degrees(ranges(DIGGER)["q_bucket"])
    assert bucket[1] - bucket[0] > 130.0


def test_no_stroke_passes_a_dead_point():
    for stroke, actuator in zip(strokes(DIGGER), DIGGER.actuators):
        assert not stroke.dead_at
        assert (stroke.lengths[0], stroke.lengths[-1]) == pytest.approx(actuator.span, abs=1e-5)


def test_lever_arms_are_those_of_the_angles():
    """ds/dq of each cylinder by differences over its stroke: none is below 4 cm."""
    for stroke, joint in zip(strokes(DIGGER), ("q_boom", "q_arm", "q_bucket")):
        k = [s.name for s in DIGGER.coordinates].index(joint)
        angles = np.array(stroke.positions)[:, k]
        arms = np.abs(np.diff(stroke.lengths) / np.diff(angles))
        assert arms.min() > 0.04, stroke.name


@pytest.mark.parametrize("arm", [-15.5, -60.0, -130.0])
@pytest.mark.parametrize("boom", [-37.0, 0.0, 56.0])
def test_the_supply_carries_it_everywhere(boom, arm):
    """At the ends of boom and arm, full reach among them, each cylinder holds with a third of what it can give."""
    x = DIGGER.rest(np.radians([boom, arm, -20.0]))
    for h in DIGGER.holding(x, None):
        assert h.low / 3 < h.needs < h.high / 3
    moving = dict(zip((s.name for s in DIGGER.states), x))
    for a in DIGGER.actuators:
        p_a, p_b = moving[f"p_a_{a.name}"], moving[f"p_b_{a.name}"]
        assert 5e5 < min(p_a, p_b) and max(p_a, p_b) < 200e5
    assert np.abs(np.array(DIGGER.rhs(0.0, x, [0.0] * 3), float)[:6]).max() < 1e-8


def test_the_boom_cylinder_carries_all_that_is_ahead():
    """Moment of all weights about the boom's foot over the cylinder's lever arm, by hand."""
    x = DIGGER.rest(np.radians([10.0, -20.0, -30.0]))
    z, rates, _ = DIGGER.split(x)
    motion = DIGGER.moving(z, rates)
    foot = np.array([0.55, 0.55])
    moment = 0.0
    for b, r, R in zip(DIGGER.bodies, motion.r, motion.R):
        at = np.array(r, float) + np.array(R, float).reshape(3, 3) @ b.com
        moment += 9.81 * b.mass * (at[0] - foot[0])
    turn = np.radians(10.0)
    rod = foot + [
        0.95 * np.cos(turn) - 0.30 * np.sin(turn),
        0.95 * np.sin(turn) + 0.30 * np.cos(turn),
    ]
    case = np.array([0.746, 0.26])
    along = (rod - case) / np.hypot(*(rod - case))
    lever = (case - foot)[0] * along[1] - (case - foot)[1] * along[0]
    assert DIGGER.holding(x, None)[0].needs == pytest.approx(moment / lever, rel=1e-9)
    assert outputs(x)["s_boom"] == pytest.approx(np.hypot(*(rod - case)), abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        (
            "closed: 0.74 m",
            "closed: 1.1 m",
            "actuators.boom",
            "reaches from 1.1 m to 1.61 m, and the start is at s = 1.047 m",
        ),
        (
            "stroke: 0.295 m",
            "stroke: 0.34 m",
            "actuators.bucket",
            "its stroke, 0.635 … 0.975 m, passes a dead point at 0.9487 m",
        ),
        (
            "pins: {ear: [0.25, 0]}",
            "pins: {ear: [0.05, 0]}",
            "actuators.bucket",
            "passes a dead point at",
        ),
        (
            "pins: {ear: [0.25, 0]}",
            "pins: {ear: [0.75, 0]}",
            "loops.linkage",
            "m stay open between link.ear and bucket.ear",
        ),
        (
            "rod: [0.95, 0.30]",
            "rod: [950, 300]",
            "actuators.boom",
            "lengths without a unit are in metres",
        ),
        (
            "start: 15 deg",
            "start: 20",
            "plant.bodies.boom.start",
            "20 without a unit is in rad, which is 1146 deg",
        ),
        (
            "between: [arm.bucket_case, crank.end]",
            "between: [arm.bucket_case, crank.ned]",
            "actuators.bucket.between",
            "did you mean crank.end",
        ),
    ],
)
def test_a_slip_in_the_drawing_gets_a_sentence_with_the_numbers(old, new, key, words):
    text = FILE.read_text("utf-8")
    assert old in text
    with pytest.raises(InputError) as caught:
        loads(text.replace(old, new), "mine.yaml")
    assert words in str(caught.value) and caught.value.line and caught.value.mend
    assert key in str(caught.value)


def test_a_start_outside_a_stroke_is_no_dead_point():
    with pytest.raises(InputError) as caught:
        loads(FILE.read_text("utf-8").replace("closed: 0.74 m", "closed: 7.4 m"), "mine.yaml")
    assert "reaches from 7.4 m" in str(caught.value) and "dead point" not in str(caught.value)


def test_degrees_without_their_unit_are_told_from_a_path_out_of_reach():
    path = "{type: Waypoints, space: joint, points: [start, [0, -90, -80], start], leg: 1 s}"
    with pytest.raises(InputError, match="-90 without a unit is in rad, which is -5157 deg"):
        loads(f"plant: excavator\nscenario: {{reference: {path}}}\n", "mine.yaml")
    case = load(EXAMPLES / "excavator.yaml")
    there = Waypoints("joint", ("start", (0.0, -90.0, -80.0), "start"), 1.0)
    with pytest.raises(InputError, match="out of reach at t = ") as caught:
        simulate(case.loop, Scenario(reference=there))
    assert "write -90 deg, since a number without a unit is in rad" in caught.value.mend


def test_a_path_on_which_the_bars_do_not_close_is_out_of_reach():
    lengths = np.tile(np.mean(DIGGER.strokes, axis=1), (3, 1))
    check_strokes(DIGGER, np.zeros((3, 3)), lengths, np.arange(3.0))
    lengths[1, 2] = np.nan
    with pytest.raises(InputError, match="at t = 1.000 s: the bars that bucket moves cannot be"):
        check_strokes(DIGGER, np.zeros((3, 3)), lengths, np.arange(3.0))


@pytest.mark.parametrize(
    ("name", "error"), [("excavator", 5e-3), ("excavator-ls", 5e-3), ("excavator-imv", 2e-4)]
)
@pytest.mark.long
def test_vdc_drives_it_on_every_supply(name, error):
    """First seconds of the shipped path: error, and the identities of the ledger."""
    case = load(EXAMPLES / f"{name}.yaml")
    asked = [Tracking(error=error, settle=0.5), Identity(), PowerFlows()]
    verdicts = verify(case.loop, replace(case.scenario, duration=2.5), asked)
    assert [v.holds for v in verdicts] == [True] * 3, verdicts


def test_load_sensing_takes_less_for_the_same_path():
    taken = {}
    for name in ("excavator", "excavator-ls"):
        case = load(EXAMPLES / f"{name}.yaml")
        log = simulate(case.loop, replace(case.scenario, duration=2.5))
        taken[name] = sum(log[f"E_supply_{a.name}"].values[-1] for a in case.plant.actuators)
    assert 0.0 < taken["excavator-ls"] < 0.7 * taken["excavator"]


@pytest.mark.parametrize("name", ["excavator", "patu-655"])
def test_a_starter_file_is_vdc_on_a_path_within_all_strokes(name, tmp_path, monkeypatch):
    """`workbench init`, and the bare name of the machine: the law that suits it, and a demonstration it can follow."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", name]) == 0
    written, bare = load(f"{name}.yaml"), loads(f"plant: {name}\n", name)
    for case in (written, bare):
        assert innermost(case.controller) == VDC(case.plant)
        path = case.scenario.reference
        assert path.space == "joint" and path.points[0] == path.points[-1] == "start"
        farther, nearer = (case.plant.task("joint", list(p)) for p in path.points[1:-1])
        known = ranges(case.plant)
        names = [s.name for s in case.plant.states[: len(farther)]]
        for joint, one, other, at in zip(names, farther, nearer, case.plant.initial()):
            low, high = known[joint]
            assert low < min(one, other) <= at <= max(one, other) < high, "to both sides"
            assert abs(one - at) == pytest.approx(0.2 * (high - low), rel=1e-3)
            left = min(at - low, high - at)
            assert abs(other - at) == pytest.approx(
                min(0.2 * (high - low), left / 2), rel=1e-3, abs=1e-4
            )


def test_a_machine_that_vdc_cannot_serve_gets_pid():
    """All coordinates instead of the independent ones; or no stroke that says how far a demonstration may go."""
    text = FILE.read_text("utf-8").replace("method: minimal", "method: projected")
    assert type(innermost(loads(text, "all.yaml").controller)) is PID
    free = "plant: {type: Mechanism, method: minimal, bodies: {sled: {joint: prismatic, axis: [1, 0, 0], mass: 2 kg}}, "
    free += "actuators: {pull: {joint: sled, drive: Force}}}\n"
    assert type(innermost(loads(free, "free.yaml").controller)) is PID


def test_a_cylinder_on_a_joint_says_how_far_that_goes():
    """A telescope: the demonstration stays within its stroke, to both sides of the start."""
    machine = lift(method="minimal")
    low, high = machine.actuators[0].span
    assert ranges(machine) == {"x_load": (low, high)} and high - low == CYLINDER.stroke
    (farther,), (nearer,) = machine.demo_path
    start = machine.initial()[0]
    assert low < min(farther, nearer) < start < max(farther, nearer) < high
    assert abs(farther - start) == pytest.approx(0.2 * CYLINDER.stroke)
