"""A terminal set whose states differ in size by millions is proven kept: its multipliers are balanced to rounding."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.cases.file import loads
from workbench.contract.system import innermost
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.predictive.terminal_claims import terminal_set
from workbench.verification.rigorous import exact

CASE = """
plant:
  type: LinearActuator
  name: slow
  K: 55 1/s
  λ_1: 5 ms
  λ_2: 2 ms
  λ_3: 0.7 ms
  K_F: -2e-5
  λ_F: 1 ms
  X_max: 0.8 mm
  measured: states
controller: {law: MPC, horizon: 25, Q: 1, R: 0.1, S: 1, preview: 0, terminal: set, room: 0.5}
loop: {sample_time: 2 ms}
scenario: {reference: {type: Hold, space: output, point: [2 mm]}, duration: 0.5 s}
"""


@pytest.fixture(scope="module")
def case():
    return loads(CASE, "slow.yaml")


def ingredients(case):
    found = innermost(case.loop.controller).law.ingredients(np.array([2e-3]))
    return next(one for one in found if hasattr(one, "H"))


def test_the_loop_is_proven_stable(case):
    (found,) = verify(case.loop, case.scenario, [C.MPCStability()])
    assert found.holds is True and found.strength == "proof", found.worst


def test_a_solver_s_multipliers_alone_do_not_prove_it(case, monkeypatch):
    """They are balanced to 1e-7; times a radius of 1e6 that is a tenth of the limit."""
    parts = ingredients(case)
    proven, duals = terminal_set(parts)
    assert proven.holds is True and 0 < proven.margin < 1e-4
    for y in duals["kept"]:
        assert (np.asarray(y) >= 0).all()
    monkeypatch.setattr(exact, "_balanced", lambda y, c, H: y)
    alone, _ = terminal_set(parts)
    assert alone.holds is None and "is not shown kept" in alone.worst


def test_a_set_that_is_not_kept_is_still_refused(case):
    """Its first side moved in by a tenth: a state of the set leaves it within a sample."""
    parts = ingredients(case)
    h = np.array(parts.h, float)
    h[0] *= 0.9
    found, _ = terminal_set(replace(parts, h=h))
    assert found.holds is False, found.worst
