"""Trials of gains: one gain at its usual value for the machine, or at a tenth and tenfold where none is known; feed-forward."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.plain import Plain
from workbench.contract.system import Controller, innermost
from workbench.verification.cause.trial import Trial, against, law_path, odd, own_path

RATES = (0.3, 3.0)  # 1/s: of integral action, over proportional
WEIGHTS = ("S", "R")  # of moves and of commands
FAR = 30.0  # times the default, from which on something between is tried, too


def gain_trials(loop, known) -> Iterator[Trial]:
    """Every trial of a gain; `known` has the loop's numbers by path."""
    yield from _gains(loop, known)
    yield from _tenths(loop, known)
    yield from _integral(loop, known)
    yield from _fed(loop)
    yield from _weaker(loop)
    yield from _bounded(loop, known)
    yield from _weights(loop, known)


def _weights(loop, known) -> Iterator[Trial]:
    """A tenth and tenfold of every weight of a predictive law: no machine says which are usual."""
    if not isinstance(innermost(loop.controller), Plain):
        return
    path = own_path(loop.controller)
    weights = [
        leaf
        for leaf in known.values()
        if leaf.path.removeprefix(path).split(".")[0] in WEIGHTS and leaf.value
    ]
    yield from _scaled(weights, "weight", 0.4)


def feeds_forward(law) -> bool:
    """Whether the law has a setting that says what it feeds forward, as PID has; "none" is one of them."""
    return is_dataclass(law) and any(f.name == "feed" for f in fields(law))


def usual_law(law, model):
    """The law with its default gains for a model; None where the law has no default gains for a model of this kind."""
    suited = law.suited(model)
    if feeds_forward(law) and not model.cylinders and "K_p" not in suited:
        return None
    own = {
        f.name
        for f in fields(law)
        if f.init and f.name in ("signals", "space", "derivative", "feed", "damping")
    }
    kept = {name: getattr(law, name) for name in own}
    try:
        return type(law)(model=model, **(suited | kept))
    except (InputError, ValueError, TypeError):
        return None


def _gains(loop, known) -> Iterator[Trial]:
    law = innermost(loop.controller)
    path = law_path(loop.controller)
    model = law.model
    if model is None or not isinstance(law, Controller):
        return
    usual = usual_law(law, model)
    if usual is None:
        return
    for field in fields(law):
        numbers = {
            p: leaf
            for p, leaf in known.items()
            if p == path + field.name or p.startswith(path + field.name + ".")
        }
        if field.name == "model" or not numbers or "gains" == field.name:
            continue
        defaults = _one_each(getattr(usual, field.name), len(numbers))
        if len(defaults) != len(numbers):
            continue
        off = {p: float(d) for (p, leaf), d in zip(numbers.items(), defaults) if leaf.value != d}
        if off:
            worst = max(off, key=lambda p: odd(known[p].value, off[p]))
            value = float(known[worst].value)
            right = off[worst]
            told = against(value, right, "the default", known[worst].info.unit)
            words = f"gain controller.{field.name} is {told}"
            yield Trial("gain", words, off, {}, 0.85 * odd(value, right))
            yield from _halfway(words, numbers, off)


def _halfway(words: str, numbers, off) -> Iterator[Trial]:
    """Half the decades to the default, where a gain is many of them off: what is usual may follow too slowly."""
    between = {}
    for path, right in off.items():
        value = float(numbers[path].value)
        if value * right > 0 and not 1 / FAR < value / right < FAR:
            between[path] = math.copysign(math.sqrt(value * right), value)
    if len(between) == len(off):
        yield Trial("gain", words, between, {}, 0.5)


def _one_each(given, count: int) -> list:
    """A gain for each of `count` numbers: one for all is that of each, and of several one for all is their middle."""
    if not isinstance(given, tuple):
        return [given]
    if len(given) == 1:
        return list(given) * count
    if count == 1:
        return [float(np.median(given))]
    return list(given)


def _fed(loop) -> Iterator[Trial]:
    """The wanted velocity fed forward, where nothing does, alone and with the default gains."""
    law = innermost(loop.controller)
    if not feeds_forward(law) or law.feed != "none":
        return
    suited = type(law).suited(law.model)
    if not suited and not law.model.cylinders:
        return
    own = {"feed": suited.get("feed", "flow"), "K_v": suited.get("K_v", (40.0,))}
    words = "nothing feeds the wanted velocity forward (controller.feed: none)"
    yield Trial("feed", words, {}, {}, 0.6, replace(law, **own))
    usual = usual_law(law, law.model)
    if usual is None:
        return
    numbers = "; ".join(trial.words for trial in _gains(loop, {x.path: x for x in leaves(loop)}))
    whole = replace(usual, **own)
    yield Trial("feed", f"several settings together: {numbers}; {words}", {}, {}, 0.5, whole)


def _integral(loop, known) -> Iterator[Trial]:
    """Integral action where there is none, as slow as seconds: what only proportional action holds stands off."""
    path = law_path(loop.controller)
    pairs = {p: p.replace("K_i", "K_p") for p in known if p.startswith(path + "K_i")}
    if not pairs or any(known[p].value or other not in known for p, other in pairs.items()):
        return
    for rate in RATES:
        numbers = {p: rate * known[other].value for p, other in pairs.items()}
        yield Trial("gain", "no integral action (controller.K_i: 0)", numbers, {}, 0.4)


def _bounded(loop, known) -> Iterator[Trial]:
    """A trial with the law's limit of its commands raised to the machine's own."""
    law = innermost(loop.controller)
    path = law_path(loop.controller) + "u_max"
    top = max((high for _, high in loop.plant.limits().values()), default=0.0)
    if feeds_forward(law) and path in known and law.u_max < 0.95 * top:
        words = f"controller.u_max limits commands to {law.u_max:g}, the machine takes {top:g}"
        yield Trial("limit", words, {path: top}, {}, odd(law.u_max, top))


@dataclass(frozen=True, eq=False)
class Tenth:
    """A user's function that commands a tenth of what it says."""

    law: Any

    def __call__(self, t, y, r):
        return [0.1 * float(u) for u in np.atleast_1d(self.law(t, y, r))]


def _weaker(loop) -> Iterator[Trial]:
    """A user's function with a tenth of its gains: it names none of them."""
    law = innermost(loop.controller)
    kept = ("step", "command", "initial", "start")
    if not isinstance(law, Plain) or any(hasattr(law.law, name) for name in kept):
        return
    weaker = replace(
        law,
        law=Tenth(law.law),
        measured=tuple(law.measured),
        commands=tuple(law.commands),
        references=tuple(law.references),
    )
    words = f"gains of the law {law.name}"
    yield Trial("gain", words, {}, {}, 0.6, weaker, better="a tenth of what it commands")


def _tenths(loop, known) -> Iterator[Trial]:
    """A tenth and tenfold of every gain, and of every number of a user's plant, where nothing says what is usual."""
    law = innermost(loop.controller)
    path = law_path(loop.controller)
    if law.model is None or usual_law(law, law.model) is None:
        found = [leaf for leaf in known.values() if leaf.path.startswith(path) and leaf.value]
        gains = [leaf for leaf in found if leaf.path.removeprefix(path)[:1] in ("K", "k")]
        yield from _scaled(gains, "gain", 0.4)
    if not type(loop.plant).__module__.startswith(("plants.", "workbench.")):
        own = [leaf for leaf in known.values() if leaf.path.startswith("plant.") and leaf.value]
        yield from _scaled([leaf for leaf in own if not leaf.constant], "machine", 0.2)


def _as_written(path: str) -> str:
    """A number's path as a case file has it: without the wrappers around the law."""
    return re.sub(r"^controller\.(inner\.)*(law\.)?", "controller.", path)


def _scaled(found, kind: str, oddness: float) -> Iterator[Trial]:
    for leaf in found:
        for factor, words in ((0.1, "a tenth of it"), (10.0, "ten times that")):
            told = f"{_as_written(leaf.path)} ({leaf.value:.4g})"
            numbers = {leaf.path: factor * leaf.value}
            yield Trial(f"{kind} {factor:g}", told, numbers, {}, oddness, better=words)
