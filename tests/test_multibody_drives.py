"""Drives on joints: a cylinder along a slide, whose position is its length."""

from dataclasses import replace

import numpy as np
import pytest

from plants import FourBar, ThrottledCircuit
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Pin
from workbench import InputError, Scenario, simulate

SHORT = ThrottledCircuit(s_0=0.5, l_20=0.5, l_30=0.6)  # retracted at zero


def slide(drive, start=0.4, **options):
    given = {"actuators": (Actuator("c", drive, joint="load"),), "gravity": (0.0, -9.81, 0.0)}
    return Mechanism(
        (Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=310.0, start=start),),
        **{**given, **options},
    )


def test_the_position_of_a_slide_is_the_length_of_its_cylinder():
    """No pins, so nothing to be longer than: from zero to the stroke; and it moves as one between pins on the same line."""
    lifted = slide(SHORT)
    assert lifted.spans["s_c"] == pytest.approx((0.0, 1.1)) and lifted.pressure_names == (
        "p_1_c",
        "p_2_c",
        "p_3_c",
    )
    long = replace(SHORT, s_0=1.9)
    between = Mechanism(
        (Body("load", "ground", "prismatic", axis=(0.0, 1.0, 0.0), mass=310.0, start=0.4),),
        actuators=(Actuator("c", long, Pin("ground", (0.0, -1.4, 0.0)), Pin("load")),),
    )
    command = Scenario(0.4, disturbances={"U_ref_c": 3.0})
    on_joint, on_pins = simulate(lifted, command), simulate(between, command)
    assert np.ptp(on_joint.array("x_load")) > 5e-3
    assert on_joint.array("x_load") == pytest.approx(on_pins.array("x_load"), abs=1e-9)
    assert on_joint.array("s_c") + 1.4 == pytest.approx(on_pins.array("s_c"), abs=1e-9)


def test_pins_still_need_room_and_a_start_beyond_the_stroke_is_said_for_a_joint():
    with pytest.raises(
        ValueError, match="drive.l_20: retracted, the pins are 0 m apart, less than the stroke"
    ):
        Actuator("c", SHORT, Pin(), Pin("load"))
    with pytest.raises(ValueError, match="circuit.l_20: retracted, the pins"):
        FourBar(circuit=SHORT)
    with pytest.raises(InputError, match="the position of the joint it is on") as refusal:
        slide(SHORT, start=1.3)
    assert "actuators.c" in str(refusal.value)
