"""A manipulator of parallel–serial structures written as bodies, joints, loops and drives.

Bodies are called by structure and frame of [Petrovic22], Fig. 5, as in "lift.B1": B0 link L_j, B1 link L_j1, B3 cylinder case,
B4 piston with rod; P2 tube, B5 rod, P3 object of a prismatic segment; "payload". B0, P2, P3 and payload are fixed to what carries
them. B1 and B3 turn on B0 about z, B4 slides in B3, and the pin at T_c closes the loop between B4 and B1:

    q_j of B1,   q_j1 of B3,   x_j of B4,   x_tj of B5            positions of the joints

A body of a mechanism is described in axes that are those of the ground while all joints are at zero. With R_A the rotation of
frame {A} there, its axes, points and tensors are R_A times those of the paper; R_A is constant, and so costs a run nothing.

Cylinders are called by the paper's subscripts, "1", "2", "t2"; each is on the joint of its piston or rod, with closed at x = 0.

Source: [Petrovic22] Fig. 5, eqs (18)–(34), (49)–(56).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components import spatial
from plants.components.spatial import (
    IDENTITY,
    ZERO3,
    Frame,
    add,
    compose,
    dot,
    inertia_times,
    pose,
    scale,
    turn,
)
from plants.drives.servo_cylinder import ServoCylinder
from plants.multibody import coordinates
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import GROUND, Actuator, Body, Loop, Pin, Place
from plants.multibody.planar import Closing
from plants.supplies.constant import ConstantPressure
from plants.supplies.each import EachPressure
from workbench.contract.parameters import unchecked

PAYLOAD = "payload"
ROWS = 5  # rows of a cut that turns; a loop in its plane needs the first two


class At(NamedTuple):
    """Where a body is attached: to `parent` at `point`, its frame's rotation R while all joints are at zero."""

    parent: str
    point: list
    R: list

    def along(self, axis: int, length=1.0) -> list:
        """A vector of this length along an axis of the frame, 0 x to 2 z."""
        return scale(length, [self.R[axis], self.R[3 + axis], self.R[6 + axis]])

    def fixed(self, name: str, frame) -> At:
        """A frame fixed in this one, on the body `name`."""
        return At(name, turn(self.R, frame.r), compose(self.R, frame.R))


def servo(crane, segment) -> ServoCylinder:
    """The segment's cylinder behind its servo valve."""
    return unchecked(ServoCylinder, cylinder=segment.cylinder, closed=0.0, oil=crane.oil)


def mechanism(crane, drive=servo, pump=None, moving_ground=True) -> Mechanism:
    """The mechanism of a `Manipulator`, whose numbers may be expressions: it has been checked itself.

    drive(crane, segment) is what moves a segment, pump the supply of all drives: the crane's own where nothing else is given.
    """
    bodies = []
    loops = []
    actuators = []
    at = At(GROUND, list(ZERO3), list(IDENTITY))
    labels = iter(crane.labels)
    for structure in crane.structures:
        base = at._replace(parent=f"{structure.name}.B0")
        bodies += _revolute(structure, at, base)
        loops.append(_pin(structure, base))
        actuators.append(
            _actuator(next(labels), drive(crane, structure.revolute), f"{structure.name}.B4")
        )
        tip = base._replace(parent=f"{structure.name}.B1")
        at = tip.fixed(tip.parent, structure.revolute.end)
        at = at._replace(point=add(base.along(0, structure.revolute.L1), at.point))
        if structure.prismatic is not None:
            added, at = _prismatic(structure, at)
            bodies += added
            actuators.append(
                _actuator(next(labels), drive(crane, structure.prismatic), f"{structure.name}.B5")
            )
    bodies.append(_body(PAYLOAD, at, "fixed", crane.payload, carried=True))
    down = [-v for v in crane.up]
    return unchecked(
        Mechanism,
        name=crane.name,
        bodies=tuple(bodies),
        loops=tuple(loops),
        actuators=tuple(actuators),
        gravity=tuple(down),
        method="minimal",
        supply=pump or supply(crane),
        tcp=Pin(PAYLOAD),
        moving_ground=moving_ground,
        tool_wrench=True,
        kept=_kept(crane),
        used=_kept(crane),
        closings=crane.closings,
    )


def axes(crane) -> dict[str, list]:
    """Body → R_A; that of the payload is the last end frame, in which the paper gives the wrench of the tool."""
    found = {}
    R = list(IDENTITY)
    for structure in crane.structures:
        name = structure.name
        found |= {f"{name}.{frame}": R for frame in ("B0", "B1", "B3", "B4")}
        for frame, part in zip(("P2", "B5", "P3", ""), structure.frames):
            R = compose(R, part.R)
            if frame and structure.prismatic is not None:
                found[f"{name}.{frame}"] = R
    return found | {PAYLOAD: R}


def frames(crane, q) -> list[dict[str, Frame]]:
    """Poses in W (base at rest) of the frames of [Petrovic22], Fig. 5: per structure a dict name → Frame."""
    m = crane.mechanism
    motion = m.closed(coordinates.positions(m, q), None)
    turned = axes(crane)
    found = []
    for structure in crane.structures:
        own = {}
        for frame, _ in (body for segment in structure.segments for body in segment.bodies):
            name = f"{structure.name}.{frame}"
            j = m.number(name)
            own[frame] = crane.base.then(pose(motion.r[j], compose(motion.R[j], turned[name])))
        own["Tc"] = own["B1"].then(pose((structure.revolute.L1, 0.0, 0.0), IDENTITY))
        own["E1"] = own["Tc"].then(structure.revolute.end)
        if structure.prismatic is not None:
            own["E2"] = own["P3"].then(structure.prismatic.end)
        found.append(own)
    return found


def called(crane) -> dict[str, str]:
    """Names of the mechanism's signals that are the crane's without the line before the cylinder's name."""
    stems = ("p_a", "p_b", "f_p", "f_f", "f_pr", "Q_s", "p_s", "p_L")
    found = {f"{stem}_{label}": f"{stem}{label}" for label in crane.labels for stem in stems}
    for structure, k in zip(crane.structures, range(1, len(crane.structures) + 1)):
        found |= {f"q_{structure.name}.B1": f"q_{k}", f"dq_{structure.name}.B1": f"dq_{k}"}
        found |= {f"x_{structure.name}.B5": f"x_t{k}", f"dx_{structure.name}.B5": f"dx_t{k}"}
    return found


def supply(crane):
    """The pump of a crane: one pressure for all cylinders, or one for each."""
    kind = EachPressure if isinstance(crane.p_s, list) else ConstantPressure
    p_s = tuple(crane.p_s) if isinstance(crane.p_s, list) else crane.p_s
    return unchecked(kind, p_s=p_s, p_r=crane.p_r, Q_max=crane.Q_max)


def _kept(crane) -> tuple[int, ...]:
    return tuple(ROWS * j + i for j in range(len(crane.structures)) for i in (0, 1))


def closings(crane) -> tuple[Closing, ...]:
    """How the loops close: case and piston follow from the arm. On every pose a line out of the case meets a circle ahead of it."""
    found = []
    first = 0
    R = np.eye(3)
    for j, structure in enumerate(crane.structures):
        base, arm, case, piston = range(first, first + 4)
        across = int(np.argmin(np.abs(R[:, 2])))
        signs = ((case, 1.0), (arm, 1.0))
        chains = ((case, piston), (arm,))
        found.append(Closing(j, base, chains, (case, piston), signs, across))
        first += 4 if structure.prismatic is None else 7
        for frame in structure.frames:
            R = R @ np.array(frame.R, float).reshape(3, 3)
    return tuple(found)


# ---- segments -------------------------------------------------------------------------------------------------------
def _revolute(structure, at: At, base: At) -> list[Body]:
    """B0, B1, B3, B4."""
    r = structure.revolute
    name = structure.name
    turning = {"axis": base.along(2), "hold": True}
    case = At(f"{name}.B3", base.along(0, r.x0 - r.l_c), base.R)
    return [
        _body(f"{name}.B0", at, "fixed", r.link),
        _body(f"{name}.B1", base._replace(point=base.along(0, r.L)), "revolute", r.arm, **turning),
        _body(
            f"{name}.B3", base._replace(point=list(ZERO3)), "revolute", r.case, axis=base.along(2)
        ),
        _body(f"{name}.B4", case, "prismatic", r.piston, axis=base.along(0)),
    ]


def _pin(structure, base: At) -> Loop:
    r = structure.revolute
    name = structure.name
    ways = {"axis": tuple(base.along(2)), "normal": tuple(base.along(0))}
    rod = unchecked(Place, body=f"{name}.B4", point=tuple(base.along(0, r.l_c)), **ways)
    arm = unchecked(Place, body=f"{name}.B1", point=tuple(base.along(0, r.L1)), **ways)
    return unchecked(Loop, name=f"{name}.T_c", a=rod, b=arm, joint="revolute")


def _prismatic(structure, at: At) -> tuple[list[Body], At]:
    """P2, B5, P3, and where the next structure is attached."""
    s = structure.prismatic
    name = structure.name
    tube = at._replace(parent=f"{name}.P2")
    rod = tube.fixed(tube.parent, s.start)
    end = rod.fixed(f"{name}.B5", s.rod_end)
    bodies = [
        _body(f"{name}.P2", at, "fixed", s.tube),
        _body(f"{name}.B5", rod, "prismatic", s.rod, axis=rod.along(0), hold=True),
        _body(f"{name}.P3", end, "fixed", s.object),
    ]
    return bodies, end.fixed(f"{name}.P3", s.end)


def _body(
    name: str, at: At, joint: str, body: spatial.Body, axis=(0.0, 0.0, 1.0), **options
) -> Body:
    return unchecked(
        Body,
        name=name,
        parent=at.parent,
        joint=joint,
        point=tuple(at.point),
        axis=tuple(axis),
        mass=body.mass,
        com=tuple(turn(at.R, body.com)),
        inertia=_turned(at.R, body.inertia),
        **options,
    )


def _turned(R, J) -> tuple:
    """R J Rᵀ of a tensor (xx, yy, zz, xy, xz, yz)."""
    rows = (R[0:3], R[3:6], R[6:9])
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return tuple(dot(rows[i], inertia_times(J, rows[j])) for i, j in pairs)


def _actuator(label: str, drive, joint: str) -> Actuator:
    return unchecked(Actuator, name=label, drive=drive, joint=joint)
