"""How honest are the intervals, how accurate the estimates? Coverage on plants with known truth, bias, times.

    python benchmarks/identification.py [--runs 200]

Every run draws fresh noise. A 95 % interval is honest when it covers the truth in 95 % of the runs; with 200 runs, 181 to
198 (90 to 99 %) are no evidence against it. Peers, where cheap: SciPy's curve_fit on the same sampled model.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter

import numpy as np
from common import machine_in_words
from scipy.signal import lfilter

from workbench.contract.system import Signal
from workbench.identification import (
    PRBS,
    Channel,
    Chirp,
    LinearModel,
    Pulse,
    Record,
    Shape,
    Step,
    fit,
    values,
)

T = 2e-3
IEHA = LinearModel(
    "Y",
    (
        Channel.of_lags("X", 125.2, (1.3e-3, 1.2e-3, 0.8e-3), 1),
        Channel.of_lags("F", -6.1e-6, (0.43e-3,), 1),
    ),
)
LAGGED = LinearModel("Y", (Channel.of_lags("X", 125.2, (5e-3, 2e-3), 1, 2.4e-3),))
SERVO = LinearModel("Y", (Channel("X", (2.0, 0.05), (0.15, 0.004), 0, 0.0131),))


def servo_record() -> Record:
    """Second order, one zero, delay 13.1 ms, PRBS, 8 s."""
    t = np.arange(4000) * T
    return Record(
        t,
        values(PRBS("output", 1.0, clock=0.04, length=7.5, begin=0.1), t),
        np.zeros(t.size),
        ("X",),
        ("Y",),
    )


def lagged_record() -> Record:
    """Two lags and a delay behind an integrator, 0.5 s at 1 kHz: a valley of delay against lags."""
    t = np.arange(500) * 1e-3
    u = values(PRBS("output", 4e-4, clock=0.02, length=0.45, begin=0.02), t)
    return Record(t, u[:, None], np.zeros((t.size, 1)), (Signal("X", "m"),), (Signal("Y", "m"),))


def valley(σ: float, ar: tuple[float, ...], runs: int) -> None:
    """How often the intervals of τ and Σλ cover, of all fits and of those that call both identified."""
    rng = np.random.default_rng(21)
    inside = np.zeros((runs, 2), dtype=bool)
    identified = np.zeros(runs, dtype=bool)
    for k in range(runs):
        made = fit(
            noisy(LAGGED, [lagged_record()], σ, ar, rng), Shape("X", 3, 0, 1, True), start=LAGGED
        )
        pair = made["τ_X"], made["Σλ_X"]
        inside[k] = [e.low <= truth <= e.high for e, truth in zip(pair, (2.4e-3, 7e-3))]
        identified[k] = all(e.identified for e in pair)
    both = inside[identified].all(axis=1)
    print(
        f"\ndelay against lags, noise {1e6 * σ:.0f} µm coloured by {ar}: of {runs} fits τ is covered in "
        f"{100 * inside[:, 0].mean():.0f} %, Σλ in {100 * inside[:, 1].mean():.0f} %; {identified.sum()} call both identified, "
        f"{both.sum()} of these are right in both"
    )


def ieha_records() -> list[Record]:
    """The paper's linear model (26)–(28) on its bench: chirps on X and on F_ext."""
    t = np.arange(4000) * 1e-3
    x, f = (
        values(Chirp("output", 4e-4, length=4.0), t),
        values(Chirp("output", 450.0, length=4.0), t),
    )
    inputs = (Signal("X", "m"), Signal("F", "N"))
    make = lambda *u: Record(t, np.column_stack(u), np.zeros(t.size), inputs, (Signal("Y", "m"),))
    return [make(x, 0 * f), make(0 * x, f)]


def noisy(model: LinearModel, records, σ: float, ar: tuple[float, ...], rng) -> list[Record]:
    """Records with the model's output, an offset and noise of deviation σ, white or coloured by 1/(1 + ar)."""
    found = []
    for r in records:
        e = lfilter([1.0], [1.0, *ar], rng.normal(size=len(r) + 500))[500:]
        found.append(replace(r, y=(model.response(r) + 0.003 + σ * e / e.std())[:, None]))
    return found


def coverage(name, model, records, shapes, σ, ar, runs, noise="coloured") -> None:
    """A table: parameter, truth, bias, spread, mean stated deviation, covered."""
    rng = np.random.default_rng(20)
    truth = np.concatenate([c.parameters(s) for c, s in zip(model.channels, shapes)])
    found, stated, inside = [], [], []
    begin = perf_counter()
    for _ in range(runs):
        made = fit(noisy(model, records, σ, ar, rng), shapes, "Y", noise=noise)
        if len(made.estimates) < truth.size:  # a delay below zero was held at zero: a miss
            inside.append([False] * truth.size)
            continue
        found.append([e.value for e in made.estimates])
        stated.append([e.σ for e in made.estimates])
        inside.append([e.low <= θ <= e.high for e, θ in zip(made.estimates, truth)])
    seconds = (perf_counter() - begin) / runs
    found, stated, inside = map(np.array, (found, stated, inside))
    print(f"\n{name}, intervals for {noise} noise, {runs} runs, {seconds:.2f} s each")
    print(f"  {'':10}{'truth':>12}{'bias':>12}{'spread':>12}{'stated':>12}{'covered':>10}")
    for k, n in enumerate(n for s in shapes for n in s.names()):
        print(
            f"  {n:10}{truth[k]:12.5g}{found[:, k].mean() - truth[k]:12.2g}{found[:, k].std(ddof=1):12.3g}"
            f"{stated[:, k].mean():12.3g}{100 * inside[:, k].mean():8.1f} %"
        )


def accuracy() -> None:
    """Noise-free recovery, and the same minimum by curve_fit with finite differences."""
    from scipy.optimize import curve_fit

    shape = Shape("X", 2, 1, 0, True)
    record = servo_record()
    r = replace(record, y=SERVO.response(record)[:, None] + 0.003)
    begin = perf_counter()
    made = fit(r, shape)
    mine = perf_counter() - begin
    truth = SERVO.channels[0].parameters(shape)
    print(
        f"\nnoise-free: largest relative error {np.max(np.abs([e.value for e in made.estimates] / truth - 1)):.1e}, "
        f"{mine:.2f} s from no guess at all"
    )
    rng = np.random.default_rng(1)
    n = noisy(SERVO, [record], 0.1, (), rng)[0]
    made = fit(n, shape)
    simulate = lambda _, b0, b1, a1, a2, τ, y0: (
        Channel("X", (b0, b1), (a1, a2), 0, τ).response(record.u[:, 0], T) + y0
    )
    begin = perf_counter()
    other, C = curve_fit(simulate, n.t, n.y[:, 0], [*truth * 1.05, 0.0])
    peer = perf_counter() - begin
    print(
        f"curve_fit from 5 % beside the truth: {peer:.2f} s; ours differs by at most "
        f"{np.max(np.abs(other[:5] - [e.value for e in made.estimates]) / np.sqrt(np.diag(C)[:5])):.1e} deviations, "
        f"stated deviations by {100 * np.max(np.abs(np.sqrt(np.diag(C)[:5]) / [e.σ for e in made.estimates] - 1)):.1f} %"
    )


# ---- the IEHA -----------------------------------------------------------------------------------------------------
def local_truth(plant, X: float, which: int) -> tuple[float, float]:
    """Gain K and Σλ of input `which` by linearisation where a constant X keeps the plant: H(s) = C (s − A)⁻¹ B of Ẏ."""
    from workbench import Scenario, linearize, simulate

    log = simulate(
        plant, Scenario(duration=0.6, disturbances={"X": X, "F_ext": 0.0}, log_period=1e-3)
    )
    x = np.array([log.array(s.name)[-1] for s in plant.states])
    found = linearize(plant, x=x, u=np.array([X, 0.0]))
    keep = [i for i, s in enumerate(plant.states) if s.name != "Y"]
    A, B = np.asarray(found.A)[np.ix_(keep, keep)], np.asarray(found.B)[keep, which]
    one = np.linalg.solve(A, B)
    return float(-one[-1]), float(-np.linalg.solve(A, one)[-1] / one[-1])


def ieha_bench() -> None:
    """The averaged `control` plant on the paper's bench: pulse, step, chirp on X; step and chirp on F_ext."""
    from plants.ieha.actuator import IEHA
    from workbench import Scenario, simulate

    plant = IEHA()

    def run(length, X=0.0, F=0.0, start=0):
        log = simulate(
            plant, Scenario(duration=length, disturbances={"X": X, "F_ext": F}, log_period=1e-3)
        )
        return replace(Record.from_log(log, ["X", "F_ext"], ["Y"]), start=start)

    begin = perf_counter()
    sweep = Chirp("output", 4e-4, length=5.0, phase=np.pi / 2, logarithmic=True)
    on_X = {
        "step": run(0.8, Step("output", 4e-4, 0.1)),
        "chirp": run(5.0, sweep),
        "pulse": run(1.0, Pulse("output", 4e-4, 0.1, 0.3)),
    }
    on_F = {
        "step, X = 0": run(2.0, F=Step("output", 500.0, 0.1)),
        "step, X = 0.1 mm": run(2.0, 1e-4, Step("output", 500.0, 0.4), 250),
        "chirp, X = 0.1 mm": run(2.6, 1e-4, Chirp("output", 450.0, length=2.0, begin=0.4), 250),
    }
    print(
        f"\nIEHA, averaged, closed circuit; bench simulated in {perf_counter() - begin:.1f} s; intervals of 95 %"
    )
    for X in (1e-4, 4e-4):
        K, lag = local_truth(plant, X, 0)
        print(
            f"  linearised at X = {X * 1e3:g} mm: K = {K:.3f} 1/s, Σλ = {1e3 * lag:.3f} ms, "
            f"K' = {local_truth(plant, X, 1)[0]:.4g} m/(N s)"
        )
    print_of_X(on_X)
    print_of_F(on_F)


def print_of_X(on_X: dict) -> None:
    """Gain and lag that records of steps and sweeps of X give."""
    print(f"  {'X':20}{'K 1/s':>20}{'Σλ ms':>20}{'fit %':>10}")
    for name, records in (
        *((n, [r]) for n, r in on_X.items()),
        ("step and chirp", [on_X["step"], on_X["chirp"]]),
    ):
        made = fit(records, Shape("X", 4, 0, 1), "Y", weights="noise")
        K, lag = made["K_X"], made["Σλ_X"]
        print(
            f"  {name:20}{K.value:12.3f} ± {K.high - K.value:5.2g}{1e3 * lag.value:12.3f} ± {1e3 * (lag.high - lag.value):5.2g}"
            f"{min(made.percent):10.3f}"
        )


def print_of_F(on_F: dict) -> None:
    """Compliance that records of steps and sweeps of the external force give."""
    print(
        f"  {'F_ext':20}{'K′ m/(N s), (28)':>26}{'fit %':>9}{'K′, 3 zeros, 3 lags':>28}{'fit %':>9}"
    )
    for name, r in on_F.items():
        alone = replace(r, u=r.input("F_ext")[:, None], inputs=r.inputs[1:], hold=r.hold[1:])
        cells = []
        for shape in (Shape("F_ext", 2, 0, 1), Shape("F_ext", 4, 3, 1)):
            made = fit(alone, shape, "Y", trend="= 0.1" in name)
            K = made["K_F_ext"]
            cells.append(f"{K.value:17.4g} ± {K.high - K.value:7.1g}{made.percent[0]:9.3f}")
        print(f"  {name:20}{'  '.join(cells)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    print(machine_in_words())
    ieha_bench()
    accuracy()
    shapes = (Shape("X", 2, 1, 0, True),)
    coverage("servo, white noise", SERVO, [servo_record()], shapes, 0.05, (), runs)
    coverage("servo, coloured noise", SERVO, [servo_record()], shapes, 0.05, (-0.9,), runs)
    coverage("servo, coloured noise", SERVO, [servo_record()], shapes, 0.05, (-0.9,), runs, "white")
    for σ in (2e-5, 3e-5, 6e-5, 12e-5):
        valley(σ, (-0.9,), runs)
    paper = (Shape("X", 4, 0, 1), Shape("F", 2, 0, 1))
    coverage("paper's linear model, white noise 1 µm", IEHA, ieha_records(), paper, 1e-6, (), runs)
    coverage(
        "paper's linear model, coloured noise 1 µm",
        IEHA,
        ieha_records(),
        paper,
        1e-6,
        (-0.9,),
        runs,
    )


if __name__ == "__main__":
    main()
