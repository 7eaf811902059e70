"""What a search may vary: every kind of name, its range and its errors, what it moves, and the case file that says the same."""

from dataclasses import replace

import numpy as np
import pytest
from small import Feedback
from test_falsify import FILE, LATE, SCENARIO, Lag, lag, noisy

from controllers import VDC
from plants.components.friction import LuGre
from workbench import ClosedLoop, InputError, Sampled, Waypoints, changed, load, simulate
from workbench.cases.file import loads
from workbench.contract.parameters import digest
from workbench.contract.wrappers import Delayed
from workbench.run.deviated import Deviated
from workbench.run.provenance import described
from workbench.sweep.counterexample import counterexample
from workbench.verification.run import run
from workbench.verification.search.claim import Falsify
from workbench.verification.search.direction import Direction
from workbench.verification.search.directions import AS_USUAL, directions, moved, settled, written
from workbench.verification.search.falsify import check_falsify
from workbench.verification.search.of_path import FASTER, HALVINGS, LOOKED_AT, Path
from workbench.verification.search.of_plant import Number, forces_of_friction
from workbench.verification.search.of_scenario import Seed

WALK = Waypoints("output", ("start", (0.5,), "start"), 0.8)


def crane(plant):
    return ClosedLoop(plant, Sampled(VDC(plant), 1e-3))


def walking():
    return replace(SCENARIO, reference=WALK)


def at_ends(loop, scenario, over, side=1.0, path=AS_USUAL):
    """Loop and scenario with every direction at its end."""
    along = directions(loop, scenario, over, path)
    return moved(loop, scenario, settled(loop, scenario, {d: d.at(side) for d in along}))


# ---- ranges --------------------------------------------------------------------------------------------------------
def test_places_between_the_ends():
    """−1 is the low end, 0 the nominal value, 1 the high end, straight between, cut beyond."""
    d = Direction("k", 1.0, 9.0, 3.0, "1/s", Number())
    assert [d.at(s) for s in (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, -3.0)] == [1, 2, 3, 6, 9, 9, 1]
    seed = Direction("seed", 0.0, 10.0, 0.0, "1", Seed(), whole=True)
    assert seed.at(0.33) == 3.0


REFUSED = [
    ({"kk": (1.0, 2.0)}, "kk", "the plant has no number 'kk'"),
    ({"offset.v": (0.0, 1.0)}, "offset.v", "there is no state 'v'"),
    ({"k": (3.0, 1.0)}, "k", "has no width"),
    ({"k": (2.0, 2.0)}, "k", "has no width"),
    ({"k": (3.0, 4.0)}, "k", "it is 2 1/s in the case, outside 3.0 … 4.0"),
    ({"k": (1.0, 2.0, 3.0)}, "k", "expected a range of two values"),
    ({"k": "1 … 3"}, "k", "expected a range of two values"),
    ({"k": ("1 m", "3 m")}, "k", "1 m"),
    ({"offset.x": ("-1 s", "1 s")}, "offset.x", "-1 s"),
    ({"start": ("-1 s", "1 s")}, "start", "-1 s"),
    ({"seed": (0, 5)}, "seed", "nothing in this loop draws noise"),
    ({"noise": (0.0, 1.0)}, "noise", "this loop has no noises"),
    ({"delay": ("-1 ms", "1 ms")}, "delay", "beyond what is possible"),
    ({"friction": (0.5, 2.0)}, "friction", "nothing of the plant is there to be multiplied"),
    ({"scale.kk": (0.5, 2.0)}, "scale.kk", "the plant has no number 'kk'"),
    ({"scale.k": ("0.5 m", "2 m")}, "scale.k", "0.5 m"),
    ({"disturbance.f": (0.0, 1.0)}, "disturbance.f", "there is no disturbance 'f'"),
    (
        {"reference.leg": ("1 s", "2 s")},
        "reference.leg",
        "the reference (Hold) has no number 'leg'",
    ),
    ({"path": ("-1 m", "1 m")}, "path", "the case's path stands still"),
    ({"k": (1.0, 3.0), "scale.k": (0.5, 2.0)}, "scale.k", "k moves plant.k, too"),
    ({"start": (-1.0, 1.0), "offset.x": (-1.0, 1.0)}, "offset.x", "offset.x moves offset.x, too"),
]


@pytest.mark.parametrize("over, key, words", REFUSED)
def test_what_cannot_vary_is_refused_with_its_key(over, key, words):
    with pytest.raises(InputError) as why:
        directions(lag(), SCENARIO, over)
    assert why.value.key == key and words in why.value.message and why.value.mend


def test_other_refusals():
    """What depends on the loop or on how the path may stray."""
    with pytest.raises(InputError, match="nothing may vary"):
        directions(lag(), SCENARIO, {})
    continuous = ClosedLoop(Lag(), Feedback(Lag(), ((0.0,),), ((1.0,),)))
    with pytest.raises(InputError, match="the law is continuous"):
        directions(continuous, SCENARIO, {"delay": (0.0, 1e-3)})
    with pytest.raises(InputError, match="speed: .*faster than 10 mm/s") as why:
        directions(lag(), walking(), {"path": (-0.1, 0.1)}, Path(speed="10 mm/s"))
    assert why.value.key == "speed"
    with pytest.raises(InputError, match="speed: ") as why:
        directions(lag(), walking(), {"path": (-0.1, 0.1)}, Path(speed="3 kg"))
    assert why.value.key == "speed"
    both = {"reference.leg": (0.5, 1.0), "path": (-0.1, 0.1)}
    with pytest.raises(InputError, match="the path varies, too"):
        directions(lag(), walking(), both)


def test_numbers_that_differ_are_no_direction(two_joint):
    """valve.frequency is one number a valve: where they differ the path has to say which, or one factor moves all of them."""
    plant = changed(two_joint, {"lift.valve.frequency": 50.0})
    loop = crane(plant)
    with pytest.raises(InputError, match="2 numbers of different values") as why:
        directions(loop, SCENARIO, {"valve.frequency": (20.0, 80.0)})
    assert "scale.valve.frequency" in why.value.mend
    (d,) = directions(loop, SCENARIO, {"scale.valve.frequency": (0.5, 2.0)})
    values = d.kind.values(d, 0.5)
    assert sorted(values.values()) == [15.0, 25.0]


def test_ranges_beyond_what_a_number_can_be(two_joint):
    loop = crane(two_joint)
    with pytest.raises(InputError, match="beyond what is possible") as why:
        directions(loop, SCENARIO, {"payload.mass": ("-5 kg", "5 kg")})
    assert why.value.key == "payload.mass"


# ---- what they move ------------------------------------------------------------------------------------------------
def test_the_controller_keeps_what_it_believes():
    """The true plant moves, the law's own plant does not; the scenario keeps its other offsets."""
    loop, scenario = noisy(), replace(SCENARIO, offset={"x": 0.03})
    along = directions(loop, scenario, {"k": (1.0, 3.0), "seed": (0, 9)})
    other, with_seed = moved(loop, scenario, dict(zip(along, (2.5, 4.0))))
    assert other.plant.k == 2.5 and other.controller is loop.controller
    assert with_seed.seed == 4 and dict(with_seed.offset) == {"x": 0.03}
    assert loop.plant.k == 2.0 and scenario.seed == 0


def test_the_delay_of_the_loop():
    """From none to some, from some to less, and to none again."""
    late, _ = at_ends(lag(), SCENARIO, {"delay": ("0 ms", "15 ms")})
    assert isinstance(late.controller, Delayed) and late.controller.delay == 15e-3
    assert late.controller.inner is not None and late.controller.inner.T_s == 10e-3
    less, _ = at_ends(late, SCENARIO, {"delay": ("3 ms", "20 ms")}, -1.0)
    assert less.controller.delay == 3e-3
    none, _ = at_ends(late, SCENARIO, {"delay": ("0 ms", "20 ms")}, -1.0)
    assert digest(none) == digest(lag())


def test_noise_and_its_seed():
    louder, scenario = at_ends(noisy(), SCENARIO, {"noise": ("0 mm", "50 mm"), "seed": (0, 7)})
    assert louder.controller.inner.σ == 0.05 and scenario.seed == 7
    assert louder.controller.T_s == noisy().controller.T_s


def test_a_whole_start_is_every_position(two_joint):
    """Joint positions of a crane, not its pressures; every state of a plant without joints."""
    loop = crane(two_joint)
    along = directions(loop, SCENARIO, {"start": ("-1 deg", "1 deg")})
    assert [d.name for d in along] == ["offset.q_1", "offset.q_2"]
    assert along[0].high == pytest.approx(np.pi / 180)
    (one,) = directions(lag(), SCENARIO, {"start": ("-20 mm", "20 mm")})
    assert one.name == "offset.x" and one.low == -0.02


def test_the_level_of_friction_is_one_factor_on_its_force(two_joint):
    """f(v, z) of every cylinder is multiplied, at any speed and bristle; its speeds stay."""
    plant = changed(two_joint, {"all.friction": {"law": "LuGre", "v_s": "20 mm/s"}})
    loop = crane(plant)
    stronger, _ = at_ends(loop, SCENARIO, {"friction": (0.5, 1.7)})
    for before, after in zip(plant.friction_laws, stronger.plant.friction_laws):
        assert isinstance(after, LuGre) and after.v_s == before.v_s == 0.02
        for v, z in ((0.013, 2e-5), (-0.2, 4e-4)):
            assert after.force(v, [z]) == pytest.approx(1.7 * before.force(v, [z]), rel=1e-14)
    names = {leaf.path.split(".")[-1] for leaf in forces_of_friction(plant)}
    assert names == {"F_c", "F_s", "b", "σ_0", "σ_1"}


def test_parts_of_friction_that_contradict_each_other_are_refused(two_joint):
    """Breakaway below Coulomb friction is no law: that run is refused, not made."""
    plant = changed(two_joint, {"all.friction": {"law": "LuGre"}})
    loop = crane(plant)
    along = directions(loop, SCENARIO, {"friction.F_s": ("1000 N", "6000 N")})
    with pytest.raises(InputError, match="F_s"):
        moved(loop, SCENARIO, {along[0]: 1000.0})


def test_a_disturbance_and_a_number_of_the_reference(two_joint):
    loop = crane(two_joint)
    over = {"disturbance.f_Dy": ("0 N", "300 N")}
    _, pushed = at_ends(loop, SCENARIO, over)
    assert dict(pushed.disturbances) == {"f_Dy": 300.0}
    _, faster = at_ends(lag(), walking(), {"reference.leg": ("400 ms", "2 s")}, -1.0)
    assert faster.reference == replace(WALK, leg=0.4)


# ---- paths ---------------------------------------------------------------------------------------------------------
def test_a_deviated_path_is_the_path_and_a_spline():
    """At its knots the sum is exact, its derivatives are those of both, and it ends where the path does."""
    path = Waypoints("output", ((0.1, 0.3), (0.5, -0.2)), 2.0)
    strayed = Deviated(path, (0.0, 0.7, 2.0), ((0.0, 0.0), (0.04, -0.03), (0.0, 0.0)))
    t = np.array([0.0, 0.7, 2.0, 3.0])
    got, was = strayed.sample(t, 2), path.sample(t, 2)
    assert got[0, 1] - was[0, 1] == pytest.approx([0.04, -0.03], abs=1e-15)
    np.testing.assert_array_equal(got[:, [0, 3]], was[:, [0, 3]])
    h = 1e-6
    slope = (strayed.sample(0.4 + h, 0)[0] - strayed.sample(0.4 - h, 0)[0]) / (2 * h)
    assert strayed.sample(0.4, 1)[1] == pytest.approx(slope, rel=1e-7)
    assert strayed.duration == 2.0 and strayed.space == "output"
    begin = Deviated(replace(path, points=("start", (0.5, -0.2))), strayed.times, strayed.values)
    assert begin.resolve((0.1, 0.3)) == strayed
    with pytest.raises(InputError, match="1 components"):
        Deviated(path, (0.0, 1.0), ((0.0,), (0.1,))).sample(0.5, 0)
    with pytest.raises(InputError, match="expected Waypoints"):
        Deviated("start", (0.0, 1.0), ((0.0,), (0.1,)))


def test_a_path_strays_no_faster_than_it_may():
    """Three knots of one component; too large a deviation is made smaller by one factor, to a part in 2^HALVINGS."""
    loop, scenario = lag(), walking()
    along = directions(loop, scenario, {"path": ("-2 m", "2 m")})
    assert len(along) == 3 and all(d.unit == "m" for d in along)
    wanted = {d: d.at(s) for d, s in zip(along, (0.9, -0.7, 0.2))}
    got = settled(loop, scenario, wanted)
    shares = [got[d] / wanted[d] for d in along]
    assert 0 < shares[0] < 1 and shares == pytest.approx([shares[0]] * 3)
    fastest = lambda amounts: _fastest(loop, scenario, amounts)
    own = np.abs(WALK.resolve((0.2,)).sample(np.linspace(0.0, 1.6, LOOKED_AT), 1)[1]).max()
    assert fastest(got) <= FASTER * own * (1 + 1e-9)
    more = {d: v * (1 + 2.0**-HALVINGS / shares[0]) for d, v in got.items()}
    assert fastest(more) > FASTER * own
    small = {d: 1e-3 * v for d, v in wanted.items()}
    assert settled(loop, scenario, small) == small


def _fastest(loop, scenario, amounts):
    _, other = moved(loop, scenario, amounts)
    reference = other.reference.resolve((0.2,))
    return np.abs(reference.sample(np.linspace(0.0, 1.6, LOOKED_AT), 1)[1]).max()


def test_a_path_stays_within_reach():
    """A tool that would be taken beyond the crane's arm is taken only as far as the arm goes."""
    case = loads(FILE, "crane.yaml")
    along = directions(case.loop, case.scenario, {"path": ("-2 m", "2 m")}, Path(1, "9 m/s"))
    wanted = {d: d.at(0.9) for d in along}
    got = settled(case.loop, case.scenario, wanted)
    assert all(0 < got[d] / wanted[d] < 1 for d in along)
    loop, scenario = moved(case.loop, case.scenario, got)
    log = simulate(loop, replace(scenario, duration=0.1))
    assert log.status.completed
    with pytest.raises(InputError, match="reach"):
        simulate(*moved(case.loop, case.scenario, wanted))


def test_a_path_is_searched():
    """x follows r with a lag: only a path that strays upwards brings x over the limit after 1 s."""
    limit = replace(LATE, sentence="always (x < 0.40 m)")
    nominal = run(lag(), replace(walking(), offset={"x": -0.1}))
    claim = Falsify(over={"path": ("-0.4 m", "0.4 m")}, budget=48, knots=2, speed="4 m/s")
    verdict = check_falsify(claim, nominal, (limit,))
    amounts = verdict.data["counterexample"]
    assert verdict.holds is False and amounts and all(v > 0 for v in amounts.values())


# ---- as a file -----------------------------------------------------------------------------------------------------
EVERY = {
    "payload.mass": ("0 kg", "60 kg"),
    "friction": (0.5, 2.0),
    "scale.valve.frequency": (0.5, 2.0),
    "start": ("-2 mrad", "2 mrad"),
    "path": ("-50 mm", "50 mm"),
    "disturbance.f_Dy": ("0 N", "90 N"),
    "delay": ("0 ms", "2 ms"),
    "noise": ("0 mrad", "1 mrad"),
    "seed": (0, 99),
}
NOISE = "loop: {sample_time: 2 ms, noise: {σ: 0.1 mrad, signals: [q]}}"


@pytest.mark.parametrize(
    "over", [EVERY, {"reference.leg": ("1 s", "2 s")}], ids=("every kind", "a leg")
)
def test_a_file_says_the_same_to_the_last_bit(tmp_path, over):
    """All kinds at once: the file that is written gives the loop and the scenario that were meant, number by number."""
    path = tmp_path / "crane.yaml"
    path.write_text(FILE.replace("loop: {sample_time: 2 ms}", NOISE))
    case = load(path)
    along = directions(case.loop, case.scenario, over)
    places = np.random.default_rng(7).uniform(0.2, 0.9, len(along))
    amounts = settled(case.loop, case.scenario, {d: d.at(s) for d, s in zip(along, places)})
    wanted = moved(case.loop, case.scenario, amounts)
    again = loads(counterexample(case, amounts, "why"), str(path))
    assert digest(wanted[0]) == digest(again.loop)
    assert described(wanted[1]) == described(again.scenario)
    assert (
        digest(wanted[0].controller.inner) == digest(case.loop.controller.inner) or "noise" in over
    )


def test_a_deviated_path_in_a_file_takes_units():
    text = FILE.replace(
        "{type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m], start], leg: 1.5 s}",
        "{type: Deviated, path: {type: Waypoints, space: cartesian, points: [start, [2500 mm, 1 m], start], leg: 1.5 s}, "
        "times: [0, 1, 3], values: [[0, 0], [-20 mm, 1 cm], [0, 0]]}",
    )
    reference = loads(text, "crane.yaml").scenario.reference
    assert reference.path.points[1] == (2.5, 1.0) and reference.values[1] == (-0.02, 0.01)


@pytest.mark.parametrize(
    "wrong, key, words",
    [
        ("payload.mass: [0 s, 60 kg]", "claims.falsify.over.payload.mass", "0 s"),
        ("payload.mass: [60 kg, 0 kg]", "claims.falsify.over.payload.mass", "no width"),
        ("payload.mess: [0 kg, 60 kg]", "claims.falsify.over.payload.mess", "payload.mass"),
        ("disturbance.f: [0 N, 60 N]", "claims.falsify.over.disturbance.f", "no disturbance 'f'"),
        ("start: [-1 s, 1 s]", "claims.falsify.over.start", "-1 s"),
        ("seed: [0, 10]", "claims.falsify.over.seed", "draws noise"),
    ],
)
def test_a_wrong_range_is_refused_at_its_line(wrong, key, words):
    text = FILE.replace(
        "over: {payload.mass: [0 kg, 60 kg], offset.q_2: [-1 mrad, 1 mrad]}", f"over: {{{wrong}}}"
    )
    with pytest.raises(InputError) as why:
        loads(text, "crane.yaml")
    assert why.value.key == key and words in f"{why.value.message} {why.value.mend}"
    assert why.value.file == "crane.yaml" and why.value.line == 9 and why.value.mend


def test_a_wrong_speed_is_refused_at_its_line():
    text = FILE.replace("budget: 16}", "budget: 16, speed: 1 kg}").replace(
        "payload.mass: [0 kg, 60 kg]", "path: [-10 mm, 10 mm]"
    )
    with pytest.raises(InputError) as why:
        loads(text, "crane.yaml")
    assert why.value.key == "claims.falsify.speed"


def test_every_kind_says_where_it_is_written():
    """`written` of each kind goes to a place of its own, and `touches` names one."""
    loop, scenario = noisy(), walking()
    over = {"k": (1.0, 3.0), "offset.x": (-0.1, 0.1), "noise": (0.0, 0.1), "seed": (0, 5)}
    along = directions(loop, scenario, over)
    places, believed = written(loop, scenario, {d: d.at(0.5) for d in along})
    assert set(places) == {"plant.k", "scenario.offset.x", "loop.noise", "scenario.seed"}
    assert believed == {"k": 2.0}
