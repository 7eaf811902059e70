"""What is told of every kind of drive, supply and part of a law: by physics, nothing by accident."""

from typing import get_args

import pytest

from controllers.vdc.parts import PARTS
from plants.drives.contract import Drive
from plants.drives.kinds import DriveKind
from plants.drives.outer_force import OuterForce
from plants.drives.tip_force import TipForce
from plants.supplies.kinds import SupplyKind

DRIVES = (*get_args(DriveKind), OuterForce, TipForce)
METERED = {"MeteredSection", "MeteredRod", "CompressibleRod"}
BEHIND_A_SPOOL = {"ServoCylinder", "HydraulicMotor"}
TOLD = {
    "is_law": {"Force", "Torque", "SpringDamper", "OuterForce", "TipForce"},
    "needs_supply": METERED | BEHIND_A_SPOOL,
    "equal_steps": {"ThrottledCircuit"},  # the stiffest oil
    "steep": {"ServoCylinder", "HydraulicMotor", "MeteredSection", "MeteredRod"},
    "turns": {"Torque", "HydraulicMotor", "TipForce"},
    "anywhere": {"SpringDamper", "MeteredRod", "CompressibleRod"},
    "cuts_commands": METERED,  # an opening beyond fully open is none
}


def names(kinds, what):
    return {kind.__name__ for kind in kinds if getattr(kind, what) is True}


@pytest.mark.parametrize("what, kinds", TOLD.items(), ids=TOLD)
def test_what_a_machine_asks_of_every_kind_of_drive(what, kinds):
    assert names(DRIVES, what) == kinds and getattr(Drive, what) is False


def test_rates_of_loops_around_drives():
    """Below the first resonance of links on metered oil; a metered section's integral is slow, as its valves have a dead band."""
    rates = {kind.__name__: kind.loop_rate for kind in DRIVES}
    assert {name for name, rate in rates.items() if rate == 2.0} == METERED
    assert {rate for name, rate in rates.items() if name not in METERED} == {4.0}
    integral = {kind.__name__: kind.integral_rate for kind in DRIVES}
    assert integral.pop("MeteredSection") == 0.08 and set(integral.values()) == {4 / 9}


def test_metering_valves_are_shut_at_the_command_zero():
    assert {k.__name__ for k in DRIVES if k.just_shut is not None} == METERED
    for kind in DRIVES:
        if kind.__name__ in METERED:
            assert kind.just_shut == 0.0 and kind.limit == 1.0
            assert kind.valves[:5] == ("ph", "pr", "th", "tr", "a") and len(kind.valves) == 7
        else:
            assert kind.valves == ()


def test_what_has_no_oil_has_no_areas_no_pulse_and_no_limit():
    for kind in (k for k in DRIVES if k.is_law):
        assert (kind.areas, kind.pulse, kind.vacuum, kind.limit) == ((0.0, 0.0), 0.0, None, None)
        assert kind.pressure_limits == ()


def test_supplies_say_whose_pressure_settles_at_once_and_what_is_not_proven_with_them():
    kinds = get_args(SupplyKind)
    assert names(kinds, "settles") == {"InstantPump"}
    pressures = {k.__name__: k.pressure_name for k in kinds if k.pressure_name}
    assert pressures == {"LoadSensing": "p_s", "SharedPump": "P", "InstantPump": "P"}
    assert {k.__name__ for k in kinds if k.no_passivity} == {"LoadSensing", "SelectedLines"}


def test_gains_of_every_part_of_a_law_and_whether_it_needs_the_rate_of_the_required_force():
    """Oil between valve and piston needs it; a force at once and quasistatic valves do not."""
    told = {part.__name__: (part.takes, part.needs_rate) for part in PARTS}
    oil = (("k_x", "βk_f"), True)
    assert told == {
        "PureForce": ((), False),
        "MeteredPart": (("k_m", "Kk_f"), False),
        "ServoValvePart": oil,
        "ThrottledPart": oil,
        "IEHAPart": oil,
    }
