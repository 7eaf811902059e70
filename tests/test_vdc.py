"""Virtual decomposition control: how well it tracks with and without its idealisations, its parts, its refusals."""

from dataclasses import replace

import numpy as np
import pytest
from draws import plant_state, varied_machine
from oracles.random_machines import random_state

from controllers.vdc import VDC, bodies
from controllers.vdc.body_gain import BodyGain
from controllers.vdc.required_motion import desired_motion, required_rates
from plants.components.friction import LuGre
from plants.components.spatial import power
from plants.drives.contract import Line
from plants.multibody import surroundings
from plants.multibody.required import against
from workbench import ClosedLoop, InputError, Sampled, Scenario, Waypoints, simulate
from workbench.contract.system import names
from workbench.numerics.calculus import directional
from workbench.run.demand import Demand
from workbench.run.start import start_state
from workbench.verification.ledger.rates import joint_jacobians
from workbench.verification.run import Run

pytestmark = pytest.mark.usefixtures("plain_code")

POINTS = {
    "joint": (-1.26, -1.95, 0.52),
    "piston": (0.355, 0.225, 0.51),
    "cartesian": (2.78, 0.42, 0.52),
}


def path(space="cartesian", leg=0.8, n=2):
    return Scenario(leg, Waypoints(space, ("start", POINTS[space][:n]), leg))


def worst(plant, law, scenario, T_s=None):
    """Largest distance of the tool from where it should be, m."""
    loop = ClosedLoop(plant, law if T_s is None else Sampled(law, T_s))
    log = simulate(loop, scenario)
    assert log.status.completed
    return float(Run(loop, scenario, log).tool_error.max())


@pytest.fixture(scope="module")
def ideal3(crane):
    """The crane with its extension and valves that follow their command."""

    def follows(s):
        return s and replace(
            s, cylinder=replace(s.cylinder, valve=replace(s.cylinder.valve, lag="ideal"))
        )

    return replace(
        crane,
        structures=tuple(
            replace(s, revolute=follows(s.revolute), prismatic=follows(s.prismatic))
            for s in crane.structures
        ),
    )


# ---- tracking --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("space", POINTS)
def test_perfect_start_perfect_valve_perfect_tracking(ideal3, space):
    """The continuous law with the exact ḟ_pr, from rest on the path: nothing is left but the integrator's error."""
    scenario = path(space, n=3)
    assert worst(ideal3, VDC(ideal3, space=space), scenario) < 1e-7
    moved = Demand(
        loop := ClosedLoop(ideal3, VDC(ideal3, space=space)), scenario, start_state(loop, scenario)
    )
    ends = moved.desired_tool(np.array([0.0, 0.8]))
    assert np.linalg.norm(ends[1] - ends[0]) > 0.02


@pytest.mark.parametrize("space", ("joint", "piston", "cartesian"))
def test_derivative_along_the_desired_motion_in_every_space(ideal, space):
    """ḟ_pr along the desired motion is a central difference of f_pr over it, at a moving point of the path."""
    law = VDC(ideal, space=space, derivative="desired")
    rng = np.random.default_rng(11)
    q = np.array(ideal.pose) + 0.03 * rng.uniform(-1, 1, 2)
    τ = [np.array(ideal.task(space, list(q))), *(rng.uniform(-1, 1, (3, 2)) * (0.12, 0.17))]
    qd, qdd = (
        np.array(v, float)
        for v in desired_motion(law.model, law.space, list(q), [list(v) for v in τ])
    )

    def force(t):
        at = [
            τ[0] + t * τ[1] + t * t / 2 * τ[2] + t**3 / 6 * τ[3],
            τ[1] + t * τ[2] + t * t / 2 * τ[3],
            τ[2] + t * τ[3],
        ]
        joints = [q + t * qd + t * t / 2 * qdd, qd + t * qdd]
        joints, at = ([list(v) for v in rows] for rows in (joints, at))
        return np.array(law.required_forces(*joints, at, NONE), float)

    rate = np.array(
        law.force_rate(list(q), list(qd), list(qdd), [list(v) for v in τ], NONE, NONE), float
    )
    h = 1e-5
    slope = (force(h) - force(-h)) / (2 * h)
    assert rate == pytest.approx(slope, rel=1e-5)
    other = np.array(
        law.force_rate(list(q), list(qd), list(qdd + 0.3), [list(v) for v in τ], NONE, NONE), float
    )
    assert np.abs(other - slope).max() > 1e-3 * np.abs(slope).max()


@pytest.mark.parametrize("space", ("piston", "cartesian"))
def test_desired_motion_of_the_joints_is_that_of_the_task(ideal3, space):
    """J q̇_d = τ̇_d and d/dt(J q̇_d) = τ̈_d, by central differences along the joints' motion, at a moving point."""
    law = VDC(ideal3, space=space)
    rng = np.random.default_rng(5)
    q = np.array(ideal3.pose) + 0.02 * rng.uniform(-1, 1, 3)
    wanted = [
        np.array(ideal3.task(space, list(q))),
        *(rng.uniform(-1, 1, (2, 3)) * (0.11, 0.07, 0.13)),
    ]
    rates, accelerations = (
        np.array(v, float)
        for v in desired_motion(law.model, law.space, list(q), [list(v) for v in wanted])
    )
    h = 1e-5
    along = [
        np.array(ideal3.task(space, list(q + t * rates + t * t / 2 * accelerations)))
        for t in (-h, 0.0, h)
    ]
    assert (along[2] - along[0]) / (2 * h) == pytest.approx(wanted[1], abs=1e-8)
    assert (along[2] - 2 * along[1] + along[0]) / h**2 == pytest.approx(wanted[2], abs=1e-4)


def test_ways_to_form_the_derivative_rank(ideal):
    """Exact (model, desired) ≪ dirty with 1 < 5 < 20 ms < none; in continuous time a filtered difference is dirty."""
    error = {
        d: worst(ideal, VDC(ideal, derivative=d), path()) for d in ("model", "desired", "zero")
    }
    dirty = {
        τ: worst(ideal, VDC(ideal, derivative="dirty", τ=τ), path()) for τ in (1e-3, 5e-3, 20e-3)
    }
    assert max(error["model"], error["desired"]) < 1e-7
    assert 1e-6 < dirty[1e-3] < dirty[5e-3] / 3 < dirty[20e-3] / 6 < error["zero"]
    same = worst(ideal, VDC(ideal, derivative="difference", cutoff=1 / (2 * np.pi * 5e-3)), path())
    assert same == pytest.approx(dirty[5e-3], rel=1e-6)


def test_sampled_difference_approaches_the_continuous_one(ideal):
    exact = worst(ideal, VDC(ideal, derivative="difference"), path())
    gap = [
        abs(worst(ideal, VDC(ideal, derivative="difference"), path(), T) - exact)
        for T in (1e-3, 2.5e-4)
    ]
    assert gap[1] < 0.4 * gap[0] and gap[1] < 0.2 * exact


def test_hold_error_is_of_first_order(ideal):
    """Tracking error proportional to T_s, the accompanying function's maximum to T_s²."""
    errors, peaks = [], []
    for T in (2e-3, 1e-3, 5e-4):
        scenario, loop = path(), ClosedLoop(ideal, Sampled(VDC(ideal), T))
        log = simulate(loop, scenario)
        run = Run(loop, scenario, log)
        errors.append(run.tool_error.max())
        peaks.append(run.balance.total.max())
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([1, 1], abs=0.15)
    assert np.log2(np.divide(peaks[:-1], peaks[1:])) == pytest.approx([2, 2], abs=0.25)


def test_wrong_payload_costs_accuracy(ideal):
    errors = []
    for mass in (0.0, 5.0, 20.0):
        body = replace(ideal.payload, mass=mass)
        truth = replace(ideal, payload=body)
        errors.append(worst(truth, VDC(ideal), path()))
        if mass:
            assert worst(truth, VDC(truth), path()) < 1e-7  # knowing it is enough
    assert errors[0] < 1e-7 < 1e-4 < errors[1] < errors[2] / 2


def test_an_offset_is_forgotten_with_the_position_gain(ideal):
    """e decays as exp(−λ t) once the velocity errors have; twice the gain, twice the rate."""
    for λ in (4.0, 8.0):
        scenario = Scenario(1.2, None, offset={"q_2": 0.01})
        law = VDC(ideal, λ=(λ,))
        loop = ClosedLoop(ideal, law)
        scenario = replace(scenario, reference=Waypoints("joint", (ideal.pose, ideal.pose), 1.0))
        e = np.abs(simulate(loop, scenario).array("e_q_2"))
        assert np.log(e[600] / e[1100]) / 0.5 == pytest.approx(λ, rel=0.1)


NONE = [[], []]  # what the law remembers of two cylinders without bristles


# ---- the law's parts -------------------------------------------------------------------------------------------------
def drawn(law, seed=3):
    """(z, y, r) at a random state of the law's model, the reference somewhere near."""
    rng = np.random.default_rng(seed)
    m = law.model
    y = m.out(0.0, plant_state(rng, m))[: 4 * m.n]
    τ = [t + 0.03 * rng.normal() for t in m.task(law.space, y[: m.n])]
    r = [*τ, *(float(v) for v in 0.3 * rng.normal(size=3 * m.n))]
    z = [float(v) for v in 1e-5 * rng.normal(size=len(law.states))]
    return z, y, r


@pytest.mark.quick
@pytest.mark.parametrize("space", POINTS)
def test_required_rates_lead_back_to_the_path(crane, space):
    """(35)–(37): J(q) q̇_r = τ̇_d + λ (τ_d − τ(q)); q̈_r is its derivative along the true motion."""
    law = VDC(crane, space=space, λ=(7.0, 8.0, 9.0))
    _, y, r = drawn(law)
    seen = law.read(y, r)
    q, qd, τ = seen.q, seen.qd, seen.τ
    task = lambda s: crane.task(space, s)
    rates, accelerations = law.required_motion(q, qd, *τ[:3])
    aim = [v + k * (d - at) for v, k, d, at in zip(τ[1], (7.0, 8.0, 9.0), τ[0], task(q))]
    assert directional(task, q, rates) == pytest.approx(aim, rel=1e-10)
    h = 1e-5
    ahead = [
        required_rates(
            law.model,
            law.space,
            law._each(law.λ, 3),
            [a + s * b for a, b in zip(q, qd)],
            [a + s * b for a, b in zip(τ[0], τ[1])],
            [a + s * b for a, b in zip(τ[1], τ[2])],
        )
        for s in (h, -h)
    ]
    assert accelerations == pytest.approx(np.subtract(*ahead) / (2 * h), rel=1e-5, abs=1e-5)


def test_at_the_required_motion_forces_are_the_true_ones(crane):
    """V_r = V and A_r = A: nothing is fed back and f_cr is the inverse dynamics (68)."""
    law = VDC(crane)
    q, qd, qdd = random_state(np.random.default_rng(4), crane)
    need = bodies.required(law, law.machine, q, qd, qd, qdd)
    assert need.f_c == pytest.approx(crane.inverse_dynamics(q, qd, qdd)[0], rel=1e-10)


def test_feedback_is_the_virtual_power_of_the_gains(crane):
    """Σ ΔVᵀ K_A ΔV over bodies = Δq̇ᵀ of what the feedback adds to the generalised forces."""
    K = np.diag([900.0, 800.0, 700.0, 60.0, 50.0, 40.0]) + 9.0 * np.triu(np.ones((6, 6)), 1)
    law = VDC(crane, κ=11.0, K_I=3.0, gains=(BodyGain("tilt.B1", tuple(K.ravel().tolist())),))
    q, qd, qdd = random_state(np.random.default_rng(5), crane)
    rates = [v + d for v, d in zip(qd, (0.3, -0.2, 0.1))]
    machine = law.machine
    around = surroundings.at_rest(machine)  # with which every body has a wrench of its own
    need = bodies.required(law, machine, q, qd, rates, qdd, around)
    quick = bodies.required(law, machine, q, qd, rates, qdd)
    free = bodies.required(VDC(crane, κ=1e-300), machine, q, qd, rates, qdd)
    assert quick.f_c == pytest.approx(need.f_c, rel=1e-11)
    _, _, lever = crane.cylinder_motion(q, qd)
    Δ = np.subtract(rates, qd)
    J = joint_jacobians(crane, q)
    expected = 0.0
    known = {f"{s.name}.{f}": b for s in crane.structures for g in s.segments for f, b in g.bodies}
    for j, part in enumerate(machine.bodies):
        ΔV = against(need.wanted.Z[j], need.at.motion.Z[j])
        gain = 11.0 * crane.payload.matrix()
        if part.name in known:
            gain = 11.0 * known[part.name].matrix() + 3.0 * np.eye(6)
        if part.name == "tilt.B1":
            gain = K
        e = J[part.name] @ Δ
        assert power(ΔV, need.fed[j]) == pytest.approx(e @ gain @ e, rel=1e-9)
        expected += e @ gain @ e
    assert Δ @ (np.subtract(need.f_c, free.f_c) * lever) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("space", ("joint", "piston"))
def test_force_rate_is_the_derivative_along_the_motion(space):
    """ḟ_pr by central differences of order 4 along q̈ of the model, the reference moving on."""
    plant = varied_machine(6, (False, True))
    law = VDC(plant, space=space)
    z, y, r = drawn(law, 6)
    seen = law.read(y, r)
    q, qd, τ = seen.q, seen.qd, seen.τ
    ẑ = z[: law._observers]
    need = law.required(q, qd, τ)
    f_pr, rubbed = law.rubbing(need, law.observed(ẑ))
    ẑ_rate = [v for rate in rubbed for v in rate]
    qdd = law.acceleration(seen, need, f_pr, law.observed(ẑ))
    move = lambda a, b, s: [u + s * v for u, v in zip(a, b)]

    def f(s):
        return np.array(
            law.required_forces(
                move(q, qd, s),
                move(qd, qdd, s),
                [move(τ[k], τ[k + 1], s) for k in range(3)],
                law.observed(move(ẑ, ẑ_rate, s)),
            ),
            float,
        )

    h = 1e-7
    found = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)
    exact = np.array(law.force_rate(q, qd, qdd, τ, law.observed(ẑ), rubbed))
    assert found == pytest.approx(exact, rel=1e-4, abs=1e-4 * np.abs(exact).max())


def test_the_command_gives_the_required_flow():
    """(90)–(93): with the voltage of the law, u_f of the true valve is u_fr, overlap and all."""
    plant = varied_machine(3, (False, True))
    law = VDC(plant, derivative="zero", k_x=(1e-4,), βk_f=(2.0,))
    z, y, r = drawn(law, 7)
    r = [
        *plant.task("joint", y[: plant.n]),
        *y[plant.n : 2 * plant.n],
        *r[2 * plant.n :],
    ]  # small errors: no saturation
    seen, found = law.read(y, r), law.sought(z, y, r)
    x, xd, _ = plant.cylinder_motion(seen.q, seen.qd)
    rows = zip(plant.cylinders, law.parts, found.u, found.f_pr, x, xd, found.need.xd_r, seen.p)
    for c, part, volt, f_pr, xi, v, v_r, pair in rows:
        wanted = part.valve(part.drive, Line(plant.p_s, plant.p_r)).flow(
            xi, v, pair, f_pr, 0.0, v_r
        )
        g_a, g_b = c.gains(plant.oil, xi, *pair)
        wide = replace(c.valve, u_max=1e9)  # the law does not saturate, the valve would
        Q_a, Q_b = wide.flows(volt, *pair, plant.p_s, plant.p_r)
        assert g_a * Q_a - g_b * Q_b == pytest.approx(wanted, rel=1e-9)


def test_with_exact_knowledge_the_force_error_contracts(ideal):
    """On an ideal valve ḟ_pr − ḟ_p = −β (k_x Δẋ + k_f Δf): the law's own error dynamics, from the plant's rhs."""
    law = VDC(ideal, k_x=(5e-3, 7e-3), βk_f=(110.0, 130.0))
    rng = np.random.default_rng(8)
    x = ideal.rest(ideal.pose)
    x[2:4] = [0.02, -0.03]
    y = ideal.out(0.0, x)[:8]
    r = [
        *(a + b for a, b in zip(ideal.pose, (1e-3, -2e-3))),
        0.021,
        -0.029,
        *(0.1 * rng.normal(size=4)),
    ]
    found, seen = law.sought([], y, r), law.read(y, r)
    u, f_pr, need = found.u, found.f_pr, found.need
    assert np.abs(u).max() < 10
    full = [*u, *(ideal.defaults().get(s.name, 0.0) for s in ideal.inputs[2:])]
    rates = ideal.rhs(0.0, x, full)
    f_pr_rate = law.force_rate(seen.q, seen.qd, rates[2:4], seen.τ, NONE, NONE)
    for i, c in enumerate(ideal.cylinders):
        f_p_rate = c.force(rates[4 + 2 * i], rates[5 + 2 * i])
        Δẋ, Δf = need.xd_r[i] - need.xd[i], f_pr[i] - c.force(*seen.p[i])
        expected = -(ideal.oil.β * law.k_x[i] * Δẋ + law.βk_f[i] * Δf)
        assert f_pr_rate[i] - f_p_rate == pytest.approx(expected, rel=1e-6)


def test_observers_start_and_keep_their_bounds(ideal):
    """A law with bristles: friction is observed, the run completes at any sample time, memory is logged."""

    def rubbing(s):
        return replace(s, cylinder=replace(s.cylinder, friction=LuGre()))

    plant = replace(
        ideal, structures=tuple(replace(s, revolute=rubbing(s.revolute)) for s in ideal.structures)
    )
    for T in (1e-3, 4e-3):
        loop = ClosedLoop(plant, Sampled(VDC(plant, derivative="zero"), T))
        log = simulate(loop, path())
        assert log.status.completed
        for label in "12":
            observed, true = log.array(f"z_{label}_observed"), log.array(f"z_{label}")
            assert np.abs(observed).max() < 4500 / 1e7 * 1.2 and np.ptp(observed) > 1e-5
            assert np.abs(observed - true).max() < np.ptp(true)


def test_certificate_names_every_body(crane):
    law = VDC(crane)
    assert law.certificate(crane).law is law
    assert {s.name for s in law.measured} == set(names(crane.states[:12])) and len(
        law.references
    ) == 12


# ---- refusals --------------------------------------------------------------------------------------------------------
GOOD = np.diag([9.0, 8.0, 7.0, 6.0, 5.0, 4.0])


def gain(K, name="tilt.B1"):
    return BodyGain(name, tuple(np.asarray(K, float).ravel().tolist()))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"λ": (1.0, 2.0)}, "λ: expected 1 or 3 numbers, one per coordinate, got 2"),
        ({"k_x": (1e-3,) * 4}, "k_x: expected 1 or 3"),
        ({"βk_f": ()}, "βk_f: expected 1 or 3"),
        ({"λ": (0.0,)}, "greater than zero"),
        ({"κ": 0.0}, "K_A is zero, not positive definite"),
        ({"κ": -1.0}, "zero or greater"),
        ({"τ": 0.0}, "greater than zero"),
        ({"gains": (gain(GOOD, "boom.B1"),)}, "no body 'boom.B1'; choose from lift.B0"),
        ({"space": "polar"}, "expected one of joint, piston, cartesian, got 'polar'"),
    ],
)
def test_what_cannot_control_is_refused(crane, options, words):
    with pytest.raises(ValueError, match=words):
        VDC(crane, **options)


def test_gains_must_be_positive_definite(crane):
    skew = np.triu(np.full((6, 6), 50.0), 1)
    assert VDC(crane, gains=(gain(GOOD + skew - skew.T),))  # a skew part does no harm
    for wrong in (GOOD - 4.5 * np.eye(6), GOOD + np.triu(np.full((6, 6), 9.0), 1), 0 * GOOD):
        with pytest.raises(ValueError, match="K_A of tilt.B1 is not positive definite"):
            gain(wrong)
    with pytest.raises(ValueError, match="expected 36 numbers"):
        BodyGain("tilt.B1", (1.0,) * 6)
    assert VDC(crane, κ=0.0, K_I=2.0).K_I == 2.0
    with pytest.raises(InputError, match="two revolute segments"):
        VDC(varied_machine(1, (False,)), space="cartesian")
    every = tuple(
        gain(GOOD, f"{s.name}.{f}")
        for s in crane.structures
        for seg in s.segments
        for f, _ in seg.bodies
    )
    assert VDC(crane, κ=0.0, gains=every)
