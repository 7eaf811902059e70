"""The ledger of any machine under virtual decomposition control: it closes on random linkages, and locates planted faults."""

import json
from dataclasses import replace

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from random_linkages import linkage

from controllers import VDC
from controllers.vdc import bodies
from controllers.vdc.body_gain import BodyGain
from controllers.vdc.drives.servo_cylinder import ServoValvePart
from plants import machine
from plants.components.spatial import add, cross, scale
from plants.multibody import cuts
from plants.multibody import required as mechanics
from plants.multibody.tree import ZERO6
from tests.faults.entries import case_of
from workbench import changed
from workbench.cases.file import loads

pytestmark = pytest.mark.usefixtures("plain_code")

CRANK = 1  # two links, each behind a crank and a rod of its own
# Slewing, forces and a servo cylinder, a crank, a cylinder that weighs something, a spring.
MIXED = 8


@pytest.mark.parametrize("seed", [CRANK, 3, 4, pytest.param(MIXED, marks=pytest.mark.long)])
def test_every_row_closes_and_every_cut_cancels(seed):
    law = VDC(linkage(seed, links=1 + seed % 3), K_I=3.0)
    b = at_random(loop_of(law), seed)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()
    assert (b.v >= 0).all() and b.total.min() > 0


def test_a_model_that_errs_is_a_perturbation_of_its_drives_and_nothing_else():
    """Rows close with the true bodies whatever the law believes; what it believes wrongly is named "model"."""
    plant = linkage(CRANK, links=2)
    heavier = replace(plant.bodies[3], mass=1.2 * plant.bodies[3].mass)
    believed = replace(plant, bodies=(*plant.bodies[:3], heavier, *plant.bodies[4:]))
    b = at_random(loop_of(VDC(believed), plant), 5)
    assert not unbalanced(b) and not open_cuts(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert "model" in named
    sound = at_random(loop_of(VDC(plant)), 5)
    assert all(
        np.abs(d).max() < 1e-9 for (_, _, name), d in sound.perturbations.items() if name == "model"
    )


@pytest.mark.parametrize("rubs", ["CoulombViscous", "LuGre"])
def test_a_pin_believed_elsewhere_is_a_perturbation_of_its_drive_and_nothing_else(rubs):
    """The model tells rates of the rod that are not the true ones: what rubs as required is another force and changes otherwise."""
    plant = changed(machine("excavator").plant, {"boom.friction": {"law": rubs}})
    believed = changed(plant, {"actuators.boom.a.point": [0.76, 0.24, 0.0]})
    b = at_random(loop_of(VDC(believed), plant), 5)
    assert not unbalanced(b) and not open_cuts(b)
    erring = {c for (_, c, name), d in b.perturbations.items() if name == "model" and d.max() > 0.1}
    assert erring == {"actuator boom"}


def test_gains_of_one_body_act_in_its_own_frame():
    """A K_A given as a matrix equal to κ M_A + K_I 1 of the body is the default, term by term."""
    from workbench.verification.ledger.rates import matrices

    plant = linkage(CRANK, links=2)
    usual = VDC(plant, κ=9.0, K_I=4.0)
    K, _ = matrices(usual, plant)["rod1"]
    given = replace(usual, gains=(BodyGain("rod1", tuple(map(float, K.ravel()))),))
    a, b = (at_random(loop_of(law), 2) for law in (usual, given))
    assert b.dissipation == pytest.approx(a.dissipation, rel=1e-9, abs=1e-9)
    assert not unbalanced(b) and not open_cuts(b)


# ---- planted faults -------------------------------------------------------------------------------------------------
def place(name, seed=CRANK, links=2):
    """The number of a body, to which nothing is fixed: the law and the ledger know it by that."""
    return linkage(seed, links=links).number(name)


def balance_of(seed=CRANK, links=2):
    return at_random(loop_of(VDC(linkage(seed, links=links))), 3)


def test_a_feedback_of_the_wrong_sign_dissipates_less_than_nothing(monkeypatch):
    fed = bodies.fed_back
    flipped = lambda law, motion, wanted, j: tuple(
        scale(-1.0, part) if j == 4 else part for part in fed(law, motion, wanted, j)
    )
    monkeypatch.setattr(bodies, "fed_back", flipped)
    b = balance_of()
    negative = {name for (_, name), D in zip(b.entries, b.dissipation.T) if D.min() < 0}
    assert negative == {"crank1"}


def test_a_body_that_was_forgotten_is_named(monkeypatch):
    net = mechanics.net_wrench

    def without(body, motion, wanted, j, gravity):
        F = net(body, motion, wanted, j, gravity)
        return F if j != place("rod0") else tuple(scale(0.0, part) for part in F)

    monkeypatch.setattr(mechanics, "net_wrench", without)
    assert set(unbalanced(balance_of())) == {"rod0"}


def test_a_coriolis_term_that_is_not_skew_is_named(monkeypatch):
    """m (ω_r × v) in place of m (ω × v_r): the same on the path, not skew-symmetric beside it."""
    net = mechanics.net_wrench

    def other(body, motion, wanted, j, gravity):
        f, m = net(body, motion, wanted, j, gravity)
        if j != place("link1"):
            return f, m
        c = mechanics.centre(body, motion, j)
        (v, ω), (v_r, ω_r) = motion.Z[j], wanted.Z[j]
        right, wrong = cross(ω, v_r), cross(ω_r, v)
        extra = scale(body.mass, add(wrong, scale(-1.0, right)))
        return add(f, extra), add(m, cross(c, extra))

    monkeypatch.setattr(mechanics, "net_wrench", other)
    assert set(unbalanced(balance_of())) == {"link1"}


def test_a_wrong_lever_arm_opens_the_cut_at_the_pins(monkeypatch):
    lever = mechanics._lever

    def shorter(mechanism, actuator, pull, columns):
        row = lever(mechanism, actuator, pull, columns)
        return [0.97 * value for value in row] if actuator.name == "d1" else row

    monkeypatch.setattr(mechanics, "_lever", shorter)
    assert "pins d1" in open_cuts(balance_of())


def test_a_loop_whose_wrench_was_left_out_opens_joints_of_that_loop(monkeypatch):
    found = cuts._multipliers

    def without(mechanism, G, left):
        μ = found(mechanism, G, left)
        return [0.0 * value if row >= 2 else value for row, value in enumerate(μ)]

    monkeypatch.setattr(cuts, "_multipliers", without)
    open_ = set(open_cuts(balance_of()))
    assert open_ and open_ <= {f"joint {name}" for name in ("link1", "crank1", "rod1")}


def test_another_law_of_one_drive_is_named_by_its_actuator(monkeypatch):
    """The certificate keeps its own text of the law: what is commanded otherwise is "parameters" of that actuator."""
    command = ServoValvePart.command

    def softer(self, s, v, v_r, p, ẑ, f_pr, f_pr_rate, line):
        factor = 0.5 if self.label == "d0" else 1.0
        return command(self, s, v, v_r, p, ẑ, f_pr, factor * f_pr_rate, line)

    monkeypatch.setattr(ServoValvePart, "command", softer)
    b = balance_of()
    wrong = {
        component
        for (_, component, name), d in b.perturbations.items()
        if name == "parameters" and np.abs(d).max() > 1e-6
    }
    assert wrong == {"actuator d0"}
    assert not unbalanced(b)


# ---- a platform on three cylinders, whose slides carry nothing ----------------------------------------------------------
@pytest.fixture(scope="module")
def platform():
    case = loads(json.dumps(case_of("platform-vdc", {})))
    return VDC(case.plant)


def test_joints_that_carry_nothing_are_measured_by_what_cancels_in_them(platform):
    b = at_random(loop_of(platform), 3)
    assert not unbalanced(b) and not open_cuts(b)
    carried = max(
        np.abs(b.flows["slide", "slide", f"joint {name}"]).max() for name in ("slide", "lift")
    )
    between = np.abs(b.flows["plate", "plate", "pins across"]).max()
    assert carried < 1e-12 * between


@pytest.mark.parametrize("share", (1e-9, 0.02))
def test_what_is_left_in_a_joint_that_carries_nothing_opens_it(platform, monkeypatch, share):
    """A share of the force of one cylinder that the plate does not get comes through the slides, and nobody pushes there."""
    acting = cuts._acting

    def weaker(mechanism, own, forces, loop_wrenches):
        (j, wrench), *rest = acting(mechanism, own, forces, loop_wrenches)
        return [(j, mechanics.scaled(1.0 - share, wrench)), *rest]

    monkeypatch.setattr(cuts, "_acting", weaker)
    assert {"joint slide", "joint lift"} <= set(open_cuts(at_random(loop_of(platform), 3)))


def test_sizes_of_what_meets_in_a_joint_add_up_whatever_their_signs(platform):
    """Two cylinders that push against each other leave the slides nothing, and count twice."""
    m = platform.model
    q = [float(v) for v in m.positions(m.initial())]
    at = mechanics.whole(m, q, [0.0] * len(q))
    lines = mechanics.lines(m, at)
    pushed = [1e3, -2e3, 500.0]
    nothing = [ZERO6] * len(m.bodies)
    found = cuts.cuts(m, at, lines, nothing, pushed, [0.0] * m.tree.n_v)
    forces = [f * np.array(wrench[0], float) for f, wrench in zip(pushed, lines.wrench)]
    for j in range(3):
        assert np.allclose(found.sizes[j][0], np.abs(forces).sum(axis=0), rtol=1e-12)
    assert np.allclose(found.joint[2][0], -np.sum(forces, axis=0), rtol=1e-12)
