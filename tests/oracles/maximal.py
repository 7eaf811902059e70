"""A mechanism again, in other coordinates: six for every body, every joint a constraint, pseudo-inverse, DOP853.

Independent of plants.multibody: it takes the lists of bodies, joints and loops, and shares none of its text.
"""

import numpy as np
from scipy.integrate import solve_ivp


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def matrix(e):
    """Rotation of a quaternion by its vector part: R = 1 + 2 e_0 [e]× + 2 [e]×²."""
    e = e / np.linalg.norm(e)
    S = skew(e[1:])
    return np.eye(3) + 2 * e[0] * S + 2 * S @ S


def across(axis):
    """Two unit vectors across an axis."""
    axis = np.array(axis) / np.linalg.norm(axis)
    return np.linalg.svd(axis[None, :])[2][1:]


class Maximal:
    """State per body: r of the centre of mass, quaternion (body to world), v, ω (world)."""

    def __init__(self, mechanism, z, rates, pulls=()):
        self.m, self.pulls = mechanism, pulls  # pulls: (body a, point, body b, point, force)
        self.n = len(mechanism.bodies)
        self.J = [
            np.array(
                [
                    [b.inertia[0], b.inertia[3], b.inertia[4]],
                    [b.inertia[3], b.inertia[1], b.inertia[5]],
                    [b.inertia[4], b.inertia[5], b.inertia[2]],
                ]
            )
            for b in mechanism.bodies
        ]
        self.start = self._placed(z, rates)
        self.joints = [
            (mechanism.number(b.parent), b.point, j, (0.0, 0.0, 0.0), b.joint, b.axis, b.axis)
            for j, b in enumerate(mechanism.bodies)
        ]
        self.joints += [
            (
                mechanism.number(k.a.body),
                k.a.point,
                mechanism.number(k.b.body),
                k.b.point,
                k.joint,
                k.a.axis,
                k.b.axis,
            )
            for k in mechanism.loops
        ]

    def _placed(self, z, rates):
        from scipy.spatial.transform import Rotation

        poses, state = {-1: (np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))}, [None] * self.n
        for j in self.m.tree.order:
            b, (at, _), (first, _) = self.m.bodies[j], self.m.tree.z[j], self.m.tree.v[j]
            r, R, v, ω = poses[self.m.tree.parent[j]]
            u = np.array(b.axis) / np.linalg.norm(b.axis)
            arm = R @ np.array(b.point)
            v = v + np.cross(ω, arm)
            r = r + arm
            if b.joint == "revolute":
                ω = ω + R @ u * rates[first]
                R = R @ Rotation.from_rotvec(u * z[at]).as_matrix()
            elif b.joint == "prismatic":
                v = v + R @ u * rates[first] + np.cross(ω, R @ u * z[at])
                r = r + R @ u * z[at]
            elif b.joint == "spherical":
                R = R @ Rotation.from_quat([*z[at + 1 : at + 4], z[at]]).as_matrix()
                ω = ω + R @ np.array(rates[first : first + 3])
            poses[j] = r, R, v, ω
            com = R @ np.array(b.com)
            q = Rotation.from_matrix(R).as_quat()
            state[j] = np.concatenate([r + com, [q[3], *q[:3]], v + np.cross(ω, com), ω])
        return np.concatenate(state)

    def split(self, x):
        """Per body (and the ground last): r of its origin's frame, R, v, ω with r that of the centre of mass."""
        rows = x.reshape(self.n, 13)
        found = [(row[:3], matrix(row[3:7]), row[7:10], row[10:]) for row in rows]
        return [*found, (np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))]

    def point(self, bodies, j, p):
        """Position, Jacobian block (v, ω), velocity-product acceleration of a point given in the frame at the joint."""
        r, R, v, ω = bodies[j]
        arm = R @ (np.array(p) - (np.array(self.m.bodies[j].com) if j >= 0 else 0.0))
        return r + arm, np.hstack([np.eye(3), -skew(arm)]), np.cross(ω, np.cross(ω, arm))

    def equations(self, bodies):
        """Rows of the constraints and what they must equal."""
        G, γ = [], []

        def put(parts, value):
            row = np.zeros(6 * self.n)
            for j, block in parts:
                if j >= 0:
                    row[6 * j : 6 * j + 6] += block
            G.append(row)
            γ.append(value)

        for a, p, b, q, kind, axis_a, axis_b in self.joints:
            (_, Ra, _, ωa), (_, Rb, _, ωb) = bodies[a], bodies[b]
            ra, Ja, ca = self.point(bodies, a, p)
            rb, Jb, cb = self.point(bodies, b, q)
            if kind != "prismatic":
                for k in range(3):
                    put(((a, Ja[k]), (b, -Jb[k])), cb[k] - ca[k])
            u = Rb @ np.array(axis_b) / np.linalg.norm(axis_b)
            normals = [Ra @ n for n in across(axis_a)]
            if kind == "revolute":
                for n in normals:
                    put(
                        (
                            (a, np.hstack([np.zeros(3), np.cross(n, u)])),
                            (b, np.hstack([np.zeros(3), np.cross(u, n)])),
                        ),
                        -(
                            n @ np.cross(ωb, np.cross(ωb, u))
                            + u @ np.cross(ωa, np.cross(ωa, n))
                            + 2 * np.cross(ωa, n) @ np.cross(ωb, u)
                        ),
                    )
            if kind in ("prismatic", "fixed"):
                for k in np.eye(3):
                    put(((a, np.hstack([np.zeros(3), k])), (b, np.hstack([np.zeros(3), -k]))), 0.0)
            if kind == "prismatic":
                d = rb - ra
                speed = (bodies[b][2] + np.cross(ωb, rb - bodies[b][0])) - (
                    bodies[a][2] + np.cross(ωa, ra - bodies[a][0])
                )
                for n in normals:
                    rate = np.cross(ωa, n)
                    put(
                        (
                            (
                                a,
                                np.hstack([-n, np.cross(n, d)])
                                - np.hstack([np.zeros(3), np.cross(ra - bodies[a][0], n)]),
                            ),
                            (b, n @ Jb),
                        ),
                        -(np.cross(ωa, rate) @ d + 2 * rate @ speed + n @ (cb - ca)),
                    )
        return np.array(G), np.array(γ)

    def rhs(self, t, x):
        bodies = self.split(x)
        M, F = np.zeros((6 * self.n, 6 * self.n)), np.zeros(6 * self.n)
        for j, b in enumerate(self.m.bodies):
            _, R, _, ω = bodies[j]
            J = R @ self.J[j] @ R.T
            (
                M[6 * j : 6 * j + 3, 6 * j : 6 * j + 3],
                M[6 * j + 3 : 6 * j + 6, 6 * j + 3 : 6 * j + 6],
            ) = b.mass * np.eye(3), J
            F[6 * j : 6 * j + 3], F[6 * j + 3 : 6 * j + 6] = (
                b.mass * np.array(self.m.gravity),
                -np.cross(ω, J @ ω),
            )
        for a, p, b, q, force in self.pulls:
            (ra, Ja, _), (rb, Jb, _) = self.point(bodies, a, p), self.point(bodies, b, q)
            line = (rb - ra) / np.linalg.norm(rb - ra)
            for j, J, sign in ((a, Ja, -1.0), (b, Jb, 1.0)):
                if j >= 0:
                    F[6 * j : 6 * j + 6] += sign * force * line @ J
        G, γ = self.equations(bodies)
        free = np.linalg.solve(M, F)
        S = G @ np.linalg.solve(M, G.T)
        acceleration = free + np.linalg.solve(M, G.T) @ np.linalg.pinv(
            S, rcond=1e-9, hermitian=True
        ) @ (γ - G @ free)
        out = []
        for j, row in enumerate(x.reshape(self.n, 13)):
            e, ω = row[3:7], row[10:]
            rate = 0.5 * np.array([-ω @ e[1:], *(e[0] * ω + np.cross(ω, e[1:]))])
            out += [
                row[7:10],
                rate,
                acceleration[6 * j : 6 * j + 3],
                acceleration[6 * j + 3 : 6 * j + 6],
            ]
        return np.concatenate(out)

    def run(self, duration, tolerance=1e-11):
        """State at the end."""
        found = solve_ivp(
            self.rhs, (0.0, duration), self.start, method="DOP853", rtol=tolerance, atol=tolerance
        )
        return found.y[:, -1]

    def apart(self, x, z, rates) -> float:
        """Largest difference of centres of mass and their velocities from those of a state of ours."""
        ours = self._placed(z, rates).reshape(self.n, 13)
        theirs = x.reshape(self.n, 13)
        return float(
            max(np.abs(ours[:, k] - theirs[:, k]).max() for k in (0, 1, 2, 7, 8, 9, 10, 11, 12))
        )
