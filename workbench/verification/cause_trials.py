"""Faults that could be removed: each is a set of numbers of a loop (or of its scenario) put back to what they should be.

    model      a number the controller believes, put to the machine's (or the machine's to what is believed)
    path       delay, sample time, filter, noise, quantisation, own limits of the commands
    gain       a gain of the law, put to the law's own default for this machine
    machine    a number of the machine, put to that of the machine as shipped
    scenario   a disturbance taken away, a reference walked more slowly

Only numbers change, so that the compiled loop serves every trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from controllers.pid import PID
from workbench.demand import target_name
from workbench.errors import InputError
from workbench.parameters import Leaf, bind, leaves
from workbench.reference import Sine
from workbench.system import ClosedLoop, Controller, System, innermost, rewrapped
from workbench.verification.scales import scales

SLIPS = {
    1e3: "mm for m, or ms for s",
    1e5: "Pa for bar",
    60.0: "seconds for minutes",
    180.0 / math.pi: "degrees for rad",
    1e6: "MPa for Pa",
    6e4: "l/min for m³/s",
}
NEAR = 0.02  # relative distance at which a ratio is called a slip of units
USUAL_SAMPLE = 1e-3  # s
WILD = 30.0  # a belief further off than this is not made into a machine
ASIDE = ("pose", "pressures", "z_10", "F_0", "θ_0")  # where a machine starts is no matter of belief


@dataclass(frozen=True, eq=False)
class Trial:
    """One fault removed: numbers by the loop's path, changes of the scenario, what it is called, how odd it is (0 … 1.2).

    law: another one in place of the loop's, where numbers alone do not say the change.
    """

    kind: str
    words: str
    numbers: Mapping[str, float]
    scenario: Mapping[str, Any]
    oddness: float
    law: Any = None

    def on(self, loop: System) -> System:
        """The loop with the fault removed."""
        if self.law is not None:
            return ClosedLoop(loop.plant, rewrapped(loop.controller, self.law))
        return bind(loop, dict(self.numbers)) if self.numbers else loop


def trials(run) -> list[Trial]:
    """What could be put right in this loop and scenario, the oddest first."""
    loop = run.loop
    known = {leaf.path: leaf for leaf in leaves(loop)}
    found = [
        *_models(loop, known),
        *_paths(loop, known),
        *_gains(loop, known),
        *_machine(loop, known),
        *_tenths(loop, known),
        *_fed(loop),
        *_scenarios(run),
    ]
    return sorted([*found, *_together(found)], key=lambda trial: -trial.oddness)


def _together(found: list[Trial]) -> Iterator[Trial]:
    """Everything of one kind put back at once: two halves of one fault heal nothing alone."""
    for kind in ("model", "machine", "gain"):
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
            words = "; ".join(dict.fromkeys(trial.words for trial in own))
            yield Trial(
                kind,
                f"several numbers together: {words[:300]}",
                numbers,
                {},
                0.4 * max(t.oddness for t in own),
            )


def against(value: float, usual: float, of: str) -> str:
    """How a value stands to another, `of` saying whose, with the slip of units it may be: "9 × what …, 20 (180)"."""
    if usual == 0 or value == 0 or value / usual < 0:
        sign = ", of the wrong sign" if value * usual < 0 else ""
        return f"{value:.4g} and not {usual:.4g}, {of}{sign}"
    return f"{value / usual:.4g} × {of}, {usual:.4g} ({value:.4g}){slip(value, usual)}"


def slip(value: float, usual: float) -> str:
    """What a ratio that is one between units suggests; empty for any other."""
    if not value * usual > 0:
        return ""
    ratio = value / usual
    return next(
        (
            f" (a slip of units, {words}?)"
            for size, words in SLIPS.items()
            for off in (ratio / size, ratio * size)
            if abs(off - 1) < NEAR
        ),
        "",
    )


def odd(value: float, usual: float) -> float:
    """0 for the usual value, growing with the decades between: 0.5 at once, 1.2 for a factor of five and more."""
    if value == usual:
        return 0.0
    if usual == 0 or value == 0 or value / usual < 0:
        return 1.0
    return min(1.2, 0.5 + abs(math.log10(value / usual)))


# ---- what the controller believes -----------------------------------------------------------------------------------
def law_path(controller) -> str:
    """Where the law stands in the loop's numbers: "controller.inner." for every wrapper around it."""
    path = "controller."
    while isinstance(controller, Controller) and hasattr(controller, "inner"):
        controller, path = controller.inner, path + "inner."
    return path


def believed(loop: System) -> tuple[str, Any]:
    """(path, model) of what the law takes the machine to be; ("", None) where it has none of the plant's kind."""
    law = innermost(loop.controller)
    model = getattr(law, "model", None)
    machine = getattr(loop.plant, "machine", loop.plant)
    return (
        (law_path(loop.controller) + "model.", model)
        if type(model) is type(machine)
        else ("", None)
    )


def _models(loop, known) -> Iterator[Trial]:
    path, model = believed(loop)
    if model is None:
        return
    own = "plant.machine." if hasattr(loop.plant, "machine") else "plant."
    for suffix, group in grouped(_differences(known, own, path)).items():
        told = {path + key: true for key, (true, _) in group.items()}
        made = {own + key: wrong for key, (_, wrong) in group.items()}
        true, wrong = next(iter(group.values()))
        words = f"plant.{suffix} is {against(true, wrong, 'what the controller believes')}"
        size = odd(true, wrong)
        yield Trial("model", words, told, {}, size)
        if (
            wrong and 1 / WILD < abs(true / wrong) < WILD
        ):  # a machine made of a wild belief may be too stiff to run at all
            yield Trial("model", words, made, {}, 0.9 * size)


def _differences(known: Mapping[str, Leaf], own: str, other: str) -> dict[str, tuple[float, float]]:
    """Path below both → (value at `own`, value at `other`), where they differ and neither is structure."""
    found = {}
    for path, leaf in known.items():
        twin = known.get(other + path.removeprefix(own)) if path.startswith(own) else None
        if twin is None or leaf.value == twin.value or leaf.structural or twin.structural:
            continue
        key = path.removeprefix(own)
        if key.split(".")[0] not in ASIDE:
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
    path, around = "controller.", loop.controller
    while isinstance(around, Controller) and hasattr(around, "inner"):
        yield from _wrapper(loop, around, path, known)
        path, around = path + "inner.", around.inner


def _wrapper(loop, around, path, known) -> Iterator[Trial]:
    name, T = type(around).__name__, float(loop.period or USUAL_SAMPLE)
    if name == "Delayed" and around.delay > 0:
        words = f"delay of {1e3 * around.delay:g} ms, {around.delay / T:.3g} samples"
        yield Trial(
            "delay", words, {path + "delay": 0.0}, {}, min(1.2, 0.5 + around.delay / (10 * T))
        )
    elif name == "Sampled" and around.T_s > USUAL_SAMPLE:
        words = f"sample time of {1e3 * around.T_s:g} ms"
        yield Trial(
            "sample time", words, {path + "T_s": USUAL_SAMPLE}, {}, odd(around.T_s, USUAL_SAMPLE)
        )
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
        words = f"resolution of {around.resolution:.4g} of {', '.join(around.signals) or 'what is measured'}"
        yield Trial("quantisation", words, {path + "resolution": 1e-3 * around.resolution}, {}, 0.7)
    elif name == "Saturated":
        ranges = list(loop.plant.limits().values())
        top = max((high for _, high in ranges), default=math.inf)
        if around.high < 0.95 * top < math.inf:
            words = f"the controller limits commands to {around.high:g}, the machine takes {top:g}"
            yield Trial(
                "limit", words, {path + "low": -top, path + "high": top}, {}, odd(around.high, top)
            )


# ---- gains ----------------------------------------------------------------------------------------------------------
def usual_law(law, model):
    """The law as it is by default for a model; None where it has no defaults that are made for such a model."""
    suited = type(law).suited(model) if hasattr(type(law), "suited") else {}
    if isinstance(law, PID) and not hasattr(model, "cylinders") and "K_p" not in suited:
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
    law, path = innermost(loop.controller), law_path(loop.controller)
    model = getattr(law, "model", None)
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
        given = getattr(usual, field.name)
        spread = (
            list(given) * len(numbers) if isinstance(given, tuple) and len(given) == 1 else given
        )
        defaults = list(spread) if isinstance(spread, tuple | list) else [spread]
        if len(defaults) != len(numbers):
            continue
        off = {p: float(d) for (p, leaf), d in zip(numbers.items(), defaults) if leaf.value != d}
        if off:
            worst = max(off, key=lambda p: odd(known[p].value, off[p]))
            value, right = float(known[worst].value), off[worst]
            words = f"gain controller.{field.name} is {against(value, right, 'the default')}"
            yield Trial("gain", words, off, {}, 0.85 * odd(value, right))


def _fed(loop) -> Iterator[Trial]:
    """The wanted velocity fed forward, where nothing does, alone and with the default gains."""
    law = innermost(loop.controller)
    if not isinstance(law, PID) or law.feed != "none":
        return
    suited = PID.suited(law.model)
    if not suited and not hasattr(law.model, "cylinders"):
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


def _tenths(loop, known) -> Iterator[Trial]:
    """A tenth and tenfold of every gain, and of every number of a user's plant, where nothing says what is usual."""
    law, path = innermost(loop.controller), law_path(loop.controller)
    if getattr(law, "model", None) is None or usual_law(law, law.model) is None:
        found = [leaf for leaf in known.values() if leaf.path.startswith(path) and leaf.value]
        gains = [leaf for leaf in found if leaf.path.removeprefix(path)[:1] in ("K", "k")]
        yield from _scaled(gains, "gain", 0.4)
    if not type(loop.plant).__module__.startswith(("plants.", "workbench.")):
        own = [leaf for leaf in known.values() if leaf.path.startswith("plant.") and leaf.value]
        yield from _scaled([leaf for leaf in own if not leaf.structural], "machine", 0.2)


def _scaled(found, kind: str, oddness: float) -> Iterator[Trial]:
    for leaf in found:
        for factor, words in ((0.1, "a tenth of it"), (10.0, "ten times that")):
            told = f"{leaf.path} ({leaf.value:.4g}): it goes well with {words}"
            yield Trial(f"{kind} {factor:g}", told, {leaf.path: factor * leaf.value}, {}, oddness)


# ---- the machine ----------------------------------------------------------------------------------------------------
def _machine(loop, known) -> Iterator[Trial]:
    usual = loop.plant.as_shipped()
    if usual is None:
        return
    path, model = believed(loop)
    shipped = {f"usual.{leaf.path}": leaf for leaf in leaves(usual)}
    same_build = {p for p in shipped} == {
        f"usual.{p.removeprefix('plant.')}" for p in known if p.startswith("plant.")
    }
    differences = _differences(known | shipped, "plant.", "usual.")
    for suffix, group in grouped(differences).items():
        if not same_build and not _hydraulic(next(iter(group))):
            continue  # bodies of another build, such as joined ones, are no fault
        numbers = {}
        for key, (value, right) in group.items():
            numbers["plant." + key] = right
            if model is not None and path + key in known and known[path + key].value == value:
                numbers[path + key] = right
        value, right = next(iter(group.values()))
        words = f"plant.{suffix} is {against(value, right, 'that of the machine as shipped')}"
        yield Trial("machine", words, numbers, {}, 0.9 * odd(value, right))


def _hydraulic(key: str) -> bool:
    return (
        "." not in key
        or key.startswith(("oil.", "pump.", "circuit.", "payload."))
        or ".cylinder." in key
    )


# ---- what is asked of it --------------------------------------------------------------------------------------------
def _scenarios(run) -> Iterator[Trial]:
    loop, scenario = run.loop, run.scenario
    pushes = {s.name for s in loop.inputs if s.kind == "disturbance"}
    acting = {name: value for name, value in scenario.disturbances.items() if name in pushes}
    if acting:
        kept = {name: value for name, value in scenario.disturbances.items() if name not in acting}
        yield Trial(
            "disturbance", f"disturbance {', '.join(acting)}", {}, {"disturbances": kept}, 0.6
        )
    slower = slowed(scenario.reference)
    if slower is not None:
        share, words = asked_speed(run)
        yield Trial("reference", words, {}, {"reference": slower}, min(1.2, 0.2 + share))
    smaller = shortened(scenario.reference)
    if smaller is not None:
        told = ", ".join(f"{a:.4g}" for a in scenario.reference.amplitude)
        words = f"the reference goes too far: amplitude {told}; it goes well with a tenth of it"
        yield Trial("reference", words, {}, {"reference": smaller}, 0.2)


def asked_speed(run) -> tuple[float, str]:
    """(largest speed the reference asks for as a share of what the machine has, in words); share 0 where it has no such number."""
    own, found = (
        scales(run.loop.plant),
        [(0.0, "the reference is faster than this loop can follow")],
    )
    units = {s.name: s.unit for s in (*run.loop.plant.states, *run.loop.plant.outputs)}
    live = dict(zip(run.demand.live, run.demand.at(run.log.time).T))
    for name, order in run.demand.wanted:
        unit = units.get(name, "") + "/s"
        scale, asked = own.of_unit(unit), live.get(target_name(name, 1))
        if order == 1 and scale is not None and asked is not None:
            top = float(np.abs(asked).max())
            words = f"the reference asks for {top:.3g} {unit} of {name}, and the machine has {scale.value:.3g} {unit}"
            found.append((top / scale.value, words))
    share, words = max(found)
    words = words if share > 0.7 else found[0][1]
    law = innermost(run.loop.controller)
    if isinstance(law, PID) and law.feed == "none":
        words += ", and nothing feeds its velocity forward (controller.feed: none)"
    return share, words


def shortened(reference):
    """The same sine with a tenth of its amplitude; None for any other reference."""
    if not isinstance(reference, Sine):
        return None
    return replace(reference, amplitude=tuple(0.1 * a for a in reference.amplitude))


def slowed(reference, factor: float = 4.0):
    """The same path `factor` times as slowly; None for a reference that stands still or has no pace of its own."""
    if reference is None:
        return None
    own = (
        {f.name for f in fields(reference)} if hasattr(reference, "__dataclass_fields__") else set()
    )
    if "leg" in own:
        legs = reference.leg
        return replace(
            reference,
            leg=tuple(factor * leg for leg in legs) if isinstance(legs, tuple) else factor * legs,
        )
    if "frequency" in own:
        return replace(reference, frequency=reference.frequency / factor)
    return None
