"""Parts of drives behind metering valves and their laws by hand: openings, ports, speeds, forces believed, ranges of pressure."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.drives.ieha import IEHAPart
from controllers.vdc.drives.ieha_pump import drained, eccentricity, lost, pumped
from controllers.vdc.drives.metered_drive import settling
from controllers.vdc.drives.metered_section import MeteredPart
from plants.drives.contract import Line
from plants.drives.metering import (
    OVER,
    SUCTION,
    Metered,
    bounds,
    dissipated,
    open_port,
    opened,
    regenerated,
    speed_gain,
)
from plants.ieha.actuator import IEHA
from plants.ieha.inverse import InputOutput
from plants.valve_circuits.accounts.section import Section, open_ranges
from workbench.verification import claims as C
from workbench.verification.observed.requirement_claims import worst

ROW = [2e-3, 1.5e-3, 210e5, 230e5, 1.0, 0.0, 0.0, 1e-7, 0.0]
WORK = Metered(ROW, speed=0.2, force=900.0, flow=3e-4, P_h=50e5, P_r=20e5)


@pytest.mark.parametrize(
    "u, pressure",
    [(1.0, 53e5), (0.1, 53e5), (0.05, 28e5), (0.0, 3e5), (-0.05, 13e5), (-0.1, 23e5), (-1.0, 23e5)],
)
def test_the_chamber_that_is_open_to_the_pump(u, pressure):
    """Head for positive commands, rod for negative ones, above the return, blended over an opening of 0.1."""
    assert open_port(WORK, u, Line(200e5, 3e5), 0.1) == pytest.approx(pressure)


def test_where_pressures_may_be_and_where_power_goes():
    """A little beyond suction and the higher of both reliefs; each valve takes flow times drop, reliefs what is left."""
    assert bounds(210e5, 230e5) == (-SUCTION, pytest.approx(OVER * 230e5))
    assert bounds(240e5, 230e5) == (-SUCTION, pytest.approx(OVER * 240e5))
    ph, pr, th, tr, a, hR, rR = dissipated(WORK, 80e5)
    drained = 1e-7 * 20e5**0.5
    assert ph == pytest.approx(3e-4 * 30e5) and tr == pytest.approx(drained * 20e5)
    assert hR == pytest.approx((3e-4 - 2e-3 * 0.2) * 50e5)
    assert rR == pytest.approx((1.5e-3 * 0.2 - drained) * 20e5)
    assert pr == th == a == 0.0
    ways = [2e-3, 1.5e-3, 210e5, 230e5, 0.0, 1.0, 1e-7, 0.0, 1e-7]
    back = WORK._replace(row=ways, P_h=20e5, P_r=50e5)
    ph, pr, th, tr, a, _, _ = dissipated(back, 80e5)
    assert pr == pytest.approx(3e-4 * 30e5) and th == pytest.approx(drained * 20e5)
    assert a == pytest.approx(1e-7 * 30e5**1.5) and ph == tr == 0.0


SECTION = SimpleNamespace(
    A_h=2.0, A_r=1.5, P_hM=8.0, P_rM=7.0, c_ph=0.3, c_pr=0.5, c_th=0.7, c_tr=0.9, c_a=1.1
)


@pytest.mark.parametrize(
    "u_c, u_a, k",
    [
        (0.5, 0.0, (0.15, 0.0, 0.0, 0.45, 0.0)),
        (-0.5, 0.0, (0.0, 0.25, 0.35, 0.0, 0.0)),
        (3.0, 0.25, (0.3, 0.0, 0.0, 0.9, 0.275)),
        (-3.0, 0.0, (0.0, 0.5, 0.7, 0.0, 0.0)),
    ],
)
def test_a_section_at_a_command(u_c, u_a, k):
    assert opened(SECTION, u_c, u_a) == pytest.approx([2.0, 1.5, 8.0, 7.0, *k])


def test_regeneration_follows_its_command_while_the_rod_extends():
    assert regenerated("none", [0.5, 0.7]) == 0.0
    assert [float(regenerated("input", [0.5, u])) for u in (0.7, -1.0, 2.0)] == [0.7, 0.0, 1.0]
    assert [float(regenerated("follows", [u])) for u in (0.4, 3.0, -0.4, 0.0)] == [0.4, 1.0, 0, 0]
    assert float(regenerated("input", [-0.5, 0.7])) == 0.0


def test_the_speed_without_force_for_a_full_command():
    """Extending: both orifices in series, A_h P = (A_h³/c_ph² + A_r³/c_tr²) v²; retracting likewise; the mean of both."""
    P = 40.0
    out = np.sqrt(2.0 * P / (8.0 / 0.09 + 1.5**3 / 0.81))
    back = np.sqrt(1.5 * P / (8.0 / 0.49 + 1.5**3 / 0.25))
    assert speed_gain(SECTION, P) == pytest.approx((out + back) / 2)


def test_the_speed_that_is_required_behind_the_oils_spring():
    """ṙ_r = ẋ + ḟ_Kr/K + k_m (ẋ_r − ẋ) + k_f (f_Kr − f_K), k_f = Kk_f over the law's own stiffness."""
    part = SimpleNamespace(drive=SimpleNamespace(stiffness=4e6, damping=8e4), Kk_f=20.0, k_m=3.0)
    found = MeteredPart.wanted(part, 0.1, 0.4, 500.0, 800.0, 9e5, 3e6)
    assert found == pytest.approx(0.1 + 0.3 + 3.0 * 0.3 + 20.0 / 4e6 * 300.0)
    assert settling(part.drive) == pytest.approx(0.02)


def test_what_an_ieha_is_believed_to_give():
    """f = S_A P_A − S_B P_B − b_v v − f_f(v); E and Q are each other's inverse, losses on the side that is fed."""
    drive = IEHA(S_A=2.6e-4, S_B=2.4e-4, circuit="open")
    friction = SimpleNamespace(force=lambda v, ẑ: 40.0 * v + ẑ[0])
    own = SimpleNamespace(S_A=2.6e-4, S_B=2.4e-4, b_v=300.0, friction=friction)
    part = SimpleNamespace(drive=own, pushed=lambda drive, p: IEHAPart.pushed(None, drive, p))
    found = IEHAPart.believed(part, [30e5, 10e5], 0.0, 0.2, [7.0], None, None)
    assert found == pytest.approx(780.0 - 240.0 - 60.0 - 15.0)
    for E, P_A, P_B in ((2e-4, 30e5, 12e5), (-2e-4, 30e5, 12e5)):
        Q = float(pumped(drive, E, P_A, P_B))
        loss = float(lost(drive, P_A if E > 0 else P_B))
        assert drive.pump.mean_flow(1.0) * E - Q == pytest.approx(np.sign(E) * loss) and loss > 0
        assert float(eccentricity(drive, Q, P_A, P_B)) == pytest.approx(E)
    assert float(lost(drive, 0.0)) == 0.0  # none is gained below the line's pressure
    wanted = drive.c * drive.pump.A_0 * np.sqrt(30e5 - drive.P_T)
    assert drained(drive, 30e5) == pytest.approx(wanted)


@pytest.mark.parametrize("order", [4, 6])
def test_derivatives_of_the_load_have_names_of_their_own(order):
    names = [s.name for s in InputOutput(order=order).states]
    assert names == ["d" * k + "Y" for k in range(order)]
    assert [s.unit for s in InputOutput(order=order).states][2:] == [
        f"m/s^{k}" for k in range(2, order)
    ]


def test_least_pressures_of_a_standing_rod_begin_at_none():
    """Under a force that the rod side alone holds the head may be empty: from 0 on, and the rod from 0 the other way."""
    row = [0.5, 0.3, 8.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    one = lambda v: np.array([v])
    pulled = Section(row, one(0.0), one(-0.9), one(1.0), one(4.6666666667))
    (head, rod) = open_ranges(pulled, one(5.0), 4.0)
    assert head[0][0] == 0.0 and rod[0][0] == pytest.approx(3.0)
    pushed = Section(row, one(0.0), one(0.9), one(3.0), one(2.0))
    (head, rod) = open_ranges(pushed, one(5.0), 4.0)
    assert rod[0][0] == 0.0 and head[0][0] == pytest.approx(1.8)


def test_where_a_margin_was_read():
    """Its words and time; the part it is of only where units are mixed and there is a time at all."""
    told = {"words": "x = 3 m", "clause": "x < 2 m", "mixed": False, "margin": 1.0, "clauses": ()}
    told["never"] = ()
    answer = lambda time, **more: SimpleNamespace(time=time, holds=False, **(told | more))
    one, two = SimpleNamespace(units={"m": 0}), SimpleNamespace(units={"m": 0, "Pa": 1})
    assert worst(answer(0.5), one, 2.0) == "x = 3 m at t = 0.5 s"
    assert worst(answer(0.5), two, 2.0) == "x = 3 m at t = 0.5 s, in x < 2 m"
    assert worst(answer(None), two, 2.0) == worst(answer(None), one, 2.0) == ""
    rows = (SimpleNamespace(text="x < 2 m", margin=-1.0, unit="m"),)
    never = worst(answer(0.5, never=("y > 1 m",)), one, 2.0)
    assert never == "x = 3 m at t = 0.5 s; y > 1 m was never true"
    mixed = worst(answer(0.5, mixed=True, clauses=rows), one, 2.0)
    assert mixed.endswith("a share of what each comparison allows: x < 2 m: -1 m")


def test_limits_are_scanned_to_the_error_that_is_stated():
    """A tool off by 50 mm, or by what the claim says, ends a scan; it counts."""
    for kind in (C.DelayLimit, C.SampleTimeLimit):
        assert kind().error == pytest.approx(50e-3) and kind().counted
    assert C.ParameterLimit(parameter="plant.m").error == C.DelayLimit().error
