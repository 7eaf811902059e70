"""What a predictive law makes of its plant and its measurements before and after it solves, by hand, off the origin."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import m, n, n_d, n_v, p_y, small

from controllers.mpc import cost, prepare, sequence, verification
from controllers.mpc.law import MPC
from controllers.mpc.loop import Memory, assembled
from controllers.mpc.observer import Observer
from controllers.mpc.prepare import EDGE, Filter, Prepared
from controllers.mpc.problem import Model
from controllers.mpc.unconstrained import Estimate, Unconstrained, times
from controllers.mpc.verifiable import VerifiableMPC
from workbench.contract.errors import InputError

RNG = np.random.default_rng(51)
PROBLEM = small(np.random.default_rng(52))
X, D = np.array([0.5, -1.5, 2.5]), np.array([0.75])
Y = np.array([3.0, -2.0, 0.25])


def made(L=None, reads=(2, 0, 1), problem=PROBLEM, **other):
    known = {
        "problem": problem,
        "L": L,
        "C_a": np.hstack([problem.model.C, problem.model.C_d]),
        "reads": reads,
    }
    found = object.__new__(Prepared)
    for name, value in (known | other).items():
        object.__setattr__(found, name, value)
    return found


# ---- estimates -------------------------------------------------------------------------------------------------------
def test_a_measured_state_is_read_off_and_the_rest_stays():
    x = np.concatenate([X, D])
    found = made().corrected(x, Y)
    assert found.tolist() == [0.25, 3.0, -2.0, 0.75] and x.tolist() == [0.5, -1.5, 2.5, 0.75]
    assert made(reads=(1, 2)).corrected(x, Y).tolist() == [-2.0, 0.25, 2.5, 0.75]


def test_an_estimate_is_led_by_what_the_measurement_is_off():
    """x̂ + L (y − h − C x̂ − C_d d̂)."""
    L = RNG.normal(size=(n + n_d, p_y))
    model = PROBLEM.model
    off = Y - model.h - model.C @ X - model.C_d @ D
    found = made(L).corrected(np.concatenate([X, D]), Y)
    assert found == pytest.approx(np.concatenate([X, D]) + L @ off)


def test_references_of_a_plant_that_rests():
    """The tracked outputs at x for every sample of the preview, and no known disturbance."""
    y = PROBLEM.model.C @ X + PROBLEM.model.h
    found = made().rest(X)
    assert found == pytest.approx([*[y[2], y[0]] * 3, *[0.0] * (n_v * 3)])


def test_parameters_of_a_sample_in_their_order():
    """(x, u₋₁, d, r_0 …, v_0 …, 1)."""
    given = RNG.normal(size=PROBLEM.n_θ - n - m - n_d - 1)
    found = assembled(made(), np.concatenate([X, D]), np.array([7.0, 8.0]), given)
    assert found.tolist() == [*X, 7.0, 8.0, *D, *given, 1.0]


@pytest.mark.parametrize("observer", [None, "Kalman"])
def test_the_first_measurement_is_explained_by_the_nearest_state(observer):
    """In units of what a stroke moves; a disturbance is not moved, nor what is known of all states."""
    sizes = np.array([0.1, 10.0, 3.0])
    problem = SimpleNamespace(model=PROBLEM.model)
    own = SimpleNamespace(observer=observer, prepared=SimpleNamespace(problem=problem, sizes=sizes))
    begun = Memory(np.concatenate([X, D]), None, np.zeros(m), None, 0, None, None)
    found = MPC.start(own, 0.0, begun, Y, None)
    if observer is None:
        assert found is begun
        return
    model = PROBLEM.model
    assert found.x[3] == 0.75 and begun.x.tolist() == [*X, 0.75]
    assert model.C @ found.x[:3] + model.h == pytest.approx(Y)
    one = SimpleNamespace(model=Model(*[None] * 6, model.C[:1], None, model.h[:1], 0.1, n))
    own.prepared = SimpleNamespace(problem=one, sizes=sizes)
    moved = (MPC.start(own, 0.0, begun, Y[:1], None).x - begun.x)[:3]
    row = model.C[0] * sizes**2
    assert moved == pytest.approx(row * (Y[0] - model.h[0] - model.C[0] @ X) / (row @ model.C[0]))


def test_a_sample_of_a_linear_law(monkeypatch):
    """The estimate corrected, the problem solved at θ, the model one sample on under the command; disturbances stay."""
    solved, next_θ = [], RNG.normal(size=(n, PROBLEM.n_θ))
    z_best = RNG.normal(size=PROBLEM.n_z)
    solver = SimpleNamespace(
        solve=lambda θ: solved.append(θ) or SimpleNamespace(z=z_best, status=1)
    )
    own = made(dense="dense", next_θ=next_θ)
    begun = Memory(np.concatenate([X, D]), "P", np.array([7.0, 8.0]), "old", 4, solver, None)
    given = RNG.normal(size=PROBLEM.n_θ - n - m - n_d - 1)
    found, u = MPC._step(SimpleNamespace(prepared=own), begun, Y, given)
    assert u == pytest.approx(z_best[:m] * PROBLEM.stroke)
    (θ,) = solved
    assert θ.tolist() == [0.25, 3.0, -2.0, 7.0, 8.0, 0.75, *given, 1.0]
    assert found.x == pytest.approx([*(next_θ @ θ + PROBLEM.model.B @ u), 0.75])
    assert (found.covariance, found.solved is z_best, found.age, found.path) == (
        None,
        True,
        0,
        None,
    )
    assert found.u is u and found.solver is solver
    assert (found.last.θ is θ, found.last.fallback, found.last.dense) == (True, 0, "dense")


def test_what_is_told_of_a_sample(monkeypatch):
    monkeypatch.setattr("controllers.mpc.law.logged", lambda last: [1, 7, 2.5, 0, 3, 4, 0.5])
    own = SimpleNamespace(prepared=SimpleNamespace(problem=PROBLEM))
    memory = SimpleNamespace(last=None, x=np.array([1.0, 2.0, 3.0, 0.75, 0.25]))
    assert MPC.monitor(own, 0.0, memory, Y, None) == [1, 7, 2.5, 0, 3, 4, 0.5, 0.75, 0.25]


@pytest.mark.parametrize("P", [None, np.array([[3.0, 1.0], [1.0, 4.0]])])
def test_a_sample_without_a_model_holds_and_its_estimate_is_the_less_sure(monkeypatch, P):
    """The covariance grows by W; nothing is solved, and the path is lost."""
    W = np.array([[0.5, 0.0], [0.0, 0.25]])
    asked = []
    base = SimpleNamespace(problem=SimpleNamespace(n_z=3), W=W, dense="dense")
    decided = lambda q, θ, solution, z: asked.append((q, θ, solution)) or ("u", "solved", 5, 1)
    monkeypatch.setattr(sequence, "decided", decided)
    found, u = sequence._without_model(SimpleNamespace(prepared=base), "z", "x", P)
    ((q, θ, solution),) = asked
    assert q is base.problem and θ is None and np.isnan(solution.z).all() and len(solution.z) == 3
    assert (solution.status, solution.iterations, len(solution.λ)) == (-10, 0, 0)
    assert (found.x, found.u, found.solved, found.age, found.path, u) == (
        "x",
        "u",
        "solved",
        5,
        None,
        "u",
    )
    assert (found.last.fallback, found.last.dense, found.last.θ) == (1, "dense", None)
    assert (found.covariance is None) if P is None else (found.covariance == P + W).all()


# ---- the filter ------------------------------------------------------------------------------------------------------
LATE = Model(
    A=np.diag([0.9, 0.6, 0.3, 0.2, 0.1]), B=None, E0=None, E1=None, B_d=np.arange(1.0, 11.0).reshape(5, 2), g=None,
    C=np.arange(1.0, 11.0).reshape(2, 5), C_d=np.array([[0.0, 1.0], [2.0, 0.0]]), h=None, T=0.1, n=3,
)  # fmt: skip


@pytest.mark.parametrize("relinearise", [False, True])
def test_a_filter_is_for_the_plants_own_states_and_the_disturbances(monkeypatch, relinearise):
    """Two commands on their way are known: their rows and columns are empty."""
    seen = {}

    def covariances(count, B_d, p, observer):
        seen["noise"] = (count, B_d.tolist(), p, observer)
        return np.arange(1.0, 26.0).reshape(5, 5), np.diag([3.0, 4.0])

    def design(A, B_d, C, C_d, observer, labels):
        seen["design"] = (A.tolist(), B_d.tolist(), C.tolist(), C_d.tolist(), labels)
        return SimpleNamespace(L=np.arange(1.0, 11.0).reshape(5, 2), P=np.diag([5.0, 6, 7, 8, 9]))

    monkeypatch.setattr(prepare, "covariances", covariances)
    monkeypatch.setattr(prepare, "design", design)
    observer = Observer((1.0,), (2.0,))
    law = SimpleNamespace(observer=observer, disturbances=("u", "y"), relinearise=relinearise)
    found = prepare._filter(law, LATE)
    own = LATE.B_d[:3].tolist()
    assert seen["noise"] == (3, own, 2, observer)
    A, C = np.diag([0.9, 0.6, 0.3]).tolist(), LATE.C[:, :3].tolist()
    assert seen["design"] == (A, own, C, LATE.C_d.tolist(), ("u", "y"))
    places = [0, 1, 2, 5, 6]
    assert found.W.shape == (7, 7) and found.W[np.ix_(places, places)].tolist() == (
        np.arange(1.0, 26.0).reshape(5, 5).tolist()
    )
    assert not found.W[3:5].any() and not found.W[:, 3:5].any() and found.reads == ()
    assert found.L[places].tolist() == np.arange(1.0, 11.0).reshape(5, 2).tolist()
    assert found.L.shape == (7, 2) and not found.L[3:5].any()
    assert found.V.tolist() == [[3.0, 0.0], [0.0, 4.0]]
    if not relinearise:
        assert found.start is None
        return
    assert np.diag(found.start).tolist() == [5.0, 6.0, 7.0, 0.0, 0.0, 8.0, 9.0]


def signals(*labels):
    return tuple(SimpleNamespace(name=name) for name in labels)


def test_states_that_are_measured_are_found_by_name():
    law = SimpleNamespace(
        observer=None,
        measured=signals("c", "a", "x", "b"),
        model=SimpleNamespace(states=signals(*"abc")),
    )
    assert prepare._filter(law, LATE) == Filter(reads=(1, 3, 0))
    law.measured = signals("c", "x")
    with pytest.raises(InputError, match="a, b of SimpleNamespace are not measured"):
        prepare._filter(law, LATE)


def live_law(**other):
    model = SimpleNamespace(
        inputs=signals("u", "load", "v", "wind", "gust"), states=signals("q", "E")
    )
    given = {
        "commands": signals("u", "v"),
        "known": ("wind",),
        "disturbances": ("v", "gust", "y", "gust", "wind"),
    }
    return SimpleNamespace(model=model, **given | other)


def test_inputs_that_vary():
    """Commands, what is known, then what is estimated at inputs, each once; not what is added to an output."""
    assert prepare._live(live_law()) == ["u", "v", "wind", "gust"]
    assert prepare._live(live_law(known=(), disturbances=())) == ["u", "v"]


def test_what_a_law_needs_that_linearises_along_its_prediction(monkeypatch):
    """Commands count in strokes, others in 1; limits are those of the plant, a hair inside; none is ±∞."""
    monkeypatch.setattr(prepare, "replace", lambda made, **new: new)
    monkeypatch.setattr(prepare, "tangents", lambda plant, live: (plant, live))
    predicting = SimpleNamespace(limits=lambda: {"v": (-3.0, 5.0)})
    law = live_law(T_s=0.02, delay=0.03, predicting=predicting, working={"E": 2e-4})
    begun = SimpleNamespace(problem=SimpleNamespace(stroke=np.array([4.0, 6.0])), sizes="sizes")
    found = prepare._with_path(law, begun)
    held = found["held"]
    assert (held.T, held.delay, held.commands, held.known) == (0.02, 0.03, 2, 1)
    assert held.places == (1, 3, None, 3, 2) and held.size_x == "sizes"
    assert held.size_w.tolist() == [4.0, 6.0, 1.0, 1.0]
    low, high = found["inside"]
    assert low.tolist() == [-np.inf, -3.0 * EDGE] and high.tolist() == [np.inf, 5.0 * EDGE]
    assert found["tangents"] == (predicting, ["u", "v", "wind", "gust"])
    assert found["open"].tolist() == [0.0, 2e-4]
    assert prepare._open(live_law(working=None)).tolist() == [0.0, 0.0]


# ---- what is asked of it ---------------------------------------------------------------------------------------------
def test_weights_gains_and_the_lowest_cost():
    gain = np.arange(1.0, 2 * PROBLEM.n_θ + 1).reshape(2, -1)
    dense = SimpleNamespace(gain=lambda: gain, value=lambda θ, z: θ[0] + z)
    ready = SimpleNamespace(problem=PROBLEM, dense=dense)
    status = [1]
    solver = SimpleNamespace(solve=lambda θ: SimpleNamespace(status=status[0], z=0.5))
    own = SimpleNamespace(prepared=ready, commands="uv", solver=lambda prepared: solver)
    own.parameter = lambda *given: VerifiableMPC.parameter(own, *given)
    stage = VerifiableMPC.stage.fget(own)
    assert stage["C"].tolist() == PROBLEM.model.C[[2, 0]].tolist()
    assert all(stage[name] is getattr(PROBLEM, name) for name in "QRS")
    found = VerifiableMPC.gain(own)
    assert found["u"].tolist() == gain[:, 3:5].tolist() and found["one"].shape == (2, 1)
    for status[0], value in ((1, 1.0), (2, 1.0), (4, np.inf), (-1, np.inf), (0, np.inf)):
        assert VerifiableMPC.value(own, X, 0.0) == value


def test_a_steady_state_and_the_cost_about_it(monkeypatch):
    """Of references that stay, without disturbances: what the last sample of the problem rests at."""
    own = SimpleNamespace(prepared=SimpleNamespace(problem=PROBLEM), commands="uv")
    own.parameter = lambda *given: VerifiableMPC.parameter(own, *given)
    x_s, u_s = verification.steady(own, [0.5, -0.25])
    model = PROBLEM.model
    assert model.A @ x_s + model.B @ u_s + model.g == pytest.approx(x_s)
    assert (model.C @ x_s + model.h)[[2, 0]] == pytest.approx([0.5, -0.25])
    y, u = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))
    found = verification.stage_costs(own, y, np.array([0.5, -0.25]), u)
    assert found == pytest.approx(cost.stage_costs(PROBLEM, y, np.array([0.5, -0.25]), u, u_s))


# ---- as expressions --------------------------------------------------------------------------------------------------
def test_rows_times_a_vector_without_what_is_multiplied_by_zero():
    M = np.array([[0.5, 0.0, -2.0], [0.0, 0.0, 0.0]])
    assert times(M, [4.0, float("nan"), 3.0]) == [-4.0, 0.0]
    one = Estimate(
        np.array([[0.5, 2.0], [0.0, 3.0]]), np.array([[4.0], [-1.0]]), np.array([0.1, 0.2])
    )
    assert one.of([1.0, -2.0], [0.75]) == pytest.approx([0.5 - 4 + 3 + 0.1, -6 - 0.75 + 0.2])


@pytest.mark.parametrize("limited", [True, False])
def test_a_sample_of_a_law_as_expressions(limited):
    """θ = (x̂, u₋₁, d̂, r, 1) after the measurement; memory is x̂ one sample on, d̂, u, and how far a limit was left."""
    corrected = Estimate(np.diag([1.0, 2.0, 3.0]), np.array([[0.5], [0.0], [1.0]]), np.zeros(3))
    gain, ahead = RNG.normal(size=(2, 7)), RNG.normal(size=(2, 7))
    rows = RNG.normal(size=(3, 7)) if limited else np.zeros((0, 7))
    named = SimpleNamespace(measured=(), commands=signals("u", "v"), references=(), estimated=())
    own = Unconstrained(named, np.array([0.1, 0.2, 0.3]), corrected, corrected, gain, ahead, rows)
    z = [1.0, -2.0, 0.5, 7.0, 8.0, *([-3.0] if limited else [])]
    after, u = own.step(0.0, z, [4.0], [0.25])
    x = [1.0 + 2.0, -4.0, 1.5 + 4.0]
    θ = np.array([*x[:2], 7.0, 8.0, x[2], 0.25, 1.0])
    assert u == pytest.approx(gain @ θ)
    most = [(rows @ θ).max()] if limited else []
    assert after == pytest.approx([*(ahead @ θ), x[2], *u, *most])
    assert own.start(0.0, z, [4.0], [0.25]) == pytest.approx([*x, *z[3:]])
    assert own.initial() == [0.1, 0.2, 0.3, 0.0, 0.0, *([-1.0] if limited else [])]
