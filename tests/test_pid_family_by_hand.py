"""A loop as an affine function of its gains, two actuators and two sides of a valve, on matrices that are written down."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid_tuning import linear, search
from controllers.pid_tuning.linear import Family, Matrices
from workbench.contract.errors import InputError

T = 0.05
FREE = ("K_p", "K_d")
K = np.array([[2.0, 0.3], [-1.5, 0.7]])  # of two actuators
RNG = np.random.default_rng(8)


def part():
    """M_0, its derivatives by each gain, B, C_0 and likewise: three states, two commands."""
    M, dM = 0.2 * RNG.normal(size=(3, 3)), 0.1 * RNG.normal(size=(2, 2, 3, 3))
    B, C, dC = RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3)), RNG.normal(size=(2, 2, 2, 3))
    return M, dM, B, C, dC


PARTS = (part(), part())
OWN = Family(FREE, T, PARTS)


def at(gains, one):
    """M and C as plain sums over actuators and gains."""
    M, dM, B, C, dC = one
    places = list(np.ndindex(2, 2))
    whole = M + sum(gains[i, j] * dM[i, j] for i, j in places)
    return whole, B, C + sum(gains[i, j] * dC[i, j] for i, j in places)


def test_the_loop_at_some_gains():
    found = OWN.at(K)
    for b, one in zip(found, PARTS, strict=True):
        M, B, C = at(K, one)
        assert b.M == pytest.approx(M) and b.C == pytest.approx(C)
        assert b.B is one[2] and b.T == T and b.sides == ()


def response(gains, one, i, w):
    """What command i does to itself, its own loop open: −c_i (e^{jωT} − M + b_i c_i)⁻¹ b_i."""
    M, B, C = at(gains, one)
    cut = M - np.outer(B[:, i], C[i])
    return -C[i] @ np.linalg.solve(np.exp(1j * w * T) * np.eye(3) - cut, B[:, i])


@pytest.mark.parametrize("i", [0, 1])
def test_a_loop_is_cut_at_one_command_while_the_other_is_closed(i):
    for L, one in zip(OWN.loops(K, i), PARTS, strict=True):
        for w in (0.4, 7.0, 40.0):
            assert L.at(w)[0, 0] == pytest.approx(response(K, one, i, w))


@pytest.mark.parametrize("i", [0, 1])
def test_responses_of_one_actuators_gains(i):
    """L without its gains, and what each adds at its step, while the other actuator keeps its own."""
    ω, steps = np.array([0.4, 7.0, 40.0]), np.array([0.5, 0.02])
    found = OWN.responses(K, i, ω, steps)
    assert found.shape == (2, 3, 3)
    for side, one in enumerate(PARTS):
        for k, w in enumerate(ω):
            new = K.copy()
            new[i] = 0.0
            first = response(new, one, i, w)
            assert found[side, k, 0] == pytest.approx(first)
            for j, step in enumerate(steps):
                moved = new.copy()
                moved[i, j] = step
                wanted = (response(moved, one, i, w) - first) / step
                assert found[side, k, 1 + j] == pytest.approx(wanted)


@pytest.mark.parametrize(
    "given, told",
    [
        ({}, [(0.9, 0), (0.5, 0), (0.7, 1), (0.6, 1)]),
        ({"first": 1}, [(0.7, 1), (0.6, 1), (0.9, 0), (0.5, 0)]),
        ({"least": 0.5}, [(0.9, 0), (0.5, 0), (0.7, 1), (0.6, 1)]),
        ({"least": 0.51}, [(0.9, 0), (0.5, 0)]),
        ({"least": 0.65, "first": 1}, [(0.7, 1), (0.6, 1)]),
    ],
)
def test_margins_end_at_the_first_below_the_least(monkeypatch, given, told):
    """Of every command both sides of the valves, beginning with the first that is asked for."""
    table = {(0, 0): 0.9, (1, 0): 0.5, (0, 1): 0.7, (1, 1): 0.6}
    sides = [SimpleNamespace(M=side, B="B", C="C", T=T) for side in (0, 1)]
    monkeypatch.setattr(Family, "at", lambda self, K: sides)
    monkeypatch.setattr(linear, "break_loop", lambda M, B, C, i, T: (M, i))
    monkeypatch.setattr(linear, "balanced", lambda L: L)
    monkeypatch.setattr(linear, "disk_margin", lambda L: SimpleNamespace(α=table[L]))
    assert [(m.α, k) for m, k in OWN.margins(K, **given)] == told


# ---- a loop's own gains ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pid:
    """Two actuators."""

    K_p: tuple = (2.0, 4.0)
    K_i: tuple = (1.0,)
    K_d: tuple = (0.5, 0.2)
    τ: float = 0.1
    u_max: float = 8.0
    n: int = 2

    def each(self, values):
        return list(values) * 2 if len(values) == 1 else list(values)


LOOP = SimpleNamespace(plant="plant", controller=Pid(), period=T)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for module in (linear, search):
        monkeypatch.setattr(module, "innermost", lambda controller: controller)
    monkeypatch.setattr(linear, "rewrapped", lambda controller, law: law)
    monkeypatch.setattr(
        linear,
        "ClosedLoop",
        lambda plant, law: SimpleNamespace(plant=plant, controller=law, period=T),
    )


def test_gains_of_a_loop_as_rows_of_actuators():
    found = linear.gains(LOOP, ("K_d", "K_i"))
    assert found.tolist() == [[0.5, 1.0], [0.2, 1.0]]
    new = linear.with_gains(LOOP, ("K_d", "K_i"), np.array([[7.0, 8.0], [9.0, 10.0]]))
    assert new.controller == replace(Pid(), K_d=(7.0, 9.0), K_i=(8.0, 10.0))
    assert new.plant == "plant"


def test_sizes_of_gains():
    """A whole command of 8 for an error of 1 cm, or of its sum after a second; for a rate of 1 m/s."""
    assert linear.sizes(LOOP, ("K_d", "K_p", "K_i")).tolist() == [8.0, 800.0, 800.0]


def test_a_family_is_read_off_the_loop_at_gains_that_are_moved(monkeypatch):
    """The loop is affine in K_p and K_d of both actuators: what is found gives it back at any gains."""

    def matrices(loop, where):
        assert where == {"q": 1}
        own = linear.gains(loop, FREE)
        assert own.all(), "a gain of zero would be left out"
        return [Matrices(*at(own, one), T) for one in PARTS]

    monkeypatch.setattr(linear, "matrices", matrices)
    found = linear.family(LOOP, FREE, {"q": 1})
    assert found.free == FREE and found.T == T and len(found.parts) == 2
    for b, exact in zip(found.at(K), OWN.at(K), strict=True):
        assert b.M == pytest.approx(exact.M) and b.C == pytest.approx(exact.C)
        assert b.B == pytest.approx(exact.B)
    for got, exact in zip(found.parts, PARTS, strict=True):
        for a, b in zip(got, exact, strict=True):
            assert a == pytest.approx(b)


def test_joints_that_are_said_and_others_where_the_plant_begins():
    joints = [SimpleNamespace(name=f"q_{k}", unit="rad") for k in (1, 2)]
    plant = SimpleNamespace(
        n=2,
        states=(*joints, SimpleNamespace(name="v", unit="m/s")),
        initial=lambda: [0.5, -0.25, 7.0],
    )
    assert linear.pose(plant, {}) is None
    assert linear.pose(plant, {"q_2": "30 mrad"}) == pytest.approx((0.5, 0.03))
    assert linear.pose(plant, {"q_2": 2.0, "q_1": "1 rad"}) == pytest.approx((1.0, 2.0))
    with pytest.raises(InputError, match="'v' is no joint") as why:
        linear.pose(plant, {"q_1": 1.0, "v": 2.0})
    assert why.value.mend == "choose from q_1, q_2"


# ---- improving one actuator after the other ----------------------------------------------------------------------------
def improved(monkeypatch, α, n=2, free=("K_p", "K_i"), moves=(1.5, 1.5, 1.01, 1.0), noise=None):
    """Gains grow by the factors of `moves`, sweep by sweep; programs are told K and the actuator."""
    told = SimpleNamespace(climbed=[], recovered=[], shares=[])
    start = np.array([[2.0, 0.5], [3.0, 0.25]])[:n]

    def whole(K, i, own):
        new = K.copy()
        new[i] = own
        return new

    monkeypatch.setattr(search, "family", lambda loop, free, where: SimpleNamespace(free=free, T=T))
    monkeypatch.setattr(search, "sizes", lambda loop, free: "sizes")
    monkeypatch.setattr(search, "_first", lambda made: (start.copy(), ["s_0", "s_1"], α))
    monkeypatch.setattr(
        search.Search,
        "program",
        lambda self, K, i: SimpleNamespace(
            i=i, m=self.m, noise=self.noise[i], whole=lambda own: whole(K, i, own)
        ),
    )

    def climb(program, K, goal, scale, factor):
        sweep = len(told.climbed) // n
        told.climbed.append((program.i, K.tolist(), goal, scale, factor))
        return K * moves[sweep]

    def recover(program, K, scale, α):
        told.recovered.append((program.i, scale, α))
        return 1.1 * K, α + 0.2

    monkeypatch.setattr(search, "climb", climb)
    monkeypatch.setattr(search, "recover", recover)
    monkeypatch.setattr(search, "with_gains", lambda loop, free, K: K)
    law = replace(Pid(), n=n)
    loop = SimpleNamespace(controller=law, period=T)
    K = search.best_gains(loop, free, 0.75, {}, noise, told.shares.append)
    return K, told


def test_actuators_take_turns_until_their_gains_stay(monkeypatch):
    """By no more than a factor of three each; where a sweep changes the goal by less than 2 %, that was it."""
    K, told = improved(monkeypatch, 0.75)
    assert [i for i, *_ in told.climbed] == [0, 1] * 3
    assert all((goal, factor) == (1, 3.0) for *_, goal, _, factor in told.climbed)
    assert [scale for *_, scale, _ in told.climbed[:2]] == ["s_0", "s_1"]
    assert K == pytest.approx(np.array([[2.0, 0.5], [3.0, 0.25]]) * 1.5 * 1.5 * 1.01)
    assert told.shares == pytest.approx([k / 2 / 15 for k in range(1, 7)])
    improved_p, told = improved(monkeypatch, 0.9, free=("K_p", "K_d"))
    assert told.climbed[0][2] == 0, "K_p where K_i is not free"


def test_one_actuator_climbs_once_and_as_far_as_it_goes(monkeypatch):
    K, told = improved(monkeypatch, 0.75, n=1)
    assert len(told.climbed) == 1 and told.climbed[0][-1] == np.inf and K.tolist() == [[3.0, 0.75]]


def test_a_margin_that_is_not_there_is_led_up_first(monkeypatch):
    """0.3, 0.5, 0.7 and 0.9 for a margin of 0.75: then gains grow."""
    K, told = improved(monkeypatch, 0.3)
    assert [i for i, *_ in told.recovered] == [0, 1, 0]
    assert [α for *_, α in told.recovered] == pytest.approx([0.3, 0.5, 0.7])
    assert told.climbed[0][0] == 1
    _, told = improved(monkeypatch, 0.3, n=1, moves=(1.0,) * 15)
    assert len(told.recovered) == 3 and len(told.climbed) == 1


def test_what_noise_leaves_for_the_gains_that_are_found():
    """K_p + 2 K_d/(2τ + T_s) below the limit: what stays is taken off, and a hair for rounding."""
    lead = 2 / (2 * 0.1 + T)
    rest = 4.0 + lead * 0.2
    h, left = search._noise(LOOP, 1, ("K_i",), 30.0)
    assert h.tolist() == [0.0] and left == pytest.approx(30.0 * 0.9999 - rest)
    h, left = search._noise(LOOP, 0, ("K_d", "K_i"), 30.0)
    assert h == pytest.approx([lead, 0.0]) and left == pytest.approx(30.0 * 0.9999 - 2.0)
    h, left = search._noise(LOOP, 0, ("K_p", "K_d"), 30.0)
    assert h == pytest.approx([1.0, lead]) and left == pytest.approx(30.0 * 0.9999)
    assert search._noise(LOOP, 0, ("K_p",), None) is None
    for limit in (2.0, 1.9):
        with pytest.raises(
            InputError,
            match=f"noise_gain: {limit:g}, of which the gains that are not searched use 2",
        ):
            search._noise(LOOP, 0, ("K_d",), limit)
    assert search._noise(LOOP, 0, ("K_d",), 2.1)[1] == pytest.approx(2.1 * 0.9999 - 2.0)
