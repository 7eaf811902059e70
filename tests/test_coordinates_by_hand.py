"""Which coordinates a mechanism has, what is said of its assembly, which drives hold it, how its loops hang: bodies by hand."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc import suited
from plants.drives.laws import SpringDamper
from plants.multibody import closings, coordinates, held, starting
from plants.multibody.branching import tree
from plants.multibody.parts import GROUND
from workbench.contract.errors import InputError
from workbench.contract.system import Signal


@dataclass(frozen=True)
class Body:
    name: str
    joint: str = "revolute"
    parent: str = GROUND
    hold: bool = False
    start: object = 0.0
    rate: float = 0.0
    axis: tuple = (0.0, 0.0, 1.0)


def drive(*inputs, states=(), pressures=(), **other):
    """Inputs are (name, kind)."""
    return SimpleNamespace(
        inputs=lambda name: [Signal(n, "V", "", kind) for n, kind in inputs],
        states=lambda name: [Signal(n, "Pa") for n in states],
        pressures=lambda name: pressures,
        **other,
    )


def machine(bodies, **other):
    made = SimpleNamespace(
        bodies=tuple(bodies),
        loops=(),
        closings=(),
        actuators=(),
        tcp=None,
        method="projected",
        name="rig",
    )
    made.tree = tree(made.bodies)
    made.coordinates = [
        Signal(f"q{k}_{b.name}", "m" if b.joint == "prismatic" else "rad")
        for b, (_, many) in zip(made.bodies, made.tree.z)
        for k in range(many)
    ]
    made.rates = [Signal(f"w{i}", "rad/s") for i in range(made.tree.n_v)]
    made.lead = tuple(range(made.tree.n_v))
    made.own = (tuple(range(made.tree.n_z)), tuple(range(made.tree.n_v)))
    vars(made).update(other)
    return made


ARM = (Body("a"), Body("b", "prismatic", "a"), Body("plate", "fixed", "b"))
BALL = (Body("a"), Body("b", "spherical", "a"))
COMMANDED, PUSHED, SPRING = drive(("u", "control")), drive(("F", "disturbance")), drive()


def actuators(*drives):
    return tuple(SimpleNamespace(name=f"n{k}", drive=d, joint="") for k, d in enumerate(drives))


# ---- spaces --------------------------------------------------------------------------------------------------------------
def test_positions_that_lead_and_those_that_follow():
    arm = machine(ARM)
    assert coordinates.independent(arm) and coordinates.leading(arm) == [0, 1]
    assert coordinates.joints(arm) == coordinates.freedoms(arm) == ["q0_a", "q0_b"]
    looped = machine(ARM, loops=("eye",), lead=(1,))
    assert not coordinates.independent(looped) and coordinates.joints(looped) == ["q0_b"]
    assert coordinates.independent(machine(ARM, loops=("eye",), closings=("c",)))
    ball = machine(BALL, lead=(0, 1, 2, 3))
    assert not coordinates.independent(ball) and coordinates.leading(ball) == []
    assert coordinates.freedoms(ball) == ["w0", "w1", "w2", "w3"]
    assert coordinates.joints(machine(BALL, lead=(0,))) == ["q0_a"]


def test_actuators_that_take_commands():
    both = drive(("F", "disturbance"), ("u", "control"))
    made = machine(ARM, actuators=actuators(SPRING, COMMANDED, PUSHED, both))
    assert coordinates.driven(made) == [1, 3] and coordinates.lengths_named(made) == [
        "s_n1",
        "s_n3",
    ]


@pytest.mark.parametrize(
    "change, spaces",
    [
        ({}, ("joint",)),
        ({"actuators": actuators(COMMANDED, COMMANDED)}, ("joint", "piston")),
        ({"actuators": actuators(COMMANDED, SPRING)}, ("joint",)),
        ({"tcp": "tool"}, ("joint", "cartesian")),
        ({"tcp": "tool", "lead": (0,)}, ("joint",)),
        ({"tcp": "tool", "loops": ("eye",)}, ("joint",)),
        ({"method": "penalty", "tcp": "tool"}, ()),
    ],
)
def test_spaces_that_a_path_can_be_given_in(change, spaces):
    made = machine(ARM, **change)
    assert coordinates.spaces(made) == spaces
    named = {
        "joint": ["q0_a", "q0_b"][: len(made.lead)],
        "piston": ["s_n0", "s_n1"],
        "cartesian": ["tcp_x", "tcp_y"],
    }
    for space in ("joint", "piston", "cartesian"):
        if space in spaces:
            assert coordinates.names(made, space) == named[space]
            continue
        with pytest.raises(InputError, match=f"rig has no {space} space"):
            coordinates.names(made, space)


def test_a_tool_with_three_coordinates_has_an_angle():
    three = machine((*ARM, Body("c", parent="b")), tcp="tool")
    assert coordinates.names(three, "cartesian") == ["tcp_x", "tcp_y", "tcp_φ"]
    four = machine((*ARM, Body("c", parent="b"), Body("d", parent="c")), tcp="tool")
    assert "cartesian" not in coordinates.spaces(four)


def test_what_is_zero_where_positions_fit_together():
    """Rows of the loops that are kept, then of every quaternion its length less one."""
    ball = machine(BALL, moving=lambda z, rates: None, kept=(1, 2))
    ball.rows = lambda motion: [SimpleNamespace(value=v) for v in (7.0, 0.25, -0.5)]
    q = [0.3, 0.1, 0.5, -0.5, 0.7]
    assert coordinates.misfit(ball, q) == pytest.approx([0.25, -0.5, 0.01 + 0.25 + 0.25 + 0.49 - 1])
    ball.closings = ("c",)
    assert coordinates.misfit(ball, q) == pytest.approx([0.0])
    assert coordinates.misfit(machine(ARM), [0.1, 0.2]) == []
    assert coordinates.velocities(machine(ARM), [0.1, 0.2], (3.0, 4.0)) == [3.0, 4.0]


# ---- what holds -----------------------------------------------------------------------------------------------------------
def test_drives_that_hold():
    """Those with commands, and those in which oil is shut; of inputs all have to be commanded."""
    oil, two = drive(states=("p_a",)), drive(("u", "control"), ("v", "control"))
    made = machine(ARM, actuators=actuators(SPRING, COMMANDED, PUSHED, oil, two))
    assert held.driven(made, None) == (1, 2, 3, 4)
    assert held.driven(made, ["u"]) == (1, 3) and held.driven(made, ["u", "v"]) == (1, 3, 4)
    assert held.driven(made, []) == (3,)


@pytest.mark.parametrize("size, free", [(0.5, "ab"), (0.9e-7, "a"), (1.1e-7, "ab")])
def test_joints_that_nothing_holds(monkeypatch, size, free):
    made = machine(ARM)
    monkeypatch.setattr(held, "free_motions", lambda mechanism, ks: np.array([[1.0], [-size]]))
    found = held.free_joints(made)
    assert "".join(joint.name for joint in found) == free
    assert found[0].unit == "rad" and [s.name for s in found[0].positions] == ["q0_a"]
    if free == "ab":
        assert found[1].unit == "m" and [s.name for s in found[1].positions] == ["q0_b"]
        assert [list(joint.rates) for joint in found] == [[made.rates[0]], [made.rates[1]]]


# ---- the start ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "mobility, left_out, moved, said",
    [
        (1, (), {}, "1 degree of freedom."),
        (2, (), {}, "2 degrees of freedom."),
        (
            0,
            (("eye", 0), ("eye", 3), ("far", 1)),
            {},
            "0 degrees of freedom, after leaving out constraints that follow from others: 2 of eye, 1 of far.",
        ),
        (
            1,
            (),
            {"q0_a": 0.25, "q0_b": -0.5},
            "1 degree of freedom. To close the loops the start was moved: q0_a by 0.25 rad, q0_b by -0.5 m.",
        ),
    ],
)
def test_what_the_assembly_found_in_words(mobility, left_out, moved, said):
    made = machine(ARM, assembly=SimpleNamespace(mobility=mobility, left_out=left_out, moved=moved))
    assert starting.in_words(made) == said


def test_a_mechanism_rests_where_it_is_told(monkeypatch):
    monkeypatch.setattr(
        starting, "replace", lambda thing, **new: SimpleNamespace(**vars(thing) | new)
    )
    made = machine(
        (Body("a", start=0.1, rate=5.0), Body("b", "prismatic", "a", start=0.2, rate=6.0))
    )
    found = starting.resting(made, [0.7])
    assert [(b.start, b.rate) for b in found.bodies] == [(0.7, 0.0), (0.2, 0.0)]
    made.own = ((1, 0), (1, 0))
    assert [b.start for b in starting.resting(made, [0.7]).bodies] == [0.1, 0.7]
    with pytest.raises(InputError, match="expected up to 2 positions"):
        starting.resting(made, [1.0, 2.0, 3.0])
    ball = machine(BALL)
    assert [b.start for b in starting.resting(ball, [0.5]).bodies] == [0.5, 0.0]
    with pytest.raises(InputError, match="joints that turn about an axis or slide"):
        starting.resting(ball, [0.5, 1.0])


def test_pressures_among_the_states_of_a_drive():
    one = SimpleNamespace(
        name="lift", drive=drive(states=("z", "p_a", "x", "p_b"), pressures=("p_a", "p_b"))
    )
    assert starting._chambers(one, [1.0, 2.0, 3.0, 4.0]) == [2.0, 4.0]


def test_a_drive_that_cannot_start_is_told_by_its_name():
    def refuses(s, force, line):
        raise InputError(f"{s} m under {force} N", mend="longer")

    lift = SimpleNamespace(name="lift", drive=SimpleNamespace(initial=refuses))
    with pytest.raises(InputError, match="actuators.lift: 0.5 m under 7.0 N"):
        starting._begun(lift, 0.5, 7.0, None)


# ---- how loops hang together --------------------------------------------------------------------------------------------------
LINKS = (
    Body("base"),
    Body("left", parent="base"),
    Body("right", parent="base"),
    Body("bar", "prismatic", "left", axis=(1.0, 0.0, 0.0)),
    Body("foot"),
)


def test_the_bodies_between_both_ends_of_a_cut():
    """Up to the last one that both hang on."""
    rig = machine(LINKS)
    assert closings._chains(rig, (3, 2)) == (0, ((1, 3), (2,)))
    assert closings._chains(rig, (3, 1)) == (1, ((3,), ()))
    assert closings._chains(rig, (3, 4)) == (-1, ((0, 1, 3), (4,)))
    assert closings._chains(rig, (2, -1)) == (-1, ((0, 2), ()))


def test_a_spring_on_an_angle_that_follows():
    spring = object.__new__(SpringDamper)
    rig = machine(LINKS)
    found = [SimpleNamespace(unknown=(1, 3))]
    on = lambda joint, d: SimpleNamespace(
        **vars(rig) | {"actuators": (SimpleNamespace(name="k", joint=joint, drive=d),)}
    )
    with pytest.raises(InputError, match="actuators.k: its spring is on the angle of left"):
        closings._check_springs(on("left", spring), found)
    for fine in (on("right", spring), on("bar", spring), on("left", COMMANDED)):
        closings._check_springs(fine, found)


def closed(monkeypatch, rig, cuts, **actuated):
    """The pairs of unknown joints, loop after loop."""
    rig.cuts = cuts
    rig.loops = tuple(SimpleNamespace(name=f"loop{n}", joint="revolute") for n in range(len(cuts)))
    names = {b.name: j for j, b in enumerate(rig.bodies)}
    rig.number = names.__getitem__
    monkeypatch.setattr(
        closings, "_closing", lambda mechanism, n, base, chains, unknown: (n, tuple(unknown))
    )
    monkeypatch.setattr(
        closings, "_started", lambda mechanism, k, z: SimpleNamespace(loop=k[0], unknown=k[1])
    )
    return [(k.loop, k.unknown) for k in closings.closings_of(rig, None)]


def four_bar(*held_ones):
    return (
        Body("a"),
        Body("b", parent="a"),
        Body("c"),
        Body("d", parent="c", hold="d" in held_ones),
    )


def test_which_joints_of_a_loop_follow(monkeypatch):
    """Of four all but two are known: what is held first, then what is driven, then what is nearest to the ground."""
    assert closed(monkeypatch, machine(four_bar()), [(1, 3)]) == [(0, (1, 3))]
    assert closed(monkeypatch, machine(four_bar("d")), [(1, 3)]) == [(0, (1, 2))]
    b = (SimpleNamespace(name="turn", joint="b", drive=COMMANDED),)
    assert closed(monkeypatch, machine(four_bar(), actuators=b), [(1, 3)]) == [(0, (2, 3))]
    assert closed(monkeypatch, machine(four_bar("d"), actuators=b), [(1, 3)]) == [(0, (0, 2))]


def test_loops_are_closed_where_two_joints_are_open_first(monkeypatch):
    """The second loop has two open ones; then the first has one more that is known."""
    bodies = (
        Body("a"),
        Body("b", parent="a"),
        Body("c"),
        Body("d", parent="c"),
        Body("e", "fixed"),
    )
    rig = machine(bodies)
    assert closed(monkeypatch, rig, [(1, 3), (3, 4)]) == [(1, (2, 3)), (0, (0, 1))]
    with pytest.raises(InputError, match="loop1: its joints are all determined"):
        closed(monkeypatch, machine(bodies), [(3, 4), (3, 4)])


# ---- which machines virtual decomposition control serves ----------------------------------------------------------------------
class Served:
    def inputs(self, name):
        return [Signal("u", "V", "", "control")]


class Other(Served):
    """A drive without a law."""


def loose(monkeypatch, rows, names=("q_a", "q_b")):
    """What is said of a plant whose drives move by these rows."""
    n = len(names)
    plant = SimpleNamespace(inner=lambda x: x, initial=lambda: [0.1] * n)
    plant.mechanism = SimpleNamespace(name="rig", lead=range(n), pose_and_rates=lambda x: (x, None))
    monkeypatch.setattr(suited.drive_forces, "rows_at", lambda model, q: rows)
    monkeypatch.setattr(suited.coordinates, "freedoms", lambda model: list(names))
    found = suited._loose(plant)
    return "" if found is None else found.message


@pytest.mark.parametrize(
    "rows, said",
    [
        ([[1.0, 0.0], [0.0, 2.0]], ""),
        ([[1.0, 0.0], [0.0, 1.1e-6]], ""),
        ([[1.0, 0.0], [0.0, 0.9e-6]], "and 2 drives, which leave q_b free"),
        ([[0.0, 3.0]], "and 1 drives, which leave q_a free"),
        ([[3.0, 3.0], [1.0, 1.0]], "and 2 drives, which leave q_"),
        ([], "and 0 drives, which leave q_a free"),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ""),
    ],
)
def test_a_coordinate_that_no_drive_holds(monkeypatch, rows, said):
    found = loose(monkeypatch, rows)
    assert said in found and bool(found) is bool(said)
    if said:
        assert found.startswith("VDC: rig has 2 coordinates (q_a, q_b)")


def test_drives_that_have_a_law(monkeypatch):
    monkeypatch.setattr(suited, "SERVED", (Served,))
    monkeypatch.setattr(suited.coordinates, "driven", lambda model: range(len(model.actuators)))
    made = lambda *drives, method="minimal": SimpleNamespace(
        name="rig", method=method, actuators=actuators(*drives)
    )
    assert suited._unserved(made(Served(), Served())) is None
    assert "method penalty" in suited._unserved(made(Served(), method="penalty")).message
    monkeypatch.setattr(suited, "SERVED", (Other,))
    assert (
        "no law for the drive of actuator n1, a Served"
        in suited._unserved(made(Other(), Served())).message
    )


def test_plants_that_a_law_knows_in_its_ledger(monkeypatch):
    part = lambda kind: SimpleNamespace(serves=(kind,))
    monkeypatch.setattr(suited.coordinates, "driven", lambda model: [1, 2])
    plant = SimpleNamespace(
        mechanism=SimpleNamespace(actuators=actuators(COMMANDED, Served(), Other()))
    )
    assert suited.unaccounted([part(Served), part(Served)], plant) is None
    assert suited.unaccounted([part(Served), part(Other)], plant) is None
    assert "knows no Served" in suited.unaccounted([part(Other), part(Other)], plant).message
    bare = SimpleNamespace(mechanism=None)
    assert "knows no SimpleNamespace" in suited.unaccounted([], bare).message
