"""The row of a rod behind metering valves in the ledger, every term by hand: drive, valves and line are not those of the law."""

from dataclasses import replace

import numpy as np
import pytest

from controllers.vdc.drives.metered_section import MeteredPart
from controllers.vdc.part import Given
from plants import CoulombViscous, Cylinder, LuGre, ModifiedLuGre
from plants.drives.contract import Line
from plants.drives.metered_rod import MeteredRod
from plants.drives.metered_section import MeteredSection
from plants.valve_circuits.circuit import Motor, Section
from workbench import InputError

C = 1.3e-7  # m³/(s √Pa)
VALVES = Section(
    A_h=2.1e-3, A_r=1.4e-3, P_hM=240e5, P_rM=210e5, c_ph=C, c_pr=1.5 * C, c_th=1.7 * C, c_tr=0.8 * C
)
TRUE = MeteredRod(K=3.1e6, B=2.3e4, section=VALVES, i=1.7)
KNOWN = replace(TRUE, K=4.4e6, B=2.6e4, section=replace(VALVES, c_ph=1.1 * C), i=1.3)
PART = MeteredPart("lift", KNOWN, k_m=0.7, Kk_f=60.0)
ROD = Given(
    cut="lift",
    x=[0.4127],
    s=0.241,
    v=0.031,
    v_r=0.052,
    line=Line(150e5, 4e5),
    asked=Line(165e5, 3e5),
    f_pr=11.3e3,
    f_pr_rate=None,
    f_cr=9.7e3,
    own_f_cr=8.9e3,
    f_c=7.3e3,
    f_fr=0.0,
    own_f_fr=-210.0,
    u=0.47,
    steps={"derivative": 0.62, "measurement": 0.58},
    ẑ=[8.4e3],
    ẑ_law=[5.2e4],
    ẑ_own=[4.7e4],
    ẑ_flow=[3.9e4],
    lever=0.3,
)
STAGES = ("derivative", "measurement")  # on the way from the law to the valves
OUT = (
    VALVES.A_h,
    VALVES.c_ph,
    VALVES.A_r,
    VALVES.c_tr,
)  # fed and drained side of a rod that goes out
BACK = (VALVES.A_r, VALVES.c_pr, VALVES.A_h, VALVES.c_th)


def series(u):
    """(σ, area fed, (1/α_i + 1/α_o)/u²) of both orifices in series at the opening u."""
    A, k_i, A_o, k_o = OUT if u > 0 else BACK
    return np.sign(u), A, (A**3 / k_i**2 + A_o**3 / k_o**2) / u**2


def moved(u, held, B, P):
    """The rod's speed by both orifices in series: R w² = A P − σ held − B w."""
    σ, A, R = series(u)
    push = A * P - σ * held
    assert push > 0
    return σ * (np.sqrt(B * B + 4 * R * push) - B) / (2 * R)


def opening(speed, force, P):
    """The opening at which both orifices in series carry a speed under a force."""
    σ, A, R = series(np.sign(speed))
    return σ * abs(speed) * np.sqrt(R / (A * P - σ * force))


def ladder(drive, law, part, given, i=1.0, known=1.0):
    """ṙ on the way from what the certificate requires to what the rod does, by name of what takes the step."""
    v, v_r = i * given.v, i * given.v_r
    f_K = drive.stiffness * (given.x[0] - i * given.s + getattr(drive, "closed", 0.0))
    asked, P = (line.p_s - line.p_r for line in (given.asked, given.line))
    wanted = lambda flow, K: (
        v + flow / K + part.k_m * (v_r - v) + part.Kk_f / law.stiffness * (given.ẑ[-1] - f_K)
    )
    hold = wanted(given.ẑ_flow[-1], drive.stiffness)
    own = wanted(given.ẑ_own[-1], drive.stiffness)
    told = wanted(given.ẑ_law[-1], drive.stiffness)
    formed = wanted(given.ẑ_law[-1], law.stiffness)
    B, held = drive.damping, f_K - drive.damping * v
    at = lambda u, P: moved(u, held, B, P)
    opened = opening(formed, held + B * formed, asked)
    steps = [at(opened, asked), *(at(u, asked) for u in given.steps.values())]
    cut = at(np.clip(given.u, -1.0, 1.0), asked)
    d = {
        "hold": hold - own,
        "parameters": own - formed,
        "valve inverse": formed - steps[0],
        "saturation": steps[-1] - cut,
        "pump": cut - at(np.clip(given.u, -1.0, 1.0), P),
    }
    for name, before, after in zip(given.steps, steps, steps[1:]):
        d[name] = before - after
    speeds = (hold, own, told, formed, *steps, cut, at(np.clip(given.u, -1.0, 1.0), P))
    return d, f_K, v, v_r, speeds, opened


BACKWARDS = ROD._replace(
    v=-0.043, v_r=-0.071, u=-1.31, steps={"derivative": -0.62, "measurement": -0.93}, x=[0.4108]
)


WIDE = ROD._replace(u=1.31)


@pytest.mark.parametrize("given", [ROD, BACKWARDS, WIDE], ids=["out", "back", "wide"])
def test_every_term_of_a_rod_behind_a_gear(given):
    d, f_K, v, v_r, speeds, opened = ladder(TRUE, KNOWN, PART, given, 1.7, 1.3)
    Δf, Δx, k_f, B, K = given.ẑ[0] - f_K, v_r - v, 60.0 / 4.4e6, 2.3e4, 3.1e6
    weight = Δf / 0.7 + B * Δx
    expected = {name: weight * part for name, part in d.items()}
    flow, own, rate = given.ẑ_flow[0], given.ẑ_own[0], given.ẑ_law[0]
    expected["hold"] -= Δx * B / K * (flow - own)
    expected["parameters"] -= Δx * (B / K * (own - rate) + (B / K - 2.6e4 / 4.4e6) * rate)
    expected["model"] = Δx * (9.7e3 / 1.7 - 8.9e3 / 1.3 + 210.0 / 1.3)
    expected["friction"] = 0.0
    row = PART.entry(TRUE, given)
    assert (row.subsystem, row.name) == ("lift", "actuator lift")
    assert row.storage == pytest.approx(Δf**2 / (2 * K * 0.7))
    D = k_f / 0.7 * (1 - B * k_f / 4) * Δf**2 + B * 0.7 * (Δx + k_f * Δf / 1.4) ** 2
    assert row.dissipation == pytest.approx(D)
    assert row.flows["lift"] == pytest.approx(-Δx * (9.7e3 - 7.3e3) / 1.7)
    size = max(abs(value) for value in expected.values())
    assert set(row.perturbations) == set(expected)
    for name, value in expected.items():
        assert row.perturbations[name] == pytest.approx(value, rel=1e-7, abs=1e-9 * size), name
    felt = 8.4e3 + abs(f_K)
    rates = abs(flow) + abs(rate)
    inner = sum(map(abs, speeds)) + rates / K + k_f * felt + abs(v)
    forces = (
        felt
        + 9.7e3 / 1.7
        + 8.9e3 / 1.3
        + 7.3e3 / 1.7
        + 210.0 / 1.3
        + B * (abs(speeds[-1]) + abs(v))
    )
    terms = (abs(Δf) / 0.7 + B * abs(Δx)) * inner + abs(Δx) * (B / K * rates + forces)
    assert row.scale == pytest.approx(terms + D)


@pytest.mark.parametrize("given", [ROD, BACKWARDS], ids=["out", "back"])
def test_the_terms_of_a_rod_are_the_rate_of_what_it_stores(given):
    """Δf Δḟ/(K k_m) with ḟ_Kr as it is in the loop and ḟ_K = K (ṙ − ẋ), where f_pr and the true force are those of law and rod."""
    d, f_K, v, v_r, speeds, _ = ladder(TRUE, KNOWN, PART, given, 1.7, 1.3)
    f_pr = given.ẑ[0] + 2.6e4 / 4.4e6 * given.ẑ_law[0]
    force = f_K + 2.3e4 * (speeds[-1] - v)
    asked = {"f_pr": 1.3 * f_pr, "own_f_cr": 1.3 * f_pr, "own_f_fr": 0.0, "f_c": 1.7 * force}
    row = PART.entry(TRUE, given._replace(**asked))
    change = (given.ẑ[0] - f_K) * (given.ẑ_flow[0] - 3.1e6 * (speeds[-1] - v)) / (3.1e6 * 0.7)
    total = -row.dissipation + row.flows["lift"] + sum(row.perturbations.values())
    assert total == pytest.approx(change, rel=1e-9, abs=1e-9 * row.scale)


@pytest.mark.parametrize(
    "reliefs",
    [{}, {"P_hM": 120e5}, {"P_rM": 80e5}],
    ids=["suction", "head's relief", "rod's relief"],
)
def test_what_a_rod_behind_a_gear_shows(reliefs):
    d, f_K, v, v_r, speeds, opened = ladder(TRUE, KNOWN, PART, ROD, 1.7, 1.3)
    valves = replace(VALVES, **reliefs)
    found = PART.shown(replace(TRUE, section=valves), ROD)
    shown = {name.removesuffix(" lift"): value for name, value in found.items()}
    force = f_K + 2.3e4 * (speeds[3] - v)
    P = 162e5
    push = VALVES.A_h * P - force
    drained = (speeds[3] / opened * VALVES.A_r / VALVES.c_tr) ** 2
    fed = (force + VALVES.A_r * drained) / VALVES.A_h
    inside = min(fed, valves.P_hM - fed, valves.P_rM - drained)
    expected = {
        "undamped": 0.0,
        "Δf": 8.4e3 - f_K,
        "Δẋ": v_r - v,
        "ẋ": v,
        "x": ROD.s - TRUE.range[0],
        "room": TRUE.range[1] - ROD.s,
        "lever": 0.3,
        "command": 0.47,
        "inverse": opened,
        "push": push / VALVES.A_h,
        "inside": inside,
    }
    assert set(shown) == set(expected)
    for name, value in expected.items():
        assert float(shown[name]) == pytest.approx(value, rel=1e-6), name


RUBS = LuGre(F_c=310.0, F_s=450.0, v_s=6e-3, b=520.0, σ_0=7e6, σ_1=3e4)
CYLINDER = Cylinder(bore=0.052, rod=0.031, stroke=0.47, friction=RUBS)
SECTION = MeteredSection(CYLINDER, closed=0.66, τ=8e-3)

BELIEVED = replace(SECTION, cylinder=replace(CYLINDER, friction=replace(RUBS, F_c=270.0)), τ=6e-3)


def test_bent_bristles_of_a_cylinder_behind_metering_valves_are_an_account_of_their_own():
    """Strain times what the observer's rate is off the bristles', in hold, parameters and friction; its energy is stored."""
    part = MeteredPart("lift", BELIEVED, k_m=0.7, Kk_f=60.0)
    given = ROD._replace(
        x=[0.2131, 3e-5],
        s=0.66 + 0.212,
        f_fr=391.0,
        ẑ=[-2e-5, 8.4e3],
        ẑ_law=[4e-3, 5.2e4],
        ẑ_own=[5e-3, 4.7e4],
        ẑ_flow=[7e-3, 3.9e4],
    )
    dry = CoulombViscous(F_c=310.0, b=520.0)
    bare = MeteredPart("lift", replace(BELIEVED, cylinder=replace(CYLINDER, friction=dry)), 0.7, 60)
    plain = bare.entry(
        replace(SECTION, cylinder=replace(CYLINDER, friction=dry)),
        given._replace(x=[0.2131], ẑ=[8.4e3], ẑ_law=[5.2e4], ẑ_own=[4.7e4], ẑ_flow=[3.9e4]),
    )
    row = part.entry(SECTION, given)
    strain, Δx = 7e6 * -5e-5, 0.052 - 0.031
    slip = 7e6 * 0.031 / (310.0 + 140.0 * np.exp(-((0.031 / 6e-3) ** 2)))
    bent = 0.031 - slip * 3e-5
    rubs = 7e6 * 3e-5 + 3e4 * bent + 520.0 * 0.031
    more = {name: row.perturbations[name] - value for name, value in plain.perturbations.items()}
    expected = {
        "hold": strain * 2e-3,
        "parameters": strain * 1e-3,
        "friction": strain * (4e-3 - bent) + Δx * (rubs - 310.0 - 520.0 * 0.031),
    }
    for name, value in more.items():
        assert value == pytest.approx(expected.get(name, 0.0), rel=1e-8, abs=1e-9), name
    stored = 0.5 * 7e6 * 5e-5**2
    assert row.storage - plain.storage == pytest.approx(stored)
    assert plain.perturbations["friction"] == pytest.approx(-Δx * (391.0 - 310.0 - 520.0 * 0.031))
    more = stored + Δx * (abs(rubs) - 310.0 - 520.0 * 0.031)
    assert row.scale - plain.scale == pytest.approx(more, rel=1e-6)
    shown = part.shown(SECTION, given)
    assert shown["undamped lift"] == pytest.approx(stored)
    assert shown["x lift"] == pytest.approx(0.212) and shown["room lift"] == pytest.approx(0.258)


def test_a_film_between_the_bristles_is_observed_as_they_are():
    """Strains of bristles and film, each with its own rates, before what is required of the spring."""
    film = ModifiedLuGre(v_s=6e-3, v_b=0.09)
    drive = replace(SECTION, cylinder=replace(CYLINDER, friction=film))
    part = MeteredPart("lift", drive, k_m=0.7, Kk_f=60.0)
    ẑ, x = [-2e-5, 0.11, 8.4e3], [0.2131, 3e-5, 0.07]
    rates = {"ẑ_law": [4e-3, 0.3, 5.2e4], "ẑ_own": [5e-3, 0.5, 4.7e4], "ẑ_flow": [7e-3, 0.9, 3.9e4]}
    given = ROD._replace(x=x, s=0.66 + 0.212, ẑ=ẑ, **rates)
    row = part.entry(drive, given)
    same = part.entry(drive, given._replace(x=[0.2131, *ẑ[:2]]))  # nothing is strained
    bristle, oil = film.strain([-2e-5, 0.11], [3e-5, 0.07])
    moved = lambda name: row.perturbations[name] - same.perturbations[name]
    work = abs(row.perturbations["parameters"])
    assert moved("parameters") == pytest.approx(bristle * 1e-3 + oil * 0.2, abs=1e-9 * work)
    assert row.storage - same.storage == pytest.approx(film.storage([-2e-5, 0.11], [3e-5, 0.07]))
    assert moved("hold") == pytest.approx(bristle * 2e-3 + oil * 0.4, rel=1e-6)
    bent = film.rate(0.031, [3e-5, 0.07])
    rubs = film.force(0.031, [3e-5, 0.07]) - film.force(0.031, [-2e-5, 0.11])
    lag = sum(s * (a - b) for s, a, b in zip((bristle, oil), (4e-3, 0.3), bent))
    assert moved("friction") == pytest.approx(lag + 0.021 * rubs)
    assert part.after(5e-3, 0.02, 9.9e3, ẑ, [0.3, 0.4, 7.0])[:-1] == pytest.approx(
        film.after(5e-3, 0.02, ẑ[:-1], [0.3, 0.4])
    )
    assert part.rubbing(0.02, 0.05, ẑ) == film.observer(0.02, 0.05, ẑ[:-1])
    rubbed = film.force(0.02, ẑ[:-1])
    assert part.believed([7e3], 0.9, 0.02, ẑ, None, None) == pytest.approx(7e3 - rubbed)


# ---- what rounding is measured against ----------------------------------------------------------------------------------
FEW = ROD._replace(
    steps={}, u=1e-9, v_r=0.031, ẑ_law=[0.0], ẑ_own=[0.0], ẑ_flow=[0.0], own_f_cr=0.0
)


@pytest.mark.parametrize(
    "changes, more",
    [
        ({"f_cr": -5.1e3}, lambda Δx: Δx * 5.1e3 / 1.7),
        ({"own_f_cr": -5.1e3}, lambda Δx: Δx * 5.1e3 / 1.3),
        ({"f_c": -5.1e3}, lambda Δx: Δx * 5.1e3 / 1.7),
        ({"f_fr": -5.1e3}, lambda Δx: Δx * 5.1e3 / 1.3),
        ({"own_f_fr": -5.1e3}, lambda Δx: Δx * 5.1e3 / 1.3),
    ],
)
def test_forces_that_cancel_are_in_the_magnitude_of_the_terms(changes, more):
    """|Δẋ| times each force, of whatever sign."""
    none = FEW._replace(f_cr=0.0, own_f_cr=0.0, f_c=0.0, f_fr=0.0, own_f_fr=0.0, v_r=-0.052)
    added = PART.entry(TRUE, none._replace(**changes)).scale - PART.entry(TRUE, none).scale
    assert added == pytest.approx(more(1.7 * 0.083), rel=1e-9)


# ---- the law of one rod ----------------------------------------------------------------------------------------------------
def test_what_of_the_required_force_the_oils_spring_carries():
    """τ ḟ_Kr = f_pr/i − f_Kr: its rate, where it is after a sample, exactly, and at the start of a run; bristles before it."""
    part = MeteredPart("lift", replace(BELIEVED, τ=0.04), k_m=0.7, Kk_f=60.0)
    ẑ, τ = [2e-5, 8.4e3], 0.04
    rubs = part.drive.friction
    assert part.flow(9.9e3, ẑ, [0.3]) == pytest.approx([0.3, 1.5e3 / τ])
    bristle, spring = part.after(5e-3, 0.02, 9.9e3, ẑ, [0.3, 7.0])
    assert bristle == pytest.approx(rubs.after(5e-3, 0.02, [2e-5], [0.3])[0])
    assert spring == pytest.approx(9.9e3 - 1.5e3 * np.exp(-5e-3 / τ))
    assert part.begun(9.9e3, ẑ) == pytest.approx([2e-5, 9.9e3])
    assert MeteredPart("b", KNOWN, 0.7, 60.0).begun(1.3e4, [5.0]) == pytest.approx([1e4])
    assert MeteredPart("b", KNOWN, 0.7, 60.0).flow(1.3e4, [4e3], []) == pytest.approx(
        [6e3 * 4.4e6 / 2.6e4]
    )
    geared = MeteredPart("b", KNOWN, 0.7, 60.0).after(5e-3, 0.02, 1.3e4, [4e3], [0.0])
    assert geared == pytest.approx([1e4 - 6e3 * np.exp(-5e-3 * 4.4e6 / 2.6e4)])
    assert [s.name for s in part.memory] == ["z_lift_observed", "f_Kr_lift"]
    assert [s.unit for s in part.memory] == ["m", "N"]
    motor = MeteredPart("swing", replace(KNOWN, section=Motor()), k_m=0.7, Kk_f=60.0)
    assert [s.unit for s in motor.memory] == ["N*m"]
    force, rate = part.rubbing(0.02, 0.05, ẑ)
    assert (force, rate) == rubs.observer(0.02, 0.05, [2e-5])


def test_the_force_that_is_taken_to_act():
    """A cylinder's is measured, a rod's is read from its place; times the gear, less the friction."""
    part = MeteredPart("lift", BELIEVED, k_m=0.7, Kk_f=60.0)
    ẑ = [2e-5, 8.4e3]
    rubs = part.drive.friction.force(0.02, [2e-5])
    assert part.measured == ("f_K_lift",) and PART.measured == ("rod_lift",)
    assert part.felt([7e3, 0.2], 0.9) == 7e3
    assert PART.felt([0.41], 0.3) == pytest.approx(4.4e6 * (0.41 - 1.3 * 0.3))
    assert part.believed([7e3], 0.9, 0.02, ẑ, None, None) == pytest.approx(7e3 - rubs)
    assert PART.believed([0.41], 0.3, 0.02, [8e3], None, None) == pytest.approx(1.3 * 4.4e6 * 0.02)
    assert part.acting(SECTION, [0.3, 1e-5], 0.9) == pytest.approx(SECTION.stiffness * 0.06)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_command_is_the_opening_for_the_speed_that_is_required(sign):
    """ṙ_r = i ẋ + ḟ_Kr/K + k_m i (ẋ_r − ẋ) + k_f (f_Kr − f_K) with the law's own numbers, through both orifices."""
    part = MeteredPart("lift", replace(KNOWN, section=VALVES), k_m=0.7, Kk_f=60.0)
    line = Line(165e5, 3e5)
    v, v_r, f_K = sign * 0.031, sign * 0.052, 4.4e6 * (0.4127 - 1.3 * 0.3165)
    memory = [f_K - 300.0, f_K + sign * 900.0]
    f_pr = 1.3 * (memory[-1] + sign * 350.0)
    flow = sign * 350.0 * 4.4e6 / 2.6e4
    speed = 1.3 * v + flow / 4.4e6 + 0.7 * 1.3 * (v_r - v) + 60.0 / 4.4e6 * sign * 900.0
    asked, areas = part.asks(part.drive, f_K, v, v_r, memory, [1e9, flow])
    assert asked == pytest.approx(speed) and tuple(areas) == (VALVES.A_h, VALVES.A_r)
    u = part.command(0.3165, v, v_r, [0.4127], memory, f_pr, None, line)
    assert u == pytest.approx(opening(speed, f_K + 2.6e4 * (speed - 1.3 * v), 162e5), rel=1e-9)


def test_margins_along_a_run_as_shares():
    """Room to the nearer end of half the stroke, command of 1, pressures of the higher relief; no stroke without an end."""
    part = MeteredPart("lift", replace(SECTION, P_hM=240e5, P_rM=210e5), k_m=0.7, Kk_f=60.0)
    q = {"x lift": np.array([0.1, 0.3]), "room lift": np.array([0.37, 0.17])}
    q |= {"inverse lift": np.array([-0.3, 0.8]), "push lift": np.array([60e5, 12e5])}
    q |= {"inside lift": np.array([24e5, -12e5])}
    shown = part.monitors(q, part.drive)
    assert shown["piston lift inside stroke"] == pytest.approx([0.2 / 0.47, 0.34 / 0.47])
    assert shown["valve lift within ±1"] == pytest.approx([0.7, 0.2])
    assert shown["pressure for lift"] == pytest.approx([0.25, 0.05])
    assert shown["lift off reliefs and checks"] == pytest.approx([0.1, -0.05])
    assert len(shown) == 4 and len(PART.monitors(q, TRUE)) == 3


def test_the_rate_at_which_a_rods_storage_decays():
    """2 K k_f (1 − B k_f/4) with the true K and B and the law's own k_f."""
    k_f = 60.0 / 4.4e6
    assert PART.rate(TRUE) == pytest.approx(2 * 3.1e6 * k_f * (1 - 2.3e4 * k_f / 4))


def test_gains_and_valves_that_a_rods_law_refuses():
    edge = replace(KNOWN, K=2.0**20, B=2.0**14)
    MeteredPart("lift", edge, k_m=0.7, Kk_f=255.9).check()
    for wrong in (256.0, 300.0):
        with pytest.raises(InputError, match="below 4/τ = 256 1/s"):
            MeteredPart("lift", edge, k_m=0.7, Kk_f=wrong).check()
    with pytest.raises(InputError, match="regeneration"):
        MeteredPart("lift", replace(KNOWN, regeneration="command"), k_m=0.7, Kk_f=60.0).check()


def test_ranges_of_its_commands():
    """Two where regeneration is an input, else the one of the valves."""
    assert TRUE.limits("lift") == {"u_c_lift": (-1.0, 1.0)}
    both = replace(TRUE, regeneration="input").limits("lift")
    assert both == {"u_c_lift": (-1.0, 1.0), "u_a_lift": (0.0, 1.0)}
