"""Faults that could be removed: each is a set of numbers of a loop (or of its scenario) put back to what they should be.

    model      a number the controller believes, put to the machine's (or the machine's to what is believed)
    path       delay, sample time, filter, noise, quantisation, own limits of the commands
    gain       a gain of the law, put to the law's own default for this machine
    foresight  what a predictive law holds itself to, and how far it looks (`cause.foresight`)
    machine    a number of the machine, put to that of the machine as shipped, or of a better one (`cause.machine`)
    scenario   a disturbance taken away, a reference walked more slowly

Only numbers change, so that the compiled loop serves every trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.contract.parameters import Leaf, leaves
from workbench.contract.system import System, innermost
from workbench.contract.wrappers import Delayed, dead_time
from workbench.verification.cause.foresight import foresight_trials
from workbench.verification.cause.gains import gain_trials
from workbench.verification.cause.machine import imperfect, starved, uneven, wider
from workbench.verification.cause.scenario_trials import scenario_trials
from workbench.verification.cause.trial import Cause, Trial, against, law_path, odd, own_path
from workbench.verification.defaults import law_of

USUAL_SAMPLE = 1e-3  # s
FINER = 4  # by this factor a law called from Python is asked more often than it is, at most: each answer takes its time
LISTED = 3  # numbers that are put back together: so many are named
WILD = 30.0  # a belief further off than this is not made into a machine
ASIDE = ("pose", "pressures", "z_10", "F_0", "θ_0")  # where a machine starts is no matter of belief


def trials(run) -> list[Trial]:
    """Changes that could put this loop and scenario right, the most unusual number first."""
    loop = run.loop
    known = {leaf.path: leaf for leaf in leaves(loop)}
    found = [
        *_models(loop, known),
        *_paths(loop, known),
        *gain_trials(loop, known),
        *foresight_trials(loop),
        *_machine(loop, known),
        *scenario_trials(run),
    ]
    return sorted([*found, *_together(found)], key=lambda trial: -trial.oddness)


def _together(found: list[Trial]) -> Iterator[Trial]:
    """Everything of one kind put back at once: two halves of one fault heal nothing alone."""
    for kind in ("model", "machine", "better", "gain"):
        # What is believed is put to the machine's, never both to the other's.
        own = [
            trial
            for trial in found
            if trial.kind == kind
            and trial.numbers
            and (kind != "model" or all(path.startswith("controller.") for path in trial.numbers))
        ]
        if len({trial.words for trial in own}) > 1:
            numbers = {
                path: number for trial in reversed(own) for path, number in trial.numbers.items()
            }
            yield Trial(
                kind,
                f"several numbers together: {_listed([*dict.fromkeys(trial.words for trial in own)])}",
                numbers,
                {},
                0.4 * max(t.oddness for t in own),
            )


def _listed(words: list[str]) -> str:
    """The first ones, and how many more there are."""
    more = len(words) - LISTED
    return "; ".join(words[:LISTED]) + (f"; and {more} more" if more > 0 else "")


# ---- what the controller believes -----------------------------------------------------------------------------------
def believed(loop: System) -> tuple[str, Any]:
    """(path, model) of what the law takes the machine to be; ("", None) where it has none of the plant's kind."""
    law = law_of(loop)
    called = law is not innermost(loop.controller)
    path = own_path(loop.controller) if called else law_path(loop.controller)
    machine = loop.plant if loop.plant.machine is None else loop.plant.machine
    return (path + "model.", law.model) if type(law.model) is type(machine) else ("", None)


def _models(loop, known) -> Iterator[Trial]:
    path, model = believed(loop)
    if model is None:
        return
    own = "plant." if loop.plant.machine is None else "plant.machine."
    for suffix, group in grouped(_differences(known, own, path)).items():
        put_right = {path + key: true for key, (true, _) in group.items()}
        made = {own + key: wrong for key, (_, wrong) in group.items()}
        true, wrong = next(iter(group.values()))
        unit = known[own + next(iter(group))].info.unit
        told = against(true, wrong, "what the controller believes", unit)
        words = f"plant.{suffix} is {told}"
        size = odd(true, wrong)
        yield Trial("model", words, put_right, {}, size)
        # a machine made of a wild belief may be too stiff to run at all.
        if wrong and 1 / WILD < abs(true / wrong) < WILD:
            yield Trial("model", words, made, {}, 0.9 * size)


def _differences(known: Mapping[str, Leaf], own: str, other: str) -> dict[str, tuple[float, float]]:
    """Path below both → (value at `own`, value at `other`), where they differ and neither is a constant of the graph."""
    found = {}
    for path, leaf in known.items():
        twin = known.get(other + path.removeprefix(own)) if path.startswith(own) else None
        if twin is None or leaf.value == twin.value or leaf.constant or twin.constant:
            continue
        key = path.removeprefix(own)
        if _part(key) not in ASIDE:
            found[key] = (float(leaf.value), float(twin.value))
    return found


def grouped(
    differences: Mapping[str, tuple[float, float]],
) -> dict[str, dict[str, tuple[float, float]]]:
    """Numbers of one name that differ alike, several cylinders' say, are one fault: "…valve.frequency"."""
    by: dict[tuple, list[str]] = {}
    for key, (a, b) in differences.items():
        ratio = round(a / b, 6) if b else a
        stem = ".".join(part for part in key.split(".")[-3:] if not part.isdigit())
        by.setdefault((".".join(stem.split(".")[-2:]), ratio), []).append(key)
    return {
        keys[0] if len(keys) == 1 else f"*.{name[0]}": {key: differences[key] for key in keys}
        for name, keys in by.items()
    }


# ---- between machine and law ----------------------------------------------------------------------------------------
def _paths(loop, known) -> Iterator[Trial]:
    path = "controller."
    around = loop.controller
    while around.inner is not None:
        yield from _wrapper(loop, around, path, known)
        path = path + "inner."
        around = around.inner


def _wrapper(loop, around, path, known) -> Iterator[Trial]:
    name = type(around).__name__
    T = float(loop.period or USUAL_SAMPLE)
    if name == "Delayed" and around.delay > 0:
        words = f"delay of {1e3 * around.delay:g} ms, {around.delay / T:.3g} samples"
        yield Trial(
            "delay", words, {path + "delay": 0.0}, {}, min(1.2, 0.5 + around.delay / (10 * T))
        )
    elif name == "Sampled" and around.T_s > USUAL_SAMPLE:
        words = f"sample time of {1e3 * around.T_s:g} ms"
        shortest = around.T_s / FINER if loop.hosted else USUAL_SAMPLE
        T_s = max(USUAL_SAMPLE, _held_by(loop.controller), shortest)
        if T_s < around.T_s:
            numbers = {path + "T_s": T_s}
            numbers |= dict.fromkeys(_made_for(loop, known), T_s)
            yield Trial("sample time", words, numbers, {}, odd(around.T_s, USUAL_SAMPLE))
    elif name == "Filtered":
        words = f"filter of {around.frequency:g} Hz on what is measured"
        yield Trial(
            "filter",
            words,
            {path + "frequency": 10.0 * max(around.frequency, 30.0)},
            {},
            odd(around.frequency, max(around.frequency, 90.0)),
        )
    elif name == "Noisy" and around.σ > 0:
        words = f"noise of {around.σ:.4g} on {', '.join(around.signals) or 'what is measured'}"
        yield Trial("noise", words, {path + "σ": 0.0}, {}, 0.7)
    elif name == "Quantised":
        words = f"quantisation, a resolution of {around.resolution:.4g}, of {', '.join(around.signals) or 'what is measured'}"
        yield Trial("quantisation", words, {path + "resolution": 1e-3 * around.resolution}, {}, 0.7)
    elif name == "Saturated":
        ranges = list(loop.plant.limits().values())
        top = max((high for _, high in ranges), default=math.inf)
        if around.high < 0.95 * top < math.inf:
            words = f"the controller limits commands to {around.high:g}, the machine takes {top:g}"
            yield Trial(
                "limit", words, {path + "low": -top, path + "high": top}, {}, odd(around.high, top)
            )


def _made_for(loop, known) -> dict[str, float]:
    """Sample times, s, that laws called from Python are made for, by path."""
    path = own_path(loop.controller) + "T_s"
    return {path: float(known[path].value)} if path in known else {}


def another_clock(run) -> str:
    """That the law is made for another sample time than it runs at, in words; "" where it is not."""
    known = {leaf.path: leaf for leaf in leaves(run.loop)}
    period = float(run.loop.period or 0.0)
    made = next(iter(_made_for(run.loop, known).values()), period)
    if math.isclose(made, period, rel_tol=1e-9):
        return ""
    return f"the law is made for a sample time of {1e3 * made:g} ms, and runs every {1e3 * period:g} ms"


def another_delay(run) -> Cause | None:
    """That commands arrive later than a law that knows its dead time takes them to; None of other laws."""
    known = {leaf.path: float(leaf.value) for leaf in leaves(run.loop)}
    path = own_path(run.loop.controller) + "delay"
    late = dead_time(run.loop.controller)
    if path not in known or math.isclose(known[path], late, abs_tol=1e-9):
        return None
    told = f"commands arrive {1e3 * late:g} ms late, and the law believes {1e3 * known[path]:g} ms (controller.delay)"
    return Cause("delay", told)


def _held_by(controller) -> float:
    """The shortest sample time, s, at which the delay around the law, as it is built, still holds its commands."""
    return controller.delay / controller.capacity if isinstance(controller, Delayed) else 0.0


# ---- the machine ----------------------------------------------------------------------------------------------------
def _machine(loop, known) -> Iterator[Trial]:
    usual = loop.plant.as_shipped()
    if usual is None:
        yield from _better(loop, known)
        return
    shipped = {f"usual.{leaf.path}": leaf for leaf in leaves(usual)}
    own = _by_part(p.removeprefix("plant.") for p in known if p.startswith("plant."))
    built = _by_part(p.removeprefix("usual.") for p in shipped)
    differences = {  # parts of another build, such as bodies that are joined, are no fault
        key: pair
        for key, pair in _differences(known | shipped, "plant.", "usual.").items()
        if own[_part(key)] == built[_part(key)] or _hydraulic(key)
    }
    yield from _put_right(loop, known, differences, "that of the machine as shipped", 0.9)
    if own != built:
        yield from _better(loop, known)


def _by_part(keys: Iterable[str]) -> dict[str, set[str]]:
    """Paths below a plant, those of every part: its bodies, its actuators, its supply."""
    found: dict[str, set[str]] = {}
    for key in keys:
        found.setdefault(_part(key), set()).add(key)
    return found


def _part(key: str) -> str:
    return key.split(".")[0]


def _better(loop, known) -> Iterator[Trial]:
    """What makes the machine worse than it need be, put to that of a better one."""
    whose = "that of a better machine"
    yield from _put_right(loop, known, imperfect(known), whose, 0.5, "better")
    yield from _put_right(loop, known, starved(known), "what machines are fed with", 0.9)
    yield from _put_right(loop, known, uneven(known), "the widest of its valve", 0.7)
    for larger in wider(known):  # a larger valve makes good for much, and is odd in nothing
        yield from _put_right(loop, known, larger, whose, 0.0, "better", together=True)


def _put_right(
    loop,
    known,
    differences,
    whose: str,
    weight: float,
    kind: str = "machine",
    together: bool = False,
) -> Iterator[Trial]:
    """Numbers of the machine put to what they should be, in the model as well where it has the same.

    kind: "better" where a better machine has others, which is no fault of this one. together: all of them are one, called after the
    first.
    """
    path, model = believed(loop)
    groups = {next(iter(differences)): differences} if together else grouped(differences)
    for suffix, group in groups.items():
        numbers = {}
        for key, (value, right) in group.items():
            numbers["plant." + key] = right
            if model is not None and path + key in known and known[path + key].value == value:
                numbers[path + key] = right
        first = next(iter(group))
        value, right = group[first]
        words = (
            f"plant.{suffix} is {against(value, right, whose, known['plant.' + first].info.unit)}"
        )
        yield Trial(kind, words, numbers, {}, weight * odd(value, right))


def _hydraulic(key: str) -> bool:
    return (
        "." not in key
        or key.startswith(("oil.", "pump.", "circuit.", "payload."))
        or ".cylinder." in key
    )
