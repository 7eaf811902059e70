"""Valve circuits without pressure dynamics: Figs 3, 6, 8, 10, 12, 13 and Table 1 of [Kikuuwe21] beside ours.

    python -m reports.studies.kikuuwe22 [picture.svg]

Model, specification (what the paper says, in numbers and in words), analysis and result follow in this order. `results()` computes,
`check()` asserts, `main()` prints and draws. Curves could not be read, so only what the text says is compared. Not said there: base
pin of the cylinder, start angle, g, the time stepping of (79), inputs of Fig. 6(a), bleed of Figs 12 and 13, command of the second
arm; ours are the defaults of `plants.Arm` and those below, which put the one instant that is printed, 7.404 s, where it is.

Wrong in print besides what the rows show: (107m) P_M stands for P; (122h) leaves out openings all shut; (113) at v = 0 with one
main valve shut; (98), (101) at u_b = 0 on a jump of Γ_h+, where (105) need not end; (94b) Γ_r for Γ_r+.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from plants import Arm, MeteredArms
from plants.valve_circuits import TABLE_1, Γ, Circuit, Openings, Pump, Section, closed, operating
from plants.valve_circuits.stepping import Stepped, stepped
from reports.force_map import Map, force_map
from reports.studies.kikuuwe22_printed import printed_Γ, printed_Λ, printed_Φ_B, segments
from reports.studies.rows import Row, beside, by_name

# ---- model ----------------------------------------------------------------------------------------------------------
CIRCUIT, U_B = Circuit(), 0.2  # (66)
TWO = Circuit((Section("1"), Section("2")))
ARM = MeteredArms()  # u_b = 0.3
HIGH = MeteredArms(arms=(Arm(θ_0=np.radians(30)),))
PAIR = MeteredArms(arms=(Arm(θ_0=np.radians(-30)), Arm("2", θ_0=np.radians(-20))))
F_hM, F_rM = 0.024 * 42e6, 0.012 * 40e6  # N
H = 1e-3  # s
EDGE = 1e-9  # s, of switching instants


def between(t, start, end):
    return (t >= start - EDGE) & (t < end - EDGE)


def lifting(t):
    """u_c of Fig. 6(a)."""
    return np.where(between(t, 3, 6), -0.5, 0.0)


def shaking(t):
    """f_ey of Fig. 6(a) [N]."""
    return np.where(t < 6, 5e3 * np.sin(2 * np.pi * t), -76480.0 * (t - 6))


def lowering(t):
    """u_c of Fig. 10, and u_a."""
    return np.where(between(t, 0.5, 2.0), 0.5, 0.0)


def pair(second: float):
    """u_c of Fig. 13; the second arm's is 0 in scenario I."""
    return lambda t: np.stack(
        [np.where(between(t, 0.5, 2.5), -0.6, 0.0), np.where(between(t, 1.0, 2.0), second, 0.0)], -1
    )


# ---- specification --------------------------------------------------------------------------------------------------
ON_MAPS = f"""
3a    | Γ(0) from, u_c = 0.5                   | –       | N    | min(F_hM, A_h P_M, A_h Q²/U_b²) of (65): A_h P_M
3a    | Γ(0) to                                | {F_hM}  | N    | F_hM, by (65)
3b    | Γ(0) from, u_c = −0.5                  | {-F_rM} | N    | −F_rM, by (65)
3     | largest rise of Γ along v              | 0       | N    | “always … decreasing”
T1    | rows of Table 1 seen, v ≠ 0            | 16      | 1    | 1200 random points, each in one row
T1    | Γ off (64) of the row's name           | 0       | 1    | over F_hM + F_rM; the table is right as printed
(66)  | Q                                      | 0.00833 | m³/s | 500 l/min; the printed decimals are 0.04 % low
(64)  | error of Γ with max(ε, ·), u_b = 0.003 | –       | N    | machine ε is larger than U_b² in SI
(29)  | share of NaN, u_b ≤ 1e-8               | –       | 1    | rounding made discriminants negative; a_0 = a_1 = 0 gives 0/0
(73)  | velocity off there, at most            | –       | m/s  | max and min pass over NaN, and a wrong branch is left
(81)  | locked arm off after 0.3 s, as printed | –       | rad  | sign against (68a), (72): runs away
(68a) | locked arm off after 0.3 s             | –       | rad  | stands
"""
ON_RUNS = f"""
6  | the rod-side relief opens at          | 7.404   | s   | pins, angle, load are ours, chosen for this
6  | force from then on                    | {-F_rM} | N   | −F_rM
6  | arm moves while locked, peak to peak  | –       | rad | “holds its angle”
6  | rate swings, valves open to shut      | –       | 1   | “more fluctuating” when open
6  | |x − ℓ| at most                       | –       | m   | “less than a few centimeters”
10 | arm lower at 2 s with u_a = 0.5, by   | –       | rad | “faster”
10 | first impulse, u_a = 0.5 to 0         | –       | 1   | “smaller”; not if opened with u_c
10 | the same, u_a = 0.5 from the start on | –       | 1   | smaller, but then the arm
10 | sinks before u_c opens, by            | –       | rad | rod drains into the head side
13 | arm 1 raised, II to I                 | –       | 1   | “decelerated”
13 | before arm 2 moves, I and II apart    | –       | rad | arm 2 takes no flow yet
"""


# ---- analysis -------------------------------------------------------------------------------------------------------
V = 1.0  # m/s, as far as maps are drawn
COMMANDS = (-1.0, -0.7, -0.4, 0.0, 0.4, 0.7, 1.0)
BLEEDS = (0.0, 0.25, 0.5, 0.75, 1.0)
U_A = (0.0, 0.25, 0.5, 1.0)
OTHER = (0.0, 0.1, 0.2, 0.3)  # m/s, |v_2| of Fig. 12
PROBE = (-1e5, 0.0, 3e5)  # N, loads at which Figs 3(c), 3(d), 8 are read


@dataclass(frozen=True)
class Table:
    """Table 1 tried: points, rows seen, points in no row, largest gap between Γ and (64) of the row's name, over F_hM + F_rM."""

    points: int
    seen: frozenset[str]
    nowhere: int
    gap: float


@dataclass(frozen=True)
class Results:
    """Rows; maps of Fig. 3 (a), (b), by u_c, by u_b and of Fig. 8 by u_a; v_a [m/s] of Fig. 8; f_1 of Fig. 12 by direction and v_2;
    Table 1; runs of Figs 6, 10 (u_a = 0; 0.5 with u_c; 0.5 throughout), 13 (scenario I, II)."""

    rows: tuple[Row, ...]
    a: Map
    b: Map
    by_command: dict[float, Map]
    by_bleed: dict[float, Map]
    by_u_a: dict[float, Map]
    regenerated: dict[float, np.ndarray]
    shared: dict[int, dict[float, np.ndarray]]
    table: Table
    arm: Stepped
    down: tuple[Stepped, Stepped, Stepped]
    two: tuple[Stepped, Stepped]


def table_1(circuits: int = 150, seed: int = 4) -> Table:
    """Random circuits and openings at random velocities: the row that valve states say, against the force (64) gives it."""
    rng = np.random.default_rng(seed)
    seen = set()
    nowhere = 0
    gap = 0.0
    n = 0
    c = Section().c_ph
    for _ in range(circuits):
        A_r, A_h = np.sort(rng.uniform(0.006, 0.03, 2))
        P_M = rng.uniform(10e6, 36e6)
        section = Section(
            "1", A_h, A_r, *(P_M * 10 ** rng.uniform(-1.0, 0.2, 2)), *(c * rng.uniform(0.5, 2.0, 5))
        )
        circuit = Circuit((section,), Pump(rng.uniform(2e-3, 1e-2), P_M, c))
        u = 10 ** rng.uniform(-1.5, 0.0, 2)
        u_b = rng.uniform(0.05, 1.0)
        opened = (
            Openings(u_ph=u[0], u_tr=u[1])
            if rng.uniform() < 0.5
            else Openings(u_pr=u[0], u_th=u[1])
        )
        supply = circuit.supply(u_b)
        rows = circuit.rows(Openings(u[0], u[0], u[1], u[1]))[0]
        for v in (
            rng.choice((-1.3, 1.3), 8) * 10 ** rng.uniform(-2.0, 0.0, 8) * circuit.pump.Q / A_r
        ):
            at = operating(circuit, opened, u_b, [v])
            name = at.sections[0].segment
            n = n + 1
            if name is None:
                nowhere += 1
                continue
            seen.add(name)
            off = abs(float(at.f.low[0]) - segments(rows, supply, v)[name])
            gap = max(gap, off / (A_h * section.P_hM + A_r * section.P_rM))
    return Table(n, frozenset(seen), nowhere, gap)


def speed(found: Map, f: float) -> float:
    """v at which a map passes the force f."""
    return float(np.interp(-f, -found.f, found.v))


def regeneration(u_a: float, velocities) -> np.ndarray:
    """v_a = Q_a/A_r."""
    opened = Openings.command(0.5, u_a)
    return (
        np.array([operating(CIRCUIT, opened, U_B, [v]).sections[0].Q_a for v in velocities])
        / CIRCUIT.sections[0].A_r
    )


def shared(way: int, v_2: float, velocities) -> np.ndarray:
    """f_1 (limit from above) over v_1 with both commands ±0.5, Fig. 12."""
    opened = (Openings.command(0.5 * way),) * 2
    return np.array([Γ(TWO, opened, U_B, [v, way * v_2]).low[0] for v in velocities])


def printed_where_hardly_bled(n: int = 100000) -> tuple[float, float]:
    """Share of NaN in (29), and the worst velocity of (73), (74) as printed less ours, for u_b from 1e-12 to 1e-8."""
    rng, (Q, P_M, k_b) = np.random.default_rng(9), CIRCUIT.supply(1.0)
    row = list(CIRCUIT.rows(Openings.command(1.0))[0])
    supply = [Q * rng.uniform(0.2, 1.0, n), P_M, k_b * 10 ** rng.uniform(-12, -8, n)]
    row[4], row[7] = row[4] * rng.uniform(0.02, 1.0, n), row[7] * rng.uniform(0.02, 1.0, n)
    s = closed.sides(row, supply)[0]
    β = 10 ** rng.uniform(4, 7, n)
    f = rng.uniform(-1.2e6, 1.0e6, n)
    with np.errstate(all="ignore"):
        broken = np.isnan(printed_Φ_B(β, f, s.a_i * s.a_o / (s.a_i + s.a_o), s.a_b, s.x_1))
        off = np.abs(printed_Λ(row, supply, β, f) - closed.Λ(row, supply, β, f))
    return float(broken.mean()), float(off[f < closed.standing(s)].max())


def workaround(u_b: float = 0.003) -> float:
    """Largest error of Γ [N] with machine epsilon for ε."""
    row = CIRCUIT.rows(Openings.command(0.5))[0]
    supply = CIRCUIT.supply(u_b)
    v = np.linspace(1e-3, 0.8, 4000)
    with np.errstate(over="ignore"):
        return float(
            np.abs(printed_Γ(row, supply, v, np.finfo(float).eps) - closed.Γ(row, supply, v)).max()
        )


def runs_away(sign: float) -> float:
    """Angle [rad] that a locked arm is off after 0.3 s, with (81) as printed (−1) or as (68a) has it (+1)."""
    a = ARM.arms[0]
    θ = ARM.arms[0].θ_0
    dθ = 0.0
    h = 1e-4
    for _ in range(3000):
        dθ += h * a.torque(θ, sign * a.held(θ, dθ, a.length(a.θ_0)), 0.0, ARM.g) / a.inertia
        θ += h * dθ
    return abs(float(θ) - a.θ_0)


def impulse(run: Stepped) -> float:
    """Largest change of force just after the valves open at 0.5 s, N."""
    at = between(run.t, 0.5, 0.7)
    return float(np.abs(run.f[at, 0] - run.f[499, 0]).max())


def swing(t, values) -> float:
    """Peak to peak about the line through the values."""
    return float(np.ptp(values - np.polyval(np.polyfit(t, values, 1), t)))


def at_rest(found: Map) -> tuple[float, float]:
    """Γ(0) from, to."""
    return next((low, high) for v, low, high in found.sets if v == 0.0)


def of_the_maps(a: Map, b: Map, table: Table) -> dict[str, float]:
    """Numbers on Sections 3 and 4: Γ and Λ."""
    broken, off = printed_where_hardly_bled()
    return {
        "Γ(0) from, u_c = 0.5": at_rest(a)[0],
        "Γ(0) to": at_rest(a)[1],
        "Γ(0) from, u_c = −0.5": at_rest(b)[0],
        "largest rise of Γ along v": max(np.diff(m.f).max() for m in (a, b)),
        "rows of Table 1 seen, v ≠ 0": len(table.seen),
        "Γ off (64) of the row's name": table.gap,
        "Q": CIRCUIT.pump.Q,
        "error of Γ with max(ε, ·), u_b = 0.003": workaround(),
        "share of NaN, u_b ≤ 1e-8": broken,
        "velocity off there, at most": off,
        "locked arm off after 0.3 s, as printed": runs_away(-1.0),
        "locked arm off after 0.3 s": runs_away(1.0),
    }


def of_the_runs(arm: Stepped, down, two) -> dict[str, float]:
    """Numbers on Figs 6, 10, 13."""
    return {**of_the_arm(arm), **of_lowering(*down), **of_the_pair(*two)}


def of_the_arm(arm: Stepped) -> dict[str, float]:
    """Numbers on Fig. 6."""
    late = (arm.t > 6.2) & (np.abs(arm.v[:, 0]) > 1e-9)
    rate = arm.dθ[:, 0]
    lengths = np.array([ARM.arms[0].length(θ) for θ in arm.θ[:, 0]])
    held = between(arm.t, 1, 3)
    moved = between(arm.t, 4, 6)
    calm = swing(arm.t[held], rate[held])
    return {
        "the rod-side relief opens at": arm.t[late][0],
        "force from then on": arm.f[late & (arm.t < 7.8), 0].max(),
        "arm moves while locked, peak to peak": np.ptp(arm.θ[arm.t < 3, 0]),
        "rate swings, valves open to shut": swing(arm.t[moved], rate[moved]) / calm,
        "|x − ℓ| at most": np.abs(arm.x[:, 0] - lengths).max(),
    }


def of_lowering(shut: Stepped, opened: Stepped, early: Stepped) -> dict[str, float]:
    """Numbers on Fig. 10: regeneration shut, opened with u_c, open from the start on."""
    return {
        "arm lower at 2 s with u_a = 0.5, by": shut.θ[2000, 0] - opened.θ[2000, 0],
        "first impulse, u_a = 0.5 to 0": impulse(opened) / impulse(shut),
        "the same, u_a = 0.5 from the start on": impulse(early) / impulse(shut),
        "sinks before u_c opens, by": np.ptp(early.θ[:501, 0]),
    }


def of_the_pair(alone: Stepped, both: Stepped) -> dict[str, float]:
    """Numbers on Fig. 13: scenarios I and II."""
    apart = np.abs(both.θ[:1001, 0] - alone.θ[:1001, 0])
    return {
        "arm 1 raised, II to I": np.ptp(both.θ[:, 0]) / np.ptp(alone.θ[:, 0]),
        "before arm 2 moves, I and II apart": apart.max(),
    }


def results() -> Results:
    """Everything; about two seconds."""
    shown = lambda u_c, u_b, u_a=0.0: force_map(
        CIRCUIT, Openings.command(u_c, u_a), u_b, -V, V, 121
    )
    a = shown(0.5, U_B)
    b = shown(-0.5, U_B)
    table = table_1()
    along = np.linspace(1e-6, V, 81)
    cross = np.linspace(1e-6, 0.6, 25)
    arm = stepped(ARM, 10.0, H, lifting, shaking)
    down = tuple(stepped(HIGH, 2.5, H, lowering, 0.0, u_a) for u_a in (0.0, lowering, 0.5))
    two = tuple(stepped(PAIR, 3.0, H, pair(u)) for u in (0.0, 0.6))
    on_maps = beside(ON_MAPS, of_the_maps(a, b, table))
    on_runs = beside(ON_RUNS, of_the_runs(arm, down, two))
    return Results(
        rows=(*on_maps, *on_runs),
        a=a,
        b=b,
        by_command={u: shown(u, U_B) for u in COMMANDS},
        by_bleed={u: shown(0.7, u) for u in BLEEDS},
        by_u_a={u: shown(0.5, U_B, u) for u in U_A},
        regenerated={u: regeneration(u, along) for u in U_A},
        shared={way: {w: shared(way, w, way * cross) for w in OTHER} for way in (1, -1)},
        table=table,
        arm=arm,
        down=down,
        two=two,
    )


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Results) -> None:
    """What the study says, as assertions."""
    ours = by_name(found.rows)
    check_table(ours, found.table)
    check_maps(found)
    check_sharing(found)
    check_runs(ours)
    check_print(ours)


def check_table(ours: dict[str, float], table: Table) -> None:
    """What is printed of Γ at rest and of Table 1 is so."""
    assert abs(ours["Γ(0) from, u_c = 0.5"] - 0.024 * 36e6) < 1e-3
    assert abs(ours["Γ(0) to"] - F_hM) < 1e-3
    assert abs(ours["Γ(0) from, u_c = −0.5"] + F_rM) < 1e-3
    assert ours["largest rise of Γ along v"] <= 1e-6
    assert table.seen == set(TABLE_1) - {"0"}
    assert table.nowhere == 0 and table.gap < 1e-9


def check_maps(found: Results) -> None:
    """All maps decrease; rods are faster with more command, slower with more bleed, faster with regeneration."""
    for maps in (found.by_command, found.by_bleed, found.by_u_a):
        assert max(np.diff(m.f).max() for m in maps.values()) < 1e-3
    for f in PROBE:
        by_command = [speed(m, f) for m in found.by_command.values()]
        by_bleed = [speed(m, f) for m in found.by_bleed.values()]
        assert np.all(np.diff(by_command) >= -1e-9) and by_command[-1] > by_command[0] + 0.1
        assert np.all(np.diff(by_bleed) <= 1e-9)
    assert speed(found.by_bleed[1.0], 0.0) < speed(found.by_bleed[0.0], 0.0) - 0.01
    pushed, pulled = ([speed(m, f) for m in found.by_u_a.values()] for f in (PROBE[0], PROBE[2]))
    assert np.all(np.diff(pushed) > 0.01)
    assert np.ptp(pulled) < np.ptp(pushed)  # “especially in the region f < 0”


def check_sharing(found: Results) -> None:
    """Regeneration carries more the further it is open; what the other section takes is missing in one."""
    flows = list(found.regenerated.values())
    assert all(np.all(b >= a - 1e-9) for a, b in zip(flows, flows[1:]))
    assert not flows[0].any() and flows[-1].max() > 0.05
    assert all(np.all(np.diff(q) >= -1e-6) for q in flows)
    for way, taken in found.shared.items():
        forces = [way * f for f in taken.values()]
        assert all(np.all(np.diff(way * f) * way <= 1e-3) for f in forces)
        assert all(np.all(b <= a + 1e-3) for a, b in zip(forces, forces[1:]))
        assert (forces[0] - forces[-1]).max() > 1e5


def check_runs(ours: dict[str, float]) -> None:
    """What the text says of Figs 6, 10 and 13. That the impulse is smaller needs u_a open before, and a sinking arm."""
    assert abs(ours["the rod-side relief opens at"] - 7.404) < 1.5e-3
    assert abs(ours["force from then on"] + F_rM) < 1e-3
    assert ours["arm moves while locked, peak to peak"] < 0.01
    assert ours["rate swings, valves open to shut"] > 2.0
    assert ours["|x − ℓ| at most"] < 0.03
    assert ours["arm lower at 2 s with u_a = 0.5, by"] > 0.1
    assert abs(ours["first impulse, u_a = 0.5 to 0"] - 1) < 1e-3
    assert ours["the same, u_a = 0.5 from the start on"] < 0.5
    assert ours["sinks before u_c opens, by"] > 0.05
    assert 0.3 < ours["arm 1 raised, II to I"] < 0.97
    assert ours["before arm 2 moves, I and II apart"] == 0.0


def check_print(ours: dict[str, float]) -> None:
    """What is wrong in print shows."""
    assert ours["error of Γ with max(ε, ·), u_b = 0.003"] > 5e4
    assert ours["share of NaN, u_b ≤ 1e-8"] > 1e-3
    assert ours["velocity off there, at most"] > 0.05
    assert ours["locked arm off after 0.3 s, as printed"] > 1.0
    assert ours["locked arm off after 0.3 s"] < 0.01


def main() -> None:
    """Print the rows; draw into the file named."""
    from reports.studies.kikuuwe22_shown import draw, text

    found = results()
    check(found)
    print(text(found))
    if sys.argv[1:]:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
