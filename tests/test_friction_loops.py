"""Friction in machines and their loops: ledgers and hypotheses from both sides, energies, case files, kinks, runs."""

from dataclasses import replace

import numpy as np
import pytest
from draws import on_floats, plant_inputs, plant_state
from ledger_cases import CRANE, LUGRE, PATH, continuous, every, ledger_at_random, sampled
from test_friction import LAWS, name

from controllers.vdc import VDC
from plants import (
    IEHA,
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Frictionless,
    LuGre,
    ModifiedLuGre,
)
from plants.ieha.energy import NAMES
from workbench import ClosedLoop, InputError, Sampled, Scenario, simulate
from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.numerics import c_code, calculus
from workbench.numerics.calculus import directional
from workbench.verification import claims as C
from workbench.verification.hypotheses import check_hypotheses, rate_left
from workbench.verification.ledger import balance as ledger
from workbench.verification.ledger.claims import check_identity
from workbench.verification.run import run

pytestmark = pytest.mark.usefixtures("plain_code")

FILM = ModifiedLuGre(
    F_c=2900.0,
    F_s=4300.0,
    v_s=0.031,
    b=2100.0,
    σ_0=0.9e7,
    σ_1=3.8e4,
    v_b=0.09,
    τ_hp=0.07,
    τ_hn=0.6,
    τ_h0=9.0,
    width=2e-4,
)
FILMY = every(CRANE, friction=FILM)
SHORT = Scenario(reference=PATH, duration=0.4)
TOLERANCE = C.Identity().tolerance
LOOPS = {
    "film": sampled(FILMY),
    "film, continuous": continuous(FILMY),
    "film, the model without": sampled(FILMY, VDC(model=every(CRANE, friction=LUGRE))),
    "film in the model only": sampled(every(CRANE, friction=LUGRE), VDC(model=FILMY)),
    "film, the model Coulomb": sampled(FILMY, VDC(model=CRANE)),
    "film, another in the model": sampled(
        FILMY, VDC(model=every(CRANE, friction=replace(FILM, τ_hp=0.2, F_s=5000.0)))
    ),
    "film, dirty derivative": sampled(FILMY, derivative="dirty"),
    "Bengisu–Akay": sampled(every(CRANE, friction=BengisuAkay())),
    "Brown–McPhee, Bengisu–Akay in the model": sampled(
        every(CRANE, friction=BrownMcPhee()), VDC(model=every(CRANE, friction=BengisuAkay()))
    ),
    "LuGre of exponent 1.5": sampled(every(CRANE, friction=replace(LUGRE, n=1.5))),
}


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(c_code, "library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})


@pytest.mark.parametrize("what", LOOPS)
def test_the_identity_holds_whatever_rubs(interpreted, what):
    b = ledger_at_random(LOOPS[what])
    assert (
        np.isfinite(b.vdot).all() and np.abs(b.residual()).max() <= TOLERANCE and (b.v >= 0).all()
    )


def ran(loop, **changes):
    return run(loop, replace(SHORT, **changes), compiled=False)


def friction_words(r):
    return {
        a["text"]: (a["holds"], a["worst"])
        for a in check_hypotheses(C.Hypotheses(), r).data["assumptions"]
        if a["text"].startswith("friction of cylinder")
    }


@pytest.mark.parametrize(
    "law, holds",
    [
        (CoulombViscous(), True),
        (BengisuAkay(), False),
        (BrownMcPhee(), False),
        (BrownMcPhee(b=60000.0), True),
        (BengisuAkay(b=60000.0), True),
        (LUGRE, True),
        (FILM, True),
        (replace(FILM, σ_1=9e5), False),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, bool) else str(v),
)
def test_each_law_is_judged_for_what_it_is(law, holds):
    r = ran(continuous(every(CRANE, friction=law)), offset={"q_1": 0.01})
    assert {a[0] for a in friction_words(r).values()} == {holds}
    left = rate_left(r)
    assert left == 0.0 if holds is False and law.states("") else left > 0
    assert check_identity(C.Identity(), r).holds is True
    worst = max(
        d.max() for (_, _, term), d in r.balance.perturbations.items() if term == "friction"
    )
    if holds:
        assert worst <= 1e-12 * r.balance.scale.max()


def test_what_is_not_proved_is_open_not_broken():
    """Between half of LuGre's limit and where its form fails; another law in the model; bristles bent beyond F_s/σ_0."""
    between = replace(FILM, σ_1=1.1e5)
    r = ran(continuous(every(CRANE, friction=between)))
    top = max(np.abs(r.balance.quantities[f"ẋ {k}"]).max() for k in "12")
    assert between.power_limit() < top < 2 * between.power_limit()
    assert None in {a[0] for a in friction_words(r).values()} and rate_left(r) == 0.0
    told = ran(continuous(FILMY, VDC(model=every(CRANE, friction=replace(FILM, F_s=4000.0)))))
    # Its friction term is positive on this run: what was open is contradicted by what is measured.
    assert all(
        holds is False and "F_s = 4000" in words and "friction of actuator" in words
        for holds, words in friction_words(told).values()
    )
    other = ran(continuous(FILMY, VDC(model=every(CRANE, friction=LUGRE))))
    assert all(
        holds is False and "has LuGre" in words for holds, words in friction_words(other).values()
    )
    bent = ran(continuous(FILMY), offset={"z_1": 8e-4}, duration=0.05)
    assert (
        friction_words(bent)["friction of cylinder 1 (ModifiedLuGre) passive with its own storage"][
            0
        ]
        is None
    )


def test_a_film_observed_wrongly_still_takes_power_only():
    """ĥ off by 0.2 at the start: with the film's storage the friction term is never positive, and v carries it."""
    r = ran(continuous(FILMY), offset={"h_1_observed": 0.2, "h_2": 0.15})
    terms = [d for (_, _, term), d in r.balance.perturbations.items() if term == "friction"]
    assert max(d.max() for d in terms) <= 0 and min(d.min() for d in terms) < -1e-3
    assert r.balance.total[0] > 0.5 * FILM.film_weights()[0] * 0.15**2


def test_runs_keep_memory_in_its_range():
    log = simulate(sampled(FILMY), replace(SHORT, duration=0.6))
    h, z = (np.column_stack([log.array(f"{s}_{k}") for k in "12"]) for s in "hz")
    assert h.min() >= 0 and h.max() <= 1 - FILM.F_c / FILM.F_s and h.max() > 0.05
    assert np.abs(z).max() <= FILM.F_s / FILM.σ_0 and np.abs(z).max() > 0.3 * FILM.F_s / FILM.σ_0


# ---- the electro-hydraulic actuator ---------------------------------------------------------------------------------
def test_viscous_friction_is_the_same_by_either_name():
    """b_v Ẏ of the plant, or a component without Coulomb friction; and a component that is none changes nothing."""
    own, other = IEHA(b_v=375.0), IEHA(b_v=0.0, friction=CoulombViscous(F_c=0.0, b=375.0))
    rng = np.random.default_rng(3)
    for _ in range(5):
        x, u = plant_state(rng, own), plant_inputs(rng, own)
        np.testing.assert_allclose(
            on_floats(own, lambda o, *a: o.rhs(0.0, *a), x, u),
            on_floats(other, lambda o, *a: o.rhs(0.0, *a), x, u),
            rtol=1e-12,
        )
    assert names(own.states) == names(other.states) and "f_f" not in names(own.monitors)
    assert on_floats(IEHA(), lambda o, *a: o.rhs(0.0, *a), x, u)[6] == pytest.approx(
        on_floats(IEHA(friction=Frictionless()), lambda o, *a: o.rhs(0.0, *a), x, u)[6]
    )


@pytest.mark.parametrize("detail", ["averaged", "full"])
@pytest.mark.parametrize(
    "law", [law for law in LAWS if not isinstance(law, Frictionless)], ids=name
)
def test_powers_of_the_actuator_change_its_energy(law, detail):
    plant, rng = IEHA(friction=law, detail=detail), np.random.default_rng(8)
    m, n = len(law.states("")), len(plant.states)
    assert names(plant.states)[-m:] == ["z_Y", "h_Y"][:m] if m else True
    x, u = plant_state(rng, IEHA(detail=detail)), plant_inputs(rng, plant)
    x += [1e-4, 0.1][:m]
    (change,) = directional(lambda s: [plant.stored(0.0, s, u)], x, plant.rhs(0.0, x, u)[:n])
    powers = dict(zip(plant.power_names, map(float, plant.powers(0.0, x, u))))
    if detail == "averaged":
        assert change == pytest.approx(
            sum(powers.values()), abs=1e-9 * sum(map(abs, powers.values()))
        )
    f = law.force(x[6], x[n - m :])
    assert powers["friction"] == pytest.approx(
        -plant.b_e * x[1] ** 2 - plant.b_v * x[6] ** 2 - f * x[6], rel=1e-12
    )
    assert "friction" in NAMES and plant.monitor(0.0, x, u)[-1] == pytest.approx(f)


def test_an_actuator_sticks_until_it_breaks_away():
    """Below breakaway the load creeps by bristles only; above it slides."""
    plant = IEHA(
        friction=LuGre(F_c=60.0, F_s=90.0, v_s=2e-3, b=0.0, σ_0=1e6, σ_1=2e3),
        K_in=1e-11,
        K_ex=1e-11,
    )
    moved = {
        F: simulate(plant, Scenario(duration=0.3, disturbances={"F_ext": F})).array("Y")[-1]
        for F in (-60.0, -140.0)
    }
    assert 60.0 / 1e6 < moved[-60.0] < 2e-4 and moved[-140.0] > 10 * moved[-60.0]


# ---- case files -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", LAWS, ids=name)
def test_laws_by_name_in_every_plant_with_a_cylinder(law):
    numbers = ", ".join(f"{k}: {v!r}" for k, v in vars(law).items())
    written = f"{{law: {type(law).__name__}{', ' if numbers else ''}{numbers}}}"
    crane = loads(f"plant: {{machine: hiab-xs031, friction: {written}}}").plant
    assert all(c.friction == law for c in crane.cylinders)
    assert loads(f"plant: {{machine: ieha-control, friction: {written}}}").plant.friction == law


def test_wrong_numbers_are_refused_at_their_line():
    with pytest.raises(InputError) as why:
        loads(
            "plant:\n  machine: hiab-xs031\n  friction:\n    law: ModifiedLuGre\n    v_s: 30 mm/s\n    v_b: 10 mm/s\n"
        )
    assert (
        why.value.line == 6
        and why.value.key == "plant.friction.v_b"
        and "must not be below v_s" in why.value.message
    )
    with pytest.raises(InputError, match="did you mean BrownMcPhee"):
        loads("plant: {machine: hiab-xs031, friction: {law: BrownMcphee}}")


# ---- kinks ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "law", [BengisuAkay(F_c=1000.0, F_s=9000.0, v_s=0.05, ξ=400.0, b=3000.0), LUGRE, FILM], ids=name
)
def test_steps_end_on_kinks(law, monkeypatch):
    """Where a parabola meets a decay, where bent bristles turn: the error of long steps falls fast; without guards it is
    larger by far."""
    told = CRANE if not law.states("") else every(CRANE, friction=law)
    loop = ClosedLoop(every(CRANE, friction=law), Sampled(VDC(model=told), 4e-3))
    long = replace(SHORT, duration=0.5 if told is CRANE else 1.4)

    def end(h):
        log = simulate(loop, replace(long, max_step=h))
        return np.array([log.array("q_1"), log.array("q_2")])

    exact = end(6.25e-5)
    errors = [np.abs(end(h) - exact).max() for h in (1e-3, 5e-4)]
    monkeypatch.setattr(type(law), "guards", lambda self, v, z=(): [])
    monkeypatch.setattr(calculus, "_traces", {})
    blind = [np.abs(end(h) - exact).max() for h in (1e-3, 5e-4)]
    assert errors[1] < 0.3 * errors[0] and max(blind) > 3 * max(errors)
