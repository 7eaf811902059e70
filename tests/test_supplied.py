"""A user's V: published examples confirmed, false certificates refused, every counter-example checked by plain evaluation."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_lyapunov

from tests.small import Feedback, Linear
from workbench import ClosedLoop, Sampled, Signal, System
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit
from workbench.verification.observed.expression import formula
from workbench.verification.rigorous.supplied import check_supplied


def states(*names):
    return tuple(Signal(n) for n in names)


@dataclass(frozen=True)
class Cubic(System):
    """ẋ = −a x + x³: attracted exactly for x² < a."""

    a: Annotated[float, Unit("1/s")] = 1.7
    states = states("x")
    inputs = ()

    def initial(self):
        return [0.1]

    def rhs(self, t, x, u):
        return [-self.a * x[0] + x[0] ** 3]


@dataclass(frozen=True)
class VanDerPol(System):
    """Van der Pol's oscillator in reversed time: attracted inside its limit cycle."""

    μ: Annotated[float, Unit("1")] = 1.0
    states = states("x", "y")
    inputs = ()

    def initial(self):
        return [0.1, 0.0]

    def rhs(self, t, x, u):
        return [-x[1], x[0] + self.μ * (x[0] ** 2 - 1) * x[1]]


@dataclass(frozen=True)
class Pendulum(System):
    k: Annotated[float, Unit("1/s^2")] = 9.81
    d: Annotated[float, Unit("1/s")] = 0.7
    states = states("q", "v")
    inputs = (Signal("w", "1", "push", "disturbance"),)

    def initial(self):
        return [0.1, 0.0]

    def rhs(self, t, x, u):
        return [x[1], -self.k * np.sin(x[0]) - self.d * x[1] + u[0]]


@dataclass(frozen=True)
class Switched(System):
    """A valve-like law with two sides, a dead zone and a root: |v| damping that differs by direction."""

    c: Annotated[float, Unit("1/s")] = 1.3
    states = states("x", "v")
    inputs = ()

    def initial(self):
        return [0.1, 0.0]

    def rhs(self, t, x, u):
        slope = np.where(x[1] > 0, 2.0, 0.8)
        return [
            x[1] - 0.4 * x[0],
            -x[0] - self.c * slope * x[1] - 0.3 * x[1] * np.sqrt(np.abs(x[1])),
        ]


@dataclass(frozen=True)
class Guarded(System):
    """ẋ = −x where x > −½, √x otherwise: no number between −1 and −½, though the branch is guarded."""

    states = states("x")
    inputs = ()

    def initial(self):
        return [0.1]

    def rhs(self, t, x, u):
        return [np.where(x[0] > -0.5, -x[0], np.sqrt(x[0]))]


@dataclass(frozen=True)
class Henon(System):
    """x⁺ = a x + b y², y⁺ = c x y + e y, at every sample; nothing flows."""

    a: Annotated[float, Unit("1")] = 0.55
    b: Annotated[float, Unit("1")] = 0.4
    period: float = 0.1
    states = states("x", "y")
    inputs = ()

    def initial(self):
        return [0.1, 0.1]

    def rhs(self, t, x, u):
        return [0.0 * x[0], 0.0 * x[1]]

    def update(self, t, x, u):
        return [self.a * x[0] + self.b * x[1] ** 2, 0.7 * x[0] * x[1] + 0.45 * x[1]]


def rises(system, V, at, names, extra=()):
    """V̇ at the point by a plain central difference along the flow, independent of intervals and derivatives."""
    x, f = np.array([at[n] for n in names]), formula(V, names)
    ẋ, h = np.array(system.rhs(0.0, list(x), list(extra))), 1e-6
    return (f(x + h * ẋ) - f(x - h * ẋ)) / (2 * h)


# ---- what holds is confirmed


def test_cubic_up_to_its_exact_edge():
    ask = lambda γ: check_supplied("x**2", Cubic(), {"x": (-2, 2)}, 0.02, γ)
    inside = ask(1.7 * (1 - 1e-6))
    assert (
        inside.holds and inside.strength == "proof" and inside.data["ball"] == pytest.approx(4e-4)
    )
    over = ask(1.7 * (1 + 1e-3))
    assert over.holds is False and over.strength == "proof" and over.data["at"]["x"] ** 2 >= 1.7
    far = ask(4.1)
    assert far.holds is False and "boundary" in far.worst and abs(far.data["at"]["x"]) == 2


def test_van_der_pol_published_region():
    """V = 1.5x² − xy + y², the classical estimate: V̇ < 0 up to 2.25 or so [Khalil, example 8.9], and not at 2.4."""
    V, box = "1.5*x**2 - x*y + y**2", {"x": (-3, 3), "y": (-3, 3)}
    found = check_supplied(V, VanDerPol(), box, 0.05, 2.25)
    assert found.holds and found.strength == "proof"
    f = formula(V, ["x", "y"])
    for a in np.linspace(0, 2 * np.pi, 16, endpoint=False):  # simulated from the edge of the region
        x = np.array([np.cos(a), np.sin(a)])
        x *= np.sqrt(2.25 / f(x))
        end = solve_ivp(lambda t, x: VanDerPol().rhs(t, x, []), (0, 40), x, rtol=1e-8).y[:, -1]
        assert f(end) < found.data["ball"]
    for wrong in (2.4, 2.25 * 1.4, 9.0):
        over = check_supplied(V, VanDerPol(), box, 0.05, wrong)
        assert over.holds is False
        if "boundary" not in over.worst:
            assert (
                rises(VanDerPol(), V, over.data["at"], ["x", "y"]) >= 0
                and f(list(over.data["at"].values())) <= wrong
            )


ENERGY = "9.81*(1 - cos(q)) + 0.5*v**2"


@pytest.mark.long
def test_pendulum_with_a_cross_term_with_inputs_and_parameters():
    V, box = ENERGY + " + 0.3*q*v + 0.105*q**2", {"q": (-2.5, 2.5), "v": (-7, 7)}
    plain = check_supplied(V, Pendulum(), box, {"q": 0.05, "v": 0.2})
    assert plain.holds and 17 < plain.data["level"] < 18.1
    assert [a.text for a in plain.assumptions] == ["inputs stay at w = 0"]
    wide = check_supplied(
        V,
        Pendulum(),
        box,
        {"q": 0.1, "v": 0.4},
        inputs={"w": (-0.1, 0.1)},
        parameters={"d": (0.6, 0.8)},
    )
    assert wide.holds and len(wide.assumptions) == 2 and wide.data["boxes"] > plain.data["boxes"]
    undamped = check_supplied(
        V, Pendulum(), box, {"q": 0.1, "v": 0.4}, parameters={"d": (0.2, 0.8)}
    )
    assert undamped.holds is False and undamped.data["at"]["d"] < 0.6
    pushed = check_supplied(V, Pendulum(), box, {"q": 0.1, "v": 0.4}, inputs={"w": (-3.0, 3.0)})
    assert pushed.holds is False
    assert rises(Pendulum(), V, pushed.data["at"], ["q", "v"], [pushed.data["at"]["w"]]) >= 0


def test_energy_alone_is_undecided():
    """V̇ = −d v² is zero on v = 0: neither proved nor refuted."""
    v = check_supplied(
        ENERGY, Pendulum(), {"q": (-2.5, 2.5), "v": (-7, 7)}, {"q": 0.05, "v": 0.2}, budget=4000
    )
    assert v.holds is None and v.strength is None and v.data["left"]


def test_shifted_centre():
    system = Pendulum()
    rest = float(np.arcsin(0.5 / 9.81))
    V = f"4.9*(q-{rest!r})**2 + 0.5*v**2 + 0.2*(q-{rest!r})*v"
    box = {"q": (-0.7 + rest, 0.7 + rest), "v": (-2.2, 2.2)}
    centred = check_supplied(
        V, system, box, {"q": 0.05, "v": 0.15}, centre={"q": rest}, inputs={"w": 0.5}
    )
    assert centred.holds
    assert (
        check_supplied(
            V, system, box, {"q": 0.05, "v": 0.15}, centre={"q": rest + 0.01}, inputs={"w": 0.5}
        ).holds
        is False
    )


def test_nonsmooth_systems_and_functions():
    box = {"x": (-1, 1), "v": (-1, 1)}
    smooth = check_supplied("x**2 + v**2", Switched(), box, 0.05)
    assert smooth.holds and smooth.strength == "proof"
    assert check_supplied("abs(x)", Cubic(), {"x": (-1.2, 1.2)}, 0.02).holds
    assert check_supplied("abs(x) + 0.2*abs(v)", Switched(), box, 0.05, budget=4000).holds is False
    backwards = check_supplied("x**2 + v**2", replace(Switched(), c=-1.3), box, 0.05)
    assert (
        backwards.holds is False
        and rises(replace(Switched(), c=-1.3), "x**2 + v**2", backwards.data["at"], ["x", "v"]) >= 0
    )


def test_a_root_of_squares_is_a_norm():
    """V = √(x² + v²), without a derivative at rest: to a level a little above the ball's radius, and refused where it rises."""
    turning = lambda a: ClosedLoop(
        p := Linear(A=((-0.6, a), (-0.9, -1.1)), B=((0.0,), (1.0,)), C=((1.0, 0.0),)),
        Feedback(p, ((0.0,),)),
    )
    box = {"x0": (-1, 1), "x1": (-1, 1)}
    held = check_supplied("sqrt(x0**2 + x1**2)", turning(0.7), box, 0.2)
    assert held.holds and 0.2 <= held.data["ball"] < 0.21
    assert check_supplied("sqrt(x0**2 + x1**2)", turning(3.9), box, 0.2).holds is False


def test_where_the_model_is_no_number_nothing_is_proved():
    assert check_supplied("x**2", Guarded(), {"x": (-0.45, 0.45)}, 0.02).holds is True
    assert check_supplied("x**2", Guarded(), {"x": (-0.9, 0.9)}, 0.02, budget=3000).holds is None
    assert (
        check_supplied("sqrt(x)*x**2", Cubic(), {"x": (-0.9, 0.9)}, 0.02, budget=3000).holds
        is not True
    )
    assert (
        check_supplied("x**2/(x+0.3)", Cubic(), {"x": (-0.9, 0.9)}, 0.02, budget=3000).holds
        is not True
    )


# ---- false certificates


@pytest.mark.parametrize(
    "V",
    [
        "x**2 + y**2 + 0.3",
        "x**2 + y**2 - 1e-9",
        "-(1.5*x**2 - x*y + y**2)",
        "1.5*x**2 - 4*x*y + y**2",
        "1.5*x**2 + x*y + y**2",
        "x**4 - y**2",
        "0*x",
        "x*y",
    ],
)
def test_false_certificates_are_refused(V):
    """V(0) ≠ 0, flipped signs, an indefinite P, a function that is zero: never a yes."""
    v = check_supplied(V, VanDerPol(), {"x": (-1, 1), "y": (-1, 1)}, 0.05, budget=6000)
    assert v.holds is not True
    if V[:11] in ("x**2 + y**2", "-(1.5*x**2 ", "1.5*x**2 - "):
        assert v.holds is False


def test_a_ball_as_high_as_the_box_says_nothing():
    v = check_supplied("1.5*x**2 - x*y + y**2", VanDerPol(), {"x": (-1, 1), "y": (-1, 1)}, 0.9)
    assert v.holds is None and "ball" in v.worst


def test_a_thin_pocket_where_v_rises_is_found():
    """ẋ = −x but for a pocket of width 0.002, where it turns round."""

    @dataclass(frozen=True)
    class Pocket(System):
        depth: Annotated[float, Unit("1/s")] = 3.0
        states = states("x")
        inputs = ()

        def initial(self):
            return [0.1]

        def rhs(self, t, x, u):
            return [-x[0] + self.depth * np.exp(-(((x[0] - 0.61803) / 0.001) ** 2))]

    found = check_supplied("x**2", Pocket(), {"x": (-1, 1)}, 0.02)
    assert found.holds is False and abs(found.data["at"]["x"] - 0.61803) < 0.002
    assert check_supplied("x**2", Pocket(0.6), {"x": (-1, 1)}, 0.02).holds is True


# ---- sampled loops


def sampled(K=((3.1, 2.2),), T_s=0.05):
    plant = Linear(A=((0, 1), (-2, -0.5)), B=((0,), (1,)), C=((1, 0), (0, 1)))
    return ClosedLoop(plant, Sampled(Feedback(plant, K=K), T_s=T_s))


P = solve_continuous_lyapunov(np.array([[0, 1], [-5.1, -2.7]]).T, -np.eye(2))
QUADRATIC = f"{float(P[0, 0])!r}*x0**2 + {2 * float(P[0, 1])!r}*x0*x1 + {float(P[1, 1])!r}*x1**2"
BOX = {"x0": (-1, 1), "x1": (-2, 2)}


def test_sampled_loop_over_its_samples():
    v = check_supplied(QUADRATIC, sampled(), BOX, 0.1)
    assert v.holds and v.strength == "proof" and "ΔV" in v.claim
    wrong = check_supplied(QUADRATIC, sampled(K=((-3.1, -2.2),)), BOX, 0.1)
    assert wrong.holds is False
    # Sampled so slowly that the exact map grows, the same V must not pass.
    from workbench.verification.linear.sampled_data import sampled as exact

    for T_s in (1.0, 1.5):
        slow = exact([[0, 1], [-2, -0.5]], [[0], [1]], np.eye(2), np.zeros((2, 1)), T_s)
        M = slow.A - slow.B @ [[3.1, 2.2]]
        falls = np.linalg.eigvalsh(P - M.T @ P @ M)[0] > 0
        assert (
            not falls
            and check_supplied(QUADRATIC, sampled(T_s=T_s), BOX, 0.1, budget=4000).holds is not True
        )


def test_change_over_a_sample_holds_the_true_one():
    """Bounds of ΔV on small boxes against the exact discretisation, smooth V and V with kinks."""
    from workbench.verification.linear.sampled_data import sampled as exact
    from workbench.verification.rigorous.motion import Motion

    g = exact([[0, 1], [-2, -0.5]], [[0], [1]], np.eye(2), np.zeros((2, 1)), 0.05)
    M, rng = g.A - g.B @ [[3.1, 2.2]], np.random.default_rng(4)
    for V, slack in (
        (QUADRATIC, 2e-3),
        ("abs(x0) + 0.3*abs(x1)", 0.2),
        ("sqrt(1 + x0**2)*exp(0.2*x1) - 1", 2e-3),
    ):
        f, motion = formula(V, list(BOX)), Motion(sampled(), formula(V, list(BOX)), list(BOX))
        x = rng.uniform(-0.8, 0.8, (40, 2))
        r = 10 ** rng.uniform(-6, -1, (40, 1))
        low, high, _, way = motion.change(x - r, x + r)
        for _ in range(20):
            at = x + r * rng.uniform(-1, 1, x.shape)
            after = at @ M.T
            change = f(after.T) - f(at.T)
            assert (low <= change + 1e-12).all() and (change <= high + 1e-12).all()
            assert (way[0] <= after + 1e-12).all() and (after <= way[1] + 1e-12).all()
        tight = r[:, 0] < 1e-4
        assert (high - low)[tight].max() < slack


def test_maps_without_flow():
    box = {"x": (-0.9, 0.9), "y": (-0.9, 0.9)}
    assert check_supplied("x**2 + y**2", Henon(), box, 0.05).holds
    for a in (1.05, -1.3):
        v = check_supplied("x**2 + y**2", Henon(a=a), box, 0.05)
        at = v.data["at"]
        after = Henon(a=a).update(0.0, [at["x"], at["y"]], [])
        assert v.holds is False and after[0] ** 2 + after[1] ** 2 >= at["x"] ** 2 + at["y"] ** 2


def test_a_step_from_the_ball_over_the_level_is_not_overlooked():
    """x⁺ = −40 x near 0, contraction elsewhere: V falls outside the ball, but a step from inside it leaps past the level."""

    @dataclass(frozen=True)
    class Leap(System):
        period: float = 0.1
        states = states("x")
        inputs = ()

        def initial(self):
            return [0.1]

        def rhs(self, t, x, u):
            return [0.0 * x[0]]

        def update(self, t, x, u):
            return [np.where(np.abs(x[0]) < 0.04, -40 * x[0], 0.5 * x[0])]

    v = check_supplied("x**2", Leap(), {"x": (-1, 1)}, 0.05)
    assert v.holds is None and "ball" in v.worst
    assert check_supplied("x**2", Leap(), {"x": (-2, 2)}, 0.05).data["ball"] > 2.5


def test_progress_and_budget():
    told = []
    v = check_supplied(
        "1.5*x**2 - x*y + y**2",
        VanDerPol(),
        {"x": (-3, 3), "y": (-3, 3)},
        0.05,
        2.25,
        progress=lambda share, text: told.append(share),
    )
    assert v.holds and told == sorted(told) and told[-1] == pytest.approx(1.0)
    short = check_supplied(
        "1.5*x**2 - x*y + y**2", VanDerPol(), {"x": (-3, 3), "y": (-3, 3)}, 0.05, 2.25, budget=60
    )
    assert short.holds is None and len(short.data["left"]) >= 1


# ---- formulas


@pytest.mark.parametrize(
    "text, why",
    [
        ("__import__('os').system('true')", "not allowed"),
        ("x.real", "cannot have"),
        ("(lambda: 1)()", "not allowed"),
        ("x**y", "whole number"),
        ("x**-1", "whole number"),
        ("x**99", "whole number"),
        ("x^2", "cannot have"),
        ("z + 1", "unknown signal"),
        ("log(x)", "not allowed"),
        ("sin(x, y)", "not allowed"),
        ("[x, y]", "cannot have"),
        ("x if y else 0", "cannot have"),
        ("'x'", "cannot have"),
        ("x < y", "cannot have"),
        ("True", "cannot have"),
        ("1e999*x", "cannot have"),
        ("x +", "cannot read"),
        ("", "expected a formula"),
        ("(" * 300 + "x" + ")" * 300, "nested|read"),
        ("-" * 300 + "x", "nested"),
        ("x := 2", "cannot read"),
        ("f'{x}'", "cannot have"),
        ("x" * 5000, "characters"),
    ],
)
def test_formulas_outside_the_whitelist(text, why):
    with pytest.raises(InputError, match=why):
        formula(text, ["x", "y"])


def test_formulas_mean_what_python_means():
    rng = np.random.default_rng(9)
    for text in (
        "x**2 - 3*x*y/(2+y**2) + 1e-3",
        "-x**2 + +y - -x",
        "2 - 3 - x - y/4/5*x",
        "abs(x-y)*sqrt(1+x**2)",
        "tanh(x)*exp(-y)+sin(x)*cos(y)",
        "+".join(["x*y"] * 300),
    ):
        for x, y in rng.normal(size=(5, 2)):
            meant = eval(
                text,
                {"abs": abs, **{n: getattr(np, n) for n in ("sqrt", "sin", "cos", "tanh", "exp")}},
                {"x": x, "y": y},
            )
            assert formula(text, ["x", "y"])([x, y]) == pytest.approx(meant, rel=1e-13)


@pytest.mark.parametrize(
    "text",
    ["x + exp(1e9)", "sin(x + exp(1e9))", "-(x * exp(1e9))", "abs(cos(x + 2) - exp(900) * y)"],
)
def test_a_part_without_value_is_refused_however_deep_it_stands(text):
    with pytest.raises(InputError, match="no finite value"):
        formula(text, ["x", "y"])


def test_bad_questions_are_refused():
    system, good = Pendulum(), {"q": (-1.0, 1.0), "v": (-1.0, 1.0)}
    for box, ball, more in (
        ({}, 0.1, {}),
        ({"q": (1, -1), "v": (-1, 1)}, 0.1, {}),
        (good, 2.0, {}),
        (good, -0.1, {}),
        ({"q": (-1.0, 2.0), "v": (-2.0, 2.0)}, 1.0, {}),  # it touches the edge from inside
        ({"q": (-2.0, 1.0), "v": (-2.0, 2.0)}, 1.0, {}),
        (good, {"q": 0.1}, {}),
        ({"q": (-1, 1), "z": (-1, 1)}, 0.1, {}),
        ({"q": (-1, 1)}, 0.1, {}),
        (good, 0.1, {"inputs": {"nothing": 1.0}}),
        (good, 0.1, {"parameters": {"m": (1, 2)}}),
        (good, 0.1, {"centre": {"z": 0.0}}),
        (good, 0.1, {"level": np.nan}),
        ({"q": (-np.inf, 1), "v": (-1, 1)}, 0.1, {}),
    ):
        with pytest.raises(InputError):
            check_supplied(
                "q**2" if "v" not in box else "q**2 + v**2" if "q" in box else "1",
                system,
                box,
                ball,
                **more,
            )
