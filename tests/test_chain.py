"""Laws of the parallel–serial chain: energy, oil, geometry, equilibrium; random machines, nothing equal to one."""

from dataclasses import replace

import numpy as np
import pytest
from draws import plant_inputs, plant_state, varied_machine
from oracles.random_machines import (
    random_base,
    random_machine,
    random_pose,
    random_state,
    random_tip,
)

from plants import chain
from plants.chain import Prismatic
from plants.components.linkage import angle_at, close
from plants.components.spatial import minus, plus, unturn
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import directional

LAYOUTS = {
    1: (False,),
    2: (True,),
    3: (False, True),
    4: (True, False),
    5: (False, False, True),
    6: (True, True),
}
MACHINES = {seed: varied_machine(seed, layout) for seed, layout in LAYOUTS.items()}
every_machine = pytest.mark.parametrize("seed", MACHINES)


# ---- energy ----------------------------------------------------------------------------------------------------------
def input_rates(plant, u):
    """How the inputs of a moving base change: V̇_b = A_b, ω̇_b = α_b, and the weight direction turns, ġ = g × ω."""
    at = dict(zip(names(plant.inputs), u))
    triple = lambda stem: [at[f"{stem}{a}"] for a in "xyz"]
    g, ω = triple("g_"), triple("ω_b")
    rates = dict(zip(("V_bx", "V_by", "V_bz"), triple("A_b"))) | dict(
        zip(("ω_bx", "ω_by", "ω_bz"), triple("α_b"))
    )
    return [
        (rates | dict(zip(("g_x", "g_y", "g_z"), np.cross(g, ω)))).get(name, 0.0) for name in at
    ]


def energy_gap(plant, x, u, rates=None):
    """(d(stored)/dt − Σ powers)/Σ|powers| and the powers' shares."""
    n = len(plant.states)
    stored = lambda s: [plant.stored(0.0, s[:n], s[n:])]
    rates = input_rates(plant, u) if rates is None else rates
    (change,) = directional(stored, [*x, *u], [*plant.rhs(0.0, x, u), *rates])
    powers = np.array(plant.powers(0.0, x, u), float)
    return (change - powers.sum()) / np.abs(powers).sum(), powers / np.abs(powers).sum()


@every_machine
def test_powers_change_the_stored_energy(seed):
    """Base moving in all six degrees, weight turning, tip wrench, leakage, bristles, free air, spool lag."""
    plant, rng = MACHINES[seed], np.random.default_rng(seed)
    for moving in (True, False):
        x, u = plant_state(rng, plant), plant_inputs(rng, plant, moving)
        gap, shares = energy_gap(plant, x, u)
        assert abs(gap) < 1e-11
        assert (np.abs(shares[:-1]) > 1e-10).sum() >= 6 and bool(shares[-1]) == moving


def test_a_missing_power_is_seen():
    """Every flow counts: leaving any out, or turning the weight the other way, breaks the balance."""
    plant, rng = MACHINES[4], np.random.default_rng(14)
    x, u = plant_state(rng, plant), plant_inputs(rng, plant)
    gap, shares = energy_gap(plant, x, u)
    assert abs(gap) < 1e-11 and (np.abs(shares) > 1e-9).all()  # so that leaving one out would show
    wrong = input_rates(plant, u)
    at = [names(plant.inputs).index(f"g_{a}") for a in "xyz"]
    for i in at:
        wrong[i] = -wrong[i]
    assert abs(energy_gap(plant, x, u, wrong)[0]) > 1e-4


@every_machine
def test_powers_that_can_only_be_lost(seed):
    """Throttling, leakage to the return side and friction never give energy (bristles may, while they unload)."""
    plant, rng = MACHINES[seed], np.random.default_rng(20 + seed)
    shares = {"throttling": [], "leakage": [], "friction": []}
    for _ in range(20):
        x, u = plant_state(rng, plant), plant_inputs(rng, plant, False)
        found = dict(zip(plant.power_names, plant.powers(0.0, x, u)))
        for name, values in shares.items():
            values.append(found[name])
    assert max(shares["throttling"]) <= 0 and max(shares["leakage"]) < 0
    if not any(c.friction.states("") for c in plant.cylinders):
        assert max(shares["friction"]) <= 0


# ---- oil -------------------------------------------------------------------------------------------------------------
@every_machine
def test_no_oil_is_made_or_lost(seed):
    """d/dt (V ρ(p)) = ρ (Q − leakage) in every chamber; ρ = exp(p/β − air p_0/p) is the density of stiffness β(p)."""
    plant, rng = MACHINES[seed], np.random.default_rng(30 + seed)
    x, u = plant_state(rng, plant), plant_inputs(rng, plant)
    oil, n = plant.oil, len(plant.states)

    def masses(s):
        parts = plant.split(s)
        pos, _, _ = plant.cylinder_motion(parts.q, parts.qd)
        return [
            V * np.exp(p / oil.β - oil.air * oil.p_0 / p)
            for c, at, pair in zip(plant.cylinders, pos, parts.p)
            for V, p in zip(c.volumes(at), pair)
        ]

    found = directional(masses, x, plant.rhs(0.0, x, u)[:n])
    parts, expected = plant.split(x), []
    for c, spool, u_i, (p_a, p_b) in zip(plant.cylinders, parts.spool, u, parts.p):
        Q_a, Q_b = c.valve.flows(c.valve.spool(spool, u_i), p_a, p_b, plant.p_s, plant.p_r)
        for p, Q in (
            (p_a, Q_a - c.c_i * (p_a - p_b) - c.c_e * p_a),
            (p_b, Q_b + c.c_i * (p_a - p_b) - c.c_e * p_b),
        ):
            expected.append(Q * np.exp(p / oil.β - oil.air * oil.p_0 / p))
    assert found == pytest.approx(expected, rel=1e-9)


# ---- inertia ---------------------------------------------------------------------------------------------------------
@every_machine
def test_inertia_is_symmetric_positive_definite_and_carries_the_kinetic_energy(seed):
    plant, rng = MACHINES[seed], np.random.default_rng(40 + seed)
    q, qd, _ = random_state(rng, plant)
    shape = plant.geometry(q)
    H = np.array(plant.inertia(shape, plant.cylinder_motion(q, qd, shape)[2]), float)
    assert np.abs(H - H.T).max() < 1e-12 * np.abs(H).max()
    assert np.linalg.eigvalsh((H + H.T) / 2)[0] > 0
    weightless = [0.0] * len(plant.inputs)
    x = plant.rest(q, [(5e6, 5e6)] * plant.n)
    x[plant.n : 2 * plant.n] = qd
    assert plant.stored(0.0, x, weightless) == pytest.approx(0.5 * np.array(qd) @ H @ qd, rel=1e-12)


@every_machine
def test_forward_dynamics_undoes_inverse_dynamics(seed):
    plant, rng = MACHINES[seed], np.random.default_rng(50 + seed)
    q, qd, qdd = random_state(rng, plant)
    base, tip = random_base(rng), random_tip(rng)
    f_c, _ = plant.inverse_dynamics(q, qd, qdd, base, tip)
    assert plant.forward_dynamics(q, qd, f_c, base, tip) == pytest.approx(qdd, rel=1e-9)
    assert (
        np.abs(
            np.subtract(plant.forward_dynamics(q, qd, [f * 1.001 for f in f_c], base, tip), qdd)
        ).max()
        > 1e-4
    )


def test_solve_spd():
    rng = np.random.default_rng(2)
    for n in (1, 2, 5):
        A = rng.normal(size=(n, n))
        H, b = A @ A.T + 0.1 * np.eye(n), rng.normal(size=n)
        assert chain.solve_spd(H.tolist(), b.tolist()) == pytest.approx(
            np.linalg.solve(H, b), rel=1e-10
        )


# ---- kinematics ------------------------------------------------------------------------------------------------------
@every_machine
def test_twists_are_the_derivatives_of_the_poses(seed):
    """Every frame on a body: ṙ = R v and Ṙ = R [ω×], by exact derivatives of `reach`."""
    plant, rng = MACHINES[seed], np.random.default_rng(60 + seed)
    q, qd, _ = random_state(rng, plant)
    V = chain.sweep(plant.structures, plant.geometry(q), chain.still((0.0,) * 3), qd).V

    def poses(q):
        return [
            e
            for p in chain.reach(plant.structures, plant.geometry(q), plant.base.R, plant.base.r)
            for name in sorted(p)
            for e in (*p[name].r, *p[name].R)
        ]

    rates = np.array(directional(poses, q, qd)).reshape(-1, 12)
    at = np.array([float(e) for e in poses(q)]).reshape(-1, 12)
    frames = [
        V[j][name]
        for j, p in enumerate(
            chain.reach(plant.structures, plant.geometry(q), plant.base.R, plant.base.r)
        )
        for name in sorted(p)
    ]
    for (v, ω), rate, now in zip(frames, rates, at):
        R = now[3:].reshape(3, 3)
        assert rate[:3] == pytest.approx(R @ v, rel=1e-10, abs=1e-11)
        spin = np.array([[0, -ω[2], ω[1]], [ω[2], 0, -ω[0]], [-ω[1], ω[0], 0]])
        assert rate[3:].reshape(3, 3) == pytest.approx(R @ spin, rel=1e-10, abs=1e-11)


@every_machine
def test_accelerations_are_the_derivatives_of_the_twists(seed):
    """Ȧ entries: d/dt of every frame's components along the motion; also of required twists along the true motion."""
    plant, rng = MACHINES[seed], np.random.default_rng(70 + seed)
    q, qd, qdd = random_state(rng, plant)
    _, rates, accelerations = random_state(rng, plant)
    n, still = plant.n, chain.still((0.0,) * 3)
    flat = lambda twists: [
        e for frames in twists for name in sorted(frames) for pair in frames[name] for e in pair
    ]
    true = lambda s: flat(chain.sweep(plant.structures, plant.geometry(s[:n]), still, s[n:]).V)
    found = flat(chain.sweep(plant.structures, plant.geometry(q), still, qd, accelerations=qdd).A)
    assert found == pytest.approx(directional(true, [*q, *qd], [*qd, *qdd]), rel=1e-9, abs=1e-9)
    required = lambda s: flat(
        chain.sweep(plant.structures, plant.geometry(s[:n]), still, s[n : 2 * n], s[2 * n :]).V
    )
    found = flat(
        chain.sweep(plant.structures, plant.geometry(q), still, qd, rates, accelerations).A
    )
    expected = directional(required, [*q, *qd, *rates], [*qd, *qdd, *accelerations])
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@every_machine
def test_passive_joints_carry_no_moment(seed):
    """The cuts inside a loop, (61)–(66): no moment about the pins, f_c along the rod, both parts add up to (69)."""
    plant, rng = MACHINES[seed], np.random.default_rng(80 + seed)
    q, qd, qdd = random_state(rng, plant)
    base, tip = plant._base(random_base(rng)), random_tip(rng)
    shape = plant.geometry(q)
    motion = chain.sweep(plant.structures, shape, base, qd, accelerations=qdd)
    nets = chain.net_forces(plant.structures, motion, motion, plant.payload)
    f_c, cuts = chain.forces(plant.structures, shape, nets, tip)
    i = 0
    for j, (s, (k, frames)) in enumerate(zip(plant.structures, shape)):
        inner = chain.loop_forces(s.revolute, k, frames, nets[j], cuts[j]["E1"], f_c[i])
        size = np.abs(np.concatenate([e for pair in inner.values() for e in pair])).max()
        assert max(abs(inner["B3"][1][2]), abs(inner["B1"][1][2])) < 1e-11 * size
        assert inner["B4"][0][0] == pytest.approx(f_c[i], rel=1e-11)
        gap = minus(plus(inner["B0"], inner["B2"]), cuts[j]["Bc"])
        assert np.abs(np.concatenate(gap)).max() < 1e-11 * size
        i += len(s.segments)


# ---- the closed chain ------------------------------------------------------------------------------------------------
SIDES = [(L, L1, q) for L, L1 in ((1.07, 0.38), (0.62, 0.91)) for q in (-3.0, -2.2, -1.1, -0.3)]


@pytest.mark.parametrize("L, L1, q", SIDES)
def test_closure_is_that_of_the_paper_on_its_branch(L, L1, q):
    """(18)–(23) with arccos, q_j in (−π, 0); derivatives by complex step."""
    length = lambda q: np.sqrt(L**2 + L1**2 + 2 * L * L1 * np.cos(q))
    q1 = lambda q: -np.arccos((length(q) ** 2 + L**2 - L1**2) / (2 * length(q) * L))
    q2 = lambda q: -np.arccos((length(q) ** 2 + L1**2 - L**2) / (2 * length(q) * L1))
    slope = lambda f: f(q + 1e-30j).imag / 1e-30
    k = close(L, L1, q)
    assert k.d == pytest.approx(length(q), rel=1e-14)
    angles = [f(a) for a in (q1(q), q2(q)) for f in (np.cos, np.sin)]
    assert (k.c1, k.s1, k.c2, k.s2) == pytest.approx(angles, rel=1e-11)
    assert q1(q) + q2(q) == pytest.approx(q, rel=1e-12)
    assert (k.lever, k.swing) == pytest.approx((slope(length), slope(q1)), rel=1e-11)
    assert angle_at(L, L1, k.d) == pytest.approx(q, rel=1e-11)


@pytest.mark.parametrize("sign", (1, -1))
@pytest.mark.parametrize("L, L1, q", SIDES)
def test_closure_is_plane_geometry_on_both_sides(L, L1, q, sign):
    """L e_x + L₁ (cos q, sin q) = d (cos q_1, sin q_1), q_1 + q_2 = q; rates and their rates by exact derivatives."""
    q, qd, rate, acceleration = sign * q, 0.83, -0.61, 1.9
    k = close(L, L1, q)
    assert (k.d * k.c1, k.d * k.s1) == pytest.approx(
        (L + L1 * np.cos(q), L1 * np.sin(q)), rel=1e-13
    )
    turned = (k.c1 + 1j * k.s1) * (k.c2 + 1j * k.s2)
    assert (turned.real, turned.imag) == pytest.approx((np.cos(q), np.sin(q)), rel=1e-12)
    at = lambda s: close(L, L1, s[0])
    pin = lambda s: [at(s).d * at(s).c1, at(s).d * at(s).s1]
    assert directional(pin, [q], [qd]) == pytest.approx(
        (-L1 * np.sin(q) * qd, L1 * np.cos(q) * qd), rel=1e-12
    )
    xd, q1d = k.rates(qd)
    assert directional(lambda s: [at(s).d, at(s).s1], [q], [qd]) == pytest.approx(
        (xd, k.c1 * q1d), rel=1e-12
    )
    moved = directional(lambda s: list(at(s).rates(s[1])), [q, rate], [qd, acceleration])
    assert list(k.accelerations(qd, rate, acceleration)) == pytest.approx(moved, rel=1e-11)


# ---- variants and starts ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("layout", [(True,), (True, True), (False, True)])
def test_a_locked_machine_is_the_free_one_held(layout):
    """Accelerations and energy of the locked machine are those of the free one with its extensions held still."""
    rng = np.random.default_rng(90)
    plant = random_machine(rng, len(layout), layout)
    q, qd, _ = random_state(rng, plant)
    slides = np.array([isinstance(s, Prismatic) for s in plant.segments])
    locked = plant.locked(
        **{s.name: v for s, v, is_slide in zip(plant.segments, q, slides) if is_slide}
    )
    pick = lambda values: [v for v, is_slide in zip(values, slides) if not is_slide]
    qd = [0.0 if is_slide else v for v, is_slide in zip(qd, slides)]
    base, tip = random_base(rng), random_tip(rng)
    f_c = [float(v) for v in rng.normal(size=locked.n) * 4e4]
    turning = locked.forward_dynamics(pick(q), pick(qd), f_c, base, tip)
    qdd = [0.0 if is_slide else (turning := list(turning)).pop(0) for is_slide in slides]
    needed, _ = plant.inverse_dynamics(q, qd, qdd, base, tip)
    assert pick(needed) == pytest.approx(f_c, rel=1e-9)
    still = [0.0] * locked.n + unturn(locked.base.R, (0.0, locked.g, 0.0)) + [0.0] * 18
    full = [0.0] * plant.n + still[locked.n :]
    state = lambda m, q, qd: [*q, *qd, *[5e6] * (2 * m.n)]
    assert locked.stored(0.0, state(locked, pick(q), pick(qd)), still) == pytest.approx(
        plant.stored(0.0, state(plant, q, qd), full), rel=1e-11
    )
    assert locked.tool(pick(q)) == pytest.approx(plant.tool(q), rel=1e-12)


def test_lock_refuses_what_is_not_there(crane):
    with pytest.raises(InputError, match="no prismatic segment is called boom"):
        crane.locked(boom=0.3)
    with pytest.raises(InputError, match="outside its stroke"):
        crane.locked(extension=7.0)


def tight(plant):
    """The machine without leakage."""

    def sealed(segment):
        return segment and replace(segment, cylinder=replace(segment.cylinder, c_i=0.0, c_e=0.0))

    return replace(
        plant,
        structures=tuple(
            replace(s, revolute=sealed(s.revolute), prismatic=sealed(s.prismatic))
            for s in plant.structures
        ),
    )


def test_rest_is_an_equilibrium(crane):
    """Motion stops at once; with tight pistons (the crane's leak) the pressures stay too."""
    rng = np.random.default_rng(100)
    u = [crane.defaults().get(s.name, 0.0) for s in crane.inputs]
    for _ in range(5):
        q = [
            float(rng.uniform(0.8 * a + 0.2 * b, 0.2 * a + 0.8 * b)) for a, b in crane.joint_range()
        ]
        x = crane.rest(q)
        rates = np.array(crane.rhs(0.0, x, u))
        assert np.abs(rates[: 2 * crane.n]).max() < 1e-12
        assert not np.any(tight(crane).rhs(0.0, x, u)[2 * crane.n :]) and np.any(
            rates[2 * crane.n :]
        )
        p = x[2 * crane.n : 4 * crane.n]
        assert min(p) > crane.p_r and max(p) < crane.p_s
        tilted = [
            float(np.roll(u[crane.n : crane.n + 3], 1)[i - crane.n])
            if crane.n <= i < crane.n + 3
            else v
            for i, v in enumerate(u)
        ]
        assert (
            np.abs(crane.rhs(0.0, x, tilted)[: 2 * crane.n]).max() > 1e-3
        )  # another weight is no equilibrium
    heavy = replace(crane, payload=replace(crane.payload, mass=3000.0))
    with pytest.raises(InputError, match="cannot carry the weight"):
        heavy.rest(crane.pose)


def test_joint_range_is_the_stroke():
    rng = np.random.default_rng(110)
    for plant in MACHINES.values():
        for k in (0, 1):
            q = [ends[k] for ends in plant.joint_range()]
            x = plant.cylinder_motion(q, [0.0] * plant.n)[0]
            strokes = [c.stroke for c in plant.cylinders]
            assert np.minimum(np.abs(x), np.abs(np.subtract(x, strokes))).max() < 1e-9
        q = random_pose(rng, plant.structures)
        plant.check_pose(q)
        q[0] = 1e-3
        with pytest.raises(ValueError, match="outside its stroke"):
            plant.check_pose(q)
