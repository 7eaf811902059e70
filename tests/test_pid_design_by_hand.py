"""Steps of a design that lead a PID's gains towards a margin, on margins that are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid_tuning import design


# ---- led towards a margin ----------------------------------------------------------------------------------------------
def led(margin, outward=lambda K: K + 1.0, α=0.25, m=0.75):
    """From one gain of 2: margins told by the gain, and the commands that have them; (gains, margin, what was tried)."""
    tried, added, asked = [], [], []

    def margins(K, least):
        assert least == 1e-9
        tried.append(float(K[0]))
        return [(SimpleNamespace(α=a, ω=w), k) for a, w, k in margin(K[0])]

    def out(K, scale, m):
        asked.append(m)
        return outward(K)

    program = SimpleNamespace(
        m=m,
        i=1,
        outward=out,
        whole=lambda own: own,
        add=added.append,
        family=SimpleNamespace(margins=margins),
    )
    K, α = design.recover(program, np.array([2.0]), "scale", α)
    return float(K[0]), α, tried, added, asked


def test_a_step_towards_a_margin_is_halved_until_it_leads_there():
    """The frequency of a margin that refuses joins the program, if it is this actuator's; of all commands the least counts."""
    good = lambda K: [(0.9, 3.0, 0), (0.8 if K < 2.3 else 0.2, 7.0, 1)]
    assert led(good) == (2.25, 0.8, [3.0, 2.5, 2.25], [7.0, 7.0], [pytest.approx(0.325)])
    other = lambda K: [(0.8 if K < 2.3 else 0.2, 7.0, 0), (0.9, 3.0, 1)]
    assert led(other)[3] == []


def test_steps_go_on_while_the_margin_grows():
    """By a thousandth at least; each aims at 1.3 times what is there, and no further than what is wanted."""
    found = led(lambda K: [(0.2 * K, 1.0, 1)])
    assert found[0] == 4.0 and found[1] == pytest.approx(0.8) and found[2] == [3.0, 4.0]
    assert found[4] == pytest.approx([0.325, 0.75])
    K, α, tried, added, _ = led(lambda K: [(0.25 * 1.0009, 1.0, 1)])
    assert (K, α) == (2.0, 0.25) and tried == [2 + 0.5**k for k in range(7)] and len(added) == 7
    assert led(lambda K: [], outward=lambda K: None)[:3] == (2.0, 0.25, [])
    assert led(lambda K: [], α=0.75)[2] == []


def test_half_planes_alone_may_be_left_on_the_way_out_of_the_disk(monkeypatch):
    """Of two sides and four frequencies eight rows get the slack, which is made small and ends at m; noise and zeros none."""
    asked = {}

    def solved(cost, rows, right, bounds, scale):
        asked.update(cost=cost, rows=rows, right=right, bounds=bounds, scale=scale)
        return np.array([5.0, 6.0, 0.1])

    monkeypatch.setattr(design, "_solved", solved)
    rows = np.arange(20.0).reshape(10, 2)
    own = SimpleNamespace(L=np.zeros((2, 4, 3)), _rows=lambda K, m: (rows, np.full(10, 50.0)))
    K, scale = np.array([2.0, 0.5]), np.array([1.0, 4.0])
    found = design.Program.outward(own, K, scale, 0.3)
    assert found.tolist() == [5.0, 6.0] and asked["cost"].tolist() == [0.0, 0.0, -1.0]
    assert asked["rows"][:, :2].tolist() == rows.tolist()
    assert asked["rows"][:, 2].tolist() == [1.0] * 8 + [0.0] * 2
    assert asked["right"].tolist() == [50.0] * 9 + [50.0] and asked["bounds"][-1] == (None, 0.3)
    assert asked["scale"].tolist() == [1.0, 4.0, 1.0] and len(asked["bounds"]) == 3
    own._rows = lambda K, m: (rows, np.zeros(10))
    design.Program.outward(own, K, scale, 0.3)
    assert asked["right"].tolist() == [0.0] * 8 + [16 * 2.0 + 17 * 0.5, 18 * 2.0 + 19 * 0.5]
    monkeypatch.setattr(design, "_solved", lambda *given: None)
    assert design.Program.outward(own, K, scale, 0.3) is None
