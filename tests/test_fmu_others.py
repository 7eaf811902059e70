"""FMUs of others: the Reference FMUs, held against closed forms, and one of pythonfmu; skipped where there are none.

The Reference FMUs (github.com/modelica/Reference-FMUs) are looked for in the folder that REFERENCE_FMUS names, below 2.0 and 3.0
as in their releases.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fmpy")
from workbench import FMU, ClosedLoop, InputError, Plain, Sampled, Scenario, linearize, simulate  # noqa: E402

FOLDER = os.environ.get("REFERENCE_FMUS", "")
reference = pytest.mark.skipif(
    not FOLDER, reason="REFERENCE_FMUS names no folder of Reference FMUs"
)
EXCHANGE, STEPPED = "model-exchange", "co-simulation"


def unit(version, name, kind, **given):
    return FMU(Path(FOLDER) / f"{version}.0" / f"{name}.fmu", trust=True, interface=kind, **given)


@reference
@pytest.mark.parametrize("version", [2, 3])
def test_decay_by_our_own_steps_and_by_its(version):
    given = {"parameters": {"k": 2.0}}
    log = simulate(unit(version, "Dahlquist", EXCHANGE, **given), Scenario(1.0, max_step=1e-2))
    assert log.array("x") == pytest.approx(np.exp(-2.0 * log.time), rel=1e-8)
    its = unit(version, "Dahlquist", STEPPED, **given)
    log = simulate(its, Scenario(1.0, max_step=0.1))
    # Its own method is Euler's, in steps of 0.1 s.
    assert log.array("x") == pytest.approx(0.8 ** np.arange(len(log)), rel=1e-9)
    if version == 3:
        with pytest.raises(InputError, match="takes steps of 0.1 s of its own"):
            simulate(its, Scenario(1.0, max_step=0.13))


@reference
@pytest.mark.parametrize("version", [2, 3])
def test_a_ball_bounces_when_it_reaches_the_ground(version):
    log = simulate(unit(version, "BouncingBall", EXCHANGE), Scenario(1.05, max_step=1e-2))
    falls = np.sqrt(2 / 9.81)
    rises = 0.7 * 9.81 * falls
    since = log.time - falls
    expected = np.where(since < 0, 1 - 9.81 * log.time**2 / 2, rises * since - 9.81 * since**2 / 2)
    assert log.time[-1] < falls + 2 * rises / 9.81
    assert np.abs(log.array("h") - expected).max() < 1e-9


@reference
@pytest.mark.parametrize("version", [2, 3])
def test_time_events_and_types_of_variables(version):
    stairs = simulate(unit(version, "Stair", EXCHANGE), Scenario(3.5, max_step=1e-2))
    seconds = np.abs(stairs.time - np.round(stairs.time)) > 1e-6
    assert np.array_equal(stairs.array("counter")[seconds], 1 + np.floor(stairs.time[seconds]))
    through = ["Float64_continuous_input", "Float64_discrete_input"]
    connect = {"inputs": through, "outputs": [n.replace("input", "output") for n in through]}
    model = unit(version, "Feedthrough", EXCHANGE, connect=connect)
    measured = tuple(connect["outputs"])
    law = Plain(lambda t, y, r: [t, 2 * t], measured=measured, commands=tuple(through))
    log = simulate(ClosedLoop(model, Sampled(law, 0.1)), Scenario(1.0, max_step=0.1))
    assert log.array(measured[0]) == pytest.approx(log.time)
    assert log.array(measured[1]) == pytest.approx(2 * log.time)


@reference
@pytest.mark.parametrize("version", [2, 3])
def test_an_oscillator_near_a_point(version):
    found = linearize(unit(version, "VanDerPol", EXCHANGE, parameters={"mu": 3.0}), [0.5, -0.7])
    assert found.A == pytest.approx(np.array([[0, 1], [2 * 3 * 0.5 * 0.7 - 1, 3 * (1 - 0.25)]]))


@reference
def test_what_cannot_be_wired_is_refused():
    with pytest.raises(InputError, match="'x' is an array"):
        unit(3, "StateSpace", EXCHANGE)
    with pytest.raises(InputError, match="neither co-simulation nor model exchange"):
        unit(3, "Clocks", None)


CART = """\
from pythonfmu import Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Real

class Cart(Fmi2Slave):
    def __init__(self, **given):
        super().__init__(**given)
        self.u = self.q = self.v = 0.0
        moves = {"variability": Fmi2Variability.continuous}
        self.register_variable(Real("u", causality=Fmi2Causality.input, **moves))
        for name in ("q", "v"):
            starts = {"initial": Fmi2Initial.exact, "start": 0.0}
            self.register_variable(Real(name, causality=Fmi2Causality.output, **moves, **starts))

    def do_step(self, t, h):
        self.q += h * self.v
        self.v += h * (self.u - 2.0 * self.q - self.v)
        return True
"""


def test_a_plant_written_in_python_by_others_tools(tmp_path):
    pytest.importorskip("pythonfmu")
    (tmp_path / "cart.py").write_text(CART)
    build = [sys.executable, "-m", "pythonfmu", "build", "-f", "cart.py"]
    subprocess.run(build, cwd=tmp_path, check=True)
    cart = FMU(tmp_path / "Cart.fmu", trust=True, connect={"states": ["q", "v"]})
    log = simulate(cart, Scenario(0.5, max_step=1e-2, offset={"q": 0.3}))
    q, v = 0.3, 0.0
    for row in log.array("q"):
        assert row == pytest.approx(q, rel=1e-12)
        q += 1e-2 * v
        v += 1e-2 * (-2 * q - v)
