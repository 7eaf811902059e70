"""Loops: assembly, redundant rows, projection, motion against other coordinates, order, energy, what is refused."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from draws import apart
from mechanisms import bar, bricard, four_bar, slider_crank, turned
from oracles.maximal import Maximal

from plants.components.circuit import ThrottledCircuit
from plants.drives.laws import Force, SpringDamper, Torque
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Pin, Place
from workbench import InputError, Scenario, simulate
from workbench.contract.system import names

LOOPS = {"four-bar": four_bar, "slider-crank": slider_crank, "bricard": bricard}


def last(mechanism, log):
    return [float(log[s.name].values[-1]) for s in mechanism.states]


def test_the_four_bar_of_the_paper():
    """Exact start angles and the force that holds it, where the paper prints two decimals and 681.23 N."""
    mechanism = four_bar()
    found = mechanism.assembly
    assert np.degrees(found.z) == pytest.approx([60.0, -37.904384, -93.583322], abs=5e-7)
    assert found.mobility == 1 and len(found.left_out) == 3 and found.residual < 1e-14
    assert set(found.moved) == {"q_coupler", "q_rocker"}  # the crank is held
    zero = mechanism.accelerations(*at_rest(mechanism, found.z, [-386.0]))[0]
    assert abs(zero[0]) < 2e-5
    s, rate = mechanism.out(0.0, [*found.z, 0.3, 0.0, 0.0])[:2]
    assert s == pytest.approx(2 * np.cos(radians(30.0)), rel=1e-14)
    assert rate == pytest.approx(-0.3 * np.sin(radians(30.0)), rel=1e-13)


def at_rest(mechanism, z, u):
    still = [0.0] * mechanism.tree.n_v
    motion = mechanism.moving(z, still)
    own = [[] for _ in mechanism.actuators]
    return motion, still, mechanism.pulls(motion, z, still, own, u)


@pytest.mark.parametrize(
    ("name", "kept", "out"), [("four-bar", 2, 3), ("slider-crank", 3, 0), ("bricard", 4, 1)]
)
def test_rows_that_are_redundant_are_left_out_and_stay_satisfied(name, kept, out):
    mechanism = LOOPS[name]()
    assert (len(mechanism.kept), len(mechanism.assembly.left_out)) == (kept, out)
    log = simulate(mechanism, Scenario(0.7, max_step=2e-3))
    assert log.status.completed
    for loop in mechanism.loops:  # all rows, those left out too
        assert log[f"open_{loop.name}"].values.max() < 1e-13
    assert max(np.ptp(log[s.name].values) for s in mechanism.coordinates) > 0.2  # it did move


@pytest.mark.parametrize(
    ("name", "duration"), [("four-bar", 0.5), ("slider-crank", 0.4), ("bricard", 0.25)]
)
def test_motion_is_that_in_maximal_coordinates(name, duration):
    u = {"four-bar": 350.0}.get(name)
    mechanism = LOOPS[name]()
    found = mechanism.assembly
    pulls = [(-1, (-1.0, 0.0, 0.0), 0, (1.0, 0.0, 0.0), u)] if u else []
    other = Maximal(mechanism, found.z, found.rates, pulls)
    end = other.run(duration, 1e-10)
    log = simulate(mechanism, Scenario(duration, disturbances={"u_cylinder": u} if u else {}))
    z, rates, _ = mechanism.split(last(mechanism, log))
    assert other.apart(end, z, rates) < 1e-9


@pytest.mark.parametrize("name", LOOPS)
def test_order_four_with_projection_and_energy_at_that_order(name):
    mechanism = LOOPS[name]()
    if name == "bricard":
        mechanism = turned(mechanism, b0={"rate": 1.3, "hold": True})
    ends, energies = [], []
    for h in (8e-3, 4e-3, 2e-3):
        log = simulate(mechanism, Scenario(0.4, max_step=h))
        ends.append(np.array(last(mechanism, log)))
        energies.append(np.abs(log["E_stored"].values - log["E_stored"].values[0]).max())
    order = np.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max())
    assert 3.6 < order < 4.6
    assert (
        energies[2] < energies[0] / 100 and energies[2] < 1e-6 * abs(log["E_stored"].values).max()
    )


def test_projection_puts_back_what_was_pushed_off_and_only_that():
    rng = np.random.default_rng(4)
    for make in LOOPS.values():
        mechanism = make()
        x = np.array(mechanism.initial())
        back = np.array(mechanism.project(0.0, x))
        assert np.abs(back - x).max() < 1e-13
        pushed = x + 1e-5 * rng.normal(size=len(x))
        z, rates, _ = mechanism.split(mechanism.project(0.0, list(pushed)))
        Φ, G = (np.array(a, float) for a in mechanism.constraints(z))
        assert np.abs(Φ).max() < 1e-12 and np.abs(G @ rates).max() < 1e-11
        assert np.abs(np.array([*z, *rates]) - pushed).max() < 1e-3
        assert np.abs(mechanism.constraints(list(pushed[: len(z)]))[0]).max() > 1e-6


def test_the_projection_is_orthogonal_in_the_mass():
    mechanism = four_bar()
    z = mechanism.assembly.z
    pushed = np.array([0.7, -0.4, 1.1])
    rates = np.array(mechanism.project(0.0, [*z, *pushed])[3:], float)
    M, G = (
        np.array(mechanism.mass_matrix(z), float),
        np.array(mechanism.constraints(z)[1], float)[:2],
    )
    free = np.linalg.svd(G)[2][2]  # what the loop allows
    assert abs(G @ rates).max() < 1e-13 and abs(free @ M @ (pushed - rates)) < 1e-10 * abs(M).max()


@pytest.mark.parametrize("name", LOOPS)
def test_same_text_on_floats_and_expressions(name):
    mechanism = LOOPS[name]()
    x = [v + 0.01 * k for k, v in enumerate(mechanism.initial())]
    u = [123.0] * len(mechanism.inputs)
    for call in (
        lambda m, x, u: m.rhs(0.0, x, u),
        lambda m, x, u: m.project(0.0, x),
        lambda m, x, u: m.out(0.0, x),
        lambda m, x, u: [*m.powers(0.0, x, u), *m.monitor(0.0, x, u), m.stored(0.0, x, u)],
    ):
        assert apart(mechanism, call, x, u) < 1e-9


def test_power_is_the_rate_of_the_energy_with_every_drive():
    mechanism = four_bar(
        actuators=(
            Actuator(
                "push", Force(), Pin("ground", (-1.0, 0.2, 0.0)), Pin("crank", (1.0, 0.0, 0.1))
            ),
            Actuator(
                "spring",
                SpringDamper(900.0, 3.0, 40.0),
                Pin("crank", (0.7, 0.3, 0.0)),
                Pin("rocker", (1.2, 0.1, 0.2)),
            ),
            Actuator("motor", Torque(), joint="rocker"),
        )
    )
    mechanism = turned(mechanism, coupler={"damping": 3.7})
    x, u = mechanism.project(0.0, [*mechanism.assembly.z, 0.8, 0.0, 0.0]), [420.0, -35.0]
    flow, powers = np.array(mechanism.rhs(0.0, x, u)), mechanism.powers(0.0, x, u)
    ε = 1e-6
    ahead, behind = (
        mechanism.stored(0.0, list(np.array(x, float) + sign * ε * flow), u) for sign in (1, -1)
    )
    assert sum(powers) == pytest.approx((ahead - behind) / (2 * ε), rel=1e-7)
    assert mechanism.power_names == ("push", "spring", "motor", "damping") and all(
        abs(p) > 1e-3 for p in powers
    )


def test_what_is_held_stays_and_the_rest_gives_way_by_its_mass():
    free = turned(four_bar(), crank={"hold": False, "start": "60.5 deg"})
    held = turned(four_bar(), crank={"hold": True, "start": "60.5 deg"})
    assert held.assembly.z[0] == radians(60.5) and free.assembly.z[0] != radians(60.5)
    z_0 = np.radians([60.5, -37.90, -93.58])
    M = np.array(free.mass_matrix(list(z_0)), float)
    cost = [
        float((np.array(m.assembly.z) - z_0) @ M @ (np.array(m.assembly.z) - z_0))
        for m in (free, held)
    ]
    assert cost[0] < cost[1]
    G = np.array(free.constraints(free.assembly.z)[1], float)[:2]
    assert (
        abs(np.linalg.svd(G)[2][2] @ M @ (np.array(free.assembly.z) - z_0)) < 1e-6 * cost[0] ** 0.5
    )  # nearest


def loop_at(point, axis=(0.0, 0.0, 1.0), **options):
    return (Loop("E", Place("rocker", (5.0, 0.0, 0.0)), Place("ground", point, axis), **options),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loops": loop_at((16.0, 0.0, 0.0))}, r"loops.E: cannot be closed; 2\.\d+ m"),
        ({"loops": loop_at((10.0, 0.0, 0.1))}, r"loops.E: cannot be closed; 0\.1 m"),
        ({"loops": loop_at((10.0, 0.0, 0.0), (0.0, 0.3, 1.0))}, "loops.E: cannot be closed"),
        ({"loops": loop_at((10.0, 0.0, 0.0), (0.0, 0.0, -1.0))}, "axes or normals opposite"),
        ({"loops": (Loop("E", Place("roker"), Place()),)}, "there is no body 'roker'"),
        (
            {"actuators": (Actuator("c", Force(), Pin("crank"), Pin("rod")),)},
            "there is no body 'rod'",
        ),
        (
            {"actuators": (Actuator("c", Torque(), Pin("ground"), Pin("crank")),)},
            "a Torque acts on a revolute joint, and here it is on two pins",
        ),
        (
            {"actuators": (Actuator("c", Force(), joint="crank"),)},
            "a Force acts on two pins or a prismatic joint, and here it is on the revolute joint of crank",
        ),
        (
            {
                "actuators": (
                    Actuator(
                        "c",
                        Force(),
                        Pin("ground", (-1.0, 0.0, 0.0)),
                        Pin("crank", (1.0, 0.0, 0.0)),
                        longest=1.7,
                    ),
                )
            },
            r"actuators.c: measures 1\.73205 m at the start and can only span 0 … 1\.7 m",
        ),
        (
            {"actuators": (Actuator("c", Force(), Pin("ground"), Pin("crank")),)},
            "lie on each other",
        ),
    ],
)
def test_mechanisms_that_cannot_be_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        four_bar(**change)


def test_a_singular_start_is_refused_and_one_beside_it_is_not():
    """A parallelogram laid flat can go on as such, or as an antiparallelogram."""

    def parallelogram(angle):
        return Mechanism(
            (
                bar("a", "ground", 1.0, 2.0, start=angle, hold=True),
                bar("b", "ground", 1.0, 3.0, point=(2.0, 0.0, 0.0), start=angle),
                bar("c", "a", 2.0, 4.0, point=(1.0, 0.0, 0.0), start=-angle),
            ),
            (Loop("k", Place("c", (2.0, 0.0, 0.0)), Place("b", (1.0, 0.0, 0.0))),),
        )

    with pytest.raises(InputError, match="the start is singular"):
        parallelogram(0.0)
    assert parallelogram(0.3).assembly.mobility == 1


def test_rates_that_the_loops_forbid_are_refused():
    with pytest.raises(InputError, match="do not allow the rates at which crank, rocker start"):
        turned(
            four_bar(),
            crank={"rate": 1.0},
            rocker={"rate": 3.0, "hold": True, "start": four_bar().assembly.z[2]},
        )


def test_a_prismatic_cut_is_the_prismatic_joint_of_the_tree():
    """A slider on the ground, in the tree or cut: the same motion."""
    crank = bar("crank", "ground", 0.4, 2.0, start=0.9, rate=3.0, hold=True)
    rod = bar("rod", "crank", 1.1, 1.5, point=(0.4, 0.0, 0.0), start=-1.2)
    block = {"mass": 2.5, "inertia": (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)}
    tree = Mechanism(
        (
            crank,
            rod,
            Body("slider", "ground", "prismatic", axis=(1.0, 0.0, 0.0), start=1.3, **block),
        ),
        (Loop("pin", Place("rod", (1.1, 0.0, 0.0)), Place("slider")),),
    )
    cut = Mechanism(
        (crank, rod, Body("slider", "rod", point=(1.1, 0.0, 0.0), start=0.3, **block)),
        (
            Loop(
                "rail",
                Place("ground", axis=(1.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0)),
                Place("slider", axis=(1.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0)),
                "prismatic",
            ),
        ),
    )
    assert tree.assembly.mobility == cut.assembly.mobility == 1
    logs = [simulate(m, Scenario(0.5, max_step=5e-4)) for m in (tree, cut)]
    for name in ("q_crank", "dq_crank", "q_rod", "E_stored"):
        assert np.abs(logs[0][name].values - logs[1][name].values).max() < 1e-8
    assert set(names(cut.states)) == {
        "q_crank",
        "q_rod",
        "q_slider",
        "dq_crank",
        "dq_rod",
        "dq_slider",
    }


def test_numbers_may_change_without_a_new_trace():
    from workbench.contract.parameters import graph_key

    a = four_bar()
    b = replace(a, bodies=(replace(a.bodies[0], mass=17.0), *a.bodies[1:]))
    assert graph_key(a) == graph_key(b) and a.initial() == pytest.approx(b.initial(), abs=1e-12)


def swinging(**options):
    """A four-bar on a column that turns: its plane turns with it."""
    column = Body(
        "column",
        axis=(0.0, 1.0, 0.0),
        mass=30.0,
        com=(0.1, 0.4, 0.05),
        inertia=(4.0, 3.0, 5.0, 0.1, 0.0, 0.2),
        rate=5.0,
        hold=True,
    )
    bars = (
        bar("crank", "column", 1.0, 2.0, point=(0.2, 0.5, 0.1), start=0.8, rate=-1.0, hold=True),
        bar("link", "crank", 2.6, 1.0, point=(1.0, 0.0, 0.0), start=-0.4),
        bar("rocker", "column", 1.8, 4.0, point=(3.2, 0.5, 0.1), start=1.6),
    )
    return Mechanism(
        (column, *bars),
        (Loop("k", Place("link", (2.6, 0.0, 0.0)), Place("rocker", (1.8, 0.0, 0.0))),),
        **options,
    )


def test_a_planar_loop_may_turn_with_its_plane():
    """Rows that are left out on one side of the column must be redundant on all of them."""
    whole, few = swinging(), swinging(method="minimal")
    logs = [simulate(m, Scenario(0.4)) for m in (whole, few)]
    assert whole.assembly.mobility == 2 and np.ptp(logs[0]["q_column"].values) > 1.6
    for name in ("q_column", "dq_column", "q_crank", "dq_crank", "E_stored"):
        a, b = (log[name].values for log in logs)
        assert np.abs(a - b).max() < 1e-8 * max(1.0, np.abs(a).max()), name
    assert max(log["open_k"].values.max() for log in logs) < 1e-12
    other = Maximal(whole, whole.assembly.z, whole.assembly.rates)
    z, rates, _ = whole.split(last(whole, logs[0]))
    assert other.apart(other.run(0.4, 1e-8), z, rates) < 1e-6


def test_parts_that_cannot_be_are_refused():
    with pytest.raises(
        ValueError, match="a.normal: a prismatic joint keeps its bodies from turning"
    ):
        Loop("rail", Place("a"), Place(), "prismatic")
    with pytest.raises(ValueError, match="normal: it lies along the axis"):
        Place("a", axis=(0.0, 0.0, 2.0), normal=(0.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="b: both places are on 'a'"):
        Loop("k", Place("a"), Place("a", (1.0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="joint: an actuator acts between two pins"):
        Actuator("c", Force(), Pin("a"))
    with pytest.raises(ValueError, match="joint: an actuator acts between two pins"):
        Actuator("c", Force(), Pin("a"), Pin(), joint="b")
    with pytest.raises(ValueError, match="longest: 1 m is not longer"):
        Actuator("c", Force(), Pin("a"), Pin(), shortest=1.2, longest=1.0)
    with pytest.raises(
        ValueError, match="method: expected one of projected, minimal, penalty, got 'exact'"
    ):
        four_bar(method="exact")


def test_the_assembly_in_words():
    assert four_bar().in_words == (
        "1 degree of freedom, after leaving out constraints that follow from others: 3 of E. To close the loops the start was "
        "moved: q_coupler by -7.652e-05 rad, q_rocker by -5.797e-05 rad."
    )
    exact = bricard()
    assert (
        exact.in_words
        == "1 degree of freedom, after leaving out constraints that follow from others: 1 of sixth."
    )
    assert "e_rod_1 by" in slider_crank().in_words and "x_slider by 0.27" in slider_crank().in_words


def test_four_bars_close_from_a_poor_guess_exactly_when_they_can():
    rng, closed = np.random.default_rng(0), 0
    for _ in range(60):
        (a, b, c), angle, d = (
            rng.uniform(0.5, 3.0, 3),
            rng.uniform(-np.pi, np.pi),
            rng.uniform(0.5, 4.0),
        )
        gap = np.hypot(d - a * np.cos(angle), a * np.sin(angle))
        room = min(b + c - gap, gap - abs(b - c))
        if abs(room) < 0.03:
            continue
        make = lambda a=a, b=b, c=c, angle=angle, d=d: Mechanism(
            (
                bar("x", "ground", a, 1.0, start=angle, hold=True),
                bar("y", "x", b, 1.0, point=(a, 0.0, 0.0)),
                bar("z", "ground", c, 1.0, point=(d, 0.0, 0.0)),
            ),
            (Loop("k", Place("y", (b, 0.0, 0.0)), Place("z", (c, 0.0, 0.0))),),
        )
        if room > 0:
            assert make().assembly.residual < 1e-11
            closed += 1
        else:
            with pytest.raises(InputError, match=f"loops.k: cannot be closed; {-room:.2g}"[:-1]):
                make()
    assert 20 < closed < 50


def test_without_a_compiler_the_same():
    mechanism = slider_crank()
    a, b = (simulate(mechanism, Scenario(0.05), compiled=c) for c in (None, False))
    assert np.abs(a.values - b.values).max() < 1e-12


def test_public_names():
    from plants import multibody

    for name in multibody.__all__:
        assert getattr(multibody, name).__module__.startswith(("plants.multibody", "plants.drives"))
    with pytest.raises(AttributeError, match="no attribute 'Hinge'"):
        multibody.Hinge  # noqa: B018


def test_what_actuators_span():
    """A drive's own stroke, narrowed by what is given; an end at zero is an end."""
    c = Actuator(
        "c",
        ThrottledCircuit(),
        Pin("ground", (-1.0, 0.0, 0.0)),
        Pin("crank", (1.0, 0.0, 0.0)),
        longest=2.0,
    )
    assert (
        four_bar(actuators=(c,)).spans == {"s_c": (pytest.approx(3**0.5 - 0.5), 2.0)}
        and four_bar().spans == {}
    )
    slide = Body(
        "s",
        joint="prismatic",
        axis=(1.0, 0.0, 0.0),
        mass=2.0,
        inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0),
    )
    pushed = lambda start, **span: Mechanism(
        (replace(slide, start=start),), actuators=(Actuator("f", Force(), joint="s", **span),)
    )
    assert pushed(0.2, shortest=0.0).spans == {"s_f": (0.0, np.inf)} and pushed(
        -0.2, longest=0.0
    ).spans == {"s_f": (-np.inf, 0.0)}
    for start, span in ((-0.2, {"shortest": 0.0}), (0.2, {"longest": 0.0})):
        with pytest.raises(
            InputError, match="actuators.f: measures -?0.2 m at the start and can only span"
        ):
            pushed(start, **span)


def test_a_loop_that_holds_nothing_leaves_all_its_rows_out():
    """Hinged twice on the same axis."""
    door = bar("door", "ground", 1.2, 3.0, start=0.4)
    hinge = Loop("hinge", Place("door", (0.0, 0.0, 0.3)), Place("ground", (0.0, 0.0, 0.3)))
    once, twice = Mechanism((door,)), Mechanism((door,), (hinge,))
    assert twice.assembly.mobility == 1 and twice.kept == () and len(twice.assembly.left_out) == 5
    a, b = (simulate(m, Scenario(0.5)) for m in (once, twice))
    assert (
        np.abs(a["q_door"].values - b["q_door"].values).max() < 1e-12
        and b["open_hinge"].values.max() < 1e-15
    )


def test_units_and_names_of_what_is_logged():
    """A spring on a revolute joint gives a torque; names that would fall together are refused."""
    sprung = lambda name: four_bar(actuators=(Actuator(name, SpringDamper(3.0), joint="crank"),))
    assert [(s.name, s.unit) for s in sprung("k").monitors if s.name in ("f_k", "s_k")] == [
        ("s_k", "rad"),
        ("f_k", "N m"),
    ]
    for name in ("damping", "stored"):
        with pytest.raises(InputError, match=f"two signals would be called '{name}'"):
            sprung(name)
    with pytest.raises(
        InputError,
        match="actuators.c.drive: a ThrottledCircuit acts on two pins or a prismatic joint",
    ):
        four_bar(actuators=(Actuator("c", ThrottledCircuit(), joint="crank"),))
    with pytest.raises(InputError, match="all of them are fixed, so nothing can move"):
        Mechanism((Body("a", joint="fixed", mass=1.0),))
