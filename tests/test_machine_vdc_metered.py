"""Virtual decomposition control of a mechanism behind metering valves: on the metered crane written as one it is MeteredVDC."""

import numpy as np
import pytest
from crane_as_mechanism import translated
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from test_metered_crane import BRISTLES, CRANE, drawn
from test_metered_section import metered

from controllers import MachineVDC, MeteredVDC
from plants.drives.contract import Line
from workbench import InputError
from workbench.contract.system import names


def measured(law, plant, x):
    at = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    return [at[s.name] for s in law.measured]


@pytest.mark.parametrize("plant", [CRANE, BRISTLES], ids=["Coulomb", "bristles"])
def test_on_the_metered_crane_it_is_metered_vdc(plant):
    """Openings, required forces and memory agree to 1e-9, over random states, references and memories."""
    mechanism, rng = metered(plant), np.random.default_rng(6)
    own = MeteredVDC(plant, λ=(6.0,), κ=9.0, k_x=(0.8,), Kk_f=(50.0,))
    other = MachineVDC(mechanism, λ=(6.0,), κ=9.0, k_m=(0.8,), Kk_f=(50.0,))
    n = plant.n
    for _ in range(4):
        x, _ = drawn(rng, plant)
        y_other = translated(plant, mechanism, x)
        y, y_o = measured(own, plant, x), measured(other, mechanism, y_other)
        goal = np.array(x[:n]) + 0.02 * rng.normal(size=n)
        shift = np.subtract(y_other[:n], x[:n])
        rates = [float(v) for v in 0.2 * rng.normal(size=3 * n)]
        r, r_o = [*map(float, goal), *rates], [*map(float, goal + shift), *rates]
        bristles = [float(v) for v in 1e-6 * rng.normal(size=len(own.states) - n)]
        springs = [float(v) for v in 2e4 * rng.normal(size=n)]
        z = [*bristles, *springs]
        z_o = by_drive(plant, z)
        found, sought = own.sought(z, y, r[: 3 * n]), other.sought(z_o, y_o, r_o)
        assert sought.f_pr == pytest.approx(found.f_r, rel=1e-10)
        assert sought.u == pytest.approx([o.u for o in found.openings], rel=1e-9, abs=1e-12)
        after, u = own.step_at(1e-3, 0.0, z, y, r[: 3 * n])
        after_o, u_o = other.step_at(1e-3, 0.0, z_o, y_o, r_o)
        assert after_o == pytest.approx(by_drive(plant, after), rel=1e-9, abs=1e-12)
        assert u_o == pytest.approx(u, rel=1e-9, abs=1e-12)


def by_drive(plant, memory):
    """Memory drive by drive, of that of MeteredVDC: bristles of all, then springs of all."""
    found, first = [], 0
    for cylinder, spring in zip(plant.cylinders, memory[-plant.n :]):
        many = len(cylinder.friction.states(""))
        found += [*memory[first : first + many], spring]
        first += many
    return found


@pytest.mark.parametrize("plant", [CRANE, BRISTLES], ids=["Coulomb", "bristles"])
def test_its_ledger_closes_behind_metering_valves(plant):
    law = MachineVDC(metered(plant))
    b = at_random(loop_of(law), 4)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()


def test_a_force_gain_that_gives_the_error_power_is_refused():
    mechanism, most = metered(CRANE), 4.0 / CRANE.τ
    assert MachineVDC(mechanism, Kk_f=(0.99 * most,))
    with pytest.raises(InputError, match="Kk_f: .* gives the force error power; it must be below"):
        MachineVDC(mechanism, Kk_f=(1.01 * most,))


def test_an_opening_away_from_reliefs_and_checks_gives_the_speed_by_both_orifices():
    """`inside` > 0 says that fed and drained chamber are where the two orifices in series put them; the valves then agree."""
    drive = metered(CRANE).actuators[0].drive
    part = MachineVDC(metered(CRANE)).parts[0]
    rng, seen, line = np.random.default_rng(9), 0, Line(150e5, 0.0)
    for _ in range(60):
        speed, v = (float(s) for s in rng.uniform(-0.15, 0.15, 2))
        f_K = float(rng.uniform(-0.3, 0.5) * 150e5 * drive.cylinder.A_a)
        o = part.opened(drive, speed, v, f_K, line)
        inside = min(o.fed, o.P_iM - o.fed, o.P_oM - o.drained)
        if inside <= 1e4 or o.push <= 0 or abs(o.u) > 1:
            continue
        seen += 1
        x = [f_K / drive.stiffness + 0.2]
        work = drive.at_work(x, drive.closed + 0.2, v, [float(o.u)], line)
        fed, drained = (work.P_h, work.P_r) if speed > 0 else (work.P_r, work.P_h)
        assert work.speed == pytest.approx(speed, rel=1e-6)
        assert (fed, drained) == pytest.approx((float(o.fed), float(o.drained)), rel=1e-6, abs=10.0)
    assert seen > 15
