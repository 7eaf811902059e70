"""The tree of bodies in a URDF: links, joints, masses, turned into frames as a `Mechanism` has them.

A link's frame has any attitude in a URDF; that of a `Body` is parallel to its parent's where its joint is at zero. With R_l the
attitude of link l against the root where all joints are at zero,

    R_l = R_p R(rpy of the joint),   point = R_p xyz,   axis = R_l axis,   com = R_l xyz_i
    J   = R_l R(rpy_i) I R(rpy_i)ᵀ R_lᵀ

all in the root's axes. Meshes, materials, sensors and transmissions are not looked at.

Source: the URDF specification, joint and link elements (fixed-axis roll, pitch, yaw).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from plants.multibody.parts import GROUND
from workbench.files.xml_input import Element, read_xml

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ZERO = (0.0, 0.0, 0.0)


@final
@dataclass(frozen=True, eq=False)
class Limb:
    """A link on its joint, in the axes of the root where all joints are at zero.

    attitude      R_l, columns are the axes of the link's own frame
    low, high     range of the joint, rad or m; most: its largest torque or force (0: not said)
    """

    link: str
    joint: str
    parent: str
    kind: str
    point: tuple[float, ...]
    axis: tuple[float, ...]
    mass: float
    com: tuple[float, ...]
    inertia: tuple[float, ...]
    damping: float
    low: float
    high: float
    most: float
    attitude: np.ndarray
    file: str
    line: int

    @property
    def moves(self) -> bool:
        return self.kind != "fixed"


@final
@dataclass(frozen=True, eq=False)
class Robot:
    """What a URDF says: its name, the link that stands on the ground, and all others from there outwards."""

    name: str
    root: str
    limbs: tuple[Limb, ...]
    file: str


def read_robot(path, without: tuple[str, ...] = ()) -> Robot:
    """The tree of a URDF. without: what may be left out, "friction".

    Raises InputError, with file, line and element, for what is no tree, and for what a mechanism cannot be: floating, planar and
    coupled (mimic) joints, dry friction in joints.
    """
    top = read_xml(path, "a URDF")
    if top.tag != "robot":
        raise top.error("a URDF begins with <robot>", "give a URDF; expand macros (xacro) first")
    for child in top.inside:
        if child.tag.startswith("xacro:"):
            raise child.error("this is a macro", "expand the file first: xacro in.xacro > out.urdf")
    links = _by_name(top, "link")
    joints = list(_by_name(top, "joint").values())
    above = _parents(joints, links)
    roots = [name for name in links if name not in above]
    if len(roots) != 1:
        raise top.error(
            f"links that hang on nothing: {', '.join(sorted(roots)[:5]) or 'none'}; expected one",
            "let every link but the root be the child of one joint, without circles",
        )
    if GROUND in links and roots[0] != GROUND:
        raise links[GROUND].error(f"only the root may be called {GROUND!r}", "rename it")
    limbs = _outwards(roots[0], joints, links, without)
    if len(limbs) != len(joints):
        reached = {limb.link for limb in limbs}
        lost = next(name for name in links if name not in reached and name != roots[0])
        raise links[lost].error(f"{lost} hangs on a circle of joints", "let joints form a tree")
    return Robot(top.attributes.get("name") or "robot", roots[0], tuple(limbs), top.file)


def _by_name(top: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in top.every(tag):
        name = element.text("name")
        if name in found:
            raise element.error(f"there are two called {name!r}", "give each a name of its own")
        if "." in name:
            raise element.error(
                f"{name!r} has a dot, which divides a body from its pins", "rename it"
            )
        found[name] = element
    if tag == "link" and not found:
        raise top.error("it has no <link>", "give a robot with links")
    return found


def _parents(joints: list[Element], links: dict[str, Element]) -> dict[str, str]:
    """Link → the link that it hangs on."""
    above: dict[str, str] = {}
    for joint in joints:
        ends = []
        for side in ("parent", "child"):
            end = joint.one(side)
            if end is None:
                raise joint.error(f"it has no <{side}>", f'write <{side} link="…"/>')
            if end.text("link") not in links:
                raise end.error(f"there is no link {end.text('link')!r}", "check its name")
            ends.append(end.text("link"))
        if ends[1] in above:
            raise joint.error(
                f"{ends[1]} hangs on another joint already",
                "cut the loop, and close it again in the file beside the URDF (loops)",
            )
        above[ends[1]] = ends[0]
    return above


def _outwards(root: str, joints, links, without) -> list[Limb]:
    """Every link that the root carries, parents first."""
    below: dict[str, list[Element]] = {}
    for joint in joints:
        below.setdefault(joint.one("parent").text("link"), []).append(joint)
    attitude = {root: np.eye(3)}
    limbs: list[Limb] = []
    waiting = [root]
    while waiting:
        parent = waiting.pop(0)
        for joint in below.get(parent, ()):
            limb = _limb(joint, parent, attitude[parent], links, without)
            attitude[limb.link] = limb.attitude
            limbs.append(limb)
            waiting.append(limb.link)
    return limbs


def _limb(joint: Element, parent: str, R_p: np.ndarray, links, without) -> Limb:
    _check_joint(joint, without)
    link = joint.one("child").text("link")
    xyz, R = _origin(joint)
    R_l = R_p @ R
    kind = KINDS[joint.text("type")]
    mass, com, inertia = _inertial(links[link], R_l)
    dynamics = joint.one("dynamics")
    low, high, most = _limits(joint)
    return Limb(
        link=link,
        joint=joint.text("name"),
        parent=parent,
        kind=kind,
        point=_plain(R_p @ xyz),
        axis=_plain(R_l @ _axis(joint)),
        mass=mass,
        com=com,
        inertia=inertia,
        damping=0.0 if dynamics is None else dynamics.number("damping", 0.0),
        low=low,
        high=high,
        most=most,
        attitude=R_l,
        file=joint.file,
        line=joint.line,
    )


def _check_joint(joint: Element, without: tuple[str, ...]) -> None:
    """InputError for a joint that a mechanism has no equations for."""
    name = joint.text("name")
    kind = joint.text("type")
    if kind not in KINDS:
        raise joint.error(
            f"{name} is {kind}; a body hangs on a {', '.join(KINDS)} joint",
            "fix it, or split it into joints of one motion each with massless links between",
        )
    if (mimic := joint.one("mimic")) is not None:
        raise mimic.error(
            f"{name} moves with another joint, a gear that a mechanism does not have",
            "take <mimic> out, or make the joint fixed",
        )
    dynamics = joint.one("dynamics")
    if dynamics is not None and dynamics.number("friction", 0.0) and "friction" not in without:
        raise dynamics.error(
            f"{name} has dry friction, which the joints of a mechanism do not have (its cylinders do)",
            "leave it out knowingly: without=('friction',), or workbench import --without friction",
        )


def _limits(joint: Element) -> tuple[float, float, float]:
    """(lower, upper, effort); infinite, or 0, where nothing is said."""
    limit = joint.one("limit")
    free = (-np.inf, np.inf)
    if limit is None:
        return (*free, 0.0)
    most = limit.number("effort", 0.0)
    if joint.text("type") == "continuous" or not {"lower", "upper"} & limit.attributes.keys():
        return (*free, most)
    low = limit.number("lower", 0.0)
    high = limit.number("upper", 0.0)
    if low == high == 0.0:  # as many files write where there is none
        return (*free, most)
    if not low < high:
        raise limit.error(
            f"from {low:g} to {high:g}: the upper limit must be above the lower one",
            "make the joint fixed where it cannot move",
        )
    return low, high, most


def _axis(joint: Element) -> np.ndarray:
    axis = joint.one("axis")
    found = np.array(
        (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", (1.0, 0.0, 0.0)), float
    )
    if axis is not None and not found.any() and KINDS[joint.text("type")] != "fixed":
        raise axis.error("it has no direction", 'write <axis xyz="0 0 1"/>')
    size = float(np.linalg.norm(found))
    return found / size if size > 0 else np.array((1.0, 0.0, 0.0))


def _inertial(link: Element, R_l: np.ndarray) -> tuple[float, tuple, tuple]:
    """(mass, centre of mass, tensor about it) in the root's axes; nothing where the link says nothing."""
    inertial = link.one("inertial")
    if inertial is None:
        return 0.0, ZERO, (0.0,) * 6
    mass = inertial.one("mass")
    tensor = inertial.one("inertia")
    for part, name in ((mass, "mass"), (tensor, "inertia")):
        if part is None:
            raise inertial.error(f"it has no <{name}>", "give mass and inertia, or neither")
    value = mass.number("value")
    if value < 0:
        raise mass.error(f"{value:g} kg; a mass is not negative", "correct it")
    xyz, R = _origin(inertial)
    xx, yy, zz, xy, xz, yz = (
        tensor.number(n) if n[1] == n[2] else tensor.number(n, 0.0) for n in TENSOR
    )
    turn = R_l @ R
    J = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    whole = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return value, _plain(R_l @ xyz), _plain(whole)


def _origin(element: Element) -> tuple[np.ndarray, np.ndarray]:
    """(position, attitude) of an element's <origin>."""
    origin = element.one("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    return np.array(origin.numbers("xyz", ZERO)), rotation(*origin.numbers("rpy", ZERO))


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """R_z(yaw) R_y(pitch) R_x(roll)."""
    (a, b, c), (d, e, f) = (g((roll, pitch, yaw)) for g in (np.cos, np.sin))
    x = np.array([[1, 0, 0], [0, a, -d], [0, d, a]])
    y = np.array([[b, 0, e], [0, 1, 0], [-e, 0, b]])
    z = np.array([[c, -f, 0], [f, c, 0], [0, 0, 1]])
    return z @ y @ x


def _plain(values) -> tuple[float, ...]:
    """Floats, with what rounding leaves of a zero taken out where it is below 1e-15 of the largest."""
    size = max((abs(float(v)) for v in values), default=0.0)
    return tuple(0.0 if abs(float(v)) < 1e-15 * size else float(v) for v in values)
