"""The actuator against its laws, closed forms, the paper's numbers and another solver; planted faults are seen."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from oracles.ieha import Actuator
from scipy.integrate import quad, solve_ivp

from plants import IEHA, LuGre, machine
from plants.components.chamber import Oil
from plants.components.micro_valve import Distributor, MicroValve
from plants.components.radial_pump import RadialPump
from plants.components.transition import EndStop, smoothstep
from plants.ieha.actuator import DETAILS
from workbench import ClosedLoop, Plain, Scenario, Sine, linearize, simulate
from workbench.contract.system import names

FIGURES, CONTROL = machine("ieha-figures").plant, machine("ieha-control").plant
# Numbers of no special size, both circuits.
ODD = IEHA(
    circuit="open",
    S_A=1.9e-4,
    S_B=3.3e-4,
    V_A0=21e-6,
    V_B0=37e-6,
    K_in=3.1e-13,
    K_ex=2.3e-12,
    P_T=0.7e5,
    m=7.3,
    b_v=41.0,
    m_e=0.083,
    S_e=1.51e-4,
    v_e=0.091e-6,
    b_e=3.3,
    k_e=1.7e-12,
    oil=Oil(β=910e6, air=3e-6, width=700.0),
    valve=MicroValve(2.2e-3, 0.31, 8.3e5),
    pump=RadialPump(S_p=0.17e-4, k_p=2.3e-14, ω=271.0, P_rp=7.1e5),
    distributor=Distributor(5e-6, 3e-6),
)
STEP = Scenario(0.1, disturbances={"X": 4e-4}, log_period=1e-3)


def variants(plant, details=DETAILS):
    return [replace(plant, detail=detail) for detail in details]


def random_state(rng, plant):
    """Moving, both ways round, the distributor anywhere."""
    E = rng.choice([1.0, -1.0]) * rng.choice([3e-4, 5e-6, 1e-6]) * rng.uniform(0.5, 1.2)
    rest = rng.uniform(1e5, 9e5, len(plant.states) - 7)
    return [
        E,
        rng.normal() * 0.1,
        rng.normal() * 1e5,
        *rng.uniform(0.5e5, 6e5, 2),
        rng.uniform(-0.03, 0.03),
        rng.normal() * 0.05,
        *rest,
    ]


@cache
def run(which, detail, log_period=1e-3, duration=0.1):
    plant = replace({"figures": FIGURES, "control": CONTROL}[which], detail=detail)
    return simulate(plant, Scenario(duration, disturbances={"X": 4e-4}, log_period=log_period))


# ---- parts, each on its own -------------------------------------------------------------------------------------------
def test_transition_and_stops():
    z = np.linspace(-0.3, 1.3, 9)
    assert (
        np.allclose(smoothstep(z) + smoothstep(1 - z), 1.0)
        and smoothstep(-0.1) == 0
        and smoothstep(1.1) == 1
    )
    assert abs(float(smoothstep(0.25)) - (3 / 16 - 2 / 64)) < 1e-15
    stop = EndStop(0.02, 3e6, 4.0)
    assert stop.force(0.019, 9.0) == 0 and abs(stop.force(0.021, 0.1) + 3e3 * 1.4) < 1e-9
    assert (
        abs(stop.force(-0.021, 0.1) - 3e3 * 0.6) < 1e-9 and stop.force(0.021, -1.0) == 0
    )  # it pushes, never pulls
    assert abs(quad(lambda s: -stop.force(s, 0.0), 0.02, 0.023)[0] - stop.stored(0.023)) < 1e-9


def test_geometry_of_a_piston():
    """(5) is a ring of radius R_b with its centre at −E; (6) by finite differences."""
    pump, E, t = ODD.pump, 3.7e-4, 1.3e-3
    for i, piston in enumerate(pump.pistons(pump.ω * t, E)):
        θ = pump.ω * t + 2 * np.pi * i / 15
        assert abs(piston.sin - np.sin(θ)) < 1e-12
        x, y = piston.L * np.cos(θ) + E, piston.L * np.sin(θ)
        assert abs(np.hypot(x, y) - pump.R_b) < 1e-15
        L = lambda E, θ: np.sqrt(pump.R_b**2 - (E * np.sin(θ)) ** 2) - E * np.cos(θ)
        assert abs(piston.a - (L(E + 1e-7, θ) - L(E - 1e-7, θ)) / 2e-7) < 1e-7
        assert abs(piston.b - (L(E, θ + 1e-5) - L(E, θ - 1e-5)) / 2e-5) < 1e-9
        assert (
            abs(pump.swept(piston, 0.3) - pump.S_p * (0.3 * piston.a + pump.ω * piston.b)) < 1e-18
        )


def test_only_the_delivering_half_counts():
    """Over all pistons the flow of (3) is zero on average; that of one port is (8) with ω/2π."""
    pump, E = ODD.pump, 3.7e-4
    times = np.linspace(0, 2 * np.pi / pump.ω, 6000, endpoint=False)
    ports = np.array(
        [[float(q) for q in pump.delivery(pump.pistons(pump.ω * t, E), 0.0)] for t in times]
    )
    assert abs(ports.sum(axis=1)).max() < 1e-2 * pump.mean_flow(E)
    mean = ports.mean(axis=0)
    assert (
        abs(mean[1] / pump.mean_flow(E) - 1) < 1e-6 and abs(mean[0] / pump.mean_flow(E) + 1) < 1e-6
    )
    assert (
        abs(pump.mean_flow(E) - pump.N * (2 * E * pump.S_p) * pump.ω / (2 * np.pi)) < 1e-18
    )  # 2 E S_p a turn, (7)
    assert abs(CONTROL.pump.mean_flow(4e-4) - 11.82e-6) < 5e-9  # not 2π times as much


def test_force_on_the_ring_is_the_shafts_virtual_work():
    """Pressures do the same work through E and θ as on the volumes; averages over a revolution."""
    rng, pump, E = np.random.default_rng(3), ODD.pump, -2.9e-4
    p = rng.uniform(1e5, 9e5, 15)
    pistons, Edot = pump.pistons(2.1e-3 * pump.ω, E), 0.17
    work = sum(p_i * pump.swept(piston, Edot) for p_i, piston in zip(p, pistons))
    assert abs(
        pump.force(pistons, p) * Edot - pump.torque(pistons, p) * pump.ω - work
    ) < 1e-9 * abs(work)
    times = (np.arange(6000) + 0.5) / 6000 * 2 * np.pi / pump.ω
    force, torque = [], []
    for t in times:
        pistons = pump.pistons(pump.ω * t, E)
        p = [6e5 if piston.sin > 0 else 2e5 for piston in pistons]
        force.append(pump.force(pistons, p))
        torque.append(pump.torque(pistons, p))
    assert abs(np.mean(force) / pump.mean_force(E, 6e5, 2e5) - 1) < 2e-3
    assert abs(np.mean(torque) / (pump.mean_flow(E) * (2e5 - 6e5) / pump.ω) - 1) < 1e-5


@pytest.mark.long
def test_ripple_of_an_odd_number_of_pistons():
    """1500 Hz and 0.61 % peak to peak at 3000 rpm: 1 − cos(π/2N) about the mean, with 15 pistons."""
    pump = CONTROL.pump
    t = np.linspace(0, 1 / 50, 12000, endpoint=False)
    Q = np.array(
        [float(pump.delivery(pump.pistons(pump.ω * at, 1e-6), 0.0)[1]) for at in t]
    )  # E ≪ R_b: pure harmonic pistons
    ripple = (Q.max() - Q.min()) / Q.mean()
    closed = np.pi / 30 * (1 / np.sin(np.pi / 30) - 1 / np.tan(np.pi / 30))
    assert abs(ripple / closed - 1) < 1e-3 and abs(ripple - 0.0055) < 1e-4
    lines = np.abs(np.fft.rfft(Q - Q.mean()))
    assert np.argmax(lines) * 50 == 1500
    Q = np.array(
        [float(pump.delivery(pump.pistons(pump.ω * at, 4e-4), 0.0)[1]) for at in t]
    )  # at full flow the ring's curvature adds
    assert abs((Q.max() - Q.min()) / Q.mean() - 0.0061) < 5e-5


def test_valve_and_distributor():
    valve, c = ODD.valve, ODD.c
    full = c * 0.31 * 2 * np.pi * 2.2e-3
    assert abs(valve.flow(c, 2e-4, 1.1e5) / (full * 2e-4 * np.sqrt(4.15e5 - 1.1e5)) - 1) < 1e-5
    assert abs(valve.flow(c, -2e-4, 1.1e5) / (-full * 2e-4 * np.sqrt(4.15e5 + 1.1e5)) - 1) < 1e-5
    assert valve.flow(c, 2e-4, 6e5) < 0  # more than the supply can hold: it flows back
    for E in np.linspace(-2e-5, 2e-5, 801):
        ways = ODD.distributor.ways(E)
        assert (
            ways.A * ways.intake_2 == 0 and ways.B * ways.intake_1 == 0 and ways.A * ways.B == 0
        )  # breaks before it makes
    inside = ODD.distributor.ways(1.9e-6)
    assert (inside.A, inside.B, inside.intake_1, inside.intake_2) == (0, 0, 1, 1)
    assert ODD.distributor.ways(8.1e-6).A == 1 and ODD.distributor.ways(-8.1e-6).B == 1


# ---- against the paper's text -----------------------------------------------------------------------------------------
BRISTLES = replace(CONTROL, friction=LuGre())
SYMMETRIC = replace(ODD, circuit="closed", S_B=ODD.S_A)
WRITTEN = [*variants(ODD), *variants(SYMMETRIC), *variants(BRISTLES), FIGURES, CONTROL]


@pytest.mark.parametrize("plant", WRITTEN, ids=lambda p: f"{p.circuit}-{p.detail}-{p.m:g}")
def test_the_mechanism_is_what_the_paper_writes(plant):
    """rhs, what is logged, energy and powers, to 1e-12 of their range over random states, stops included."""
    rng, ours, theirs = np.random.default_rng(8), [], []
    for k in range(9):
        x, t = random_state(rng, plant), rng.uniform(0.0, 0.02)
        x[5] += 0.025 * (k % 3 - 1)
        for i, s in enumerate(plant.states):
            x[i] = float(rng.normal()) * 1e-5 if s.name.startswith("z_") else x[i]
        u = [rng.normal() * 3e-4, rng.normal() * 500]
        paper = Actuator(plant, t, x, u)
        powers = dict(zip(plant.power_names, plant.powers(t, x, u)))
        own = paper.powers()
        ours.append(
            [
                *plant.rhs(t, x, u),
                *plant.monitor(t, x, u),
                plant.stored(t, x, u),
                *(powers[cause] for cause in own),
            ]
        )
        theirs.append([*paper.rhs(), *paper.shown(), paper.stored(), *own.values()])
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    size = np.maximum(np.abs(theirs).max(axis=0), 1e-12)
    assert (np.abs(ours - theirs) <= 1e-12 * size).all()


# ---- laws of the whole ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "plant",
    [*variants(ODD), *variants(replace(ODD, circuit="closed", S_B=ODD.S_A))],
    ids=[f"{d}-{c}" for c in ("open", "closed") for d in DETAILS],
)
def test_oil_balance(plant):
    """What flows into a chamber is compressed, swept or lost. For energy see test_energy.py."""
    rng = np.random.default_rng(11)
    for _ in range(6):
        x, u, t = (
            random_state(rng, plant),
            [rng.normal() * 3e-4, rng.normal() * 500],
            rng.uniform(0, 0.02),
        )
        dx = plant.rhs(t, x, u)
        E, Ed, ζ, P_A, P_B, Y, Yd = x[:7]
        made, ways = plant.delivery(plant.pump.ω * t, x), plant.distributor.ways(E)
        between = plant.K_in * (P_A - P_B)
        if plant.circuit == "closed":
            q_A, q_B, β_A, β_B = made.Q_A - made.Q_B, made.Q_B - made.Q_A, plant.oil.β, plant.oil.β
        else:
            out = lambda way, P: (
                way
                * plant.c
                * np.pi
                * plant.pump.r_rp**2
                * np.sign(P - plant.P_T)
                * np.sqrt(abs(P - plant.P_T))
            )
            q_A, q_B = made.Q_A - out(ways.B, P_A), made.Q_B - out(ways.A, P_B)
            β_A, β_B = (plant.oil.stiffness(P + 101325.0) for P in (P_A, P_B))
        A = (plant.V_A0 + plant.S_A * Y) / β_A * dx[3] + plant.S_A * Yd + between + plant.K_ex * P_A
        B = (plant.V_B0 - plant.S_B * Y) / β_B * dx[4] - plant.S_B * Yd - between + plant.K_ex * P_B
        size = 1e-4 * (abs(q_A) + abs(q_B) + plant.S_A * abs(Yd))
        assert abs(A - q_A) < size and abs(B - q_B) < size
        assert (
            abs(
                plant.v_e / plant.oil.β * dx[2]
                + plant.S_e * Ed
                + 2 * plant.k_e * ζ
                - plant.monitor(t, x, u)[2]
            )
            < 1e-14
        )


def test_oil_of_the_pistons():
    """Full pump: intake, delivery, leakage and compression of all pistons add up to what they sweep; each passive."""
    plant, rng = replace(ODD, detail="full"), np.random.default_rng(5)
    for _ in range(5):
        x, t = random_state(rng, plant), rng.uniform(0, 0.02)
        made, ways = plant.delivery(plant.pump.ω * t, x), plant.distributor.ways(x[0])
        pump, area = plant.pump, plant.c * np.pi * plant.pump.r_rp**2
        flow = lambda dp: dp / (dp * dp + plant.δ**2) ** 0.25
        total = intake = 0.0
        for piston, p, rate in zip(pump.pistons(pump.ω * t, x[0]), x[7:], made.rates):
            one, two = (float(o) for o in pump.openings(piston))
            assert one * two == 0
            intake += area * (one * ways.intake_1 + two * ways.intake_2) * flow(pump.P_rp - p)
            V = pump.S_p * (piston.L - pump.l_p - pump.d)
            total += V / plant.oil.β * rate + pump.swept(piston, x[1]) + pump.k_p * p
        assert abs(total - intake + made.Q_A + made.Q_B) < 1e-9 * (
            abs(intake) + abs(made.Q_A) + 1e-6
        )


def test_end_stops_hold():
    log = simulate(CONTROL, Scenario(1.3, disturbances={"X": 6e-4}, log_period=5e-3))
    assert 5e-4 < np.max(log["E"]) < 5.1e-4 and 0.05 < np.max(log["Y"]) < 0.0502


def test_a_chamber_cavitates_instead_of_pulling():
    """Open circuit, 600 N overrunning: the pressure stays above a vacuum; with stiff oil it would fall through it."""
    pull = Scenario(0.02, disturbances={"F_ext": -600.0, "X": 0.0}, log_period=1e-3)
    lowest = {}
    for name, air in (("air", 1e-6), ("none", 0.0)):
        log = simulate(replace(FIGURES, oil=replace(FIGURES.oil, air=air)), pull)
        lowest[name] = min(np.min(log["P_A"]), np.min(log["P_B"]))
    assert -1.06e5 < lowest["air"] < -0.9e5 and lowest["none"] < -3e5


# ---- the paper's numbers ----------------------------------------------------------------------------------------------
def test_figures():
    """Figs 5, 7, 8: E in 6.9 ms to 95 %, 2.21 cm/s, 0.80 bar."""
    log = run("figures", "averaged", 1e-4, 0.4)
    t_E = np.interp(0.95, np.array(log["E"])[:150] / float(log["E"][-1]), log.time[:150])
    assert abs(t_E / 6.9e-3 - 1) < 0.05
    assert (
        abs(float(log["dY"][-1]) / 2.21e-2 - 1) < 0.005
        and abs(float(log["P_AB"][-1]) / 0.80e5 - 1) < 0.02
    )
    quick = simulate(
        replace(FIGURES, valve=replace(FIGURES.valve, f_w=1.0)),
        Scenario(0.02, None, {"X": 4e-4}, log_period=1e-4),
    )
    assert (
        abs(np.interp(0.95 * 4e-4, np.array(quick["E"])[:40], quick.time[:40]) - 1.56e-3) < 1e-4
    )  # Table 1 alone


def moving(plant, X=4e-4):
    """The state in which the load passes Y = 0 at constant speed."""
    log = simulate(plant, Scenario(0.5, disturbances={"X": X}, log_period=0.1))
    x = [float(log[n][-1]) for n in names(plant.states)]
    x[5] = 0.0
    return x


def test_control_set():
    """K, K', Σλ and the modes about the motion at X = 0.4 mm."""
    L = linearize(CONTROL, moving(CONTROL), [4e-4, 0.0])
    modes = np.linalg.eigvals(L.A)
    near = lambda z: modes[np.argmin(abs(modes - z))]
    assert (
        abs(near(-9e3 + 7.6e4j) - (-9e3 + 7.6e4j)) < 1.2e3
        and abs(near(-31 + 613j) - (-31 + 613j)) < 2
    )
    keep = [i for i in range(7) if i != 5]
    A, B = L.A[np.ix_(keep, keep)], L.B[keep]
    gain, slope = -np.linalg.solve(A, B)[-1], -np.linalg.solve(A @ A, B)[-1]
    assert abs(gain[0] / 125.2 - 1) < 0.003
    assert -6.7e-6 < gain[1] < -5.5e-6  # −6.1e-6 about both sides of the distributor's overlap
    # Σλ: the valve's own lag S_e/(dQ_e/dx) and the load's share 2 ζ/ω of the mode above
    lag = CONTROL.S_e / (CONTROL.valve.gain(CONTROL.c) * np.sqrt(CONTROL.valve.P_s / 2))
    assert abs(-slope[0] / gain[0] - (lag + 2 * 31 / 613**2)) < 5e-5
    assert abs(slope[0] / gain[0]) > 2.8e-3


def test_it_holds_600_n():
    log = simulate(CONTROL, Scenario(0.3, disturbances={"F_ext": 600.0}, log_period=0.01))
    v = float(log["dY"][-1])
    assert abs(float(log["P_AB"][-1]) * CONTROL.S_A / 600 - 1) < 0.01
    assert (
        abs(v / 600 + (CONTROL.K_in + CONTROL.K_ex / 2) / CONTROL.S_A**2) < 0.01 * 5.6e-6
    )  # the blocked cylinder leaks


@pytest.mark.parametrize("which", ("figures", "control"))
def test_averages_and_pistons_one_by_one_agree(which):
    """On the step, micrometres apart, in full 4 µm; decompression of 15 chambers 50 times a second shows in the flow."""
    Y = {d: np.array(run(which, d)["Y"]) for d in DETAILS}
    assert 2e-6 < np.abs(Y["full"] - Y["averaged"]).max() < 13e-6
    assert np.abs(Y["ripple"] - Y["averaged"]).max() < 5e-6
    plant, P = FIGURES, run(which, "full")
    log = run(which, "full", 1 / 384e3, 0.06)  # 256 samples from one change of ports to the next
    Q = np.array(log["Q"])[-15360:]  # two revolutions; a window hides the load's slow swing
    lines = 4 * np.abs(np.fft.rfft(Q * np.hanning(len(Q) + 1)[:-1])) / len(Q)
    line = lambda f: lines[round(f * 0.04)]
    V_max = plant.pump.volume(plant.pump.R_b + 4e-4)
    burst = (
        750 * V_max * (plant.pump.P_rp - float(P["P_A"][-1])) / plant.oil.β
    )  # of oil, m³/s, as 750 short pulses a second
    for f in (750, 3750, 5250):
        assert abs(line(f) / (2 * burst) - 1) < 0.3
    assert line(1000) < 0.1 * burst


# ---- another solver ---------------------------------------------------------------------------------------------------
def compiled_flow(plant):
    """f(t, x) with X = 0.4 mm and its Jacobian, from the traced graph."""
    from workbench.numerics.calculus import trace
    from workbench.numerics.stiff_solver import slopes

    traced = trace(plant, ("X",))
    c, w, n = traced.constants(plant), np.array([4e-4]), len(plant.states)
    slope, pattern = slopes(traced)
    at = np.array(pattern.get_triplet())

    def jac(t, x):
        J = np.zeros((n + traced.n_powers,) * 2)
        J[at[0], at[1]] = np.array(slope(t, x, w, [0.0], c)[0]).ravel()
        return J[:n, :n]

    return lambda t, x: np.array(traced.motion(t, x, w, c)).ravel()[:n], jac


def test_full_model_against_radau():
    """3 ms of the step, through the distributor's switching and four changes of ports, at the tolerances asked for."""
    plant, T = replace(CONTROL, detail="full"), 3e-3
    log = simulate(plant, Scenario(T, disturbances={"X": 4e-4}, log_period=5e-4))
    f, jac = compiled_flow(plant)
    edge = np.pi / (15 * plant.pump.ω)
    size = np.array([1e-4, 1e-2, 1e5, 1e5, 1e5, 1e-3, 1e-2, *[1e6] * 15])
    t, x, states = 0.0, np.array(plant.initial()), {0.0: np.array(plant.initial())}
    for stop in sorted({*np.round(np.arange(1, 7) * 5e-4, 12), *(edge * np.arange(1, 5))}):
        x = solve_ivp(
            f, (t, stop), x, "Radau", rtol=1e-7, atol=1e-8 * size, jac=jac, max_step=2e-5
        ).y[:, -1]
        t, states[stop] = stop, x
    worst = np.max(
        [
            np.abs(log.values[k, :22] - states[min(states, key=lambda s: abs(s - at))])
            for k, at in enumerate(log.time)
        ],
        axis=0,
    )
    for name, tolerance in (("Y", 1e-7), ("dY", 5e-5), ("E", 2e-9), ("P_A", 500.0), ("P_B", 500.0)):
        assert worst[names(plant.states).index(name)] < tolerance, name


def test_averaged_model_against_radau():
    log = simulate(CONTROL, Scenario(0.03, disturbances={"X": 4e-4}, log_period=3e-3))
    f, jac = compiled_flow(CONTROL)
    found = solve_ivp(
        f,
        (0, 0.03),
        CONTROL.initial(),
        "Radau",
        rtol=1e-9,
        jac=jac,
        max_step=5e-4,
        t_eval=log.time,
        atol=1e-9 * np.array([1e-4, 1e-2, 1e5, 1e5, 1e5, 1e-3, 1e-2]),
    )
    error = np.abs(log.values[:, :7] - found.y.T).max(axis=0) / np.ptp(found.y, axis=1)
    assert error[[0, 3, 4, 5, 6]].max() < 1e-6


@pytest.mark.parametrize("detail, T", (("averaged", 5e-3), ("ripple", 1.2e-3), ("full", 8e-4)))
def test_without_a_compiler_the_same_numbers(detail, T):
    plant = replace(FIGURES, detail=detail)
    scenario = Scenario(T, disturbances={"X": 4e-4, "F_ext": 30.0}, log_period=T / 4)
    a, b = (simulate(plant, scenario, compiled=c).values for c in (None, False))
    assert (np.abs(a - b).max(axis=0) < 1e-8 * np.maximum(np.abs(a).max(axis=0), 1e-9)).all()


# ---- loops ------------------------------------------------------------------------------------------------------------
class Proportional:
    """X = k (Y_d − Y), held for 2 ms."""

    T_s, measured, references = 2e-3, ("Y",), ("Y_d",)

    def command(self, t, z, y, r):
        return [0.25 * (r[0] - y[0])]


@pytest.mark.parametrize("detail", ("averaged", "full"))
def test_a_loop_with_held_commands(detail):
    plant = replace(CONTROL, detail=detail)
    push = Sine("output", 0.0, 300.0, 25.0, ramp=0.01)
    log = simulate(
        ClosedLoop(plant, Plain(Proportional())),
        Scenario(0.04, Sine("output", 0.0, 0.002, 12.5, ramp=0.01), {"F_ext": push}),
    )
    X = np.array(log["X"])
    assert (
        np.allclose(X, 0.25 * (np.array(log["Y_d"]) - np.array(log["Y"])), atol=1e-15)
        and np.ptp(X) > 1e-4
    )
    # The same commands from outside, in one run with smaller steps: the same motion.
    again = simulate(
        plant,
        Scenario(0.04, None, {"X": Held(X, 2e-3), "F_ext": push}, log_period=2e-3, max_step=5e-4),
    )
    n = len(plant.states)
    assert (
        np.abs(again.values[:, :n] - log.values[:, :n]).max(axis=0)[[0, 5, 6]] < (2e-9, 1e-8, 1e-6)
    ).all()


class Held:
    """A recorded command as a function of time, held from sample to sample."""

    def __init__(self, values, T):
        self.values, self.T = values, T

    def sample(self, t, order):
        k = np.floor(np.asarray(t) / self.T + 1e-11).astype(int)
        return self.values[np.minimum(k, len(self.values) - 1)][None, :, None]


@pytest.mark.parametrize("E_d, w", [(4e-6, 2e-6), (5e-6, 3e-6)])
def test_edges_of_a_distributor_are_where_its_ways_begin_and_end_to_open(E_d, w):
    d = Distributor(E_d, w)
    edges = d.edges()
    assert list(edges) == sorted(set(edges)) and len(edges) == 6
    assert [-e for e in reversed(edges)] == pytest.approx(list(edges))
    for e in edges:
        assert [v - round(v) for v in d.ways(e)] == pytest.approx([0.0] * 4, abs=1e-9)
        sides = [np.array(d.ways(e + s * 0.2 * w)) for s in (-1, 1)]
        assert np.abs(sides[1] - sides[0]).max() > 0.05
    for beyond in (edges[0], edges[-1]):
        assert d.ways(beyond) == pytest.approx(d.ways(3 * beyond))


# ---- faults -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change, words",
    (
        (lambda: replace(CONTROL.pump, R_b=3e-3), "R_b"),  # Table 1 as printed
        (lambda: replace(CONTROL, S_B=4.2e-4), "S_B"),
        (lambda: replace(CONTROL, detail="exact"), "detail"),
        (lambda: replace(CONTROL, circuit="looped"), "circuit"),
        (lambda: replace(CONTROL, stop_Y=EndStop(0.2)), "stop_Y"),
        (lambda: replace(CONTROL, stop_E=EndStop(0.7e-3)), "stop_E"),
        (lambda: replace(CONTROL, m=0.0), "m"),
        (lambda: Distributor(2e-6, 3e-6), "w"),
        (lambda: replace(CONTROL.pump, N=0), "N"),
    ),
)
def test_values_that_make_no_sense_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        change()


def test_planted_faults_are_seen():
    """Leakage with the printed sign, the printed 2π, and a pump whose halves both count."""
    x, u = moving(CONTROL), [4e-4, 0.0]
    bad = replace(CONTROL)
    object.__setattr__(bad, "k_e", -CONTROL.k_e)
    assert (
        np.linalg.eigvals(linearize(bad, x, u).A).real.max()
        > 1e3
        > np.linalg.eigvals(linearize(CONTROL, x, u).A).real.max()
    )
    fast = replace(CONTROL, pump=replace(CONTROL.pump, ω=2 * np.pi * CONTROL.pump.ω))
    assert (
        abs(moving(fast, 2e-5)[6] / 2e-5 / 788 - 1) < 0.05
    )  # K = 788 1/s, which the paper's own 115.4 contradicts
