"""Is a user's plant or law what `workbench.contract.system` asks for? Checked when a loop is built, once per
text.

Everything a class states is asked for once on numbers (how many, finite or not) and once on
symbols, as it will be traced, and both must give the same numbers at the start and at points near
it. What fails is refused in words: which method of which class, on which line, and what to write
instead. The plants and laws of this library are tested with it, and not checked again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.kinds import shown
from workbench.contract.own_text import own
from workbench.contract.parameters import graph_key
from workbench.contract.system import Controller, Signal, System, check_system, names
from workbench.contract.units import alike

_passed: set[str] = set()
PROVIDED = ("reference", "noise")  # kinds of references: the scenario's, and draws


def check_plant(plant: Any) -> None:
    """Raise InputError for a System of the user's that breaks the contract."""
    check_system(plant)
    if not own(type(plant)):
        _once(plant, (), lambda: _check_system(plant))


def check_law(law: Any, plant: System) -> None:
    """Raise InputError for a Controller of the user's, or a wrapper, that breaks the contract on
    `plant`.
    """
    if isinstance(law, Controller) and not own(type(law)):
        _once(law, (plant,), lambda: _check_controller(law, plant))
    if isinstance(law, Controller) and law.inner is not None:
        check_law(law.inner, plant)


def _once(thing: Any, beside: tuple, check: Callable[[], None]) -> None:
    key = graph_key((thing, *beside))
    if key not in _passed:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            check()
        _passed.add(key)


# ---- plants --------------------------------------------------------------------------------------
def _check_system(plant: System) -> None:
    who = type(plant).__name__
    for group in ("states", "inputs", "outputs", "monitors"):
        _check_signals(who, group, _asked(who, group, partial(getattr, plant, group)))
    n = len(plant.states)
    x = _start(who, plant, plant.states)
    _check_names(plant, who)
    defaults = _asked(who, "defaults", plant.defaults)
    u = [float(defaults.get(name, 0.0)) for name in names(plant.inputs)]

    def call(method: str) -> Callable:
        return lambda s, a: getattr(s, method)(a[0], a[1 : n + 1], a[n + 1 :])

    expected = [
        ("out", "outputs", lambda s, a: s.out(a[0], a[1 : n + 1]), plant.outputs),
        ("rhs", "derivatives", call("rhs"), plant.states),
        ("monitor", "monitors", call("monitor"), plant.monitors),
        ("powers", "powers", call("powers"), plant.power_names),
        ("stored", "energies", lambda s, a: [call("stored")(s, a)], ("E_stored",)),
        ("guards", "guards", call("guards"), None),
        ("update", "states", call("update"), plant.states),
        ("release", "states", call("release"), plant.states),
        ("project", "states", lambda s, a: s.project(a[0], a[1 : n + 1]), plant.states),
    ]
    for method, what, f, wanted in expected:
        given = getattr(type(plant), method) is not getattr(System, method)
        if given or wanted:
            _check_method(plant, method, f, [0.0, *x, *u], what, wanted)


def _check_names(plant: System, who: str) -> None:
    known = {"inputs": names(plant.inputs), "states": names(plant.states)}
    asked = (
        ("defaults", _asked(who, "defaults", plant.defaults), "inputs"),
        ("limits", _asked(who, "limits", plant.limits), "inputs"),
        ("stiff", plant.stiff, "states"),
    )
    for method, given, group in asked:
        for name in given:
            if name not in known[group]:
                raise InputError(
                    f"{who}.{method} names {name!r}, which is none of its {group}",
                    mend=f"choose from {', '.join(known[group]) or 'none'}",
                )


# ---- laws ----------------------------------------------------------------------------------------
def _check_controller(law: Controller, plant: System) -> None:
    who = type(law).__name__
    for group in ("states", "measured", "commands", "references", "monitors"):
        _check_signals(who, group, _asked(who, group, partial(getattr, law, group)))
    _check_references(who, law.references)
    y_all = dict(zip(names(plant.outputs), plant.out(0.0, [float(v) for v in plant.initial()])))
    lacking = [name for name in names(law.measured) if name not in y_all]
    if lacking:
        return  # `ClosedLoop` refuses it with the nearest names
    _check_units(f"{who}.measured", law.measured, plant.outputs)
    _check_units(f"{who}.commands", law.commands, plant.inputs)
    z = _start(who, law, law.states)
    k = len(z)
    m = len(law.measured)
    point = [
        0.0,
        *z,
        *(float(y_all[name]) for name in names(law.measured)),
        *[0.0] * len(law.references),
    ]

    def call(method: Any, *first: Any) -> Any:
        return lambda s, a: getattr(s, method)(
            *first, a[0], a[1 : k + 1], a[k + 1 : k + 1 + m], a[k + 1 + m :]
        )

    def stepped(method: Any, *first: Any) -> Any:
        return lambda s, a: _pair(who, method, call(method, *first)(s, a))

    both = tuple(law.states) + tuple(law.commands)
    expected = [
        ("command", "commands", call("command"), law.commands),
        ("rhs", "derivatives", call("rhs"), law.states),
        ("step", "of memory and commands together", stepped("step"), both),
        ("step_at", "of memory and commands together", stepped("step_at", 1e-3), both),
        ("start", "of memory", call("start"), law.states),
        ("update", "of memory", call("update"), law.states),
        ("release", "of memory", call("release"), law.states),
        ("monitor", "monitors", call("monitor"), law.monitors),
    ]
    given = _own_methods(law, [method for method, *_ in expected])
    for method, what, f, wanted in expected:
        if method in given or (method == "monitor" and wanted):
            _check_method(law, method, f, point, what, wanted)


def _check_units(what: str, of_law: Sequence[Signal], of_plant: Sequence[Signal]) -> None:
    """InputError for a signal that the law has in another unit than the plant: no number is converted between them."""
    units = {s.name: s.unit for s in of_plant}
    for s in of_law:
        unit = units.get(s.name, s.unit)
        if "1" not in (s.unit, unit) and not alike(s.unit, unit):
            raise InputError(
                f"{what}: {s.name} is in {s.unit}, and in {unit} as the plant has it",
                mend=f'write Signal("{s.name}", "{unit}"), and convert it in the law',
            )


def _own_methods(law: Controller, methods: Sequence[str]) -> set[str]:
    """Which of these methods the law's class has of its own; InputError where none of them gives a command."""
    kind = type(law)
    given = {name for name in methods if getattr(kind, name) is not getattr(Controller, name)}
    if not given & {"command", "step", "step_at"}:
        raise InputError(
            f"{kind.__name__} has no law",
            mend="give it command(t, z, y, r) → u, or step(t, z, y, r) → (z⁺, u)",
        )
    return given


def _check_references(who: str, references: Sequence[Signal]) -> None:
    """InputError for a reference that nobody provides: it would be 0 all the time."""
    for s in references:
        if s.kind not in PROVIDED:
            raise InputError(
                f"{who}.references: the kind of {s.name} is {s.kind!r}, expected {' or '.join(map(repr, PROVIDED))}",
                mend=f'write Signal("{s.name}", "{s.unit}", kind="reference") for what the scenario gives',
            )


def _pair(who: str, method: str, found: Any) -> list:
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise InputError(
            f"{who}.{method} returns {shown(found)}: expected the pair (memory, commands)",
            mend="write: return z_next, [u_1, …]; a law without memory returns [], [u_1, …]",
        )
    return [*_entries(who, method, found[0]), *_entries(who, method, found[1])]


# ---- what both share -----------------------------------------------------------------------------
def _asked(who: str, what: str, get: Callable[[], Any]) -> Any:
    try:
        return get()
    except InputError:
        raise
    except Exception as why:
        from workbench.contract.words import failed

        raise failed(who, what, why) from why


def _check_signals(who: str, group: str, signals: Any) -> None:
    if not isinstance(signals, (tuple, list)) or not all(isinstance(s, Signal) for s in signals):
        raise InputError(
            f"{who}.{group}: expected a tuple of Signals, got {shown(signals)}",
            mend=f'write {group} = (Signal("x", "m", "position"),), with the comma',
        )
    found = names(signals)
    twice = next((name for i, name in enumerate(found) if name in found[:i]), None)
    if twice is not None:
        raise InputError(
            f"{who}.{group}: two signals are called {twice!r}", mend="give each a name of its own"
        )


def _start(who: str, thing: Any, states: Sequence[Signal]) -> list[float]:
    values = _entries(who, "initial", _asked(who, "initial", thing.initial))
    if len(values) != len(states):
        raise _wrong_number(who, "initial", values, "start values", states)
    numbers = [_number(who, "initial", value, i) for i, value in enumerate(values)]
    for s, value in zip(states, numbers):
        if not np.isfinite(value):
            raise InputError(
                f"{who}.initial gives {value} for {s.name}", mend="give finite numbers"
            )
    return numbers


def _entries(who: str, method: str, found: Any) -> list:
    """What a method returned, as a list."""
    alone = isinstance(found, np.ndarray) and found.ndim == 0
    if alone or isinstance(found, (str, dict)) or not isinstance(found, Iterable):
        words = "nothing (None)" if found is None else shown(found)
        mend = (
            "end it with return [...]"
            if found is None
            else "return a list, [value] where it is one number"
        )
        raise InputError(f"{who}.{method} returns {words}: expected a list of numbers", mend=mend)
    return list(found)


def _number(who: str, method: str, value: Any, i: int) -> float:
    try:
        if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"{who}.{method}: its entry number {i + 1} is {shown(value)}, expected one number",
            mend="return a flat list of numbers, no lists or arrays inside it",
        ) from None


def _wrong_number(
    who: str, method: str, values: Sequence, what: str, wanted: Sequence
) -> InputError:
    listed = ", ".join(s if isinstance(s, str) else s.name for s in wanted) or "none"
    short = "" if len(listed) <= 200 else " …"
    return InputError(
        f"{who}.{method} returns {len(values)} {what}, expected {len(wanted)} ({listed[:200]}{short})",
        mend="return one for each of them, in this order",
    )


def _check_method(
    thing: Any, method: str, f: Callable, point: list[float], what: str, wanted: Sequence | None
) -> None:
    """One method on numbers, again on the same numbers, and on symbols."""
    from workbench.contract import words
    from workbench.contract.symbols import apart, traced

    who = type(thing).__name__
    try:
        values = _entries(who, method, f(thing, list(point)))
        again = _entries(who, method, f(thing, list(point)))
    except InputError:
        raise
    except Exception as why:
        raise words.failed(who, method, why) from why
    if wanted is not None and len(values) != len(wanted):
        raise _wrong_number(who, method, values, what, wanted)
    numbers = [_number(who, method, value, i) for i, value in enumerate(values)]
    once_more = [_number(who, method, value, i) for i, value in enumerate(again)]
    if not np.array_equal(numbers, once_more, equal_nan=True):
        raise words.unsteady(who, method)
    graph = traced(thing, method, f, point, len(values))
    if (i := apart(thing, f, graph, point)) is not None:
        raise words.two_minds(who, method, i, wanted)
