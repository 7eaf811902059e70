"""Virtual decomposition control of machines without a closed form: loops in space, ball joints, method projected."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from mechanisms import bricard, hydraulic
from spatial_linkages import plate, rocker

from controllers import VDC
from controllers.vdc import bodies
from plants.components.spatial import scale
from plants.drives.laws import Torque
from plants.multibody import required, spatial_rates
from plants.multibody.parts import Actuator
from plants.multibody.tree import REST
from workbench.cases.file import load, loads
from workbench.contract.errors import InputError
from workbench.contract.system import names

SEED = 2
EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = EXAMPLES / "tilting-platform.yaml"


def sealed(**options):
    """Bricard's six-bar, one of whose rows follows from the others, turned by a torque."""
    turned = Actuator("m", Torque(), joint="b0")
    return bricard(actuators=(turned,), gravity=(0.3, -9.81, 0.2), **options)


MACHINES = {
    "rocker": rocker(SEED),
    "plate": plate(),
    "bricard": sealed(),
    "stewart": load(EXAMPLES / "stewart-platform.yaml").plant,
}


def law_of(machine, **gains):
    space = "joint" if "joint" in machine.spaces else "piston"
    return VDC(machine, space=space, K_I=3.0, **gains)


@pytest.mark.parametrize("name", MACHINES)
def test_every_row_closes_and_every_cut_cancels(name):
    b = at_random(loop_of(law_of(MACHINES[name])), 1)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all() and b.total.min() > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_random_linkages_in_space_close_and_cancel(seed):
    b = at_random(loop_of(law_of(rocker(seed))), seed)
    assert not unbalanced(b) and not open_cuts(b)


@pytest.mark.parametrize("given", [{}, {"derivative": "desired"}, {"space": "piston"}], ids=str)
def test_without_the_closed_form_it_is_the_same_law(given):
    """Commands and required forces of the four-bar from all of its joints are those from its crank alone, on its loop."""
    closed, open_ = (VDC(hydraulic(method), **given) for method in ("minimal", "projected"))
    x = closed.model.initial()
    z, rates, _ = closed.model.split([x[0], 0.2, *x[2:]])
    oil = x[2:]
    (at,) = closed.model.task(closed.space, [x[0]])
    r = [at + 0.01, 0.1, 0.2, 0.3]
    mind = [0.0] * len(closed.states)
    own = _sought(closed, [x[0], 0.2, *oil], mind, r)
    other = _sought(open_, [*z, *rates, *oil], mind, r)
    assert other.f_pr == pytest.approx(own.f_pr, rel=1e-12)
    assert other.u == pytest.approx(own.u, rel=1e-10)


def _sought(law, x, mind, r):
    at = dict(zip(names(law.model.outputs), law.model.out(0.0, x)))
    return law.sought(mind, [at[s.name] for s in law.measured], r)


# ---- motion that the loops allow ------------------------------------------------------------------------------------
def moving(machine, seed=4):
    """(the machine at its start in some motion that its loops allow, rates that lead as required, those of all joints)."""
    rng = np.random.default_rng(seed)
    z = list(machine.assembly.z)
    draw = lambda: [float(v) for v in rng.normal(size=len(machine.lead))]
    at = required.whole(machine, z, required.rates_at(machine, z, draw()))
    qd_r = draw()
    return at, qd_r, required.rates_at(machine, z, qd_r)


@pytest.mark.parametrize("name", MACHINES)
def test_required_motion_keeps_the_loops_closed_and_its_accelerations_are_its_derivative(name):
    """G ż_r = 0, and z̈_r at q̈_r = 0 is the slope of ż_r along the true motion."""
    machine = MACHINES[name]
    at, qd_r, rates = moving(machine)
    assert np.abs(np.array(at.G).reshape(-1, machine.tree.n_v) @ rates).max(initial=0.0) < 1e-13
    h = 1e-5
    beside = []
    for way in (h, -h):
        z = machine.moved(at.z, [way * v for v in at.rates])
        beside.append(required.rates_at(machine, z, qd_r))
    slope = np.subtract(*beside) / (2 * h)
    γ = required._biases(machine, at, rates, REST)
    found = required.spread(machine, at.G, [0.0] * len(qd_r), γ)
    assert found == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("name", ["rocker", "bricard"])
def test_of_the_true_motion_the_bias_of_a_row_is_its_own(name):
    machine = MACHINES[name]
    at, _, _ = moving(machine)
    biases = [row.bias for row in spatial_rates.rows(machine, at.motion)]
    assert required._biases(machine, at, at.rates, REST) == pytest.approx(biases, abs=1e-13)


# ---- planted faults -------------------------------------------------------------------------------------------------
def test_a_feedback_of_the_wrong_sign_dissipates_less_than_nothing(monkeypatch):
    fed = bodies.fed_back
    flipped = lambda *given: tuple(scale(-1.0, part) for part in fed(*given))
    monkeypatch.setattr(bodies, "fed_back", flipped)
    b = at_random(loop_of(law_of(MACHINES["plate"])), 1)
    assert b.dissipation.min() < 0


def test_a_body_that_was_left_out_is_named(monkeypatch):
    net = required.net_wrench
    without = lambda *given: tuple(scale(0.0, part) for part in net(*given))
    monkeypatch.setattr(required, "net_wrench", without)
    assert set(unbalanced(at_random(loop_of(law_of(MACHINES["plate"])), 1))) == {"plate"}


def test_a_loop_whose_wrench_was_left_out_opens_its_joints(monkeypatch):
    monkeypatch.setattr(spatial_rates, "multipliers", lambda machine, G, τ: [0.0] * len(G))
    open_ = set(open_cuts(at_random(loop_of(law_of(MACHINES["rocker"])), 1)))
    assert open_ and open_ <= {f"joint {body}" for body in ("crank", "cross", "rod", "arm")}


# ---- what is refused ------------------------------------------------------------------------------------------------
def test_a_spin_that_no_drive_holds_is_named():
    spinning = replace(plate(), actuators=plate().actuators[:2])
    with pytest.raises(
        InputError, match=r"3 coordinates .* 2 drives, which leave ω_plate_[xyz] free"
    ):
        VDC(spinning, space="piston")


def test_loops_that_stay_open_by_a_little_are_refused():
    with pytest.raises(InputError, match="method penalty, which leaves its loops open by a little"):
        VDC(hydraulic("penalty"))


def test_a_ball_joint_is_no_coordinate_of_a_path():
    with pytest.raises(InputError, match="no joint space: an independent joint is a ball joint"):
        VDC(plate())


def test_a_path_in_joints_that_have_no_numbers_is_refused_at_its_line():
    text = EXAMPLE.read_text("utf-8").replace("    space: piston", "    space: joint")
    with pytest.raises(
        InputError, match=r"(?s)no joint space: .*choose from piston, output"
    ) as refusal:
        loads(text, "tilted.yaml")
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "    space: joint" in row)
    assert f"tilted.yaml, line {line}, scenario.reference.space" in str(refusal.value)
