"""A hypothesis fails where the perturbation that quantifies it is not zero, whatever the configuration says."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import CRANE, PATH, continuous

from controllers.force_position import ForcePosition
from controllers.vdc import VDC
from plants import FourBar, MeteredCrane
from plants.crane.load_sensing import LoadSensed
from workbench import ClosedLoop, Hold, Scenario
from workbench.verification import claims as C
from workbench.verification.hypotheses import check_hypotheses
from workbench.verification.ledger import balance as ledger
from workbench.verification.ledger.measured import excesses
from workbench.verification.run import Run, run
from workbench.verification.scales import power_floor

pytestmark = pytest.mark.usefixtures("plain_code")

SHORT = Scenario(reference=PATH, duration=0.3, offset={"q_1": 0.003})
METERED = MeteredCrane(CRANE)
BARS = FourBar()
CRANK = Scenario(reference=Hold("joint", (BARS.z_10 + 0.02,)), duration=0.1)
TRUE, SEEN = "the controller's model is the plant", "true states measured"


class Backwards(VDC):
    """The derivative of the required force with the wrong sign."""

    def sought(self, z, y, r, f_pr_rate=None):
        turned = None if f_pr_rate is None else [-v for v in f_pr_rate]
        return super().sought(z, y, r, turned)

    def _rate(self, *given):
        return [-v for v in super()._rate(*given)]


class Louder(VDC):
    """Openings a fifth larger than what the law has found."""

    def command(self, t, z, y, r):
        return [1.2 * u for u in super().command(t, z, y, r)]


class LouderCrank(ForcePosition):
    """The same on the four-bar."""

    def command(self, t, z, y, r):
        return [1.2 * u for u in super().command(t, z, y, r)]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """No compiler for ledgers of a few hundred states."""
    monkeypatch.setattr("workbench.numerics.c_code.library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})


def answers(r):
    """Text → holds, and the words, of every hypothesis."""
    found = check_hypotheses(C.Hypotheses(), r).data["assumptions"]
    return {a["text"]: a["holds"] for a in found}, {a["text"]: a["worst"] for a in found}


@pytest.mark.parametrize(
    "plant, sound, faulty, scenario, text, term",
    [
        (CRANE, VDC(model=CRANE), Backwards(model=CRANE), SHORT, TRUE, "parameters of actuator"),
        (METERED, VDC(METERED), Louder(METERED), SHORT, SEEN, "measurement of actuator"),
        (BARS, ForcePosition(BARS), LouderCrank(BARS), CRANK, SEEN, "measurement of actuator c"),
    ],
    ids=["VDC", "metered", "ForcePosition"],
)
def test_a_law_that_is_not_the_one_of_its_ledger_meets_no_hypothesis_about_it(
    plant, sound, faulty, scenario, text, term
):
    held, _ = answers(run(ClosedLoop(plant, sound), scenario, compiled=False))
    missed, words = answers(run(ClosedLoop(plant, faulty), scenario, compiled=False))
    assert held[text] is True and missed[text] is False and term in words[text]


def injected(r, key, size):
    """The run with `size` W added to one term at one instant, everything else as it was."""
    b = r.balance
    values = b.perturbations[key].copy()
    values[len(values) // 2] += size
    again = Run(r.loop, r.scenario, r.log)
    again.__dict__["balance"] = replace(b, perturbations={**b.perturbations, key: values})
    return again


LOOPS = {
    "VDC": (continuous(CRANE), SHORT),
    "metered": (ClosedLoop(METERED, VDC(METERED)), SHORT),
    "ForcePosition": (ClosedLoop(BARS, ForcePosition(BARS)), CRANK),
}
SPOKEN = {
    "model": TRUE,
    "parameters": TRUE,
    "derivative": "ḟ_pr exact along the true motion",
    "measurement": SEEN,
    "hold": "continuous law, no hold",
    "friction": "friction of cylinder",
    "saturation": "within ±",
    "valve inverse": "within ±",
    "valve": "valves without lag",
    "pump": "pump's pressure moves",
    "spool": "valve of c without lag",
    "throttle": "no oil between valve and throttle",
}


@pytest.mark.parametrize("name", LOOPS)
def test_every_term_of_every_ledger_fails_the_hypothesis_that_speaks_of_it_alone(name):
    loop, scenario = LOOPS[name]
    r = run(loop, scenario, compiled=False)
    before, _ = answers(r)
    for key in r.balance.perturbations:
        after, words = answers(injected(r, key, 3.0))
        changed = {text for text in after if after[text] != before.get(text)}
        expected = SPOKEN[key[2]]
        if any(expected in text and holds is False for text, holds in before.items()):
            assert not changed, (
                key
            )  # the spool and the throttle of the four-bar, which are always there
        else:
            (text,) = changed
            assert expected in text and key[1] in words[text] and after[text] is False, key
        # Another sign is no less a perturbation, but friction takes power by right.
        signed, _ = answers(injected(r, key, -3.0))
        assert {t for t in signed if signed[t] != before.get(t)} == (
            set() if key[2] == "friction" else changed
        ), key
        assert answers(injected(r, key, 0.1 * power_floor(r)))[0] == before


@pytest.mark.quick
def test_a_perturbation_nobody_speaks_of_gets_a_hypothesis_of_its_own():
    r = run(*LOOPS["VDC"], compiled=False)
    b, key = r.balance, ("lift", "actuator 1", "ghost")
    r.__dict__["balance"] = replace(
        b, perturbations={**b.perturbations, key: np.full(len(b.t), 2.0)}
    )
    found, words = answers(r)
    assert (
        found["no ghost term in the ledger"] is False
        and "actuator 1" in words["no ghost term in the ledger"]
    )


def test_nothing_is_measured_on_a_sound_run_and_overflow_is_not_a_perturbation():
    for loop, scenario in (LOOPS["VDC"], LOOPS["metered"]):
        r = run(loop, scenario, compiled=False)
        assert not excesses(r)
        b = r.balance
        r.__dict__["balance"] = replace(
            b, perturbations={k: np.full_like(v, np.nan) for k, v in b.perturbations.items()}
        )
        assert not excesses(r)


def test_a_law_that_is_not_told_its_supply_is_measured_too():
    """Load sensing: the supply moves, the law takes it to be constant."""
    pump = LoadSensed(CRANE)
    r = run(ClosedLoop(pump, VDC(model=CRANE)), replace(SHORT, offset={}), compiled=False)
    held, words = answers(r)
    assert held["the law is told the supply pressure"] is False and held[SEEN] is True
