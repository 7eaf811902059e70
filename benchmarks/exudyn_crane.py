"""The crane's mechanics with springs for cylinders: in exudyn (redundant coordinates) and as a System of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import exudyn as exu
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

from plants.components.spatial import IDENTITY, pose
from workbench import Signal, System

STIFFNESS, DAMPING = 2e6, 4e3  # N/m, N s/m: 3 Hz to 8 Hz, lightly damped
SAG = 0.02  # m by which the springs are pre-stretched beyond equilibrium, so that the crane swings


def spring_lengths(plant) -> list[float]:
    """Pin-to-pin lengths at which the springs are free: they carry the weight, but SAG."""
    q = plant.pose
    f, _ = plant.inverse_dynamics(q, [0.0] * plant.n, [0.0] * plant.n)
    x, _, _ = plant.cylinder_motion(q, [0.0] * plant.n)
    return [
        x_i + s.revolute.x0 + f_i / STIFFNESS - SAG for x_i, s, f_i in zip(x, plant.structures, f)
    ]


@final
@dataclass(frozen=True)
class SpringCrane(System):
    """q̈ = forward dynamics at f_c = k (d_0 − d) − b ḋ, d pin to pin."""

    plant_model: Any

    @property
    def states(self):
        return self.plant_model.states[: 2 * self.plant_model.n]

    @property
    def inputs(self):
        return (Signal("unused", kind="disturbance"),)

    def initial(self):
        return [*self.plant_model.pose, *[0.0] * self.plant_model.n]

    def rhs(self, t, x, u):
        m = self.plant_model
        q, qd = list(x[: m.n]), list(x[m.n :])
        pos, xd, _ = m.cylinder_motion(q, qd)
        f_c = [
            STIFFNESS * (d0 - p - s.revolute.x0) - DAMPING * v
            for d0, p, v, s in zip(spring_lengths(m), pos, xd, m.structures)
        ]
        return [*qd, *m.forward_dynamics(q, qd, f_c)]


class ExudynCrane:
    """Rigid bodies, revolute and prismatic joints; the last pin of a loop holds x and y only (more is redundant)."""

    def __init__(self, crane: SpringCrane):
        plant = self.plant = crane.plant_model
        self.system = exu.SystemContainer()
        self.mbs = self.system.AddSystem()
        base, before = plant.base, self.mbs.CreateGround()
        self.arms, lengths = [], spring_lengths(plant)
        for j, (s, at) in enumerate(zip(plant.structures, plant.frames(plant.pose))):
            r = s.revolute
            arm_at, end_at = at["B1"], at["E1"]
            in_arm = pose((r.L1, 0.0, 0.0), IDENTITY).then(r.end)
            following = (
                plant.structures[j + 1].revolute.link
                if j + 1 < len(plant.structures)
                else plant.payload
            )
            arm = self._body(r.arm.joined(following.moved(_frame(in_arm))), arm_at)
            case_at = at["B3"]
            case, piston = (
                self._body(r.case, case_at),
                self._body(r.piston, at["B4"]),
            )
            axis = _matrix(base)[:, 2].tolist()
            self.mbs.CreateRevoluteJoint(
                itemNumbers=[before, arm], position=list(arm_at.r), axis=axis
            )
            self.mbs.CreateRevoluteJoint(
                itemNumbers=[before, case], position=list(case_at.r), axis=axis
            )
            self._slide(case, piston, case_at)
            self._pin(arm, piston, at["Tc"].r, base)
            self.mbs.CreateSpringDamper(
                itemNumbers=[case, arm],
                localPosition0=[0, 0, 0],
                localPosition1=[r.L1, 0, 0],
                referenceLength=lengths[j],
                stiffness=STIFFNESS,
                damping=DAMPING,
            )
            self.arms.append(arm)
            base, before = end_at, arm
        self.mbs.Assemble()

    def _slide(self, case, piston, at):
        """The piston slides along its case."""
        self.mbs.CreatePrismaticJoint(
            itemNumbers=[case, piston],
            position=list(at.r),
            axis=_matrix(at)[:, 0].tolist(),
        )

    def _pin(self, arm, piston, place, base):
        """The rod's pin on the arm, which holds x and y only."""
        self.mbs.CreateGenericJoint(
            itemNumbers=[arm, piston],
            position=list(place),
            constrainedAxes=[1, 1, 0, 0, 0, 0],
            rotationMatrixAxes=_matrix(base),
        )

    def _body(self, body, at):
        M = body.matrix()
        inertia = RigidBodyInertia(
            mass=body.mass, inertiaTensor=M[3:, 3:], com=np.array(body.com, float)
        )
        return self.mbs.CreateRigidBody(
            inertia=inertia,
            referencePosition=list(map(float, at.r)),
            referenceRotationMatrix=_matrix(at),
            gravity=[0.0, -self.plant.g, 0.0],
        )

    def run(self, span: float, h: float) -> np.ndarray:
        """Joint positions after `span`, generalised alpha with steps h (explicit methods cannot hold the joints)."""
        settings = exu.SimulationSettings()
        time = settings.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = round(span / h), span, 0
        time.generalizedAlpha.spectralRadius = 0.9
        time.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.linearSolverType = exu.LinearSolverType.EigenSparse
        self.mbs.SolveDynamic(settings)
        turned = exu.OutputVariableType.RotationMatrix
        R = [np.array(self.mbs.GetObjectOutputBody(arm, turned)).reshape(3, 3) for arm in self.arms]
        found, base = [], _matrix(self.plant.base)
        for Ri, s in zip(R, self.plant.structures):
            relative = base.T @ Ri
            found.append(np.arctan2(relative[1, 0], relative[0, 0]))
            base = Ri @ _matrix(s.revolute.end)
        return np.array(found)


def _matrix(frame) -> np.ndarray:
    return np.array(frame.R, float).reshape(3, 3)


def _frame(pose):
    from plants.components.spatial import Frame

    return Frame(tuple(map(float, pose.r)), tuple(map(float, pose.R)))
