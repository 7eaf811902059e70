"""What a tube says that runs do not: a servo axis under a sampled PID law, from a box of starts, for all times.

    python -m reports.studies.tube [picture.svg]

A run shows one start; 40 runs show 40. A tube holds every start of a box, at every instant, between samples too. Model (the axis
on a sine of 5 Hz, its valve's edge crossed twice a period), specification (what a proof should say of it, and must not), analysis
(the tube, runs beside it, wider starts, faults, a certificate that is changed), result. `results()` computes, `check()` asserts,
`main()` prints and draws.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from workbench.cases.file import loads
from workbench.contract.system import names
from workbench.verification import claims as C
from workbench.verification.run import Run, run
from workbench.verification.tube.beside import hull, shares
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.claim_settings import widths
from workbench.verification.tube.judged import judged
from workbench.verification.tube.progress import Share
from workbench.verification.tube.rate import rate
from workbench.verification.tube.search import samples

# ---- model ----------------------------------------------------------------------------------------------------------
# A table of 250 kg, a cylinder of 50/32 mm, ports matched to its areas; friction is viscous.
CASE = """
plant:
  type: Mechanism
  name: servo axis
  method: minimal
  supply: {{p_s: {p_s}, p_r: 5 bar, Q_max: 100 l/min}}
  pins: {{foot: [0, 0]}}
  bodies:
    table: {{at: ground.foot, joint: prismatic, axis: [1, 0, 0], mass: 250 kg, I_zz: 1, start: 0.25 m, hold: true}}
  actuators:
    axis:
      joint: table
      drive:
        type: ServoCylinder
        closed: 0 m
        cylinder:
          bore: 50 mm
          rod: 32 mm
          stroke: 0.5 m
          V_a0: 0.1 l
          V_b0: 0.1 l
          c_i: 2e-12
          valve: {{nominal: {{flow: 20 l/min, drop: 35 bar, ratios: [1, 1, 0.59, 0.59]}}}}
          friction: {{law: CoulombViscous, F_c: 0 N, b: 6000 N s/m}}
controller: {{law: PID, K_p: {K_p}, K_i: 1500}}
loop: {{sample_time: {T}}}
scenario:
  reference: {{type: Sine, space: piston, centre: start, amplitude: [3 mm], frequency: 5 Hz, ramp: 0.1 s}}
  duration: 0.8 s
"""
SOUND = {"p_s": "210 bar", "K_p": "300", "T": "1 ms"}
STARTS = {"x_table": 20e-6, "p_a_axis": 2e4, "p_b_axis": 2e4}  # m, Pa, Pa: half-widths
WIDE = 1000.0  # times as far: pressures between vacuum and twice the supply's

# ---- specification --------------------------------------------------------------------------------------------------
# The tube holds, at a rate no faster than the loop's own; every run is in it, and it is not much wider than they are.
# Of a loop that is slow, driven too hard, or has no pressure to work with it says nothing; nor of starts far too wide.
FAULTS = {
    "sampled every 7 ms": {"T": "7 ms"},
    "K_p ten times larger": {"K_p": "3000"},
    "supply of 20 bar": {"p_s": "20 bar"},
}
AS_WIDE = 3.0  # times the hull of runs, in what the axis's position and pressures do over a period


# ---- analysis -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Results:
    """word, rate (1/s, proved), own (1/s, of the loop's lap), error (m, proved at the samples) of the sound axis; left: runs
    outside, of `runs`; ratio: state → median of tube over hull; wider, faults: what is said of them; changed: whether the
    checker takes a certificate whose half-widths are 10 % smaller, or whose bound of the error is; t, tube, hull: of x_table.
    """

    word: str
    strength: str
    rate: float
    own: float
    error: float
    runs: int
    left: int
    ratio: dict[str, float]
    wider: str
    faults: dict[str, str]
    changed: dict[str, bool]
    t: np.ndarray
    tube: np.ndarray
    hull: np.ndarray


def ran(**changes) -> Run:
    """The run of the axis with these of its numbers changed."""
    case = loads(CASE.format(**SOUND | changes), "axis.yaml")
    return run(case.loop, case.scenario)


def asked(made: Run, times: float = 1.0):
    """What the claim says from `times` as wide starts."""
    claim = C.Tube(starts={name: times * half for name, half in STARTS.items()})
    return judged(claim, made, Share(None, 0))


def taken(c: Tube) -> bool:
    """Whether the checker takes a certificate."""
    try:
        judge(c)
    except Refused:
        return False
    return True


def results(runs: int = 40, faults: tuple[str, ...] = tuple(FAULTS)) -> Results:
    """All numbers; fewer `runs` beside the tube and fewer `faults` take less time."""
    made = ran()
    found = asked(made)
    c = found.tube
    half = widths(C.Tube(starts=STARTS), made.loop)
    at = [names(made.loop.states).index(name) for name in STARTS]
    place = [c.section.tolist().index(i) for i in at]
    N = min(len(c.z), len(made.log.time))
    beside = hull(made, half, (), shares(len(half))[:runs], at)[:N]
    reach = c.reach[:N, 0, at]
    off = np.abs(made.log.values[:N, at] - c.z[:N, place])
    matrices = samples(c).M[:, -1, c.section]
    return Results(
        word=found.verdict.word,
        strength=found.verdict.strength,
        rate=found.verdict.margin,
        own=rate(matrices, c.after, c.T),
        error=float(max(c.most.max(), -c.least.min())),
        runs=runs,
        left=int((beside > reach + off).any(axis=0).sum()),
        ratio=dict(zip(STARTS, np.median(reach[:200] / beside[:200], axis=0))),
        wider=asked(made, WIDE).verdict.word,
        faults={name: asked(ran(**FAULTS[name])).verdict.word for name in faults},
        changed={
            "half-widths": taken(replace(c, reach=0.9 * c.reach)),
            "error": taken(replace(c, most=0.9 * c.most)),
        },
        t=c.T * np.arange(N),
        tube=reach[:, 0],
        hull=beside[:, 0],
    )


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Results) -> None:
    """What the study says, as assertions."""
    assert (found.word, found.strength) == ("holds", "proof")
    assert 0 < found.rate <= found.own
    assert found.left == 0
    assert all(1 <= ratio <= AS_WIDE for ratio in found.ratio.values())
    assert found.wider == "undecided"
    assert set(found.faults.values()) == {"undecided"}
    assert not any(found.changed.values())


def main(picture: str | None = None) -> None:
    """Print what was found, draw the tube of the axis's position beside its runs."""
    found = results()
    print(
        f"the axis: {found.word}, {found.strength}, at {found.rate:.3g} 1/s (the loop: {found.own:.3g} 1/s)"
    )
    print(
        f"error at the samples below {1e3 * found.error:.3g} mm; {found.left} of {found.runs} runs leave the tube"
    )
    print("tube over hull: " + ", ".join(f"{name} {r:.2f}" for name, r in found.ratio.items()))
    print(f"starts {WIDE:g} times as wide: {found.wider}")
    for name, word in found.faults.items():
        print(f"{name}: {word}")
    for name, is_taken in found.changed.items():
        print(f"certificate with {name} 10 % smaller: {'taken' if is_taken else 'refused'}")
    check(found)
    if picture:
        draw(found, picture)
        print(f"wrote {picture}")


def draw(found: Results, path: str) -> None:
    """Half-width of the position over time, beside the hull of the runs."""
    from matplotlib.figure import Figure

    fig = Figure((7, 3.5), layout="constrained")
    ax = fig.subplots()
    ax.semilogy(found.t, 1e6 * found.tube, lw=1, label="tube")
    ax.semilogy(found.t, 1e6 * found.hull, lw=1, label=f"{found.runs} runs")
    ax.set(xlabel="time, s", ylabel="half-width of the position, µm")
    ax.legend()
    fig.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
