"""Bodies that are fixed to each other as one: forces of required motion in three dimensions, as those of every body by itself."""

import numpy as np
import pytest
from random_linkages import solid

from plants.drives.laws import Torque
from plants.multibody import Body, Mechanism, required
from plants.multibody.lumped import lumped
from plants.multibody.parts import Actuator


def column(rng):
    """A slewing column, an arm, a grab, axes in no plane: each carries one or two bodies fixed off its axis."""
    off = lambda: tuple(float(v) for v in rng.normal(size=3))
    bodies = (
        Body("slew", axis=(0.0, 1.0, 0.0), start=0.3, **solid(rng, 0.5)),
        Body("tank", "slew", "fixed", off(), **solid(rng, 0.9)),
        Body("arm", "slew", "revolute", off(), (0.2, 0.1, 1.0), start=0.4, **solid(rng, 1.5)),
        Body("lamp", "arm", "fixed", off(), **solid(rng, 0.4)),
        Body("hook", "lamp", "fixed", off(), **solid(rng, 0.7)),
        Body("grab", "arm", "revolute", off(), (1.0, 0.3, -0.2), start=0.2, **solid(rng, 1.1)),
        Body("load", "grab", "fixed", off(), **solid(rng, 1.3)),
    )
    drives = (
        Actuator("turn", Torque(), joint="slew"),
        Actuator("lift", Torque(), joint="arm"),
        Actuator("roll", Torque(), joint="grab"),
    )
    gravity = tuple(float(v) for v in rng.normal(size=3) * 6)
    return Mechanism(bodies, actuators=drives, gravity=gravity, method="minimal")


def forces(machine, rng, nets):
    """What `nets` asks of the joints at a random state with a required motion that is not the true one."""
    q, qd, qd_r, qdd_r = (list(map(float, rng.normal(size=3))) for _ in range(4))
    at = required.whole(machine, q, qd)
    _, wanted = required.required(machine, at, qd_r, qdd_r)
    return np.array(required.joint_forces(machine, at.motion, nets(machine, at.motion, wanted)))


@pytest.mark.parametrize("seed", range(6))
def test_one_body_or_several(seed):
    """Rates that differ from the required ones: the skew-symmetric C_A of each body counts, the spread of the lumps included."""
    rng = np.random.default_rng(seed)
    machine = column(rng)
    state = seed + 100
    each = forces(machine, np.random.default_rng(state), required.net_wrenches)
    one = forces(machine, np.random.default_rng(state), required.lumped_wrenches)
    assert one == pytest.approx(each, rel=1e-12, abs=1e-12 * np.abs(each).max())


def test_a_lump_without_its_spread_would_be_seen(monkeypatch):
    """What the skew-symmetric C_A of several bodies counts beyond that of one is no rounding."""
    rng = np.random.default_rng(3)
    machine = column(rng)
    each = forces(machine, np.random.default_rng(9), required.net_wrenches)
    bare = lambda bodies, tree: [lump._replace(spread=0.0) for lump in lumped(bodies, tree)]
    monkeypatch.setattr(required, "lumped", bare)
    one = forces(machine, np.random.default_rng(9), required.lumped_wrenches)
    assert np.abs(one - each).max() > 1e-3 * np.abs(each).max()


def test_masses_and_centres_add_up():
    """m, m c and J about the frame's origin of a lump are the sums of its bodies'."""
    rng = np.random.default_rng(5)
    machine = column(rng)
    lumps = dict(zip((b.name for b in machine.bodies), lumped(machine.bodies, machine.tree)))
    arm, lamp, hook = (machine.bodies[machine.number(n)] for n in ("arm", "lamp", "hook"))
    shift = np.array(lamp.point)
    places = [np.array(arm.com), shift + lamp.com, shift + np.array(hook.point) + hook.com]
    masses = [arm.mass, lamp.mass, hook.mass]
    assert lumps["arm"].mass == pytest.approx(sum(masses), rel=1e-14)
    centre = sum(m * c for m, c in zip(masses, places)) / sum(masses)
    assert np.array(lumps["arm"].com, float) == pytest.approx(centre, rel=1e-12)
    assert lumps["hook"].mass == 0.0 == lumps["lamp"].mass
