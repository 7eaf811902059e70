"""Numbers of a tuning by themselves: what a relay's cycle says, first guesses, noise gains, the table that is shown."""

import cmath
import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import tuned_file
from controllers.pid.law import PID
from controllers.pid_tuning import command, experiment, search
from controllers.pid_tuning.oscillation import LimitCycle
from controllers.pid_tuning.record import Actuator
from plants import LinearActuator
from workbench import ClosedLoop, Sampled
from workbench.contract.errors import InputError
from workbench.contract.system import Signal, innermost

PLANT = LinearActuator()
LAW = PID(PLANT, **PID.suited(PLANT))
FOUND = LimitCycle(
    True, "", False, (), 0.5, 0.4, 3.0, 0.7, False, 3.0 * cmath.exp(0.3j), 2.0 * cmath.exp(-0.1j)
)


# ---- the relay -----------------------------------------------------------------------------------------------------------------
def told(found=FOUND, ε=1.8, completed=True):
    law = SimpleNamespace(d=1.2, ε=ε, bias=0.1)
    loop = SimpleNamespace(controller=SimpleNamespace(inner=None), period=1e-2)
    log = SimpleNamespace(status=SimpleNamespace(completed=completed, message="diverged: Y"))
    with pytest.MonkeyPatch.context() as m:
        m.setattr(experiment, "innermost", lambda controller: law)
        return experiment._experiment(found, loop, log, Signal("Y", "m"), Signal("X", "m"))


def test_what_a_relays_cycle_says_of_the_critical_gain():
    """K_u = 4 d sin(π T₊/T_u)/(π √(a² − ε²)), with a = 3, ε = 1.8: √ = 2.4; G = −e₁/u₁."""
    one = told()
    assert one.settled and one.why == "" and (one.output, one.command) == ("Y", "X")
    assert one.K_u == pytest.approx(4 * 1.2 * math.sin(0.4 * math.pi) / (math.pi * 2.4))
    assert (one.T_u, one.amplitude, one.mean) == (0.5, 3.0, 0.7)
    assert one.ω == pytest.approx(4 * math.pi) and one.resolution == pytest.approx(0.02)
    assert one.response == pytest.approx(-1.5 * cmath.exp(0.4j)) and one.symmetric is False
    assert (one.d, one.ε, one.bias, one.T_s) == (1.2, 1.8, 0.1, 1e-2)


@pytest.mark.parametrize("ε, settled", [(0.0, True), (2.93, True), (2.95, False), (4.0, False)])
def test_an_amplitude_that_is_the_hysteresis_itself_says_nothing(ε, settled):
    """Two percent above it at least."""
    one = told(ε=ε)
    assert one.settled is settled
    if not settled:
        assert "the error's amplitude, 3, is the hysteresis itself" in one.why
        assert one.K_u is None


def test_a_cycle_that_did_not_settle_or_a_run_that_ended():
    one = told(LimitCycle(False, "never switched"))
    assert not one.settled and one.why == "never switched" and one.K_u is None
    gone = told(completed=False)
    assert not gone.settled and gone.why == "diverged: Y"


def relay_loop(system=PLANT, amplitude=None, bias=0.0, **more):
    begin = experiment._begin(PLANT, more.pop("at", {}))
    given = {"hysteresis": 0.0, "command": "", "output": "", "T_s": 2e-3} | more
    return experiment._relay_loop(
        system,
        amplitude,
        given["hysteresis"],
        bias,
        given["command"],
        given["output"],
        given["T_s"],
        begin,
    )


def test_the_relay_in_the_place_of_one_pid():
    """A tenth of the limit by default, of the plant's or of the law's own; K_p, K_i and K_d of that command are 0."""
    loop, y, u = relay_loop()
    made = innermost(loop.controller)
    assert made.d == pytest.approx(0.1 * PLANT.X_max) and loop.period == 2e-3
    assert (y.name, u.name) == (PLANT.outputs[0].name, "X") and made.base.held == (0.0,)
    law = PID(PLANT, **{**PID.suited(PLANT), "u_max": 0.5 * PLANT.X_max})
    loop, y, u = relay_loop(ClosedLoop(PLANT, Sampled(law, 5e-3)))
    made = innermost(loop.controller)
    assert made.d == pytest.approx(0.05 * PLANT.X_max) and loop.period == 5e-3
    assert made.base.K_p == made.base.K_i == (0.0,) and y.name == law.measured[0].name
    assert inspect.signature(experiment.relay).parameters["T_s"].default == 1e-3
    offset = relay_loop(at={"Y": "2 mm"}, output="Y")[0]
    assert innermost(offset.controller).y_0 == pytest.approx(2e-3)


def test_an_amplitude_stays_within_the_limit():
    top = PLANT.X_max
    assert relay_loop(amplitude=0.75 * top, bias=-0.25 * top)
    for amplitude, bias in ((0.8, 0.25), (0.8, -0.25), (1.1, 0.0)):
        with pytest.raises(InputError, match="leave the limit of X"):
            relay_loop(amplitude=amplitude * top, bias=bias * top)
    with pytest.raises(InputError, match="amplitude"):
        relay_loop(amplitude=0.0)
    with pytest.raises(InputError, match="continuous"):
        relay_loop(ClosedLoop(PLANT, LAW))


@pytest.mark.parametrize(
    "settled, runs",
    [
        ([False, False, True, True], [400, 800, 1600, 3200]),
        ([True, True], [400, 800]),
        ([False] * 12, [400 * 2**k for k in range(8)] + [100_000]),
    ],
)
def test_runs_of_a_relay_until_a_cycle_settles_twice(monkeypatch, settled, runs):
    asked, said = [], iter(settled)
    log = SimpleNamespace(
        time=None, array=lambda name: None, status=SimpleNamespace(completed=True, message="")
    )

    def simulate(loop, scenario):
        asked.append(round(scenario.duration / 1e-3))
        assert scenario.max_step <= 1e-3
        return log

    monkeypatch.setattr(experiment, "simulate", simulate)
    monkeypatch.setattr(
        experiment,
        "limit_cycle",
        lambda *given: SimpleNamespace(settled=next(said), hopeless=False),
    )
    monkeypatch.setattr(experiment, "_experiment", lambda *given: None)
    experiment.relay(PLANT)
    assert asked == runs


def test_a_relay_runs_no_longer_than_it_may(monkeypatch):
    asked = []
    log = SimpleNamespace(
        time=None, array=lambda name: None, status=SimpleNamespace(completed=True, message="")
    )
    monkeypatch.setattr(
        experiment, "simulate", lambda loop, s: asked.append(round(s.duration / 1e-3)) or log
    )
    lost = SimpleNamespace(settled=False, hopeless=False)
    monkeypatch.setattr(experiment, "limit_cycle", lambda *given: lost)
    monkeypatch.setattr(experiment, "_experiment", lambda *given: None)
    experiment.relay(PLANT, longest=1.0)
    assert asked == [400, 800, 1000]
    asked.clear()
    experiment.relay(PLANT, longest=0.1)
    assert asked == [400]  # at least the first run
    asked.clear()
    lost.hopeless = True
    experiment.relay(PLANT)
    assert asked == [400]


# ---- the search ----------------------------------------------------------------------------------------------------------------
def test_frequencies_a_program_begins_with():
    """Five decades up to just below half the sampling rate."""
    found = search._guides(2e-3, 7)
    assert len(found) == 7 and found[0] == pytest.approx(1e-5 * math.pi / 2e-3)
    assert found[-1] == pytest.approx(0.999 * math.pi / 2e-3)
    assert np.diff(np.log(found)) == pytest.approx([math.log(99900) / 6] * 6)


def test_first_guesses_of_gains():
    """K_p = 0.7/|G|, K_i = K_p ω/20, K_d = damped K_p/ω."""
    found = search._guess(("K_i", "K_p", "K_d"), 0.35, 40.0, 2.0)
    assert found == pytest.approx([4.0, 2.0, 0.1])
    assert search._guess(("K_i", "K_d"), 0.35, 40.0, 2.0) == pytest.approx([2.0, 0.2])
    assert search._guess(("K_p",), 0.0, 40.0, 2.0)[0] > 1e299


def test_gains_are_made_quieter_where_they_would_be_too_loud():
    K = np.array([3.0, 1.0])
    assert search._quieter(K, None) is K
    assert search._quieter(K, (np.array([1.0, 2.0]), 10.0)) == pytest.approx(K)
    assert search._quieter(K, (np.array([1.0, 2.0]), 2.5)) == pytest.approx(0.45 * K)
    assert search._quieter(0 * K, (np.array([1.0, 2.0]), 2.5)) == pytest.approx(0 * K)


def test_what_a_noise_gain_leaves_for_the_free_gains():
    """K_p + 2 K_d/(2 τ + T): what stays is taken off, a ten-thousandth is kept for rounding."""
    law = PID(PLANT, **{**PID.suited(PLANT), "K_p": (5.0,), "K_d": (0.03,), "τ": 4e-3})
    loop = ClosedLoop(PLANT, Sampled(law, 2e-3))
    weight = 2 / (2 * 4e-3 + 2e-3)
    h, left = search._noise(loop, 0, ("K_i", "K_p"), 40.0)
    assert h.tolist() == [0.0, 1.0] and left == pytest.approx(40 * (1 - 1e-4) - 0.03 * weight)
    h, left = search._noise(loop, 0, ("K_d",), 40.0)
    assert h == pytest.approx([weight]) and left == pytest.approx(40 * (1 - 1e-4) - 5.0)
    assert search._noise(loop, 0, ("K_p",), None) is None
    for limit in (5.0, 4.0):
        with pytest.raises(InputError, match="use 5 already"):
            search._noise(loop, 0, ("K_i", "K_d"), limit)


def test_a_command_without_effect_is_refused():
    law = SimpleNamespace(u_max=10.0)
    search._refuse_deaf(np.array([0.0, 1.1e-13]), "u", law)
    with pytest.raises(InputError, match="u has no effect"):
        search._refuse_deaf(np.array([0.0, 0.9e-13]), "u", law)


# ---- the table -----------------------------------------------------------------------------------------------------------------
UNITS = {"K_p": "1/s", "K_i": "1/s^2", "K_d": "1"}


def row(**changes):
    own = {
        "command": "X",
        "gains": {"K_p": 2.0, "K_i": 0.0, "K_d": 0.25},
        "disk": 0.61234,
        "gain_down": 0.1,
        "gain_up": 3.4567,
        "phase": math.pi / 5,
        "delay": 2e-3,
        "crossover": 12.0,
        "bandwidth": 20.0,
        "M_s": 1.4142,
        "M_t": 1.1,
        "noise": 0.0,
    }
    return command._row(Actuator(**(own | changes)), UNITS)


def test_a_row_of_the_table():
    found = row()
    assert len(found) == len(command.HEAD) and found[0] == "X"
    assert found[1].startswith("2 ") and found[2] == "–" and found[3].startswith("0.25")
    assert found[4:7] == ("0.612", "× 0.1 … 3.46", "36°")
    assert found[7] == "2 ms" and found[10:] == ("1.41", "1.1")
    lost = row(disk=0.0)
    assert len(lost) == len(command.HEAD) and lost[4:] == ("none", *["–"] * 7)


def test_points_on_the_command_line():
    assert command._at(["E=0.1mm", "X==2"]) == {"E": "0.1mm", "X": "=2"}
    for bad in ("E", "=2", "E="):
        with pytest.raises(InputError, match="expected NAME=VALUE"):
            command._at([bad])


def test_numbers_as_a_file_has_them():
    assert tuned_file._yaml(0.1, "1/s") == "0.1 1/s" and tuned_file._yaml(0, "1/s") == 0.0
    assert tuned_file._yaml(2.5, "1") == 2.5 and tuned_file._yaml((0.5,), "m") == "0.5 m"
    assert tuned_file._yaml((0.5, 0.0), "m") == ["0.5 m", 0.0]
