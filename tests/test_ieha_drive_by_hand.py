"""The electro-hydraulic actuator as a drive of a mechanism: its states without the load, powers, starts, limits and sizes."""

from dataclasses import replace

import pytest
from test_ieha_actuator_by_hand import DRIVES, ED, P_A, P_B, RUBS, E

from plants.drives.ieha_drive import OWN, IEHADrive
from plants.ieha import energy
from plants.ieha.hydraulics import Hydraulics
from workbench.contract.errors import InputError


def test_a_drive_has_its_load_elsewhere():
    """Its states are the whole ones without Y and Ẏ; bristles are last; the shaft turns at ω."""
    drive = DRIVES["full"]
    x = [E, ED, 1e5, P_A, P_B, 0.4, 8e5, 25e5, 14e5, 1e-5]
    whole = [E, ED, 1e5, P_A, P_B, pytest.approx(0.01), 0.05, 8e5, 25e5, 14e5, 1e-5]
    assert drive.whole(x, 0.31, 0.05) == whole and OWN == 5
    assert drive.rubbed(x) == [1e-5] and drive.angle(x) == 0.4
    here = drive.whole(x, 0.31, 0.05)
    made = drive.delivery(0.4, here)
    pushed, charged = drive.carriage(here, 3e-4, made)
    rates = [ED, pushed, charged, *drive.chambers(here, made.Q_A, made.Q_B), 271.0, *made.rates]
    at = (x, 0.31, 0.05, [3e-4], None)
    assert drive.rates(*at) == pytest.approx([*rates, *RUBS.rate(0.05, [1e-5])])
    assert drive.force(*at) == pytest.approx(drive.thrust(here))
    assert drive.shown(*at) == pytest.approx([0.01, *Hydraulics.shown(drive, 0.4, here, 3e-4)])
    assert drive.shown(*at)[-1] == pytest.approx(RUBS.force(0.05, [1e-5]))
    powers = energy.by_cause(drive, 0.4, here, 3e-4)
    assert drive.powers(*at) == pytest.approx(powers)
    still = drive.whole(x, 0.31, 0.0)
    oil = energy.in_pistons(drive, 0.4, still)
    assert (
        drive.stored(x, 0.31) == pytest.approx(energy.in_actuator(drive, still) + oil) and oil > 0
    )
    plain = DRIVES["averaged"]
    y = [*x[:5], 1e-5]
    assert plain.stored(y, 0.31) == pytest.approx(
        energy.in_actuator(plain, plain.whole(y, 0.31, 0.0))
    )


@pytest.mark.parametrize("circuit, keys", [("closed", 1), ("open", 3)])
def test_limits_of_an_actuator(circuit, keys):
    """Travel of the ring; a chamber of the open circuit is hollow below none of its gauge pressure."""
    drive = replace(DRIVES["full"], circuit=circuit)
    limits = drive.machine_limits("a", "k")
    carriage = limits[0]
    assert len(limits) == keys and (carriage.low, carriage.high) == (-0.4e-3, 0.4e-3)
    assert (carriage.name, carriage.key, carriage.bearable) == (
        "carriage a",
        "k.stop_E.limit",
        True,
    )
    assert all(v.low == drive.oil.hollow - drive.oil.p_0 for v in limits[1:])
    assert [v.signals for v in limits[1:]] == [("P_A_a",), ("P_B_a",)][: keys - 1]
    assert not drive.cuts_commands and drive.bears_by(None) == "F_max"


def test_it_starts_blocked_at_rest():
    """Half of the force in each chamber of a closed circuit; pistons at the intake's pressure; the shaft and bristles at zero."""
    half = 0.5 * 300.0 / 2.356e-4
    for detail, between in (("averaged", []), ("ripple", [0.0]), ("full", [0.0, 7e5, 7e5, 7e5])):
        found = DRIVES[detail].initial(0.31, 300.0, None)
        assert found == pytest.approx([0.0, 0.0, 0.0, half, -half, *between, 0.0])
    with pytest.raises(InputError, match="the cylinder reaches from 0.26 m to 0.34 m"):
        DRIVES["full"].initial(0.341, 300.0, None)
    assert DRIVES["full"].initial(0.339, 0.0, None)[:5] == [0.0] * 5


@pytest.mark.parametrize(
    "force, p_a, p_b", [(500.0, 2.16e6, 2e5), (0.0, 2e5, 2.5e5), (-300.0, 2e5, 1.75e6)]
)
def test_in_an_open_circuit_one_chamber_is_at_the_return(force, p_a, p_b):
    """S_A P_A − S_B P_B is the force, and neither is below P_T."""
    open_ = replace(DRIVES["averaged"], circuit="open", S_A=2.5e-4, S_B=2e-4, P_T=2e5)
    found = open_.initial(0.3, force, None)[3:5]
    assert 2.5e-4 * found[0] - 2e-4 * found[1] == pytest.approx(force)
    assert found == pytest.approx([p_a, p_b]) and min(found) >= 2e5


def test_sizes_of_an_actuator():
    """The micro-valve's supply on the smaller area, or the force it is made for; both ways of travel."""
    plain = replace(DRIVES["averaged"], circuit="open", S_A=2.5e-4, S_B=2e-4)
    speed = plain.velocity_gain * 0.4e-3
    found = plain.sizes(None)
    assert (found.pressure, found.force, found.energy) == pytest.approx((10e5, 200.0, 16.0))
    assert (found.stroke, found.speed) == pytest.approx((0.08, speed))
    assert found.source == "supply of the micro-valve"
    made = replace(plain, F_max=900.0).sizes(None)
    assert (made.pressure, made.force, made.energy) == pytest.approx((4.5e6, 900.0, 72.0))
    assert made.source == "largest force over the piston's area"
    assert plain.velocity_gain_on(None) == plain.velocity_gain and plain.limit == 0.4e-3
    assert plain.range == pytest.approx((0.26, 0.34)) and IEHADrive().middle == 0.0


def test_the_force_it_is_made_for_is_a_limit_of_the_machine():
    """Both ways, of what it pushes in motion; of one that states none nothing is asked."""
    plain = DRIVES["averaged"]
    drive = replace(plain, F_max=900.0)
    (limit,) = [one for one in drive.machine_limits("arm", "at") if one.kind == "force"]
    assert (limit.signals, limit.low, limit.high) == (("f_arm",), -900.0, 900.0)
    assert limit.key == "at.F_max" and not limit.bearable
    assert all(one.kind != "force" for one in plain.machine_limits("arm", "at"))
