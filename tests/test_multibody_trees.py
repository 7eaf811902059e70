"""Open chains against pinocchio, and against the laws every tree obeys."""

import numpy as np
import pytest
from mechanisms import random_positions, random_tree

from plants.multibody import tree
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Body
from workbench import InputError

pin = pytest.importorskip("pinocchio")


def in_pinocchio(mechanism):
    """The same tree there; its order is branch by branch."""
    model, at = pin.Model(), {}
    model.gravity.linear = np.array(mechanism.gravity)
    for j in branch_by_branch(mechanism.tree.parent):
        b, p = mechanism.bodies[j], mechanism.tree.parent[j]
        joint, place = at[p] if p >= 0 else (0, pin.SE3.Identity())
        place = place * pin.SE3(np.eye(3), np.array(b.point))
        axis = np.array(b.axis) / np.linalg.norm(b.axis)
        kinds = {
            "revolute": pin.JointModelRevoluteUnaligned(axis),
            "prismatic": pin.JointModelPrismaticUnaligned(axis),
            "spherical": pin.JointModelSpherical(),
        }
        if b.joint in kinds:
            joint, place = model.addJoint(joint, kinds[b.joint], place, b.name), pin.SE3.Identity()
        xx, yy, zz, xy, xz, yz = b.inertia
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(joint, pin.Inertia(b.mass, np.array(b.com), J), place)
        at[j] = joint, place
    return model


def branch_by_branch(parents, at=-1):
    return [k for j, p in enumerate(parents) if p == at for k in (j, *branch_by_branch(parents, j))]


def theirs(mechanism, model, z, rates):
    """(q, v) there, and which of our rates each of theirs is."""
    q, v, which = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv, int)
    for b, (iz, _), (iv, nv) in zip(mechanism.bodies, mechanism.tree.z, mechanism.tree.v):
        if b.joint != "fixed":
            k = model.getJointId(b.name)
            q0, v0 = model.joints[k].idx_q, model.joints[k].idx_v
            q[q0 : q0 + (4 if nv == 3 else 1)] = np.roll(z[iz : iz + 4], -1) if nv == 3 else z[iz]
            v[v0 : v0 + nv] = rates[iv : iv + nv]
            which[v0 : v0 + nv] = range(iv, iv + nv)
    return q, v, which


@pytest.mark.parametrize("seed", range(6))
def test_equations_of_motion_are_those_of_pinocchio(seed):
    mechanism, rng = random_tree(seed, 7), np.random.default_rng(seed + 100)
    model = in_pinocchio(mechanism)
    data = model.createData()
    z, rates = random_positions(rng, mechanism)
    q, v, which = theirs(mechanism, model, z, rates)
    M = np.array(mechanism.mass_matrix(z))[np.ix_(which, which)]
    pin.crba(model, data, q)
    full = np.triu(data.M) + np.triu(data.M, 1).T
    assert np.abs(M - full).max() < 1e-12 * np.abs(full).max()
    motion = mechanism.moving(z, rates)
    Q = mechanism.loads(motion, tree.inertias(mechanism.bodies, motion), rates, [])
    bias = pin.nonLinearEffects(model, data, q, v)
    assert np.abs(np.array(Q)[which] + bias).max() < 1e-11 * np.abs(bias).max()
    accelerations, λ = mechanism.accelerations(motion, rates, [])
    assert λ == []
    want = pin.aba(model, data, q, v, np.zeros(model.nv))
    assert np.abs(np.array(accelerations, float)[which] - want).max() < 1e-9 * np.abs(want).max()
    kinetic, potential = mechanism.energies(z, rates)
    assert kinetic == pytest.approx(pin.computeKineticEnergy(model, data, q, v), rel=1e-12)
    other = random_positions(
        rng, mechanism
    )  # potential energies differ by that of bodies fixed to the ground
    fall = pin.computePotentialEnergy(model, data, q) - pin.computePotentialEnergy(
        model, data, theirs(mechanism, model, *other)[0]
    )
    assert potential - mechanism.energies(*other)[1] == pytest.approx(fall, rel=1e-10)


def test_quaternions_of_any_length_are_the_same_attitude():
    mechanism, rng = random_tree(1, 4), np.random.default_rng(3)
    z, rates = random_positions(rng, mechanism)
    longer = list(z)
    for b, (at, _) in zip(mechanism.bodies, mechanism.tree.z):
        if b.joint == "spherical":
            longer[at : at + 4] = [1.7 * e for e in z[at : at + 4]]
    assert longer != z
    for a, b in zip(mechanism.moving(z, rates)[:5], mechanism.moving(longer, rates)[:5]):
        for x, y in zip(a, b):
            assert np.allclose(np.hstack(x), np.hstack(y), rtol=1e-13, atol=1e-13)
    back = mechanism.project(0.0, [*longer, *rates])
    assert np.allclose(back[: len(z)], z, atol=1e-14)


def test_order_of_the_bodies_in_the_file_does_not_matter():
    a = random_tree(2, 6)
    b = Mechanism(a.bodies[::-1], gravity=a.gravity)
    z, rates = random_positions(np.random.default_rng(5), a)
    parts = [z[at : at + many] for at, many in a.tree.z][::-1]
    speeds = [rates[at : at + many] for at, many in a.tree.v][::-1]
    flat = lambda lists: [v for part in lists for v in part]
    assert b.energies(flat(parts), flat(speeds)) == pytest.approx(a.energies(z, rates), rel=1e-13)


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        (
            (Body("a", "b", mass=1.0), Body("b", "a", mass=1.0)),
            "a, b hang on each other in a circle",
        ),
        ((Body("a", "a", mass=1.0),), "bodies: a hangs on itself"),
        ((Body("a", "c", mass=1.0),), "bodies.a.parent: there is no body 'c'"),
        ((Body("a", mass=1.0, com=(1.0, 0.0, 0.0)), Body("a", mass=1.0)), "'a' is there twice"),
        ((Body("ground", mass=1.0),), "'ground' is the world"),
        ((Body("a"),), "bodies.a: moving its joint moves no mass"),
        (
            (Body("a", mass=1.0, com=(1.0, 0.0, 0.0)), Body("b", "a", point=(1.0, 0.0, 0.0))),
            "bodies.b: moving its joint moves no mass",
        ),
        (
            (
                Body("a", axis=(1.0, 0.0, 0.0)),
                Body("b", "a", axis=(2.0, 0.0, 0.0), mass=1.0, com=(0.0, 1.0, 0.0)),
            ),
            "without moving any mass",
        ),
    ],
)
def test_trees_that_cannot_be_are_refused(bodies, words):
    with pytest.raises(InputError, match=words):
        Mechanism(bodies)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"joint": "hinge"}, "joint: there is no 'hinge'; choose from revolute"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis: expected an axis"),
        ({"start": "3 m"}, "start"),
        ({"joint": "prismatic", "start": "10 deg"}, "start"),
        ({"joint": "spherical", "start": (0.1, 0.2)}, "start: expected a rotation vector"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 3.0, 0.0, 0.0, 0.0)}, "belong to no body"),
    ],
)
def test_bodies_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Body("a", **arguments)


def in_mujoco(mechanism):
    """The same tree there."""
    mujoco = pytest.importorskip("mujoco")
    numbers = lambda a: " ".join(f"{v:.17g}" for v in a)
    parents = mechanism.tree.parent
    kinds = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}

    def below(at):
        text = ""
        for j, p in enumerate(parents):
            if p != at:
                continue
            b = mechanism.bodies[j]
            axis = "" if b.joint == "spherical" else f'axis="{numbers(b.axis)}"'
            joint = (
                f'<joint name="{b.name}" type="{kinds[b.joint]}" {axis}/>'
                if b.joint in kinds
                else ""
            )
            text += (
                f'<body name="{b.name}" pos="{numbers(b.point)}">{joint}<inertial pos="{numbers(b.com)}" mass="{b.mass:.17g}" '
                f'fullinertia="{numbers(b.inertia)}"/>{below(j)}</body>'
            )
        return text

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{numbers(mechanism.gravity)}"><flag contact="disable"/></option>'
        f"<worldbody>{below(-1)}</worldbody></mujoco>"
    )
    return mujoco, model, mujoco.MjData(model)


@pytest.mark.parametrize("seed", range(6, 10))
def test_equations_of_motion_are_those_of_mujoco(seed):
    mechanism, rng = random_tree(seed, 6), np.random.default_rng(seed + 100)
    mujoco, model, data = in_mujoco(mechanism)
    z, rates = random_positions(rng, mechanism)
    which = np.zeros(model.nv, int)
    for b, (iz, _), (iv, nv) in zip(mechanism.bodies, mechanism.tree.z, mechanism.tree.v):
        if b.joint != "fixed":
            k = model.joint(b.name)
            q0, v0 = k.qposadr[0], k.dofadr[0]
            data.qpos[q0 : q0 + (4 if nv == 3 else 1)] = z[iz : iz + (4 if nv == 3 else 1)]
            data.qvel[v0 : v0 + nv] = rates[iv : iv + nv]
            which[v0 : v0 + nv] = range(iv, iv + nv)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, full, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(
        model, data, full
    )
    M = np.array(mechanism.mass_matrix(z), float)[np.ix_(which, which)]
    assert np.abs(M - full).max() < 1e-9 * np.abs(full).max()
    accelerations, _ = mechanism.accelerations(mechanism.moving(z, rates), rates, [])
    assert (
        np.abs(np.array(accelerations, float)[which] - data.qacc).max()
        < 1e-9 * np.abs(data.qacc).max()
    )
