"""A linear plant: matrices and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, final

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal, System

_NUMBERS = tuple[float, ...]


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
