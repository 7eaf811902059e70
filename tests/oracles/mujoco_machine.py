"""The manipulator in MuJoCo: mass matrix, bias forces and the Jacobians of the loops' connect constraints.

The tree is never stepped: MuJoCo's constraints are soft. Motions that keep the loops closed are v = N q̇ + …, with
J N = 0 from the exact Jacobian of the equality constraints, and do no work on the pins:

    Nᵀ (M v̇ + h − S f − J_tipᵀ F_tip) = 0
"""

from __future__ import annotations

import mujoco
import numpy as np


def _numbers(values):
    return " ".join(repr(float(v)) for v in values)


def _pose(frame):
    R = np.array(frame.R, dtype=float)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, R)
    return f'pos="{_numbers(frame.r)}" quat="{_numbers(quaternion)}"'


def _shift(length):
    return f'pos="{_numbers((length, 0.0, 0.0))}"'


def _inertial(body):
    if body.mass == 0:
        return ""
    return f'<inertial pos="{_numbers(body.com)}" mass="{body.mass!r}" fullinertia="{_numbers(body.inertia)}"/>'


def _body(name, pose, body, inside="", joint=""):
    if joint:
        joint = f'<joint name="{name}" {joint}/>'
    return f'<body name="{name}" {pose}>{joint}{_inertial(body)}{inside}</body>'


def _structures(plant, j):
    """Bodies of structure j and all that follow, in B_cj (the innermost is the payload in the end frame)."""
    if j == len(plant.structures):
        return _body("payload", "", plant.payload)
    r, p = plant.structures[j].revolute, plant.structures[j].prismatic
    inside = _structures(plant, j + 1)
    if p is not None:
        inside = f'<body name="E{j}" {_pose(p.end)}>{inside}</body>'
        inside = _body(f"object{j}", _pose(p.rod_end), p.object, inside)
        inside = _body(f"x_t{j}", "", p.rod, inside, 'type="slide" axis="1 0 0"')
        inside = f'<body name="start{j}" {_pose(p.start)}>{inside}</body>'
        inside = _body(f"tube{j}", "", p.tube, inside)
    inside = f'<body name="end{j}" {_pose(r.end)}>{inside}</body>'
    inside = f'<body name="T{j}" {_shift(r.L1)}><site name="T_1{j}"/>{inside}</body>'
    arm = _body(f"q{j}", _shift(r.L), r.arm, inside, 'type="hinge" axis="0 0 1"')
    site = f'<site name="T_2{j}" {_shift(r.l_c)}/>'
    piston = _body(f"x{j}", _shift(r.x0 - r.l_c), r.piston, site, 'type="slide" axis="1 0 0"')
    case = _body(f"q_1{j}", "", r.case, piston, 'type="hinge" axis="0 0 1"')
    return f'<body name="B_c{j}">{_inertial(r.link)}{"<freejoint/>" if j == 0 else ""}{case}{arm}</body>'


def model_text(plant) -> str:
    """The MJCF model of a Manipulator."""
    loops = "".join(
        f'<connect site1="T_1{j}" site2="T_2{j}"/>' for j in range(len(plant.structures))
    )
    # MuJoCo wants mass in every moving body: 1e-14 kg where a part has none, lost in the rounding of the others.
    return (
        f'<mujoco><compiler angle="radian" autolimits="false" boundmass="1e-14" boundinertia="1e-14"/>'
        f'<option gravity="0 {-plant.g!r} 0" jacobian="dense"/>'
        f"<worldbody>{_structures(plant, 0)}</worldbody><equality>{loops}</equality></mujoco>"
    )


class MujocoMachine:
    """Oracle of one Manipulator; signatures as the plant's own."""

    def __init__(self, plant):
        self.plant = plant
        self.model = mujoco.MjModel.from_xml_string(model_text(plant))
        self.data = mujoco.MjData(self.model)
        index = lambda name: self.model.joint(name).dofadr[0]
        self.joints, self.actuated = [], []
        for j, s in enumerate(plant.structures):
            self.joints.append(index(f"q{j}"))
            self.actuated.append(index(f"x{j}"))
            if s.prismatic is not None:
                self.joints.append(index(f"x_t{j}"))
                self.actuated.append(index(f"x_t{j}"))
        self.dependent = [i for i in range(6, self.model.nv) if i not in self.joints]

    def _place(self, q, R):
        """Pose the tree with its triangles closed."""
        qpos = self.data.qpos
        qpos[:3] = 0.0
        mujoco.mju_mat2Quat(qpos[3:7], R.ravel())
        for i, value in zip(self.joints, q):
            qpos[i + 1] = value  # one more position than velocities: the base's quaternion
        for j, s in enumerate(self.plant.structures):
            angle = self.data.joint(f"q{j}").qpos[0]
            x, y = s.revolute.L + s.revolute.L1 * np.cos(angle), s.revolute.L1 * np.sin(angle)
            self.data.joint(f"q_1{j}").qpos[0] = np.arctan2(y, x)
            self.data.joint(f"x{j}").qpos[0] = np.hypot(x, y) - s.revolute.x0
        mujoco.mj_fwdPosition(self.model, self.data)

    def _axes(self):
        """x and y of every B_cj in the world, one 2×3 block a loop: MuJoCo's third row is redundant in a plane."""
        return [
            self.data.body(f"B_c{j}").xmat.reshape(3, 3)[:, :2].T
            for j in range(len(self.plant.structures))
        ]

    def _constraint(self):
        """Jacobian of the loops (velocity of T_1 minus T_2), from MuJoCo's equality rows."""
        J = np.array(self.data.efc_J).reshape(-1, self.model.nv)
        return np.vstack([axes @ J[3 * j : 3 * j + 3] for j, axes in enumerate(self._axes())])

    def _bias(self):
        """J̇ v of the same rows."""
        rows = []
        for j, axes in enumerate(self._axes()):
            terms = []
            for name in (f"T_1{j}", f"T_2{j}"):
                jacobian = np.zeros((3, self.model.nv))
                site = self.model.site(name)
                mujoco.mj_jacDot(
                    self.model, self.data, jacobian, None, self.data.site(name).xpos, site.bodyid[0]
                )
                terms.append(jacobian @ self.data.qvel)
            rows.append(axes @ (terms[0] - terms[1]))
        return np.concatenate(rows)

    def _state(self, q, qd, base, tip):
        """Pose and move the tree; returns R, N, the acceleration at q̈ = 0 and the generalized tip force."""
        if base is None:
            R, V, A = (
                np.array(self.plant.base.R, dtype=float).reshape(3, 3),
                np.zeros((2, 3)),
                np.zeros((2, 3)),
            )
        else:
            R, V, A = (
                np.array(base[0], dtype=float).reshape(3, 3),
                np.array(base[1]),
                np.array(base[2]),
            )
        self._place(q, R)
        J, nv = self._constraint(), self.model.nv
        N = np.zeros((nv, len(q)))
        N[self.joints, range(len(q))] = 1.0
        N[self.dependent] = -np.linalg.solve(J[:, self.dependent], J[:, self.joints])
        # MuJoCo's free joint: origin's velocity in world axes, angular velocity in the body's.
        self.data.qvel[:] = N @ np.array(qd)
        self.data.qvel[:3], self.data.qvel[3:6] = R @ V[0], V[1]
        mujoco.mj_fwdVelocity(self.model, self.data)
        rest = np.zeros(nv)
        rest[:3], rest[3:6] = R @ (A[0] + np.cross(V[1], V[0])), A[1]
        rest[self.dependent] = -np.linalg.solve(J[:, self.dependent], self._bias())
        load = np.zeros(nv)
        if tip is not None:
            end = self.data.body("payload")
            axes = end.xmat.reshape(3, 3)
            mujoco.mj_applyFT(
                self.model,
                self.data,
                -axes @ np.array(tip[0]),
                -axes @ np.array(tip[1]),
                end.xpos,
                end.id,
                load,
            )
        return R, N, rest, load

    def inverse_dynamics(self, q, qd, qdd, base=None, tip=None):
        """Cylinder forces in the order of q and the reaction ᴮᶜ¹F = (f, m)."""
        R, N, rest, load = self._state(q, qd, base, tip)
        self.data.qacc[:] = N @ np.array(qdd) + rest
        τ = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, τ)
        τ -= load
        return np.linalg.solve(N[self.actuated].T, N.T @ τ), (R.T @ τ[:3], τ[3:6])

    def forward_dynamics(self, q, qd, f_c, base=None, tip=None):
        """q̈ of the joints from the mass matrix and bias forces, projected on the closed loops' motions."""
        _, N, rest, load = self._state(q, qd, base, tip)
        M = N.T @ np.column_stack([self._momentum(e) for e in np.eye(self.model.nv)])
        rhs = N[self.actuated].T @ np.array(f_c) - M @ rest - N.T @ (self.data.qfrc_bias - load)
        return np.linalg.solve(M @ N, rhs)

    def _momentum(self, v):
        """M(q) v."""
        result = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, result, v)
        return result
