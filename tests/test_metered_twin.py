"""The lumped-pressure twin of metered arms: balances, closed forms, its limit, energy valve by valve, claims and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from plants import Arm, MeteredArms, MeteredTwin
from plants.components.orifice import root
from plants.valve_circuits.circuit import Pump, Section
from reports.studies import metering_gap
from workbench import ClosedLoop, InputError, Scenario, Sine, Steps, simulate, verify
from workbench.cases.file import loads
from workbench.numerics.linearisation import linearize
from workbench.run.energy import energy_account
from workbench.verification import run_claims

TWO = MeteredTwin(
    of=MeteredArms(
        arms=(
            Arm(
                K=3e7,
                section=Section(
                    A_h=0.021,
                    A_r=0.013,
                    P_hM=31e6,
                    P_rM=44e6,
                    c_ph=2.1e-6,
                    c_pr=3.3e-6,
                    c_th=2.7e-6,
                    c_tr=1.9e-6,
                ),
            ),
            Arm("2", L_m=0.7, θ_0=-0.3),
        ),
        pump=Pump(Q=7e-3, P_M=33e6),
        u_b=0.21,
    ),
    β=1.3e9,
    V_h=7e-3,
    V_r=5e-3,
    V_p=2e-3,
    G=1.7e-6,
)
ONE = MeteredTwin()
CLAIMS = (run_claims.EnergyBalance(share=1e-6), run_claims.Pressures(low=-1e5, high=450e5))


def drawn(rng, plant=TWO):
    """A moving state with pressures below the tank's, between, and beyond the reliefs; commands both ways, beyond the ends too."""
    x = np.array(plant.initial())
    n = len(plant.names)
    x[: 3 * n] += np.tile([0.2, 0.1, 1e-3], n) * rng.normal(size=3 * n)
    x[3 * n :] = rng.choice([-1e5, 0.0, 1.0], 2 * n + 1) + rng.uniform(-2e6, 48e6, 2 * n + 1)
    x[-1] = max(x[-1], 0.0)  # a pump's line that its bleed empties stays at the tank's pressure
    return [float(v) for v in x], [
        float(v) for v in (*rng.uniform(-1.3, 1.3, n), *rng.normal(size=n) * 1e4)
    ]


# ---- laws ----------------------------------------------------------------------------------------------------------------------
def test_no_oil_is_lost():
    """What the pump gives is what goes to the tank, what moves the pistons, and what is compressed."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        x, u = drawn(rng)
        rate, P, tank, moved = TWO.rhs(0.0, x, u), x[-1], 0.0, 0.0
        for j, (row, v) in enumerate(zip(TWO.of.rows(u), rate[2:6:3])):
            h, r = x[6 + 2 * j : 8 + 2 * j]
            tank += row[6] * root(h, TWO.w) + row[7] * root(r, TWO.w)
            for p, top in ((h, row[2]), (r, row[3])):
                tank += TWO.G * (max(p - top, 0.0) + min(p, 0.0))
            moved += (row[0] - row[1]) * v
        tank += 0.21 * TWO.of.pump.c_b * root(P, TWO.w) + TWO.G * max(P - 33e6, 0.0)
        squeezed = TWO.V_p / TWO.β * rate[-1] + sum(
            (TWO.V_h, TWO.V_r)[i % 2] / TWO.β * r for i, r in enumerate(rate[6:10])
        )
        assert tank + moved + squeezed == pytest.approx(
            TWO.of.pump.Q, abs=1e-12 * (abs(tank) + abs(moved) + 1e-2)
        )


def test_rods_are_held_by_their_oil():
    """B v + f̄ = A_h P_h − A_r P_r."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        x, u = drawn(rng)
        for j, (a, v) in enumerate(zip(TWO.of.arms, TWO.rhs(0.0, x, u)[2:6:3])):
            h, r = x[6 + 2 * j : 8 + 2 * j]
            f = a.section.A_h * h - a.section.A_r * r
            assert a.B * v + a.held(*x[3 * j : 3 * j + 3]) == pytest.approx(f, rel=1e-9, abs=1e-3)


def test_it_starts_at_rest():
    for plant in (ONE, TWO, replace(ONE, of=MeteredArms(u_b=1.0))):
        x, u = plant.initial(), [0.0] * len(plant.inputs)
        moved = np.array(plant.rhs(0.0, x, u), float)[: 3 * len(plant.names)]
        assert np.abs(moved).max() < 1e-9
    assert ONE.initial()[-1] == ONE.of.pump.P_M


def test_shut_oil_is_a_spring():
    """A push at the tip with valves shut moves the rod by Δf/k_oil and the arm by Δf/K more; both chambers are under pressure."""
    a = ONE.of.arms[0]
    k = metering_gap.oil_stiffness(ONE)
    before, push = 8e6, 3e3
    offset = {"P_h_1": before * a.section.A_r / a.section.A_h, "P_r_1": before}
    log = simulate(ONE, Scenario(8.0, disturbances={"f_ey_1": push}, offset=offset, log_period=1.0))
    θ, l, x, f = (log.array(n) for n in ("θ_1", "l_1", "x_1", "f_1"))
    assert f[-1] == pytest.approx(-a.torque(θ[-1], 0.0, push, 9.8) / a.lever(θ[-1]), rel=1e-6)
    assert x[-1] - x[0] == pytest.approx(-(f[-1] - f[0]) / k, rel=1e-5)
    assert x[-1] - l[-1] == pytest.approx(f[-1] / a.K, rel=1e-5)


def test_its_valves_have_two_slopes_where_they_are_just_shut():
    """Through u_c = 0 each side's rate turns: what one command lets in from the pump, the other lets out to the tank."""
    assert TWO.just_shut == {"u_c_1": 0.0, "u_c_2": 0.0} and MeteredArms().just_shut
    x = list(TWO.initial())
    P, P_h, P_r = 25e6, 9e6, 4e6
    x[6:] = [P_h, P_r, 8e6, 3e6, P]
    s = TWO.of.arms[0].section
    shut = np.array(TWO.rhs(0.0, x, [0.0] * 4), float)
    slopes = []
    for u in (1e-4, -1e-4):
        moved = np.array(TWO.rhs(0.0, x, [u, 0.0, 0.0, 0.0]), float)
        slopes.append(((moved - shut) / u)[6:8])
    β_h, β_r = TWO.β / TWO.V_h, TWO.β / TWO.V_r
    opened, backwards = slopes
    w = TWO.w
    assert opened == pytest.approx(
        [β_h * s.c_ph * root(P - P_h, w), -β_r * s.c_tr * root(P_r, w)], rel=1e-6
    )
    assert backwards == pytest.approx(
        [β_h * s.c_th * root(P_h, w), -β_r * s.c_pr * root(P - P_r, w)], rel=1e-6
    )
    with pytest.raises(InputError, match="cannot linearise"):
        linearize(TWO, x, [0.0] * 4)
    for u in (0.1, -0.1):
        assert np.isfinite(linearize(TWO, x, [u, u, 0.0, 0.0]).A).all()


def test_another_solver_agrees():
    up, end = Steps("output", (0.0, 0.1), (0.0, -0.6)), 0.6
    log = simulate(ONE, Scenario(end, disturbances={"u_c_1": up}, log_period=0.1))
    x = np.array(ONE.initial())
    for t_0, t_1, u in ((0.0, 0.1, 0.0), (0.1, end, -0.6)):
        flow = lambda t, x, u=u: np.array(ONE.rhs(t, x, [u, 0.0]), float)
        x = solve_ivp(flow, (t_0, t_1), x, "Radau", rtol=1e-8, atol=[1e-10] * 3 + [1.0] * 3).y[
            :, -1
        ]
    assert [log.array(n)[-1] for n in ("θ_1", "x_1")] == pytest.approx(x[[0, 2]], abs=1e-7)
    assert [log.array(n)[-1] for n in ("P_h_1", "P_r_1", "P")] == pytest.approx(x[3:], rel=1e-4)


# ---- the limit -----------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def gaps():
    return metering_gap.results(scales=(0.25, 0.125, 0.0625, 0.03125), slopes=(2.5e-7, 5e-7))


def test_gap_is_of_first_order_in_the_oils_compliance(gaps):
    metering_gap.check(gaps)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda g: replace(g, by_β=g.by_β**1.1, by_volume=g.by_β**1.1),
        lambda g: replace(g, by_volume=1.01 * g.by_volume),
        lambda g: replace(g, travel=0.5 * g.travel),
        lambda g: replace(g, resting=g.by_β),
        lambda g: replace(g, by_slope=g.by_slope[::-1]),
        lambda g: replace(g, share=10 * g.share),
    ],
    ids=["order", "volume", "travel", "rest", "slope", "share"],
)
def test_a_wrong_result_is_refused(gaps, spoil):
    with pytest.raises(AssertionError):
        metering_gap.check(spoil(gaps))


# ---- energy and claims ---------------------------------------------------------------------------------------------------------
DRIVEN = {
    "u_c_1": Steps("output", (0.0, 0.2, 0.9, 1.2), (0.0, 0.5, 0.0, -0.7)),
    "u_c_2": Steps("output", (0.0, 0.4, 1.1), (0.0, -0.4, 0.3)),
    "f_ey_1": Sine("output", (0.0,), (8e3,), 0.9),
}


@pytest.fixture(scope="module")
def driven():
    return simulate(TWO, Scenario(2.0, disturbances=DRIVEN))


def test_the_pumps_energy_is_found_again_valve_by_valve(driven):
    flows = {name: driven.array(f"E_{name}") for name in TWO.power_names}
    whole = energy_account(driven.array("E_stored"), flows)
    assert whole.share < 1e-7 and whole.by["pump"] > 1e5
    assert all(
        np.diff(e).max() <= 1e-9 * whole.through
        for name, e in flows.items()
        if name != "pump" and "tip" not in name
    )
    for name in (
        "bleed",
        "relief",
        "ph_1",
        "tr_1",
        "pr_1",
        "th_1",
        "pr_2",
        "th_2",
        "ph_2",
        "tr_2",
        "element_1",
    ):
        assert (
            energy_account(
                driven.array("E_stored"), {k: e for k, e in flows.items() if k != name}
            ).share
            > 1e-4
        ), name


def loop(plant):
    from controllers import OpenLoop

    return ClosedLoop(plant, OpenLoop(plant))


def test_pressures_hold_and_a_sucking_chamber_is_seen():
    """An arm pulled up by its tip with valves shut draws its chamber through the suction check: no cavitation is refused."""
    calm = verify(
        loop(ONE),
        Scenario(1.0, disturbances={"u_c_1": Steps("output", (0.0, 0.2), (0.0, -0.3))}),
        CLAIMS,
    )
    assert [v.holds for v in calm] == [True, True]
    steep = replace(ONE, G=1e-9)  # a check that hardly opens
    torn = verify(loop(steep), Scenario(1.0, disturbances={"f_ey_1": 5e5}), CLAIMS)
    assert [v.holds for v in torn] == [True, False] and "P_" in torn[1].worst
    low = verify(
        loop(ONE),
        Scenario(1.0, disturbances={"u_c_1": 0.4}),
        (run_claims.Pressures(low=-1e5, high=15e5),),
    )
    assert low[0].holds is False and "P_" in low[0].worst


@pytest.mark.parametrize(
    "line, words",
    [
        ("β: 0", "greater than zero"),
        ("V_h: -1 l", "greater than zero"),
        ("G: 0", "than zero"),
        ("of: {u_b: 1.4}", "between 0 and 1"),
        ("β: 3 bar l", "Pa"),
    ],
)
def test_refused_with_its_line(line, words):
    with pytest.raises(InputError) as refusal:
        loads(
            f"plant:\n  type: MeteredTwin\n  {line}\ncontroller: OpenLoop\nloop: {{sample_time: continuous}}\n",
            "twin.yaml",
        )
    assert "twin.yaml" in str(refusal.value) and words in str(refusal.value)
