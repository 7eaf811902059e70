"""A loop with limits taken apart, by hand: plants, laws and limits from matrices at random, every block and every name."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import Signal
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.wrappers import Delayed
from workbench.verification.linear import limited_loop as module
from workbench.verification.linear.limited import Limited
from workbench.verification.linear.loop import Point

N, M_, P, K, Q, L = 3, 2, 2, 2, 2, 1  # states, commands, measurements, memory, references, limits


def blocks(rng):
    """Memory, commands and v: coefficients of (memory, measurement, reference, ψ) and a constant, as `_law` gives them."""
    sizes = (K, P, Q, L)
    return [
        [rng.normal(size=(rows, n)) for n in sizes] + [rng.normal(size=rows)] for rows in (K, M_, L)
    ]


@pytest.fixture
def given(monkeypatch):
    """(A, B, C), the law's blocks and its limits; what the loop is asked for is kept."""
    rng = np.random.default_rng(7)
    told = SimpleNamespace(
        flat=[rng.normal(size=s) for s in ((N, N), (N, M_), (P, N))], law=blocks(rng)
    )
    told.asked = []
    limit = SimpleNamespace(low=-1.5, high=2.5)
    monkeypatch.setattr(module, "refuse_turning", lambda plant: told.asked.append(plant))
    monkeypatch.setattr(module, "flat", lambda loop, at: told.flat)
    affine = [module._Affine(*part) for part in told.law]
    law = module._Law(*affine, [limit], ["u"])
    monkeypatch.setattr(module, "_law", lambda loop, controller, T: law)
    monkeypatch.setattr(module, "_needed", lambda found, n: SimpleNamespace(found=found, n=n))
    monkeypatch.setattr(
        module, "_start", lambda loop, controller, x, r, n: told.asked.append((x, list(r), n))
    )
    return told


def loop(period=None, controller=None, no_derivative=""):
    law = controller or SimpleNamespace(
        references=(Signal("a_d"), Signal("b_d")), states=(Signal("z"), Signal("q")), inner=None
    )
    plant = SimpleNamespace(states=tuple(Signal(n) for n in "xyv"))
    return SimpleNamespace(plant=plant, controller=law, period=period, no_derivative=no_derivative)


@pytest.mark.parametrize("r", [(), (0.5, -2.0)])
def test_every_block_of_a_continuous_loop(given, r):
    A, B, C = given.flat
    (Az, Bz, Rz, Ez, oz), (Cz, Dz, Ru, Fu, ou), (Hz, Hy, Hr, _, ov) = given.law
    made = module.limited(loop(), Point([0.1, 0.2, 0.3], [], ""), r)
    s, wanted = made.found, np.array(r if r else (0.0, 0.0))
    assert made.n == N and s.T is None and s.beyond == ("u",)
    assert s.M == pytest.approx(np.block([[A + B @ Dz @ C, B @ Cz], [Bz @ C, Az]]))
    assert s.E == pytest.approx(np.vstack([-B @ Fu, -Ez])) and s.K == pytest.approx(
        np.hstack([Hy @ C, Hz])
    )
    assert s.o == pytest.approx(np.concatenate([B @ (Ru @ wanted + ou), Rz @ wanted + oz]))
    assert s.w == pytest.approx(Hr @ wanted + ov)
    assert (s.low.tolist(), s.high.tolist()) == ([-1.5], [2.5])
    assert s.enter == pytest.approx(np.vstack([B, np.zeros((K, M_))]))
    assert s.command == pytest.approx(np.hstack([Dz @ C, Cz]))
    assert s.states == ("x", "y", "v", "z", "q")
    assert given.asked[1] == ([0.1, 0.2, 0.3], wanted.tolist(), N)


@pytest.mark.parametrize("delay", [0.0, 0.25])
def test_a_sampled_loop_has_its_commands_on_their_way(given, monkeypatch, delay):
    """The plant from sample to sample, with two past commands behind its three states."""
    rng = np.random.default_rng(8)
    held = SimpleNamespace(
        A=rng.normal(size=(5, 5)), B=rng.normal(size=(5, M_)), C=rng.normal(size=(P, 5))
    )
    asked = []

    def sampled(A, B, C, D, T, late):
        asked.append((A is given.flat[0], D.shape, float(np.abs(D).max()), T, late))
        return held

    monkeypatch.setattr(module, "sampled", sampled)
    law = loop().controller
    if delay:
        outer = object.__new__(Delayed)
        object.__setattr__(outer, "delay", delay)
        object.__setattr__(outer, "inner", law)
        law = outer
    made = module.limited(loop(0.1, law), Point([0.1, 0.2, 0.3], [], ""))
    assert asked == [(True, (P, M_), 0.0, 0.1, delay)]
    (Az, Bz, *_), (Cz, Dz, *_), _ = given.law
    M = np.block([[held.A + held.B @ Dz @ held.C, held.B @ Cz], [Bz @ held.C, Az]])
    assert made.n == 5 and made.found.M == pytest.approx(M) and made.found.T == 0.1
    on_way = ("command 0 on its way", "command 1 on its way")
    assert made.found.states == ("x", "y", "v", *on_way, "z", "q")
    assert made.found.enter.shape == (7, M_) and not made.found.enter[5:].any()


def test_code_and_what_has_no_slope_is_refused(given, monkeypatch):
    plain = object.__new__(Plain)
    monkeypatch.setattr(module, "innermost", lambda controller: plain)
    with pytest.raises(InputError, match="called from Python"):
        module.limited(loop(), Point([0.0] * 3, [], ""))
    monkeypatch.setattr(module, "innermost", lambda controller: controller)
    with pytest.raises(InputError, match="it is noisy"):
        module.limited(loop(no_derivative="it is noisy"), Point([0.0] * 3, [], ""))


@pytest.mark.parametrize(
    "K, error, found",
    [([[0.0, 0.5]], False, True), ([[0.0, 0.0]], False, False), ([[1.0, 1.0]], True, False)],
)
def test_whether_the_state_drives_commands_into_limits(monkeypatch, K, error, found):
    def limited(loop, at):
        if error:
            raise InputError("it cannot be taken apart")
        return SimpleNamespace(K=np.array(K))

    monkeypatch.setattr(module, "limited", limited)
    monkeypatch.setattr(module, "point", lambda plant, at: at)
    assert module.saturates(SimpleNamespace(plant=None)) is found


def test_a_run_begins_with_nothing_on_its_way_and_memory_that_fits():
    """Measured in the law's own order; memory as the law begins it under the references given."""
    asked = []

    def start(t, z, y, r):
        asked.append((t, z, y, r))
        return [7.0, 8.0]

    plant = SimpleNamespace(
        outputs=(Signal("a"), Signal("b"), Signal("c")),
        out=lambda t, x: [10 * x[0], 20 * x[1], 30.0],
    )
    law = SimpleNamespace(
        measured=(Signal("c"), Signal("a")), initial=lambda: (1.0, 2.0), start=start
    )
    found = module._start(SimpleNamespace(plant=plant), law, [0.5, 0.25], [3.0], 4)
    assert found.tolist() == [0.5, 0.25, 0.0, 0.0, 7.0, 8.0]
    assert asked == [(0.0, [1.0, 2.0], [30.0, 5.0], [3.0])]


@pytest.mark.parametrize("read_by", [(0, 0), (0.5, 0), (0, 0.5), (0.5, 0.25)])
@pytest.mark.parametrize("what", ["K", "command"])
def test_memory_that_one_of_two_limits_or_commands_reads_is_needed(read_by, what):
    """x of the plant and z, which fades; each limit and each command may read z."""
    column = np.array([[1.0], [2.0]])
    rows = np.hstack([column, np.array(read_by, float)[:, None]])
    other = np.hstack([column, np.zeros((2, 1))])
    parts = {"K": rows if what == "K" else other, "command": other if what == "K" else rows}
    made = Limited(
        np.array([[0.5, 0.0], [0.25, 0.75]]), np.zeros((2, 2)), parts["K"], np.zeros(2), np.zeros(2),
        -np.ones(2), np.ones(2), np.eye(2), parts["command"], ("x", "z"), np.array([1.0, 2.0]), 0.1,
    )  # fmt: skip
    assert module._needed(made, 1).states == (("x", "z") if any(read_by) else ("x",))


@pytest.mark.parametrize(
    "w, room",
    [
        ((0.0, 0.5), [1.0, 0.5]), ((0.25, -0.5), [0.75, 0.5]), ((0.0, 1.0), None), ((-1.5, 0.0), None),
        ((1.0, 0.0), None), ((0.0, -2.0), None),
    ],
)  # fmt: skip
def test_a_loop_rests_where_every_one_of_its_limits_leaves_room(w, room):
    """Two commands within ±1 that stand at w where the state is 0."""
    made = Limited(
        0.5 * np.eye(1), np.zeros((1, 2)), np.zeros((2, 1)), np.zeros(1), np.array(w),
        -np.ones(2), np.ones(2), np.zeros((1, 2)), np.zeros((2, 1)), ("x",), np.zeros(1), 0.1,
    )  # fmt: skip
    if room is None:
        with pytest.raises(InputError):
            made.rest()
    else:
        assert made.rest()[1] == pytest.approx(room) and made.rest()[0] == [0.0]
