"""Incremental passivity and one velocity of valve circuits, from both sides: proven where the conditions hold, refused where one
does not, and where what is computed is not what is proven."""

from dataclasses import dataclass, replace
from typing import Annotated, final

import metering_cases as cases
import numpy as np
import pytest
from oracles.metering import programme

from controllers import OpenLoop
from plants import Arm, MeteredArms
from plants.valve_circuits import Λ, Circuit, Motor, Openings, Pump, Section, passivity, uniqueness
from plants.valve_circuits.passivity import check_passive, conditions
from plants.valve_circuits.uniqueness import check_unique, nested
from workbench import ClosedLoop, InputError, Scenario, load, verify
from workbench.contract.parameters import Unit, bind
from workbench.verification.claims import IncrementalPassivity


def test_proven_for_any_circuit_of_the_family():
    rng = np.random.default_rng(3)
    for N in (1, 2, 3):
        verdict = check_passive(cases.circuit(rng, N), 200, seed=N)
        assert (verdict.holds, verdict.strength) == (True, "proof") and all(
            a.holds for a in verdict.assumptions
        )
        assert verdict.data["largest"] <= verdict.data["rounding"] and "fed back" in verdict.worst


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("sections.1.c_tr", -1e-6, "orifice"),
        ("sections.1.P_rM", 0.0, "relief"),
        ("sections.1.A_r", -0.01, "areas"),
        ("pump.Q", float("inf"), "pump's flow"),
        ("pump.c_b", float("nan"), "orifice"),
        ("pump.P_M", float("inf"), "relief"),
    ],
)
def test_a_condition_that_does_not_hold_leaves_it_undecided(path, value, words):
    broken = bind(Circuit(), {path: value})  # no data class would build it
    verdict = check_passive(broken)
    assert (
        verdict.holds is None
        and words in verdict.worst
        and [a for a in conditions(broken) if a.holds is False]
    )


def test_a_solver_that_is_wrong_is_found_out(monkeypatch):
    """Velocities of the wrong sign, and one that mixes up two sections, are against it somewhere."""
    honest = passivity.resolve_all

    def reversed_(rows, supply, β, f, v, P):
        honest(rows, supply, β, f, v, P)
        v *= -1.0

    def swapped(rows, supply, β, f, v, P):
        honest(rows, supply, β, f, v, P)
        v[:] = v[:, ::-1].copy()

    for wrong in (reversed_, swapped):
        monkeypatch.setattr(passivity, "resolve_all", wrong)
        verdict = check_passive(Circuit((Section("a"), Section("b", A_h=0.01))))
        assert (verdict.holds, verdict.strength) == (False, "sampled") and verdict.margin < 0


# ---- one velocity --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("held", [False, True])
def test_one_velocity_is_proven_for_any_circuit_of_the_family(held):
    rng = np.random.default_rng(11)
    for N in (1, 2, 3):
        verdict = check_unique(cases.circuit(rng, N), {"B": 3e5}, 40, seed=N, held=held)
        assert (verdict.holds, verdict.strength) == (True, "proof") and all(
            a.holds for a in verdict.assumptions
        )
        assert verdict.data["apart"] < 1e-9 and verdict.data["left"] < 1e-6


def test_small_heads_and_regeneration_alone_move_at_the_velocity_of_the_convex_programme():
    """u_tr = 0, and A_h < A_r, on one pump: what the source leaves out, against cvxpy."""
    c = Circuit(
        (Section("a", A_h=0.021, A_r=0.013, c_a=4e-6), Section("b", A_h=0.017, A_r=0.023)),
        Pump(Q=6e-3),
    )
    o = (Openings(u_ph=0.7, u_a=0.8), Openings(u_ph=0.4, u_tr=0.3, u_a=0.6))
    for β, f in (([3e5, 8e5], [-2e5, -4e5]), ([2e6, 1e6], [-3.1e5, 1e4])):
        rows, supply = c.rows(o), c.supply(0.0)
        _, v, _ = nested(rows, supply, np.array(β), np.array(f))
        assert Λ(c, o, 0.0, β, f) == pytest.approx(v, abs=1e-9) and np.abs(v).min() > 1e-3
        assert v == pytest.approx(programme(rows, supply, β, f), abs=2e-6)


def test_motors_are_covered():
    circuit = Circuit((Motor("swing", D_h=31e-6, D_r=27e-6), Section("lift")), Pump(Q=3e-3))
    for check in (check_passive, check_unique):
        verdict = check(circuit, samples=40)
        assert (verdict.holds, verdict.strength) == (True, "proof")
    broken = conditions(bind(circuit, {"sections.swing.D_r": 0.0}))
    assert [a.worst for a in broken if a.holds is False] == ["swing.D_r"]


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("sections.1.c_tr", -1e-6, "orifice"),
        ("pump.c_b", -1e-6, "orifice"),
        ("sections.1.P_hM", float("inf"), "relief"),
        ("pump.P_M", 0.0, "relief"),
    ],
)
def test_a_potential_that_is_not_convex_or_a_set_without_bound_leaves_it_undecided(
    path, value, words
):
    """An orifice of the other sign, a bleed that gives oil as pressure rises, pressures without limit, and with none at all."""
    verdict = check_unique(bind(Circuit(), {path: value}))
    assert verdict.holds is None and verdict.strength is None and words in verdict.worst


@pytest.mark.parametrize("β", [0.0, -1e5, float("nan"), float("inf")])
def test_without_damping_it_is_undecided(β):
    verdict = check_unique(Circuit(), {"a": 2e6, "b": β})
    assert verdict.holds is None and "β above zero" in verdict.worst and verdict.worst.endswith("b")


@final
@dataclass(frozen=True)
class LoadSensing:
    """A pump whose flow grows with its pressure, by a number that no proof here knows of."""

    Q: Annotated[float, Unit("m^3/s"), "flow"] = 5e-3
    P_M: Annotated[float, Unit("Pa"), "relief"] = 3e7
    c_b: Annotated[float, Unit("m^3/(s*Pa^0.5)"), "bleed"] = 1e-6
    rise: Annotated[float, Unit("m^3/(s*Pa)"), "flow for pressure"] = 1e-9


def test_a_part_of_another_kind_is_not_covered():
    for check in (check_passive, check_unique):
        verdict = check(Circuit(pump=LoadSensing()))
        assert (
            verdict.holds is None
            and "not known of" in verdict.worst
            and "pump.rise" in verdict.worst
        )


def test_velocities_that_are_not_the_circuits_are_found_out(monkeypatch):
    """In the solver: a bleed that gives more oil the higher the pressure, one potential of the wrong sign. In the relations: tank
    flows of the wrong sign, an orifice left out."""
    honest, flows = uniqueness.resolve_all, uniqueness.section_flows

    def rising(rows, supply, *rest):
        honest(rows, supply * [1.0, 1.0, -1.0], *rest)

    def flipped(rows, supply, *rest):
        honest(rows * [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0], supply, *rest)

    for wrong in (rising, flipped):
        monkeypatch.setattr(uniqueness, "resolve_all", wrong)
        verdict = check_unique(Circuit(), seed=1)
        assert (verdict.holds, verdict.strength) == (
            False,
            "sampled",
        ) and "two ways differ" in verdict.worst
    monkeypatch.setattr(uniqueness, "resolve_all", honest)
    for change in (
        lambda q: q._replace(Q_ho=q.Q_ho + 2 * q.Q_th),
        lambda q: q._replace(Q_ro=q.Q_ro - q.Q_pr),
    ):
        monkeypatch.setattr(
            uniqueness, "section_flows", lambda *s, change=change: change(flows(*s))
        )
        verdict = check_unique(Circuit())
        assert (verdict.holds, verdict.strength) == (
            False,
            "sampled",
        ) and "oil balances" in verdict.worst


def test_asked_of_a_case_and_refused_where_there_is_no_circuit():
    plant = MeteredArms(
        arms=(Arm(), Arm("2", section=replace(Section(), A_r=0.03))), pump=Pump(Q=4e-3)
    )
    verdicts = verify(
        ClosedLoop(plant, OpenLoop()), Scenario(0.1), (IncrementalPassivity(samples=50),)
    )
    assert [(v.key, v.holds, v.strength) for v in verdicts] == [
        ("incremental-passivity", True, "proof")
    ]
    other = load("examples/four-bar-cycle.yaml")
    with pytest.raises(InputError, match="states no quasistatic circuit"):
        verify(other.loop, Scenario(0.05), (IncrementalPassivity(),))
