"""A run that diverges: its numbers overflow, its status says so, and nobody is warned of it."""

import math
import warnings

import numpy as np
import pytest

from controllers import PID
from workbench import ClosedLoop, Sampled, Scenario, simulate
from workbench.interop.linear_plant import LinearPlant
from workbench.numerics.overflow import may_overflow
from workbench.run import metrics
from workbench.verification import default_claims
from workbench.verification.cause import badness
from workbench.verification.judge import examine
from workbench.verification.results.analysis import statistics
from workbench.verification.results.model import _point
from workbench.verification.run import Run

RATE = 2000.0  # 1/s: e^(2000 t) leaves the floating-point numbers after 0.35 s


@pytest.fixture(scope="module", params=[1e5, 1e300])
def wild(request):
    """ẍ = 10 ẋ + 4e6 x beside a position loop far too weak for it; commands up to 1e5 or 1e300."""
    plant = LinearPlant(
        (0.0, 1.0, RATE**2, 10.0), (0.0, 1.0), (1.0, 0.0), ("x", "v"), ("u",), ("y",)
    )
    settings = {"K_v": (0.0,), "feed": "none", "damping": "none", "u_max": request.param}
    law = PID(model=plant, K_p=(1.0,), K_i=(1.0,), **settings)
    loop = ClosedLoop(plant, Sampled(law, 1e-3))
    scenario = Scenario(duration=1.0, offset={"x": 1e-3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = simulate(loop, scenario)
    return Run(loop, scenario, log)


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def test_the_run_says_that_it_diverged(wild):
    assert not wild.log.status.completed and "diverged" in wild.log.status.message
    assert np.nanmax(np.abs(wild.log.values)) > 1e290


def test_statistics_are_infinite_and_say_nothing_else(wild):
    found = statistics(wild)
    norms = [value for name, (value, _) in found.items() if "L2" in name or "rms" in name]
    assert norms and all(value == math.inf for value in norms)


def test_causes_and_models_are_looked_for_as_in_any_run(wild):
    assert all(math.isfinite(part) for part in badness.parts(wild))
    assert badness.badness(wild) > 5.0  # of a run that did not end
    x, u, words = _point(wild, ())
    assert np.isfinite([*x, *u]).all() and "in the run" in words


def test_a_study_of_it_is_violated_without_a_warning(wild):
    claims = [
        c
        for c in default_claims(wild.loop, wild.scenario)
        if type(c).__name__ in ("Tracking", "Settled", "LinearStability")
    ]
    verdicts = examine(wild.loop, wild.scenario, claims).verdicts
    assert verdicts and all(v.holds is False for v in verdicts)


def test_metrics_of_numbers_that_overflow():
    t = np.array([0.0, 1.0, 2.0])
    assert metrics.l2_norm(t, [1e200, 1e300, 1e308]) == math.inf
    assert metrics.linf_norm([[1e300, 1e300], [3.0, 4.0]]) == math.inf
    assert math.isnan(metrics.rms(t, [math.inf, -math.inf, math.nan]))
    assert metrics.l2_norm(t, [3.0, 3.0, 3.0]) == pytest.approx(3.0 * math.sqrt(2.0), rel=1e-15)


def test_elsewhere_an_overflow_is_still_told():
    large = np.array([1e300])
    with may_overflow():
        assert large * large == math.inf
    with pytest.raises(RuntimeWarning, match="overflow"):
        large * large
