"""Geometry of a manipulator for references, starts and drawings: strokes, joint ranges, the tool, poses of its frames."""

from __future__ import annotations

from plants.components.spatial import add, turn
from plants.crane import bodies as crane_bodies
from plants.crane.names import CraneNames
from plants.crane.segments import Revolute
from plants.multibody import coordinates, required
from workbench.contract.errors import InputError


class CranePoses(CraneNames):
    """The part of `plants.crane.manipulator.Manipulator` that says where it is and how far it can go."""

    pose: tuple[float, ...] | None
    spaces = ("joint", "piston", "cartesian")

    def cylinder_motion(self, q, qd) -> tuple[list, list, list]:
        """Piston positions x and velocities ẋ, and the lever arms dx/dq (1 for prismatic joints), in joint order."""
        m = self.mechanism
        own = required.lines(m, required.whole(m, q, qd))
        lever = [row[i] for i, row in enumerate(own.by_coordinate)]
        return own.s, [a * v for a, v in zip(lever, qd)], lever

    def frames(self, q) -> list:
        """Pose of every frame of [Petrovic22], Fig. 5, in W (base at rest): per structure a dict name → Frame."""
        return crane_bodies.frames(self, q)

    def tool(self, q):
        """Tool centre point in W (base at rest), m."""
        place, _ = coordinates.place(self.mechanism, q)
        return add(self.base.r, turn(self.base.R, place))

    def task(self, space: str, q) -> list:
        """Coordinates of a reference space: joint positions; piston positions; or tool x, y in W and the extensions x_t."""
        if space == "joint":
            return list(q)
        if space == "piston":
            return coordinates.lengths(self.mechanism, q)
        self._check_cartesian(space)
        return [*self.tool(q)[:2], *(q[i] for i, s in enumerate(self.segments) if s.slides)]

    def _check_cartesian(self, space: str) -> None:
        if space != "cartesian":
            raise InputError(
                f"there is no reference space {space!r}",
                mend=f"choose from {', '.join(self.spaces)}",
            )
        turns = sum(not s.slides for s in self.segments)
        if turns != 2:
            raise InputError(
                f"a Cartesian reference needs two revolute segments, {self.name} has {turns}",
                mend="give the reference in joint or piston space",
            )

    def task_names(self, space: str) -> list[str]:
        if space == "joint":
            return list(self.joint_names)
        if space == "piston":
            return [f"x_{label}" for label in self.labels]
        self._check_cartesian(space)
        return ["tcp_x", "tcp_y", *(name for name in self.joint_names if name.startswith("x"))]

    def joint_range(self) -> list[tuple[float, float]]:
        """Joint positions between retracted and extended cylinders, on the branch of `pose`, else q_j in (−π, 0)."""
        found = []
        for i, s in enumerate(self.segments):
            if isinstance(s, Revolute):
                side = -1.0 if self.pose is not None and self.pose[i] > 0 else 1.0
                ends = [side * float(s.angle(s.x0 + x)) for x in (0.0, s.cylinder.stroke)]
                found.append((min(ends), max(ends)))
            else:
                found.append((0.0, s.cylinder.stroke))
        return found

    def check_pose(self, q, where: str = "pose") -> None:
        """ValueError naming the first joint at which a piston would leave its stroke."""
        for s, name, value, (low, high) in zip(
            self.segments, self.joint_names, q, self.joint_range()
        ):
            x = float(s.length(value)) - s.x0 if isinstance(s, Revolute) else value
            if not 0 < x < s.cylinder.stroke:
                raise InputError(
                    f"{where}: {name} = {value:.6g} puts the {s.name} piston at {1e3 * x:.4g} mm, outside its stroke "
                    f"0 … {1e3 * s.cylinder.stroke:.4g} mm ({name} must lie in {low:.5g} … {high:.5g})"
                )
