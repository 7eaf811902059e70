"""Hypotheses of virtual decomposition control on runs written by hand: margins, where they are worst, and both sides of each."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives import metered_section_ledger
from plants import LinearActuator
from plants.components.friction import CoulombViscous, LuGre, Stribeck
from workbench import Saturated
from workbench.verification import hypotheses
from workbench.verification.hypotheses.friction import rubbing, rubs
from workbench.verification.ledger.measured import term
from workbench.verification.verdict import Assumption

geometry, knowledge, rates, valves = (
    import_module(f"workbench.verification.hypotheses.{name}")
    for name in ("geometry", "knowledge", "rates", "valves")
)  # the package has functions of these names
T = np.array([0.0, 0.5, 1.0, 1.5])


def ran(quantities, disturbances=(), reference=None, controller=None, log=None, perturbations=None):
    """A run whose ledger has these quantities."""
    balance = SimpleNamespace(
        t=T,
        quantities={k: np.array(v, float) for k, v in quantities.items()},
        perturbations=perturbations or {},
        cuts=lambda: {"tip 1": None, "joint 2": None, "tip": None, "tips": None},
    )
    return SimpleNamespace(
        balance=balance,
        scenario=SimpleNamespace(disturbances=dict.fromkeys(disturbances)),
        demand=SimpleNamespace(reference=reference),
        loop=SimpleNamespace(controller=controller or SimpleNamespace(inner=None)),
        log=log,
    )


def told(a):
    return a.holds, a.margin, a.unit, a.worst


# ---- valves and their supply ------------------------------------------------------------
CYLINDER = SimpleNamespace(valve=SimpleNamespace(u_max=10.0))


def valve(up=(5, 4, 8, 6), down=(9, 9, 9, 9), u=(1, -2, 0.5, 0), controller=None):
    run = ran({"D₊ c": up, "D₋ c": down, "inverse c": u}, controller=controller)
    return valves.valve(run, "c", CYLINDER)


def test_a_valve_is_invertible_where_both_denominators_are_positive_and_the_voltage_suffices():
    found = valve()
    assert told(found) == (
        True,
        8.0,
        "V",
        "|u| ≤ 2 V (t = 0.50 s), denominators ≥ 72.7 % of their median",
    )
    assert found.text == "valve c invertible within ±10 V"
    assert valve(u=(0, 0, 0, -10)).holds is True and valve(u=(0, 0, 0, 10.01)).holds is False
    assert valve(up=(5, 0.0, 8, 6)).holds is False and valve(down=(1, 1, -1, 1)).holds is False
    assert valve(down=(9, 1.0, 9, 9)).worst.endswith("≥ 18.2 % of their median")
    assert found.terms == tuple(term("actuator c", n) for n in ("valve inverse", "saturation"))


def test_a_law_that_allows_itself_less_is_held_to_that():
    """The nearer end of each saturation around the law, and the valve's own."""
    law = SimpleNamespace(inner=None)
    around = object.__new__(Saturated)
    for name, value in (("inner", law), ("low", -3.0), ("high", 5.0)):
        object.__setattr__(around, name, value)
    found = valve(controller=around)
    assert found.text.endswith("±3 V") and found.margin == 1.0
    assert valve(u=(0, 3.5, 0, 0), controller=around).holds is False
    object.__setattr__(around, "low", -30.0)
    assert valve(controller=around).text.endswith("±5 V")
    object.__setattr__(around, "high", 50.0)
    assert valve(controller=around).text.endswith("±10 V")


@pytest.mark.parametrize("most, holds", [(3e-4, True), (2.9e-4, False)])
def test_the_pump_gives_what_all_valves_take(most, holds):
    found = valves.pump_flow(ran({"pump flow": [1e-4, 3e-4, 2e-4, -5e-4]}), most)
    assert found.holds is holds and found.margin == pytest.approx(most - 3e-4)
    assert found.worst == f"18 of {6e4 * most:.3g} l/min at t = 0.50 s" and found.unit == "m^3/s"


@pytest.mark.parametrize("lag, order", [("first", "1"), ("second", "2")])
def test_lag_of_a_valve_in_words(lag, order):
    """Of the first valve that has one, wherever it stands."""
    ideal = SimpleNamespace(lag="ideal", frequency=7.0)
    own = SimpleNamespace(lag=lag, frequency=80.0)
    other = SimpleNamespace(lag="first", frequency=90.0)
    found = valves.unlagged([ideal, own, other], " of lift")
    assert found.worst == f"spool of order {order} at 80 Hz" and found.holds is False
    assert found.text == "valves without lag of lift" and found.terms == ("valve",)
    found = valves.unlagged([ideal, ideal])
    assert (found.holds, found.worst, found.text) == (True, "", "valves without lag")


# ---- geometry ------------------------------------------------------------
@pytest.mark.parametrize("least, holds", [(0.02, True), (0.0201, False)])
def test_lever_arms_by_size(least, holds):
    found = geometry.lever(ran({"lever c": [0.3, -0.02, 0.1, -0.5]}), "c", least)
    assert found.holds is holds and found.margin == pytest.approx(0.02 - least)
    assert found.worst == "0.02 m at t = 0.50 s" and found.unit == "m"


def test_a_piston_has_room_to_both_ends():
    found = geometry.stroke(
        ran({"x c": [0.3, 0.2, 0.1, 0.4], "room c": [0.1, 0.05, 0.3, 0.2]}), "c"
    )
    assert told(found) == (True, 0.05, "m", "50 mm left at t = 0.50 s")
    for x, room in (([1, 1, 0.0, 1], [1, 1, 1, 1]), ([1, 1, 1, 1], [1, 1, -0.01, 1])):
        assert geometry.stroke(ran({"x c": x, "room c": room}), "c").holds is False


def test_lever_arms_of_joints_that_turn_only():
    turning = SimpleNamespace(slides=False, lever=lambda q: 0.3 * q)
    sliding = SimpleNamespace(slides=True)
    run = ran(
        {"lever a": [0.3] * 4, **{f"{n} {k}": [0.1] * 4 for n in ("x", "room") for k in "ab"}}
    )
    run.loop.plant = SimpleNamespace(
        labels=("a", "b"),
        segments=(turning, sliding),
        joint_range=lambda: [(0.5, 1.0), (0.0, 1.0)],
    )
    found = list(geometry.geometry(run, 0.01))
    assert len(found) == 4 and found[0].holds is True
    assert 0.14 < found[0].margin <= 0.15  # |0.3 q| from 0.5 on
    assert [a.text.split()[0] for a in found] == ["lever", "lever", "piston", "piston"]
    run.loop.plant.joint_range = lambda: [(-0.5, 1.0), (0.0, 1.0)]
    assert next(geometry.geometry(run, 0.01)).holds is None


# ---- friction ------------------------------------------------------------
FALLING = Stribeck(F_c=300.0, F_s=900.0, v_s=0.05, b=100.0, width=1e-3)


def test_static_friction_is_asked_up_to_the_speeds_of_both():
    """The largest of |v| and |v + Δv|: at small ones it rises, beyond it falls, whichever of both is the large one."""
    small, large = np.array([0.001, -0.001]), np.array([0.0, 0.03])
    assert FALLING.slope(0.002)[0] > 0 > FALLING.slope(0.03)[0]
    found = rubbing(None, "c", FALLING, FALLING, small, small)
    assert found.holds is True and found.margin == FALLING.slope(0.002)[0]
    assert found.worst.endswith("up to 0.002 m/s") and found.unit == "N s/m"
    for v, Δv in ((large, 0 * small), (0 * small, large), (-large, 0 * small), (0 * small, -large)):
        found = rubbing(None, "c", FALLING, FALLING, v, Δv)
        assert found.holds is False and found.margin == FALLING.slope(0.03)[0]
    assert rubbing(None, "c", FALLING, FALLING, large, -large).worst.endswith("up to 0.03 m/s")
    still = rubbing(None, "c", CoulombViscous(), CoulombViscous(), 0 * small, 0 * small)
    assert still.holds is True and still.worst.endswith("up to 0 m/s")
    assert rubs("c") == tuple(term(x, "friction") for x in ("actuator c", "rod c", "cylinder"))


LUGRE = LuGre(F_c=300.0, F_s=900.0, v_s=0.05, b=100.0, σ_0=1e6, σ_1=4e3)


@pytest.mark.parametrize(
    "speed, holds", [(0.3, True), (0.3075, True), (0.32, None), (0.9, None), (0.93, False)]
)
def test_friction_with_memory_up_to_its_speed(speed, holds):
    """LuGre: 4 (σ_1 + b) F_c/σ_1² = 0.3075 m/s is enough; its form fails where g at the speed is reached: here g → F_c … F_s."""
    limit = 4 * 4100 * 300 / 4000**2
    assert LUGRE.power_limit() == pytest.approx(limit)
    run = ran({}, log=SimpleNamespace(array=lambda name: np.zeros(4)))
    v = np.array([0.0, -speed])
    found = rubbing(run, "c", LUGRE, LUGRE, v, v)
    fails = speed > limit * float(LUGRE.grip(speed)) / 300.0
    assert found.holds is (True if speed <= limit else False if fails else None)
    assert found.margin == pytest.approx(limit - speed) and found.unit == "m/s"


def test_friction_with_memory_needs_its_own_law_observed_and_bristles_within_reach():
    inside = SimpleNamespace(array=lambda name: np.full(4, 9e-4))
    beyond = SimpleNamespace(array=lambda name: np.array([0.0, -2e-3, 0, 0]))
    v = np.array([0.01])
    assert rubbing(ran({}, log=inside), "c", LUGRE, LUGRE, v, v).holds is True
    other = replace(LUGRE, σ_1=5e3, b=90.0)
    found = rubbing(ran({}, log=inside), "c", LUGRE, other, v, v)
    assert found.holds is None and found.worst == "not proved: the model has b = 90, σ_1 = 5000"
    found = rubbing(ran({}, log=inside), "c", LUGRE, FALLING, v, v)
    assert found.worst == "not proved: the model has Stribeck"
    film = SimpleNamespace(
        states=lambda label: ("z",),
        power_limit=lambda: 1.0,
        domain=lambda z: [1e-3 - np.abs(np.zeros(4) + 1.003e-3)],
    )
    film.states = lambda label: (SimpleNamespace(name="z"),)
    found = rubbing(ran({}, log=beyond), "c", film, film, v, v)
    assert found.holds is None and "3 µm beyond" in found.worst


# ---- rates ------------------------------------------------------------
@pytest.mark.parametrize(
    "c, exact, k_x, holds",
    [(2.0, True, (1.0,), True), (2.0, False, (1.0,), False), (0.0, True, (1.0,), False)]
    + [(2.0, True, (1.0, 0.0), False), (2.0, True, (), True)],
)
def test_gains_are_positive(c, exact, k_x, holds):
    found = rates.positive_gains({"a": (9.0, True), "b": (c, exact)}, 5.0, k_x)
    assert found.holds is holds and found.margin == min(c, 5.0) and found.unit == "1/s"
    assert found.worst.startswith(f"b: rate c = {min(c, 5.0):.3g} 1/s")
    assert found.worst.endswith("not confirmed exactly") is not exact
    assert rates.positive_gains({"a": (9.0, True)}, 5.0, ()).margin == 5.0


def posed(disturbances=(), rows=25):
    q = {"q_1": np.arange(float(rows)), "q_2": -np.arange(float(rows))}
    run = ran({}, disturbances, log=SimpleNamespace(array=lambda name: q[name]))
    plant = SimpleNamespace(position_names=("q_1", "q_2"), cylinders=())
    return run, plant


def test_rates_over_the_poses_of_a_run(monkeypatch):
    """The smallest over twelve poses from first to last, and the actuators'; never below that of bodies and actuators alone."""
    asked = []

    def reduced(law, plant, row, μ=None):
        asked.append(tuple(row))
        return 3.0 + abs(row[0] - 12.0)

    monkeypatch.setattr(rates, "reduced_rate", reduced)
    monkeypatch.setattr(
        rates, "body_rates", lambda law, plant: {"a": (2.5, True), "b": (7.0, True)}
    )
    run, plant = posed()
    found = rates.rates_along(run, None, plant, 40.0)
    assert found[0] == 2.5 and found[1] == pytest.approx(min(3 + abs(q[0] - 12) for q in asked))
    assert len(asked) == 12 and asked[0] == (0.0, -0.0) and asked[-1] == (24.0, -24.0)
    assert rates.rates_along(run, None, plant, 1.5) == (1.5, 1.5)
    monkeypatch.setattr(rates, "reduced_rate", lambda *_: 0.1)
    assert rates.rates_along(run, None, plant, 40.0) == (2.5, 2.5)
    for name, moves in (("V_bx", True), ("ω_by", True), ("F_ext", False)):
        monkeypatch.setattr(rates, "reduced_rate", lambda *_: 4.0)
        found = rates.rates_along(posed((name,))[0], None, plant, 40.0)
        assert found == ((2.5, 2.5) if moves else (2.5, 4.0))


def test_the_rate_that_friction_leaves(monkeypatch):
    """Falling friction takes its fall from each joint; with memory nothing where it is passive, everything where it is not."""
    asked = []

    def reduced(law, plant, row, μ):
        asked.append(tuple(μ))
        return 3.0 + row[0]

    monkeypatch.setattr(rates, "reduced_rate", reduced)
    monkeypatch.setattr(rates, "innermost", lambda controller: None)
    monkeypatch.setattr(rates, "force_rate", lambda law, plant: 40.0)
    static = SimpleNamespace(friction=FALLING)
    memory = SimpleNamespace(friction=LUGRE)
    run, plant = posed()
    run.loop.plant = plant
    plant.cylinders = (static, static, memory)

    def asked_of(*found):
        monkeypatch.setattr(rates, "friction", lambda run: found)
        return rates.rate_left(run)

    met = lambda holds, margin: SimpleNamespace(holds=holds, margin=margin)
    assert asked_of(met(True, 8.0), met(False, -5.0), met(True, 0.1)) == pytest.approx(3.0)
    assert set(asked) == {(0.0, 5.0, 0.0)} and len(asked) == 12
    assert asked_of(met(True, 8.0), met(False, -5.0), met(None, 0.1)) == 0.0
    assert asked_of(met(True, 8.0), met(None, None), met(True, 0.1)) == 0.0
    law = SimpleNamespace(βk_f=(9.0, 6.0), model=SimpleNamespace(oil=SimpleNamespace(β=2.0)))
    monkeypatch.undo()
    plant = SimpleNamespace(oil=SimpleNamespace(β=3.0))
    assert rates.force_rate(law, plant) == pytest.approx(2 * 6.0 * 3 / 2)


# ---- knowledge ------------------------------------------------------------
@pytest.mark.parametrize("name, met", [("f_Dx", False), ("m_Dz", False), ("F_ext", True)])
def test_forces_at_the_tip_that_nobody_knows(name, met):
    found = knowledge.wrench(ran({}, (name,)))
    assert found.holds is met and bool(found.worst) is not met
    assert knowledge.tips(ran({})) == ("tip 1", "tip") == found.terms


@pytest.mark.parametrize("jumps, words", [(0, "no jerk jumps"), (3, "jerk jumps at 3 instants")])
def test_jumps_of_the_jerk(jumps, words):
    path = SimpleNamespace(jerk_jumps=lambda: ([0.1] * jumps, None))
    (found,) = knowledge.reference(ran({}, reference=path))
    assert found.holds is True and found.worst.startswith(words)
    assert list(knowledge.reference(ran({}))) == []


def test_a_model_that_is_not_the_plant_costs_the_terms_of_model_and_parameters():
    terms = {
        ("s", "c", "model"): np.array([1.0, -3.0]),
        ("s", "c", "parameters"): np.array([0.5, -0.25]),
        ("s", "c", "hold"): np.array([99.0, 99.0]),
    }
    plant = LinearActuator()
    run = ran({}, perturbations=terms)
    run.loop.plant = plant
    law = SimpleNamespace(model=plant, derivative="measured")
    same, exact = knowledge.told(run, law, {})
    assert (same.holds, same.margin, same.worst) == (True, None, "")
    assert exact.holds is True and "'measured'" in exact.worst
    law.model = replace(plant, K=2 * plant.K)
    other = knowledge.known(run, law, {})
    assert other.holds is False and other.margin == pytest.approx(-3.25)
    assert other.worst == "model and parameter terms up to 3.25 W"
    assert knowledge.known(run, law, {"K": 1.0}).holds is True  # what is put aside does not matter


# ---- all together ------------------------------------------------------------
def test_one_hypothesis_that_is_not_met_is_enough(monkeypatch):
    made = lambda holds, worst="": Assumption(f"h{worst}", holds, worst=worst)
    run = ran({})
    run.loop.plant = None
    claim = SimpleNamespace(counted=False)

    def asked(*found):
        own = SimpleNamespace(hypotheses=lambda run, claim: found)
        law = SimpleNamespace(certificate=lambda plant: own)
        monkeypatch.setattr(hypotheses, "innermost", lambda controller: law)
        monkeypatch.setattr(hypotheses, "measured", lambda run, stated: stated)
        return hypotheses.check_hypotheses(claim, run)

    whole = asked(made(True), made(True))
    assert (
        whole.holds is True and whole.claim.endswith("2 of 2 met") and len(whole.assumptions) == 2
    )
    for bad, word in ((None, "not known"), (False, "not met")):
        found = asked(made(True), made(bad, "so"))
        assert found.holds is bad and found.strength == (None if bad is None else "sampled")
        assert found.claim.endswith("1 of 2 met")
        assert found.worst == f"{word}: hso (so)" and found.assumptions == ()
        assert found.data["met"] == 1 and found.data["of"] == 2 and found.counted is False
    both = asked(made(None, "maybe"), made(False, "no"))
    assert both.holds is False and both.worst == "not met: hno (no); not known: hmaybe (maybe)"


# ---- a metered section ------------------------------------------------------------
METERED = {
    "ẋ c": [0.01, 0, 0, 0],
    "Δẋ c": [0.0, 0.02, 0, 0],
    "x c": [0.2] * 4,
    "room c": [0.3] * 4,
    "inverse c": [0.2, -0.9, 0.5, 0],
    "push c": [5e5, 2e5, 3e5, 4e5],
    "inside c": [1e5, 2e5, 3e5, 0.5e5],
}


def metered(damping=3.0, high=1.0, **changes):
    drive = SimpleNamespace(
        friction=CoulombViscous(), range=(0.0, high), damping=damping, stiffness=2.0
    )
    part = SimpleNamespace(label="c", drive=drive, Kk_f=2.0)
    run = ran({**METERED, **{f"{k} c": v for k, v in changes.items()}})
    return list(metered_section_ledger.hypotheses(part, run, drive))


def test_what_a_metered_section_takes_for_granted():
    found = metered()
    assert [a.holds for a in found] == [True] * 6
    friction, stroke, damped, opened, push, inside = found
    assert friction.worst.endswith("up to 0.02 m/s") and stroke.margin == pytest.approx(0.2)
    assert damped.margin == pytest.approx(4.0 - 3.0) and damped.unit == "1"
    assert opened.margin == pytest.approx(0.1) and opened.worst == "asks for 0.9 at t = 0.50 s"
    assert push.margin == 2e5 and push.worst == "2 bar left at t = 0.50 s"
    assert inside.margin == 0.5e5 and inside.worst == "0.5 bar left at t = 1.50 s"
    assert len(metered(high=np.inf)) == 5  # no stroke without an end


@pytest.mark.parametrize(
    "changes, which",
    [
        ({"damping": 4.001}, 2),
        ({"inverse": [0, 0, -1.001, 0]}, 3),
        ({"push": [1, 1, 0.0, 1]}, 4),
        ({"inside": [1, 1, 1, -1]}, 5),
        ({"room": [1, 1, 1, 0.0]}, 1),
    ],
)
def test_each_hypothesis_of_a_metered_section_may_fail_alone(changes, which):
    assert [i for i, a in enumerate(metered(**changes)) if a.holds is not True] == [which]


def test_edges_of_a_metered_section():
    assert (
        metered(damping=4.0)[2].holds is True and metered(inverse=[1.0, 0, 0, 0])[3].holds is True
    )
    none = metered(inverse=[metered_section_ledger.MOST, 0, 0, 0])[3]
    assert none.worst == "no opening does it at t = 0.00 s" and none.holds is False
