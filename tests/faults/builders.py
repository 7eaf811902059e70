"""Loops that no case file can say: plants in state space, plants and laws of a user, wires that are crossed.

Every builder returns (loop, scenario, claims); claims None means those that suit the loop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from controllers import LQR, MPC, PID
from tests.faults.afloat import afloat as afloat
from tests.faults.branches import Branching, Delegating
from tests.faults.clocks import clocked
from tests.faults.curves import Curve
from tests.faults.drifting import Drifting
from tests.faults.edging import edging as edging
from tests.faults.entries import case_of
from tests.faults.far import Far, Sensed
from tests.faults.foreign import foreign as foreign
from tests.faults.keepers import keeper
from tests.faults.plants import CartPole, Column, Counting, Play, Servo, Slide, TwoMass
from tests.faults.uneven import Uneven, UnevenLaw
from workbench import ClosedLoop, Delayed, Hold, Sampled, Scenario, Sine, Waypoints
from workbench.cases.file import loads
from workbench.contract.plain import Plain
from workbench.contract.system import Controller, Signal, innermost, rewrapped
from workbench.contract.wrappers.around import Around
from workbench.interop.linear_plant import LinearPlant
from workbench.run.reference import Reference
from workbench.verification import run_claims
from workbench.verification.judge import default_claims

PLANTS = {
    "servo": Servo,
    "cartpole": CartPole,
    "two-mass": TwoMass,
    "column": Column,
    "counting": Counting,
    "play": Play,
    "far": Far,
    "sensed": Sensed,
    "uneven": Uneven,
}


# ---- laws ---------------------------------------------------------------------------------------------------------------
@final
@dataclass(frozen=True)
class StateFeedback(Controller):
    """u = F r − K y, one row of K (and of F) a command, on the outputs in their order."""

    plant: Any
    K: tuple[tuple[float, ...], ...]
    F: tuple[tuple[float, ...], ...] = ()
    followed: tuple[str, ...] = ()

    @property
    def measured(self):
        return self.plant.outputs

    @property
    def commands(self):
        return tuple(s for s in self.plant.inputs if s.kind == "")

    @property
    def references(self):
        return tuple(
            Signal(f"{name}_d", "1", f"wanted {name}", "reference") for name in self.followed
        )

    def command(self, t, z, y, r):
        backward = [sum(-a * b for a, b in zip(row, y)) for row in self.K]
        forward = [sum(a * b for a, b in zip(row, r)) for row in self.F] or [0.0] * len(self.K)
        return [a + b for a, b in zip(backward, forward)]


@final
@dataclass(frozen=True, eq=False)
class Wired(Around):
    """A law whose wires are crossed: `sensors` says which measured signal reaches which terminal, `valves` likewise, `flipped`
    lists signals whose sign is turned, `gains` what they are multiplied with, `nulls` what is added to them."""

    inner: Any
    sensors: tuple[tuple[str, str], ...] = ()
    valves: tuple[tuple[str, str], ...] = ()
    flipped: tuple[str, ...] = ()
    gains: tuple[tuple[str, float], ...] = ()
    nulls: tuple[tuple[str, float], ...] = ()

    def _read(self, y):
        return self._carried([s.name for s in self.measured], y, dict(self.sensors))

    def _drive(self, u):
        return self._carried([s.name for s in self.commands], u, dict(self.valves))

    def _carried(self, names, values, taken):
        at = dict(zip(names, values))
        return [self._factor(n) * at[taken.get(n, n)] + dict(self.nulls).get(n, 0.0) for n in names]

    def _factor(self, name):
        sign = -1.0 if name in self.flipped else 1.0
        return sign * dict(self.gains).get(name, 1.0)

    def start(self, t, z, y, r):
        return self.inner.start(t, z, self._read(y), r)

    def command(self, t, z, y, r):
        return self._drive(self.inner.command(t, z, self._read(y), r))

    def rhs(self, t, z, y, r):
        return self.inner.rhs(t, z, self._read(y), r)

    def step_at(self, T_s, t, z, y, r):
        memory, u = self.inner.step_at(T_s, t, z, self._read(y), r)
        return memory, self._drive(u)

    def monitor(self, t, z, y, r):
        return self.inner.monitor(t, z, self._read(y), r)


def wired(
    base: str,
    edit: Mapping[str, Any] = {},
    sensors: Mapping[str, str] = {},
    valves: Mapping[str, str] = {},
    flipped: Sequence[str] = (),
    gains: Mapping[str, float] = {},
    nulls: Mapping[str, float] = {},
):
    """A base whose law stands behind crossed wires."""
    case = loads(json.dumps(case_of(base, edit), ensure_ascii=False), f"{base}.yaml")
    law = innermost(case.controller)
    wires = (tuple(kind.items()) for kind in (gains, nulls))
    crossed = Wired(law, tuple(sensors.items()), tuple(valves.items()), tuple(flipped), *wires)
    loop = ClosedLoop(case.plant, rewrapped(case.controller, crossed))
    return loop, case.scenario, case.claims


def hosted(base: str, edit: Mapping[str, Any] = {}, law: str = "proportional", **given):
    """A base's plant and scenario under a user's function of `LAWS`."""
    case = loads(json.dumps(case_of(base, edit), ensure_ascii=False), f"{base}.yaml")
    own = innermost(case.controller)
    asked = [s.name for s in own.references]
    made = LAWS[law](own, **given)
    period = getattr(case.controller, "period", None) or 1e-3
    loop = ClosedLoop(case.plant, Sampled(Plain(made, references=tuple(asked)), T_s=period))
    return loop, case.scenario, None


def proportional(own: PID, gain: float = 70.0, positions: Sequence[str] = (), speeds: float = 0.0):
    """u = gain (wanted − actual) of every position, with the wanted speed fed forward by `speeds`."""
    from workbench.contract.system import names

    listed = names(own.model.outputs)
    wanted = names(own.references)
    places = [listed.index(n) for n in positions]
    targets = [wanted.index(f"{n}_d") for n in positions]
    rates = [wanted.index(f"d{n}_d") if f"d{n}_d" in wanted else None for n in positions]

    def law(t, y, r):
        ahead = [0.0 if k is None else speeds * r[k] for k in rates]
        return [gain * (r[i] - y[j]) + v for i, j, v in zip(targets, places, ahead)]

    return law


LAWS = {"proportional": proportional}


# ---- plants in state space, plants of a user ------------------------------------------------------------------------------
def linear(
    A,
    B,
    C,
    law: Mapping[str, Any],
    T_s: float | None = 1e-3,
    delay: float = 0.0,
    start=None,
    **scenario,
):
    """A plant ẋ = A x + B u, y = C x under a law; matrices as lists of rows. start: state x_i → its value at the start."""
    plant = state_space(A, B, C)
    return around(plant, law, T_s, delay, start, **scenario)


def state_space(A, B, C) -> LinearPlant:
    flat = lambda M: tuple(float(v) for row in M for v in row)
    states = tuple(f"x_{i}" for i in range(len(A)))
    outputs = tuple(_output(row, states, i) for i, row in enumerate(C))
    return LinearPlant(
        flat(A), flat(B), flat(C), states, tuple(f"u_{i}" for i in range(len(B[0]))), outputs
    )


def _output(row, states, i) -> str:
    """An output that is a state has its name."""
    ones = [k for k, v in enumerate(row) if v != 0]
    return states[ones[0]] if len(ones) == 1 and row[ones[0]] == 1 else f"y_{i}"


def user(
    plant: str,
    law: Mapping[str, Any],
    numbers: Mapping[str, float] = {},
    T_s: float | None = 1e-3,
    delay: float = 0.0,
    start=None,
    **scenario,
):
    """One of `PLANTS` with other numbers under a law."""
    return around(PLANTS[plant](**numbers), law, T_s, delay, start, **scenario)


def around(
    plant,
    law: Mapping[str, Any],
    T_s,
    delay,
    start,
    duration: float,
    reference=None,
    disturbances: Mapping = {},
    tracking: Mapping[str, float] | None = None,
    without: Sequence[str] = (),
    log_period: float | None = None,
):
    """The loop, its scenario and its default claims with another tracking claim."""
    made = _law(plant, dict(law), T_s)
    if T_s is not None:
        made = Sampled(made, T_s=T_s)
    if delay:
        made = Delayed(made, delay)
    loop = ClosedLoop(plant, made)
    run = Scenario(
        duration,
        _reference(reference),
        disturbances,
        offset=dict(start or {}),
        log_period=log_period,
    )
    claims = [c for c in default_claims(loop, run) if type(c).__name__ not in without]
    if tracking is not None:
        claims = [
            replace(c, **tracking) if isinstance(c, run_claims.Tracking) else c for c in claims
        ]
    return loop, run, tuple(claims)


def _reference(given) -> Reference | None:
    if given is None:
        return None
    kind, values = next(iter(given.items()))
    values = {
        k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
    }  # "start" stays text
    if kind == "points":
        return Waypoints(
            "output", tuple(p if p == "start" else tuple(p) for p in values.pop("at")), **values
        )
    return {"hold": Hold, "sine": Sine}[kind]("output", **values)


def _law(plant, law: dict, T_s):
    kind = law.pop("law")
    if kind == "PID":
        numbers = {k: tuple(v) if isinstance(v, list) else v for k, v in law.items()}
        for key in ("K_p", "K_i", "K_d", "K_v", "signals"):
            if key in numbers and not isinstance(numbers[key], tuple):
                numbers[key] = (numbers[key],)
        return PID(
            plant, **{"feed": "none", "damping": "none", "K_i": (0.0,), "u_max": 1e6, **numbers}
        )
    if kind == "state":
        rows = lambda key: tuple(tuple(float(v) for v in row) for row in law.get(key, ()))
        return StateFeedback(plant, rows("K"), rows("F"), tuple(law.get("followed", ())))
    if kind == "LQR":
        believed = law.pop("model", None)
        model = plant if believed is None else state_space(*believed)
        tracked = tuple(law.pop("tracked", ()))
        return LQR.design(model, np.array(law.pop("Q"), float), law.pop("R"), T_s, tracked, **law)
    if kind == "MPC":
        believed = law.pop("model", None)
        model = plant if believed is None else state_space(*believed)
        return MPC(model, T_s=T_s, **law)
    if kind == "function":
        gain, memory = law["gain"], law.get("derivative", 0.0)
        followed = law.get("followed", "y_0")
        index = [s.name for s in plant.outputs].index(followed)
        wanted = (f"{followed}_d",)
        rate = law.get("rate")
        place = None if rate is None else [s.name for s in plant.outputs].index(rate)

        def proportional_law(t, y, r):
            speed = 0.0 if place is None else memory * y[place]
            return [gain * (r[0] - y[index]) - speed]

        return Plain(proportional_law, references=wanted)
    if kind == "curve":
        return Curve(plant, **law)
    if kind == "branching":
        return Plain(Branching(**law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "delegating":
        return Plain(Delegating(**law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "clocked":
        return Plain(clocked(T_s, **law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "keeper":
        return Plain(keeper(**law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "drifting":
        return Plain(Drifting(T_s, **law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "uneven":
        return Plain(UnevenLaw(**law), references=(f"{plant.outputs[0].name}_d",))
    if kind == "sum":
        return Plain(Summing(T_s, **law), references=(f"{plant.outputs[0].name}_d",))
    raise ValueError(f"there is no law {kind!r}")


class Summing:
    """u = K_p e + K_i ∫e of the first output, called from Python; the sum is kept in an attribute, and forgotten at `leak` 1/s."""

    def __init__(self, T_s: float, K_p: float, K_i: float, leak: float = 0.0):
        self.T, self.K_p, self.K_i, self.leak, self.sum = T_s, K_p, K_i, leak, 0.0

    def step(self, t, z, y, r):
        error = r[0] - y[0]
        self.sum += self.T * (error - self.leak * self.sum)
        return z, [self.K_p * error + self.K_i * self.sum]


def relay(push: float, rub: float, duration: float = 6.0):
    """A mass that rubs, under a proportional law that adds `push` in the direction of its error."""
    plant = Slide(F_c=rub)

    def law(t, y, r):
        error = r[0] - y[0]
        return [60.0 * error - 9.0 * y[1] + push * float(np.sign(error))]

    loop = ClosedLoop(plant, Sampled(Plain(law, references=("x_d",)), T_s=2e-3))
    return loop, Scenario(duration, Sine("output", "start", (0.05,), 0.25)), None


def slide(
    K_p: float,
    F_c: float,
    K_d: float = 25.0,
    K_i: float = 0.0,
    still: bool = False,
    duration: float = 10.0,
):
    """A mass that rubs, under PID."""
    reference = (
        {"hold": {"point": [0.0]}}
        if still
        else {"sine": {"centre": "start", "amplitude": [0.1], "frequency": 0.25}}
    )
    law = {
        "law": "PID",
        "K_p": K_p,
        "K_i": K_i,
        "K_d": K_d,
        "τ": 5e-3,
        "signals": "x",
        "u_max": 50.0,
    }
    return around(
        Slide(F_c=F_c), law, 1e-3, 0.0, None, duration, reference, tracking={"error": 0.01}
    )
