"""Four friction laws in a hydraulic four-bar: Section 6 of [Jaiswal21], each published number beside ours, and why they differ.

    python -m reports.studies.jaiswal21 [picture.svg]

Model (the four-bar twice: as the paper solves it and as `plants.four_bar.linkage` does), specification (what the paper says of its
Figs 8–12), analysis and result follow in this order. `results()` computes, `check()` asserts, `main()` prints and draws.
Tables 1 to 3 and the curves could not be read: circuit and friction are those of sibling sources (`plants/parameters/four-bar.yaml`
says which), and only what the text says in words and numbers is compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from plants import BengisuAkay, BrownMcPhee, LuGre, ModifiedLuGre, machine
from plants.four_bar.linkage import WORK_CYCLE, FourBar, cylinder_work, drift
from plants.multibody.mechanism import Actuator, Body, Loop, Mechanism
from plants.multibody.parts import Pin, Place
from plants.multibody.penalty.integrator import stepper
from plants.multibody.penalty.run import simulate as paper_method
from reports.studies.rows import cells, check_names
from workbench import Log, Scenario, simulate
from workbench.run.energy import energy_gap

# ---- model ----------------------------------------------------------------------------------------------------------
# Friction: F_c, F_s, b (σ_2), v_s of a crane of the same laboratory; the rest are assumptions that only their order supports.
PLANT = machine("four-bar").plant
COMMON = dict(F_c=210.0, F_s=300.0, v_s=5e-3, b=330.0)
BRISTLES = dict(σ_0=6e6, σ_1=2e4)
LAWS = {
    "Bengisu–Akay": BengisuAkay(ξ=200.0, **COMMON),
    "Brown–McPhee": BrownMcPhee(**COMMON),
    "LuGre": LuGre(**BRISTLES, **COMMON),
    "modified LuGre": ModifiedLuGre(v_b=0.02, τ_hp=0.05, τ_hn=0.5, τ_h0=20.0, **BRISTLES, **COMMON),
}
PRINTED = np.radians([60.0, -37.90, -93.58])  # start angles as printed
F_PRINTED = 681.23  # N, F_c at the start as printed
STEP, T = 1e-3, 10.0  # s


def exact(law) -> FourBar:
    """The four-bar in its one coordinate."""
    return replace(PLANT, circuit=replace(PLANT.circuit, friction=law))


def as_published(law) -> Mechanism:
    """The same in three relative angles, the loop cut at E, solved by penalties and the trapezoidal rule (9)–(12), (35)–(42)."""
    p = PLANT
    bars = []
    for name, length, m, start in (
        ("crank", p.L_1, p.m_1, "60 deg"),
        ("coupler", p.L_2, p.m_2, "-37.90 deg"),
        ("rocker", p.L_3, p.m_3, "-93.58 deg"),
    ):
        J = m * length**2 / 12
        at = (2 * bars[-1].com[0], 0.0, 0.0) if bars else (0.0, 0.0, 0.0)
        bars.append(
            Body(
                name,
                bars[-1].name if bars else "ground",
                point=at,
                mass=m,
                com=(length / 2, 0.0, 0.0),
                inertia=(0.0, J, J, 0.0, 0.0, 0.0),
                start=start,
                hold=not bars,
            )
        )
    cylinder = Actuator(
        "c", exact(law).circuit, Pin("ground", (-p.x_G, 0.0, 0.0)), Pin("crank", (p.x_F, 0.0, 0.0))
    )
    return Mechanism(
        tuple(bars),
        (Loop("E", Place("rocker", (p.L_3, 0.0, 0.0)), Place("ground", (p.L_0, 0.0, 0.0))),),
        (cylinder,),
        gravity=(0.0, -p.g, 0.0),
        method="penalty",
    )


# ---- specification --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Row:
    """What is compared, where it is published, the number there, by the paper's method as we remade it, and by `FourBar`."""

    where: str
    what: str
    published: float
    remade: float
    ours: float
    unit: str
    why: str


ON_TEXT = """
5    | F_c at the start                    | N | virtual work of the printed masses and lengths: the cylinder pulls
10   | max |W| from 681.23 N, Brown–McPhee | J | the crank swings, the work hardly changes: {W:.2f} J from rest
5    | the loop is open at the start by    | m | angles printed to two decimals; ours closes exactly
10   | energy that closing it costs        | J | 97 to 99 % of the published drift, at the first step
(44) | l_2 with the piston farthest out    | m | sign of (44) is against (43): V_2 must grow by A_2 ṡ
(46) | the valve closes for good at        | s | “t ≤ 9 s” with value 0 contradicts the lines below it; Section 6.1 has 5 to 8 s
(22) | jump of friction at v_s             | N | σ_2 v belongs in both branches
"""
ON_LAWS = """
10 | max |W|                   | J   | 0.2 %: circuit and friction are not the paper's own
10 | peak drift                | J   | at {at:.1f} s; {opening:.3f} J at 1 s, as published; from closed angles {closed:.3f} J
11 | Newton iterations, mostly | 1   | mean {mean:.2f}, at most {most}; ours factors one matrix a step
–  | z_1 off at steps of 1 ms  | rad | order {order:.2f}: opens the valve half a step early; pressures are {kPa:.0f} kPa off
"""
WORK = dict(zip(LAWS, (121.02, 120.99, 120.94, 120.97)))  # J, Section 6.3
DRIFT = dict(zip(LAWS, (0.45, 0.45, 0.44, 0.44)))  # J
ITERATIONS = dict(zip(LAWS, (1, 1, 2, 2)))  # “mostly”, Section 6.4
CHEAPEST_FIRST = ("Brown–McPhee", "Bengisu–Akay", "LuGre", "modified LuGre")


@dataclass(frozen=True)
class Approach:
    """One law: our run; the paper's method from its printed angles and from closed ones; its errors (rad, Pa) at STEPS; ours (rad)
    at the first of them; operations of its texts a step; ours in steps of 0.1 ms around the first opening and closing."""

    ours: Log
    printed: Log
    closed: Log
    errors: np.ndarray
    own_error: float
    operations: float
    fine: Log

    @property
    def iterations(self) -> np.ndarray:
        """Of every step, started as printed."""
        return self.printed.array("iterations")[1:].astype(int)

    @property
    def mostly(self) -> int:
        return int(np.bincount(self.iterations).argmax())


SPEEDS = (0.02, 0.03)  # m/s, while sliding: bristles bend below
STEPS = (1e-3, 5e-4, 2.5e-4)  # s


@dataclass(frozen=True)
class Results:
    """Rows; what each law does; errors (rad) of the paper's method at STEPS where the valve's reference jumps midway in a step."""

    rows: tuple[Row, ...]
    laws: dict[str, Approach]
    midway: np.ndarray


# ---- analysis -------------------------------------------------------------------------------------------------------
def cycle(plant, duration: float = T, **more) -> Log:
    return simulate(plant, Scenario(duration, disturbances={"U_ref": WORK_CYCLE}, **more))


def remade(
    bars: Mechanism,
    angles: Sequence[float] | None = None,
    force: float | None = None,
    step: float = STEP,
) -> Log:
    """The paper's method from the closed start, or from other angles and a cylinder force."""
    x = list(bars.initial())
    closed = bars.initial()
    if angles is not None:
        x[:3] = map(float, angles)
    if force is not None:
        circuit = bars.actuators[0].drive
        x[6:] = circuit.initial(circuit.s_0, force)
    # Left as it is, loop open.
    offset = {s.name: one - other for s, one, other in zip(bars.states, x, closed) if one != other}
    return paper_method(
        bars,
        Scenario(
            T, disturbances={"U_ref_c": WORK_CYCLE}, offset=offset, max_step=step, log_period=STEP
        ),
    )


def mechanism_work(log: Log) -> np.ndarray:
    """W(t) of a mechanism's log, J: force times rate, by the trapezoidal rule."""
    power = log.array("f_c") * log.array("ds_c")
    return np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(log.time))])


def mechanism_drift(log: Log) -> np.ndarray:
    """Potential and kinetic energy gained less the cylinder's work, J: what is stored less what all causes brought."""
    causes = [name for name in log.names if name.startswith("E_") and name != "E_stored"]
    return energy_gap(log.array("E_stored"), {name: log.array(name) for name in causes})


def operations(bars: Mechanism, log: Log) -> float:
    """Operations a step: the residual and its tangent twice an iteration, metric and projection once."""
    parts = {name: part.flow.n_instructions() for name, part in stepper(bars)[0].parts.items()}
    return (
        2 * float(log.array("iterations")[1:].mean()) * parts["residual"]
        + parts["metric"]
        + parts["bias"]
    )


def lag(log: Log) -> np.ndarray:
    """Friction (N) at SPEEDS while the opened valve makes the piston faster, and while the closed one stops it."""
    t = log.time
    v = log.array("ds")
    F = log.array("F_mu")
    faster = (t > 1.0) & (t < 1.3)
    slower = t > 2.5
    first = int(np.argmax(v[faster] > SPEEDS[-1])) + 1
    last = int(np.argmax(v[slower] < 0.5 * SPEEDS[0]))
    return np.array(
        [
            np.interp(SPEEDS, v[faster][:first], F[faster][:first]),
            np.interp(SPEEDS, v[slower][:last][::-1], F[slower][:last][::-1]),
        ]
    )


def approach(law) -> Approach:
    plant = exact(law)
    bars = as_published(law)
    truth = cycle(plant, max_step=2e-4, log_period=STEP)
    ours = cycle(plant)
    printed = remade(bars, PRINTED)
    runs = [remade(bars, step=step) for step in STEPS]
    far = lambda log, name, own: float(np.abs(log.array(name) - truth.array(own)).max())
    errors = np.array([[far(log, "q_crank", "z_1"), far(log, "p_3_c", "p_3")] for log in runs])
    return Approach(
        ours,
        printed,
        runs[0],
        errors,
        far(ours, "z_1", "z_1"),
        operations(bars, printed),
        cycle(plant, 2.8, max_step=1e-4, log_period=1e-4),
    )


def midway(law) -> np.ndarray:
    """Errors (rad) at STEPS with every jump of U_ref half a step later: the trapezoidal rule takes a jump at a step's end for
    one in its middle."""
    plant = exact(law)
    bars = as_published(law)
    found = []
    for step in STEPS:
        later = replace(WORK_CYCLE, times=tuple(t + step / 2 if t else t for t in WORK_CYCLE.times))
        truth = simulate(
            plant, Scenario(T, disturbances={"U_ref": later}, max_step=2e-4, log_period=STEP)
        )
        log = paper_method(
            bars, Scenario(T, disturbances={"U_ref_c": later}, max_step=step, log_period=STEP)
        )
        found.append(float(np.abs(log.array("q_crank") - truth.array("z_1")).max()))
    return np.array(found)


def rounding(bars: Mechanism) -> tuple[float, float]:
    """(J, m): potential energy that closing the loop from the printed angles takes away, and how far it was open."""
    still = [0.0] * 3
    closed = bars.project(0.0, [*map(float, PRINTED), *bars.initial()[3:]])[:3]
    high = [float(bars.energies(list(map(float, z)), still)[1]) for z in (PRINTED, closed)]
    return high[0] - high[1], float(
        np.linalg.norm(np.array(bars.constraints(list(map(float, PRINTED)))[0], float)[:2])
    )


def jump_of_22(law: BengisuAkay) -> float:
    """Jump of (22) as printed at v_s, N: its first branch, F_s − F_s (v/v_s − 1)², lacks the σ_2 v of the second."""
    return (law.F_c + (law.F_s - law.F_c) + law.b * law.v_s) - law.F_s


def of_the_text(found: dict[str, Approach], swinging: Log, cost: float, gap: float) -> list[Row]:
    """Rows on Section 5: what the text says, and what follows from it."""
    brown = found["Brown–McPhee"].ours
    s = brown.array("s")
    stroke = float(s.max() - s[0])
    l_20 = PLANT.circuit.l_20
    law = LAWS["Bengisu–Akay"]
    below, above = (float(law.force(law.v_s * (1 + e))) for e in (-1e-9, 1e-9))
    numbers = {  # published, remade, ours
        "F_c at the start": (F_PRINTED, nan, float(PLANT.holding_force(PLANT.z_10))),
        "max |W| from 681.23 N, Brown–McPhee": (WORK["Brown–McPhee"], nan, most_work(swinging)),
        "the loop is open at the start by": (0.0, gap, 0.0),
        "energy that closing it costs": (nan, cost, 0.0),
        "l_2 with the piston farthest out": (l_20 - stroke, nan, l_20 + stroke),
        "the valve closes for good at": (9.0, nan, float(WORK_CYCLE.times[-1])),
        "jump of friction at v_s": (jump_of_22(law), nan, abs(above - below)),
    }
    lines = cells(ON_TEXT.format(W=most_work(brown)))
    check_names((what for _, what, *_ in lines), numbers)
    return [Row(where, what, *numbers[what], unit, why) for where, what, unit, why in lines]


def most_work(log: Log) -> float:
    """The largest |W| of our run, J."""
    return float(np.abs(cylinder_work(log)).max())


def by_law(name: str, a: Approach) -> list[Row]:
    """Rows on Section 6 of one law."""
    top = lambda values: float(np.abs(values).max())
    gap = np.abs(mechanism_drift(a.printed))
    numbers = {  # published, remade, ours
        "max |W|": (WORK[name], top(mechanism_work(a.printed)), most_work(a.ours)),
        "peak drift": (DRIFT[name], top(mechanism_drift(a.printed)), top(drift(a.ours))),
        "Newton iterations, mostly": (ITERATIONS[name], a.mostly, 1),
        "z_1 off at steps of 1 ms": (nan, a.errors[0, 0], a.own_error),
    }
    reasons = ON_LAWS.format(
        at=float(a.printed.time[gap.argmax()]),
        opening=gap[a.printed.time < 1.5].max(),
        closed=top(mechanism_drift(a.closed)),
        mean=a.iterations.mean(),
        most=a.iterations.max(),
        order=float(np.log2(a.errors[0, 0] / a.errors[1, 0])),
        kPa=a.errors[0, 1] / 1e3,
    )
    return [
        Row(where, f"{what}, {name}", *numbers[what], unit, why)
        for where, what, unit, why in cells(reasons)
    ]


def results() -> Results:
    """Everything but times, which are no result."""
    found = {name: approach(law) for name, law in LAWS.items()}
    swinging = cycle(replace(PLANT, F_0=F_PRINTED))
    cost, gap = rounding(as_published(LAWS["Brown–McPhee"]))
    rows = of_the_text(found, swinging, cost, gap) + [
        row for name, a in found.items() for row in by_law(name, a)
    ]
    return Results(tuple(rows), found, midway(LAWS["Brown–McPhee"]))


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Results) -> None:
    """What the study says, as assertions."""
    row = {r.what: r for r in found.rows}
    check_text(row)
    for name, a in found.laws.items():
        check_work(row, name)
        check_drift(row, name, a)
        check_method(row, name, a)
        check_lag(name, a)
    # What is left of the first-order error, once the jumps are midway, is of second order.
    order = np.log2(found.midway[:-1] / found.midway[1:])
    assert np.all(np.abs(order - 2) < 0.1)
    cost = [found.laws[name].operations for name in CHEAPEST_FIRST]
    assert all(one < following for one, following in zip(cost, cost[1:])), cost


def check_text(row: dict[str, Row]) -> None:
    """Section 5 contradicts itself as the rows say."""
    start = row["F_c at the start"]
    assert abs(start.ours + 386.0) < 0.05 and start.published * start.ours < 0
    swung = row["max |W| from 681.23 N, Brown–McPhee"].ours
    assert 0 < swung - row["max |W|, Brown–McPhee"].ours < 0.2
    assert abs(row["energy that closing it costs"].remade - 0.436) < 0.001
    assert abs(row["the loop is open at the start by"].remade - 0.88e-3) < 5e-6
    length = row["l_2 with the piston farthest out"]
    assert length.published < PLANT.circuit.l_20 < length.ours
    jump = row["jump of friction at v_s"]
    assert abs(jump.published - 1.65) < 1e-9 and jump.ours < 1e-6


def check_work(row: dict[str, Row], name: str) -> None:
    """The work of a law is the paper's, remade and ours."""
    work = row[f"max |W|, {name}"]
    assert abs(work.ours / work.published - 1) < 3e-3
    assert abs(work.remade / work.published - 1) < 3e-3


def check_drift(row: dict[str, Row], name: str, a: Approach) -> None:
    """The published drift is the closing of rounded angles: there with them from the first step on, gone without."""
    cost = row["energy that closing it costs"].remade
    gap = row[f"peak drift, {name}"]
    closed = np.abs(mechanism_drift(a.closed)).max()
    assert abs(gap.remade - gap.published) < 0.015
    assert gap.remade > cost > 0.96 * gap.published
    assert abs(float(mechanism_drift(a.printed)[1]) + cost) < 0.01
    assert closed < 0.017
    assert gap.ours < 5e-4 < 0.05 * closed


def check_method(row: dict[str, Row], name: str, a: Approach) -> None:
    """Iterations are as printed, more only where the valve moves; the method is of first order in the step."""
    often = row[f"Newton iterations, mostly, {name}"]
    assert often.remade == often.published
    late = a.printed.time[1:][a.iterations >= 3]
    assert all(np.abs(late - t).min() < 0.02 for t in WORK_CYCLE.times[1:])
    assert a.iterations.max() <= 5
    order = np.log2(a.errors[:-1] / a.errors[1:])
    assert np.all(np.abs(order - 1) < 0.1)
    assert a.errors[0, 0] > 100 * a.own_error
    assert a.own_error < 1.5e-6


def check_lag(name: str, a: Approach) -> None:
    """Bristles lag: more friction while the piston gains speed than while it loses it; without them there is no difference."""
    lead = np.subtract(*lag(a.fine))
    if name in ("LuGre", "modified LuGre"):
        assert np.all(lead > 40.0), (name, lead)
    else:
        assert np.all(np.abs(lead) < 1.0), (name, lead)


def main(picture: str | None = None) -> None:
    """Print the tables, draw Figs 7 to 12."""
    from reports.studies.jaiswal21_shown import draw, seconds, text

    found = results()
    spent = seconds()
    print(text(found, spent))
    check(found)
    if picture:
        draw(found, spent, picture)
        print(f"wrote {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
