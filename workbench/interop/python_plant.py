"""A python-control system as a plant: Python on floats."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal, System
from workbench.numerics.calculus import symbolic
from workbench.numerics.differences import check_timeless, differences, linearisation
from workbench.numerics.linearisation import Linearisation
from workbench.numerics.overflow import may_overflow


@final
@dataclass(frozen=True, eq=False)
class FromControl(System):
    """A python-control system as it is: Python on floats. It runs, slower than equations that are compiled, and has no exact
    derivative: near a point it is what differences say.
    """

    sys: Any
    text: str = ""  # what it computes, told apart from others of the same signals
    on_floats = True
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
        return self._called(self.sys.dynamics, t, x, u, len(x))

    def out(self, t: Scalar, x: Vector) -> list:
        return self._called(self.sys.output, t, x, [0.0] * self.sys.ninputs, self.sys.noutputs)

    @property
    def derivatives(self) -> tuple[str, str]:
        """Strength of what rests on its derivatives, and where they come from."""
        return "sampled", f"differences of {self.name}, which provides no derivatives"

    def linearised(self, x: Vector, u: Vector, inputs: Sequence[str]) -> Linearisation:
        """About states x and inputs u, by these inputs. Raises InputError where differences find no derivative."""
        flow = lambda t, x, u: np.array([*self.rhs(t, x, u), *self.out(t, x)])
        check_timeless(self.name, flow, x, u)
        J = differences(self.name, self, flow, x, u)
        return linearisation(self.name, self, flow, J, x, u, inputs)

    def _called(self, f: Callable, t: Scalar, x: Vector, u: Vector, count: int) -> list:
        """What a function of the system gives; not a number where its arithmetic overflows, as a run that diverges does."""
        given = self._floats(t, x, u)
        try:
            with may_overflow():
                found = [float(v) for v in f(*given)]
            if len(found) != count:
                raise ValueError(f"{len(found)} numbers, expected {count}")
            return found
        except ArithmeticError:
            return [float("nan")] * count
        except Exception as why:  # whatever the user's function raises
            raise InputError(
                f"python-control system {self.name} failed at t = {t:.6g} s: {type(why).__name__}: {why}",
                mend="its functions must cope with every state and input, and give one number for each state or output",
            ) from why

    def _floats(self, t: Scalar, x: Vector, u: Vector) -> Any:
        if symbolic([t, *x, *u]):
            raise InputError(
                f"python-control system {self.name} works on floats only: it cannot be traced for "
                "linearisation or proofs",
                mend="write its equations as a System (a frozen dataclass with rhs), or linearise it with "
                "control.linearize and pass the StateSpace",
            )
        return t, np.array(x, float), np.array(u, float)


def told(sys: Any) -> str:
    """Name, source and parameters of a python-control system's functions, the same in every process where they are known."""
    parts = []
    for f in (sys.updfcn, sys.outfcn):
        try:
            source = inspect.getsource(f) if f is not None else ""
        except (OSError, TypeError):
            source = repr(f)
        parts.append(source)
    text = "\n".join([*parts, repr(sorted(sys.params.items()))])
    return f"{sys.name}, source {hashlib.sha256(text.encode()).hexdigest()[:16]}"
