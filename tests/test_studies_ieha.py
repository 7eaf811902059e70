"""The study of the integrated actuator holds, and its checks are not empty."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from reports.studies import alfayad16
from reports.studies import alfayad16_control as control
from workbench import simulate
from workbench.identification import Chirp
from workbench.verification.linear.margins import loop_margins
from workbench.verification.linear.systems import LinearSystem, feedback, series


@pytest.fixture(scope="module")
def found():
    return alfayad16.results()


def test_alfayad16(found):
    alfayad16.check(found)


def ours(what, factor):
    return lambda r: replace(
        r,
        rows=tuple(
            replace(row, ours=factor * row.ours) if row.what == what else row for row in r.rows
        ),
    )


@pytest.mark.parametrize(
    "spoil",
    [
        ours("mean flow by (8), ω in rad/s", 2 * pi),
        ours("E within 5 %, all round window", 4.0),
        ours("frequency of the flow, kinematic", 0.5),
        ours("frequency of the flow, full pump", 2.0),
        ours("final velocity", 1.02),
        ours("K of (27)", 115.4 / 125.2),
        ours("K' of (28)", -1.0),
        lambda r: replace(r, fits=r.fits | {"step": r.fits["step"] | {"published": 99.0}}),
        lambda r: replace(r, apart=r.apart | {"overlap": r.apart["step"]}),
        lambda r: replace(r, apart=r.apart | {"chirp": r.apart["overlap"]}),
        lambda r: replace(r, errors=r.errors | {"MPC": r.errors["PID"]}),
        lambda r: replace(r, errors=r.errors | {"PID": 2 * r.errors["PID"]}),
        lambda r: replace(r, edge=r.edge | {0.01: r.edge[0.1]}),
        lambda r: replace(r, edge=r.edge | {1.0: r.edge[0.01]}),
    ],
    ids=[
        "2π",
        "window",
        "kinematic",
        "decompression",
        "velocity",
        "K",
        "sign of K'",
        "linear",
        "agree in overlap",
        "part on chirp",
        "no preview",
        "PID",
        "no cycle",
        "cycle",
    ],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        alfayad16.check(spoil(found))


def test_the_linear_law_is_the_law():
    """The matrices taken from the controller give its commands, sample by sample, while no limit is active."""
    law, rng = control.mpc(0.3), np.random.default_rng(4)
    K, z, s, largest = control.linear_law(law), law.initial(), 0.0, 0.0
    s, quiet = np.zeros(len(K.A)), [0.0] * len(law.references)
    for _ in range(40):
        y = 2e-6 * rng.normal()
        z, (u,) = law.step(0.0, z, [y], quiet)
        assert law.monitor(0.0, z, [y], quiet)[5] == 0
        assert abs(u - (K.C @ s + K.D @ [y])[0]) < 1e-9 * max(largest, abs(u))
        s, largest = K.A @ s + K.B @ [y], max(largest, abs(u))
    assert largest > 1e-6


def test_the_loop_is_closed_the_right_way_round():
    """Negative feedback is stable; with the sign turned, or twice its gain margin, it is not."""
    loop = control.open_loop(control.mpc(1.0))
    radius = lambda k: np.abs(
        np.linalg.eigvals(feedback(replace(loop, C=k * loop.C, D=k * loop.D)).A)
    ).max()
    assert radius(1.0) < 1 < radius(3.0) and radius(-1.0) > 1


def test_margins_of_both_laws():
    """PID as the sum of its parts, K_p + K_i T/(z − 1): nearly twice the gain margin of predictive control."""
    T = 2e-3
    pid = LinearSystem([[1.0]], [[50 * T]], [[1.0]], [[1.0]], T)
    found, other = (
        loop_margins(loop).gain_up
        for loop in (series(control.moving(T), pid), control.open_loop(control.mpc()))
    )
    assert 2.8 < found < 3.1 and 1.4 < other < 1.6
    assert "K_p: 1, K_i: 50," in control.PID


def test_fits_are_percent_of_what_moves():
    quick = replace(
        alfayad16.STEP,
        duration=0.05,
        disturbances={"X": Chirp("output", 1e-4, length=0.05), "F_ext": 0.0},
    )
    log = simulate(control.CONTROL, quick)
    assert (
        alfayad16.percent(log, log) == 100
        and alfayad16.percent(log, simulate(control.LINEAR, quick)) < 99
    )
