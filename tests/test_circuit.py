"""The throttled circuit: its laws one by one against plain arithmetic, its energy, what it refuses."""

from dataclasses import replace
from math import copysign, pi, sqrt

import numpy as np
import pytest
from draws import apart

from plants import BengisuAkay, BrownMcPhee, Frictionless, LuGre, ModifiedLuGre, ThrottledCircuit
from workbench import InputError
from workbench.numerics.calculus import directional

RUBBING = dict(F_c=217.0, F_s=311.0, v_s=7e-3, b=290.0)
LAWS = {
    "none": Frictionless(),
    "Bengisu–Akay": BengisuAkay(ξ=180.0, **RUBBING),
    "Brown–McPhee": BrownMcPhee(**RUBBING),
    "LuGre": LuGre(σ_0=5e6, σ_1=1.7e4, **RUBBING),
    "modified LuGre": ModifiedLuGre(σ_0=5e6, σ_1=1.7e4, v_b=0.03, **RUBBING),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
ODD = ThrottledCircuit(
    p_P=8.3e6,
    p_T=0.23e6,
    p_30=3.1e6,
    B_oil=1.31e9,
    B_h=0.17e9,
    B_c=21e9,
    V_h1=3.3e-5,
    V_h2=5.9e-5,
    V_h3=8.7e-5,
    bore=0.071,
    rod=0.029,
    s_0=1.61,
    l_20=0.37,
    l_30=0.53,
    Q_n=5.3e-4,
    Δp_n=31e5,
    U_max=9.1,
    τ=6.1e-3,
    d_t=5.3e-3,
    C_d=0.71,
    ρ=871.0,
    p_l=2.7e5,
    friction=Frictionless(),
)


def states(rng, law, n=1):
    """Random states of a circuit with that law: spool either way, drops over and below the laminar limit, flow both ways."""
    for _ in range(n):
        p = rng.uniform(0.1e6, 8.5e6, 3)
        if rng.random() < 0.3:
            p[1] = p[0] + rng.normal() * 1e5
        memory = [rng.normal() * 2e-5, rng.uniform(0, 0.2)][: len(law.states("c"))]
        yield [*map(float, p), float(rng.uniform(-9, 9)), *map(float, memory)]


# ---- laws -------------------------------------------------------------------------------------------------------------
def test_effective_bulk_modulus_is_that_of_oil_and_walls_in_series():
    c = ODD
    A_2, A_3 = pi / 4 * 0.071**2, pi / 4 * (0.071**2 - 0.029**2)
    for s in (1.3, 1.61, 1.9):
        tubes = (0.0, A_2 * (0.37 + s - 1.61), A_3 * (0.53 - s + 1.61))
        for V, K, V_h, tube in zip(c.volumes(s), c.compliances(s), (3.3e-5, 5.9e-5, 8.7e-5), tubes):
            assert V == pytest.approx(V_h + tube, rel=1e-14)
            B_e = 1.0 / (1.0 / 1.31e9 + V_h / (V * 0.17e9) + tube / (V * 21e9))
            assert V / K == pytest.approx(B_e, rel=1e-13) and B_e < 1.31e9


def test_a_chamber_grows_as_the_piston_leaves_it():
    """dV_2/dt = +A_2 ṡ, dV_3/dt = −A_3 ṡ: (43) needs it; (44) as printed has both signs reversed."""
    (dV_1, dV_2, dV_3) = directional(lambda s: list(ODD.volumes(s[0])), [1.5], [0.3])
    assert (dV_1, dV_2, dV_3) == pytest.approx((0.0, 0.3 * ODD.A_2, -0.3 * ODD.A_3))


def by_hand(c, x):
    """Q_d1, Q_t, Q_3d (15), (17) with branches, every edge on its own."""

    def v(dp):
        return copysign(sqrt(abs(dp)), dp) if abs(dp) >= c.p_l else dp / sqrt(c.p_l)

    p_1, p_2, p_3, U = x[:4]
    C_vd, C_vt = c.Q_n / (c.U_max * sqrt(c.Δp_n)), c.C_d * (pi / 4 * c.d_t**2) * sqrt(2 / c.ρ)
    if U > 0:
        return C_vd * U * v(c.p_P - p_1), C_vt * v(p_1 - p_2), C_vd * U * v(p_3 - c.p_T)
    return C_vd * U * v(p_1 - c.p_T), C_vt * v(p_1 - p_2), C_vd * U * v(c.p_P - p_3)


@pytest.mark.parametrize("seed", range(3))
def test_flows_and_rates_against_plain_branches(seed):
    rng, s, sdot, U_ref = np.random.default_rng(seed), 1.47, -0.061, 3.3
    seen = set()
    for x in states(rng, ODD.friction, 40):
        Q = by_hand(ODD, x)
        found = ODD.flows(x)
        assert (found.in_1, found.throttle, found.out_3) == pytest.approx(Q, rel=1e-13, abs=1e-18)
        K = ODD.compliances(s)
        assert ODD.rates(x, s, sdot, [U_ref]) == pytest.approx(
            [
                (Q[0] - Q[1]) / K[0],
                (Q[1] - ODD.A_2 * sdot) / K[1],
                (ODD.A_3 * sdot - Q[2]) / K[2],
                (U_ref - x[3]) / 6.1e-3,
            ],
            rel=1e-12,
        )
        assert ODD.force(x, s, sdot) == pytest.approx(ODD.A_2 * x[1] - ODD.A_3 * x[2], rel=1e-13)
        seen.add((x[3] > 0, Q[0] > 0, Q[1] > 0, abs(x[0] - x[1]) < ODD.p_l))
    assert len(seen) > 6  # spool both ways, flow both ways, laminar and not


def test_laminar_zone_is_linear_and_meets_the_root():
    assert ODD.laminar_root(0.0) == 0.0 and ODD.laminar_root(1.3e5) == pytest.approx(
        2 * ODD.laminar_root(0.65e5)
    ) == -ODD.laminar_root(-1.3e5)
    assert ODD.laminar_root(2.7e5) == pytest.approx(sqrt(2.7e5), rel=1e-14) and ODD.laminar_root(
        9e5
    ) == pytest.approx(sqrt(9e5), rel=1e-14)


def test_published_constants():
    """C_vd, C_vt and the areas as derived from the sources of the shipped numbers."""
    c = ThrottledCircuit()
    assert c.C_vd == pytest.approx(2.138e-8, rel=1e-3) and c.C_vt == pytest.approx(
        1.097e-6, rel=1e-3
    )
    assert c.A_2 == pytest.approx(5.0265e-3, rel=1e-4) and c.A_3 == pytest.approx(
        4.0644e-3, rel=1e-4
    )
    assert c.τ == pytest.approx(1 / (2 * pi * 35), rel=1e-14)


# ---- energy -----------------------------------------------------------------------------------------------------------
@every_law
def test_powers_are_the_change_of_stored_energy_and_the_work(law):
    c, rng = replace(ODD, friction=law), np.random.default_rng(5)
    for x in states(rng, law, 12):
        s, sdot, u = (
            float(rng.uniform(1.3, 2.0)),
            float(rng.normal() * 0.05),
            [float(rng.uniform(-9, 9))],
        )
        rates = c.rates(x, s, sdot, u)
        (change,) = directional(lambda z: [c.stored(z[1:], z[0])], [s, *x], [sdot, *rates])
        powers = c.powers(x, s, sdot, u)
        size = np.abs([*powers, change]).sum()
        assert sum(powers) == pytest.approx(change + c.force(x, s, sdot) * sdot, abs=1e-13 * size)
        _, _, valve, throttle, _, _ = powers
        assert valve <= 0 and throttle <= 0 and len(powers) == len(c.power_names())


def test_a_missing_term_would_show():
    x, s, sdot, u = [3e6, 2.8e6, 3.3e6, 4.0], 1.5, 0.06, [5.0]
    powers = ODD.powers(x, s, sdot, u)
    (change,) = directional(
        lambda z: [ODD.stored(z[1:], z[0])], [s, *x], [sdot, *ODD.rates(x, s, sdot, u)]
    )
    size = np.abs(powers).sum()
    for k, power in enumerate(powers):
        if power != 0:
            assert abs(sum(powers) - power - change - ODD.force(x, s, sdot) * sdot) > 1e-6 * size, k


# ---- as a component ---------------------------------------------------------------------------------------------------
@every_law
def test_same_text_on_floats_and_expressions(law):
    c = replace(ODD, friction=law)
    for x in states(np.random.default_rng(6), law, 4):
        everything = lambda c, x, u: [
            *c.rates(x, 1.5, 0.06, u),
            c.force(x, 1.5, 0.06),
            c.stored(x, 1.5),
            *c.powers(x, 1.5, 0.06, u),
        ]
        assert apart(c, everything, x, [3.1]) < 1e-12


@every_law
@pytest.mark.parametrize("label", ("", "lift"))
def test_signals_fit_the_equations(law, label):
    c = replace(ODD, friction=law)
    x = c.initial(1.5, 700.0)
    names = [s.name for s in (*c.states(label), *c.inputs(label))]
    assert len(names) == len(set(names)) == len(x) + 1 and all(n.endswith(label) for n in names)
    assert c.force(x, 1.5, 0.0) == pytest.approx(700.0, rel=1e-12)
    assert c.rates(x, 1.5, 0.0, [0.0])[:4] == pytest.approx([0.0] * 4, abs=1e-9)
    assert len(c.power_names(label)) == len(c.powers(x, 1.5, 0.0, [0.0]))


def test_what_is_refused():
    for change, words in (
        ({"rod": 0.071}, "not thinner"),
        ({"V_h1": 0.0}, "V_h1.*greater than zero"),
        ({"l_20": -0.1}, "l_20"),
        ({"l_20": 0.1, "l_2min": 0.2}, "l_20: 0.1 m at s_0 is shorter than l_2min"),
        ({"V_h2": 0.0}, "V_h2: .* the volume at the piston vanishes"),
        ({"V_h3": 0.0}, "V_h3: .* the volume at the rod vanishes"),
        ({"l_2min": 0.37, "l_3min": 0.53}, "leave no stroke"),
        ({"τ": 0.0}, "τ"),
        ({"B_oil": float("nan")}, "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(ODD, **change)
    for s, force, words in (
        (1.2, 0.0, "reaches from 1.24 m to 2.14 m"),
        (2.2, 0.0, "at s = 2.2 m"),
        (1.5, -4e4, "takes p_2 = -"),
    ):
        with pytest.raises(InputError, match=words):
            ODD.initial(s, force)


def test_a_cylinder_may_start_retracted_and_have_chambers_longer_than_its_stroke():
    """A log crane's lift cylinder: 0.82 m closed, 0.535 m of stroke, chambers s − 0.535 m and 1.355 m − s long."""
    lift = replace(
        ThrottledCircuit(), s_0=0.82, l_20=0.285, l_2min=0.285, l_30=0.535, V_h2=0.0, bore=0.1
    )
    lift.check_pins("drive")
    assert lift.range == pytest.approx((0.82, 1.355)) and lift.stroke == pytest.approx(0.535)
    x = lift.initial(0.82, 1e4)
    assert np.isfinite([float(v) for v in lift.rates(x, 0.82, 0.0, [1.0])]).all()
    assert lift.volumes(0.82)[1] == pytest.approx(0.285 * lift.A_2)
    with pytest.raises(InputError, match="reaches from 0.82 m"):
        lift.initial(0.8, 1e4)
    with pytest.raises(InputError, match="less than the stroke, 0.82 m") as refusal:
        replace(lift, l_2min=0.0, V_h2=1e-5).check_pins("drive")
    assert "l_2min" in str(refusal.value)
    retracted = replace(ThrottledCircuit(), s_0=1.0, l_20=0.0)
    assert retracted.range == (1.0, 1.5) and retracted.initial(1.0, 700.0)[0] > 0.0
