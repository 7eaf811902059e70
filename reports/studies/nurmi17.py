"""What energy-optimal motion of a redundant crane saves [Nurmi17]: planned over triangles, loads and cylinders, and driven.

    python -m reports.studies.nurmi17

The paper plans triangles of a forestry-like crane and reports 15–30 % less energy than the pseudo-inverse. Here HIAB XS 031 with
its full dynamics walks four triangles, one with a load, one with larger cylinders of lift and tilt, on a pump at constant pressure
and on one that follows the load. Then one triangle is driven on the machine with pressures, valves and friction, and metered at
the pump. Model, specification, analysis and result follow in this order. `results()` computes, `check()` asserts, `main()` prints.

Found: against the weighted pseudo-inverse the optimum saves 4–17 % at constant pressure, mostly less than the paper's range, and
34–42 % under load sensing, more than it. At the pump 5 % are left of the 30 % planned for the triangle driven by VDC, and PID loses
energy: in half of the steps the optimum lets a loaded cylinder creep so that its pressure does not count, and a pump feels it.
Planned with creep and back pressure, 12–13 % are left under either law. All that is said of the runs is `sampled`: these runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

from plants.load_sensing import on_supply
from plants.planar_whole import WholeCrane
from plants.shipped import machine
from workbench.edit import changed
from workbench.errors import InputError
from workbench.file import laws
from workbench.planning import ConstantPressure, LoadSensing, Search, Task, optimise
from workbench.planning.baselines import pointwise, pseudo_inverse
from workbench.planning.driven import SETTINGS, Drive, drive, loop
from workbench.reference import Waypoints

# ---- model ----------------------------------------------------------------------------------------------------------
TRIANGLES = {"reference": ((2.3, 0.2), (3.9, 2.4), (3.9, 0.2)), "low": ((2.4, -0.4), (3.6, -0.4), (3.6, 0.8)),
             "tall": ((2.2, 0.4), (3.0, 2.6), (3.4, 0.4)), "near": ((2.2, 0.0), (3.0, 1.6), (3.0, 0.0))}
CHANGES = {"near, 60 kg more": ("near", {"payload.mass": "60 kg"}),
           "near, larger lift and tilt": ("near", {"lift.bore": "90 mm", "tilt.bore": "90 mm"})}
CASES = {name: (name, {}) for name in TRIANGLES} | CHANGES
LEG, STEPS, ROOM = 10.0, 150, 0.03
SEARCH = Search(nodes=209, finest=2e-5)
DRIVEN, DRIVEN_ROOM = "low", 0.08  # m: a PID strays by centimetres

# ---- specification --------------------------------------------------------------------------------------------------
PAPER = (0.15, 0.30)  # less energy than the pseudo-inverse, as the paper has it


class Row(NamedTuple):
    """Energies of one case, J: by dynamic programming and by others; None where one passes a limit."""

    case: str
    supply: str
    best: float
    others: dict[str, float | None]
    creeping: int

    def saving(self, other: str) -> float | None:
        """Part of the other's energy that the optimum saves."""
        energy = self.others[other]
        return None if energy is None else 1 - self.best / energy


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """rows: planned; drives: (law, motion) → Drive on a load-sensing pump."""

    rows: tuple[Row, ...]
    drives: dict[tuple[str, str], Drive]


# ---- analysis -------------------------------------------------------------------------------------------------------
def task(case: str, supply: Any, room: float = ROOM) -> Task:
    """One case under a supply."""
    triangle, change = CASES[case]
    points = TRIANGLES[triangle]
    crane = WholeCrane.of(changed(machine("hiab-xs031").plant, change))
    return Task(crane, Waypoints("cartesian", (*points, points[0]), LEG), supply, STEPS, start=room, room=room)


def planned(case: str, supply: Any) -> Row:
    """The optimum beside the pseudo-inverse and pointwise optima."""
    t = task(case, supply)
    best = optimise(t, SEARCH)
    makers = {"pseudo-inverse": lambda: pseudo_inverse(t), "pointwise, pump flow": lambda: pointwise(t, ConstantPressure(1.0))}
    if supply.needs_forces:
        makers["pointwise, own"] = lambda: pointwise(t, supply)
    others = {}
    for name, make in makers.items():
        try:
            others[name] = make().energy
        except InputError:
            others[name] = None
    return Row(case, type(supply).__name__, best.energy, others, best.creeping() if supply.needs_forces else 0)


def driven(law: str) -> dict[tuple[str, str], Drive]:
    """One triangle on the load-sensing machine: the optimum, one that does not lean on creeping, the pseudo-inverse."""
    t = task(DRIVEN, LoadSensing(), DRIVEN_ROOM)
    honest = replace(t, supply=LoadSensing(back=20e5, creep=3e-3))
    plans = {"optimum": optimise(t, SEARCH), "optimum without creeping": optimise(honest, SEARCH),
             "pseudo-inverse": pseudo_inverse(t)}
    own = t.crane.machine
    closed = loop(on_supply(own, t.supply), laws()[law](own, **SETTINGS.get(law, {})))
    return {(law, name): drive(plan, closed, name=law) for name, plan in plans.items()}


def results(cases: Sequence[str] = tuple(CASES), by: Sequence[str] = ("PID", "VDC")) -> Findings:
    """Everything; fewer cases and laws take less time."""
    rows = tuple(planned(case, supply) for case in cases for supply in (ConstantPressure(), LoadSensing()))
    return Findings(rows, {key: found for law in by for key, found in driven(law).items()})


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Findings) -> None:
    """What the study says, as assertions."""
    for row in found.rows:
        assert all(s is None or s > -1e-3 for s in map(row.saving, row.others))  # nobody is better than the optimum
        if row.supply == "ConstantPressure":
            # On constant pressure looking one step ahead is nearly enough, and the pseudo-inverse loses at most the paper's least.
            assert row.saving("pointwise, pump flow") < 0.01 and row.saving("pseudo-inverse") < PAPER[1]
        else:
            assert row.saving("pseudo-inverse") > PAPER[1] and row.creeping > 0.1 * STEPS  # more than the paper's, and it leans
    constant = [r.saving("pseudo-inverse") for r in found.rows if r.supply == "ConstantPressure"]
    assert len(constant) < 2 or min(constant) < PAPER[0]  # the paper's range is not everybody's
    for law in {law for law, _ in found.drives}:
        motions = "optimum", "optimum without creeping", "pseudo-inverse"
        best, honest, plain = (found.drives[law, name].account for name in motions)
        assert all(abs(a.gap) < 0.05 for a in (best, honest, plain))
        # On paper the optimum saves what the paper says; at the pump nearly nothing is left, as cylinders that creep are felt.
        assert 1 - best.planned / plain.planned > 0.9 * PAPER[1] > PAPER[0] > 2 * (1 - best.metered / plain.metered)
        assert best.terms["creeping"] + best.terms["smoothing"] > 10 * abs(honest.terms["creeping"] + honest.terms["smoothing"])
        # Planned so that it does not lean on that, it saves.
        assert honest.metered < 0.95 * best.metered and 1 - honest.metered / plain.metered > 0.1
    for (law, _), d in found.drives.items():
        assert law != "VDC" or all(v.holds for v in d.study.verdicts)  # every claim, under every motion


def main() -> None:
    """Print the findings."""
    found = results()
    print("paper: 15 … 30 % less than the pseudo-inverse")
    percent = lambda s: "passes a limit" if s is None else f"{s:.1%}"
    for row in found.rows:
        saved = ", ".join(f"{name} {percent(row.saving(name))}" for name in row.others)
        print(f"{row.case}, {row.supply}: {row.best / 1e3:.1f} kJ; less than {saved}; creeping {row.creeping} of {STEPS}")
    for (law, name), d in found.drives.items():
        a = d.account
        terms = ", ".join(f"{cause} {value / 1e3:.1f}" for cause, value in a.terms.items())
        held = ", ".join(f"{v.key} {v.word}" for v in d.study.verdicts)
        print(f"{law}, {name}: planned {a.planned / 1e3:.1f}, metered {a.metered / 1e3:.1f} kJ ({terms}; gap {a.gap:.1%}); "
              f"tip {1e3 * d.error.max():.1f} mm; {held}")
    check(found)


if __name__ == "__main__":
    main()
