"""python-control in and out.

    ẋ = f(t, x, u),  y = g(t, x)        a continuous System and control.NonlinearIOSystem are the same thing
    δẋ = A δx + B δu,  δy = C δx        control.StateSpace is the linearisation about (x, u)

Signal names survive both ways. python-control knows no units: `Signal.unit` stays with the System.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal, System, find, names
from workbench.numerics.calculus import symbolic, trace
from workbench.numerics.linearisation import linearize

if TYPE_CHECKING:
    import control
from workbench.numerics.shut_valves import opened_by_a_hair

_NUMBERS = tuple[float, ...]


def to_control(
    system: System,
    x: Sequence[float] | None = None,
    u: Sequence[float] | None = None,
    linear: bool = False,
    inputs: Sequence[str] | None = None,
    side: int = 1,
) -> control.NonlinearIOSystem | control.StateSpace:
    """`system` for python-control.

    inputs  names of the inputs it keeps, all others stay at their default; None: all that are no disturbances
    linear  False: NonlinearIOSystem. True: StateSpace of deviations from states x (the initial state by default) and
            inputs u (in order of `inputs`; the defaults by default), by exact Jacobians
    side    if linear and a valve is shut there, exactly between its two edges: +1 or −1, the side to which all such valves are
            taken to be open by a hair (HAIR, beyond any dead band). The name of the StateSpace says which side it was
    Outputs are the measured ones, or the states where nothing is measured. Raises InputError for a sampled loop (its
    flow is only half of it), for a side that is neither 1 nor −1, and, if linear, where `linearize` refuses.
    """
    import control

    if system.period is not None:
        raise InputError(
            f"{type(system).__name__} is sampled every {system.period:g} s: between samples its flow "
            "holds the command, which python-control cannot say",
            mend="convert the plant, or a loop with a continuous law",
        )
    if inputs is None:
        inputs = [s.name for s in system.inputs if s.kind != "disturbance"]
    live = tuple(find(system.inputs, name, "to_control, inputs").name for name in inputs)
    measured = bool(system.outputs)
    label = {
        "name": system.title,
        "states": names(system.states),
        "inputs": list(live),
        "outputs": names(system.outputs if measured else system.states),
    }
    if linear:
        return _state_space(system, x, u, live, side, label)
    flow, out = _texts(system, live)
    return control.NonlinearIOSystem(
        lambda t, x, u, params: np.asarray(flow(t, x, u), np.float64),
        (lambda t, x, u, params: np.asarray(out(t, x), np.float64)) if measured else None,
        dt=0,
        **label,
    )


def _state_space(
    system: System,
    x: Sequence[float] | None,
    u: Sequence[float] | None,
    live: tuple[str, ...],
    side: int,
    label: dict[str, Any],
) -> control.StateSpace:
    """The linearisation at (x, u), see `to_control`."""
    import control

    if u is not None and len(u) != len(live):
        raise InputError(
            f"to_control: {len(u)} inputs u for {', '.join(live)}",
            mend="give one number for each",
        )
    if side not in (1, -1):
        raise InputError(
            f"to_control: side {side}",
            key="side",
            mend="1 or -1: to which side shut valves open",
        )
    given = {**system.defaults(), **dict(zip(live, () if u is None else u))}
    at = list(system.initial()) if x is None else list(x)
    opened = opened_by_a_hair(system, at, given, side)
    if opened:
        way = "+" if side > 0 else "−"
        label = label | {"name": f"{label['name']}, {', '.join(opened)} open to {way}"}
    point = linearize(system, at, [given.get(s.name, 0.0) for s in system.inputs], inputs=live)
    measured = bool(system.outputs)
    C = point.C if measured else np.eye(len(system.states))
    D = point.D if measured else np.zeros((len(system.states), len(live)))
    return control.StateSpace(point.A, point.B, C, D, 0, remove_useless_states=False, **label)


def _texts(system: System, live: tuple[str, ...]) -> tuple[Any, Any]:
    """(flow(t, x, u), outputs(t, x)) as functions of numbers: traced, but for what came from python-control."""
    if isinstance(system, FromControl):
        return system.rhs, system.out
    traced = trace(system, live)
    c = traced.constants(system)
    n = traced.n_states
    flow = lambda t, x, u: np.array(traced.flow(t, x, u, c)).ravel()[:n]
    out = lambda t, x: np.array(traced.out(t, x, np.zeros(len(live)), c)).ravel()
    return flow, out


def from_control(sys: Any) -> System:
    """A System from a continuous python-control system: `LinearPlant` for linear ones, else `FromControl`.

    Raises InputError for a sampled system, and for one whose outputs depend directly on its inputs (a System's measured
    outputs do not; an actuator's lag in front makes it so).
    """
    import control

    if sys.dt is True or (sys.dt is not None and sys.dt > 0):
        raise InputError(
            f"python-control system {sys.name} is sampled (dt = {sys.dt})",
            mend="give the continuous system; sampling is the business of Sampled",
        )
    if isinstance(sys, (control.StateSpace, control.TransferFunction)):
        return _linear(sys)
    if not isinstance(sys, control.NonlinearIOSystem):
        raise InputError(
            f"{type(sys).__name__} is no python-control system with a state",
            mend="give a StateSpace, TransferFunction or NonlinearIOSystem",
        )
    plant = FromControl(sys)
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(3, sys.nstates)):
        y = [np.asarray(sys.output(0.0, x, u), float) for u in rng.normal(size=(2, sys.ninputs))]
        if not np.array_equal(y[0], y[1], equal_nan=True):
            _direct(sys)
    return plant


def _linear(sys: Any) -> LinearPlant:
    import control

    s = control.ss(sys)
    if np.any(s.D):
        _direct(s)
    flat = lambda M: tuple(float(v) for v in np.asarray(M).ravel())
    return LinearPlant(
        flat(s.A),
        flat(s.B),
        flat(s.C),
        tuple(s.state_labels),
        tuple(sys.input_labels),
        tuple(sys.output_labels),
        sys.name,
    )


def _direct(sys: Any) -> None:
    raise InputError(
        f"python-control system {sys.name}: outputs depend directly on inputs, a System's must not",
        mend="put the actuator's lag in front, or measure a state",
    )


@final
@dataclass(frozen=True)
class LinearPlant(System):
    """ẋ = A x + B u,  y = C x, matrices row by row; names of states, inputs and outputs. It starts at zero."""

    A: Annotated[_NUMBERS, Unit("1")]
    B: Annotated[_NUMBERS, Unit("1")]
    C: Annotated[_NUMBERS, Unit("1")]
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    name: str = "linear"

    def __post_init__(self) -> None:
        check_bounds(self)
        n = len(self.state_names)
        m = len(self.input_names)
        p = len(self.output_names)
        for field, size in (("A", n * n), ("B", n * m), ("C", p * n)):
            if len(getattr(self, field)) != size:
                raise InputError(
                    f"{field}: expected {size} numbers, row by row, got {len(getattr(self, field))}"
                )
        for i, name in enumerate(self.output_names):
            own = tuple(float(s == name) for s in self.state_names)
            if name in self.state_names and self.C[i * n : (i + 1) * n] != own:
                raise InputError(
                    f"output_names: {name!r} is also a state, but the output is another quantity"
                )

    @property
    def states(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.state_names)

    @property
    def inputs(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.input_names)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.output_names)

    monitors = outputs

    def initial(self) -> Sequence[float]:
        return [0.0] * len(self.state_names)

    def rhs(self, t: Scalar, x: Vector, u: Vector) -> list:
        return [a + b for a, b in zip(_times(self.A, x), _times(self.B, u, len(x)))]

    def out(self, t: Scalar, x: Vector) -> list:
        return _times(self.C, x, len(self.output_names))

    def monitor(self, t: Scalar, x: Vector, u: Vector) -> list:
        return self.out(t, x)


def _times(M: Any, v: Vector, rows: Any = None) -> list:
    k = len(v)
    return [
        sum((M[i * k + j] * v[j] for j in range(k)), 0.0)
        for i in range(len(v) if rows is None else rows)
    ]


@final
@dataclass(frozen=True, eq=False)
class FromControl(System):
    """A python-control system as it is: Python on floats, so it has no compiled form and no exact derivative."""

    sys: Any
    no_derivative = "a python-control function has no exact derivative"

    @property
    def name(self) -> str:
        return self.sys.name

    @property
    def states(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.sys.state_labels)

    @property
    def inputs(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.sys.input_labels)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        return tuple(Signal(name) for name in self.sys.output_labels)

    def initial(self) -> Sequence[float]:
        return [0.0] * self.sys.nstates

    def rhs(self, t: Scalar, x: Vector, u: Vector) -> list:
        return [float(v) for v in self.sys.dynamics(*self._floats(t, x, u))]

    def out(self, t: Scalar, x: Vector) -> list:
        return [float(v) for v in self.sys.output(*self._floats(t, x, [0.0] * self.sys.ninputs))]

    def _floats(self, t: Scalar, x: Vector, u: Vector) -> Any:
        if symbolic([t, *x, *u]):
            raise InputError(
                f"python-control system {self.name} works on floats only: it cannot be traced for "
                "simulation, linearisation or proofs",
                mend="write its equations as a System (a frozen dataclass with rhs), or linearise it with "
                "control.linearize and pass the StateSpace",
            )
        return t, np.array(x, float), np.array(u, float)
