"""How memory of laws goes on, continuous and from sample to sample, and models along a path, on numbers that are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.gain_search import drawn
from controllers.mpc import sequence
from controllers.pid.law import PID, wound
from controllers.vdc.drives.oil_ledger import Side

# ---- PID -----------------------------------------------------------------------------------------------------------------------
N = 2
Y, R = [0.5, -0.25, 5e6, 3e6, 4e6, 2e6], [0.75, 0.0]
E_ = [0.25, 0.25]
Z = [0.1, -0.2, 0.05, 0.4, 1e6, 2e6, 3e6, 4e6]


def law(**other):
    """Two actuators with two pressures each; commands are those of `_law`, whose memory is kept."""
    given = {"n": N, "τ": 0.02, "τ_p": 0.5, "K_i": (3.0, -4.0), "anti_windup": "back", "T_t": 0.1}
    own = SimpleNamespace(**given | other, asked=[])
    own.errors = lambda y, r: E_
    own.each = lambda values: values

    def commanded(e, z, y, r):
        own.asked.append(list(z))
        return [1.0, -1.0], [1.5, -1.0], [7.0, 8.0]

    own._law = commanded
    own._wound = lambda *given: PID._wound(own, *given)
    return own


def test_rates_of_integrals_slopes_and_slow_pressures():
    found = PID.rhs(law(), 0.0, Z, Y, R)
    integrals = [3.0 * 0.25 - 0.5 / 0.1, -4.0 * 0.25]
    pressures = [(p - s) / 0.5 for p, s in zip(Y[2:], Z[4:])]
    assert found == pytest.approx([*integrals, 7.0, 8.0, *pressures])


@pytest.mark.parametrize("T_s, settles", [(0.01, 0.1), (0.2, 0.2)])
def test_memory_after_a_sample(T_s, settles):
    """Slow signals by implicit Euler; T_t no shorter than a sample."""
    own = law()
    z, u = PID.step_at(own, T_s, 0.0, Z, Y, R)
    error = [(0.02 * s + T_s * e) / (0.02 + T_s) for s, e in zip(Z[2:4], E_)]
    slow = [(0.5 * s + T_s * p) / (0.5 + T_s) for s, p in zip(Z[4:], Y[2:])]
    assert u == [1.0, -1.0] and own.asked == [pytest.approx([*Z[:2], *error, *slow])]
    integrals = [0.1 + T_s * (0.75 - 0.5 / settles), -0.2 - T_s * 1.0]
    assert z == pytest.approx([*integrals, *error, *slow])


def test_memory_at_first_is_what_is_measured():
    assert PID.start(law(), 0.0, Z, Y, R) == [0.1, -0.2, *E_, *Y[2:]]


@pytest.mark.parametrize(
    "kind, K_i, e, u, raw, rate",
    [
        ("none", 2.0, 0.5, 1.0, 3.0, 1.0),
        ("back", 2.0, 0.5, 1.0, 3.0, 1.0 - 2.0 / 0.25),
        ("back", -2.0, 0.5, 1.0, 3.0, -1.0 + 2.0 / 0.25),
        ("clamp", 2.0, 0.5, 1.0, 3.0, 0.0),
        ("clamp", 2.0, -0.5, 1.0, 3.0, -1.0),
        ("clamp", 2.0, 0.5, 1.0, 1.0, 1.0),
        ("clamp", -2.0, -0.5, -1.0, -3.0, 1.0),
    ],
)
def test_how_an_integral_goes_on_at_the_limits(kind, K_i, e, u, raw, rate):
    assert wound(kind, K_i, e, u, raw, 0.25) == pytest.approx(rate)


# ---- prediction along a path ---------------------------------------------------------------------------------------------------
def test_a_model_along_a_path_is_made_where_the_path_goes(monkeypatch):
    """Commands that act, within what has an effect, and what is known beforehand are put to the plant; the last command stays."""
    asked = {}
    held = SimpleNamespace(
        commands=2, known=1, size_w=np.ones(4), size_x=np.ones(3), acting=lambda x, U: U, effect=lambda d: d,
        steps=lambda *given: asked.update(given=given) or (np.ones(1),),
    )  # fmt: skip
    model = SimpleNamespace(n=3)
    problem = SimpleNamespace(model=SimpleNamespace(n=3, C_d="C_d"))
    tangent = SimpleNamespace(finite=True)
    base = SimpleNamespace(
        problem=problem, held=held, inside=(np.array([-1.0, -2.0]), np.array([1.0, 2.0])), open="open", rows="rows",
        tangents=lambda points, w: asked.update(points=points, w=w) or tangent,
    )  # fmt: skip
    monkeypatch.setattr(sequence, "opened", lambda X, open_: X + 100.0)
    monkeypatch.setattr(sequence, "off_edges", lambda values, size: values)
    made = SimpleNamespace(predicted=[np.ones(2)])
    monkeypatch.setattr(sequence.Along, "of", lambda q, steps, x, r: made)
    X = np.arange(16.0).reshape(4, 4)
    U = np.array([[0.5, -3.0], [2.0, 1.0], [-0.25, 0.75]])
    v = np.array([[10.0], [20.0], [30.0], [40.0]])
    given = sequence.Given(r="r", v=v, d=np.array([0.0, 0.0, 0.0, 7.0]))
    assert sequence.along(SimpleNamespace(prepared=base), "x", X, U, given) is made
    assert asked["points"].tolist() == (X[:, :3] + 100.0).tolist() and model.n == 3
    inside = [[0.5, -2.0], [1.0, 1.0], [-0.25, 0.75], [-0.25, 0.75]]
    assert asked["w"][:, :2].tolist() == inside
    assert asked["w"][:, 2].tolist() == [10.0, 20.0, 30.0, 40.0] and (asked["w"][:, 3] == 7.0).all()
    assert asked["given"][3] is v and asked["given"][5:] == ("C_d", "rows")
    made.predicted = [np.array([1.0, 2.0, np.inf])]
    assert sequence.along(SimpleNamespace(prepared=base), "x", X, U, given) is None
    tangent.finite = False
    assert sequence.along(SimpleNamespace(prepared=base), "x", X, U, given) is None


# ---- what is told ----------------------------------------------------------------------------------------------------------------
def test_numbers_along_an_axis_of_gains():
    """1, 2, 5, 10, …; an axis of less than two octaves is widened about its middle."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    axes.set_xscale("log")
    for low, high, seen in (
        (1.0, 100.0, (1.0, 100.0)),
        (3.0, 5.0, (15**0.5 / 2, 2 * 15**0.5)),
        (1.0, 4.0, (1.0, 4.0)),
    ):
        axes.set_xlim(low, high)
        drawn._ticked(axes.xaxis)
        assert axes.get_xlim() == pytest.approx(seen)
    axes.set_xlim(1.0, 100.0)
    ticks = [tick for tick in axes.xaxis.get_majorticklocs() if 1.0 <= tick <= 100.0]
    assert ticks == pytest.approx([1, 2, 5, 10, 20, 50, 100])
    assert (
        axes.xaxis.get_major_formatter()(20.0, 0) == "20"
        and len(axes.xaxis.get_minorticklocs()) == 0
    )


def test_what_moves_a_side_besides_its_force_is_nothing_unless_it_is_said():
    """It counts in the magnitude of a row's terms alone."""
    plain = Side(1.0, 2.0, [], 3.0, 4.0, [])
    assert plain.moving == 0.0 and plain.more == {}
