"""Random parallel–serial manipulators and states: three-dimensional, heavy, off-plane everywhere, nothing equal to one.

Every loop closes and stays clear of the pole of [Petrovic22] (68), sin q_j2 = 0; pistons stay in their strokes.
"""

from __future__ import annotations

import numpy as np

# |q_j| and |sin q_j2| of a random state: off the dead centres, both branches of the triangle.
ANGLES = (0.45, 2.5)
CLEARANCE = 0.2


def random_rotation(rng) -> np.ndarray:
    """A rotation drawn uniformly (a unit quaternion on the sphere)."""
    w, *v = (p := rng.normal(size=4)) / np.linalg.norm(p)
    v = np.array(v)
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def random_frame(rng, reach=0.6):
    """Any rotation, an origin within `reach` on each axis."""
    from plants.components.spatial import Frame

    return Frame(_floats(rng.uniform(-reach, reach, 3)), _floats(random_rotation(rng).ravel()))


def random_body(rng, mass, size=0.5):
    """A cloud of eight point masses: any such body is physically possible, none is symmetric."""
    from plants.components.spatial import Body

    if mass == 0:
        return Body()
    m = rng.dirichlet(np.ones(8)) * mass
    p = rng.normal(size=(8, 3)) * size * rng.uniform(0.3, 1.0, 3) + rng.normal(size=3) * 0.3
    com = m @ p / mass
    d = p - com
    J = sum(w * (e @ e * np.eye(3) - np.outer(e, e)) for w, e in zip(m, d))
    return Body(float(mass), _floats(com), _floats(J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))


def pin_to_pin(revolute, q):
    """Length x_j + x_j0 of a cylinder at joint angle q (the law of cosines, (18))."""
    return np.sqrt(revolute.L**2 + revolute.L1**2 + 2 * revolute.L * revolute.L1 * np.cos(q))


def random_revolute(rng, name):
    """A triangle whose cylinder reaches every angle of ANGLES with some oil left at both ends."""
    from plants.components.cylinder import Cylinder
    from plants.crane.segments import Revolute

    L, L1 = rng.uniform(0.7, 1.4), rng.uniform(0.25, 0.55)
    long, short = (np.sqrt(L**2 + L1**2 + 2 * L * L1 * np.cos(q)) for q in ANGLES)
    x0 = short - rng.uniform(0.2, 0.7) * (short - abs(L - L1))
    full = long + rng.uniform(0.2, 0.7) * (L + L1 - long)
    cylinder = Cylinder(
        bore=rng.uniform(0.06, 0.1), rod=rng.uniform(0.03, 0.05), stroke=float(full - x0)
    )
    return Revolute(
        name=name,
        L=L,
        L1=L1,
        x0=float(x0),
        l_c=float(rng.uniform(0.5, 0.9) * x0),
        link=random_body(rng, rng.uniform(40, 90)),
        arm=random_body(rng, rng.uniform(20, 60)),
        case=random_body(rng, rng.uniform(10, 25)),
        piston=random_body(rng, rng.uniform(6, 15)),
        end=random_frame(rng),
        cylinder=cylinder,
    )


def random_prismatic(rng, name):
    """An extension sliding along any axis."""
    from plants.components.cylinder import Cylinder
    from plants.crane.segments import Prismatic

    cylinder = Cylinder(
        bore=rng.uniform(0.045, 0.06), rod=rng.uniform(0.02, 0.035), stroke=rng.uniform(0.6, 1.2)
    )
    return Prismatic(
        name=name,
        tube=random_body(rng, rng.uniform(7, 12)),
        rod=random_body(rng, rng.uniform(4, 9)),
        object=random_body(rng, rng.uniform(30, 90)),
        start=random_frame(rng),
        rod_end=random_frame(rng),
        end=random_frame(rng),
        cylinder=cylinder,
    )


def random_machine(rng, n, prismatic=None, payload=None):
    """A Manipulator of n structures.

    prismatic   for each structure, whether it has a prismatic segment (default: a coin each)
    payload     mass at the end, kg (default: 0 to 475)
    """
    from plants.components.chamber import Oil
    from plants.crane.manipulator import Manipulator
    from plants.crane.segments import Structure

    prismatic = rng.random(n) < 0.5 if prismatic is None else prismatic
    payload = rng.uniform(0, 475) if payload is None else payload
    structures = tuple(
        Structure(
            f"s{j}",
            random_revolute(rng, f"lift{j}"),
            random_prismatic(rng, f"extension{j}") if has else None,
        )
        for j, has in enumerate(prismatic)
    )
    return Manipulator(
        name="random",
        base=random_frame(rng),
        structures=structures,
        oil=Oil(),
        p_s=185e5,
        p_r=10e5,
        Q_max=2e-3,
        g=rng.uniform(9.7, 9.9),
        payload=random_body(rng, payload, 0.3),
        pose=tuple(random_pose(rng, structures)),
    )


def random_pose(rng, structures):
    """Joint positions [q_1, (x_t1), q_2, …] with every cylinder inside its stroke and |sin q_j2| above CLEARANCE."""
    q = []
    for s in structures:
        sin_q2 = 0.0
        while abs(sin_q2) < CLEARANCE:
            q_j = rng.uniform(*ANGLES) * rng.choice((-1, 1))
            sin_q2 = s.revolute.L * np.sin(q_j) / pin_to_pin(s.revolute, q_j)
        q.append(float(q_j))
        if s.prismatic is not None:
            q.append(float(rng.uniform(0.05, 0.95) * s.prismatic.cylinder.stroke))
    return q


def random_state(rng, machine):
    """q, q̇, q̈ of the actuated joints, fast enough for velocity terms to weigh as much as gravity."""
    q = random_pose(rng, machine.structures)
    return q, _list(rng.normal(size=len(q)) * 1.5), _list(rng.normal(size=len(q)) * 4)


def random_base(rng):
    """A moving base (R, V, A): orientation, 6-D velocity in its own axes, derivative of its components."""
    pair = lambda size: (_list(rng.normal(size=3) * size), _list(rng.normal(size=3) * size))
    return _list(random_rotation(rng).ravel()), pair(1.3), pair(3.1)


def random_tip(rng):
    """A wrench (f, m) on the environment, of the order of the machine's weight."""
    return _list(rng.normal(size=3) * 2000), _list(rng.normal(size=3) * 700)


def _floats(a):
    return tuple(map(float, a))


def _list(a):
    return [float(e) for e in a]
