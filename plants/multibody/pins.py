"""Pins by name: a machine as a drawing gives it, turned into points of bodies.

    bodies:
      boom:   {at: frame.foot, pins: {rod: [0.6, -0.1], tip: [2.4, 0]}}      joint at a pin of another body
      arm:    {at: boom.tip, …}
    loops:     eye:  {between: [link.far, bucket.eye]}                      a joint that closes a loop
    actuators: lift: {between: [frame.lift, boom.rod], …}                   a cylinder between two pins
    tcp: bucket.teeth

A pin is `body.pin`; those of the ground are the mechanism's own `pins`. `resolve` writes each pin's coordinates where it is used
and takes it off its body, so that every coordinate stands where it acts; what nothing refers to stays, for drawings. The name
goes along: `all.rod.point` changes a pin wherever it is used.
"""

from __future__ import annotations

import difflib
from dataclasses import replace

from plants.multibody.branching import check_names
from plants.multibody.parts import GROUND, Pin, Place
from plants.multibody.points import NamedPoint
from workbench.contract.errors import InputError


def resolve(mechanism) -> bool:
    """Replace names of pins by coordinates in a mechanism's bodies, loops, actuators and tool; returns whether there were names.

    Raises InputError for the name of a pin that does not exist.
    """
    table = _Table(mechanism)
    bodies = [_placed(table, body) for body in mechanism.bodies]
    loops = [_joined(table, loop, "loops", Place) for loop in mechanism.loops]
    actuators = [_joined(table, a, "actuators", Pin) for a in mechanism.actuators]
    tool = mechanism.tcp
    if isinstance(tool, str):
        tool = table.pin(tool, "tcp", Pin)
    if not table.used:
        return False
    bodies = [replace(body, pins=table.left(body.name, body.pins)) for body in bodies]
    found = {
        "bodies": tuple(bodies),
        "loops": tuple(loops),
        "actuators": tuple(actuators),
        "tcp": tool,
        "pins": table.left(GROUND, mechanism.pins),
    }
    for field, value in found.items():
        object.__setattr__(mechanism, field, value)
    return True


def held_at(mechanism) -> dict[str, tuple[str, ...]]:
    """Path of a pin in a file → paths of its coordinates in the mechanism, for every pin that is used."""
    used = [(f"loops.{loop.name}.{s}", getattr(loop, s)) for loop in mechanism.loops for s in "ab"]
    used += [(f"actuators.{a.name}.{s}", getattr(a, s)) for a in mechanism.actuators for s in "ab"]
    used.append(("tcp", mechanism.tcp))
    found: dict[str, tuple[str, ...]] = {}
    pins = [(at, pin.body, pin.name) for at, pin in used if pin is not None]
    pins += [(f"bodies.{b.name}", b.parent, b.joint_name) for b in mechanism.bodies]
    for at, body, name in pins:
        written = f"pins.{name}" if body == GROUND else f"bodies.{body}.pins.{name}"
        found[written] = (*found.get(written, ()), f"{at}.point")
    for owner, left in [("", mechanism.pins), *((b.name, b.pins) for b in mechanism.bodies)]:
        stem = f"bodies.{owner}.pins" if owner else "pins"
        found |= {f"{stem}.{pin.name}": (f"{stem}.{pin.name}.point",) for pin in left}
    return found


class _Table:
    """All pins by name, and which of them were asked for."""

    def __init__(self, mechanism):
        check_names([b.name for b in mechanism.bodies])
        self.known = {GROUND: mechanism.pins} | {b.name: b.pins for b in mechanism.bodies}
        self.used: set[tuple[str, str]] = set()

    def pin(self, written: str, key: str, kind: type):
        """The `kind` (Pin or Place) called "body.pin"."""
        body, dot, name = self._apart(written)
        if not dot:
            raise InputError(
                f"{key}: {written!r} names no pin; expected a body and its pin, with a dot between",
                mend=self._written(written),
            )
        if body not in self.known:
            raise InputError(
                f"{key}: there is no body {body!r}",
                mend=_nearest(body, self.known) or f"choose from {', '.join(self.known)}",
            )
        own: dict[str, NamedPoint] = {p.name: p for p in self.known[body]}
        if name not in own:
            has = f"its pins are {', '.join(own)}" if own else "it has none"
            raise InputError(
                f"{key}: {body} has no pin {name!r}; {has}",
                mend=_nearest(written, self._all()) or f"write pins: {{{name}: [x, y]}} at {body}",
            )
        self.used.add((body, name))
        return kind(body, own[name].point, name=name)

    def _apart(self, written: str) -> tuple[str, str, str]:
        """(body, dot, pin); a body that there is, where its name has a dot in it, too."""
        dots = [i for i, letter in enumerate(written) if letter == "."]
        ends = (i for i in dots if written[:i] in self.known)
        end = next(ends, None)
        return written.partition(".") if end is None else (written[:end], ".", written[end + 1 :])

    def _written(self, word: str) -> str:
        """How to name a pin where a word stands without a dot: a body's own pins, and how it gets another; else the nearest."""
        own = [f"{word}.{pin.name}" for pin in self.known.get(word, ())]
        if own:
            return (
                f"write {' or '.join(own)}, or give {word} another pin: 'name: [x, y]' in its pins"
            )
        if word in self.known:
            return f"write 'pins: {{tool: [0, 0]}}' at {word}, and {word}.tool here"
        return _nearest(word, self._all()) or "write body.pin"

    def left(self, body: str, pins) -> tuple[NamedPoint, ...]:
        """The named points among `pins` that nothing asked for."""
        return tuple(p for p in pins if (body, p.name) not in self.used)

    def _all(self) -> list[str]:
        return [f"{body}.{pin.name}" for body, pins in self.known.items() for pin in pins]


def _nearest(word: str, known) -> str:
    near = difflib.get_close_matches(word, list(known), 2, 0.5)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _placed(table: _Table, body):
    """The body with its joint where `at` says."""
    if not body.at:
        return body
    key = f"bodies.{body.name}.at"
    if body.parent != GROUND or any(body.point):
        raise InputError(f"{key}: it gives parent and point already", mend="leave those two out")
    pin = table.pin(body.at, key, Pin)
    return replace(
        body, at="", parent=pin.body, point=pin.point, joint_name=body.joint_name or pin.name
    )


def _joined(table: _Table, part, kind: str, of: type):
    """The loop or actuator with its two ends."""
    if not part.between:
        return part
    key = f"{kind}.{part.name}.between"
    a, b = (table.pin(name, key, of) for name in part.between)
    if a.body == b.body:
        raise InputError(f"{key}: both pins are on {a.body!r}", mend="name pins of two bodies")
    return replace(part, between=(), a=a, b=b)
