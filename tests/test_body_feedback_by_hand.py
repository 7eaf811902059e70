"""Feedback of bodies and required motion of virtual decomposition control, by matrices of NumPy, in frames that are turned."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc import bodies, forces, required_motion
from controllers.vdc import computed as told
from controllers.vdc.body_gain import BodyGain, symmetric
from controllers.vdc.forces import Forces
from controllers.vdc.law import VDC
from workbench.contract.errors import InputError

RNG = np.random.default_rng(14)
PLACE = RNG.normal(size=3)
TRUE, WANTED = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))
OFF = WANTED - TRUE
K = np.diag([9.0, 8.0, 7.0, 6.0, 5.0, 4.0]) + 0.3 * RNG.normal(size=(6, 6))


def turned(seed):
    """A rotation, and its rows in one list."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    Q = Q * np.sign(np.linalg.det(Q))
    return Q, Q.ravel().tolist()


R, FLAT = turned(1)
AXES, AXES_FLAT = turned(2)


def at_place(Δ):
    """The velocity of the frame's origin and its rate of turning."""
    return np.concatenate([Δ[0] + np.cross(Δ[1], PLACE), Δ[1]])


def wrench(f, m):
    """About the origin."""
    return f, m + np.cross(PLACE, f)


def close(found, exact):
    for got, want in zip(found, exact, strict=True):
        assert np.array(got) == pytest.approx(np.array(want))


def a_law(gains=(), carried=False, axes=None):
    body = SimpleNamespace(name="lift.B1", carried=carried)
    return SimpleNamespace(
        machine=SimpleNamespace(bodies=[None, body]), gains=gains, κ=2.5, K_I=0.7, model=SimpleNamespace(axes=axes or {}),
    )  # fmt: skip


MOTION = SimpleNamespace(R=[None, FLAT], r=[None, PLACE.tolist()], Z=[None, TRUE.tolist()])
NEED = SimpleNamespace(Z=[None, WANTED.tolist()])


# ---- K_A (V_r − V) ---------------------------------------------------------------------------------------------------
def test_an_isotropic_gain_acts_on_the_velocity_of_the_bodys_frame():
    v = at_place(OFF)
    close(bodies.isotropic(0.7, MOTION, NEED, 1), wrench(0.7 * v[:3], 0.7 * v[3:]))


@pytest.mark.parametrize("axes", [None, AXES])
def test_a_gain_of_a_bodys_own_is_a_matrix_in_its_frame(axes):
    """R K Rᵀ of the frame's velocities, in axes of its own where the model names them."""
    gain = SimpleNamespace(name="lift.B1", K=tuple(K.ravel()))
    own = a_law(
        (SimpleNamespace(name="tilt.B1", K=None), gain),
        axes=None if axes is None else {"lift.B1": AXES_FLAT},
    )
    frame = R if axes is None else R @ AXES
    both = np.kron(np.eye(2), frame)
    out = both @ K @ both.T @ at_place(OFF)
    close(bodies.fed_back(own, MOTION, NEED, 1), wrench(out[:3], out[3:]))


@pytest.mark.parametrize("carried", [False, True])
def test_without_one_it_is_the_momentum_and_the_diagonal(monkeypatch, carried):
    """κ M_A ΔV + K_I ΔV; a load that is carried has no diagonal."""
    momentum = RNG.normal(size=(2, 3))
    asked = []
    told = lambda body, motion, j, Δ: asked.append((body.name, j, np.array(Δ))) or momentum.tolist()
    monkeypatch.setattr(bodies.bodies, "momentum", told)
    v = at_place(OFF)
    f, m = wrench(0.7 * v[:3], 0.7 * v[3:])
    rest = (0 * f, 0 * m) if carried else (f, m)
    found = bodies.fed_back(a_law(carried=carried), MOTION, NEED, 1)
    close(found, [2.5 * momentum[0] + rest[0], 2.5 * momentum[1] + rest[1]])
    ((name, j, Δ),) = asked
    assert (name, j) == ("lift.B1", 1) and pytest.approx(OFF) == Δ


def test_a_gain_is_symmetric_in_part_and_above_zero():
    lopsided = np.diag([9.0, 8.0, 7.0, 6.0, 5.0, 4.0])
    lopsided[0, 5] = 11.9  # 9 · 4 = 36 against a quarter of its square
    assert symmetric(lopsided.ravel())[0, 5] == symmetric(lopsided.ravel())[5, 0] == 5.95
    assert BodyGain("lift.B1", tuple(lopsided.ravel())).name == "lift.B1"
    lopsided[0, 5] = 12.1
    with pytest.raises(InputError, match="K_A of lift.B1 is not positive definite"):
        BodyGain("lift.B1", tuple(lopsided.ravel()))
    for many in (35, 37):
        with pytest.raises(InputError, match=f"expected 36 numbers, row by row, got {many}"):
            BodyGain("lift.B1", (1.0,) * many)


# ---- required motion -------------------------------------------------------------------------------------------------
J = np.array([[0.5, -1.5], [2.0, 0.75]])


def model(independent=True):
    """Coordinates of the space are J q and a square, so that J depends on where it is."""
    task = lambda space, q: [J[0] @ np.array(q[:2]), J[1] @ np.array(q[:2])]
    return SimpleNamespace(task=task, mechanism=independent)


def test_rates_that_are_required(monkeypatch):
    """J⁻¹ (τ̇_d + λ (τ_d − τ)): of joints themselves, of other coordinates by their Jacobian."""
    monkeypatch.setattr(required_motion.coordinates, "independent", lambda machine: machine)
    monkeypatch.setattr(required_motion, "jacobian_columns", lambda task, q: J.tolist())
    monkeypatch.setattr(
        required_motion, "solve", lambda M, b: np.linalg.solve(np.array(M), b).tolist()
    )
    q, τ_d, τ1, λ = [0.3, -0.2], [1.5, 0.5], [0.25, -0.75], [4.0, 6.0]
    at = J @ q
    along = [v + g * (d - a) for v, g, d, a in zip(τ1, λ, τ_d, at)]
    found = required_motion.required_rates(model(), "joint", λ, q, τ_d, τ1)
    assert found == pytest.approx(along)
    found = required_motion.required_rates(model(), "piston", λ, q, τ_d, τ1)
    assert found == pytest.approx(np.linalg.solve(J, along))
    rows = [[1.0, 9.0], [3.0, 4.0], [5.0, 6.0]]
    monkeypatch.setattr(required_motion.drive_forces, "rows_at", lambda machine, q: rows[:2])
    found = required_motion.rates_of(model(False), "piston", q, [7.0, 8.0])
    assert found == pytest.approx(np.linalg.solve(np.array(rows[:2]).T, [7.0, 8.0]))


def test_motion_that_is_desired(monkeypatch):
    """Of joints as it is; of other coordinates J⁻¹ τ̇_d and its derivative along the desired motion."""
    monkeypatch.setattr(
        required_motion, "rates_of", lambda model, space, q, rates: [q[0] * v for v in rates]
    )
    monkeypatch.setattr(required_motion.coordinates, "velocities", lambda machine, q, rates: rates)
    monkeypatch.setattr(
        required_motion.required, "rates_at", lambda machine, q, qd: [2 * v for v in qd]
    )
    slope = lambda f, x, v: [
        (b - a) / 2e-6
        for a, b in zip(*(f([p + s * w for p, w in zip(x, v)]) for s in (-1e-6, 1e-6)))
    ]
    monkeypatch.setattr(required_motion, "directional", slope)
    τ = [[0.0], [3.0, 5.0], [0.5, -0.25], [9.0]]
    plant = SimpleNamespace(mechanism=None)
    assert required_motion.desired_motion(plant, "joint", [2.0, 7.0], τ) == (τ[1], τ[2])
    qd, qdd = required_motion.desired_motion(plant, "piston", [2.0, 7.0], τ)
    assert qd == [6.0, 10.0]
    assert qdd == pytest.approx([12.0 * 3.0 + 2 * 0.5, 12.0 * 5.0 - 2 * 0.25])
    both = required_motion.required_motion(
        SimpleNamespace(mechanism=None, task=lambda space, q: q), "piston", [4.0, 6.0], [2.0, 7.0], [0.1, 0.2],
        [1.0, 9.0], [0.3, -0.3], [0.5, 0.25],
    )  # fmt: skip
    v = [0.3 + 4.0 * (1.0 - 2.0), -0.3 + 6.0 * (9.0 - 7.0)]
    a = [0.5 + 4.0 * (0.3 - 0.1), 0.25 + 6.0 * (-0.3 - 0.2)]
    assert both[0] == pytest.approx([2.0 * x for x in v])
    assert both[1] == pytest.approx([0.1 * x + 2.0 * y for x, y in zip(v, a)])


# ---- forces ----------------------------------------------------------------------------------------------------------
def test_the_exact_rate_of_required_forces(monkeypatch):
    """Along q̇, q̈, the reference's own rates and those of all memory: f = Σ of everything with weights of its own."""
    weights = np.random.default_rng(3).normal(size=12)

    def required_forces(q, qd, τ, ẑ):
        flat = [*q, *qd, *τ[0], *τ[1], *τ[2], *(v for one in ẑ for v in one)]
        return [weights @ np.array(flat)]

    own = SimpleNamespace(
        machine=None, required_forces=required_forces, observed=lambda z: [list(z[:1]), list(z[1:])]
    )
    monkeypatch.setattr(
        forces.coordinates, "velocities", lambda machine, q, qd: [3 * v for v in qd]
    )
    exact = lambda f, x, v: [(f([p + w for p, w in zip(x, v)])[0] - f(x)[0])]
    monkeypatch.setattr(forces, "directional", exact)
    q, qd, qdd = [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
    τ = [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5], [4.0, 4.5]]
    ẑ, rate = [[7.0], [8.0]], [[0.7], [0.8]]
    found = Forces.force_rate(own, q, qd, qdd, τ, ẑ, rate)
    moving = [0.9, 1.2, *qdd, *τ[1], *τ[2], *τ[3], 0.7, 0.8]
    assert found == pytest.approx([weights @ np.array(moving)])


def test_required_forces_are_those_of_bodies_and_friction():
    parts = [
        SimpleNamespace(rubbing=lambda v, v_r, z, k=k: (k * v + v_r + z[0], [k]))
        for k in (2.0, 5.0)
    ]
    need = SimpleNamespace(f_c=[10.0, 20.0], xd=[0.1, 0.2], xd_r=[0.3, 0.4])
    own = SimpleNamespace(parts=parts, required=lambda q, qd, τ: need)
    own.rubbing = lambda need, ẑ: Forces.rubbing(own, need, ẑ)
    own.flow = lambda f, ẑ, rubbed: (f, rubbed)
    f_fr = [2 * 0.1 + 0.3 + 7.0, 5 * 0.2 + 0.4 + 8.0]
    assert Forces.required_forces(own, None, None, None, [[7.0], [8.0]]) == pytest.approx(
        [10 + f_fr[0], 20 + f_fr[1]]
    )
    rubbing, f_pr, (given, rubbed) = Forces.observing(own, need, [[7.0], [8.0]])
    assert rubbing == pytest.approx(f_fr) and f_pr == given and rubbed == [[2.0], [5.0]]


def test_what_a_law_tells_and_what_may_be_searched():
    """f_pr and what the coordinates are off; gains above zero, and of drives those that some part takes."""
    told = SimpleNamespace(f_pr=[5.0, 6.0])
    own = SimpleNamespace(
        read=lambda y, r: SimpleNamespace(q="q", τ=[[1.0, 2.0]]), space="joint",
        model=SimpleNamespace(task=lambda space, q: [0.25, 2.5]), _without_rate=lambda z, y, r: told,
    )  # fmt: skip
    assert VDC.monitor(own, 0.0, None, None, None) == [5.0, 6.0, 0.75, -0.5]
    gains = dict.fromkeys(("k_x", "βk_f", "k_m"))
    parts = [SimpleNamespace(takes=("k_m",)), SimpleNamespace(takes=("k_m", "Kk_f"))]
    for κ, K_I, named in ((0.5, 0.0, ["κ"]), (0.0, 0.5, ["K_I"]), (0.5, 0.5, ["κ", "K_I"])):
        one = SimpleNamespace(parts=parts, κ=κ, K_I=K_I, _drive_gains=gains)
        assert VDC.searched.fget(one) == ("λ", *named, "k_m")


@pytest.mark.parametrize("needs_rate", [True, False])
def test_what_a_law_forms_at_a_true_state(monkeypatch, needs_rate):
    """By the model's bodies and by the true ones; memory's rate in the loop is what comes after the plant's own states."""
    asked = {}

    def note(name, *given):
        asked[name] = given
        return name

    law = SimpleNamespace(
        observed=lambda z: ("ẑ", list(z)), required=lambda *given: SimpleNamespace(f_c=note("own f_c", *given)),
        rubbing=lambda need, ẑ: (note("f_fr", need, ẑ), "rubbed"), flow=lambda *given: note("by the law", *given),
        observing=lambda own, ẑ: ("own f_fr", [3.0, 4.0], note("own rate", own.f_c, ẑ)), needs_rate=needs_rate,
        force_rate=lambda *given: note("rate", *given), asked=lambda *given: note("line", *given),
    )  # fmt: skip
    machine = SimpleNamespace(pose_and_rates=lambda x: (f"q of {x}", f"q̇ of {x}"))
    plant = SimpleNamespace(mechanism=machine, inner=lambda x, t: f"{x} at {t}")
    loop = SimpleNamespace(
        parts=lambda t, x, w: ("x_p", [5.0, 6.0], "y", "r", "u"),
        plant=SimpleNamespace(states="abc"),
    )
    monkeypatch.setattr(told.coordinates, "driven", lambda machine: [1, 0])
    monkeypatch.setattr(told, "steps", lambda *given: note("steps", *given))
    pulls = [SimpleNamespace(x="x_0", s="s_0"), SimpleNamespace(x="x_1", s="s_1")]
    served = [(SimpleNamespace(acting=lambda *given, k=k: (k, *given)), f"drive {k}") for k in "ab"]
    need = SimpleNamespace(xd="ẋ", xd_r="ẋ_r")
    state = told.State(loop, 0.5, None, None, [0.1, 0.2, 0.3, 0.4, 0.5])
    found = told.computed_by(law, plant, served, state, told.Truth(need, pulls, "q̈", "τ"))
    q, qd, ẑ, flow = "q of x_p at 0.5", "q̇ of x_p at 0.5", ("ẑ", [5.0, 6.0]), ("ẑ", [0.4, 0.5])
    assert asked["own f_c"] == (q, qd, "τ") and asked["own rate"] == ("own f_c", ẑ)
    assert asked["f_fr"] == (need, ẑ) and asked["by the law"] == ([3.0, 4.0], ẑ, "rubbed")
    rate = "rate" if needs_rate else [0.0, 0.0]
    assert asked.get("rate") == ((q, qd, "q̈", "τ", ẑ, flow) if needs_rate else None)
    assert asked["steps"] == (law, plant, loop, 0.5, loop.parts(0, 0, 0), rate)
    acting = [("a", "drive a", "x_1", "s_1"), ("b", "drive b", "x_0", "s_0")]
    assert asked["line"] == (machine, acting, "ẋ", "ẋ_r", ẑ, "by the law")
    told_of = (
        "f_fr",
        "own f_fr",
        [3.0, 4.0],
        rate,
        "own f_c",
        ẑ,
        "by the law",
        "own rate",
        flow,
        "steps",
        "u",
        "line",
    )
    assert tuple(found) == told_of
