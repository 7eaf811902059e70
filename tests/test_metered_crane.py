"""A crane behind metering valves: mechanics, circuit, rest, energy, what the oil's spring is, and the loop from both sides."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plants import MeteredCrane, machine
from plants.valve_circuits import Λ, Openings, Pump
from workbench import InputError, changed, load, simulate, verify
from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.numerics.calculus import directional
from workbench.verification import claims as C

EXAMPLE = Path(__file__).parents[1] / "examples" / "hiab-imv.yaml"
HIAB = machine("hiab-xs031").plant
CRANE = MeteredCrane(
    changed(HIAB, {"payload.mass": 40.0, "all.friction.b": 2100.0}),
    P_hM=231e5,
    P_rM=217e5,
    u_b=0.03,
    τ=8e-3,
)
BRISTLES = MeteredCrane(changed(HIAB, {"extension.friction": {"law": "LuGre"}}))


def drawn(rng, plant=CRANE):
    """A moving state around the start, and commands of either sign, some of them shut."""
    n, x = plant.n, np.array(plant.initial())
    x[:n] += rng.normal(size=n) * 0.1
    x[n : 2 * n] = rng.normal(size=n) * 0.2
    at = plant.crane.cylinder_motion(list(x[:n]), [0.0] * n)[0]
    x[2 * n : 3 * n] = np.array(at, float) + rng.normal(size=n) * 5e-3
    x[3 * n] *= rng.uniform(0.2, 1.05)
    x[3 * n + 1 :] = rng.normal(size=x.size - 3 * n - 1) * 1e-5
    u = [
        *np.clip(rng.normal(size=n), -1, 1) * rng.choice([0.0, 1.0], n, p=[0.2, 0.8]),
        *rng.normal(size=3) * 300,
    ]
    return [float(v) for v in x], [float(v) for v in u]


def test_rods_move_as_the_circuit_says_and_joints_as_the_crane_says():
    """ṗ is Λ by compiled roots, of a pump that holds P whatever is taken; q̈ the crane's for those forces; Ṗ what flow is left."""
    rng = np.random.default_rng(1)
    for _ in range(25):
        x, u = drawn(rng)
        rate, n = CRANE.rhs(0.0, x, u), CRANE.n
        at, xd, _ = CRANE.crane.cylinder_motion(x[:n], x[n : 2 * n])
        K = np.array(CRANE.stiffness())
        B = CRANE.τ * K
        held = K * (np.array(x[2 * n : 3 * n]) - at) - B * np.array(xd)
        P = x[3 * n]
        v = Λ(
            replace(CRANE.circuit, pump=Pump(10.0, P)),
            tuple(map(Openings.command, u[:n])),
            0.0,
            B,
            held,
        )
        assert [float(w) for w in rate[2 * n : 3 * n]] == pytest.approx(list(v), abs=1e-8)
        rub = [c.friction.force(w, []) for c, w in zip(CRANE.cylinders, xd)]
        qdd = CRANE.crane.forward_dynamics(
            x[:n], x[n : 2 * n], held + B * v - rub, None, (u[n:], [0.0] * 3)
        )
        assert [float(a) for a in rate[n : 2 * n]] == pytest.approx(
            [float(a) for a in qdd], rel=1e-6, abs=1e-4
        )


def test_it_stands_where_it_is_put():
    for plant in (CRANE, BRISTLES):
        x, n = plant.initial(), 3 * plant.n
        rate = np.abs(np.array(plant.rhs(0.0, x, [0.0] * 6), float))
        assert rate[:n].max() < 1e-9 and rate[n] < 1e-10 * x[n]
    P, bled = CRANE.idle(), replace(CRANE, u_b=0.4).idle()
    Q, P_M, k_b = CRANE.supply
    assert k_b * P**0.5 + CRANE.G * (P - P_M) == pytest.approx(Q, rel=1e-12) and P > P_M
    assert bled < P_M and 0.4 * CRANE.pump.c_b * bled**0.5 == pytest.approx(Q, rel=1e-12)


def test_spring_is_the_shut_cylinders_oil():
    """K from the crane's own pressure equations: dF/dx of a shut cylinder at half stroke."""
    for c, K in zip(CRANE.cylinders, CRANE.stiffness()):
        shut = replace(c, c_i=0.0, c_e=0.0)
        rates = shut.pressure_rates(CRANE.crane.oil, 0.5 * c.stroke, 1.0, 90e5, 60e5, 0.0, 0.0)
        assert K == pytest.approx(-shut.force(*rates), rel=1e-12)


def test_sections_are_the_servo_valves_orifices():
    section = CRANE.circuit.sections[0]
    valve, p = CRANE.cylinders[0].valve, 60e5
    Q_a, Q_b = valve.flows(valve.u_max, 0.0, p, 175e5, 0.0)
    assert section.c_ph * 175e5**0.5 == pytest.approx(
        Q_a, rel=1e-6
    ) and -section.c_tr * p**0.5 == pytest.approx(Q_b, rel=1e-6)
    Q_a, Q_b = valve.flows(-valve.u_max, p, 0.0, 175e5, 0.0)
    assert -section.c_th * p**0.5 == pytest.approx(
        Q_a, rel=1e-6
    ) and section.c_pr * 175e5**0.5 == pytest.approx(Q_b, rel=1e-6)


@pytest.mark.parametrize("plant", [CRANE, BRISTLES], ids=["static friction", "bristles"])
def test_energy_at_random_states(plant):
    rng = np.random.default_rng(2)
    for _ in range(8):
        x, u = drawn(rng, plant)
        (change,) = directional(lambda s, u=u: [plant.stored(0.0, s, u)], x, plant.rhs(0.0, x, u))
        powers = dict(zip(plant.power_names, map(float, plant.powers(0.0, x, u)), strict=True))
        assert sum(powers.values()) == pytest.approx(
            float(change), abs=1e-9 * sum(map(abs, powers.values()))
        )
        assert all(
            p <= 1e-6 * powers["pump"] for name, p in powers.items() if name not in ("pump", "tip")
        )


def test_velocity_gain_is_that_of_an_unloaded_rod():
    """The mean of Λ under no force at full opening, from a pump that keeps its pressure."""
    strong = replace(CRANE, pump=replace(CRANE.pump, Q=1.0), u_b=0.0, P_hM=9e7, P_rM=9e7)
    for k, gain in enumerate(strong.velocity_gains):
        ways = [
            tuple(Openings.command(s if j == k else 0.0) for j in range(3)) for s in (1.0, -1.0)
        ]
        out, back = (Λ(strong.circuit, w, 0.0, [1e-3] * 3, [0.0] * 3)[k] for w in ways)
        assert 0.5 * (out - back) == pytest.approx(gain, rel=1e-6)


# ---- the loop ------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def case():
    return load(EXAMPLE)


@pytest.mark.long
def test_example_holds(case):
    found = {v.key: (v.holds, v.strength) for v in verify(case.loop, case.scenario, case.claims)}
    assert found == {
        "practical-stability": (True, "sampled"),
        "machine-limits": (True, "sampled"),
        "sample-time-limit": (True, "sampled"),
        "tracking": (True, "sampled"),
        "saturation": (True, "sampled"),
        "settled": (True, "sampled"),
        "energy-balance": (True, "numerical"),
        "pressures": (True, "sampled"),
        "no-cavitation": (True, "sampled"),
        "valve-losses": (True, "numerical"),
        "unique-velocity": (True, "proof"),
        "incremental-passivity": (True, "proof"),
        "holds-weight": (True, "numerical"),
    }


@pytest.mark.parametrize(
    "plant, controller, key",
    [
        ({"payload.mass": "150 kg"}, {}, "tracking"),
        ({"all.valve.c_p1": 3e-9, "all.valve.c_n2": 3e-9}, {}, "tracking"),
        ({"pump.P_M": "120 bar"}, {}, "tracking"),
        ({}, {"K_p": (0.5,), "K_v": (0.0,)}, "tracking"),
    ],
    ids=["overload", "narrow valves", "weak pump", "weak gain"],
)
@pytest.mark.long
def test_planted_faults_are_refused(case, plant, controller, key):
    law = replace(case.loop.controller, inner=replace(case.loop.controller.inner, **controller))
    loop = replace(case.loop, plant=changed(case.plant, plant), controller=law)
    asked = [c for c in case.claims if not isinstance(c, C.SampleTimeLimit)]
    found = {v.key: v.holds for v in verify(loop, case.scenario, asked)}
    assert found[key] is False


def test_run_is_within_what_the_circuit_allows(case):
    log = simulate(case.loop, case.scenario)
    assert 0 < log.array("P").min() and log.array("P").max() <= case.plant.idle() * (1 + 1e-3)
    for name, c in zip(case.plant.labels, case.plant.cylinders):
        h, r, f = (log.array(f"{key}_{name}") for key in ("P_h", "P_r", "f"))
        assert c.A_a * h - c.A_b * r == pytest.approx(f, abs=1e-3) and min(h.min(), r.min()) > -1.0
    flow = sum(log.array(f"Q_p_{k}") for k in case.plant.labels)
    assert flow.min() >= 0.0 and flow.max() > 1e-4


@pytest.mark.parametrize(
    "line, words",
    [
        ("of: hiab-xs032", "hiab-xs031"),
        ("of: ieha-figures", "Manipulator"),
        ("of: hiab-xs031\n  u_b: 1.3", "between 0 and 1"),
        ("of: hiab-xs031\n  P_hM: 0 bar", "greater than zero"),
        ("u_b: 0.1", "crane"),
    ],
)
def test_refused_with_its_line(line, words):
    with pytest.raises(InputError) as refusal:
        loads(f"plant:\n  type: MeteredCrane\n  {line}\n", "crane.yaml")
    assert "crane.yaml" in str(refusal.value) and words in str(refusal.value)


def test_names_are_told_apart():
    assert (
        len(set(names(CRANE.states))) == 10
        and "x_1" in names(CRANE.outputs)
        and len(names(BRISTLES.states)) == 11
    )


def test_friction_at_rest_is_followed():
    """Coulomb friction is steep at rest for every joint: 1 ms is far beyond what an explicit step bears, and energy shows it."""
    case = loads("plant: {type: MeteredCrane, of: hiab-xs031}\nscenario: {duration: 3 s}\n")
    log = simulate(case.loop, case.scenario)
    stored, brought = (
        log.array("E_stored"),
        sum(log.array(f"E_{name}") for name in case.plant.power_names),
    )
    assert np.abs(stored - stored[0] - brought).max() < 1e-9 * log.array("E_pump")[-1]
    assert np.abs(log.array("dq_1")).max() < 1e-9
