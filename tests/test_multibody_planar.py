"""Planar loops in closed form: the same motion as with all coordinates, in every arrangement of joints."""

from dataclasses import replace

import numpy as np
import pytest
from draws import apart
from mechanisms import bar, bricard, four_bar, slider_crank, turned

from plants.drives.laws import Force, SpringDamper
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place
from workbench import InputError, Scenario, simulate

BLOCK = {"mass": 2.5, "inertia": (0.1, 0.2, 0.3, 0.0, 0.0, 0.0), "com": (0.02, 0.03, 0.0)}
TILT = (0.3, -0.5, 0.8)


def split_four_bar(**options):
    """Cut at the coupler's far end: two chains from the ground, axes tilted out of the world's."""

    def tilted(name, parent, length, mass, turn, **o):
        along = np.linalg.svd(np.array([TILT]))[2][1]
        return Body(
            name,
            parent,
            axis=tuple(turn * v for v in TILT),
            mass=mass,
            com=tuple(along * length / 2),
            inertia=(0.3, 0.4, 0.5, 0.01, 0.02, 0.03),
            **o,
        ), along

    (crank, e) = tilted("crank", "ground", 1.0, 2.0, 1.0, start=0.8, rate=1.0, hold=True)
    (rocker, _) = tilted("rocker", "ground", 2.0, 3.0, -2.0, point=tuple(3.0 * e), start=-1.5)
    (coupler, _) = tilted("coupler", "crank", 2.6, 4.0, 1.0, point=tuple(1.0 * e), start=-0.4)
    return Mechanism(
        (rocker, crank, coupler),
        (Loop("k", Place("coupler", tuple(2.6 * e), TILT), Place("rocker", tuple(2.0 * e), TILT)),),
        **options,
    )


def slider(order, **options):
    """A slider–crank with the slide in the place asked for: on the ground, or along the rod (an inverted one)."""
    crank = bar("crank", "ground", 0.4, 2.0, start=0.9, rate=2.0, hold=True)
    if order == "ground":
        rod = bar("rod", "crank", 1.1, 1.5, point=(0.4, 0.0, 0.0), start=-1.2)
        block = Body(
            "block",
            "ground",
            "prismatic",
            point=(0.0, -0.1, 0.0),
            axis=(1.0, 0.1, 0.0),
            start=1.3,
            **BLOCK,
        )
        return Mechanism(
            (crank, rod, block),
            (Loop("pin", Place("rod", (1.1, 0.0, 0.0)), Place("block")),),
            **options,
        )
    if order == "rod":  # crank pin on a block that slides along a swinging arm
        arm = bar("arm", "ground", 2.0, 3.0, point=(-0.9, 0.1, 0.0), start=0.2)
        block = Body(
            "block",
            "arm",
            "prismatic",
            point=(0.0, 0.05, 0.0),
            axis=(1.0, 0.0, 0.0),
            start=1.1,
            **BLOCK,
        )
        return Mechanism(
            (crank, arm, block),
            (Loop("pin", Place("crank", (0.4, 0.0, 0.0)), Place("block")),),
            **options,
        )
    # a cylinder of two bodies that drives the crank: its length is what is known
    crank = bar("crank", "ground", 0.4, 2.0, start=0.9, rate=2.0)
    tube = bar("tube", "ground", 0.8, 3.0, point=(-0.9, 0.1, 0.0), start=0.2)
    piston = Body(
        "piston", "tube", "prismatic", axis=(1.0, 0.0, 0.0), start=1.15, hold=True, **BLOCK
    )
    drive = Actuator(
        "cylinder", Force(), Pin("ground", (-0.9, 0.1, 0.0)), Pin("crank", (0.4, 0.0, 0.0))
    )
    return Mechanism(
        (crank, tube, piston),
        (Loop("pin", Place("crank", (0.4, 0.0, 0.0)), Place("piston")),),
        actuators=(drive,),
        **options,
    )


def two_loops(**options):
    """A bell crank: the rocker of one four-bar is the crank of the next; one independent joint."""
    lower = (
        bar("crank", "ground", 1.0, 2.0, start=0.8, rate=1.2, hold=True),
        bar("link", "crank", 2.6, 1.0, point=(1.0, 0.0, 0.0), start=-0.4),
        bar("bell", "ground", 1.8, 4.0, point=(3.0, 0.0, 0.0), start=1.6),
    )
    upper = (
        bar("rod", "bell", 2.2, 1.3, point=(0.4, -1.2, 0.0), start=-1.6),
        bar("bucket", "ground", 1.5, 5.0, point=(5.5, -0.3, 0.0), start=1.2),
    )
    return Mechanism(
        (*lower, *upper),
        (
            Loop("k1", Place("link", (2.6, 0.0, 0.0)), Place("bell", (1.8, 0.0, 0.0))),
            Loop("k2", Place("rod", (2.2, 0.0, 0.0)), Place("bucket", (1.5, 0.0, 0.0))),
        ),
        **options,
    )


CASES = {
    "four-bar": four_bar,
    "four-bar, cut in the middle": split_four_bar,
    "two loops": two_loops,
    **{
        f"slider-crank, {order}": (lambda order=order, **o: slider(order, **o))
        for order in ("ground", "rod", "cylinder")
    },
}
every = pytest.mark.parametrize("make", CASES.values(), ids=CASES)


@every
def test_closed_form_and_projection_give_the_same_motion(make):
    whole, few = make(), make(method="minimal")
    assert len(few.states) == 2 * few.assembly.mobility == 2 and few.initial()[0] in whole.initial()
    logs = [simulate(m, Scenario(0.25, max_step=5e-4)) for m in (whole, few)]
    own = [s.name for s in few.states]
    for name in (*own, "E_stored"):
        assert np.abs(logs[0][name].values - logs[1][name].values).max() < 1e-8
    assert np.ptp(logs[1][own[0]].values) > 0.02
    at = [[float(log[s.name].values[-1]) for s in m.states] for m, log in zip((whole, few), logs)]
    wrapped = np.array(few.out(0.0, at[1]), float) - np.array(whole.out(0.0, at[0]), float)
    assert np.abs((wrapped + np.pi) % (2 * np.pi) - np.pi).max() < 1e-8
    assert max(logs[1][f"open_{loop.name}"].values.max() for loop in few.loops) < 1e-12


@every
def test_same_text_on_floats_and_expressions(make):
    few = make(method="minimal")
    x = [v + 0.02 for v in few.initial()]
    u = [77.0] * len(few.inputs)
    for call in (
        lambda m, x, u: m.rhs(0.0, x, u),
        lambda m, x, u: m.out(0.0, x),
        lambda m, x, u: [*m.powers(0.0, x, u), m.stored(0.0, x, u)],
    ):
        assert apart(few, call, x, u) < 1e-9


def test_the_branch_is_that_of_the_start():
    up = four_bar(method="minimal")
    down = turned(
        four_bar(method="minimal"), coupler={"start": "-120 deg"}, rocker={"start": "93 deg"}
    )
    assert (
        up.assembly.z[2] < 0 < down.assembly.z[2]
        and up.closings[0].branch == -down.closings[0].branch
    )
    for m in (up, down):
        assert m.split([m.assembly.z[0], 0.0])[0] == pytest.approx(m.assembly.z, abs=1e-12)


def test_energy_at_order_four_and_order_of_the_motion():
    few, ends = four_bar(method="minimal"), []
    for h in (16e-3, 8e-3, 4e-3):
        ends.append(simulate(few, Scenario(0.8, max_step=h))["q_crank"].values[-1])
    assert 3.6 < np.log2((ends[0] - ends[1]) / (ends[1] - ends[2])) < 4.6


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (bricard, "its joints are not in one plane"),
        (slider_crank, "it takes revolute and prismatic joints"),
    ],
)
def test_other_loops_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make(method="minimal")


def test_a_dead_centre_is_refused():
    """Crank and coupler in line, and the rocker asked to give their angles."""
    L = (1.0, 2.5, 2.0, 3.0)
    reach = L[0] + L[1]
    rocker = float(np.pi - np.arccos((L[2] ** 2 + L[3] ** 2 - reach**2) / (2 * L[2] * L[3])))
    bodies = (
        bar("rocker", "ground", L[2], 3.0, point=(L[3], 0.0, 0.0), start=rocker, hold=True),
        bar("crank", "ground", L[0], 2.0, start=0.55),
        bar("coupler", "crank", L[1], 4.0, point=(L[0], 0.0, 0.0), start=0.0),
    )
    loop = (Loop("k", Place("coupler", (L[1], 0.0, 0.0)), Place("rocker", (L[2], 0.0, 0.0))),)
    with pytest.raises(InputError, match="starts at a dead centre of crank and coupler|singular"):
        Mechanism(bodies, loop, method="minimal")


def test_a_spring_on_an_angle_that_follows_is_refused():
    def sprung(*joints, method):
        springs = tuple(
            Actuator(f"spring_{j}", SpringDamper(40.0, 0.1, 2.0), joint=j) for j in joints
        )
        return replace(turned(four_bar(actuators=springs), crank={"hold": False}), method=method)

    assert [s.name for s in sprung("rocker", method="minimal").states] == [
        "q_rocker",
        "dq_rocker",
    ]  # independent for its sake
    with pytest.raises(
        InputError, match="actuators.spring_rocker: its spring is on the angle of rocker"
    ):
        sprung("coupler", "rocker", method="minimal")
    assert sprung("coupler", "rocker", method="projected").assembly.mobility == 1
