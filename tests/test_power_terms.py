"""Each named power of a manipulator by its own law, cylinder by cylinder: a sum that closes does not say its terms are right."""

from dataclasses import replace

import numpy as np
import pytest
from draws import plant_inputs, plant_state, varied_machine

SEEDS = (3, 4, 7)


def through(Δp, width):
    """√|Δp| sgn Δp, linear within the width."""
    return Δp / (Δp * Δp + width * width) ** 0.25


def notches(valve, spool, p_a, p_b, p_s, p_r):
    """(flow, pressure before, pressure behind) of the two notches that a spool position opens."""
    spool = np.clip(spool, -valve.u_max, valve.u_max)
    o = spool - np.clip(spool, -valve.dead_band, valve.dead_band)
    if o > 0:
        ways = ((valve.c_p1, p_s, p_a), (valve.c_n2, p_b, p_r))
    else:
        ways = ((valve.c_p2, p_s, p_b), (valve.c_n1, p_a, p_r))
    return [
        (c * abs(o) * through(before - behind, valve.width), before, behind)
        for c, before, behind in ways
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_named_powers_by_their_own_laws(seed):
    """Supply, tank, throttling, leakage, friction, each summed over three unlike cylinders; tip by force and moment."""
    machine = varied_machine(seed)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        x, u = plant_state(rng, machine), plant_inputs(rng, machine, False)
        named = dict(zip(machine.power_names, map(float, machine.powers(0.0, x, u))))
        parts = machine.split(x)
        _, speeds, _ = machine.cylinder_motion(parts.q, parts.qd)
        want = dict.fromkeys(("supply", "tank", "throttling", "leakage", "friction"), 0.0)
        for c, (p_a, p_b), spool, command, z, v in zip(
            machine.cylinders, parts.p, parts.spool, u, parts.rub, speeds
        ):
            at = spool[0] if spool else command
            fed, returned = notches(c.valve, at, p_a, p_b, machine.p_s, machine.p_r)
            want["supply"] += machine.p_s * fed[0]
            want["tank"] -= machine.p_r * returned[0]
            want["throttling"] -= sum(
                Q * (before - behind) for Q, before, behind in (fed, returned)
            )
            want["leakage"] -= c.c_i * (p_a - p_b) ** 2 + c.c_e * (p_a**2 + p_b**2)
            want["friction"] -= v * c.friction.force(v, z)
        size = sum(map(abs, named.values()))
        for name, value in want.items():
            assert named[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12 * size), name


def test_each_cylinder_leaks_on_its_own():
    """The leakage of one cylinder raised: that term alone of the account changes, by what this cylinder loses more."""
    machine = varied_machine(5)
    x, u = (
        plant_state(np.random.default_rng(5), machine),
        plant_inputs(np.random.default_rng(6), machine, False),
    )
    before = dict(zip(machine.power_names, map(float, machine.powers(0.0, x, u))))
    first = machine.structures[0]
    leaky = replace(
        first.revolute,
        cylinder=replace(first.revolute.cylinder, c_e=first.revolute.cylinder.c_e + 4e-12),
    )
    changed = replace(machine, structures=(replace(first, revolute=leaky), *machine.structures[1:]))
    after = dict(zip(changed.power_names, map(float, changed.powers(0.0, x, u))))
    p_a, p_b = machine.split(x).p[0]
    assert after["leakage"] - before["leakage"] == pytest.approx(
        -4e-12 * (p_a**2 + p_b**2), rel=1e-9
    )
    for name in ("supply", "tank", "throttling", "friction", "tip"):
        assert after[name] == before[name]
    assert after["compression"] - before["compression"] == pytest.approx(
        before["leakage"] - after["leakage"], rel=1e-6
    )


def test_power_given_at_the_tip():
    """f·v and m·ω apart: with the tool pushed along each axis, the share of the tip is minus force times velocity."""
    machine = varied_machine(6)
    rng = np.random.default_rng(8)
    x = plant_state(rng, machine)
    names = [s.name for s in machine.inputs]
    u = [0.0] * len(names)
    tip = machine.power_names.index("tip")
    assert machine.powers(0.0, x, u)[tip] == 0
    each = []
    for axis in ("f_Dx", "f_Dy", "f_Dz", "m_Dx", "m_Dy", "m_Dz"):
        pushed = [130.0 if n == axis else v for n, v in zip(names, u)]
        each.append(float(machine.powers(0.0, x, pushed)[tip]))
    together = [
        130.0 * (2 if n.startswith("f_D") else 3 if n.startswith("m_D") else 0) for n in names
    ]
    assert float(machine.powers(0.0, x, together)[tip]) == pytest.approx(
        2 * sum(each[:3]) + 3 * sum(each[3:]), rel=1e-12
    )
    h = 1e-6
    parts = machine.split(x)
    tool = lambda q: np.array(machine.tool(list(q)), float)
    q, qd = np.array(parts.q), np.array(parts.qd)
    speed = np.linalg.norm((tool(q + h * qd) - tool(q - h * qd)) / (2 * h))
    assert np.linalg.norm(each[:3]) / 130.0 == pytest.approx(speed, rel=1e-5)
