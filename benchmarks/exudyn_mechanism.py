"""A Mechanism again in exudyn: rigid bodies with seven redundant coordinates, every joint a constraint."""

from __future__ import annotations

import exudyn as exu
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

REDUNDANT = {
    "four-bar": [1, 1, 0, 0, 0, 0],
    "bricard": [1, 1, 1, 1, 0, 0],
}  # rows of the last joint that are kept


class ExudynMechanism:
    """Bodies and loops of a mechanism of revolute, prismatic and spherical joints; forces between pins are left out.

    rows: which of the cut joint's six are constrained, for a loop that has some too many (local z along its axis).
    """

    def __init__(self, mechanism, rows=None):
        self.m, self.rows = mechanism, rows
        self.mbs = exu.SystemContainer().AddSystem()
        self.ground = self.mbs.CreateGround()
        found = mechanism.assembly
        z, rates = list(found.z), list(found.rates)
        motion = mechanism.moving(z, rates)
        self.bodies = [self._body(b, motion, j) for j, b in enumerate(mechanism.bodies)]
        for j, b in enumerate(mechanism.bodies):
            p = mechanism.tree.parent[j]
            axis = self._turn(motion, p) @ np.array(b.axis)
            self._joint(b.joint, self._item(p), self.bodies[j], self._at(motion, p, b.point), axis)
        for loop, (a, b) in zip(mechanism.loops, mechanism.cuts):
            self._joint(
                loop.joint,
                self._item(a),
                self._item(b),
                self._at(motion, a, loop.a.point),
                self._turn(motion, a) @ np.array(loop.a.axis),
                rows,
            )
        self.mbs.Assemble()

    def _item(self, j):
        return self.ground if j < 0 else self.bodies[j]

    def _turn(self, motion, j):
        return np.eye(3) if j < 0 else np.array(motion.R[j], float).reshape(3, 3)

    def _at(self, motion, j, point):
        return (
            np.array(point, float)
            if j < 0
            else np.array(motion.r[j], float) + self._turn(motion, j) @ np.array(point)
        )

    def _body(self, b, motion, j):
        xx, yy, zz, xy, xz, yz = b.inertia
        J, com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.array(b.com)
        about = J + b.mass * (com @ com * np.eye(3) - np.outer(com, com))
        (v, ω), r = motion.Z[j], np.array(motion.r[j], float)
        return self.mbs.CreateRigidBody(
            inertia=RigidBodyInertia(mass=b.mass, inertiaTensor=about, com=com),
            referencePosition=r.tolist(),
            referenceRotationMatrix=self._turn(motion, j),
            initialVelocity=(np.array(v, float) + np.cross(ω, r)).tolist(),
            initialAngularVelocity=list(map(float, ω)),
            gravity=list(self.m.gravity),
        )

    def _joint(self, kind, a, b, at, axis, rows=None):
        at, axis = list(map(float, at)), axis / np.linalg.norm(axis)
        if kind == "spherical":
            self.mbs.CreateSphericalJoint(itemNumbers=[a, b], position=at)
        elif rows is not None:
            across = np.linalg.svd(axis[None, :])[2][1]
            frame = np.column_stack([across, np.cross(axis, across), axis])
            self.mbs.CreateGenericJoint(
                itemNumbers=[a, b], position=at, constrainedAxes=rows, rotationMatrixAxes=frame
            )
        elif kind == "revolute":
            self.mbs.CreateRevoluteJoint(itemNumbers=[a, b], position=at, axis=axis.tolist())
        else:
            self.mbs.CreatePrismaticJoint(itemNumbers=[a, b], position=at, axis=axis.tolist())

    def run(self, span: float, h: float) -> np.ndarray:
        """Origins of all bodies after `span`, generalised alpha with steps h."""
        settings = exu.SimulationSettings()
        time = settings.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = round(span / h), span, 0
        time.generalizedAlpha.spectralRadius = 0.9
        time.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.linearSolverType = exu.LinearSolverType.EigenSparse
        self.mbs.SolveDynamic(settings)
        return np.array(
            [self.mbs.GetObjectOutputBody(b, exu.OutputVariableType.Position) for b in self.bodies]
        )
