"""The hydraulic four-bar: geometry, equations against an independent formulation, published numbers, energy, refusals."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from oracles import four_bar as oracle
from scipy.integrate import solve_ivp
from test_circuit import LAWS as ODD_LAWS

from plants import (
    BengisuAkay,
    BrownMcPhee,
    FourBar,
    Frictionless,
    LuGre,
    ModifiedLuGre,
    ThrottledCircuit,
    machine,
)
from plants.four_bar.linkage import WORK_CYCLE, cylinder_work, drift
from workbench import Scenario, changed, simulate
from workbench.numerics.adaptive import Fixed
from workbench.numerics.calculus import directional, jacobian_columns
from workbench.run.grid import grid

TABLE_2 = dict(F_c=210.0, F_s=300.0, v_s=5e-3, b=330.0)
LAWS = {
    "Bengisu–Akay": BengisuAkay(ξ=200.0, **TABLE_2),
    "Brown–McPhee": BrownMcPhee(**TABLE_2),
    "LuGre": LuGre(σ_0=6e6, σ_1=2e4, **TABLE_2),
    "modified LuGre": ModifiedLuGre(
        σ_0=6e6, σ_1=2e4, v_b=0.02, τ_hp=0.05, τ_hn=0.5, τ_h0=20.0, **TABLE_2
    ),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
PAPER = machine("four-bar").plant
ODD = FourBar(
    L_0=7.3,
    L_1=1.7,
    L_2=5.9,
    L_3=4.1,
    m_1=13.0,
    m_2=57.0,
    m_3=31.0,
    x_F=0.83,
    x_G=1.21,
    g=9.3,
    z_10=0.9,
    circuit=ThrottledCircuit(s_0=1.85, l_20=0.41, l_30=0.47, friction=ODD_LAWS["LuGre"]),
)
every_branch = pytest.mark.parametrize(
    "plant", (PAPER, ODD, replace(ODD, branch="below")), ids=("paper", "odd", "below")
)


def rubbing(plant, law):
    return replace(plant, circuit=replace(plant.circuit, friction=law))


def cycle(plant, duration=10.0, **more):
    return simulate(plant, Scenario(duration, disturbances={"U_ref": WORK_CYCLE}, **more))


def e(a):
    return np.array([np.cos(a), np.sin(a)])


# ---- geometry ---------------------------------------------------------------------------------------------------------
@every_branch
@pytest.mark.parametrize("z_1", (-2.0, -0.3, 0.4, 1.2, 2.9))
def test_loop_closes_at_every_angle(plant, z_1):
    pose = plant.pose(z_1)
    E = plant.L_1 * e(z_1) + plant.L_2 * e(pose.a_2) + plant.L_3 * e(pose.a_3)
    assert E == pytest.approx([plant.L_0, 0.0], abs=1e-13)
    above = (
        np.cross([*(np.array([plant.L_0, 0.0]) - plant.L_1 * e(z_1)), 0], [*e(pose.a_2), 0])[2] > 0
    )
    assert above == (plant.branch == "above")


@every_branch
@pytest.mark.parametrize("z_1", (-1.1, 0.4, 2.1))
def test_derivatives_by_the_crank_angle(plant, z_1):
    """k, k', ds/dz_1, ½M' and 𝒱' are those of a, k, s, M and 𝒱, differentiated automatically: the oracle's are right."""

    def values(z):
        pose = oracle.pose(plant, z[0])
        return [
            pose.a_2,
            pose.a_3,
            pose.k_2,
            pose.k_3,
            plant.length(z[0]),
            0.5 * oracle.inertia(plant, z[0], pose)[0],
            oracle.potential(plant, z[0], pose),
        ]

    pose = oracle.pose(plant, z_1)
    given = [
        pose.k_2,
        pose.k_3,
        pose.k_2p,
        pose.k_3p,
        plant.lever(z_1),
        oracle.inertia(plant, z_1, pose)[1],
        oracle.weight(plant, z_1, pose),
    ]
    assert jacobian_columns(values, [z_1])[0] == pytest.approx(given, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("z_1", (0.2, np.pi / 3, 2.0))
def test_cylinder_of_the_paper_is_a_chord(z_1):
    """F and G both L_1/2 from the crank's joint."""
    assert PAPER.length(z_1) == pytest.approx(2.0 * np.cos(z_1 / 2), rel=1e-14)
    assert PAPER.lever(z_1) == pytest.approx(-np.sin(z_1 / 2), rel=1e-14)


def test_published_start():
    """Start angles, static force by virtual work, effective mass at the cylinder; they are the paper's where it is right."""
    z_1, pose = PAPER.z_10, oracle.pose(PAPER, PAPER.z_10)
    assert np.degrees([z_1, pose.a_2 - z_1, pose.a_3 - pose.a_2]) == pytest.approx(
        [60.0, -37.904384, -93.583322], abs=5e-7
    )
    assert np.degrees([pose.a_2 - z_1, pose.a_3 - pose.a_2]) == pytest.approx(
        [-37.90, -93.58], abs=5e-3
    )
    assert PAPER.holding_force(z_1) == pytest.approx(-386.0, abs=0.05)
    assert oracle.inertia(PAPER, z_1, pose)[0] / PAPER.lever(z_1) ** 2 == pytest.approx(
        776.0, abs=0.5
    )


def test_printed_angles_leave_the_loop_open_and_closing_it_costs_the_papers_drift():
    """The gap of 0.88 mm, closed by the least motion in the metric of the mass matrix, as a projection does it."""
    p, start = PAPER, np.radians([60.0, -37.90, -93.58])
    L, m = np.array([p.L_1, p.L_2, p.L_3]), np.array([p.m_1, p.m_2, p.m_3])

    def centres(z):
        a = np.cumsum(z)
        ends = np.cumsum(L[:, None] * np.array([e(x) for x in a]), axis=0)
        return a, ends, ends - 0.5 * L[:, None] * np.array([e(x) for x in a])

    gap = lambda z: centres(z)[1][-1] - [p.L_0, 0.0]
    height = lambda z: 9.81 * m @ centres(z)[2][:, 1]

    def slope(f, z, h=1e-6):
        return np.array([(f(z + h * d) - f(z - h * d)) / (2 * h) for d in np.eye(3)]).T

    def mass(z):
        J = slope(lambda y: centres(y)[2].ravel(), z).reshape(3, 2, 3)
        turn = np.tril(np.ones((3, 3)))
        return sum(
            m[k] * (J[k].T @ J[k] + L[k] ** 2 / 12 * np.outer(turn[k], turn[k])) for k in range(3)
        )

    assert np.linalg.norm(gap(start)) == pytest.approx(0.88e-3, abs=0.005e-3)
    z, W = start, np.linalg.inv(mass(start))
    for _ in range(4):
        Φ_z = slope(gap, z)
        z = z - W @ Φ_z.T @ np.linalg.solve(Φ_z @ W @ Φ_z.T, gap(z))
    assert np.linalg.norm(gap(z)) < 1e-12
    assert abs(height(z) - height(start)) == pytest.approx(0.436, abs=0.002)


# ---- equations --------------------------------------------------------------------------------------------------------
def bodies_one_by_one(p, z_1, ż_1, F):
    """z̈_1 from three free bodies (x, y, angle), eight constraints and their multipliers."""
    pose = oracle.pose(p, z_1)
    a, ȧ = np.array([z_1, pose.a_2, pose.a_3]), np.array([1.0, pose.k_2, pose.k_3]) * ż_1
    L, m, turned = (
        np.array([p.L_1, p.L_2, p.L_3]),
        np.array([p.m_1, p.m_2, p.m_3]),
        lambda x: np.array([-np.sin(x), np.cos(x)]),
    )
    M = np.diag([v for k in range(3) for v in (m[k], m[k], m[k] * L[k] ** 2 / 12)])
    Φ, γ, row = np.zeros((8, 9)), np.zeros(8), 0
    for left, right in (
        (None, 0),
        (0, 1),
        (1, 2),
        (2, None),
    ):  # pins: end of one body on the beginning of the next
        for body, side in ((left, 0.5), (right, -0.5)):
            if body is None:
                continue
            sign = 1.0 if body == left else -1.0
            Φ[row : row + 2, 3 * body : 3 * body + 2] = sign * np.eye(2)
            Φ[row : row + 2, 3 * body + 2] = sign * side * L[body] * turned(a[body])
            γ[row : row + 2] += sign * side * L[body] * e(a[body]) * ȧ[body] ** 2
        row += 2
    Q = np.zeros(9)
    Q[1::3] = -m * p.g
    at_F, G = p.x_F * e(z_1), np.array([-p.x_G, 0.0])
    force = F * (at_F - G) / np.linalg.norm(at_F - G)
    Q[:2] += force
    arm = at_F - 0.5 * L[0] * e(z_1)
    Q[2] += arm[0] * force[1] - arm[1] * force[0]
    K = np.block([[M, Φ.T], [Φ, np.zeros((8, 8))]])
    return np.linalg.solve(K, np.concatenate([Q, γ]))[2]


@every_branch
def test_equation_of_motion_against_bodies_one_by_one(plant):
    rng = np.random.default_rng(3)
    for _ in range(10):
        x = [
            rng.uniform(0.3, 2.5),
            rng.normal(),
            *rng.uniform(1e6, 6e6, 3),
            rng.uniform(-9, 9),
            *[1e-5] * (len(plant.states) - 6),
        ]
        F = plant.circuit.force(x[2:], plant.length(x[0]), plant.lever(x[0]) * x[1])
        assert plant.rhs(0.0, x, [0.0])[1] == pytest.approx(
            bodies_one_by_one(plant, x[0], x[1], F), rel=1e-10
        )


@every_branch
def test_its_mechanism_is_the_equation_in_one_coordinate(plant):
    """ẋ, energies and the force of rest to 1e-12 of their range, against the equations written out."""
    rng, ours, theirs = np.random.default_rng(8), [], []
    for _ in range(20):
        bristles = [1e-5 * rng.normal() for _ in plant.states[6:]]
        x = [rng.uniform(0.3, 2.5), rng.normal(), *rng.uniform(1e6, 6e6, 3), rng.uniform(-9, 9)]
        x = [float(v) for v in (*x, *bristles)]
        at = oracle.pose(plant, x[0])
        M, _ = oracle.inertia(plant, x[0], at)
        shown = dict(zip((s.name for s in plant.monitors), plant.monitor(0.0, x, [3.3])))
        energies = [shown["E_pot"], shown["E_kin"], plant.stored(0.0, x, [3.3])]
        mine = [oracle.potential(plant, x[0], at), 0.5 * M * x[1] ** 2]
        oil = plant.circuit.stored(x[2:], plant.length(x[0]))
        ours.append([*plant.rhs(0.0, x, [3.3]), *energies])
        theirs.append([*oracle.rhs(plant, x, [3.3]), *mine, sum(mine) + oil])
        rest = oracle.required_force(plant, x[0], 0.0, 0.0)
        assert plant.holding_force(x[0]) == pytest.approx(rest, rel=1e-10, abs=1e-8)
    ours, theirs = np.array(ours, float), np.array(theirs, float)
    assert (np.abs(ours - theirs) <= 1e-12 * np.abs(theirs).max(axis=0)).all()


@every_branch
def test_stored_energy_changes_by_the_powers(plant):
    rng = np.random.default_rng(4)
    for _ in range(10):
        x = [
            rng.uniform(0.3, 2.5),
            rng.normal(),
            *rng.uniform(1e6, 6e6, 3),
            rng.uniform(-9, 9),
            *[1e-5] * (len(plant.states) - 6),
        ]
        x = [float(v) for v in x]
        (change,) = directional(
            lambda z: [plant.stored(0.0, z, [4.1])], x, plant.rhs(0.0, x, [4.1])
        )
        powers = plant.powers(0.0, x, [4.1])
        assert sum(powers) == pytest.approx(change, abs=1e-12 * np.abs(powers).sum())


def test_the_start_rests():
    for plant in (PAPER, ODD):
        assert np.abs(plant.rhs(0.0, plant.initial(), [0.0])).max() < 1e-9
    printed = machine("four-bar-printed").plant
    x = printed.initial()
    assert (
        printed.circuit.force(x[2:], printed.length(x[0]), 0.0) == pytest.approx(681.23)
        and printed.rhs(0.0, x, [0.0])[1] < -1.0
    )


# ---- runs -------------------------------------------------------------------------------------------------------------
@every_law
def test_work_cycle(law):
    """max |W| = 121.22 J (paper: 120.94 to 121.02 J); 1 ms steps to 1.5e-6 rad and 5e-4 J."""
    plant = rubbing(PAPER, law)
    log, fine = cycle(plant), cycle(plant, max_step=2e-4, log_period=1e-3)
    W = cylinder_work(log)
    assert log.status.completed and log.time[1] == 1e-3
    assert (
        np.abs(W).max() == pytest.approx(121.22, abs=0.01) and W.min() < 0 < W.max()
    )  # extending, the weight works
    assert np.abs(W).max() == pytest.approx(120.98, abs=0.3)  # the paper's
    assert np.abs(log.array("z_1") - fine.array("z_1")).max() < 1.5e-6
    assert np.abs(drift(log)).max() < 5e-4 and np.abs(drift(fine)).max() < 2e-6
    assert log.array("s").max() - log.array("s")[0] == pytest.approx(0.140, abs=2e-3)  # stroke


@every_law
def test_thirty_seconds_with_sticking(law):
    log = cycle(rubbing(PAPER, law), 30.0)
    late = log.time > 20.0
    assert log.status.completed and np.isfinite(log.values).all()
    assert np.abs(log.array("ds")[late]).max() < 1e-4  # it sticks; static laws creep
    assert np.abs(drift(log)).max() < 5e-4


def test_order_four_while_nothing_bends():
    """Between kinks: the valve open, the spool well away from zero."""
    plant = rubbing(PAPER, Frictionless())
    start = cycle(plant, 1.2, max_step=5e-5).values[-1, : len(plant.states)]
    offset = {s.name: float(x) for s, x in zip(plant.states, start - plant.initial())}
    run = lambda n: simulate(
        plant, Scenario(0.12, disturbances={"U_ref": 10.0}, offset=offset, max_step=0.12 / n)
    ).values[-1]
    truth = run(1920)
    errors = [abs(run(n)[0] - truth[0]) for n in (120, 240, 480)]
    assert (
        np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([4, 4], abs=0.5)
        and errors[0] < 1e-7
    )


@pytest.mark.long
def test_a_jump_of_the_valve_against_an_independent_solver():
    """0.1 s around the opening: SciPy's Radau on the same text, restarted at the jump."""
    plant = rubbing(PAPER, LAWS["LuGre"])
    log = simulate(
        plant,
        Scenario(
            0.1,
            disturbances={"U_ref": replace(WORK_CYCLE, times=(0.0, 0.03), values=(0.0, 10.0))},
            max_step=1e-4,
            log_period=0.01,
        ),
    )
    x = np.array(plant.initial())
    for (t_0, t_1), U in (((0.0, 0.03), 0.0), ((0.03, 0.1), 10.0)):
        x = solve_ivp(
            lambda t, x, U=U: [float(v) for v in plant.rhs(t, x, [U])],
            (t_0, t_1),
            x,
            "Radau",
            rtol=1e-11,
            atol=np.array([1e-13, 1e-11, 1e-4, 1e-4, 1e-4, 1e-9, 1e-14]),
        ).y[:, -1]
    gap = np.abs(log.values[-1, : len(x)] - x)
    assert gap[0] < 1e-8 and gap[2:5].max() < 20.0


def test_started_as_printed_the_crank_swings_and_the_work_hardly_changes():
    log = cycle(machine("four-bar-printed").plant)
    assert np.abs(log.array("dz_1")[log.time < 0.9]).max() > 5e-3
    assert np.abs(cylinder_work(log)).max() == pytest.approx(121.32, abs=0.05)


@pytest.mark.parametrize("compiled", (None, False))
def test_grid_and_virtual_machine(compiled):
    scenario = Scenario(
        0.02, disturbances={"U_ref": replace(WORK_CYCLE, times=(0.0, 0.01), values=(0.0, 10.0))}
    )
    assert grid(PAPER, replace(scenario, max_step=0.1)).T == 1e-3  # at 4 ms it diverges
    log = simulate(PAPER, scenario, compiled=compiled)
    assert (
        np.abs(log.values - simulate(PAPER, scenario).values).max() < 1e-7
        and log.array("U")[-1] > 8
    )


def test_sensitivities_of_the_work_are_those_of_the_sources():
    """Published for the shipped numbers: pump 7.5 MPa 119.8 J, rod 40 mm 129.3 J, chambers of 0.221 m 120.9 J (parameters)."""
    work = lambda **changes: np.abs(
        cylinder_work(cycle(replace(PAPER, circuit=replace(PAPER.circuit, **changes))))
    ).max()
    assert work(p_P=7.5e6) == pytest.approx(119.82, abs=0.1)
    assert work(rod=0.040) == pytest.approx(129.3, abs=0.1)
    assert work(l_20=0.221, l_30=0.221) == pytest.approx(120.91, abs=0.1)
    assert work(friction=Frictionless()) == pytest.approx(121.93, abs=0.1)


# ---- refusals ---------------------------------------------------------------------------------------------------------
def test_what_is_refused():
    for change, words in (
        ({"L_2": 1.0}, "cannot close: the coupler's pin is .* span 4 to 6 m"),
        ({"L_0": 30.0}, "cannot close"),
        ({"z_10": 0.0}, "points through the crank's joint"),
        ({"m_2": 0.0}, "m_2.*greater than zero"),
        ({"branch": "left"}, "branch: expected one of above, below, got 'left'"),
        ({"z_10": 2.5}, "at the start, the cylinder reaches"),
        ({"F_0": -9e4}, "at the start, to hold -9e.04 N"),
        ({"L_1": float("inf")}, "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(PAPER, **change)


def test_a_piston_driven_out_of_its_cylinder_ends_the_run():
    """There are no stops: the chamber's volume vanishes, and the run says that it diverged."""
    short = replace(PAPER, circuit=replace(PAPER.circuit, l_20=0.4, l_30=0.05))
    log = simulate(short, Scenario(10.0, disturbances={"U_ref": 10.0}))
    assert not log.status.completed or log.array("s").max() > short.circuit.range[1]


def test_friction_is_found_by_name():
    plant = changed(
        PAPER,
        {"cylinder.friction": {"law": "LuGre", "F_c": "200 N", "F_s": "250 N"}, "p_P": "70 bar"},
    )
    assert plant.circuit.friction == LuGre(F_c=200.0, F_s=250.0) and plant.circuit.p_P == 7e6


def test_verdicts_of_a_run_beyond_the_stroke_are_undecided():
    from workbench.cases.file import loads
    from workbench.verification import verify
    from workbench.verification.run_claims import Tracking

    text = """
plant: {machine: four-bar, change: {l_20: 20 mm, l_30: 20 mm}}
scenario: {reference: {type: Sine, space: output, centre: start, amplitude: [A], frequency: 0.5 Hz}, duration: 2 s}
"""
    for amplitude, holds in (("15 mm", True), ("30 mm", None)):
        case = loads(text.replace("A", amplitude))
        asked = [claim for claim in case.claims if isinstance(claim, Tracking)]
        (tracking,) = verify(case.loop, case.scenario, asked)
        assert tracking.holds is holds and ("leaves its stroke" in tracking.worst) == (
            holds is None
        )


def test_units_of_a_path_are_those_of_what_is_followed():
    from workbench import InputError
    from workbench.cases.file import loads

    text = "plant: four-bar\ncontroller: {law: PID, signals: [SIGNAL]}\nscenario: {reference: REFERENCE}\n"
    sine = "{type: Sine, space: output, centre: start, amplitude: [AMPLITUDE], frequency: 1 Hz}, duration: 1 s"
    read = lambda signal, reference: (
        loads(text.replace("SIGNAL", signal).replace("REFERENCE", reference)).scenario.reference
    )
    assert read("tilt", sine.replace("AMPLITUDE", "2 deg")).amplitude == pytest.approx(
        (np.radians(2.0),)
    )
    assert read("s", sine.replace("AMPLITUDE", "2 cm")).amplitude == (0.02,)
    for signal, wrong in (("tilt", "2 cm"), ("s", "2 deg")):
        with pytest.raises(InputError, match="amplitude"):
            read(signal, sine.replace("AMPLITUDE", wrong))
    steps = "{type: Steps, space: output, times: [0, 0.5 s], values: [30 deg, 31 deg]}"
    assert read("tilt", steps).values[1] == pytest.approx((np.radians(31.0),))


@pytest.mark.parametrize("step, holds", ((1e-3, True), (4e-3, False)))
def test_the_energy_balance_finds_steps_that_are_too_long(step, holds):
    """At 4 ms the bristles of LuGre swing up: equal steps have no control of the error, so the audit must see it."""
    from controllers import OpenLoop
    from workbench import ClosedLoop
    from workbench.verification import verify
    from workbench.verification.run_claims import EnergyBalance, Pressures

    @dataclass(frozen=True)
    class Coarse(FourBar):
        fixed = Fixed(step)

    Coarse.__qualname__ = f"FourBar by {step}"
    plant = rubbing(
        Coarse(**{f.name: getattr(PAPER, f.name) for f in fields(PAPER) if f.init}), LAWS["LuGre"]
    )
    scenario = Scenario(4.0, disturbances={"U_ref": WORK_CYCLE}, max_step=step)
    energy, pressures = verify(
        ClosedLoop(plant, OpenLoop(plant)),
        scenario,
        (EnergyBalance(share=1e-6), Pressures(low=0.0)),
    )
    assert energy.holds is holds and (pressures.holds is True) == holds


def test_oscillation_is_measured_in_the_unit_of_what_is_followed(tmp_path, capsys):
    from workbench import InputError
    from workbench.cases.file import load, loads
    from workbench.commands.cli import main
    from workbench.verification import verify

    text = "plant: four-bar\ncontroller: LAW\nscenario: {reference: {type: Hold, space: SPACE, point: start}, duration: 1 s}\n"
    text += "claims: {settled: {floor: FLOOR}}\n"
    for law, space, right, wrong in (
        ("PID", "output", "20 um", "0.1 deg"),
        ("ForcePosition", "joint", "0.01 deg", "20 um"),
    ):
        given = text.replace("LAW", law).replace("SPACE", space)
        case = loads(given.replace("FLOOR", right))
        (verdict,) = (
            v
            for v in verify(
                case.loop, case.scenario, [c for c in case.claims if type(c).__name__ == "Settled"]
            )
        )
        assert verdict.holds is True and ("20 µm" if law == "PID" else "0.01 deg") in verdict.worst
        with pytest.raises(InputError, match="claims.settled.floor"):
            loads(given.replace("FLOOR", wrong))
    assert main(["init", "four-bar", "--output", str(tmp_path / "first.yaml")]) == 0
    capsys.readouterr()
    assert (
        "floor: 10 µm" in (tmp_path / "first.yaml").read_text("utf-8")
        and load(tmp_path / "first.yaml").claims
    )
