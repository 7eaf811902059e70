"""A user's own controller: what it must look like, and how it becomes one that loops can be made with."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from workbench.contract.declared import LawData
from workbench.contract.errors import InputError
from workbench.contract.own_laws import Commanding, Stepped
from workbench.contract.own_text import own
from workbench.contract.system import (
    Controller,
    Signal,
    System,
    controls,
    find,
    innermost,
    rewrapped,
)
from workbench.contract.units import derived


@final
@dataclass(frozen=True, eq=False)
class Plain(LawData):
    """A user's own controller: called from Python at every sample, free to be anything.

    law         function `f(t, y, r) → u`, object with `command(t, z, y, r) → u`, or object with `step(t, z, y, r) → (z⁺, u)`
    measured    names or Signals of the plant's outputs that y holds, in this order; left out, all of them
    commands    of the plant's inputs that u holds; left out, all that are no disturbances
    references  of what r holds, such as "q_1_d" and its rate "dq_1_d"; left out, none

        law = fp.Plain(lambda t, y, r: [40.0 * (r[0] - y[0])], measured=("x_1",), references=("x_1_d",), commands=("u_1",))

    t is in s, y, r and u are lists of floats in SI units. The memory z is any Python value. The law may also have
    `initial() → z`, `start(t, z, y, r) → z` (memory that fits the first measurement), `T_s`, `measured`, `commands`,
    `references`, and `monitors` (Signals) with `monitor(t, z, y, r) → values` to be logged.
    """

    law: Any
    measured: tuple[Signal | str, ...] = ()
    commands: tuple[Signal | str, ...] = ()
    references: tuple[Signal | str, ...] = ()

    # Its memory is Python's (`workbench.run.hosted` keeps it, new at every run), so the loop sees none.
    states = ()
    period = None
    lag = 0.0
    no_derivative = "a controller called from Python has no derivative"

    @property
    def name(self) -> str:
        return getattr(self.law, "__name__", type(self.law).__name__)

    @property
    def monitors(self) -> tuple[Signal, ...]:
        return tuple(getattr(self.law, "monitors", ()))

    def initial(self) -> Sequence[float]:
        return []

    def _refuse(self, *_: Any) -> None:
        raise InputError(
            f"{self.name} is called from Python and has no expression",
            mend="run it with simulate(loop, scenario)",
        )

    command = rhs = step_at = start = monitor = _refuse


def plain(law: Any, plant: System) -> Plain:
    """`law` as a Plain controller of `plant`, its signals looked up on the law or taken from the plant."""
    given = law if isinstance(law, Plain) else Plain(law)
    law = given.law
    if not (isinstance(law, Stepped) or isinstance(law, Commanding) or callable(law)):
        raise InputError(
            f"{given.name} is no controller",
            mend="give it step(t, z, y, r) → (z⁺, u), or command(t, z, y, r) → u, or pass f(t, y, r) → u",
        )

    _check_calls(law, given.name)

    def wanted(attribute: Any) -> Any:
        return getattr(given, attribute) or getattr(law, attribute, None)

    def pick(attribute: Any, available: Any) -> Any:
        chosen = wanted(attribute)
        if chosen is None:
            return tuple(available)
        _check_names(chosen, f"{attribute} of {given.name}")
        return tuple(
            find(available, getattr(w, "name", w), f"{attribute} of {given.name}") for w in chosen
        )

    _check_names(wanted("references"), f"references of {given.name}")
    own = tuple(
        replace(s, kind=s.kind or "reference") if isinstance(s, Signal) else _reference(s, plant)
        for s in wanted("references") or ()
    )
    return Plain(law, pick("measured", plant.outputs), pick("commands", controls(plant)), own)


def _check_names(given: Any, what: str) -> None:
    """InputError for a name by itself, whose letters would be taken for names."""
    if isinstance(given, str):
        raise InputError(f"{what}: expected a tuple of names", mend=f"write ({given!r},)")


# What a user's law may have, and the names of what it is called with.
CALLS = {
    "step": "t, z, y, r",
    "command": "t, z, y, r",
    "start": "t, z, y, r",
    "monitor": "t, z, y, r",
    "initial": "",
}


def _check_calls(law: Any, name: str) -> None:
    """InputError for a function, or a method, that cannot be called with what it will be given."""
    if own(type(law)):
        return
    wanted = {
        f"{name}.{method}": (getattr(law, method), arguments)
        for method, arguments in CALLS.items()
        if hasattr(law, method)
    }
    if not (isinstance(law, Stepped) or isinstance(law, Commanding)):
        wanted[name] = (law, "t, y, r")
    for place, (f, arguments) in wanted.items():
        if isinstance(f, type):
            raise InputError(
                f"{place} is a class, not one of its objects", mend=f"make one: {place}(…)"
            )
        if not callable(f):
            raise InputError(
                f"{place} is {f!r}, which cannot be called",
                mend=f"make it a method: def {place}(self, {arguments})",
            )
        if isinstance(law, type):
            raise InputError(
                f"{name} is a class, not one of its objects", mend=f"make one: {name}(…)"
            )
        try:
            inspect.signature(f).bind(*(arguments.split(", ") if arguments else ()))
        except TypeError as why:
            raise InputError(
                f"{place} cannot be called as ({arguments}): {why}",
                mend=f"it is called with ({arguments}) in this order; t in s, y and r are lists of floats",
            ) from None
        except ValueError:  # built in: it shows no signature
            continue


def _reference(name: str, plant: System) -> Signal:
    """Reference signal such as "dx_1_d", its unit taken from the plant's signal of that name where there is one."""
    base = name.removesuffix("_d")
    order = len(base) - len(base.lstrip("d"))
    unit = next((s.unit for s in (*plant.outputs, *plant.monitors) if s.name == base[order:]), "1")
    return Signal(name, derived(unit, order), kind="reference")


def joined(controller: Any, plant: System) -> Any:
    """`controller` ready for `plant`: a user's own law inside any wrappers becomes Plain, and is sampled.

    Where no wrapper samples it, it runs at its own `T_s`, or every 1 ms.
    """
    from workbench.contract.wrappers import Sampled

    law = innermost(controller)
    if isinstance(law, Controller):
        return controller
    law = plain(law, plant)
    controller = rewrapped(controller, law)
    return (
        controller
        if controller.period is not None
        else Sampled(controller, getattr(law.law, "T_s", 1e-3))
    )
