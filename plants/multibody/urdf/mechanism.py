"""A mechanism from a URDF, and a short file of what a URDF cannot say: closed loops, cylinders, their supply.

    from_urdf("crane.urdf", "cylinders.yaml")

The file beside it, every key of which may be left out:

    pins:       {boom: {rod: [1.1, 0, -0.05]}, base: {lift: [0.5, 0, 0.2]}}       points in the links' own frames
    loops:      {eye: {between: [link.ear, bucket.ear], axis: [0, 1, 0]}}         axis: in the root's axes, all joints at zero
    actuators:  {lift: {between: [base.lift, boom.rod], drive: {…}}, swing: {joint: slewing, drive: {…}}}
    start:      {boom_joint: 25 deg}        hold: [boom_joint]                    joints by name
    supply, tcp, gravity, method, moving_ground, tool_wrench                      as of a Mechanism; gravity in the root's axes

Without `actuators` every joint that moves has a torque (force) of its own, up to the URDF's effort. Joints keep the URDF's limits
whatever moves them: one without an actuator of its own is watched by a spring of no stiffness. The root stands on the ground: its
own mass moves nothing.
"""

from __future__ import annotations

import difflib
import os
from typing import Any

import numpy as np

from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND
from plants.multibody.urdf.tree import Limb, Robot, read_robot
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.yaml_input import read
from workbench.contract.errors import InputError
from workbench.contract.units import quantity

HANDED_ON = ("supply", "method", "moving_ground", "tool_wrench", "name")
KEYS = ("pins", "loops", "actuators", "start", "hold", "tcp", "gravity", *HANDED_ON)
ENDS = ("between", "joint", "axis", "normal")
DOWN = (0.0, 0.0, -9.81)


def from_urdf(
    path: str | os.PathLike, beside: str | os.PathLike | None = None, without: tuple[str, ...] = ()
) -> Mechanism:
    """The mechanism of a URDF, with what the file `beside` it says (see `plants.multibody.urdf.mechanism`).

    without: what the URDF says and shall be left out knowingly: "friction". Raises InputError with file, line and element or
    key, for what is no tree, what a mechanism cannot be, and as `Mechanism`.
    """
    return build(Mechanism, section_of(path, beside, without), "robot")


def section_of(path: str | os.PathLike, beside: Any, without: tuple[str, ...]) -> Node:
    """The plant section of a case file that says what `from_urdf` would build. Raises InputError as that does."""
    robot = read_robot(path, without)
    given = _given(beside)
    known = _Points(robot, given.get("pins"))
    top = Node({}, 1, file=robot.file)
    section = {
        "name": _node(robot.name, top),
        "gravity": given.get("gravity", _node(list(DOWN), top)),
        "method": _node("projected" if "loops" in given else "minimal", top),
        "pins": _node(known.of(robot.root), top),
        "bodies": _node(_bodies(robot, known, given), top),
        "actuators": _actuators(robot, known, given, top),
    }
    if "loops" in given:
        section["loops"] = _loops(known, given["loops"])
    if "tcp" in given:
        section["tcp"] = known.renamed(given["tcp"])
    section |= {key: given[key] for key in HANDED_ON if key in given}
    return Node(section, 1, file=robot.file)


def _given(beside) -> dict[str, Node]:
    """The keys of the file beside the URDF; none without one."""
    if beside is None:
        return {}
    node = read(beside)
    found = _mapping(node, "the file beside the URDF")
    _check_keys(node, KEYS, "")
    return found


def _mapping(node: Node, what: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise node.error(f"{what}: expected a mapping, got {node.words}", mend="write 'name: …'")
    return node.value


def _check_keys(node: Node, known: tuple[str, ...], where: str) -> None:
    for key, child in _mapping(node, where or "the file").items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise child.error(
                f"there is no key {key!r} here",
                key=f"{where}.{key}".lstrip("."),
                mend=f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}",
            )


def _node(value: Any, place: Node) -> Node:
    """Plain data as a tree of Nodes at one place; Nodes inside stay."""
    if isinstance(value, Node):
        return value
    if isinstance(value, dict):
        value = {key: _node(child, place) for key, child in value.items()}
    elif isinstance(value, (list, tuple)):
        value = [_node(child, place) for child in value]
    return Node(value, place.line, place.column, place.file)


class _Points:
    """Points and directions of links, turned into the axes of their bodies; names of links as bodies have them."""

    def __init__(self, robot: Robot, pins: Node | None) -> None:
        self.robot = robot
        self.attitudes = {robot.root: np.eye(3)}
        self.attitudes |= {limb.link: limb.attitude for limb in robot.limbs}
        self.pins: dict[str, dict[str, list[float]]] = {}
        for link, points in _mapping(pins, "pins").items() if pins is not None else ():
            self.check(link, points, f"pins.{link}")
            self.pins[link] = {
                name: (self.attitudes[link] @ _three(point, "m", f"pins.{link}.{name}")).tolist()
                for name, point in _mapping(points, f"pins.{link}").items()
            }

    def check(self, link: str, node: Node, key: str) -> None:
        if link not in self.attitudes:
            near = difflib.get_close_matches(link, list(self.attitudes), 1)
            names = ", ".join(list(self.attitudes)[:20])
            raise node.error(
                f"the URDF has no link {link!r}",
                key=key,
                mend=f"did you mean {near[0]}?" if near else f"choose from {names}",
            )

    def of(self, link: str) -> dict[str, list[float]]:
        return self.pins.get(link, {})

    def body(self, link: str) -> str:
        return GROUND if link == self.robot.root else link

    def split(self, node: Node, key: str) -> tuple[str, str]:
        """(link, pin) of "link.pin"."""
        link, dot, pin = str(node.value).partition(".")
        if not isinstance(node.value, str) or not dot:
            raise node.error(f"expected a pin, got {node.words}", key=key, mend="write link.pin")
        self.check(link, node, key)
        if pin not in self.of(link):
            known = ", ".join(f"{link}.{name}" for name in self.of(link)) or "none yet"
            raise node.error(
                f"{link} has no pin {pin!r}",
                key=key,
                mend=f"add it under pins, or choose from {known}",
            )
        return link, pin

    def renamed(self, node: Node, key: str = "tcp") -> Node:
        """A pin by the name of its body."""
        link, pin = self.split(node, key)
        return _node(f"{self.body(link)}.{pin}", node)


def _three(node: Node, unit: str, key: str) -> np.ndarray:
    values = node.value
    try:
        if not isinstance(values, list) or len(values) != 3:
            raise ValueError
        return np.array([quantity(v.value, unit) if unit else float(v.value) for v in values])
    except (InputError, ValueError, TypeError) as why:
        words = why.message if isinstance(why, InputError) else "expected three numbers"
        raise node.error(words, key=key, mend="write [x, y, z]") from None


# ---- bodies ------------------------------------------------------------------------------------------------------------
def _bodies(robot: Robot, known: _Points, given: dict[str, Node]) -> dict[str, Node]:
    start = _mapping(given["start"], "start") if "start" in given else {}
    hold = [str(node.value) for node in _list(given["hold"], "hold")] if "hold" in given else []
    joints = {limb.joint: limb for limb in robot.limbs if limb.moves}
    for key, names in (("start", start), ("hold", hold)):
        for name in names:
            if name not in joints:
                raise given[key].error(
                    f"no joint that moves is called {name!r}",
                    key=f"{key}.{name}",
                    mend=f"choose from {', '.join(list(joints)[:20])}",
                )
    return {
        limb.link: _body(limb, known, start.get(limb.joint), limb.joint in hold)
        for limb in robot.limbs
    }


def _list(node: Node, key: str) -> list[Node]:
    if not isinstance(node.value, list):
        raise node.error(f"expected a list, got {node.words}", key=key, mend="write [one, two]")
    return node.value


def _body(limb: Limb, known: _Points, start: Node | None, hold: bool) -> Node:
    place = Node({}, limb.line, file=limb.file)
    value = {
        "parent": known.body(limb.parent),
        "joint": limb.kind,
        "point": limb.point,
        "mass": limb.mass,
        "com": limb.com,
        "inertia": limb.inertia,
        "joint_name": limb.joint,
        "pins": known.of(limb.link),
    }
    if limb.moves:
        value |= {"axis": limb.axis, "damping": limb.damping, "hold": hold}
        value["start"] = min(max(0.0, limb.low), limb.high) if start is None else start
    return _node(value, place)


# ---- loops and actuators -----------------------------------------------------------------------------------------------
def _loops(known: _Points, node: Node) -> Node:
    """Loops between pins, their axes in the root's axes, which are those of every body where all joints are at zero."""
    found = {}
    for name, loop in _mapping(node, "loops").items():
        key = f"loops.{name}"
        _check_keys(loop, ENDS, key)
        if "between" not in loop.value or len(_list(loop.value["between"], key)) != 2:
            raise loop.error("a loop closes between two pins", key=key, mend="between: [a.p, b.q]")
        kind = loop.value.get("joint", _node("revolute", loop))
        if "axis" not in loop.value and kind.value != "spherical":
            raise loop.error("it has no axis", key=f"{key}.axis", mend="write axis: [0, 1, 0]")
        made: dict[str, Any] = {"joint": kind}
        for side, end in zip("ab", loop.value["between"].value):
            link, pin = known.split(end, f"{key}.between")
            place = {"body": known.body(link), "point": known.of(link)[pin], "name": pin}
            for field in ("axis", "normal"):
                if field in loop.value:
                    place[field] = _three(loop.value[field], "", f"{key}.{field}").tolist()
            made[side] = _node(place, end)
        found[name] = _node(made, loop)
    return _node(found, node)


def _actuators(robot: Robot, known: _Points, given: dict[str, Node], top: Node) -> Node:
    """The actuators of the file beside the URDF; where it has none, a torque or force on every joint that moves."""
    if "actuators" not in given:
        return _node({limb.joint: _own(limb) for limb in robot.limbs if limb.moves}, top)
    links = {limb.joint: limb.link for limb in robot.limbs}
    found = {}
    for name, actuator in _mapping(given["actuators"], "actuators").items():
        key = f"actuators.{name}"
        value = dict(_mapping(actuator, key))
        if "between" in value:
            ends = _list(value["between"], f"{key}.between")
            value["between"] = _node(
                [known.renamed(end, f"{key}.between") for end in ends], actuator
            )
        if "joint" in value:
            joint = str(value["joint"].value)
            if joint not in links:
                near = difflib.get_close_matches(joint, list(links), 1)
                raise value["joint"].error(
                    f"the URDF has no joint {joint!r}",
                    key=f"{key}.joint",
                    mend=f"did you mean {near[0]}?" if near else f"one of {', '.join(links)}",
                )
            value["joint"] = _node(links[joint], value["joint"])
        found[name] = _node(value, actuator)
    return _node(_within_ends(robot, found), given["actuators"])


def _within_ends(robot: Robot, found: dict[str, Node]) -> dict[str, Node]:
    """Actuators under which every joint keeps the URDF's limits. An actuator on the joint may state ends of its own."""
    on_joints = {
        node.value["joint"].value: node.value for node in found.values() if "joint" in node.value
    }
    more = {}
    for limb in robot.limbs:
        ends = {
            end: _node(value, Node({}, limb.line, file=limb.file))
            for end, value in _ends(limb).items()
        }
        if limb.link in on_joints:
            on_joints[limb.link].update(ends | on_joints[limb.link])
        elif limb.moves and ends:
            watch = {"joint": limb.link, "drive": {"type": "SpringDamper"}, **ends}
            more[f"ends_of_{limb.link}"] = _node(watch, Node({}, limb.line, file=limb.file))
    return found | more


def _own(limb: Limb) -> Node:
    """A torque or a force of its own, within what the URDF allows."""
    kind = "Torque" if limb.kind == "revolute" else "Force"
    drive = {"type": kind} | ({"limit": limb.most} if limb.most > 0 else {})
    value = {"joint": limb.link, "drive": drive, **_ends(limb)}
    return _node(value, Node({}, limb.line, file=limb.file))


def _ends(limb: Limb) -> dict[str, float]:
    """The limits that a URDF states of a joint, as ends of an actuator on it."""
    ends = {"shortest": limb.low, "longest": limb.high}
    return {name: value for name, value in ends.items() if np.isfinite(value)}
