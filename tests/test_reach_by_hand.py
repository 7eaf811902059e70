"""How far cylinders move a mechanism: steps up to the ends of their spans, dead points, motions that are thinned or shared."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.multibody import reach, strokes
from workbench.contract.errors import InputError

# ---- strokes -------------------------------------------------------------------------------------------------------------------
SPANS = np.array([[0.5, 2.0], [-np.inf, np.inf], [1.0, np.inf]])


@pytest.mark.parametrize(
    "before, after, share",
    [
        ([1.0, 0.0, 2.0], [1.5, 9.0, 3.0], 2.0),
        ([1.0, 0.0, 2.0], [3.0, 9.0, 1.5], 0.5),
        ([1.0, 0.0, 2.0], [0.0, 9.0, 2.0], 0.5),
        ([1.0, 0.0, 2.0], [1.0, 9.0, -2.0], 0.25),
        ([2.5, 0.0, 2.0], [3.0, 9.0, 2.0], 0.0),  # beyond its end already
        ([1.0, 0.0, 2.0], [1.0 + 1e-10, 9.0, 2.0], np.inf),
    ],
)
def test_after_which_share_of_a_step_a_span_is_left(before, after, share):
    """The first of them; an end that is not there is never reached."""
    assert strokes._left(SPANS, before, after) == pytest.approx(share)


def along(monkeypatch, speed=1.0, wall=np.inf):
    """One cylinder as long as its joint's position times `speed`, of which a loop does not close beyond `wall`."""
    monkeypatch.setattr(
        strokes, "_stepped", lambda m, z, move: None if z[0] + move[0] > wall else [z[0] + move[0]]
    )
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array([speed * z[0]]), None))


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_a_step_ends_where_the_cylinder_does(monkeypatch, speed):
    along(monkeypatch, speed)
    spans = np.sort(speed * np.array([[0.0, 1.0]]))
    ask = lambda z, move: strokes._onward(None, spans, [z], np.array([speed * z]), np.array([move]))
    there, lengths, ended = ask(0.5, 0.25)
    assert (there, lengths.tolist(), ended) == ([0.75], [speed * 0.75], False)
    there, _, ended = ask(0.9, 0.25)
    assert there == [pytest.approx(1.0)] and ended is True
    there, _, ended = ask(1.0, 0.25)
    assert there == [1.0] and ended is True


def test_a_loop_that_does_not_close_ends_a_step(monkeypatch):
    along(monkeypatch, wall=0.6)
    assert (
        strokes._onward(None, np.array([[0.0, 1.0]]), [0.5], np.array([0.5]), np.array([0.25]))[0]
        is None
    )


@pytest.mark.parametrize(
    "spans, names", [(((0.5, 2.0), (0.5, np.inf), (0.1, 0.4)), "ac"), (((-np.inf, 1.0),) * 3, "")]
)
def test_strokes_are_those_of_cylinders_whose_span_is_known(monkeypatch, spans, names):
    """Shorter ones first, the start once, dead points of both directions."""
    ways = {-1.0: ([(3.0, "z3"), (2.0, "z2")], (2.0,)), 1.0: ([(3.0, "z3"), (4.0, "z4")], ())}
    monkeypatch.setattr(strokes, "_followed", lambda m, k, way, z: ways[way])
    actuators = [SimpleNamespace(name=n, span=s) for n, s in zip("abc", spans)]
    rig = SimpleNamespace(actuators=actuators, assembly=SimpleNamespace(z="z3"))
    found = strokes.strokes.__wrapped__(rig)
    assert "".join(one.name for one in found) == names
    for one in found:
        assert (one.lengths, one.positions, one.dead_at) == (
            (2.0, 3.0, 4.0),
            ("z2", "z3", "z4"),
            (2.0,),
        )


def test_a_stroke_over_dead_points_is_refused_with_stops(monkeypatch):
    """A little before each of them, on the side of the start."""
    monkeypatch.setattr(strokes, "_lengths", lambda m, z: (np.array([9.0, 1.0]), None))
    actuators = [
        SimpleNamespace(name="b", span=(0.0, 9.9)),
        SimpleNamespace(name="a", span=(0.5, 2.0)),
    ]
    rig = SimpleNamespace(actuators=actuators, assembly=SimpleNamespace(z=None))
    made = lambda *at: strokes.Stroke("a", (), (), at)
    with pytest.raises(InputError) as why:
        strokes._refuse(rig, made(0.5, 1.5))
    text = str(why.value)
    assert (
        "its stroke, 0.5 … 2 m, passes dead points at 0.5 m and 1.5 m" in text
        and "(it is 1 m long at the start)" in text
    )
    assert "0.51 m'" in text and "1.49 m'" in text
    with pytest.raises(InputError, match="passes a dead point at 1.5 m"):
        strokes._refuse(rig, made(1.5))


# ---- reach ---------------------------------------------------------------------------------------------------------------------
def test_so_many_steps_of_a_motion_with_its_ends():
    motion = np.arange(11.0)[:, None]
    assert reach._some(motion, 3).ravel().tolist() == [0.0, 5.0, 10.0]
    assert reach._some(motion, 99).tolist() == motion.tolist() and reach._some(
        motion, 1
    ).tolist() == [[0.0]]


def test_which_positions_a_motion_changes_and_its_shortest_step():
    motion = np.array([[0.0, 0.0, 0.0], [0.5, -2e-6, 0.5e-6], [0.1, 0.0, 0.0], [0.9e-6, 0.0, 0.0]])
    assert reach._moved(motion) == {0, 1}
    assert reach._least(motion).tolist() == [0.1, 0.0, 0.0]


@pytest.mark.parametrize(
    "other, alike",
    [([2.0, 0.0], True), ([-3.0, 0.1], True), ([1.0, 0.1], False), ([0.0, 1.0], False)],
)
def test_motions_that_begin_along_one_line(other, alike):
    still = [0.0, 0.0]
    assert (
        reach._alike(np.array([still, [0.5, 0.0], [9.0, 9.0]]), np.array([still, other])) is alike
    )


def test_motions_are_spaced_evenly_in_the_joint_that_moves_most():
    moved = np.array([[0.0, 0.0], [1.0, 0.25], [1.5, 3.25]])
    found = reach._even(moved, 5)
    assert found.tolist() == [
        [0.0, 0.0],
        [1.0, 0.25],
        [1 + 0.5 / 3, 1.25],
        [1 + 1 / 3, 2.25],
        [1.5, 3.25],
    ]


@pytest.mark.parametrize(
    "end, range_, found", [(4.0, 1.0, 1), (-4.0, 1.0, -1), (0.01, 1.0, 1), (-0.01, 1.0, -1)]
)
def test_how_far_towards_an_end(end, range_, found):
    """A share of the range, and no more than a share of what is left."""
    far = reach._away(end, range_)
    assert np.sign(far) == found
    assert abs(far) == pytest.approx(min(reach.SHARE * range_, reach.LEFT * abs(end)))


def test_motions_of_several_cylinders_add_up_where_they_move_other_joints(monkeypatch):
    """Alike ones count once; one that shares a joint is followed again along the other."""
    motions = {
        "lift": np.array([[0.0, 0.0], [1.0, 0.0]]), "twin": np.array([[0.0, 0.0], [2.0, 0.0]]),
        "tilt": np.array([[0.0, 0.0], [0.0, 10.0]]),
    }  # fmt: skip
    monkeypatch.setattr(reach, "strokes", lambda rig: [SimpleNamespace(name=n) for n in rig.names])
    monkeypatch.setattr(reach, "_thinned", lambda stroke, start: motions[stroke.name])
    monkeypatch.setattr(reach, "_both", lambda rig, name, motion, start: np.array([[5.0, 5.0]]))
    monkeypatch.setattr(reach, "placed", lambda rig, poses, pin: poses)
    rig = SimpleNamespace(
        assembly=SimpleNamespace(z=[100.0, 200.0]), names=("lift", "twin", "tilt"), tcp=None
    )
    found = reach.tool_points(rig)
    assert sorted(map(tuple, found.tolist())) == [(100, 200), (100, 210), (101, 200), (101, 210)]
    motions["twin"] = np.array([[0.0, 0.0], [2.0, 2.0]])
    assert sorted(
        map(
            tuple,
            reach.tool_points(SimpleNamespace(**vars(rig) | {"names": ("lift", "twin")})).tolist(),
        )
    ) == [(105, 205)]
    alone = SimpleNamespace(**vars(rig) | {"names": ()})
    assert reach.tool_points(alone).tolist() == [[100.0, 200.0]]
