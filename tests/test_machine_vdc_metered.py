"""Virtual decomposition control of a mechanism behind metering valves: ledger, gains, openings."""

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from test_metered_crane import BRISTLES, CRANE
from test_metered_section import metered

from controllers import VDC
from plants.drives.contract import Line
from workbench import InputError


@pytest.mark.parametrize("plant", [CRANE, BRISTLES], ids=["Coulomb", "bristles"])
def test_its_ledger_closes_behind_metering_valves(plant):
    law = VDC(metered(plant))
    b = at_random(loop_of(law), 4)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()


def test_a_force_gain_that_gives_the_error_power_is_refused():
    mechanism, most = metered(CRANE), 4.0 / CRANE.τ
    assert VDC(mechanism, Kk_f=(0.99 * most,))
    with pytest.raises(InputError, match="Kk_f: .* gives the force error power; it must be below"):
        VDC(mechanism, Kk_f=(1.01 * most,))


def test_an_opening_away_from_reliefs_and_checks_gives_the_speed_by_both_orifices():
    """`inside` > 0 says that fed and drained chamber are where the two orifices in series put them; the valves then agree."""
    drive = metered(CRANE).actuators[0].drive
    part = VDC(metered(CRANE)).parts[0]
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
