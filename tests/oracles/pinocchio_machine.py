"""The manipulator in pinocchio: the loops cut at T_j into a tree, closed again by constraint forces.

    M(q) v̇ + h(q, v) = S f + J_cᵀ λ + J_tipᵀ F_tip,   J_c v̇ + γ = 0

The tree is the free base B_c1, then per structure the branch case → piston and the arm, whose subtree goes on.
Passive velocities and accelerations come from J_c, λ from the passive rows of the first equation (no friction in the
pins).
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

LOCAL_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def _se3(frame):
    return pin.SE3(np.array(frame.R, dtype=float).reshape(3, 3), np.array(frame.r, dtype=float))


def _along_x(length):
    return pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))


class PinocchioMachine:
    """Oracle of one Manipulator; signatures as the plant's own."""

    def __init__(self, plant):
        self.plant, self.model = plant, pin.Model()
        self.model.gravity.linear[:] = [0.0, -plant.g, 0.0]
        self.loops = []  # per structure: frame of T on the piston, frame of T on the arm, frame of B_cj
        self.actuated = []  # velocity indices of the forces f_cj, f_ctj
        self.joints = []  # velocity indices of the joints q_j, x_tj
        self.passive = []  # velocity indices where no force acts
        joint = self._joint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        pose = pin.SE3.Identity()
        for j, structure in enumerate(plant.structures):
            joint, pose = self._add(joint, pose, structure, str(j))
        self._body(joint, plant.payload, pose)
        self.tip_joint, self.tip_pose = joint, pose
        self.data = self.model.createData()

    def _joint(self, parent, kind, placement, name):
        return self.model.addJoint(parent, kind, placement, name)

    def _index(self, joint):
        return self.model.joints[joint].idx_v

    def _frame(self, joint, placement, name):
        frame = pin.Frame(name, joint, 0, placement, pin.FrameType.OP_FRAME)
        return self.model.addFrame(frame)

    def _body(self, joint, body, placement):
        if body.mass > 0:
            inertia = pin.Inertia(body.mass, np.array(body.com), body.tensor())
            self.model.appendBodyToJoint(joint, inertia, placement)

    def _add(self, joint, pose, structure, name):
        """One structure at B_cj = `pose` in `joint`, depth first; returns where the next one starts."""
        r, p = structure.revolute, structure.prismatic
        start = self._frame(joint, pose, "B_c" + name)
        self._body(joint, r.link, pose)
        case = self._joint(joint, pin.JointModelRZ(), pose, "q_1_" + name)
        self._body(case, r.case, pin.SE3.Identity())
        piston = self._joint(case, pin.JointModelPX(), _along_x(r.x0 - r.l_c), "x_" + name)
        self._body(piston, r.piston, pin.SE3.Identity())
        arm = self._joint(joint, pin.JointModelRZ(), pose * _along_x(r.L), "q_" + name)
        self._body(arm, r.arm, pin.SE3.Identity())
        self.loops.append(
            (
                self._frame(piston, _along_x(r.l_c), "T_2" + name),
                self._frame(arm, _along_x(r.L1), "T_1" + name),
                start,
            )
        )
        self.actuated.append(self._index(piston))
        self.passive += [self._index(case), self._index(arm)]
        self.joints.append(self._index(arm))
        end = _along_x(r.L1) * _se3(r.end)
        if p is None:
            return arm, end
        self._body(arm, p.tube, end)
        rod = self._joint(arm, pin.JointModelPX(), end * _se3(p.start), "x_t" + name)
        self._body(rod, p.rod, pin.SE3.Identity())
        self._body(rod, p.object, _se3(p.rod_end))
        self.actuated.append(self._index(rod))
        self.joints.append(self._index(rod))
        return rod, _se3(p.rod_end) * _se3(p.end)

    def _configuration(self, q, R):
        """Full configuration: every triangle closed through d e^{i q_j1} = L_j + L_j1 e^{i q_j}."""
        full = pin.neutral(self.model)
        full[:7] = pin.SE3ToXYZQUAT(pin.SE3(R, np.zeros(3)))
        values = iter(q)
        for j, s in enumerate(self.plant.structures):
            angle = next(values)
            side = s.revolute.L + s.revolute.L1 * np.exp(1j * angle)
            for name, value in (
                ("q_1_", np.angle(side)),
                ("x_", abs(side) - s.revolute.x0),
                ("q_", angle),
            ):
                full[self.model.joints[self.model.getJointId(name + str(j))].idx_q] = value
            if s.prismatic is not None:
                full[self.model.joints[self.model.getJointId(f"x_t{j}")].idx_q] = next(values)
        return full

    def _base(self, base):
        """R (3×3), V and A of B_c1 as 6-vectors in its own axes."""
        if base is None:
            return np.array(self.plant.base.R, dtype=float).reshape(3, 3), np.zeros(6), np.zeros(6)
        R, V, A = base
        return np.array(R, dtype=float).reshape(3, 3), np.concatenate(V), np.concatenate(A)

    def _constraint(self, full):
        """J_c: velocity of T on the piston minus on the arm along x and y of B_cj (two rows a loop)."""
        pin.computeJointJacobians(self.model, self.data, full)
        pin.updateFramePlacements(self.model, self.data)
        rows = []
        for piston, arm, start in self.loops:
            difference = sum(
                sign * pin.getFrameJacobian(self.model, self.data, f, LOCAL_WORLD)[:3]
                for sign, f in ((1, piston), (-1, arm))
            )
            rows.append(self.data.oMf[start].rotation[:, :2].T @ difference)
        return np.vstack(rows)

    def _bias(self, full, v):
        """γ = J̇_c v: difference of the points' accelerations at v̇ = 0."""
        pin.forwardKinematics(self.model, self.data, full, v, np.zeros(self.model.nv))
        pin.updateFramePlacements(self.model, self.data)
        γ = []
        for piston, arm, start in self.loops:
            a, b = (
                pin.getFrameClassicalAcceleration(self.model, self.data, f, LOCAL_WORLD).linear
                for f in (piston, arm)
            )
            γ.append(self.data.oMf[start].rotation[:, :2].T @ (a - b))
        return np.concatenate(γ)

    def _close(self, J, given, base, rest=0.0):
        """The vector with base and joint rows given that satisfies J v + rest = 0."""
        v = np.zeros(self.model.nv)
        v[:6], v[self.joints] = base, given
        free = [i for i in range(6, self.model.nv) if i not in self.joints]
        v[free] = np.linalg.solve(J[:, free], -(J @ v) - rest)
        return v

    def _state(self, q, qd, base):
        R, V, A = self._base(base)
        full = self._configuration(q, R)
        J = self._constraint(full)
        v = self._close(J, qd, V)
        return full, v, A, J, self._bias(full, v)

    def _external(self, tip):
        """Wrench on each joint's subtree: the reaction −ᴰF at the end frame."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        if tip is not None:
            forces[self.tip_joint] = self.tip_pose.act(
                pin.Force(-np.array(tip[0]), -np.array(tip[1]))
            )
        return forces

    def inverse_dynamics(self, q, qd, qdd, base=None, tip=None):
        """Cylinder forces in the order of q and the reaction ᴮᶜ¹F = (f, m)."""
        full, v, A, J, γ = self._state(q, qd, base)
        a = self._close(J, qdd, A, γ)
        τ = pin.rnea(self.model, self.data, full, v, a, self._external(tip)).copy()
        λ = np.linalg.solve(J[:, self.passive].T, τ[self.passive])
        τ -= J.T @ λ
        return τ[self.actuated], (τ[:3], τ[3:6])

    def forward_dynamics(self, q, qd, f_c, base=None, tip=None):
        """q̈ of the joints, from the joint rows with λ as unknowns."""
        full, v, A, J, γ = self._state(q, qd, base)
        M = pin.crba(self.model, self.data, full)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.rnea(self.model, self.data, full, v, np.zeros(self.model.nv), self._external(tip))
        S = np.zeros((self.model.nv, len(f_c)))
        S[self.actuated, range(len(f_c))] = 1.0
        load = (S @ np.array(f_c) - h - M[:, :6] @ A)[6:]
        Jj, m = J[:, 6:], len(J)
        kkt = np.block([[M[6:, 6:], -Jj.T], [Jj, np.zeros((m, m))]])
        return np.linalg.solve(kkt, np.concatenate([load, -γ - J[:, :6] @ A]))[
            np.array(self.joints) - 6
        ]
