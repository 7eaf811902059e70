"""Plants that are Python on floats, as python-control gives them: the numbers of the same plant compiled."""

from dataclasses import dataclass, replace

import control
import numpy as np
import pytest
from pendulum import Pendulum

from controllers import PID
from workbench import (
    ClosedLoop,
    Controller,
    Delayed,
    Filtered,
    Hold,
    InputError,
    Sampled,
    Scenario,
    Signal,
    Sine,
    from_control,
    simulate,
    simulate_many,
    to_control,
    verify,
)
from workbench.contract.parameters import digest
from workbench.verification.claims import Tracking

OWN = Pendulum()
THEIRS = from_control(to_control(OWN))


def pid(plant):
    return PID(plant, (20.0,), (15.0,), (6.0,), feed="none", damping="none", u_max=8.0)


def proportional(t, y, r):
    return [9.0 * (r[0] - y[0]) + 0.3]


proportional.references = ("θ_d",)


@dataclass(frozen=True)
class Springy(Controller):
    """A continuous law with memory."""

    states = (Signal("z"),)
    measured = (Signal("θ", "rad"),)
    commands = (Signal("u", "N m"),)
    monitors = (Signal("seen"),)

    def command(self, t, z, y, r):
        return [-7.0 * y[0] - 2.0 * z[0]]

    def rhs(self, t, z, y, r):
        return [y[0] - 0.4 * z[0]]

    def step(self, t, z, y, r):
        return [z[0] + 0.01 * y[0]], self.command(t, z, y, r)

    def monitor(self, t, z, y, r):
        return [y[0] * z[0]]


LAWS = {
    "pid": lambda plant: Sampled(pid(plant), 5e-3),
    "late": lambda plant: Delayed(Sampled(Filtered(pid(plant), 30.0), 5e-3), 7e-3),
    "code": lambda plant: Sampled(proportional, 5e-3),
    "late code": lambda plant: Delayed(Sampled(proportional, 5e-3), 2e-3),
    "continuous": lambda plant: Springy(),
    "memory": lambda plant: Sampled(Springy(), 4e-3),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("rows", ["asked", "steps"])
def test_a_loop_runs_as_with_the_plant_compiled(law, rows):
    begin = {"offset": {"θ": 0.2, "ω": -0.5}, "max_step": 2e-3}
    path = Sine("output", (0.1,), (0.3,), 1.3)
    mine, theirs = (
        simulate(ClosedLoop(plant, law(plant)), scenario, rows=rows)
        for plant, scenario in (
            (OWN, Scenario(0.4, path, start=(0.0, 0.0), **begin)),
            (THEIRS, Scenario(0.4, path, start=(0.0, 0.0), **begin)),
        )
    )
    assert mine.names == theirs.names and len(mine) == len(theirs)
    # Between samples a law that is called has told nothing new; what moves is the same.
    kept = slice(None) if rows == "asked" else slice(len(OWN.states))
    np.testing.assert_allclose(theirs.values[:, kept], mine.values[:, kept], rtol=1e-9, atol=1e-10)
    assert np.ptp(mine.array("θ")) > 0.05 and mine.status == theirs.status


def test_alone_it_runs_as_python_control_runs_it():
    log = simulate(THEIRS, Scenario(1.0, start=(0.4, -0.3), disturbances={"u": 2.1}))
    theirs = control.input_output_response(
        THEIRS.sys,
        log.time,
        np.full((1, len(log)), 2.1),
        [0.4, -0.3],
        solve_ivp_kwargs={"rtol": 1e-11, "atol": 1e-13},
    )
    np.testing.assert_allclose(log.array("θ"), theirs.states[0], atol=1e-9)
    many = simulate_many([(THEIRS, Scenario(0.2, disturbances={"u": u})) for u in (0.3, 2.1)])
    assert many[0].array("θ")[-1] < many[1].array("θ")[-1]


def test_inputs_that_move_between_samples_reach_every_stage():
    moving = Scenario(0.4, disturbances={"u": Sine("output", (0.0,), (3.0,), 4.0)}, max_step=0.01)
    mine, theirs = (simulate(plant, replace(moving, start=(0.0, 0.0))) for plant in (OWN, THEIRS))
    np.testing.assert_allclose(theirs.array("ω"), mine.array("ω"), rtol=1e-9, atol=1e-11)


def judged(error):
    loop = ClosedLoop(THEIRS, Sampled(pid(THEIRS), 0.02))
    scenario = Scenario(1.5, Hold("output", (0.2,)), start=(0.2, 0.0), max_step=0.01)
    return verify(loop, scenario, (Tracking(error=error),))[0]


def test_a_bound_that_its_runs_keep_holds():
    assert judged(0.5).holds is True


@pytest.mark.long
def test_a_bound_that_its_runs_break_is_violated():
    assert judged(1e-6).holds is False


@pytest.mark.long
def test_the_default_claims_are_asked_and_none_drops_out():
    loop = ClosedLoop(THEIRS, Sampled(pid(THEIRS), 0.01))
    found = verify(loop, Scenario(5.0, Hold("output", (0.2,)), max_step=5e-3))
    by_name = {v.claim.split(":")[0]: v for v in found}
    assert by_name["practically stable"].holds is True
    unasked = [v for v in found if v.holds is None]
    assert unasked and all("from Python" in v.worst or "derivative" in v.worst for v in unasked)


def test_a_run_that_diverges_says_so():
    runaway = control.NonlinearIOSystem(
        lambda t, x, u, p: [x[0] * x[0] + u[0]],
        lambda t, x, u, p: [x[0]],
        inputs=["u"],
        outputs=["y"],
        states=["y"],
        name="runaway",
    )
    log = simulate(from_control(runaway), Scenario(3.0, start=(1.0,)))
    assert not log.status.completed and "diverged: y is not finite" in log.status.message
    assert log.time[-1] == pytest.approx(1.0, abs=0.01)  # ẏ = y², y(0) = 1


def test_a_function_that_fails_is_named():
    def flow(t, x, u, p):
        return [u[0]] if t < 0.1 else [u[0], 1.0]

    late = control.NonlinearIOSystem(flow, inputs=["u"], outputs=["x"], states=["x"], name="late")
    with pytest.raises(InputError, match="system late failed at t = 0.1"):
        simulate(from_control(late), Scenario(0.3))


def test_what_is_too_stiff_for_explicit_steps_is_refused():
    stiff = control.NonlinearIOSystem(
        lambda t, x, u, p: [-2e5 * x[0] + u[0]], inputs=["u"], outputs=["x"], states=["x"]
    )
    with pytest.raises(InputError, match="decays at 2e\\+05 1/s.*\n.*System"):
        simulate(from_control(stiff), Scenario(1.0, start=(1.0,)))


def test_systems_of_the_same_signals_are_told_apart():
    def made(g, flow):
        words = {"inputs": ["u"], "outputs": ["x"], "states": ["x"], "name": "s"}
        return from_control(control.NonlinearIOSystem(flow, None, params={"g": g}, **words))

    one = lambda t, x, u, p: [-p["g"] * x[0] + u[0]]  # noqa: E731
    other = lambda t, x, u, p: [-p["g"] * x[0] ** 3 + u[0]]  # noqa: E731
    assert digest(made(1.0, one)) == digest(made(1.0, one))
    assert len({digest(made(g, f)) for g in (1.0, 2.0) for f in (one, other)}) == 4
