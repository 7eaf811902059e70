"""Predictive control in the study of [Alfayad16]: the laws, and the loop linearised about its motion. See `alfayad16`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import nan, pi

import numpy as np
from scipy.signal import cont2discrete

from plants import machine
from workbench import ClosedLoop, Log, Scenario, Sine, linearize, simulate
from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.run.limit_cycle import LimitCycle, limit_cycle
from workbench.verification.linear.margins import loop_margins
from workbench.verification.linear.systems import LinearSystem, feedback, series

CONTROL, LINEAR = (machine(f"ieha-{name}").plant for name in ("control", "published-linear"))
X, F = 4e-4, 600.0  # m, N: the paper's step and its load
TRACK = Scenario(
    4.0,
    Sine("output", 0.0, (0.01,), 0.5, ramp=0.5),
    {"F_ext": Sine("output", 0.0, F, 0.5, ramp=0.5)},
)
SETTLED = 1.0  # s
SMOOTHED = 51  # samples of the mean that is taken off the command before its cycle is looked for

LAW = """
plant: {{machine: ieha-control}}
controller: {{model: {{machine: ieha-published-linear}}, signals: [Y], {law}}}
loop: {{sample_time: 2 ms}}
scenario: {{duration: 1 s}}
"""
MPC = "law: MPC, horizon: 40, Q: 1e6, S: 1e6, known: [F_ext], observer: {σ_y: 1e-6, σ_d: 1e-6}"
# Gain margin 2.9 about the motion, where predictive control has 1.5; K_v = 1/K.
PID = "law: PID, K_p: 1, K_i: 50, feed: gain, K_v: 8.666e-3, damping: none, u_max: 5e-4"


@cache
def written(words: str):
    """The sampled law of a case file whose controller section says `words`."""
    return loads(LAW.format(law=words), "alfayad16.yaml").controller


def mpc(move: float = 1.0, **changes):
    """Predictive control of Y alone on the linear model, an observer of a disturbance at X, the load known ahead.

    move: weight of moves of X relative to that of the error of Y, both in m². changes: fields of `controllers.MPC`.
    """
    return replace(written(MPC).inner, S=(1e6 * move,), **changes)


@dataclass(frozen=True)
class Edge:
    """Predictive control linearised about the motion: gain margin (nan when unstable), frequency of its least damped pair
    (Hz), and what the command does in a run on the averaged plant."""

    gain: float
    frequency: float
    seen: LimitCycle


def linear_law(law) -> LinearSystem:
    """From y to the command while no limit is active: estimator, gain and last command, references and loads zero."""
    made = law.prepared
    gain = law.gain()
    q = made.problem
    n = made.C_a.shape[1]
    at = lambda M: np.hstack([M[:, q.at["x"]], M[:, q.at["d"]]])
    G = np.hstack([gain["x"], gain["d"]])
    N = at(made.next_θ)
    n_d = q.model.B_d.shape[1]
    ahead = np.vstack([N + q.model.B @ G, np.eye(n_d, n, n - n_d)])
    held = np.vstack(
        [made.next_θ[:, q.at["u"]] + q.model.B @ gain["u"], np.zeros((n_d, len(q.model.B.T)))]
    )
    seen = np.eye(n) - made.L @ made.C_a
    C = np.hstack([G @ seen, gain["u"]])
    return LinearSystem(
        np.vstack([np.hstack([ahead @ seen, held]), C]),
        np.vstack([ahead, G]) @ made.L,
        C,
        G @ made.L,
        law.T_s,
    )


def moving(T: float, plant=CONTROL, at: float = X) -> LinearSystem:
    """From the held command to Y: the plant about its motion under X = `at`, exactly sampled."""
    log = simulate(plant, Scenario(0.5, None, {"X": at, "F_ext": 0.0}, log_period=0.1))
    x = [0.0 if name == "Y" else float(log.array(name)[-1]) for name in names(plant.states)]
    L = linearize(plant, x, [at, 0.0])
    row = np.eye(len(x))[[names(plant.states).index("Y")]]
    return LinearSystem(*cont2discrete((L.A, L.B[:, :1], row, np.zeros((1, 1))), T)[:4], T)


def open_loop(law, plant=CONTROL, at: float = X) -> LinearSystem:
    """Return ratio at the command of a predictive law and the moving plant."""
    K = linear_law(law)
    return series(moving(law.T_s, plant, at), LinearSystem(K.A, K.B, -K.C, -K.D, K.T))


def error(log: Log) -> np.ndarray:
    """Y_d − Y once the ramp is over, m."""
    return (log.array("Y_d") - log.array("Y"))[log.time > SETTLED]


def edge(move: float) -> Edge:
    """One move weight, linearised and run."""
    loop = open_loop(mpc(move))
    roots = np.linalg.eigvals(feedback(loop).A)
    pair = roots[np.argmax(np.abs(roots) * (np.abs(np.angle(roots)) > 0.1))]
    log = simulate(ClosedLoop(CONTROL, mpc(move)), TRACK)
    late = log.time > SETTLED
    command = log.array("X")
    mean = np.convolve(command, np.ones(SMOOTHED) / SMOOTHED, "same")
    rest = (command - mean)[late]
    return Edge(
        gain=loop_margins(loop).gain_up or nan,
        frequency=float(abs(np.angle(pair)) / (2 * pi * loop.T)),
        seen=limit_cycle(log.time[late][:-30], rest[:-30], floor=2e-6),
    )
