"""The operating point of a valve circuit out of pressures and flows that are written down: which checks and reliefs are open."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.valve_circuits import solve
from workbench.contract.errors import InputError

Q, P_M = 2e-3, 1.6e7
OPENINGS = (SimpleNamespace(direction="out"), SimpleNamespace(direction="in"))
ROWS = np.array([[0.0] * 9, [0.0] * 8 + [1e-7]])  # the second section regenerates
#                   ·    ·    Q_ph  Q_pr  Q_th  Q_tr  Q_a   Q_ho   Q_ro
FLOWS = np.array(
    [
        [0.0, 0.0, 3e-4, 2e-4, 1e-4, 5e-5, 0.0, 4e-5, -6e-5],
        [0.0, 0.0, -1e-4, 0.0, 2e-4, 7e-5, 8e-5, 0.0, 9e-5],
    ]
)


@pytest.fixture
def point(monkeypatch):
    """Operating at this pressure and flows."""
    asked = []

    def at(P=9e6, flows=FLOWS, f=None, k_b=1e-7):
        circuit = SimpleNamespace(
            rows=lambda openings: ROWS, supply=lambda u_b: [Q, P_M, k_b], sections=(1, 2)
        )
        monkeypatch.setattr(solve, "_solved", lambda *given: (P, flows))
        each = [
            SimpleNamespace(P_h=(k + 1.0, k + 2.0), P_r=(k + 3.0, k + 4.0), f=(k + 5.0, k + 6.0))
            for k in (0, 10)
        ]
        monkeypatch.setattr(solve, "ranges", lambda *given: ((P, P + 1), each))
        monkeypatch.setattr(solve, "segment", lambda *given: asked.append(given) or "row")
        monkeypatch.setattr(solve, "Γ", lambda *given: "Γ")
        return solve.operating(circuit, OPENINGS, 0.5, [0.2, -0.3], f), asked

    return at


def test_flows_and_valves_of_every_section(point):
    """What flows back into the pump's line is none of what the pump gives; a table's row only where nothing regenerates."""
    found, asked = point()
    first, second = found.sections
    assert (first.Q_ph, first.Q_pr, first.Q_th, first.Q_tr, first.Q_a) == (
        3e-4,
        2e-4,
        1e-4,
        5e-5,
        0.0,
    )
    assert (first.hR, first.hSC, first.rR, first.rSC, first.check) == (
        True,
        False,
        False,
        True,
        True,
    )
    assert (second.hR, second.hSC, second.rR, second.rSC, second.check) == (
        False,
        False,
        True,
        False,
        False,
    )
    assert (first.segment, second.segment) == ("row", None)
    assert asked == [("out", 1, True, False, False, True, False)]
    assert (first.P_h, second.P_r) == (solve.Interval(1.0, 2.0), solve.Interval(13.0, 14.0))
    assert found.Q_b == pytest.approx(1e-7 * 3e3) and found.Q_M == pytest.approx(Q - 3e-4 - 5e-4)
    assert (found.pR, found.f, found.P) == (False, "Γ", solve.Interval(9e6, 9e6 + 1))
    assert found.v.tolist() == [0.2, -0.3]


@pytest.mark.parametrize(
    "P, k_b, opens",
    [
        (P_M, 1e-7, True),
        (P_M * (1 - 1e-13), 1e-7, True),
        (P_M * 0.999999, 1e-7, False),
        (P_M, 4e-7, False),
    ],
)
def test_the_pumps_relief_is_open_at_its_pressure_where_flow_is_left(point, P, k_b, opens):
    found, asked = point(P=P, k_b=k_b)
    assert found.pR is opens and asked[0][4] is opens and found.Q_M >= 0.0
    assert found.Q_M == pytest.approx(max(Q - k_b * np.sqrt(P) - 5e-4, 0.0))


@pytest.mark.parametrize("share, opens", [(0.9e-12, False), (1.1e-12, True)])
def test_what_is_hardly_a_flow_opens_nothing(point, share, opens):
    flows = np.zeros((2, 9))
    flows[:, 2], flows[0, 7], flows[1, 8] = share * Q, share * Q, -share * Q
    first, second = point(flows=flows)[0].sections
    assert (first.hR, first.check, second.rSC, second.check) == (opens,) * 4
    assert not (first.hSC or first.rR or first.rSC or second.hR or second.rR or second.hSC)


def test_forces_that_are_known_are_told(point):
    found, _ = point(f=[1.0, 2.0])
    assert found.f.low.tolist() == [5.0, 15.0] and found.f.high.tolist() == [6.0, 16.0]


@pytest.mark.parametrize("v", [[0.2], [0.2, np.nan], [0.2, 0.3, 0.4]])
def test_velocities_are_one_number_a_section(v):
    with pytest.raises(InputError, match="is no velocity for each of 2 sections"):
        solve._velocities(SimpleNamespace(sections=(1, 2)), v)
