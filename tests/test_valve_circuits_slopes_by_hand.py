"""Slopes of velocities by small changes of loads, and what users ask of a circuit: shapes, sets, refusals with their numbers."""

from dataclasses import replace

import numpy as np
import pytest

from plants.valve_circuits import solve
from plants.valve_circuits.circuit import Circuit, Openings, Pump, Section
from plants.valve_circuits.roots import resolve
from plants.valve_circuits.slopes import dΛ
from plants.valve_circuits.solve import Γ, Λ, operating
from workbench.contract.errors import InputError

FULL = {"c_ph": 2.0, "c_pr": 1.1, "c_th": 1.7, "c_tr": 1.5, "c_a": 0.6}
LIFT = Section("lift", 0.5, 0.3, 8.0, 7.0, **FULL)
TILT = Section("tilt", 0.3, 0.5, 6.0, 9.0, **FULL)
PUMP = Pump(Q=4.0, P_M=9.0, c_b=1.2)
OUT, BACK = Openings(u_ph=1.0, u_tr=0.8), Openings(u_pr=0.9, u_th=0.6)
BOTH = Openings(0.9, 0.5, 0.7, 0.8)
WEAK = replace(PUMP, Q=0.7)

SLOPES = [
    ((LIFT,), PUMP, (OUT,), 0.3, (0.4,)),
    ((LIFT,), PUMP, (BACK,), 0.3, (0.4,)),
    ((LIFT,), WEAK, (OUT,), 0.0, (0.4,)),
    ((LIFT,), PUMP, (replace(OUT, u_a=0.9),), 0.3, (-0.6,)),
    ((TILT,), PUMP, (replace(OUT, u_a=0.9),), 0.3, (-1.6,)),
    ((LIFT,), PUMP, (BOTH,), 0.3, (0.3,)),
    (
        (LIFT,),
        replace(PUMP, P_M=2.0),
        (Openings(1.0, 0.6, 0.0, 0.8),),
        0.3,
        (2.2,),
    ),  # from head to rod behind the check
    ((LIFT,), PUMP, (OUT,), 0.3, (-9.0,)),
    ((LIFT,), PUMP, (OUT,), 0.3, (7.0,)),
    ((LIFT, TILT), PUMP, (OUT, BACK), 0.3, (0.4, -0.5)),
    ((LIFT, TILT), WEAK, (OUT, OUT), 0.0, (0.4, 0.3)),
    ((LIFT, TILT), WEAK, (BOTH, replace(OUT, u_a=0.9)), 0.2, (0.2, -1.1)),
    ((LIFT, TILT), PUMP, (Openings(), OUT), 0.3, (0.4, 0.3)),
]


# ---- slopes ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sections, pump, openings, u_b, f", SLOPES, ids=range(len(SLOPES)))
def test_slopes_are_those_of_small_changes(sections, pump, openings, u_b, f):
    """dv_i/df̄_j: symmetric, and each own one between −1/β and none."""
    circuit, β = Circuit(sections, pump), np.array([2.0, 0.7])[: len(sections)]
    load = np.array(f)
    found = dΛ(circuit, openings, u_b, β, load)
    ε = 1e-6
    for j in range(len(f)):
        step = ε * np.eye(len(f))[j]
        ends = [Λ(circuit, openings, u_b, β, load + s * step) for s in (1, -1)]
        assert found[:, j] == pytest.approx((ends[0] - ends[1]) / (2 * ε), rel=1e-3, abs=1e-5)
    assert found == pytest.approx(found.T, abs=1e-9)
    assert np.all(np.diag(found) <= 1e-9) and np.all(np.diag(found) >= -1 / β - 1e-9)


def test_slopes_of_one_number_for_all():
    circuit = Circuit((LIFT, TILT), PUMP)
    one = dΛ(circuit, (OUT, BACK), 0.3, 2.0, 0.4)
    assert one == pytest.approx(dΛ(circuit, (OUT, BACK), 0.3, [2.0, 2.0], [0.4, 0.4]))
    with pytest.raises(InputError, match="β must be greater than zero"):
        dΛ(circuit, (OUT, BACK), 0.3, 0.0, 0.4)


# ---- what is asked of a circuit --------------------------------------------------------------------------------------------------
def test_velocities_of_loads_of_any_shape():
    """The last axis is that of the sections; of one section it may be left out."""
    circuit = Circuit((LIFT, TILT), PUMP)
    loads = np.array(
        [[[0.4, -0.5], [1.0, 0.2], [-3.0, 0.1]], [[0.0, 0.3], [2.0, 2.0], [0.6, -0.7]]]
    )
    found = Λ(circuit, (OUT, BACK), 0.3, [2.0, 0.7], loads)
    assert found.shape == (2, 3, 2)
    for k in np.ndindex(2, 3):
        alone = np.zeros(2)
        resolve(
            circuit.rows((OUT, BACK)),
            circuit.supply(0.3),
            np.array([2.0, 0.7]),
            loads[k],
            alone,
            np.zeros(2),
        )
        assert found[k] == pytest.approx(alone)
    single = Circuit((LIFT,), PUMP)
    several = Λ(single, OUT, 0.3, 2.0, [0.4, 1.0, -3.0])
    assert several.shape == (3, 1) and Λ(single, OUT, 0.3, 2.0, 0.4).shape == (1,)
    assert several[1] == pytest.approx(Λ(single, OUT, 0.3, 2.0, [1.0]))


@pytest.mark.parametrize(
    "β, f",
    [
        ([2.0, 0.0], 0.4),
        ([2.0, -1.0], 0.4),
        ([np.inf, 2.0], 0.4),
        (2.0, [0.4, np.nan]),
        (2.0, [np.inf, 0.1]),
    ],
)
def test_loads_that_are_none_are_refused(β, f):
    with pytest.raises(InputError, match="β must be greater than zero and f̄ finite"):
        Λ(Circuit((LIFT, TILT), PUMP), (OUT, BACK), 0.3, β, f)


def test_loads_of_another_number_of_sections_are_told():
    with pytest.raises(InputError) as why:
        Λ(Circuit((LIFT, TILT), PUMP), (OUT, BACK), 0.3, 2.0, [0.4, 0.1, 0.2])
    assert why.value.message == "β and f of shape (3,) for 2 sections"
    assert why.value.mend == "let their last axis have length 2"


@pytest.mark.parametrize(
    "openings", [(OUT, BACK), (replace(OUT, u_a=0.9), BOTH), (Openings(), OUT)]
)
@pytest.mark.parametrize("f", [(0.4, -0.5), (-0.9, 0.7)])
def test_operating_points_balance(openings, f):
    """Flows of what velocities need; forces of Λ lie in Γ, those of other motions are refused; pressures make them."""
    circuit, β = Circuit((LIFT, TILT), PUMP), np.array([2.0, 0.7])
    v = Λ(circuit, openings, 0.3, β, f)
    force = β * v + f
    low, high = Γ(circuit, openings, 0.3, v)
    assert np.all(low - 1e-5 <= force) and np.all(force <= high + 1e-5)
    found = operating(circuit, openings, 0.3, v, force)
    taken = sum(max(s.Q_ph + s.Q_pr, 0.0) for s in found.sections)
    assert found.Q_b + found.Q_M + taken == pytest.approx(4.0, abs=1e-6) and found.pR is (
        found.Q_M > 1e-9
    )
    assert [s.check for s in found.sections] == [s.Q_ph + s.Q_pr > 1e-9 for s in found.sections]
    for s, own, w, F in zip(found.sections, circuit.sections, v, force):
        for end in (0, 1):  # ends of the line of a known force
            assert own.A_h * s.P_h[end] - own.A_r * s.P_r[end] == pytest.approx(F, abs=1e-5)
        assert s.Q_ph - s.Q_th + s.Q_a - s.Q_ho == pytest.approx(own.A_h * w, abs=1e-6)


@pytest.mark.parametrize("apart, refused", [(0.9e-6, False), (1.2e-6, True)])
def test_a_force_under_which_a_section_would_move_otherwise_is_told(apart, refused):
    """By more than a millionth of full speed and its own; a strong pump lets each section move as it does alone."""
    circuit = Circuit((LIFT, TILT), replace(PUMP, Q=400.0))
    β, f = np.array([2.0, 0.7]), np.array([0.4, -0.5])
    v = Λ(circuit, (OUT, BACK), 0.3, β, f)
    full = (400.0 + max(0.9 * 1.1, 0.6 * 1.7) * 6.0**0.5) / 0.3
    pushed = np.array([v[0], v[1] + apart * (full + abs(v[1]))])
    ask = lambda: operating(circuit, (OUT, BACK), 0.3, pushed, β * v + f)
    if not refused:
        assert ask().v == pytest.approx(pushed)
        return
    with pytest.raises(InputError, match="N is no force of section tilt at") as why:
        ask()
    assert f"it would move at {v[1]:.3g}"[:24] in why.value.message


@pytest.mark.parametrize("apart, refused", [(0.98e-6, False), (1.02e-6, True)])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_section_may_be_off_by_a_millionth_of_full_speed_and_its_own(
    monkeypatch, apart, refused, way
):
    """Asked under the force at which it moves so: f − β v at a β of reliefs over full speed."""
    circuit, asked = Circuit((LIFT,), PUMP), []
    full = (4.0 + 2.0 * 8.0**0.5) / 0.5
    v = way * 9.0

    def loaded(rows, supply, β, f, flows, w):
        asked.append((β[0], f[0]))
        w[:] = v + apart * (full + 9.0)
        return 5.0

    monkeypatch.setattr(solve, "loaded", loaded)
    rows, supply = circuit.rows(OUT), circuit.supply(0.3)
    ask = lambda: solve._solved(circuit, rows, supply, np.array([v]), np.array([1.5]))
    if refused:
        with pytest.raises(InputError, match="1.5 N is no force of section lift at"):
            ask()
    else:
        assert ask()[0] == 5.0
    β = (0.5 * 8.0 + 0.3 * 7.0) / full
    assert asked == [(pytest.approx(β), pytest.approx(1.5 - β * v))]


def test_forces_of_one_section_are_its_set():
    """By closed forms where it opens one way, as intervals where it stands."""
    single = Circuit((LIFT,), PUMP)
    low, high = Γ(single, OUT, 0.3, 0.0)
    assert (low[0], high[0]) == (pytest.approx(0.5 * 8.0), pytest.approx(4.0))
    shut = Γ(single, Openings(), 0.3, [0.0])
    assert (shut.low[0], shut.high[0]) == (pytest.approx(-2.1), pytest.approx(4.0))
    assert solve._one(OUT) == (OUT,) and solve._one([OUT, BACK]) == (OUT, BACK)
    with pytest.raises(InputError, match="is no velocity for each of 1 sections"):
        Γ(single, OUT, 0.3, [0.1, 0.2])
