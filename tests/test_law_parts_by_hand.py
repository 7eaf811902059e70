"""Parts of laws one by one: limits that contradict each other, terminal sets, settings, a servo valve's row, memory."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from mpc_cases import soft_one

from controllers.mpc import law as predictive
from controllers.mpc import parts, terminal_set
from controllers.mpc.check import _active
from controllers.mpc.law import MPC
from controllers.mpc.loop import feasible_somewhere
from controllers.mpc.observer import check_observable
from controllers.mpc.terminal_set import Terminal, overshoot
from controllers.vdc.drives import servo_valve_ledger
from controllers.vdc.drives.servo_cylinder import ServoValvePart
from controllers.vdc.vocabulary import Vocabulary
from workbench.contract.errors import InputError


def signals(*pairs):
    return tuple(SimpleNamespace(name=name, unit=unit) for name, unit in pairs)


# ---- limits of a predictive law --------------------------------------------------------------------------------------
def programme(z, rows, x):
    """Rows x·state + z within limits, one command z within its own; the state is 100 now, and any in the programme."""
    low, high = (np.array([z[k], *(row[k] for row in rows)], float) for k in (0, 1))

    def bounds(θ):
        assert θ.tolist() == [0.0, 5.0]
        return low, high

    many = len(rows)
    problem = SimpleNamespace(at={"x": slice(0, 1)})
    G, G_θ = np.ones((many, 1)), np.column_stack([np.full(many, x), np.zeros(many)])
    return SimpleNamespace(problem=problem, G=G, G_θ=G_θ, H=np.eye(1), bounds=bounds)


NONE = 1e30


@pytest.mark.parametrize(
    "z, rows, x, fine",
    [
        ((-2, 2), ((2.5, NONE),), 0.0, False),
        ((-2, 2), ((1.5, NONE),), 0.0, True),
        ((-2, 2), ((-NONE, -2.5),), 0.0, False),
        ((-2, 2), ((-NONE, -1.5),), 0.0, True),
        ((-NONE, 2), ((-NONE, -2.5),), 0.0, True),
        ((-2, NONE), ((2.5, NONE),), 0.0, True),
        ((-2, 2), ((2.5, NONE), (-NONE, -2.5)), 3.0, False),
        ((-2, 2), ((2.5, NONE), (-NONE, 2.6)), 3.0, True),
        ((-2, 2), ((2.5, 9.0),), 3.0, True),
        ((-2, 2), (), 3.0, True),
    ],
)
def test_limits_that_no_state_and_no_command_satisfy(z, rows, x, fine):
    θ = np.array([100.0, 5.0])
    if fine:
        feasible_somewhere(programme(z, rows, x), θ)
        assert θ.tolist() == [100.0, 5.0]
        return
    with pytest.raises(InputError, match="contradict each other"):
        feasible_somewhere(programme(z, rows, x), θ)


@pytest.mark.parametrize("extra", [None, "costs"])
@pytest.mark.parametrize("relinearise", [True, False])
def test_a_problem_is_looked_at_where_the_law_is_linearised(monkeypatch, extra, relinearise):
    """At x_0 and u_0, the plant's start and 0 by default, and a command within its limits; what a user adds is checked too."""
    asked = []
    made = SimpleNamespace(
        start_x="start", dense="dense", statement="stated", rest=lambda x: ("rest", x)
    )
    monkeypatch.setattr(predictive, "prepared", lambda law, x, u: asked.append((x, u)) or made)
    monkeypatch.setattr(predictive, "assembled", lambda made, x, u, r: (x, u.tolist(), r))
    monkeypatch.setattr(predictive, "feasible_somewhere", lambda *given: asked.append(given))
    monkeypatch.setattr("controllers.mpc.convex.check", lambda *given: asked.append(given))
    ends = {"u_min": np.array([-2.0, 0.5]), "u_max": np.array([3.0, 4.0])}
    own = SimpleNamespace(
        x_0=(), u_0=(), commands="uv", model=SimpleNamespace(initial=lambda: [0.5, 1.5]), each=ends.get,
        relinearise=relinearise, extra=extra,
    )  # fmt: skip
    assert MPC.prepared.func(own) is made
    θ = ("start", [0.0, 0.5], ("rest", (0.5, 1.5)))
    looked = [] if relinearise else [("dense", θ), *([("stated", θ)] if extra else [])]
    assert asked == [((0.5, 1.5), (0.0, 0.0)), *looked]
    asked.clear()
    own.x_0, own.u_0 = (7.0, 8.0), (9.0, 1.0)
    MPC.prepared.func(own)
    assert asked[0] == ((7.0, 8.0), (9.0, 1.0))
    assert relinearise or asked[1] == ("dense", ("start", [3.0, 1.0], ("rest", (7.0, 8.0))))


def test_multipliers_that_are_lost_beside_the_largest_name_no_limit():
    """Below 1e-12 of it; where all are zero none does."""
    assert _active(np.array([0.0, -5.0, 5.1e-12, 4.9e-12])).tolist() == [1, 2]
    assert _active(np.zeros(3)).tolist() == [] and _active(np.array([1e-20])).tolist() == [0]


@pytest.mark.parametrize(
    "λ", [[4.0, 0.5, -6.0], [0.0, 3e-3, 0.2], [-9.0, 0.0, 0.7], [0.0, -0.2, 0.0], [0.0, 0.0, 2e-3]]
)
@pytest.mark.parametrize("share", [1.0, 1e-3])
def test_what_is_left_of_the_conditions_of_optimality(λ, share):
    """The gradient as a share of its largest term; beyond a limit, and multiplier beside slack, as shares of 1 + |row|."""
    dense, θ = soft_one()
    θ[:-1] *= share
    z, λ = share * np.array([1.5, 0.25]), share * np.array(λ)
    A = np.vstack([np.eye(2), dense.G])
    low, high = dense.bounds(θ)
    linear = dense.F @ θ + dense.c1
    terms = [*(dense.H * z).ravel(), *linear, *(A.T * λ).ravel()]
    worst = [np.abs(dense.H @ z + linear + A.T @ λ).max() / np.abs(terms).max()]
    for value, a, b, multiplier in zip(A @ z, low, high, λ):
        size = 1 + abs(value)
        worst.append(max(value - b, a - value, 0.0) / size)
        slack = min(b, 1e30) - value if multiplier > 0 else value - max(a, -1e30)
        worst.append(min(abs(multiplier) / max(np.abs(λ).max(), 1.0), abs(slack) / size))
    assert dense.kkt(θ, z, λ) == pytest.approx(max(worst))


@pytest.mark.parametrize("C_d, seen", [(-2.0, False), (2.0, True), (-1.9, True)])
def test_a_disturbance_that_cancels_at_rest_is_not_seen(C_d, seen):
    """x = 0.5 x + d and y = x + C_d d: d moves the output by 2 + C_d at rest."""
    given = [np.array([[value]]) for value in (0.5, 1.0, 1.0, C_d)]
    if seen:
        check_observable(*given)
        return
    with pytest.raises(InputError, match="cannot be told apart"):
        check_observable(*given)


# ---- terminal sets ---------------------------------------------------------------------------------------------------
def terminal(P, M, b):
    none = np.zeros((0, len(P)))
    return Terminal(np.array(P), none, none, none, none, np.array(M), np.array(b), 0.5)


def test_the_largest_ellipsoid_within_limits():
    """b²/(m P⁻¹ mᵀ), the least of them: 9/(1/4) = 36, 4/(1/25) = 100, 1/(1/4 + 1/25); in whatever units."""
    P = [[4.0, 0.0], [0.0, 25.0]]
    assert terminal(P, [[1.0, 0.0]], [3.0]).level == pytest.approx(36.0)
    assert terminal(P, [[1.0, 0.0], [0.0, -1.0]], [6.0, 2.0]).level == pytest.approx(100.0)
    assert terminal(P, [[1.0, 1.0], [1.0, 0.0]], [1.0, 3.0]).level == pytest.approx(1 / 0.29)
    units = np.diag([1e7, 1e-5])
    odd = terminal(units @ np.array(P) @ units, np.array([[1.0, 1.0]]) @ units, [1.0])
    assert odd.level == pytest.approx(1 / 0.29)
    assert terminal(P, np.zeros((0, 2)), []).level == math.inf


def test_without_limits_the_whole_space_is_the_set():
    H, h = terminal_set.admissible(np.eye(2), np.zeros((0, 2)), np.zeros(0))
    assert H.shape == (0, 2) and h.shape == (0,)


@pytest.mark.parametrize("a, over", [(0.5, -0.5), (-0.5, 0.0), (-0.75, 0.5), (2.0, 1.0)])
def test_by_how_much_a_step_leaves_a_set(a, over):
    """−1 ≤ x ≤ 2: a·2 of 2 or −a·1 of 1 where a is above zero, −a·2 of 1 below it."""
    H, h = np.array([[1.0], [-1.0]]), np.array([2.0, 1.0])
    assert overshoot(np.array([[a]]), H, h) == pytest.approx(over)
    assert overshoot(np.array([[a]]), np.zeros((0, 1)), np.zeros(0)) == 0.0
    assert terminal_set.largest(np.zeros((0, 1)), np.zeros(0), np.array([-3.0]), H, h) == (
        pytest.approx(3.0)
    )


# ---- settings --------------------------------------------------------------------------------------------------------
def actuator(**other):
    outputs = signals(("Y", "m"), ("dY", "m/s"), ("P_A", "Pa"))
    distributor = SimpleNamespace(E_d=3e-4, w=5e-5)
    return SimpleNamespace(outputs=outputs, distributor=distributor, **other)


def test_settings_for_an_ieha_that_is_its_own_model():
    """Its distributor stays open: E is linearised no nearer to 0 than E_d + w."""
    found = parts._actuator(actuator())
    seen = found.pop("observer")
    assert (seen.σ_y, seen.σ_d, seen.disturbance) == ((1e-6, 1e-4, 1e3), (2e-6,), ("X",))
    assert found.pop("working") == {"E": pytest.approx(3.5e-4)}
    wanted = {"Q": (1.0,), "S": (10.0,), "T_s": 2e-3, "N": 40, "relinearise": True}
    assert found == wanted | {"terminal": "none"}


@pytest.mark.parametrize(
    "kind, first, tip",
    [
        ({"structures": ("lift", "tilt"), "n": 2}, 8, ("f_Dx", "f_Dy")),
        ({"structures": ("lift",), "n": 1}, 4, ("f_Dy",)),
        ({"structures": (), "n": 2, "spaces": ("piston",), "mechanism": "crane"}, 3, ()),
        ({"structures": (), "n": 2, "spaces": ("joint",), "mechanism": "arm"}, None, None),
        ({"structures": (), "n": 0, "spaces": ("piston",), "mechanism": None}, None, None),
    ],
)
def test_settings_that_suit_a_plant(monkeypatch, kind, first, tip):
    """Its own limits of commands, none where it has none; a crane's measurements are four a joint."""
    monkeypatch.setattr(parts, "controls", lambda plant: signals(("u", "V"), ("v", "V")))
    monkeypatch.setattr(parts, "_on_pistons", lambda plant, *given: {"given": given})
    monkeypatch.setattr(parts, "_actuator", lambda plant: {"actuator": True})
    limits = lambda: {"v": (-3.0, 5.0)}
    ends = {"u_min": (-math.inf, -3.0), "u_max": (math.inf, 5.0)}
    plant = actuator(limits=limits, linear_twin=None, **{"spaces": (), "mechanism": None} | kind)
    found = parts.suited(plant)
    assert found == ends | ({} if first is None else {"given": (first, tip)})
    plant.linear_twin = "twin"
    assert parts.suited(plant) == ends | {"actuator": True}


@pytest.mark.parametrize(
    "ends, most", [((-3.0, 5.0), 5.0), ((-7.0, 5.0), 7.0), (None, 10.0), ((2.0, 3.0), 3.0)]
)
def test_how_far_a_command_goes(ends, most):
    plant = SimpleNamespace(limits=lambda: {} if ends is None else {"u": ends})
    assert parts._range(plant, "u") == most


# ---- virtual decomposition control -----------------------------------------------------------------------------------
OPENED = SimpleNamespace(
    u_max=2.0, dead_band=0.25, invert=lambda u_fr, plus, minus: u_fr / plus + minus
)


def servo(turns=False):
    chambers = SimpleNamespace(
        valve=OPENED, A_a=3.0, A_b=2.0, friction=SimpleNamespace(force=lambda v, ẑ: 5.0 * v + ẑ[0]),
        gains=lambda oil, x, p_a, p_b: (oil * p_a + x, p_b), force=lambda p_a, p_b: 3.0 * p_a - 2.0 * p_b,
    )  # fmt: skip
    return SimpleNamespace(
        chambers=chambers, oil=0.5, place=lambda s: s - 1.0, turns=turns, range=(1.2, 2.0), limit=2.0,
        parts=lambda x: (tuple(x[:2]), x[2:3], x[3:]), rubbing=lambda x, v: x[3] + v,
        at_work=lambda x, s, v, u, line: SimpleNamespace(Q_a=u[0] + v, Q_b=s + line),
    )  # fmt: skip


@pytest.mark.parametrize("v", [0.4, -0.4])
def test_chambers_behind_a_servo_valve_at_one_state(v):
    """Openings beyond the dead band times D±, as far as the command goes; what the oil gets at the end of the ladder."""
    drive = servo()
    valve = SimpleNamespace(
        flow=lambda x, v, pair, f, rate, v_r: 10 * x + v + sum(pair) + f - rate + v_r,
        denominators=lambda x, pair: (4.0 + x, 0.5),
    )
    part = SimpleNamespace(valve=lambda drive, line: valve)
    given = SimpleNamespace(
        x=[6.0, 7.0, 8.0, 9.0], s=1.5, v=v, v_r=0.3, u=-3.0, line=0.75, f_pr=11.0, f_pr_rate=12.0,
        steps={"derivative": 1.0, "measurement": 0.2},
    )  # fmt: skip
    own = servo_valve_ledger.side(part, drive, given)
    u_fr = 5.0 + v + 13.0 + 11.0 - 12.0 + 0.3
    u = u_fr / 4.5 + 0.5
    assert (own.f_p, own.f_f, own.bristles) == (4.0, 9.0 + v, [9.0])
    assert (own.u_fr, own.inverse) == pytest.approx((u_fr, u))
    names, flows = zip(*own.ladder)
    assert names == ("valve inverse", "derivative", "measurement", "saturation", "valve", "")
    g_a, g_b = 3.5, 7.0
    last = g_a * (-3.0 + v) - g_b * (1.5 + 0.75)
    assert flows == pytest.approx((u_fr, 4.5 * (u - 0.25), 4.5 * 0.75, 0.0, 0.5 * -1.75, last))
    assert own.moving == pytest.approx((g_a * 3.0 + g_b * 2.0) * 0.4)
    assert own.more == {"D₊": 4.5, "D₋": 0.5}


@pytest.mark.parametrize("turns", [True, False])
def test_what_a_servo_valves_law_believes_and_its_margins(turns):
    """Force of the oil less friction; shares of the largest voltage and of half the stroke, which a motor has not."""
    part = object.__new__(ServoValvePart)
    object.__setattr__(part, "drive", servo())
    object.__setattr__(part, "label", "lift")
    assert part.believed((6.0, 7.0), None, 0.2, [0.3], None, None) == pytest.approx(4.0 - 1.3)
    q = {"inverse lift": [-1.5, 0.5], "x lift": [0.1, 0.5], "room lift": [0.7, 0.3]}
    found = part.monitors({name: np.array(value) for name, value in q.items()}, servo(turns))
    assert found.pop("valve lift within ±2 V") == pytest.approx([0.25, 0.75])
    if not turns:
        assert found.pop("piston lift inside stroke") == pytest.approx([0.25, 0.75])
    assert found == {}


def test_measurements_and_memory_by_meaning():
    """q and q̇ of one joint that is a ball, of three states; two drives with two and one measurements; four references each."""
    drives = [
        SimpleNamespace(measured="ab", memory="m"),
        SimpleNamespace(measured="c", memory="no"),
    ]
    own = SimpleNamespace(
        machine=SimpleNamespace(lead=(0, 1), own=((0, 1, 2), (0, 1)), supply=None),
        parts=drives,
        _moving=5,
    )
    y, r = [float(k) for k in range(9)], [10.0 + k for k in range(9)]
    found = Vocabulary.read(own, y, r)
    assert (found.q, found.qd, found.p) == ([0.0, 1.0, 2.0], [3.0, 4.0], [[5.0, 6.0], [7.0]])
    assert found.lines is None and found.τ == [[10, 11], [12, 13], [14, 15], [16, 17]]
    assert Vocabulary.observed(own, [1.0, 2.0, 3.0, 4.0]) == [[1.0], [2.0, 3.0]]
    assert Vocabulary._each((7.0,), 3) == [7.0] * 3 and Vocabulary._each((7.0, 8.0), 3) == [
        7.0,
        8.0,
    ]
    assert Vocabulary._moving.fget(own) == 5 and Vocabulary._observers.fget(own) == 3
