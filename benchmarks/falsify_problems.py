"""Planted violations for `falsify.py`: machines under laws, what may vary, and sentences whose limits few draws exceed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.cases.file import loads
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.run import Run, run
from workbench.verification.search.directions import directions
from workbench.verification.search.score import verdicts
from workbench.verification.search.search import Search

VIOLATING = 2  # of the uniform draws
BATCH = 64  # uniform draws made side by side
FAR = 1e9  # a limit that no signal reaches, in SI

SERVO = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz}
  duration: 1.2 s
"""
CRANE = """
plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}
controller: {law: VDC}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m]], leg: 1.5 s}
  duration: 1.6 s
"""
BARS = """
plant: four-bar
controller: {law: ForcePosition, λ: 8 1/s, κ: 10 1/s, k_x: 6 mm, βk_f: 60 1/s}
scenario:
  reference: {type: Waypoints, space: joint, points: [start, [64 deg]], leg: 0.8 s}
  duration: 1 s
"""


@dataclass(frozen=True)
class Family:
    """Problems that share their runs: a case, what may vary, and sides (unit) of sentences `always[after, end] (side < limit)`."""

    name: str
    case: str
    over: dict
    sides: dict[str, str]
    after: str = "0 s"


FAMILIES = (
    Family(
        "servo: gain, lag, delay, force",
        SERVO,
        {
            "K": ("60 1/s", "160 1/s"),
            "λ_1": ("0.5 ms", "4 ms"),
            "delay": ("0 ms", "8 ms"),
            "disturbance.F_ext": ("-800 N", "800 N"),
            "reference.frequency": ("0.3 Hz", "1.5 Hz"),
        },
        {"tool_error": "m", "abs(dY)": "m/s", "Y": "m"},
    ),
    Family(
        "servo: start, gain, path",
        SERVO.replace(
            "type: Sine, space: output, centre: start, amplitude: [1 cm], frequency: 0.5 Hz",
            "type: Waypoints, space: output, points: [start, [1 cm], start], leg: 0.5 s",
        ),
        {
            "K": ("60 1/s", "160 1/s"),
            "offset.Y": ("-1 mm", "1 mm"),
            "λ_3": ("0.5 ms", "5 ms"),
            "path": ("-4 mm", "4 mm"),
        },
        {"abs(dY)": "m/s", "tool_error": "m", "Y": "m"},
    ),
    Family(
        "crane: load, start, valves",
        CRANE,
        {
            "payload.mass": ("0 kg", "60 kg"),
            "oil.β": ("600 MPa", "1200 MPa"),
            "start": ("-5 mrad", "5 mrad"),
            "scale.valve.frequency": (0.7, 1.5),
        },
        {"tool_error": "m", "abs(e_q_2)": "rad", "p_a1 - p_b1": "Pa", "abs(u_2)": "V"},
        "0.3 s",
    ),
    Family(
        "crane: friction, valves, path",
        CRANE,
        {
            "friction": (0.5, 2.0),
            "scale.valve.frequency": (0.7, 1.5),
            "path": ("-40 mm", "40 mm"),
            "p_s": ("150 bar", "200 bar"),
        },
        {"tool_error": "m", "p_a2": "Pa", "abs(dq_1)": "rad/s"},
    ),
    Family(
        "four-bar: oil, friction, masses",
        BARS,
        {
            "circuit.B_oil": ("800 MPa", "2 GPa"),
            "friction": (0.5, 2.5),
            "m_2": ("50 kg", "80 kg"),
            "circuit.τ": ("2 ms", "9 ms"),
            "circuit.p_P": ("60 bar", "90 bar"),
        },
        {"abs(e_z_1)": "rad", "p_2": "Pa", "abs(ds)": "m/s", "abs(dz_1)": "rad/s"},
    ),
    Family(
        "four-bar: starts, valve, hoses",
        BARS,
        {
            "offset.z_1": ("-10 mrad", "10 mrad"),
            "circuit.B_h": ("80 MPa", "300 MPa"),
            "circuit.Q_n": ("20 l/min", "30 l/min"),
            "circuit.friction.F_s": ("250 N", "800 N"),
        },
        {"abs(e_z_1)": "rad", "p_3": "Pa", "abs(ds)": "m/s"},
        "0.2 s",
    ),
)


@dataclass(frozen=True)
class Problem:
    """A family with one sentence whose limit is planted; `nominal` is its run."""

    family: Family
    sentence: str
    nominal: Run

    def search(self) -> Search:
        """A fresh search of it."""
        return fresh(self.family, self.nominal, [Requirement(self.sentence)])


def fresh(family: Family, nominal: Run, asked: list) -> Search:
    """A search over what may vary in a family."""
    along = directions(nominal.loop, nominal.scenario, family.over)
    return Search(nominal, asked, verdicts(asked, nominal), along)


def sentence(family: Family, side: str, limit: float) -> str:
    return f"always[{family.after}, end] ({side} < {limit!r} {family.sides[side]})".replace(
        " 1)", ")"
    )


def planted(family: Family, draws: int, seed: int) -> list[Problem]:
    """The family's problems: each limit is exceeded by VIOLATING of the uniform draws."""
    case = loads(family.case, family.name)
    nominal = run(case.loop, case.scenario)
    asked = [
        Requirement(sentence(family, side, FAR), f"s{i}") for i, side in enumerate(family.sides)
    ]
    search = fresh(family, nominal, asked)
    points = np.random.default_rng([seed, 1]).uniform(-1, 1, (draws, len(search.along)))
    for part in np.array_split(points, -(-draws // BATCH)):
        search.values(part)
    largest = np.array([reached(search, one) for one in search.scores])
    found = []
    for side, values in zip(family.sides, largest.T):
        ranked = np.sort(values[np.isfinite(values)])
        limit = (ranked[-VIOLATING] + ranked[-VIOLATING - 1]) / 2
        found.append(Problem(family, sentence(family, side, float(limit)), nominal))
    return found


def reached(search: Search, one) -> list[float]:
    """The largest value of every side in a run: FAR less its margin; not a number where there was no run."""
    shares = dict(one.each)
    return [
        FAR - shares[v.key] * abs(v.margin) if v.key in shares else np.nan for v in search.nominal
    ]
