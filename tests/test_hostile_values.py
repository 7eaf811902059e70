"""Values that no machine has: each ends in a sentence at its line, before memory or time is spent; sound ones pass beside it."""

import math

import casadi as ca
import numpy as np
import pytest

from workbench.cases.file import loads
from workbench.contract.errors import InputError
from workbench.contract.units import measured, quantity
from workbench.run.grid import grid
from workbench.run.reference import MOST_LEGS, Waypoints
from workbench.run.scenario import Scenario
from workbench.verification.observed.expression import formula

CRANE = "plant: hiab-xs031\n"
LINEAR = "plant: ieha-published-linear\n"
PATH = (
    "scenario: {{reference: {{space: joint, points: [start, [-1.26, -1.95, 0.5], start], {}}}}}\n"
)


def refused(text, *words, line=2):
    with pytest.raises(InputError) as caught:
        loads(text, "a.yaml")
    said = str(caught.value)
    assert caught.value.line == line and len(said) < 4000
    for word in words:
        assert word in said, said


# ---- sizes ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "base, text, words",
    (
        (CRANE, PATH.format("leg: 5 s, repeat: 1000000000"), ("repeat", "legs")),
        (CRANE, PATH.format("leg: 5 s, repeat: 1e300"), ("repeat", "legs")),
        (CRANE, PATH.format("leg: 5e9 s"), ("samples", "more than a run can hold")),
        (CRANE, "scenario: {duration: 1e300}\n", ("samples",)),
        (CRANE, "scenario: {max_step: 1e-300}\n", ("steps of the integrator", "max_step")),
        (CRANE, "scenario: {max_step: 1e-9}\n", ("steps of the integrator", "days")),
        (CRANE, "scenario: {seed: -5}\n", ("scenario.seed", "zero or greater")),
        (
            CRANE,
            "loop: {noise: [" + ", ".join(["{σ: 1, signals: [p]}"] * 3000) + "]}\n",
            ("noise: 3000 entries",),
        ),
        (CRANE, "claims: {practical-stability: {runs: 1000000000}}\n", ("runs", "1 to 10000")),
        (LINEAR, "controller: {law: MPC, horizon: 1000000000}\n", ("horizon", "at most 1000")),
        (LINEAR, "controller: {law: MPC, iterations: 1000000000}\n", ("iterations", "1 to 1000")),
        (
            LINEAR,
            "claims: {robust-stability: {box: {delay: [0, 1 ms]}, budget: 1e18}}\n",
            ("budget", "10000000"),
        ),
    ),
)
def test_sizes_are_seen_before_they_are_taken(base, text, words):
    refused(base + text, *words)


def test_sizes_that_fit():
    case = loads(
        CRANE + PATH.format("leg: 5 s, repeat: 3") + "claims: {practical-stability: {runs: 12}}\n"
        "loop: {noise: [{σ: 1 bar, signals: [p]}, {σ: 0.001, signals: [q]}]}\ntitle: "
        + "a fine name "
        * 100
    )
    assert case.scenario.reference.repeat == 3 and len(case.name) == 300
    assert Waypoints(
        "joint", ((0.0,), (1.0,), (0.0,)), 1e-3, repeat=MOST_LEGS // 2
    ).duration == pytest.approx(MOST_LEGS * 1e-3)


def test_a_long_path_is_looked_at_in_bounded_memory(monkeypatch):
    looked = []
    from workbench.run.demand import Demand

    monkeypatch.setattr(Demand, "check", lambda self, t: looked.append(len(t)))
    refused(CRANE + PATH.format("leg: 10000 s"), "20000001 samples of 12 signals", "mend: shorten")
    assert not looked
    case = loads(CRANE + PATH.format("leg: 3000 s"))
    assert grid(case.loop, case.scenario).n == 6_000_001
    assert max(looked) <= 500_000
    loads(CRANE + PATH.format("leg: 5 s"))
    assert looked[-1] == 10_001


def test_steps_of_a_run(two_joint):
    with pytest.raises(InputError, match="samples are more than a run can hold") as refused:
        grid(two_joint, Scenario(10.0, max_step=1e-300, log_period=1e-3))
    assert refused.value.key == "duration"
    assert grid(two_joint, Scenario(10.0, max_step=1e-4, log_period=1e-3)).n == 100_001


# ---- values --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "base, text, words",
    (
        (
            LINEAR,
            "controller: {law: MPC, signals: [1]}\n",
            ("controller.signals.0", "expected text"),
        ),
        (
            LINEAR,
            "controller: {law: MPC, signals: [[x]]}\n",
            ("controller.signals.0", "expected text"),
        ),
        (
            LINEAR,
            "controller: {law: PID, signals: [1]}\n",
            ("controller.signals.0", "expected text"),
        ),
        (
            LINEAR,
            "controller: {law: PID, K_i: 2 dB/m}\n",
            ("controller.K_i", "the unit of '2 dB/m' is not known"),
        ),
        (
            LINEAR,
            "controller: {law: PID, K_i: 2 degC/m}\n",
            ("controller.K_i", "a rate was expected"),
        ),
        (
            CRANE,
            "scenario: {reference: {space: cartesian, points: [start, [1e300, 1], start], leg: 5 s}}\n",
            ("no pose",),
        ),
        (
            CRANE,
            "scenario: {reference: {space: joint, points: [start, [1e300, 1, 0], start], leg: 5 s}}\n",
            ("1e+300 without a unit is in rad, which is 5.73e+301 deg",),
        ),
        (
            CRANE,
            "scenario: {reference: {space: joint, points: [start, [1e300 rad, 1, 0], start], leg: 5 s}}\n",
            ("out of reach",),
        ),
        (
            CRANE,
            "scenario: {duration: 5 s, reference: {type: Sine, space: joint, centre: start, amplitude: [1, 1, 1], "
            "frequency: 1e300}}\n",
            ("too large to calculate with",),
        ),
    ),
)
def test_values_that_no_machine_has(base, text, words):
    refused(base + text, *words)


def test_whole_numbers_that_no_float_holds():
    for value in (10**400, -(10**400), 10**5000):
        with pytest.raises(InputError, match="digits is not finite"):
            quantity(value, "m")


@pytest.mark.parametrize(
    "text", ("2 dB/m", "2 dB m", "3 degC/s", "1 m^9999", "1 m^0.9999", "5 Np s")
)
def test_units_that_cannot_be_converted_are_not_known(text):
    measured(text)
    for unit in ("m", "1", "1/s", "K"):
        with pytest.raises(InputError):
            quantity(text, unit)


def test_units_that_can_be_still_are():
    assert quantity("20 degC", "K") == pytest.approx(293.15)
    assert quantity("7 kgf/cm^2", "Pa") == pytest.approx(7 * 98066.5)
    assert measured("3 degC") == (pytest.approx(276.15), "K")


# ---- formulas ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, words",
    (
        ("0/0", "no finite value"),
        ("x*(0/0)", "0/0"),
        ("x/0", "division by zero"),
        ("x/(2 - 2)", "division by zero"),
        ("sqrt(-1)*x", "no finite value"),
        ("exp(1e9) + x", "no finite value"),
        ("(1e200*1e200)*x", "no finite value"),
        ("1e299**16*x", "no finite value"),
    ),
)
def test_formulas_without_a_value(text, words):
    with pytest.raises(InputError, match=words):
        formula(text, ("x",))


def test_formulas_that_have_one_where_they_are_asked():
    assert (
        formula("1/x", ("x",))((0.0,)) == math.inf and formula("-1/x", ("x",))((0.0,)) == -math.inf
    )
    assert math.isnan(formula("x/x", ("x",))((0.0,)))
    assert (
        formula("x**16", ("x",))((-1e300,)) == math.inf
        and formula("x**15", ("x",))((-1e300,)) == -math.inf
    )
    assert formula("x**2/4 + 0/3", ("x",))((3.0,)) == 2.25
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [formula("x**3/(x - 2)", ("x",))((x,))])
    assert float(f(4.0)) == 32.0
    np.testing.assert_allclose(formula("x/2", ("x",))((np.array([1.0, 3.0]),)), [0.5, 1.5])


# ---- plants --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("p_P, fits", ((1.8e-293, False), (1e5, False), (7.6e6, True)))
def test_a_pump_below_its_tank_is_refused(p_P, fits):
    """Its velocity gain would be a complex number."""
    from dataclasses import replace

    from plants.components.circuit import ThrottledCircuit

    sound = ThrottledCircuit()
    if fits:
        assert replace(sound, p_P=p_P).velocity_gain > 0
    else:
        with pytest.raises(ValueError, match="p_P: .*not above the tank"):
            replace(sound, p_P=p_P, p_T=1e5)


def test_quantities_of_a_sweep_are_read_as_before():
    found = [
        ("185 bar", (1.85e7, "Pa")),
        ("7 Hz", (7.0, "Hz")),
        ("3", (3.0, "")),
        ("2 1/s", (2.0, "1/s")),
        ("2 rpm", (2 * np.pi / 30, "rad/s")),
        ("50 %", (0.5, "")),
        ("4 furlong/V", (4.0, "furlong/V")),
    ]
    for text, (number, unit) in found:
        assert measured(text) == (pytest.approx(number), unit)
    assert measured("5 parsnips") is None and measured("dry") is None
