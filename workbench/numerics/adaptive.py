"""What a plant with a stiff flow says about its integration; `workbench.numerics.stiff` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.contract.errors import InputError


@dataclass(frozen=True)
class Adaptive:
    """A plant that has one as `adaptive` is integrated by adaptive steps of an L-stable method.

    errors    error a step may make, one for each state, in the state's unit
    period    the flow has edges in time at multiples of this, s, and is steep near them; 0: none
    watched   state whose passing of one of `edges` ends a step; "": none
    edges     values of the watched state, in its unit
    """

    errors: tuple[float, ...]
    period: float = 0.0
    watched: str = ""
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for error in self.errors:
            if not error > 0:
                raise InputError(
                    f"errors: {error:g} is no error that a step may make",
                    mend="give numbers greater than zero",
                )
        if self.edges and not self.watched:
            raise InputError("edges: of which state?", mend="name it in `watched`")


@dataclass(frozen=True)
class Fixed:
    """A plant that has one as `fixed` is integrated by equal steps of the same method, with no control of the error.

    step      longest step, s; a scenario's max_step may shorten it
    """

    step: float = 1e-3

    def __post_init__(self) -> None:
        if not self.step > 0:
            raise InputError(
                f"step: {self.step:g} s is no step", mend="give a time greater than zero"
            )


def adaptive(system: Any) -> Adaptive | None:
    """What the plant of a loop, or the system itself, asks for; None: fixed steps."""
    return system.plant.adaptive


def fixed(system: Any) -> Fixed | None:
    """Equal steps of the L-stable method, where the plant of a loop, or the system itself, asks for them."""
    return system.plant.fixed
