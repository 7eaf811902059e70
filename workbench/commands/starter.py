"""The file `workbench init` writes: a machine with its default controller, loop, scenario and claims, to be edited.

Every number is read off the classes' own defaults, so the file says what an empty one would mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import MISSING, fields, replace
from typing import Any, get_type_hints

from workbench.cases import shape
from workbench.cases.default_path import DEMO
from workbench.cases.form import kebab
from workbench.contract.errors import InputError
from workbench.contract.parameters import Info
from workbench.contract.units import format_quantity, quantity
from workbench.contract.wrappers import Sampled
from workbench.run.reference import Waypoints
from workbench.verification.observed.requirements import error_units
from workbench.verification.run_claims import Unasked

HEAD = """\
# {name}: {law} on the demo path. Check it with:  verify-stability {file}
#
# Everything but `plant` may be left out; the values below are the defaults. Quantities carry a unit ("80 mm", "5 deg")
# or are plain SI numbers. Greek keys may be spelled out: lambda for λ.

plant:
  machine: {machine}
  # change:                                # any number or part of the machine, by its path in the machine's file
  #   payload.mass: 50 kg
  #   lift.valve.frequency: 60 Hz
  #   all.valve.lag: ideal                 # "all.": every part of that name
  # friction: {{law: LuGre}}                 # one law for all cylinders, or one a cylinder: {{lift: {{law: Stribeck}}}}
  # lock: {{extension: 0.5 m}}               # a prismatic segment frozen

controller:
  law: {law}
"""

SHORT = """\
# {name}: {law} on a small path. Check it with:  verify-stability {file}
#
# Everything but `plant` may be left out. Quantities carry a unit ("80 mm") or are plain SI numbers; Greek keys may be
# spelled out: lambda for λ.

plant:
  machine: {machine}
  # change:                                # any number or part of the machine, by its path in the machine's file

controller:
  law: {law}                               # or {others}
{gains}
loop:
  sample_time: {sample_time}

scenario:
  reference: {{{reference}}}
  duration: {duration}
{disturbances}
claims:                                    # false takes one out; counted: it decides the exit code
"""

LOOP = """\
  # model:                                 # what the controller believes, where that differs from the machine
  #   change: {{payload.mass: 25 kg}}

loop:
  sample_time: {sample_time}
  # delay: 0.5 ms                          # from sample to valve
  # filter: {{frequency: 100 Hz, signals: [p]}}    # "p": every signal that begins with p_
  # noise: {{sigma: 0.1 bar, signals: [p]}}
  # quantise: {{resolution: 0.02 deg, signals: [q]}}
  # limit: 10 V

scenario:
  reference:
    type: Waypoints                        # or Sine, Hold, Spline
    space: {space}                       # or joint, piston
    points: {points}
    leg: {leg}
  # offset: {{q_1: 1 deg}}                   # start away from the reference
  # disturbances: {{f_Dy: 500 N}}            # force of the tool on its surroundings
  # duration: 10 s                         # shorter than the path

claims:                                    # false takes one out; counted: it decides the exit code
"""


def starter(
    machine: str, plant: Any, law: type, claims: tuple, file: str, scenario: Any = None
) -> str:
    """Text of a case file for a shipped machine."""
    if not plant.structures:
        return _short(machine, plant, law, claims, file, scenario)
    points = ", ".join(
        p if isinstance(p, str) else "[" + ", ".join(f"{v:g} m" for v in p) + "]"
        for p in DEMO.points
    )
    words = {
        "machine": machine,
        "name": plant.name,
        "law": law.__name__,
        "file": file,
        "space": DEMO.space,
        "points": f"[{points}]",
        "leg": format_quantity(DEMO.leg, "s"),
        "sample_time": format_quantity(Sampled.T_s, "s"),
    }
    lines = [
        HEAD.format(**words).rstrip(),
        *_gains(law),
        LOOP.format(**words).rstrip(),
        *_claims(claims, plant),
    ]
    return "\n".join(lines) + "\n"


def _short(machine, plant, law, claims, file, scenario) -> str:
    """For a plant that is no manipulator: the gains that suit it, its default path."""
    hints = dict(_simple(law))
    gains = [
        f"  {key}: {_exact(value)}" for key, value in law.suited(plant).items() if key in hints
    ]
    pushes = [s for s in plant.inputs if s.kind == "disturbance"][:1]
    text = SHORT.format(
        machine=machine,
        name=plant.name,
        law=law.__name__,
        file=file,
        others="MPC, LQR" if law.__name__ == "PID" else "PID",
        gains="".join(f"{line}\n" for line in gains),
        sample_time=format_quantity(Sampled.T_s, "s"),
        reference=_path(scenario.reference),
        duration=format_quantity(scenario.length(), "s"),
        disturbances="".join(f"  # disturbances: {{{s.name}: 100 {s.unit}}}\n" for s in pushes),
    )
    return "\n".join([text.rstrip(), *_claims(claims, plant)]) + "\n"


def _path(path) -> str:
    """The reference's keys: there and back between joint positions, or a sine of the first output."""
    if isinstance(path, Waypoints):
        away = "], [".join(map(_degrees, path.points[1:-1]))
        leg, dwell = (format_quantity(v, "s") for v in (path.leg, path.dwell))
        return (
            f"type: Waypoints, space: {path.space}, points: [start, [{away}], start], leg: {leg}, "
            f"dwell: {dwell}"
        )
    amplitude = format_quantity(path.amplitude[0], "m")
    frequency = format_quantity(path.frequency, "Hz")
    return (
        f"type: Sine, space: output, centre: start, amplitude: [{amplitude}], "
        f"frequency: {frequency}"
    )


def _degrees(point) -> str:
    return ", ".join(format_quantity(round(math.degrees(v), 3), "deg") for v in point)


def _exact(value) -> str:
    """A suited value, in SI, so that it reads back as the same number."""
    value = value[0] if isinstance(value, tuple) else value
    return value if isinstance(value, str) else repr(float(value))


def _gains(law: type) -> Iterator[str]:
    for key, hint in _simple(law):
        default = getattr(law, key)
        others = [c for c in shape.choices(hint.options[0]) or () if c != default]
        yield _line(
            f"  {key}: {written(default, hint)}",
            f"or {', '.join(others)}" if others else hint.meaning,
        )


def _claims(claims: tuple, plant: Any) -> Iterator[str]:
    # numbers whose unit is that of the signal they are about: what oscillates, and what follows
    followed = "m" if plant.has_tool else plant.outputs[0].unit
    swinging = error_units(plant)[0] if plant.has_tool else followed
    units = {"floor": Info(swinging), "error": Info(followed)}
    for claim in claims:
        if isinstance(claim, Unasked):
            continue  # what cannot be asked of a loop is found out each time
        simple = (
            (key, replace(hint, info=hint.info or units.get(key)))
            for key, hint in _simple(type(claim))
        )
        given = [
            f"{key}: {written(getattr(claim, key), hint)}"
            for key, hint in simple
            if getattr(claim, key) is not None
        ]
        yield f"  {kebab(type(claim).__name__)}: {{{', '.join(given)}}}"


def _simple(cls: type) -> Iterator[tuple[str, shape.Hint]]:
    """Fields of `cls` with a default that one line can hold: numbers, choices, truth values."""
    hints = get_type_hints(cls, include_extras=True)
    for f in fields(cls):
        hint = shape.hint(hints[f.name])
        simple = (
            hint.info or shape.choices(hint.options[0]) or set(hint.options) & {int, bool, float}
        )
        if simple and f.default is not MISSING:
            yield f.name, hint


def written(value: Any, hint: shape.Hint) -> str:
    """A value as one writes it in a file: 0.006 m is 6 mm, a list of one its entry."""
    if isinstance(value, tuple):
        each = [written(v, hint) for v in value]
        return each[0] if len(each) == 1 else f"[{', '.join(each)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str) or value == 0:
        return str(value) if value else "0"
    unit = hint.info.unit
    text = format_quantity(value, unit, 6)
    try:
        exact = quantity(text, unit) == value
    except InputError:  # raised powers are for people
        exact = False
    if exact:
        return text
    return f"{value:g}" if unit in ("", "1") else f"{value:g} {unit}"


def _line(text: str, meaning: str) -> str:
    return f"{text:<43}# {meaning}" if meaning else text
