"""Many runs at once: every lane gives the numbers of the run alone, to the last bit, whatever goes on in the others."""

import ctypes
from dataclasses import dataclass, replace
from typing import Annotated

import casadi as ca
import numpy as np
import pytest
from small import Bent, Curved, Feedback, Linear, Push

from controllers import VDC
from workbench import (
    ClosedLoop,
    Delayed,
    InputError,
    Noisy,
    Sampled,
    Scenario,
    Signal,
    Sine,
    Unit,
    changed,
    simulate,
    verify,
)
from workbench.numerics.c_code import NUMBERS
from workbench.numerics.compiler import library
from workbench.numerics.laned import INFIX, LIBRARY, WHOLE, laned, number, width
from workbench.numerics.lanes import aligned
from workbench.run import many as MANY
from workbench.run.many import Waiting, lanes_of, simulate_many
from workbench.verification import claims as C
from workbench.verification import run as RUN

SWING = Linear(
    ((0.0, 1.0), (-9.0, -0.4)), ((0.0,), (1.0,)), ((1.0, 0.0),), ((0.0,), (1.0,)), x0=(0.2, 0.0)
)


@dataclass(frozen=True)
class Proportional(Feedback):
    """u = K (r − y), with a gain that is a number of the law, so that laws of several gains have one graph."""

    K: Annotated[float, Unit("1")] = 1.7

    @property
    def commands(self):
        return self.plant.inputs[:1]

    @property
    def references(self):
        return (Signal("y0_d", "1", "wanted y0", "reference"),)

    def command(self, t, z, y, r):
        return [self.K * (r[0] - y[0])]


ODD = (0.0, -0.0, 1.0, -1.5, 0.3, 2.7, -0.8, 1e-9, 40.0, np.nan, np.inf, -np.inf)
PAIRS = [(a, b) for a in ODD for b in ODD]


def same(many, alone):
    """Equal to the last bit, NaN included, with the same status and provenance."""
    assert many.values.tobytes() == alone.values.tobytes()
    assert many.time.tobytes() == alone.time.tobytes()
    assert many.signals == alone.signals
    assert many.status == alone.status and many.provenance == alone.provenance


def agree(jobs, **options):
    for many, alone in zip(simulate_many(jobs, **options), [simulate(*job) for job in jobs]):
        same(many, alone)


# ---- operations ------------------------------------------------------------------------------------------------------
CASES = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y,
    "negative": lambda x, y: -x,
    "square": lambda x, y: x**2,
    "twice": lambda x, y: x + x,
    "inverse": lambda x, y: 1 / x,
    "less": lambda x, y: x < y,
    "at most": lambda x, y: x <= y,
    "equal": lambda x, y: x == y,
    "unequal": lambda x, y: x != y,
    "not": lambda x, y: ca.logic_not(x < y),
    "and": lambda x, y: ca.logic_and(x < y, x > 0),
    "or": lambda x, y: ca.logic_or(x < y, x > 0),
    "choice": lambda x, y: ca.if_else(x < y, x, 3 * y),
    "root": lambda x, y: ca.sqrt(x),
    "size": lambda x, y: ca.fabs(x),
    "smaller": lambda x, y: ca.fmin(x, y),
    "larger": lambda x, y: ca.fmax(x, y),
    "sign": lambda x, y: ca.sign(x),
    "sine": lambda x, y: ca.sin(x),
    "cosine": lambda x, y: ca.cos(x),
    "tangent": lambda x, y: ca.tan(x),
    "tanh": lambda x, y: ca.tanh(x),
    "exponential": lambda x, y: ca.exp(x),
    "logarithm": lambda x, y: ca.log(x),
    "power": lambda x, y: x**y,
    "stated power": lambda x, y: x**2.7,
    "angle": lambda x, y: ca.atan2(x, y),
    "arc sine": lambda x, y: ca.asin(x),
    "floor": lambda x, y: ca.floor(x),
    "rest": lambda x, y: ca.fmod(x, y),
}

OWN = ("sine", "cosine", "tanh")  # of functions.h, not of the C library

EACH_PAIR = """
void each_pair(long n, const real *x, const real *y, real *out) {
  for (long k = 0; k < n; ++k) {
    const real *arg[2] = {x + k, y + k}; real *res[1] = {out + k * N_OUT};
    text(arg, res, 0, 0, 0);
  }
}
"""


def over_lanes(f, x, y):
    """(N, outputs) of f over N pairs, lane by lane in one library."""
    lanes = width()
    assert len(x) % lanes == 0
    defines = {"LANES": lanes, "casadi_int": "long long int", "N_OUT": f.size1_out(0)}
    head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    lib = library(head + NUMBERS + laned([f]) + EACH_PAIR)
    lib.each_pair.argtypes = [ctypes.c_long, *3 * [ctypes.c_void_p]]
    blocks = len(x) // lanes
    given = [aligned(blocks, lanes) for _ in range(2)]
    given[0][:], given[1][:] = x.reshape(blocks, lanes), y.reshape(blocks, lanes)
    out = aligned(blocks, f.size1_out(0), lanes)
    lib.each_pair(blocks, given[0].ctypes.data, given[1].ctypes.data, out.ctypes.data)
    return np.moveaxis(out, 1, 2).reshape(len(x), -1)


def test_every_operation_is_that_of_one_number():
    """Against CasADi's own evaluation, number by number; signs of zeros count as equal, NaN as NaN."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("text", [x, y], [ca.vertcat(*[case(x, y) for case in CASES.values()])])
    assert laned([f]) is not None
    pairs = np.array(PAIRS)
    pairs = np.vstack([pairs, pairs[: -len(pairs) % width()]])
    found = over_lanes(f, pairs[:, 0].copy(), pairs[:, 1].copy())
    for i, (a, b) in enumerate(pairs):
        wanted = np.array(f(a, b)).ravel()
        for name, mine, theirs in zip(CASES, found[i], wanted):
            if name in OWN and abs(mine - theirs) <= 2 * np.spacing(abs(theirs)):
                continue  # to the last bit: test_functions_of_c.py
            assert mine == theirs or (np.isnan(mine) and np.isnan(theirs)), (name, a, b)


def test_the_cases_cover_what_has_a_text():
    """Every infix and whole-vector operation occurs in the cases above; of the library those that machines use."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("text", [x, y], [ca.vertcat(*[case(x, y) for case in CASES.values()])])
    used = {f.instruction_id(k) for k in range(f.n_instructions())}
    assert {*INFIX, *WHOLE} - used <= {ca.OP_ASSIGN}
    machines = (ca.OP_POW, ca.OP_ATAN2, ca.OP_EXP, ca.OP_LOG)
    assert {op for op in machines} <= used & set(LIBRARY)


def test_an_operation_without_a_text_is_told():
    """The inverse error function has no text over lanes: there is none for the whole function."""
    x = ca.SX.sym("x")
    f = ca.Function("text", [x], [ca.erfinv(x)])
    assert laned([f]) is None


@pytest.mark.parametrize(
    "value, text",
    [
        (0.1, "0.1"),
        (-2.5e-300, "-2.5e-300"),
        (1 / 3, "0.3333333333333333"),
        (np.inf, "INFINITY"),
        (-np.inf, "-INFINITY"),
        (np.nan, "NAN"),
    ],
)
def test_numbers_keep_every_bit(value, text):
    assert number(value) == text


# ---- runs ------------------------------------------------------------------------------------------------------------
def swings(n, law=lambda k: Proportional(SWING, 0.9 + 0.1 * k)):
    walk = Sine("output", (0.1,), (0.3,), 0.7)
    return [
        (
            ClosedLoop(SWING, Sampled(law(k), 10e-3)),
            Scenario(2.0 + 0.13 * k, reference=walk, offset={"x0": 0.05 * k}),
        )
        for k in range(n)
    ]


@pytest.mark.parametrize("n", (1, 2, 11, 16, 19))
def test_starts_gains_and_lengths_of_their_own(n):
    """Fewer runs than lanes, as many as two blocks have, and more."""
    agree(swings(n))


def test_lanes_differ():
    """No lane repeats another: the runs above are all different."""
    logs = simulate_many(swings(9))
    ends = [float(log.array("x0")[-1]) for log in logs]
    assert len(set(ends)) == len(ends)


def test_a_lane_that_diverges_leaves_the_others_alone():
    """Its own end is the one it has alone, and none of the others moves by a bit."""
    jobs = [
        (
            ClosedLoop(SWING, Sampled(Proportional(SWING, gain), 10e-3)),
            Scenario(6.0, offset={"x0": 0.1}),
        )
        for gain in (1.0, -4e4, 3.0, 2.0, -9e4, 0.5)
    ]
    agree(jobs)
    ended = [log.status.completed for log in simulate_many(jobs)]
    assert ended == [True, False, True, True, False, True]


@pytest.mark.parametrize("stiff", ((), ("x0", "x1", "x2"), ("x1",)), ids=("RK4", "whole", "part"))
def test_flows_driven_between_samples(stiff):
    """Disturbances at the stages of every step, by RK4 and by the exponential method, which doubles as often as a lane asks."""
    pushes = [Push(lambda t, a=a: a * np.sin(2.2 * t) + 0.4) for a in (1.3, 0.2, -2.0, 5.0, 40.0)]
    agree(
        [
            (
                Curved(k=4.1 + 30 * k, stiff=stiff),
                Scenario(1.5, disturbances={"w": push}, log_period=0.05, max_step=5e-3),
            )
            for k, push in enumerate(pushes)
        ]
    )


@pytest.mark.parametrize("guarded", (True, False))
def test_kinks_are_met_lane_by_lane(guarded):
    """Kinks at different times in every lane, several in one step in some, none in others."""
    pushes = [
        Push(lambda t, a=a: a * np.cos(3.1 * t)) for a in (1.0, 0.0, 9.0, -30.0, 0.3, 2.2, 80.0)
    ]
    agree(
        [
            (
                Bent(d=0.2 + 0.05 * k, guarded=guarded),
                Scenario(1.0, disturbances={"w": push}, max_step=0.04),
            )
            for k, push in enumerate(pushes)
        ]
    )


@pytest.mark.parametrize("delay", (3e-3, 10e-3, 23e-3))
def test_delays_within_a_sample(delay):
    """The command comes out between two samples: two segments of steps."""
    agree(
        [
            (replace(loop, controller=Delayed(loop.controller, delay)), scenario)
            for loop, scenario in swings(5)
        ]
    )


def test_noise_is_that_of_each_seed():
    """Draws belong to the run, not to the lane."""
    law = lambda k: Noisy(Proportional(SWING, 0.9 + 0.1 * k), 1e-3, ("y0",))
    jobs = [(loop, replace(scenario, seed=k)) for k, (loop, scenario) in enumerate(swings(6, law))]
    agree(jobs)
    first, second = (log.array("x0") for log in simulate_many(jobs)[:2])
    assert not np.array_equal(first[:50], second[:50])


@pytest.mark.parametrize("rows", ("asked", "steps"))
def test_cranes(two_joint, short, rows):
    """Valves, friction and VDC: loads, oil, starts and pressures of their own."""
    changes = [
        ({}, {}),
        ({"payload.mass": 31.0}, {"q_1": 0.01}),
        ({"oil.β": 1.1e9}, {"p_a1": 4e5, "q_2": -0.02}),
    ]
    jobs = []
    for change, offset in changes:
        plant = changed(two_joint, change)
        loop = ClosedLoop(plant, Sampled(VDC(plant), 1e-3))
        jobs.append((loop, replace(short, offset=offset)))
    for many, job in zip(simulate_many(jobs, rows=rows), jobs):
        same(many, simulate(*job, rows=rows))


def test_runs_of_one_graph_go_in_lanes(monkeypatch):
    """Eleven runs: none of them is left to itself."""
    monkeypatch.setattr(Waiting, "alone", lambda self: pytest.fail(f"run {self.number} is alone"))
    assert len(simulate_many(swings(11))) == 11


def test_a_law_called_from_python_goes_alone():
    class Own:
        measured, references, T_s = ("y0",), (), 10e-3

        def initial(self):
            return []

        def step(self, t, z, y, r):
            return z, [-1.3 * y[0]]

    jobs = [(ClosedLoop(SWING, Own()), Scenario(1.0, offset={"x0": 0.1 * k})) for k in range(3)]
    agree(jobs)


def test_runs_that_need_other_steps():
    """A mode too fast for the step that was asked for: each run has the pace it has alone."""
    systems = [
        Linear(((-rate, 0.0), (1.0, -0.3)), ((1.0,), (0.0,)), ((0.0, 1.0),))
        for rate in (2.0, 9e3, 5.0, 4e5)
    ]
    jobs = [(system, Scenario(0.5, max_step=2e-3)) for system in systems]
    agree(jobs)
    implicit = [log.provenance["pace"]["implicit"] for log in simulate_many(jobs)]
    assert implicit == [False, False, False, True]


def test_measured_and_dropped():
    """`measure` sees each run once, with its number, and the order of the jobs is kept; progress ends at one."""
    shares = []
    found = simulate_many(
        swings(11), lambda k, log: (k, float(log.time[-1])), progress=shares.append
    )
    assert [k for k, _ in found] == list(range(11))
    assert [t for _, t in found] == [pytest.approx(2.0 + 0.13 * k, abs=6e-3) for k in range(11)]
    assert shares[-1] == 1.0 and sorted(shares) == shares


def test_a_wrong_run_is_named():
    jobs = swings(4)
    jobs[2] = (jobs[2][0], replace(jobs[2][1], offset={"x7": 0.1}))
    with pytest.raises(InputError, match="run 3: offset: there is no state 'x7'"):
        simulate_many(jobs)


def test_no_jobs():
    assert simulate_many([]) == []


def test_a_block_is_compiled_once():
    """Loops of one graph share the compiled lanes, whatever their numbers."""
    from workbench.run.demand import Demand
    from workbench.run.fused import Fused
    from workbench.run.start import start_state

    found = set()
    for loop, scenario in swings(3):
        x0 = start_state(loop, scenario)
        found.add(id(lanes_of(Fused(loop, scenario, Demand(loop, scenario, x0), x0).traced)))
    assert len(found) == 1


# ---- claims ----------------------------------------------------------------------------------------------------------
def test_claims_on_runs_side_by_side_have_the_same_verdicts(monkeypatch):
    """Practical stability, whose other starts are runs of one kind: every number to the last bit."""
    loop, scenario = swings(1)[0]
    scenario = replace(scenario, duration=12.0)
    claims = [C.PracticalStability(runs=3, settle=6.0, longest=24.0)]
    alone = verify(loop, scenario, claims)
    blocks = []
    beside = MANY.side_by_side
    monkeypatch.setattr(MANY, "side_by_side", lambda r, p: blocks.append(len(r)) or beside(r, p))
    monkeypatch.setattr(RUN, "PAYING", 0)
    many = verify(loop, scenario, claims)
    # Other starts; its modes are hardly damped: two pairs further off where its path ends, and at both places where it turns. There
    # a pair leaves its stroke, and is moved closer.
    assert blocks == [3, 4, 4, 2, 4, 2]
    assert alone[0].data["returns"]
    for one, other in zip(many, alone, strict=True):
        assert (one.key, one.holds, one.margin, one.worst) == (
            other.key,
            other.holds,
            other.margin,
            other.worst,
        )
        np.testing.assert_equal(one.data, other.data)


def test_a_batch_that_cannot_be_run_says_so_in_the_words_of_the_run_alone(monkeypatch):
    loop, scenario = swings(1)[0]
    jobs = [(loop, scenario), (loop, replace(scenario, offset={"y9": 1.0}))]
    said = []
    for paying in (0, np.inf):
        monkeypatch.setattr(RUN, "PAYING", paying)
        with pytest.raises(InputError) as why:
            RUN.run_many(jobs, lambda run: run.log.time[-1])
        said.append(str(why.value))
    assert said[0] == said[1] and "y9" in said[0]
