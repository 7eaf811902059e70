"""Energy audit of every plant and of runs: identities at random states, closed forms, laws of loss, planted faults."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from draws import plant_inputs, plant_state
from scipy.integrate import quad
from test_every_plant import PLANTS
from test_ieha import CONTROL, FIGURES, ODD, random_state, variants

from controllers import PID
from plants import LinearActuator, machine
from plants.components.chamber import Oil
from plants.components.friction import Stribeck
from plants.drives import ieha_drive
from plants.ieha import actuator as ieha
from plants.ieha import energy as ieha_energy
from plants.multibody import acting
from workbench import ClosedLoop, Hold, Plain, Sampled, Scenario, simulate, verify
from workbench.contract.parameters import bind, leaves
from workbench.numerics.calculus import directional
from workbench.run.energy import energy_account
from workbench.verification import run_claims
from workbench.verification.judge import default_claims
from workbench.verification.observed.energy_claims import check_energy
from workbench.verification.results.analysis import statistics
from workbench.verification.run import Run

ALL = [
    *variants(ODD),
    *variants(replace(ODD, circuit="closed", S_B=ODD.S_A)),
    replace(ODD, friction=Stribeck()),
]
every_pump = pytest.mark.parametrize(
    "plant", ALL, ids=[f"{p.circuit}-{p.detail}-{type(p.friction).__name__}" for p in ALL]
)


def states(plant, seed, n):
    """Random (x, u, t); every third at both stops, every third while the distributor opens and slowly."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        x, u, t = (
            random_state(rng, plant),
            [rng.normal() * 3e-4, rng.normal() * 500],
            rng.uniform(0, 0.02),
        )
        if k % 3 == 0:
            x[0], x[5] = 5.002e-4 * np.sign(x[0]), 0.0500003
        if k % 3 == 1:
            x[0], x[6] = np.sign(x[0]) * rng.uniform(5.2e-6, 7.8e-6), rng.normal() * 1e-3
        yield x, u, t


def balance(plant, x, u, t, books=None):
    """(d(stored)/dt − Σ powers)/Σ|powers| and the powers by cause; both from `books`, the plant itself by default."""
    n, books = len(x), books or plant
    (change,) = directional(
        lambda s: [books.stored(s[n], s[:n], u)], [*x, t], [*plant.rhs(t, x, u), 1.0]
    )
    found = dict(zip(plant.power_names, map(float, books.powers(t, x, u)), strict=True))
    return (change - sum(found.values())) / sum(map(abs, found.values())), found


# ---- the identity -----------------------------------------------------------------------------------------------------
FREE = {
    name: plant for name, plant in PLANTS.items() if not name.startswith("mechanism")
}  # no random state closes their loops


@pytest.mark.parametrize("plant", FREE.values(), ids=FREE)
def test_the_energy_of_every_plant(plant):
    """At random states with the base at rest; only the transfer function has none."""
    assert bool(plant.power_names) is not isinstance(plant, LinearActuator)
    rng = np.random.default_rng(2)
    for _ in range(2 if plant.power_names else 0):
        x, u = plant_state(rng, plant), plant_inputs(rng, plant, False)
        assert abs(balance(plant, x, u, 0.3)[0]) < 1e-11


@every_pump
def test_powers_change_the_stored_energy(plant):
    for x, u, t in states(plant, 3, 24):
        assert abs(balance(plant, x, u, t)[0]) < 1e-12


@every_pump
def test_every_power_counts(plant):
    """Each is large enough somewhere for its absence to be seen."""
    largest = dict.fromkeys(plant.power_names, 0.0)
    for x, u, t in states(plant, 4, 24):
        found = balance(plant, x, u, t)[1]
        total = sum(map(abs, found.values()))
        largest = {name: max(largest[name], abs(p) / total) for name, p in found.items()}
    assert min(largest.values()) > 1e-9


@every_pump
def test_books_of_another_machine_do_not_balance(plant):
    """A number wrong by a thousandth in powers and energy stored, but not in the flow, is seen, whichever it is."""
    inner = {"S_e"}  # moves energy between oil and carriage, both of which count
    inner |= {"oil.air", "oil.p_0", "oil.width", "P_T"} if plant.circuit == "closed" else set()
    inner |= {"δ", "pump.r_rp"} if plant.circuit == "closed" and plant.detail != "full" else set()
    inner |= {"pump.ε"} if plant.detail == "averaged" else set()
    samples = list(states(plant, 5, 6))
    for leaf in leaves(plant):
        books = bind(plant, {leaf.path: 1.001 * leaf.value})
        seen = max(abs(balance(plant, *sample, books)[0]) for sample in samples) > 1e-13
        assert seen is (leaf.path not in inner), leaf.path


@every_pump
def test_what_can_only_be_lost(plant):
    for x, u, t in states(plant, 6, 40):
        found = balance(plant, x, u, t)[1]
        assert max(found[name] for name in ("throttling", "leakage", "friction", "stops")) <= 0


# ---- closed forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("air, width", ((0.0, 1e3), (3e-3, 1e3), (2e-5, 4e4)))
def test_energy_of_oil_is_the_integral_of_its_own_law(air, width):
    oil = Oil(β=910e6, air=air, p_0=98e3, width=width)
    for p in (-0.5 * width, 0.3 * width, 8e4, 98e3, 3e5, 2e7):
        around = sorted(
            {w for w in (-width, 0.0, width, 3 * width, 1e5) if min(p, 0.9e5) < w < max(p, 0.9e5)}
        )
        work = quad(
            lambda s: (s - 0.9e5) / oil.stiffness(s),
            0.9e5,
            p,
            points=around or None,
            epsrel=1e-11,
            limit=400,
        )[0]
        assert oil.energy(p, 0.9e5) == pytest.approx(work, rel=1e-7)
        assert oil.energy(p, 0.9e5) >= 0
    assert oil.energy(0.9e5, 0.9e5) == 0


def test_a_pump_that_turns_steadily():
    """Shaft and intake of the averaged pump against P_rp Q, p_2 Q: at E > E_d + w all of Q goes from the line to A."""
    plant = replace(ODD, detail="averaged")
    x, Q = (
        [3e-4, 0.0, 0.0, 5.3e5, 0.9e5, 0.0, 0.0],
        ODD.pump.N * ODD.pump.S_p * ODD.pump.ω * 3e-4 / np.pi,
    )
    found = balance(plant, x, [3e-4, 0.0], 0.0)[1]
    κ = ODD.pump.N * ODD.pump.ω / (2 * np.pi) * ODD.pump.volume(ODD.pump.R_b + 3e-4) / ODD.oil.β
    Δ = ODD.pump.P_rp - 5.3e5
    assert found["shaft"] == pytest.approx(Q * (5.3e5 - ODD.pump.P_rp))
    assert found["intake"] == pytest.approx(ODD.pump.P_rp * (Q + κ * Δ))
    assert found["averaging"] == found["friction"] == found["load"] == 0


def test_the_gaps_are_those_of_simpler_pumps():
    """Over a revolution under equal pressures ripple has none; averaged has none while the carriage stands; full never."""
    averaged, ripple, full = ALL[:3]
    assert "averaging" not in full.power_names
    x = [2.9e-4, 0.17, 1e4, 4e5, 1e5, 0.003, 0.02]
    assert balance(averaged, x, [3e-4, 50.0], 0.0)[1]["averaging"] == pytest.approx(
        -ODD.pump.N * ODD.pump.S_p / 4 * (4e5 + ODD.pump.P_rp) * 2.9e-4 / ODD.pump.R_b * 0.17
    )
    level = [2.9e-4, 0.17, 1e4, ODD.pump.P_rp, 1e5, 0.003, 0.02]
    assert balance(ripple, level, [3e-4, 50.0], 0.0013)[1]["averaging"] == 0
    narrow = replace(ripple, pump=replace(ripple.pump, ε=0.005))
    mean = lambda plant: np.mean(
        [abs(plant.powers(t, x, [3e-4, 0.0])[-1]) for t in np.linspace(0, 0.02, 400)]
    )
    assert mean(narrow) < 0.05 * mean(ripple)  # it is of order ε²


# ---- runs ---------------------------------------------------------------------------------------------------------------
@cache
def step(which, detail, duration=0.05):
    plant = replace({"figures": FIGURES, "control": CONTROL}[which], detail=detail)
    return plant, simulate(
        plant, Scenario(duration, disturbances={"X": 4e-4, "F_ext": 150.0}, log_period=5e-4)
    )


def account(plant, log):
    return energy_account(
        log.array("E_stored"), {n: log.array(f"E_{n}") for n in plant.power_names}
    )


@pytest.mark.parametrize("which", ("figures", "control"))
@pytest.mark.parametrize("detail", ieha.DETAILS)
def test_energy_of_a_run_is_closed(which, detail):
    found = account(*step(which, detail))
    assert found.drift < 5e-6 * found.through
    assert sum(found.by.values()) == pytest.approx(found.change, abs=found.drift * 1.001)
    assert (
        abs(found.by.get("averaging", 0.0)) < 2e-3 * found.through
    )  # what the simpler pumps lose or make


@pytest.mark.parametrize("which", ("figures", "control"))
def test_averaged_and_pistons_one_by_one_spend_alike(which):
    one, other = (account(*step(which, detail)).by for detail in ("averaged", "full"))
    for name in ("shaft", "intake", "valve", "return", "throttling", "friction", "load"):
        assert one[name] == pytest.approx(other[name], rel=0.03, abs=1e-6), name


@pytest.mark.parametrize("factor, balanced", ((1.0, True), (1e3, False)))
def test_too_coarse_a_step_is_seen(factor, balanced, monkeypatch):
    """Errors of a step a thousand times what is asked for."""
    for part in (ieha_drive, acting):
        coarse = {name: factor * e for name, e in part.STEP_ERRORS.items()}
        monkeypatch.setattr(part, "STEP_ERRORS", coarse)
    plant = replace(CONTROL, detail="full")
    found = account(
        plant, simulate(plant, Scenario(0.01, disturbances={"X": 4e-4}, log_period=1e-3))
    )
    assert (found.drift < 1e-3 * found.through) is balanced


# ---- claims and tables --------------------------------------------------------------------------------------------------
class Held:
    """X = 0.3 mm, every 2 ms."""

    T_s, measured = 2e-3, ("Y",)

    def command(self, t, z, y, r):
        return [3e-4]


@cache
def closed_loop():
    loop, scenario = (
        ClosedLoop(CONTROL, Plain(Held())),
        Scenario(0.04, disturbances={"F_ext": 100.0}),
    )
    return Run(loop, scenario, simulate(loop, scenario))


def without(run, name):
    """The run with one power left out of its log."""
    values = run.log.values.copy()
    values[:, run.log.names.index(f"E_{name}")] = 0.0
    return replace(run, log=replace(run.log, values=values))


def test_the_claim_holds_and_a_dropped_term_is_refused():
    run = closed_loop()
    verdict = check_energy(run_claims.EnergyBalance(), run)
    assert (
        verdict.holds
        and verdict.margin > 0
        and "shaft" in verdict.worst
        and "drift" in verdict.worst
    )
    assert set(verdict.data["by"]) == set(CONTROL.power_names)
    for name in ("shaft", "intake", "valve", "return", "throttling", "load", "friction"):
        assert check_energy(run_claims.EnergyBalance(), without(run, name)).holds is False, name


def test_a_balance_that_fails_leaves_sampled_verdicts_undecided(monkeypatch):
    """Friction in the books that is 5 N s/m short."""
    honest = ieha_energy.by_cause

    def faulty(plant, φ, x, X):
        found = honest(plant, φ, x, X)
        found[ieha_energy.NAMES.index("friction")] += 5.0 * x[6] * x[6]
        return found

    monkeypatch.setattr(ieha_energy, "by_cause", faulty)
    loop = ClosedLoop(
        replace(CONTROL, name="with a fault in its books"), Plain(Held())
    )  # a graph of its own
    run = closed_loop()
    found = {
        v.key: v
        for v in verify(
            loop, run.scenario, [run_claims.Saturation(), run_claims.EnergyBalance(share=1e-4)]
        )
    }
    assert found["energy-balance"].holds is False and found["saturation"].holds is None
    assert "energy balance fails" in found["saturation"].worst


def test_the_table_says_where_the_energy_went():
    run = closed_loop()
    found = statistics(run)
    by = {
        name: value
        for name, (value, unit) in found.items()
        if name.startswith("energy by ") and unit == "J"
    }
    assert len(by) == len(CONTROL.power_names)
    assert found["energy stored, change"][0] == pytest.approx(
        sum(by.values()), abs=found["energy drift, largest"][0] * 1.001
    )
    assert found["energy drift, share of throughput"] == (
        pytest.approx(
            100 * found["energy drift, largest"][0] / found["energy that passed through"][0]
        ),
        "%",
    )


def test_a_plant_without_energy_is_not_asked():
    """A transfer function has velocities but no forces: no default claim; asked for, it is undecided, and says why."""
    plant = machine("ieha-published-linear").plant
    assert isinstance(plant, LinearActuator)
    loop, scenario = ClosedLoop(plant, Plain(Held())), Scenario(0.04)
    assert not any(isinstance(c, run_claims.EnergyBalance) for c in default_claims(loop, scenario))
    (verdict,) = verify(loop, scenario, [run_claims.EnergyBalance()])
    assert verdict.holds is None and "states no energy" in verdict.worst
    assert not any(
        "energy" in name for name in statistics(Run(loop, scenario, simulate(loop, scenario)))
    )


def test_a_machine_that_stands_still_has_no_drift_but_rounding():
    """Nothing to balance, and no reason to doubt the rest; a drift that can be told from rounding is one, however small."""
    plant = machine("four-bar").plant
    loop = ClosedLoop(
        plant, Sampled(PID(plant, K_p=(900.0,), K_i=(800.0,), feed="none", damping="none"), 1e-3)
    )
    for hair in (0.0, 1e-12, -1e-9):  # rad off its rest: another processor's rounding, and more
        scenario = Scenario(1.0, reference=Hold("output", "start"), offset={"z_1": hair})
        energy, quiet = verify(
            loop, scenario, (run_claims.EnergyBalance(), run_claims.Saturation())
        )
        assert energy.holds is not False, (hair, energy.worst)
        assert quiet.holds is True, (hair, quiet.worst)
    for hair in (0.0, 1e-4):  # Pa: 4 nJ pass through, of which no verdict may hang
        scenario = Scenario(3.0, reference=Hold("output", "start"), offset={"p_1": hair})
        (settled,) = verify(
            ClosedLoop(plant, Sampled(PID(plant, **PID.suited(plant)), 1e-3)),
            scenario,
            (run_claims.Settled(),),
        )
        assert settled.holds is True, (hair, settled.worst)
    stored = np.array([5.0, 5.0 + 1e-15, 5.0])
    assert (
        energy_account(stored, {"a": np.zeros(3)}).drift
        < energy_account(stored, {"a": np.zeros(3)}).rounding
        < 1e-14
    )
    far = energy_account(np.array([5.0, 5.0 + 1e-12, 5.0]), {"a": np.zeros(3)})
    assert far.drift > far.rounding
