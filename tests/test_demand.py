"""What a scenario demands: every space from every other with three derivatives, refusals in words, seeded noise."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from draws import varied_machine
from small import Feedback, Linear

from controllers.vdc import VDC
from workbench import (
    ClosedLoop,
    Hold,
    InputError,
    Noisy,
    Sampled,
    Scenario,
    Signal,
    Sine,
    Spline,
    Steps,
    Waypoints,
    simulate,
)
from workbench.contract.system import Controller, names
from workbench.run.demand import Demand
from workbench.run.deviated import Deviated
from workbench.run.spaces import pushed, task_values, to_joints
from workbench.run.start import start_state
from workbench.run.targets import padded, parse, target_name, width

SPACES = ("joint", "piston", "cartesian")


@dataclass(frozen=True)
class Listening(Controller):
    """Does nothing and listens to named references."""

    plant: object
    wanted: tuple[str, ...] = ()
    measured = ()

    @property
    def commands(self):
        return tuple(s for s in self.plant.inputs if s.kind == "")

    @property
    def references(self):
        return tuple(Signal(n, kind="reference") for n in self.wanted)

    def command(self, t, z, y, r):
        return [0.0] * len(self.commands)


def demand(plant, reference, *wanted, **scenario):
    loop = ClosedLoop(plant, Sampled(Listening(plant, wanted), 1e-3))
    scenario = Scenario(1.0, reference, **scenario)
    return Demand(loop, scenario, start_state(loop, scenario))


def signals(plant, space, orders=range(4)):
    return [target_name(n, k) for k in orders for n in plant.task_names(space)]


def near(plant, space, share=0.02):
    """A smooth path in `space` about the start, different in every component."""
    centre = task_values(plant, space, plant.initial()[: plant.n])
    amplitude = tuple(share * (1 + 0.3 * i) for i in range(plant.n))
    return Sine(
        space, tuple(centre), amplitude, 0.6, phase=tuple(0.4 * i for i in range(plant.n)), ramp=0.8
    )


def derivative(f, t, h=2e-3):
    """Central differences of order 6."""
    d = lambda k: f(t + k * h) - f(t - k * h)
    return (45 * d(1) - 9 * d(2) + d(3)) / (60 * h)


# ---- change of space -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", SPACES)
@pytest.mark.parametrize("asked", SPACES)
def test_every_space_from_every_other(crane, given, asked):
    """Positions satisfy the plant's own map; each derivative is the difference quotient of the one below it."""
    d = demand(crane, near(crane, given), *signals(crane, asked))
    t, n = np.linspace(0.05, 0.75, 41), crane.n
    found = d.at(t).reshape(len(t), 4, n)
    q = d.joints(t)
    for k in (0, 17, 40):
        assert task_values(crane, given, q[k]) == pytest.approx(
            d.reference.sample(t[k], 0)[0, 0], abs=1e-12
        )
        assert found[k, 0] == pytest.approx(task_values(crane, asked, q[k]), abs=1e-12)
    for order in range(3):
        slope = derivative(lambda s, order=order: d.at(s).reshape(len(s), 4, n)[:, order], t)
        assert found[:, order + 1] == pytest.approx(slope, abs=1e-7 * max(1.0, np.abs(slope).max()))
        assert np.abs(slope).max() > 1e-3


@pytest.mark.parametrize("space", SPACES)
def test_there_and_back(crane, space):
    """Joint trajectories pushed to a space and inverted are themselves, with all derivatives."""
    t = np.linspace(0.0, 0.9, 31)
    q = near(crane, "joint").sample(t, 3)
    back = to_joints(crane, space, pushed(crane, space, q), q[0, 0], t) if space != "joint" else q
    for order in range(4):
        assert back[order] == pytest.approx(q[order], abs=1e-10 * 10**order)


def test_piston_rates_in_closed_form(crane):
    """x = √(L² + L₁² + 2 L L₁ cos q) − x_0 along q = q_0 + v t: ẋ, ẍ and the third derivative by hand."""
    r, q0, v = crane.structures[0].revolute, -1.2, 0.37
    joints = np.zeros((4, 1, 3))
    joints[0, 0], joints[1, 0] = [q0, -1.9, 0.5], [v, 0.0, 0.0]
    a, s, c = r.L * r.L1, np.sin(q0), np.cos(q0)
    d = np.sqrt(r.L**2 + r.L1**2 + 2 * a * c)
    first = -a * s / d
    second = -(a * c + first**2) / d
    third = (a * s - 3 * first * second) / d
    assert pushed(crane, "piston", joints)[:, 0, 0] == pytest.approx(
        [d - r.x0, first * v, second * v**2, third * v**3], rel=1e-12
    )


def test_machines_on_other_branches():
    """A random machine whose joints lie on either side of zero, extensions at the front."""
    plant = varied_machine(4, (True, False))
    d = demand(plant, near(plant, "piston", 0.01), *signals(plant, "joint"))
    t = np.linspace(0, 0.9, 20)
    q = d.at(t)[:, : plant.n]
    pistons = pushed(plant, "piston", np.stack([q] + [0 * q] * 3))[0]
    assert pistons == pytest.approx(d.reference.sample(t, 0)[0], abs=1e-11)
    assert np.sign(q[:, 0]).tolist() == [np.sign(plant.pose[0])] * 20


def mirrored(plant, q):
    """The other elbow with the same tool: the two links reflected at the line from shoulder to tool."""

    def seen(q):
        poses = plant.frames(list(q))
        shoulder, elbow = (complex(*p["B1"].r[:2]) for p in poses)
        return shoulder, elbow, complex(*plant.tool(list(q))[:2])

    shoulder, elbow, tool = seen(q)
    bent = (q[0], q[1] - 2 * np.angle((tool - elbow) / (elbow - shoulder)))
    return q[0] + np.angle((tool - shoulder) / (seen(bent)[2] - shoulder)), bent[1]


def test_the_branch_follows_the_start_not_the_run_before(two_joint):
    """Elbow up and elbow down reach the same points; asking for one does not spoil the other."""
    point = task_values(two_joint, "cartesian", two_joint.pose)
    path = Waypoints("cartesian", (tuple(point), tuple(point + [-0.05, 0.03])), 0.5)
    t = np.linspace(0, 1, 11)
    given = path.sample(t, 3)
    first = to_joints(two_joint, "cartesian", given, np.array(two_joint.pose), t)[0]
    far = np.array(mirrored(two_joint, two_joint.pose))
    assert task_values(two_joint, "cartesian", far) == pytest.approx(point, abs=1e-12)
    other = to_joints(two_joint, "cartesian", given, far, t)[0]
    again = to_joints(two_joint, "cartesian", given, np.array(two_joint.pose), t)[0]
    assert np.abs(other - first).min() > 0.1 and again == pytest.approx(first, abs=1e-12)
    assert task_values(two_joint, "cartesian", other[4]) == pytest.approx(given[0, 4], abs=1e-10)


# ---- "start", planar paths -------------------------------------------------------------------------------------------
def test_start_is_where_the_machine_is(crane):
    q = (-1.25, -1.93, 0.4)
    for space in SPACES:
        here = task_values(crane, space, q)
        there = tuple(here + [0.02, -0.01, 0.03])
        d = demand(
            crane, Waypoints(space, ("start", there), 0.5), *signals(crane, space, [0]), start=q
        )
        assert d.at(np.array([0.0, 0.5])) == pytest.approx(np.array([here, there]), abs=1e-12)
        d = demand(crane, Hold(space), *signals(crane, space, [0, 1]), start=q)
        assert d.at(np.array([0.3]))[0] == pytest.approx([*here, 0, 0, 0], abs=1e-12)
    d = demand(crane, None, "q_2_d", "ddq_1_d", start=q)  # no reference: held where the run starts
    assert d.at(np.array([0.7]))[0] == pytest.approx([-1.93, 0.0])


def test_a_planar_path_holds_the_rest(crane):
    here = task_values(crane, "cartesian", crane.pose)
    corner = (here[0] + 0.1, here[1] - 0.05)
    t = np.linspace(0, 0.5, 6)
    paths = {
        "way": Waypoints("cartesian", ("start", corner), 0.5),
        "hold": Hold("cartesian", corner),
        "sine": Sine("cartesian", corner, (0.02, 0.03), 1.0),
        "from here": Sine("cartesian", "start", (0.02, 0.03), 1.0),
        "spline": Spline(
            "cartesian", (0.0, 0.2, 0.5), (tuple(here[:2]), (here[0] + 0.02, here[1]), corner)
        ),
    }
    for name, path in paths.items():
        found = demand(crane, path, *signals(crane, "cartesian")).at(t).reshape(6, 4, 3)
        assert found[:, 0, 2] == pytest.approx([0.5] * 6), name
        assert np.abs(found[:, 1:, 2]).max() < 1e-12, name
        plane = path.resolve(tuple(here[:2]))
        assert found[:, :, :2] == pytest.approx(np.moveaxis(plane.sample(t, 3), 0, 1), abs=1e-11), (
            name
        )
    assert width(paths["way"]) == 2 and width(Hold("joint")) is None
    assert padded(paths["hold"], (0.4,)).point == (*corner, 0.4)
    assert padded(paths["sine"], (0.4,)).amplitude == (0.02, 0.03, 0.0)


def test_components_that_do_not_fit(crane, two_joint):
    for reference, words in (
        (Hold("joint", (0.1, 0.2)), "2 components in joint space, .* 3 .*q_1, q_2, x_t2"),
        (Sine("piston", "start", (0.1,), 1.0), "1 components in piston space"),
        (Hold("cartesian", (1.0, 2.0, 3.0, 4.0)), "4 components in cartesian space"),
    ):
        with pytest.raises(InputError, match=words):
            demand(crane, reference, "q_1_d")
    with pytest.raises(InputError, match="needs two revolute segments"):
        plant = varied_machine(1, (False,))
        demand(plant, Hold("cartesian"), "q_1_d")


# ---- out of reach ----------------------------------------------------------------------------------------------------
def test_out_of_reach_says_when_and_which_piston(crane):
    loop = ClosedLoop(crane, Sampled(VDC(crane), 1e-2))
    q = crane.pose
    far = Waypoints("joint", (q, (q[0], q[1], 2.5)), 1.0)
    with pytest.raises(
        InputError, match=r"out of reach at t = 1\.000 s: x_t2 = 2\.5 puts the extension piston"
    ):
        simulate(loop, Scenario(reference=far))
    lift = Waypoints("piston", ("start", (9.0, 0.3, 0.5)), 1.0)
    with pytest.raises(InputError, match="no pose of HIAB XS 031 reaches x_1 = "):
        simulate(loop, Scenario(reference=lift))
    with pytest.raises(
        InputError, match=r"no pose of .* tcp_x = .*at t = 0\.\d+ s.*\n.*move the path inside"
    ):
        simulate(loop, Scenario(reference=Waypoints("cartesian", ("start", (12.0, 1.0)), 1.0)))
    reached = replace(far, points=(q, (q[0], q[1], 0.6)))
    assert simulate(loop, Scenario(0.05, reached)).status.completed


# ---- names -----------------------------------------------------------------------------------------------------------
def test_names_of_references():
    assert (
        parse("q_1_d") == ("q_1", 0)
        and parse("dddtcp_x_d") == ("tcp_x", 3)
        and parse("dx_t2_d") == ("x_t2", 1)
    )
    for base in ("q_1", "x_t2", "tcp_y"):
        assert [parse(target_name(base, k)) for k in range(4)] == [(base, k) for k in range(4)]
    with pytest.raises(InputError, match="expected a name such as q_1_d"):
        parse("q_1")


def test_wrong_spelling_is_refused(crane):
    with pytest.raises(InputError, match="'dq_9_d' refers to nothing"):
        demand(crane, Hold("joint"), "q_1_d", "dq_9_d").at(np.zeros(1))
    with pytest.raises(InputError, match="there is no signal 'q_9'"):
        demand(crane, None, "q_9_d").at(np.zeros(1))
    with pytest.raises(InputError, match="no disturbance 'fDy'.*\n.*f_Dy"):
        demand(crane, None, "q_1_d", disturbances={"fDy": 3.0})
    with pytest.raises(InputError, match="no disturbance 'u_1'"):
        demand(crane, None, "q_1_d", disturbances={"u_1": 3.0})  # a controller drives it


# ---- references of outputs, disturbances, noise -----------------------------------------------------------------
PLANT = Linear(
    ((0.0, 1.0), (-3.0, -0.4)),
    ((0.0,), (1.3,)),
    ((1.0, 0.0), (0.0, 2.0)),
    ((0.2,), (0.7,)),
    x0=(0.4, -0.1),
)


def outputs(reference, *wanted):
    loop = ClosedLoop(PLANT, Sampled(Listening(PLANT, wanted), 1e-3))
    return Demand(loop, Scenario(1.0, reference), start_state(loop, Scenario()))


def test_references_of_outputs():
    t = np.linspace(0, 1, 5)
    both = Sine("output", (0.1, 0.2), (0.3, 0.4), 0.7)
    exact = both.sample(t, 1)
    assert outputs(both, "y1_d", "dy0_d").at(t) == pytest.approx(
        np.column_stack([exact[0, :, 1], exact[1, :, 0]])
    )
    one = Sine("output", (0.1,), (0.3,), 0.7)
    assert outputs(one, "y1_d", "y0_d").at(t) == pytest.approx(
        np.repeat(one.sample(t, 0)[0], 2, axis=1)
    )
    # Nothing given: held at the outputs of the start, y = C x_0.
    assert outputs(None, "y1_d", "y0_d", "dy0_d").at(t)[3] == pytest.approx([-0.2, 0.4, 0.0])
    assert outputs(Sine("output", "start", (0.3,), 0.7), "y1_d").at(t)[0] == pytest.approx([-0.2])
    with pytest.raises(InputError, match="did you mean y1"):
        outputs(None, "y_1_d")
    with pytest.raises(InputError, match="3 components for 2 outputs"):
        outputs(Hold("output", (1.0, 2.0, 3.0)), "y0_d")


@pytest.mark.parametrize(
    "reference",
    [
        Hold("output", "start"),
        Hold("output", (0.4,)),
        Sine("output", "start", (0.1,), 0.25, 0.3),
        Waypoints("output", ("start", (0.5,), "start"), 1.0),
        Spline("output", (0.0, 1.0, 3.0), ((0.0,), (0.3,), (0.1,))),
        Steps("output", (0.0, 1.0), ((0.0,), (0.3,))),
        Deviated(Hold("output", "start"), (0.0, 1.5, 3.0), ((0.0,), (0.2,), (0.0,))),
    ],
)
def test_one_component_is_every_output_s_and_start_is_where_each_begins(reference):
    """The second output was sent to where the first one starts."""
    t = np.linspace(0.0, 3.0, 7)
    both = outputs(reference, "y1_d", "dy0_d").at(t)
    alone = [outputs(reference, name).at(t)[:, 0] for name in ("y1_d", "dy0_d")]
    assert np.array_equal(both.T, alone)
    if "start" in repr(reference):
        assert outputs(reference, "y1_d", "y0_d").at([0.0])[0] == pytest.approx(
            [-0.2, 0.4], abs=0.03
        )


def test_live_inputs_and_their_columns():
    loop = ClosedLoop(
        PLANT, Sampled(Noisy(Feedback(PLANT, ((1.0, 0.1),), ((1.0, 0.1),)), 0.1), 1e-3)
    )
    scenario = Scenario(
        1.0, Hold("output", (5.0, 6.0)), {"w0": Sine("output", 1.0, 0.5, 2.0)}, seed=9
    )
    d = Demand(loop, scenario, start_state(loop, scenario))
    assert d.live == ("w0", "y0_d", "y1_d", "noise_y0", "noise_y1") and list(d.live) == names(
        loop.inputs
    )
    t = np.linspace(0, 1, 101)
    a = d.at(t)
    assert a.shape == (101, 5) and a.flags.c_contiguous
    assert a[:, 0] == pytest.approx(Sine("output", 1.0, 0.5, 2.0).sample(t, 0)[0, :, 0])
    assert np.array_equal(a, d.at(t)) and np.array_equal(a[:50], d.at(t[:50]))
    assert (
        not d.at(t, noise=False)[:, 3:].any() and np.abs(np.corrcoef(a[:, 3], a[:, 4])[0, 1]) < 0.4
    )
    quiet = Demand(
        ClosedLoop(PLANT, Feedback(PLANT, ((1.0, 0.1),))), Scenario(1.0), np.array([0.4, -0.1])
    )
    assert quiet.live == () and quiet.at(t).shape == (101, 0)


def test_runs_on_one_path_share_what_they_are_given():
    """The same table, read only; another path, other times or another order of signals have their own."""
    walk, times = Sine("output", (0.1, 0.2), (0.3, 0.4), 0.7), np.arange(50) * 1e-2
    names = ("y0_d", "dy1_d")
    one, again = (outputs(walk, *names).at(times) for _ in range(2))
    assert one is again and not one.flags.writeable
    others = [
        outputs(replace(walk, frequency=0.6), *names).at(times),
        outputs(walk, *names).at(times + 1e-3),
        outputs(walk, *names[::-1]).at(times),
    ]
    assert not any(np.array_equal(other, one) for other in others)
    assert np.array_equal(others[2], one[:, ::-1])
