"""Ranges of pressures that balance, corner by corner, and the rows of the table of valves, each by what its name says."""

from math import inf

import numpy as np
import pytest

import plants.valve_circuits
from plants.valve_circuits import levels
from plants.valve_circuits.circuit import Circuit, Motor, Openings, Pump, Section
from plants.valve_circuits.levels import Found, Level
from plants.valve_circuits.states import TABLE_1, segment

A_H, A_R, P_HM, P_RM = 0.5, 0.3, 8.0, 7.0


FREE = {
    "h": (0.0, 8.0),
    "r": (0.0, 7.0),
    "band": (-inf, inf),
    "at": (1.0, 2.0),
    "drops": (None, None),
}


def level(fed=False, f=None, areas=(A_H, A_R), **changed):
    """A section with all of its ranges free but for what is changed."""
    own = FREE | changed
    row = np.array([*areas, P_HM, P_RM, 0, 0, 0, 0, 0], float)
    return Level(row, own["h"], own["r"], own["band"], own["at"], *own["drops"], fed, f)


# ---- corners ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "h, r, band, corners",
    [
        ((1, 4), (2, 6), (-inf, inf), [(1, 2), (1, 6), (4, 2), (4, 6)]),
        ((1, 4), (2, 6), (1, 1), [(1, 2), (4, 5), (1, 2)]),  # where a corner is on the band
        ((1, 4), (2, 6), (-inf, 0), [(4, 2), (4, 4), (2, 2)]),
        ((1, 4), (2, 6), (0.5, 3), [(1, 2), (4, 6), (1, 4), (1.5, 2), (3, 6), (4, 4.5)]),
        ((1, 4), (2, 6), (5, 5), [(1, 6), (1, 6)]),
        ((1, 4), (2, 6), (-2, -2), [(4, 2), (4, 2)]),
        ((1, 4), (2, 6), (5.5, 5.5), [(9, 9)]),  # none: the pressures found
    ],
)
def test_corners_of_a_box_that_a_band_cuts(h, r, band, corners):
    """Those of the box inside the band, and where its edges cross the box."""
    found = levels._corners(level(h=h, r=r, band=band, at=(9, 9)), h, r)
    assert {(float(x), float(y)) for x, y in found} == {(float(x), float(y)) for x, y in corners}


@pytest.mark.parametrize(
    "f, h, r, band, ends",
    [
        (1.0, (0, 8), (0, 7), (-inf, inf), [2.0, 6.2]),
        (1.0, (2.5, 6), (0, 7), (-inf, inf), [2.5, 6.0]),
        (1.0, (0, 8), (1, 4), (-inf, inf), [2.6, 4.4]),
        (1.0, (0, 8), (0, 7), (-inf, 0), [2.0, 5.0]),  # y − x = (2/3) x − 10/3
        (1.0, (0, 8), (0, 7), (-1, 0.5), [3.5, 5.75]),
        (-0.6, (0, 8), (0, 7), (2.5, inf), [0.75, 3.0]),
    ],
)
def test_ends_of_the_line_of_a_known_force(f, h, r, band, ends):
    """A_h P_h − A_r P_r = f inside box and band."""
    found = levels._known(level(h=h, r=r, band=band, f=f), h, r)
    assert [x for x, _ in found] == pytest.approx(ends)
    assert [A_H * x - A_R * y for x, y in found] == pytest.approx([f, f])


def test_a_known_force_that_misses_its_box_has_the_pressures_found():
    """By rounding: kept within both ranges."""
    found = levels._known(
        level(h=(3.0, 4.0), r=(1.0, 2.0), at=(3.5, 1.5), f=2.0), (3.0, 4.0), (1.0, 2.0)
    )
    assert found == [(3.5, 1.0)] * 2
    above = levels._known(
        level(h=(3.0, 4.0), r=(1.0, 2.0), at=(9.0, 1.5), f=-2.0), (3.0, 4.0), (1.0, 2.0)
    )
    assert above == [(4.0, 2.0)] * 2


@pytest.mark.parametrize("f, ends", [(1.0, [2.0, 8.0]), (-1.0, [0.0, 5.0])])
def test_of_equal_sides_a_known_force_is_a_known_rise(f, ends):
    """The band then says nothing more: P_r − P_h = −f/A all along."""
    own = level(band=(-inf, 0.0), f=f, areas=(0.5, 0.5))
    found = levels._known(own, own.h, own.r)
    assert [x for x, _ in found] == pytest.approx(ends)


# ---- sections --------------------------------------------------------------------------------------------------------------------
def test_a_fed_side_hangs_on_the_pump():
    """Head 2 below, rod 1 below the pressure behind the check, which is the pump's, or no less where the check is shut."""
    fed = levels.section(level(drops=(2.0, None), fed=True), (5.0, 6.0))
    assert fed == Found((3.0, 4.0), (0.0, 7.0), pytest.approx((-0.6, 2.0)), (5.0, 6.0))
    held = levels.section(level(drops=(2.0, None)), (5.0, 6.0))
    assert held.P_h == (3.0, 8.0) and held.P_c == (5.0, 10.0)
    rod = levels.section(level(drops=(None, 1.0), fed=True), (5.0, 6.0))
    assert rod.P_r == (4.0, 5.0) and rod.P_h == (0.0, 8.0) and rod.P_c == (5.0, 6.0)
    free = levels.section(level(f=0.9), (5.0, 6.0))
    assert free.f == (0.9, 0.9) and free.P_c == (-inf, inf)
    missed = levels.section(
        level(h=(1.0, 1.0), at=(1.1, 0.0), drops=(2.0, None), fed=True), (5.0, 6.0)
    )
    assert missed.P_h == (1.1, 1.1)


def flows(q_ph=0.0, q_pr=0.0, q_a=0.0, q_ho=0.0, q_ro=0.0, x=1.0, y=2.0):
    return np.array([x, y, q_ph, q_pr, 0.0, 0.0, q_a, q_ho, q_ro])


@pytest.mark.parametrize(
    "over, free", [(1e-6, True), (-1e-6, True), (1.01e-6, False), (-1.01e-6, False)]
)
def test_what_flow_is_small_leaves_a_chamber_free(over, free):
    """At a limit that passes more, its pressure is known; as of a side that is drained."""
    row = np.array([A_H, A_R, P_HM, P_RM, 0, 0, 0, 0, 0], float)
    found = levels.level(row, flows(q_ho=over, q_ro=over), 1e-6, None)
    assert found.h == ((0.0, 8.0) if free else (1.0, 1.0))
    assert found.r == ((0.0, 7.0) if free else (2.0, 2.0))
    row[6] = 0.5
    assert levels.level(row, flows(), 1e-6, None).h == (1.0, 1.0)
    row[6:8] = 0.0, 0.5
    assert levels.level(row, flows(), 1e-6, None).r == (2.0, 2.0)


@pytest.mark.parametrize("q_a, band", [(1e-6, (-inf, 0.0)), (0.5, (1.5625, 1.5625))])
def test_regeneration_that_passes_oil_has_its_drop(q_a, band):
    row = np.array([A_H, A_R, P_HM, P_RM, 0, 0, 0, 0, 0.4], float)
    assert levels.level(row, flows(q_a=q_a), 1e-6, None).band == pytest.approx(band)


@pytest.mark.parametrize(
    "q, fed", [((1e-6, 0.0), False), ((2e-6, 0.0), True), ((3e-6, -2.5e-6), False)]
)
def test_a_check_passes_what_both_sides_take(q, fed):
    row = np.array([A_H, A_R, P_HM, P_RM, 2.0, 0.5, 0, 0, 0], float)
    found = levels.level(row, flows(*q), 1e-6, 3.0)
    assert found.fed is fed and found.f == 3.0 and found.at == (1.0, 2.0)
    drops = [k * abs(k) / c**2 for k, c in zip(q, (2.0, 0.5))]
    assert (found.drop_h, found.drop_r) == pytest.approx(drops)
    assert found.band == pytest.approx((drops[0] - drops[1],) * 2)


# ---- the pump --------------------------------------------------------------------------------------------------------------------
ROW = [A_H, A_R, P_HM, P_RM, 2.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "Q, k_b, P, q, span",
    [
        (4.0, 0.0, 6.0, 4.0, (4.0, 9.0)),  # 4 above a head between 0 and 8
        (5.0, 0.0, 9.0, 4.0, (9.0, 9.0)),  # what is left passes the relief
        (5.0, 0.5, 4.0, 4.0, (4.0, 4.0)),  # a bleed has its own drop
        (
            0.0,
            0.0,
            6.0,
            0.0,
            (0.0, 8.0),
        ),  # what is below a shut check is free, and no higher than behind it
    ],
)
def test_the_pressure_of_the_pump_is_open_where_nothing_passes_it_by(Q, k_b, P, q, span):
    rows = np.array([ROW, ROW])
    still = flows(q_ph=0.0, x=5.0)
    one = [flows(q_ph=q, x=P - 4.0 if q else 5.0), still]
    found, parts = levels.ranges(
        rows[: 2 if Q == 0.0 else 1], (Q, 9.0, k_b), P, np.array(one[: 2 if Q == 0.0 else 1])
    )
    assert found == pytest.approx(span) and len(parts) == (2 if Q == 0.0 else 1)
    if q:
        assert parts[0].P_h == pytest.approx((span[0] - 4.0, min(span[1] - 4.0, 8.0)))


@pytest.mark.parametrize("q_pr, spare", [(1.0, False), (-1.0, True), (-9.0, True)])
def test_what_both_sides_take_is_the_pumps(q_pr, spare):
    """3 and 1 of 4 leave nothing; what flows back through one valve goes to the other, and never back to the pump."""
    row = [A_H, A_R, P_HM, P_RM, 2.0, 1.0, 0.0, 0.0, 0.0]
    q = flows(q_ph=3.0, q_pr=q_pr, x=2.0, y=3.0)
    assert levels.ranges(np.array([row]), (4.0, 9.0, 0.0), 5.0, np.array([q]))[0] == (
        (5.0, 5.0) if spare else (2.25, 8.0)
    )


def test_what_is_small_is_so_beside_the_largest_flow():
    """1e-14 of the pump's flow and of the largest that is anywhere."""
    assert levels._OPEN == 1e-14
    row = np.array([ROW])
    for extra, free in ((0.9, True), (1.1, False)):
        over = extra * 1e-14 * (2.0 + 3.0)
        q = flows(q_ph=3.0, q_ro=over)
        (part,) = levels.ranges(row, (2.0, 9.0, 0.1), 5.0, np.array([q]))[1]
        assert (part.P_r == (0.0, 7.0)) is free


def test_known_forces_are_those_of_their_sections():
    rows = np.array([[*ROW[:4], 0, 0, 0, 0, 0]] * 2)
    still = np.array([flows(), flows()])
    _, (a, b) = levels.ranges(rows, (2.0, 9.0, 0.1), 5.0, still, [1.0, -0.6])
    assert (a.f, b.f) == ((1.0, 1.0), (-0.6, -0.6))
    assert a.P_h == pytest.approx((2.0, 6.2)) and b.P_r == pytest.approx((2.0, 7.0))


# ---- the table of valves ---------------------------------------------------------------------------------------------------------
OPEN = {
    "-F_rM": "hSC rR", "+3": "hSC", "+2b": "pR rR", "+2a": "pR", "+1b": "rR", "+1a": "", "+0b": "hR rR", "+0a": "hR", "0": "",
    "-0a": "rR", "-0b": "hR rR", "-1a": "", "-1b": "hR", "-2a": "pR", "-2b": "hR pR", "-3": "rSC", "F_hM": "hR rSC",
}  # fmt: skip
EITHER = {
    "-F_rM",
    "+3",
    "+0b",
    "+0a",
    "0",
    "-0a",
    "-0b",
    "-3",
    "F_hM",
}  # whatever the pump's relief does


@pytest.mark.parametrize("name", OPEN)
def test_rows_of_the_table_of_valves(name):
    """+ extends and − retracts, by openings of that way; driven beyond a relief, or standing, it is so with any openings."""
    row = TABLE_1[name]
    sign = (
        {"-F_rM": 1, "0": 0, "F_hM": -1}.get(name)
        if name in ("-F_rM", "0", "F_hM")
        else int(f"{name[0]}1")
    )
    ways = (1, 0, -1) if name in ("-F_rM", "0", "F_hM") else (sign,)
    valves = {k: k in OPEN[name].split() for k in ("hR", "hSC", "pR", "rSC", "rR")}
    told = {k: None if k == "pR" and name in EITHER else v for k, v in valves.items()}
    assert (row.sign, row.directions) == (sign, ways)
    assert {k: getattr(row, k) for k in told} == told
    for direction in ways:
        assert segment(direction, sign, **valves) == name
        if name in EITHER:
            assert segment(direction, sign, **(valves | {"pR": not valves["pR"]})) == name
    assert segment(None, sign, **valves) is None and list(TABLE_1) == list(OPEN)


# ---- the numbers of the source ------------------------------------------------------------------------------------------------
def test_a_circuit_of_the_source():
    """[Kikuuwe21] (66), with 500 l/min exactly; a motor of 40 cm³/rad between the same reliefs."""
    section, motor, pump = Section(), Motor(), Pump()
    assert (section.A_h, section.A_r, section.P_hM, section.P_rM) == (0.024, 0.012, 42e6, 40e6)
    assert (motor.D_h, motor.D_r, motor.P_hM, motor.P_rM) == (40e-6, 40e-6, 42e6, 40e6)
    assert (pump.Q, pump.P_M) == (pytest.approx(500e-3 / 60), 36e6)
    assert {s.name for s in (section, motor)} == {"1"} and Circuit() == Circuit((section,), pump)
    assert Openings() == Openings(0.0, 0.0, 0.0, 0.0, 0.0) and Circuit().supply(0.0)[2] == 0.0


def test_names_of_the_package():
    assert plants.valve_circuits.Section is Section and plants.valve_circuits.segment is segment
    assert "Λ" in plants.valve_circuits.__all__ and "dΛ" in plants.valve_circuits.__all__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        plants.valve_circuits.nothing  # noqa: B018 — an attribute that there is not
