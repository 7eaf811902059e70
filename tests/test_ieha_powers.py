"""Single powers of the actuator: what one number changes stands in one row, by its closed form, and in no other."""

from dataclasses import replace

import numpy as np
import pytest

from plants.components.friction import LuGre
from plants.components.orifice import root
from plants.ieha import energy
from plants.ieha.actuator import IEHA

KINDS = [("averaged", "closed"), ("averaged", "open"), ("ripple", "open"), ("full", "open")]
KINDS += [("ripple", "closed"), ("full", "closed")]
U = [1.7e-4, 210.0]


def machine(detail="averaged", circuit="closed", **changes):
    areas = {} if circuit == "closed" else {"S_A": 2.9e-4, "S_B": 2.1e-4}
    own = {"b_e": 3.0, "P_T": 2.3e5, "detail": detail, "circuit": circuit, **areas}
    return IEHA(**(own | changes))


def states(plant, count=3):
    """Random states: the carriage to both sides and in the distributor's overlap, pressures off balance, the load moving."""
    rng = np.random.default_rng(12)
    for E in (2.1e-4, -3.3e-4, 6e-6)[:count]:
        n = plant.pump.N if plant.detail == "full" else 0
        yield [
            E,
            rng.normal() * 0.02,
            rng.normal() * 3e5,
            rng.uniform(8e5, 30e5),
            rng.uniform(8e5, 30e5),
            rng.normal() * 0.01,
            rng.normal() * 0.1,
            *rng.uniform(5e5, 30e5, n),
            *rng.normal(size=len(plant.friction.states("Y"))) * 1e-5,
        ]


def told(plant, x, u=U):
    names = plant.power_names
    return dict(zip(names, map(float, plant.powers(0.0017, x, u))))


def changed(plant, x, row, wanted, u=U, **numbers):
    """Only this row changes with these numbers, and by so much."""
    before, after = told(plant, x, u), told(replace(plant, **numbers), x, u)
    size = max(map(abs, before.values()))
    for name in before:
        difference = wanted if name == row else 0.0
        assert after[name] - before[name] == pytest.approx(difference, abs=1e-9 * size), name


@pytest.mark.parametrize("detail, circuit", KINDS)
def test_leaks_and_dampers_stand_in_their_own_rows(detail, circuit):
    plant = machine(detail, circuit)
    for x in states(plant):
        _, Edot, ζ, P_A, P_B, _, Ydot = x[:7]
        own = plant.K_in, plant.K_ex, plant.k_e
        changed(plant, x, "leakage", -2 * own[0] * (P_A - P_B) ** 2, K_in=3 * own[0])
        changed(plant, x, "leakage", -4 * own[1] * (P_A**2 + P_B**2), K_ex=5 * own[1])
        changed(plant, x, "leakage", -4 * own[2] * ζ * ζ, k_e=2 * own[2])
        changed(plant, x, "friction", -8.0 * Edot * Edot, b_e=11.0)
        changed(plant, x, "friction", -90.0 * Ydot * Ydot, b_v=plant.b_v + 90.0)


def test_the_rows_that_nothing_else_enters():
    """Without leaks, dampers and motion of the load those rows are zero; the load is −F_ext Ẏ."""
    bare = machine("averaged", "closed", b_e=0.0, b_v=0.0, K_in=0.0, K_ex=0.0, k_e=0.0)
    bare = replace(bare, pump=replace(bare.pump, k_p=0.0))
    for x in states(bare):
        found = told(bare, x)
        assert found["leakage"] == found["friction"] == found["return"] * 0 == 0.0
        assert found["load"] == pytest.approx(-U[1] * x[6])
        assert told(bare, x, [U[0], 0.0])["load"] == 0.0


def test_friction_of_bristles_takes_its_force_times_the_speed():
    law = LuGre(F_c=40.0, F_s=60.0, v_s=0.02, b=11.0, σ_0=1e6, σ_1=400.0)
    plant = machine("averaged", "closed", friction=law)
    for x in states(plant):
        f_f = float(law.force(x[6], x[-1:]))
        assert told(plant, x)["friction"] == pytest.approx(
            -3.0 * x[1] ** 2 - plant.b_v * x[6] ** 2 - f_f * x[6]
        )


@pytest.mark.parametrize("circuit", ["closed", "open"])
def test_the_micro_valves_supply_and_what_comes_back(circuit):
    """valve: P_s |Q_e| on the side it opens to; return: to the tank at P_T, or what the other chamber gives back."""
    plant = machine("averaged", circuit)
    for x in states(plant):
        E, _, ζ, P_A, P_B = x[:5]
        for X in (E + 5e-5, E - 5e-5):
            Q_e = float(plant.valve.flow(plant.c, X - E, ζ))
            sign = 1.0 if X > E else -1.0
            found = told(plant, x, [X, 0.0])
            assert found["valve"] == pytest.approx(sign * plant.valve.P_s * Q_e)
        made = plant.delivery(0.0017 * plant.pump.ω, x)
        if circuit == "closed":
            wanted = -P_B * made.Q_A - P_A * made.Q_B
        else:
            wanted = -plant.P_T * sum(map(float, plant.to_tank(E, P_A, P_B)))
        assert told(plant, x)["return"] == pytest.approx(wanted, abs=1e-9)
        assert told(plant, x)["shaft"] == pytest.approx(float(made.torque) * plant.pump.ω)


@pytest.mark.parametrize("circuit", ["closed", "open"])
def test_pistons_one_by_one_throttle_and_take_in(circuit):
    """Σ P_rp fed taken in; Σ Δp q throttled at every port, with the micro-valve and the way to the tank; leaks of each."""
    plant = machine("full", circuit)
    for x in states(plant):
        E, Edot, ζ, P_A, P_B, Y, Ydot = x[:7]
        p = x[7 : 7 + plant.pump.N]
        P_rp, k_p = plant.pump.P_rp, plant.pump.k_p
        flows = plant.exchanged(0.0017 * plant.pump.ω, E, P_A, P_B, p)
        fed = sum(float(f[1]) for f in flows)
        ports = sum(
            (P_rp - q) * float(f[1]) + (q - P_A) * float(f[2]) + (q - P_B) * float(f[3])
            for f, q in zip(flows, p)
        )
        found = told(plant, x)
        assert found["intake"] == pytest.approx(P_rp * fed, abs=1e-9)
        Q_e = float(plant.valve.flow(plant.c, U[0] - E, ζ))
        way = plant.valve.P_s * Q_e * (1 if U[0] > E else -1)
        tank = 0.0
        if circuit == "open":
            q_A, q_B = map(float, plant.to_tank(E, P_A, P_B))
            tank = (P_A - plant.P_T) * q_A + (P_B - plant.P_T) * q_B
            area = plant.c * plant.pump.A_0
            ways = plant.distributor.ways(E)
            assert q_A == pytest.approx(ways.B * area * root(P_A - plant.P_T, plant.δ))
            assert q_B == pytest.approx(ways.A * area * root(P_B - plant.P_T, plant.δ))
        assert found["throttling"] == pytest.approx(2 * ζ * Q_e - way - ports - tank)
        leaks = replace(plant, pump=replace(plant.pump, k_p=4 * k_p))
        more = told(leaks, x)
        assert more["leakage"] - found["leakage"] == pytest.approx(
            -3 * k_p * sum(q * q for q in p), rel=1e-6
        )
        walls = sum(q * q * float(plant.pump.swept(f[0], Edot)) for f, q in zip(flows, p))
        φ_A, φ_B = (float(energy.density(plant, P)) for P in (P_A, P_B))
        carried = walls / (2 * plant.oil.β) + (φ_A * plant.S_A - φ_B * plant.S_B) * Ydot
        assert found["carried"] == pytest.approx(carried, rel=1e-9)


@pytest.mark.parametrize("detail", ["averaged", "ripple"])
@pytest.mark.parametrize("circuit", ["closed", "open"])
def test_ideal_pistons_throttle_what_the_line_presses_in(detail, circuit):
    """intake: P_rp of what ports that are not open to A or B take, and of the oil κ (P_rp − P) that fills the chambers up;
    κ (P_rp − P)² and the leak of half the pistons are lost at each delivery pressure."""
    plant = machine(detail, circuit)
    for x in states(plant):
        E, Edot, ζ, P_A, P_B = x[:5]
        pump, ways = plant.pump, plant.distributor.ways(E)
        pistons = pump.pistons(0.0017 * pump.ω, E)
        if detail == "ripple":
            Q_1, Q_2 = map(float, pump.delivery(pistons, Edot))
        else:
            Q_2 = float(pump.mean_flow(E))
            Q_1 = -Q_2
        κ = pump.N * pump.ω / (2 * np.pi) * float(pump.volume(pump.R_b + abs(E))) / plant.oil.β
        pressed = [float(way) * κ * (pump.P_rp - P) for way, P in ((ways.A, P_A), (ways.B, P_B))]
        missed = (1 - float(ways.A)) * Q_2 + (1 - float(ways.B)) * Q_1
        found = told(plant, x)
        assert found["intake"] == pytest.approx(pump.P_rp * (sum(pressed) - missed), rel=1e-9)
        lost = sum(q * (pump.P_rp - P) for q, P in zip(pressed, (P_A, P_B)))
        Q_e = float(plant.valve.flow(plant.c, U[0] - E, ζ))
        tank = 0.0
        if circuit == "open":
            q_A, q_B = map(float, plant.to_tank(E, P_A, P_B))
            tank = (P_A - plant.P_T) * q_A + (P_B - plant.P_T) * q_B
        way = plant.valve.P_s * Q_e * (1 if U[0] > E else -1)
        assert found["throttling"] == pytest.approx(2 * ζ * Q_e - way - lost - tank, rel=1e-9)
        leak = pump.N / 2 * pump.k_p * (float(ways.A) * P_A**2 + float(ways.B) * P_B**2)
        others = 4 * plant.k_e * ζ**2 + plant.K_in * (P_A - P_B) ** 2
        others += plant.K_ex * (P_A**2 + P_B**2)
        assert found["leakage"] == pytest.approx(-leak - others, rel=1e-9)
        if detail == "averaged":
            made = plant.delivery(0.0017 * plant.pump.ω, x)
            assert found["averaging"] == pytest.approx(float(made.F_p) * Edot, rel=1e-9)
        else:
            p_1, p_2 = map(float, plant.port_pressures(P_A, P_B, ways))
            early = sum(
                (float(pump.share(one)) - (1.0 if one.sin > 0 else 0.0)) * float(one.b)
                for one in pistons
            )
            assert found["averaging"] == pytest.approx(
                (p_1 - p_2) * pump.ω * pump.S_p * early, rel=1e-9, abs=1e-12
            )


def test_stops_take_what_their_damping_takes():
    """Beyond an end the stop's force at the speed, less that at rest, times the speed; inside nothing; its spring is stored."""
    plant = machine("averaged", "closed")
    x = list(next(iter(states(plant))))
    assert told(plant, x)["stops"] == 0.0
    beyond = [*x]
    beyond[0], beyond[1] = plant.stop_E.limit + 2e-6, 0.03
    beyond[5], beyond[6] = -plant.stop_Y.limit - 1e-5, -0.2
    stops = ((plant.stop_E, beyond[0], beyond[1]), (plant.stop_Y, beyond[5], beyond[6]))
    wanted = sum((float(s.force(z, v)) - float(s.force(z, 0.0))) * v for s, z, v in stops)
    assert told(plant, beyond)["stops"] == pytest.approx(wanted) and wanted < 0
    inside = [*beyond]
    inside[0], inside[5] = 0.0, -plant.stop_Y.limit
    springs = sum(float(s.stored(z)) for s, z, _ in stops)
    volumes = [plant.volumes(beyond[5]), plant.volumes(inside[5])]
    oil = [
        (V_A * beyond[3] ** 2 + V_B * beyond[4] ** 2) / (2 * plant.oil.β) for V_A, V_B in volumes
    ]
    difference = float(plant.stored(0.0, beyond, U)) - float(plant.stored(0.0, inside, U))
    assert difference == pytest.approx(springs + oil[0] - oil[1], rel=1e-9) and springs > 0


@pytest.mark.parametrize("detail, circuit", KINDS)
def test_what_is_stored_term_by_term(detail, circuit):
    """Masses, the carriage's chambers and the oil of both chambers; the pistons' oil where they are modelled."""
    plant = machine(detail, circuit)
    for x in states(plant, 2):
        E, Edot, ζ, P_A, P_B, Y, Ydot = x[:7]
        V_A, V_B = plant.V_A0 + plant.S_A * Y, plant.V_B0 - plant.S_B * Y
        φ = [P**2 / (2 * plant.oil.β) for P in (P_A, P_B)]
        if circuit == "open":
            φ = [float(plant.oil.energy(P + plant.oil.p_0, plant.oil.p_0)) for P in (P_A, P_B)]
        wanted = 0.5 * plant.m * Ydot**2 + 0.5 * plant.m_e * Edot**2
        wanted += plant.v_e / plant.oil.β * ζ**2 + V_A * φ[0] + V_B * φ[1]
        if detail == "full":
            pistons = plant.pump.pistons(0.0017 * plant.pump.ω, E)
            for one, p in zip(pistons, x[7:]):
                volume = plant.pump.S_p * (float(one.L) - plant.pump.l_p - plant.pump.d)
                wanted += volume * p * p / (2 * plant.oil.β)
        assert float(plant.stored(0.0017, x, U)) == pytest.approx(wanted, rel=1e-9)
