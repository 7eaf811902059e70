"""One metered arm by complex numbers: where its pin is, how long its cylinder, its lever, and which steps K and B bear."""

from dataclasses import replace

import numpy as np
import pytest

from plants.metered.arm import PARTS, Arm, MotorArm
from plants.valve_circuits.circuit import Motor, Section
from workbench.contract.errors import InputError

ARM = Arm(
    "boom", L_g=1.25, L_m=0.7, L_f=2.75, α=0.4, M=900.0, J=650.0, r_bx=-1.1, r_by=-0.8, θ_0=-0.3,
    K=3e6, B=4e4,
)  # fmt: skip
MOTOR = MotorArm(i=21.0, name="slew", L_g=0.3, L_f=2.5, M=400.0, J=90.0, K=5e3, B=70.0)
POSES = (-0.9, -0.2, 0.6)


def pin(θ):
    """r_m = −L_m e^{i(θ − α)}."""
    return -0.7 * np.exp(1j * (θ - 0.4))


@pytest.mark.parametrize("θ", POSES)
def test_a_cylinder_is_between_its_pins(θ):
    """ℓ = |r_m − r_b|; ℓ' by how it grows."""
    apart = pin(θ) - complex(-1.1, -0.8)
    assert ARM.pin(θ) == pytest.approx((pin(θ).real, pin(θ).imag, apart.real, apart.imag))
    assert ARM.length(θ) == pytest.approx(abs(apart))
    ε = 1e-6
    grows = (ARM.length(θ + ε) - ARM.length(θ - ε)) / (2 * ε)
    assert ARM.lever(θ) == pytest.approx(grows, rel=1e-7)
    assert abs(ARM.lever(θ)) < ARM.longest_lever
    assert MOTOR.length(θ) == pytest.approx(21.0 * θ) and MOTOR.lever(θ) == 21.0


@pytest.mark.parametrize("arm, lever", [(ARM, None), (MOTOR, 21.0)], ids=["cylinder", "motor"])
def test_forces_on_an_arm(arm, lever):
    """f̄ = K (x − ℓ) − B ℓ' θ̇; f ℓ' + (L_f f_ey − M g L_g) cos θ; I = J + M L_g²."""
    θ, rate, x = 0.6, -0.35, 1.7
    lever = lever or arm.lever(θ)
    held = arm.K * (x - arm.length(θ)) - arm.B * lever * rate
    assert arm.held(θ, rate, x) == pytest.approx(held)
    weight = arm.M * 9.7 * arm.L_g
    pushed = 5e3 * lever + (arm.L_f * 250.0 - weight) * np.cos(θ)
    assert arm.torque(θ, 5e3, 250.0, 9.7) == pytest.approx(pushed)
    assert arm.inertia == pytest.approx(arm.J + arm.M * arm.L_g**2)


@pytest.mark.parametrize("L_m, longest", [(0.7, 0.7), (1.5, np.hypot(1.1, 0.8))])
def test_no_lever_is_longer_than_the_way_to_either_pin(L_m, longest):
    arm = replace(ARM, L_m=L_m)
    assert arm.longest_lever == pytest.approx(longest)
    turned = [abs(arm.lever(θ)) for θ in np.linspace(-np.pi, np.pi, 2001)]
    assert max(turned) == pytest.approx(longest, rel=1e-4)
    assert MOTOR.longest_lever == 21.0


@pytest.mark.parametrize("arm", [ARM, MOTOR], ids=["cylinder", "motor"])
@pytest.mark.parametrize("K, B", [(2.0, 3.0), (40.0, 0.5)])
def test_the_longest_step_meets_the_first_of_both_rules(arm, K, B):
    """h (B + hK/2) ℓ'²/I < 2 and h K/B < 2: the greatest step has one of them at its edge and the other within it."""
    arm = replace(arm, K=K * arm.K, B=B * arm.B)
    h = arm.step_limit()
    of_arm = h * (arm.B + h * arm.K / 2) * arm.longest_lever**2 / arm.inertia
    of_rod = h * arm.K / arm.B
    assert max(of_arm, of_rod) == pytest.approx(2.0)
    assert min(of_arm, of_rod) < 2.0


def test_each_of_both_rules_binds_somewhere():
    stiff = replace(ARM, K=1e9, B=4e4)
    damped = replace(ARM, K=1.0, B=4e8)
    assert stiff.step_limit() == pytest.approx(2 * 4e4 / 1e9)
    assert damped.step_limit() == pytest.approx(2 * damped.inertia / 4e8 / 0.7**2, rel=1e-5)


@pytest.mark.parametrize("arm", [ARM, MOTOR], ids=["cylinder", "motor"])
def test_what_is_left_out_follows_the_rule_for_the_step(arm):
    """ω = 1/(23 h), K = I ω²/ℓ'_M², B = 2 √(K I)/ℓ'_M, of the K that is given where one is."""
    assert PARTS == 23.0
    h, lever, inertia = 2e-3, arm.longest_lever, arm.inertia
    K = inertia / (23.0 * h) ** 2 / lever**2
    both = replace(arm, K=None, B=None).ruled(h)
    assert both == {"K": pytest.approx(K), "B": pytest.approx(2 * np.sqrt(K * inertia) / lever)}
    damped = replace(arm, B=None).ruled(h)
    assert damped["B"] == pytest.approx(2 * np.sqrt(arm.K * inertia) / lever)
    assert replace(arm, K=None).ruled(h) == {"K": pytest.approx(K), "B": arm.B}
    assert arm.ruled(h) == {"K": arm.K, "B": arm.B}


def test_an_arm_of_the_source():
    """[Kikuuwe21]: 2 t on 1.5 m, the pin at 0.6 m, 45° behind; it starts 30° down. A motor's arm has the same body."""
    arm = Arm()
    assert (arm.L_g, arm.L_m, arm.L_f, arm.M, arm.J) == (1.5, 0.6, 3.0, 2000.0, 5000.0)
    assert (arm.α, arm.θ_0) == pytest.approx((np.pi / 4, -np.pi / 6))
    assert (arm.r_bx, arm.r_by, arm.K, arm.B) == (-1.2, -1.2, None, None)
    assert (arm.section, arm.regeneration, arm.turns) == (Section(), "none", False)
    motor = MotorArm(i=3.0)
    assert (motor.L_g, motor.L_f, motor.M, motor.J) == (1.5, 3.0, 2000.0, 5000.0)
    assert motor.θ_0 == pytest.approx(-np.pi / 6) and (motor.K, motor.B) == (None, None)
    assert (motor.section, motor.regeneration, motor.turns) == (Motor(), "none", True)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("share, fits", [(0.999, False), (1.001, True)])
def test_a_cylinder_through_its_joint_turns_nothing(side, share, fits):
    """Less than a thousandth of L_m of lever is none: the pin just off the line through base and joint, beyond the joint."""
    base = np.hypot(1.1, 0.8)
    off = side * np.arcsin(1e-3 * share * (base + 0.7) / base)  # ℓ' = L_m r_b sin(off)/ℓ
    θ_0 = np.arctan2(-0.8, -1.1) + 0.4 + off
    assert abs(pin(θ_0) - complex(-1.1, -0.8)) == pytest.approx(base + 0.7, rel=1e-5)
    if fits:
        assert replace(ARM, θ_0=θ_0).θ_0 == θ_0
        return
    with pytest.raises(InputError, match="points through the joint and cannot turn the arm"):
        replace(ARM, θ_0=θ_0)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Arm(section=Motor()), "section: expected Section, got Motor"),
        (lambda: MotorArm(i=2.0, section=Section()), "section: expected Motor, got Section"),
    ],
)
def test_valves_of_another_machine_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
