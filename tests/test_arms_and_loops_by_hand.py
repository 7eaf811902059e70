"""Metered arms as bodies, the branch and turns in which planar loops start, and edges of a mechanism's drives, by hand."""

from dataclasses import replace
from math import pi
from types import SimpleNamespace

import numpy as np
import pytest

from plants.metered import arm_bodies
from plants.metered.arm import Arm
from plants.multibody import closings
from plants.multibody.equations import Equations
from plants.multibody.planar import Closing
from workbench.contract.errors import InputError

ARM = Arm(
    "boom", L_g=1.25, L_m=0.7, L_f=2.75, α=0.4, M=900.0, J=650.0, r_bx=-1.1, r_by=-0.9, θ_0=-0.3
)
LATER = replace(ARM, name="jib", M=400.0)


# ---- arms ----------------------------------------------------------------------------------------------------------------------
def test_an_arm_is_a_thin_body_between_two_pins():
    """It has no inertia about its own length and no products; the pin of its rod is behind it by α, base and tip as they are."""
    made = arm_bodies.mechanism("arms", (ARM, LATER), 9.7, None, lambda arm: f"drive of {arm.name}")
    boom, jib = made.bodies
    assert (boom.name, boom.mass, boom.com, boom.start) == ("boom", 900.0, (1.25, 0.0, 0.0), -0.3)
    assert boom.inertia == (0.0, 650.0, 650.0, 0.0, 0.0, 0.0)
    assert (jib.name, jib.mass) == ("jib", 400.0) and made.gravity == (0.0, -9.7, 0.0)
    assert [a.name for a in made.actuators] == ["boom", "jib", "tip_boom", "tip_jib"]
    rod, _, tip, _ = made.actuators
    assert rod.a.body == arm_bodies.GROUND and rod.a.point == (-1.1, -0.9, 0.0)
    assert rod.b.body == "boom" and rod.b.point == pytest.approx(
        (-0.7 * np.cos(0.4), 0.7 * np.sin(0.4), 0.0)
    )
    assert rod.drive == "drive of boom" and tip.joint == "boom" and tip.drive.L == 2.75
    assert (made.name, made.method, made.supply) == ("arms", "minimal", None)


def test_an_arm_that_a_motor_turns_has_its_drive_on_the_joint():
    motor = SimpleNamespace(turns=True, name="swing")
    found = arm_bodies._actuator(motor, "drive")
    assert (found.name, found.joint, found.drive) == ("swing", "swing", "drive")


# ---- loops ---------------------------------------------------------------------------------------------------------------------
def started(
    monkeypatch, want, closed, chains=((0, 1), (2,)), signs=((0, -1.0), (1, 1.0)), unknown=(0, 1)
):
    """The closing of a loop from these angles, where `closed` says what each branch gives and how much room it has."""
    names = ("bar", "link", "post")
    rig = SimpleNamespace(
        tree=SimpleNamespace(z=[(0,), (1,), (2,)]),
        bodies=[SimpleNamespace(name=n) for n in names],
        loops=[SimpleNamespace(name="loop")],
    )
    monkeypatch.setattr(closings, "closed", lambda mechanism, k, z: closed(k))
    k = Closing(0, -1, chains, unknown, signs, 2)
    return closings._started(rig, k, np.array(want))


def either(want, miss=(0.0, 0.5), room=1.0):
    """Branch 1 misses by the first of these, −1 by the second."""
    return lambda k: ([v + miss[0 if k.branch == 1 else 1] for v in want], room)


@pytest.mark.parametrize("miss, branch", [((0.0, 0.5), 1), ((0.5, -1e-7), -1), ((np.nan, 0.0), -1)])
def test_a_loop_starts_in_the_branch_that_gives_its_angles(monkeypatch, miss, branch):
    want = (0.3, -0.2)
    assert started(monkeypatch, want, either(want, miss)).branch == branch


@pytest.mark.parametrize(
    "chains, signs, want, turns",
    [
        (((0,), (1,)), ((0, 1.0), (1, 1.0)), (1.6, -3.2), (1, -2)),
        (((0,), (1,)), ((0, -1.0), (1, -1.0)), (1.6, -3.2), (-1, 2)),
        (
            ((0, 1), (2,)),
            ((0, 1.0), (1, 1.0)),
            (1.6, -3.2),
            (1, -1),
        ),  # the second turns with the first
        (((2,), (0, 1)), ((0, -1.0), (1, 1.0)), (1.6, -3.2), (-1, -3)),
        (((0, 1), (2,)), ((0, 1.0),), (1.6, 0.7), (1, 1)),  # it slides, in a body that turns
        (((0,), (1,)), ((0, 1.0),), (3.0, 0.7), (2, 0)),
    ],
)
def test_angles_start_near_their_own_number_of_quarter_turns(
    monkeypatch, chains, signs, want, turns
):
    """Along the loop's axis; of a joint that hangs on the other one both together."""
    found = started(monkeypatch, want, either(want), chains, signs)
    assert found.turns == turns
    assert turns == tuple(round(2 * a / pi) for a in _angles(chains, dict(signs), want))


def _angles(chains, signs, want):
    first = signs[0] * want[0]
    second = signs.get(1, 0.0) * want[1]
    return first, second + (first if (0, 1) in chains else 0.0)


@pytest.mark.parametrize(
    "miss, room, starts",
    [
        (0.0, 1.01e-6, True),
        (0.0, 0.99e-6, False),
        (0.0, np.nan, False),
        (0.99e-6, 1.0, True),
        (1.01e-6, 1.0, False),
    ],
)
def test_a_loop_at_a_dead_centre_does_not_start(monkeypatch, miss, room, starts):
    want = (0.3, -0.2)
    ask = lambda: started(monkeypatch, want, either(want, (miss, 0.5), room))
    if starts:
        assert ask().branch == 1
        return
    with pytest.raises(
        InputError, match="cannot close loop: it starts at a dead centre of bar and link"
    ):
        ask()


# ---- a mechanism's edges -------------------------------------------------------------------------------------------------------
def test_edges_of_drives_are_those_of_their_pulls_and_of_the_supply():
    """The supply's state is the last of all."""
    asked = []
    pull = lambda k: SimpleNamespace(x=[k], s=k + 0.25, rate=k + 0.5, u=[k + 0.75])
    drive = SimpleNamespace(guards=lambda *given: asked.append(given) or [10 * given[0][0]])
    actuators = tuple(SimpleNamespace(drive=drive) for _ in range(2))
    supply = SimpleNamespace(guards=lambda own: [f"of {own}"])
    made = SimpleNamespace(
        split=lambda x: ("z", "rates", ["first", "second", "third"]),
        closed=lambda z, rates: (z, rates),
        pulls=lambda closed, z, rates, own, u: [pull(1), pull(2)],
        actuators=actuators, supply=supply,
    )  # fmt: skip
    assert Equations.guards(made, 0.0, None, None) == [10, 20, "of third"]
    assert asked[1] == ([2], 2.25, 2.5, [2.75])
    made.supply = None
    assert Equations.guards(made, 0.0, None, None) == [10, 20]
