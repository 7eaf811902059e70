"""python-control in and out.

    ẋ = f(t, x, u),  y = g(t, x)        a continuous System and control.NonlinearIOSystem are the same thing
    δẋ = A δx + B δu,  δy = C δx        control.StateSpace is the linearisation about (x, u)

Signal names survive both ways. python-control knows no units: `Signal.unit` stays with the System.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System, find, names
from workbench.interop.linear_plant import LinearPlant
from workbench.interop.python_plant import FromControl, told
from workbench.interop.sampled import loop_step
from workbench.numerics.calculus import trace
from workbench.numerics.linearisation import linearize
from workbench.numerics.shut_valves import opened_by_a_hair

if TYPE_CHECKING:
    import control


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
            inputs u (in order of `inputs`; the defaults by default, for references those that hold where the loop stands), by
            exact Jacobians. That of a sampled loop has its sample time: states and outputs are those before each sample,
            inputs are held over it
    side    if linear and a valve is shut there, exactly between its two edges: +1 or −1, the side to which all such valves are
            taken to be open by a hair (HAIR, beyond any dead band). The name of the StateSpace says which side it was
    Outputs are the measured ones, or the states where nothing is measured. Raises InputError for a sampled loop that shall
    not be linear (its flow is only half of it), for a side that is neither 1 nor −1, and, if linear, where `linearize` refuses.
    """
    import control

    if system.period is not None and not linear:
        raise InputError(
            f"{type(system).__name__} is sampled every {system.period:g} s: between samples its flow "
            "holds the command, which a NonlinearIOSystem cannot say",
            mend="ask for it from sample to sample (linear=True), or convert the plant",
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
    if not live:
        pushes = ", ".join(s.name for s in system.inputs if s.kind == "disturbance")
        raise InputError(
            f"{system.title} has no inputs that are asked for, and a StateSpace needs one",
            key="inputs",
            mend=f"name a disturbance, {pushes or 'which this one lacks'}: inputs=(…,)",
        )
    if side not in (1, -1):
        raise InputError(
            f"to_control: side {side}",
            key="side",
            mend="1 or -1: to which side shut valves open",
        )
    given = {**system.defaults(), **dict(zip(live, () if u is None else u))}
    at = list(system.initial()) if x is None else list(x)
    opened = opened_by_a_hair(system.plant, at, given, side)
    if opened:
        way = "+" if side > 0 else "−"
        label = label | {"name": f"{label['name']}, {', '.join(opened)} open to {way}"}
    if system.period is not None:
        start = None if x is None else at
        step = loop_step(system, start, at, dict(zip(live, () if u is None else u)), live)
        D = np.zeros((len(step.C), len(live)))
        dt = float(system.period)
        return control.StateSpace(
            step.A, step.B, step.C, D, dt, remove_useless_states=False, **label
        )
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

    linear = isinstance(sys, (control.StateSpace, control.TransferFunction))
    if not linear and not isinstance(sys, control.NonlinearIOSystem):
        raise InputError(
            f"{type(sys).__name__} is no python-control system with a state",
            mend="give a StateSpace, TransferFunction or NonlinearIOSystem",
        )
    if sys.dt is True or (sys.dt is not None and sys.dt > 0):
        raise InputError(
            f"python-control system {sys.name} is sampled (dt = {sys.dt})",
            mend="give the continuous system; sampling is the business of Sampled",
        )
    if linear:
        return _linear(sys)
    plant = FromControl(sys, told(sys))
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
