"""Parts of the servo pump alone: pistons of the radial pump, its averages, micro-valve, distributor, end stops."""

from dataclasses import replace
from functools import partial
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from plants.components import sizes
from plants.components.micro_valve import Distributor, MicroValve
from plants.components.radial_pump import Piston, RadialPump
from plants.components.transition import EndStop, smoothstep
from workbench.contract.errors import InputError

PUMP = RadialPump(S_p=3e-5, R_b=8e-3, l_p=2.5e-3, d=3e-3, r_rp=1.7e-3, ω=250.0, P_rp=7e5, k_p=3e-14, ε=0.07, N=5)  # fmt: skip
φ, E, RATE = 0.4, 3e-4, 0.05
ANGLES = [φ + 2 * pi * i / 5 for i in range(5)]


def distance(θ, e):
    """From the shaft to the ring along a piston: the ring's circle, its centre moved by e against cos θ."""
    return np.sqrt(PUMP.R_b**2 - (e * np.sin(θ)) ** 2) - e * np.cos(θ)


def slope(f, x):
    return np.imag(f(x + 1e-30j)) / 1e-30


# ---- pistons --------------------------------------------------------------------------------------------------------------
def test_pistons_touch_the_ring():
    """|L (cos θ, sin θ) + (E, 0)| = R_b; the slopes of L by E and by θ."""
    found = PUMP.pistons(φ, E)
    assert len(found) == 5
    for θ, piston in zip(ANGLES, found):
        assert piston.sin == pytest.approx(sin(θ))
        assert np.hypot(piston.L * cos(θ) + E, piston.L * sin(θ)) == pytest.approx(PUMP.R_b)
        assert piston.a == pytest.approx(slope(partial(distance, θ), E))
        assert piston.b == pytest.approx(slope(partial(distance, e=E), θ), rel=1e-9, abs=1e-15)


ONE = Piston(0.3, 7.1e-3, -0.8, 2.5e-4)
TWO = Piston(-0.02, 7.9e-3, 0.6, -1.5e-4)


def test_what_a_piston_holds_sweeps_and_asks():
    assert PUMP.volume(7.1e-3) == pytest.approx(3e-5 * 1.6e-3, abs=1e-15)
    assert PUMP.swept(ONE, 0.05) == pytest.approx(3e-5 * (-0.04 + 0.0625), abs=1e-15)
    assert PUMP.force([ONE, TWO], [4e5, 9e5]) == pytest.approx(3e-5 * (-3.2e5 + 5.4e5))
    assert PUMP.torque([ONE, TWO], [4e5, 9e5]) == pytest.approx(-3e-5 * (100.0 - 135.0))
    assert PUMP.A_0 == pytest.approx(pi * 1.7e-3**2, abs=1e-15)


def test_a_piston_changes_ports_while_its_sine_passes_zero():
    """Within ±ε by the smoothstep of ½ (1 + sin θ/ε)."""
    z = 0.5 * (1 - 0.02 / 0.07)
    part = 3 * z**2 - 2 * z**3
    assert PUMP.share(TWO) == pytest.approx(part) and PUMP.share(ONE) == 1.0
    assert PUMP.share(Piston(-0.3, 0, 0, 0)) == 0.0
    found = PUMP.at_ports([ONE, TWO], 20e5, 5e5)
    assert found == pytest.approx([20e5, 5e5 + part * 15e5])


def test_what_pistons_deliver_through_their_ports():
    """Turning by the side the piston is on; what the ring's motion shifts is shared as its pressure is."""
    part = PUMP.share(TWO)
    turned = [-3e-5 * 250 * 2.5e-4, 3e-5 * 250 * 1.5e-4]
    shifted = [3e-5 * 0.05 * 0.8, -3e-5 * 0.05 * 0.6]
    found = PUMP.delivery([ONE, TWO], RATE)
    wanted = [turned[0] + shifted[0] + part * shifted[1], turned[1] + (1 - part) * shifted[1]]
    assert [float(v) for v in found] == pytest.approx(wanted, abs=1e-15)


def test_averages_over_a_revolution():
    """Flow and force are means of what ideal pistons do; the loss is decompression and leakage of the delivering half."""
    many = replace(PUMP, N=1, ε=1e-9)
    turns = (np.arange(400) + 0.5) * pi / 200
    each = [many.pistons(t, E) for t in turns]
    flow = np.mean([many.delivery(p, 0.0)[1] for p in each])
    assert many.mean_flow(E) == pytest.approx(flow, rel=2e-3)
    assert PUMP.mean_flow(E) == pytest.approx(5 * 3e-5 * 250 * 3e-4 / pi, abs=1e-15)
    V_max = 3e-5 * (8e-3 + 3e-4 - 5.5e-3)
    for e in (E, -E):
        lost = 5 * 250 / (2 * pi) * V_max / 9e8 * (7e5 - 60e5) - 2.5 * 3e-14 * 60e5
        assert PUMP.mean_loss(e, 60e5, 9e8) == pytest.approx(lost, abs=1e-15)
    assert PUMP.mean_force(E, 20e5, 5e5) == pytest.approx(-5 * 3e-5 / 4 * 25e5 * 3e-4 / 8e-3)
    force = np.mean([many.force(p, many.at_ports(p, 20e5, 5e5)) for p in each])
    own = many.mean_force(E, 20e5, 5e5)
    assert force == pytest.approx(own, rel=2e-3)


def test_a_pump_without_numbers_is_the_published_one():
    """[Alfayad16] Table 1; ε and the leakage of a piston are ours."""
    own = RadialPump()
    assert own.S_p == pytest.approx(0.197e-4, abs=1e-15)
    assert (own.R_b, own.l_p, own.d, own.r_rp) == (7.3e-3, 2.7e-3, 4e-3, 2e-3)
    assert own.ω == pytest.approx(3000 / 60 * 2 * pi) and (own.P_rp, own.N) == (10e5, 15)
    assert (own.k_p, own.ε) == (1e-14, 0.05)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"R_b": 5.5e-3}, "R_b: 0.0055 m leaves no chamber; it must exceed l_p + d = 0.0055 m"),
        ({"N": 0}, "N: 0 pistons; at least one is needed"),
    ],
)
def test_pumps_that_cannot_be(change, said):
    with pytest.raises(InputError) as refused:
        replace(PUMP, **change)
    assert refused.value.message == said
    assert replace(PUMP, R_b=5.5001e-3, N=1).N == 1


# ---- valves ---------------------------------------------------------------------------------------------------------------
VALVE = MicroValve(r_tig=3e-3, f_w=0.2, P_s=12e5, width=5e3)


def test_the_micro_valve():
    """Q = c f_w 2π r x q(P_s/2 − sgn(x) ζ)."""
    c = 0.03
    gain = c * 0.2 * 2 * pi * 3e-3
    assert VALVE.gain(c) == pytest.approx(gain)
    for x, ζ in ((2e-5, 3e5), (-3e-5, 3e5), (2e-5, -1e5), (-3e-5, 8e5)):
        drop = 6e5 - np.sign(x) * ζ
        root = drop / (drop**2 + 25e6) ** 0.25
        assert VALVE.flow(c, x, ζ) == pytest.approx(gain * x * root, abs=1e-15)
    own = MicroValve()
    assert (own.r_tig, own.f_w, own.P_s, own.width) == (2.5e-3, 0.18, 10e5, 1e3)


WAYS = Distributor(E_d=5e-6, w=2e-6)
step = lambda z: 3 * z**2 - 2 * z**3


@pytest.mark.parametrize(
    "e, A, B, intake_1, intake_2",
    [
        (5.5e-6, step(0.25), 0, 1, 0),
        (4.5e-6, 0, 0, 1, 1 - step(0.75)),
        (-5.5e-6, 0, step(0.25), 0, 1),
        (-4.5e-6, 0, 0, 1 - step(0.75), 1),
        (1e-6, 0, 0, 1, 1),
        (9e-6, 1, 0, 1, 0),
    ],
)
def test_ways_of_the_distributor(e, A, B, intake_1, intake_2):
    assert tuple(map(float, WAYS.ways(e))) == pytest.approx((A, B, intake_1, intake_2))


def test_where_a_way_starts_or_ends_to_open():
    edges = WAYS.edges()
    assert edges == pytest.approx([-7e-6, -5e-6, -3e-6, 3e-6, 5e-6, 7e-6], abs=1e-15)
    own = Distributor()
    assert (own.E_d, own.w) == (4e-6, 2e-6)
    assert Distributor(5e-6, 4.99e-6).w == 4.99e-6
    with pytest.raises(InputError, match="w: 5e-06 m does not fit into the overlap E_d = 5e-06 m"):
        Distributor(5e-6, 5e-6)


# ---- ends -----------------------------------------------------------------------------------------------------------------
def test_a_smooth_step():
    assert [float(smoothstep(z)) for z in (-0.3, 0.0, 0.25, 0.6, 1.0, 1.7)] == pytest.approx(
        [0.0, 0.0, 0.15625, 0.648, 1.0, 1.0]
    )


STOP = EndStop(0.02, 3e6, 8.0)


@pytest.mark.parametrize(
    "z, rate, force",
    [
        (0.021, 0.05, -3e3 * 1.4),
        (0.021, -0.05, -3e3 * 0.6),
        (0.021, -0.2, 0.0),
        (-0.023, 0.05, 9e3 * 0.6),
        (-0.023, -0.05, 9e3 * 1.4),
        (-0.023, 0.2, 0.0),
        (0.019, 0.3, 0.0),
        (-0.019, -0.3, 0.0),
    ],
)
def test_a_stop_pushes_and_never_pulls(z, rate, force):
    assert STOP.force(z, rate) == pytest.approx(force)


def test_a_stop_stores_what_its_spring_takes():
    assert [STOP.stored(z) for z in (0.021, -0.023, 0.019)] == pytest.approx([1.5, 13.5, 0.0])
    assert (EndStop(0.1).k, EndStop(0.1).c) == (1e8, 10.0)


def test_ends_of_sizes():
    """A factor of ten beyond what is built: 15 m, 60000 l/min, 0.1 bar to 10000 bar."""
    assert (sizes.length.low, sizes.length.high) == (0.0, 15.0)
    assert (sizes.flow.low, sizes.flow.high) == (0.0, 60000 / 60e3)
    assert (sizes.pressure.low, sizes.pressure.high) == (0.1e5, 10000e5)
    assert sizes.length.strict and sizes.flow.strict and sizes.pressure.strict
    assert sqrt(sizes.pressure.low * sizes.pressure.high) == pytest.approx(10**6.5)
