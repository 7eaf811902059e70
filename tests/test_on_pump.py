"""Machines whose supply pressures are states: pumps that follow their load, two lines; the law that is told, its certificate."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import ledger_at_random

from controllers import PID, VDC
from plants import IEHA, machine
from plants.crane.load_sensing import LoadSensed, TwoLines, on_supply
from workbench import ClosedLoop, InputError, Sampled
from workbench.contract.system import innermost, names
from workbench.planning import (
    ElectricLoadSensing,
    PlannedConstantPressure,
    PlannedLoadSensing,
    TwoPressures,
)
from workbench.planning.driven import loop
from workbench.planning.measured_supply import OnMeasuredSupply
from workbench.planning.supplies import Work
from workbench.verification import claims as C
from workbench.verification.ledger import balance as ledger

CRANE = machine("hiab-xs031").plant
PUMPS = {
    "load sensing": LoadSensed(CRANE, 1.7e6, 0.031, 0.05),
    "electric": LoadSensed(CRANE, 3e5, 0.017, 0.03, nominal=14e5, flow=5e-4, standby=45e5),
    "two lines": TwoLines(CRANE, 84e5, 7e5, 0.013, 3e5, 0.04),
}


def state(rng, plant):
    """Somewhere inside, at pressures of a crane at work."""
    x = np.array(plant.initial())
    n, k = plant.n, len(plant.lines)
    x[:n] += rng.uniform(-0.1, 0.1, n)
    x[n : 2 * n] = rng.normal(0.0, 0.05, n)
    x[2 * n : 4 * n] = rng.uniform(20e5, 160e5, 2 * n)
    x[4 * n : -k] = rng.normal(0.0, 2.0, len(x) - 4 * n - k)
    x[-k:] = rng.uniform(60e5, 180e5, k)
    return [float(v) for v in x]


def inputs(plant, rng):
    """Voltages drawn, weight as it is."""
    u = [plant.defaults().get(s.name, 0.0) for s in plant.inputs]
    u[: plant.n] = [float(v) for v in rng.normal(0.0, 3.0, plant.n)]
    return u


def opened(plant, x, *volts):
    """The state with spools there."""
    at = names(plant.states)
    for label, volt in zip(plant.labels, volts):
        x[at.index(f"u_s_{label}")] = volt
    return x


def felt(plant, x, u):
    """p_L of every line."""
    return plant.monitor(0.0, x, u)[-len(plant.lines) :]


def aims(plant, x, u):
    """What the supply pressures go to, p_s + τ ṗ_s."""
    k = len(plant.lines)
    return [p + plant.τ * rate for p, rate in zip(x[-k:], plant.rhs(0.0, x, u)[-k:])]


def told(plant, law, **options):
    """The law sampled on the machine and told its supply pressures."""
    return ClosedLoop(
        plant, Sampled(OnMeasuredSupply(law(plant.machine), plant.supply_names, **options), 1e-3)
    )


# ---- pumps ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("pump_", ["load sensing", "electric"])
def test_the_machine_on_a_following_pump_is_the_machine_at_that_pressure(pump_):
    plant, rng = PUMPS[pump_], np.random.default_rng(3)
    x = state(rng, plant)
    u = inputs(plant, rng)
    fixed = replace(CRANE, p_s=x[-1])
    np.testing.assert_allclose(plant.rhs(0.0, x, u)[:-1], fixed.rhs(0.0, x[:-1], u), rtol=1e-12)
    np.testing.assert_allclose(
        plant.monitor(0.0, x, u)[:-1], fixed.monitor(0.0, x[:-1], u), rtol=1e-12
    )
    np.testing.assert_allclose(plant.powers(0.0, x, u), fixed.powers(0.0, x[:-1], u), rtol=1e-12)


def test_every_cylinder_has_its_own_line():
    """Chamber rates, flows and energy of cylinder i are those of the machine whose supply has its line's pressure."""
    plant, rng = PUMPS["two lines"], np.random.default_rng(4)
    x = state(rng, plant)
    u, at = inputs(plant, rng), names(CRANE.states)
    rates, shown = plant.rhs(0.0, x, u), plant.monitor(0.0, x, u)
    supply = 0.0
    for k, p_s in zip(plant.labels, x[-3:]):
        alone = replace(CRANE, p_s=p_s)
        mine = [at.index(f"p_{side}{k}") for side in "ab"]
        np.testing.assert_allclose(
            [rates[j] for j in mine], [alone.rhs(0.0, x[:-3], u)[j] for j in mine], rtol=1e-12
        )
        Q_s = shown[names(plant.monitors).index(f"Q_s{k}")]
        assert Q_s == pytest.approx(
            alone.monitor(0.0, x[:-3], u)[names(CRANE.monitors).index(f"Q_s{k}")], rel=1e-12
        )
        supply += p_s * Q_s
    powers = plant.powers(0.0, x, u)
    assert powers[0] == pytest.approx(supply, rel=1e-12)
    assert sum(powers) == pytest.approx(
        sum(CRANE.powers(0.0, x[:-3], u)), rel=1e-9
    )  # what is stored knows no line


def test_the_pump_feels_the_highest_open_port_and_comes_with_its_lag():
    plant, rng = PUMPS["load sensing"], np.random.default_rng(5)
    x = opened(plant, state(rng, plant), 4.0, -3.0, 0.0)
    u, p = inputs(plant, rng), CRANE.split(x).p
    highest = max(
        p[0][0], p[1][1], CRANE.p_r
    )  # the extension's valve is shut: neither of its ports is felt
    assert felt(plant, x, u) == [pytest.approx(highest, rel=1e-12)]
    assert plant.rhs(0.0, x, u)[-1] == pytest.approx(
        (min(highest + 1.7e6, CRANE.p_s) - x[-1]) / 0.031, rel=1e-12
    )
    x = opened(plant, x, 0.0, 0.0, 0.0)
    assert felt(plant, x, u) == [CRANE.p_r]
    assert plant.rhs(0.0, x, u)[-1] == pytest.approx((CRANE.p_r + 1.7e6 - x[-1]) / 0.031, rel=1e-12)


def test_a_pump_that_knows_the_flow_raises_its_margin_with_it_and_keeps_its_standby_pressure():
    plant, rng = PUMPS["electric"], np.random.default_rng(6)
    x = opened(plant, state(rng, plant), 0.9, -0.4, 0.3)
    u = inputs(plant, rng)
    Q = sum(plant.monitor(0.0, x, u)[names(plant.monitors).index(f"Q_s{k}")] for k in plant.labels)
    (p_L,) = felt(plant, x, u)
    aim = min(p_L + 3e5 + 14e5 * (Q / 5e-4) ** 2, CRANE.p_s)
    assert 0.1 < Q / 5e-4 < 3 and aims(plant, x, u)[0] == pytest.approx(aim, rel=1e-12)
    assert aims(plant, opened(plant, x, 0.0, 0.0, 0.0), u) == pytest.approx([45e5], rel=1e-12)


def test_a_selector_takes_the_lower_line_wherever_that_is_enough():
    plant, rng = PUMPS["two lines"], np.random.default_rng(7)
    x = opened(plant, state(rng, plant), 4.0, -3.0, 0.0)
    at, u = names(plant.states), inputs(plant, rng)
    for p_a, line in (
        (84e5 - 7e5, CRANE.p_s),
        (84e5 - 7e5 - 3e5, 84e5),
        (84e5 - 7e5 - 1.5e5, (84e5 + CRANE.p_s) / 2),
    ):
        x[at.index("p_a1")] = p_a
        assert aims(plant, x, u)[0] == pytest.approx(line, rel=1e-12)
    assert aims(plant, x, u)[2] == pytest.approx(84e5, rel=1e-12)  # shut: nothing is felt
    assert plant.rhs(0.0, x, u)[-1] == pytest.approx((84e5 - x[-1]) / 0.013, rel=1e-12)


@pytest.mark.parametrize("name", PUMPS)
def test_at_rest_the_supply_is_what_the_chambers_ask_for(name):
    plant = PUMPS[name]
    x = plant.initial()
    k = len(plant.lines)
    assert len(x) == len(plant.states)
    for line, pair in zip(x[-k:] * (3 // k), CRANE.split(x).p):
        assert line >= max(pair) and plant.supply_range[0] <= line <= CRANE.p_s


def test_supplies_become_machines():
    assert on_supply(CRANE, PlannedConstantPressure(150e5)).p_s == 150e5
    for supply in (
        PlannedLoadSensing(15e5, standby=60e5),
        ElectricLoadSensing(3e5, 12e5, 7e-4),
        TwoPressures(80e5, 170e5, 9e5),
    ):
        plant = on_supply(CRANE, supply)
        assert (
            plant.fits(supply)
            and not plant.fits(PlannedLoadSensing(16e5))
            and not plant.fits(PlannedConstantPressure())
        )
    assert (plant.low, plant.machine.p_s, plant.margin) == (80e5, 170e5, 9e5)
    assert not on_supply(CRANE, ElectricLoadSensing(15e5)).fits(PlannedLoadSensing(15e5))
    held = on_supply(CRANE, PlannedLoadSensing(15e5, standby=60e5))
    assert held.supply_range == (60e5, CRANE.p_s)
    with pytest.raises(InputError, match="Work"):
        on_supply(CRANE, Work())


def test_pumps_that_cannot_be_are_refused():
    for wrong in ({"margin": 180e5}, {"standby": 190e5}):
        with pytest.raises(InputError, match="margin"):
            LoadSensed(CRANE, **wrong)
    for low in (CRANE.p_r, CRANE.p_s):
        with pytest.raises(InputError, match="low"):
            TwoLines(CRANE, low)


# ---- the law that is told ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", [VDC, PID])
def test_a_law_that_is_told_the_pressure_is_the_law_with_that_pressure(law):
    plant, rng = PUMPS["load sensing"], np.random.default_rng(7)
    own = OnMeasuredSupply(law(CRANE))
    x = state(rng, plant)
    at = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    top = max(at[n] for n in CRANE.pressure_names)
    at["p_s"] = top + own.floor
    y = [at[s.name] for s in own.measured]
    r = [float(v) for v in rng.normal(0.0, 0.1, len(own.references))]
    k = len(own.inner.measured)
    z = own.start(0.0, own.initial(), y, r)
    other = law(replace(CRANE, p_s=at["p_s"]))
    wanted = other.command(0.0, z, y[:k], r)
    np.testing.assert_allclose(own.command(0.0, z, y, r), np.clip(wanted, -10.1, 10.1), rtol=1e-12)
    np.testing.assert_allclose(
        own.step_at(1e-3, 0.0, z, y, r)[1],
        np.clip(other.step_at(1e-3, 0.0, z, y[:k], r)[1], -10.1, 10.1),
        rtol=1e-12,
    )


def test_it_waits_for_a_pump_that_is_late_but_only_where_that_would_let_oil_back():
    own = OnMeasuredSupply(VDC(CRANE), floor=4e5, crack=0.2)
    at = dict.fromkeys(names(own.measured), 0.0) | {
        "p_a1": 90e5,
        "p_b1": 20e5,
        "p_a2": 58e5,
        "p_b2": 59e5,
        "p_at2": 30e5,
        "p_bt2": 60e5,
        "p_s": 60e5,
    }
    y = list(at.values())
    law, _ = own._told(y)
    for asked, given in (
        ([9.0] * 3, [0.2, 5.2, 9.0]),
        ([-9.0] * 3, [-9.0, -2.7, -0.2]),
        ([0.1, -0.1, -0.1], [0.1, -0.1, -0.1]),
    ):
        np.testing.assert_allclose(own._waiting(law, asked, y), given, rtol=1e-12)
        np.testing.assert_array_equal(replace(own, waits=False)._waiting(law, asked, y), asked)
    assert [loop(LoadSensed(CRANE, p), VDC(CRANE)).controller.inner.floor for p in (5e4, 2e6)] == [
        5e4,
        2e5,
    ]  # or both would wait


def test_it_is_told_every_line():
    plant, rng = PUMPS["two lines"], np.random.default_rng(9)
    own = OnMeasuredSupply(VDC(CRANE), plant.supply_names)
    x = state(rng, plant)
    x[-3:] = [150e5, 172e5, 181e5]
    at = dict(zip(names(plant.outputs), plant.out(0.0, x))) | dict.fromkeys(
        CRANE.pressure_names, 45e5
    )
    y = [at[s.name] for s in own.measured]
    r = [float(v) for v in rng.normal(0.0, 0.01, len(own.references))]
    found = own.command(0.0, [], y, r)
    for i, p_s in enumerate(x[-3:]):
        alone = VDC(replace(CRANE, p_s=p_s)).command(0.0, [], y[:12], r)
        assert found[i] == pytest.approx(np.clip(alone[i], -10.1, 10.1), rel=1e-12)


def test_only_a_law_with_a_supply_is_told_it():
    for wrong in (Sampled(PID(CRANE), 1e-3), PID(IEHA(), **PID.suited(IEHA()))):
        with pytest.raises(InputError, match="OnMeasuredSupply"):
            OnMeasuredSupply(wrong)
    with pytest.raises(InputError, match="supply_names"):
        OnMeasuredSupply(VDC(CRANE), ("p_s1", "p_s2"))


# ---- the certificate ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "plant",
    [replace(PUMPS["electric"], machine=CRANE.locked(extension=0.5)), PUMPS["two lines"]],
    ids=["electric", "two lines"],
)
def test_the_balance_of_v_is_that_of_a_constant_supply_whatever_the_pump_does(plant):
    b = ledger_at_random(told(plant, VDC), n=30)
    assert (
        np.abs(b.residual()).max() <= C.Identity().tolerance
        and (b.v >= 0).all()
        and (b.dissipation >= 0).all()
    )
    d = b.perturbation()
    assert (
        np.abs(d["pump"]).max() > 1.0
        and np.abs(d["parameters"]).max() <= 1e-9 * np.abs(d["pump"]).max()
    )
    size = b.cut_scale()
    for cut, sides in b.sides().items():
        assert (
            len(sides) < 2 or (np.abs(b.cuts()[cut]) <= C.PowerFlows().tolerance * size[cut]).all()
        )


def test_a_ledger_at_another_supply_pressure_than_the_pumps_does_not_balance(monkeypatch):
    def constant(loop, *rest):
        return innermost(loop.controller).certificate(loop.plant.machine).entries(loop, *rest)

    monkeypatch.setattr(ledger, "entries_of", constant)
    plant = LoadSensed(CRANE.locked(extension=0.5), 1.7e6)
    worst = np.abs(ledger_at_random(told(plant, VDC), n=5).residual()).max()
    assert worst > 1e-3
