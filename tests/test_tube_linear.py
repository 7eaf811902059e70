"""The claim tube on a linear sampled loop: starts of any width are held, at rest and late; no unstable loop is."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.test_tube import Integral, Throttled
from workbench import ClosedLoop, Delayed, Sampled, Scenario
from workbench.contract.errors import InputError
from workbench.run.reference import Hold
from workbench.verification import claims as C
from workbench.verification.run import run
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.claim_settings import widths
from workbench.verification.tube.end import narrowed
from workbench.verification.tube.posed import repeats

STEP = Scenario(reference=Hold("output", (0.1,)), duration=0.6)
WIDE = C.Tube(starts={"p": 1e4, "y": 1e4}, substeps=1)


@dataclass(frozen=True)
class Lag(Throttled):
    """ṗ = u − k p, ẏ = p − b y."""

    def rhs(self, t, x, u):
        return [u[0] - self.k * x[0], x[0] - self.b * x[1]]


def late(delay, law=None, T=0.01, capacity=2):
    held = Sampled(law or Integral(T=T), T)
    return ClosedLoop(Lag(), Delayed(held, delay=delay, capacity=capacity) if delay else held)


def asked(system, claim=WIDE):
    return check_tube(claim, run(system, STEP))


@pytest.mark.parametrize("delay", (0.0, 0.013))
def test_a_linear_loop_at_rest_is_held_from_starts_of_any_width(delay):
    verdict = asked(late(delay))
    assert verdict.holds and verdict.strength == "proof" and verdict.data["ends"] == "rest"
    assert verdict.margin > 0.5


@pytest.mark.parametrize(
    "system",
    (
        late(0.0, Integral(K=1500.0)),
        late(0.0, Integral(K=-16.0)),
        late(0.045, Integral(K=250.0), capacity=5),
    ),
)
def test_an_unstable_linear_loop_is_not(system):
    verdict = asked(system, replace(WIDE, starts={"p": 1e-6}))
    assert verdict.holds is None and verdict.worst


def test_a_mode_too_fast_for_any_step_is_held_too():
    verdict = asked(ClosedLoop(Lag(k=9e4, b=3.0), Sampled(Integral(K=9e4, K_i=5e4), 0.01)))
    assert verdict.holds and verdict.strength == "proof"


def test_a_wrong_sign_behind_a_fast_mode_is_not():
    verdict = asked(
        ClosedLoop(Lag(k=9e4, b=3.0), Sampled(Integral(K=-9e4, K_i=5e4), 0.01)),
        replace(WIDE, starts={"p": 1e-6}),
    )
    assert verdict.holds is None and verdict.worst


def test_a_tube_up_to_the_end_of_a_run_says_something_of_stability_only_where_it_is_narrower_there():
    states, section = ("p", "I", "y"), np.array([0, 2])
    closer = np.array([[3.0, 2.0], [9.0, 1.0], [2.9, 1.9]])
    assert narrowed(states, section, closer) == []
    (why,) = narrowed(states, section, np.array([[3.0, 2.0], [1.0, 2.0]]))
    assert "beginning in y: make the run longer" in why
    assert narrowed(states, section, np.array([[3.0, 2.0], [1.0, np.nan]]))
    nowhere = np.array([[3.0, 1e-200], [4.0, 1.0], [1.0, 0.3]])
    assert narrowed(states, section, nowhere) == []
    assert narrowed(states, section, np.vstack([nowhere, [2.0, 0.6]]))


def test_starts_without_a_width_are_refused():
    with pytest.raises(InputError, match="starts: no state may start elsewhere"):
        widths(replace(WIDE, starts={"p": 0.0}), late(0.0))


def test_what_repeats_is_seen_twice():
    lap = np.sin(np.arange(180) ** 2 * 1e-2)[:, None]
    assert repeats(np.tile(lap, (4, 1)), np.ones(1)) == 180
    part = np.concatenate([lap[:100] + 3.0, lap, lap[:120]])  # two thirds of it come again
    assert repeats(part, np.ones(1)) == 0
