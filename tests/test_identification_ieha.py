"""Identification of the actuator on its own test bench, held against its linearisation and the published form."""

import numpy as np
import pytest

from plants.ieha.actuator import IEHA
from workbench import Scenario, linearize, simulate
from workbench.identification import Chirp, Record, Shape, Step, fit


@pytest.fixture(scope="module")
def plant():
    return IEHA()


def bench(plant, length, X=0.0, F=0.0):
    log = simulate(
        plant, Scenario(duration=length, disturbances={"X": X, "F_ext": F}, log_period=1e-3)
    )
    assert log.status.completed
    return Record.from_log(log, ["X", "F_ext"], ["Y"])


def linearised(plant, X, which):
    """K and Σλ of Ẏ = C (s − A)⁻¹ B where a constant X keeps the plant."""
    log = simulate(
        plant, Scenario(duration=0.6, disturbances={"X": X, "F_ext": 0.0}, log_period=1e-3)
    )
    found = linearize(plant, x=[log.array(s.name)[-1] for s in plant.states], u=[X, 0.0])
    keep = [i for i, s in enumerate(plant.states) if s.name != "Y"]
    A, B = np.asarray(found.A)[np.ix_(keep, keep)], np.asarray(found.B)[keep, which]
    one = np.linalg.solve(A, B)
    return -one[-1], -np.linalg.solve(A, one)[-1] / one[-1]


def test_gain_and_sum_of_lags(plant):
    records = [
        bench(plant, 0.8, Step("output", 4e-4, 0.1)),
        bench(plant, 5.0, Chirp("output", 4e-4, length=5.0, phase=np.pi / 2, logarithmic=True)),
    ]
    made = fit(records, Shape("X", 4, 0, 1), "Y", weights="noise")
    K, lag = linearised(plant, 4e-4, 0)
    assert made["K_X"].value == pytest.approx(K, rel=2e-3) and made["K_X"].value == pytest.approx(
        125.2, rel=5e-3
    )
    assert made["Σλ_X"].value == pytest.approx(lag, rel=0.03) and made["Σλ_X"].identified
    assert made["ω_X"].value == pytest.approx(614.0, rel=0.01)  # the load on the oil
    assert min(made.percent) > 99.9


def test_what_a_force_does(plant):
    """(28) leaves λ′ open; with the oil's elasticity in the model K′ is that of the linearised plant."""
    r = bench(plant, 2.0, 1e-4, Step("output", 500.0, 0.4))
    alone = Record(r.t, r.input("F_ext"), r.output("Y"), r.inputs[1:], r.outputs, start=250)
    published, elastic = (
        fit(alone, Shape("F_ext", 2, 0, 1), trend=True),
        fit(alone, Shape("F_ext", 4, 3, 1), trend=True),
    )
    assert not published["a_1_F_ext"].identified and any(
        "not identified" in n for n in published.notes
    )
    K, lag = linearised(plant, 1e-4, 1)
    assert K < 0 and lag < 0  # the elastic step is ahead of the creep: no lag λ′ > 0 describes it
    assert elastic["K_F_ext"].value == pytest.approx(K, rel=2e-3) and elastic.percent[0] > 99.9
    assert elastic.percent[0] > published.percent[0] + 20
