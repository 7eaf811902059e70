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

from workbench.identification import PRBS, Channel, Chirp, LinearModel, Record, Shape, fit, values
from workbench.system import Signal

T = 2e-3
IEHA = LinearModel("Y", (Channel.of_lags("X", 125.2, (1.3e-3, 1.2e-3, 0.8e-3), 1), Channel.of_lags("F", -6.1e-6, (0.43e-3,), 1)))
SERVO = LinearModel("Y", (Channel("X", (2.0, 0.05), (0.15, 0.004), 0, 0.0131),))


def servo_record() -> Record:
    """Second order, one zero, delay 13.1 ms, PRBS, 8 s."""
    t = np.arange(4000) * T
    return Record(t, values(PRBS("output", 1.0, clock=0.04, length=7.5, begin=0.1), t), np.zeros(t.size), ("X",), ("Y",))


def ieha_records() -> list[Record]:
    """The paper's linear model (26)–(28) on its bench: chirps on X and on F_ext."""
    t = np.arange(4000) * 1e-3
    x, f = values(Chirp("output", 4e-4, length=4.0), t), values(Chirp("output", 450.0, length=4.0), t)
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
        print(f"  {n:10}{truth[k]:12.5g}{found[:, k].mean() - truth[k]:12.2g}{found[:, k].std(ddof=1):12.3g}"
              f"{stated[:, k].mean():12.3g}{100 * inside[:, k].mean():8.1f} %")


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
    print(f"\nnoise-free: largest relative error {np.max(np.abs([e.value for e in made.estimates] / truth - 1)):.1e}, "
          f"{mine:.2f} s from no guess at all")
    rng = np.random.default_rng(1)
    n = noisy(SERVO, [record], 0.1, (), rng)[0]
    made = fit(n, shape)
    simulate = lambda _, b0, b1, a1, a2, τ, y0: Channel("X", (b0, b1), (a1, a2), 0, τ).response(record.u[:, 0], T) + y0
    begin = perf_counter()
    other, C = curve_fit(simulate, n.t, n.y[:, 0], [*truth * 1.05, 0.0])
    peer = perf_counter() - begin
    print(f"curve_fit from 5 % beside the truth: {peer:.2f} s; ours differs by at most "
          f"{np.max(np.abs(other[:5] - [e.value for e in made.estimates]) / np.sqrt(np.diag(C)[:5])):.1e} deviations, "
          f"stated deviations by {100 * np.max(np.abs(np.sqrt(np.diag(C)[:5]) / [e.σ for e in made.estimates] - 1)):.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    print(machine_in_words())
    accuracy()
    shapes = (Shape("X", 2, 1, 0, True),)
    coverage("servo, white noise", SERVO, [servo_record()], shapes, 0.05, (), runs)
    coverage("servo, coloured noise", SERVO, [servo_record()], shapes, 0.05, (-0.9,), runs)
    coverage("servo, coloured noise", SERVO, [servo_record()], shapes, 0.05, (-0.9,), runs, "white")
    paper = (Shape("X", 4, 0, 1), Shape("F", 2, 0, 1))
    coverage("paper's linear model, white noise 1 µm", IEHA, ieha_records(), paper, 1e-6, (), runs)
    coverage("paper's linear model, coloured noise 1 µm", IEHA, ieha_records(), paper, 1e-6, (-0.9,), runs)


if __name__ == "__main__":
    main()
