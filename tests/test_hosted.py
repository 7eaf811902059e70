"""Laws called from Python: the same numbers as a fused loop, nothing hidden between runs, clear refusals."""

import math
import threading
from dataclasses import replace

import numpy as np
import pytest
from rig import HIAB

from controllers.pid.law import PID
from plants.crane.manipulator import Manipulator
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Hold,
    Noisy,
    Plain,
    Sampled,
    Saturated,
    Scenario,
    Signal,
    Sine,
    simulate,
)
from workbench.cases.build import build
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError

CRANE = build(Manipulator, read(HIAB).value["plant"], "plant").locked(extension=0.5)
PATH = Sine("joint", "start", (0.05, 0.08), 0.31)
REFERENCES = ("x_1_d", "x_2_d", "dx_1_d", "dx_2_d")


class Same:
    """One of our laws as a user would bring it: the same text, called on floats."""

    def __init__(self, law, T_s):
        self.law, self.T_s = law, T_s
        self.measured, self.commands, self.references, self.monitors = (
            law.measured,
            law.commands,
            law.references,
            law.monitors,
        )

    def initial(self):
        return list(self.law.initial())

    def start(self, t, z, y, r):
        return self.law.start(t, z, y, r)

    def step(self, t, z, y, r):
        return self.law.step_at(self.T_s, t, z, y, r)

    def monitor(self, t, z, y, r):
        return self.law.monitor(t, z, y, r)


class Simple:
    """A user's PI law with its memory hidden on itself."""

    measured, references, T_s = ("x_1", "x_2"), REFERENCES, 1e-3

    def __init__(self):
        self.I = [0.0, 0.0]

    def command(self, t, z, y, r):
        e = [r[0] - y[0], r[1] - y[1]]
        self.I = [a + 0.08 * b for a, b in zip(self.I, e)]
        return [60 * a + b + 35 * v for a, b, v in zip(e, self.I, r[2:])]


def law(u=(0.3, -0.2), **attributes):
    def f(t, y, r):
        return u(t, y, r) if callable(u) else u

    for name, value in attributes.items():
        setattr(f, name, value)
    return f


def apart(a, b, only=None):
    """Largest difference of two logs over signals they share, relative to each signal's range."""
    assert len(a) == len(b) and np.array_equal(a.time, b.time)
    found = {}
    for name in only or a.names:
        x, y = a.array(name), b.array(name)
        found[name] = np.abs(x - y).max() / max(np.ptp(y), 1e-9 * np.abs(y).max(), 1e-300)
    return max(found.values())


# ---- the same numbers ------------------------------------------------------------------------------------------------
WRAPPED = {
    "sampled": lambda law: Sampled(law, 2e-3),
    "filtered": lambda law: Sampled(
        Saturated(Filtered(law, 40.0, signals=("p",)), -4.0, 3.0), 2e-3
    ),
    "noisy": lambda law: Sampled(Noisy(law, 2e-5, signals=("x",)), 2e-3),
    "delayed a whole sample": lambda law: Delayed(Sampled(law, 2e-3), 2e-3),
    "delayed by fractions": lambda law: Delayed(Sampled(law, 2e-3), 2.7e-3),
}


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_same_as_fused(wrapping):
    own = PID(CRANE, K_d=(1.3,))
    scenario = Scenario(2.0, PATH, offset={"q_1": 0.01}, seed=3)
    fused = simulate(ClosedLoop(CRANE, WRAPPED[wrapping](own)), scenario)
    hosted = simulate(ClosedLoop(CRANE, WRAPPED[wrapping](Same(own, 2e-3))), scenario)
    memory = {s.name for s in own.states}  # lives in Python
    assert set(fused.names) - set(hosted.names) == memory
    assert [n for n in fused.names if n not in memory] == hosted.names and hosted.signals[
        0
    ] == fused.signals[0]
    assert fused.status == hosted.status and fused.status.completed
    assert apart(hosted, fused, hosted.names) < 1e-9


def test_same_as_fused_with_disturbances_logged_sparsely():
    own = PID(CRANE, feed="gain")
    scenario = Scenario(
        0.15,
        PATH,
        {"f_Dy": Sine("output", 120.0, 80.0, 9.0), "m_Dz": 25.0},
        log_period=0.01,
        seed=1,
    )
    fused = simulate(ClosedLoop(CRANE, Sampled(own, 5e-3)), scenario)
    hosted = simulate(ClosedLoop(CRANE, Sampled(Same(own, 5e-3), 5e-3)), scenario)
    assert len(hosted) == 16 and {"f_Dy", "m_Dz"} <= set(hosted.names)
    assert apart(hosted, fused, hosted.names) < 1e-9
    free = simulate(
        ClosedLoop(CRANE, Sampled(Same(own, 5e-3), 5e-3)), replace(scenario, disturbances={})
    )
    assert apart(hosted, free, ("q_1",)) > 1e-3  # the disturbance did something


@pytest.mark.parametrize("wrapping", ["sampled", "delayed by fractions"])
def test_compiled_and_virtual_machine_agree(wrapping):
    loop = ClosedLoop(CRANE, WRAPPED[wrapping](Simple()))
    scenario = Scenario(0.4, PATH, {"f_Dx": Sine("output", 50.0, 30.0, 4.0)})
    assert apart(simulate(loop, scenario), simulate(loop, scenario, compiled=False)) < 1e-9


def test_divergence_ends_the_run_with_a_log():
    scenario = Scenario(1.0, Hold("joint", "start"), offset={"dq_1": 1e200})
    log = simulate(ClosedLoop(CRANE, law(measured=("q_1",))), scenario)
    assert (
        not log.status.completed
        and "diverged" in log.status.message
        and log.status.state in log.names
    )
    assert len(log) == round(log.status.t_end / 1e-3) > 0


# ---- what a law may be -----------------------------------------------------------------------------------------------
def test_nothing_hidden_survives_a_run():
    mine = Simple()
    loop, scenario = ClosedLoop(CRANE, mine), Scenario(0.5, PATH)
    first, second = simulate(loop, scenario), simulate(loop, scenario)
    assert np.array_equal(first.values, second.values) and mine.I == [0.0, 0.0]
    assert np.ptp(first.array("q_2")) > 0.02
    assert first.provenance == second.provenance
    assert "0x" not in repr(first.provenance)


def test_memory_is_any_python_value():
    class Counting:
        T_s = 0.01
        monitors = (Signal("calls"),)

        def __init__(self):
            self.lock = threading.Lock()  # cannot be copied: the law is used as it is

        def initial(self):
            return {"calls": []}

        def step(self, t, z, y, r):
            return {"calls": [*z["calls"], t]}, np.array([0.1, 0.2])

        def monitor(self, t, z, y, r):
            return [len(z["calls"])]

    loop = ClosedLoop(CRANE, Counting())
    for _ in range(2):
        log = simulate(loop, Scenario(0.1))
        assert log.array("calls").tolist() == list(range(1, 12)) and set(log.array("u_2")) == {0.2}


def test_a_bare_law_is_sampled():
    assert ClosedLoop(CRANE, law()).period == 1e-3
    assert ClosedLoop(CRANE, law(T_s=0.02)).period == 0.02
    assert ClosedLoop(CRANE, Saturated(law(T_s=0.02), -1.0, 1.0)).period == 0.02
    assert ClosedLoop(CRANE, Sampled(law(T_s=0.02), 0.03)).period == 0.03
    loop = ClosedLoop(CRANE, Sampled(law(), 0.02))
    assert replace(loop, plant=CRANE).controller.commands == loop.controller.commands
    with pytest.raises(InputError, match="called from Python"):
        from workbench import linearize

        linearize(loop, loop.initial())


def test_signals_by_name():
    seen = []
    f = law(lambda t, y, r: seen.append((y, r)) or [0.0, 0.0])
    mine = Plain(
        f, measured=("x_2", "q_1"), commands=("u_2", "u_1"), references=("dx_2_d", "q_1_d")
    )
    loop = ClosedLoop(CRANE, Sampled(mine, 0.1))
    assert [(s.name, s.unit) for s in loop.controller.references] == [
        ("dx_2_d", "m/s"),
        ("q_1_d", "rad"),
    ]
    log = simulate(loop, Scenario(0.1, PATH))
    for k, (y, r) in enumerate(seen):
        assert all(type(v) is float for v in (*y, *r))
        assert y == [log.array(n)[k] for n in ("x_2", "q_1")]
        assert r == [log.array(n)[k] for n in ("dx_2_d", "q_1_d")]
    assert [s.name for s in ClosedLoop(CRANE, law(measured=("p_b2",))).controller.measured] == [
        "p_b2"
    ]
    crossed = simulate(ClosedLoop(CRANE, law(commands=("u_2", "u_1"))), Scenario(0.01))
    assert (crossed.array("u_2")[0], crossed.array("u_1")[0]) == (0.3, -0.2)


@pytest.mark.parametrize(
    "mine, words",
    [
        (law(measured=("x_9",)), "measured of f: there is no signal 'x_9'"),
        (law(commands=("u_1",)), "nothing drives the plant's u_2"),
        (3.0, "float is no controller"),
    ],
)
def test_refused_when_built(mine, words):
    with pytest.raises(InputError, match=words):
        ClosedLoop(CRANE, mine)


def late(u):
    return law(lambda t, y, r: u if t > 0.0205 else [0.1, 0.2])


@pytest.mark.parametrize(
    "u, words",
    [
        ([0.1], "expected 2 numbers (u_1, u_2), got 1"),
        ([0.1, 0.2, 0.3], "got 3"),
        (0.1, "got 1"),
        ([0.1, math.nan], "expected finite numbers"),
        (np.array([math.inf, 0.0]), "expected finite numbers"),
        (None, "expected numbers"),
        (["a", 0.0], "expected numbers"),
    ],
)
def test_returned_what_is_no_command(u, words):
    with pytest.raises(InputError) as caught:
        simulate(ClosedLoop(CRANE, late(u)), Scenario(0.1))
    assert (
        words in str(caught.value)
        and "f at t = 0.021 s returned" in str(caught.value)
        and caught.value.mend
    )


def test_step_must_return_a_pair():
    class Odd:
        def step(self, t, z, y, r):
            return [0.1, 0.2, 0.3]

    with pytest.raises(InputError, match=r"Odd at t = 0 s returned .*expected the pair"):
        simulate(ClosedLoop(CRANE, Odd()), Scenario(0.1))


def test_an_exception_inside_the_law_says_where_and_when():
    def broken(t, y, r):
        return [0.0, 1 / max(0.05 - t, 0.0)]

    with pytest.raises(
        InputError, match=r"broken failed at t = 0.05 s: ZeroDivisionError"
    ) as caught:
        simulate(ClosedLoop(CRANE, broken), Scenario(0.1))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.file == __file__ and caught.value.line == broken.__code__.co_firstlineno + 1
