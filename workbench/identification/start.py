"""First guesses for output-error search: filtered least squares, refined by instrumental variables.

With the input integrated exactly ν times, A(s) y = B(s) u_I. Divided by a filter F of A's order, all derivatives become
states of filters, and the coefficients follow by linear least squares (state-variable filter). Noise biases that; with
F = Â of the last pass and the simulated output as instrument the bias goes (simplified refined instrumental variables
for continuous time). Several inputs: one channel at a time on what the others leave over.
Source: P. C. Young and A. Jakeman, Refined instrumental variable methods of recursive time-series analysis III, 1980;
H. Garnier and L. Wang (eds.), Identification of Continuous-time Models from Sampled Data, 2008, chapter 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.identification.model import Channel, Shape
from workbench.identification.records import Record
from workbench.identification.response import Chain, shifted

PASSES = 12  # passes of instrumental variables
ROUNDS = 3  # over the channels
CUTOFFS = 5  # of the first filter, from slow to fast


def guesses(
    shapes: Sequence[Shape],
    records: Sequence[Record],
    output: str,
    delays: Sequence[float],
    weights: Sequence[float],
    trend: bool = False,
    cutoffs: int = CUTOFFS,
    passes: int = PASSES,
) -> list[tuple[float, list[Channel]]]:
    """Channels by rising simulation error, from several filters: [(error, channels), …]."""
    found = []
    for ω in _cutoffs(records, cutoffs):
        channels = [_nothing(s, τ) for s, τ in zip(shapes, delays)]
        for _ in range(ROUNDS if len(shapes) > 1 else 1):
            for i, (shape, τ) in enumerate(zip(shapes, delays)):
                left = [
                    r.output(output)
                    - sum((_response(c, r) for k, c in enumerate(channels) if k != i), 0.0)
                    for r in records
                ]
                made = one_channel(shape, τ, records, left, weights, ω, trend, passes)
                channels[i] = made or channels[i]
        error = simulation_error(channels, records, output, weights, trend)
        if np.isfinite(error) and all(any(c.b) for c in channels):
            found.append((error, channels))
    return sorted(found, key=lambda pair: pair[0])


def simulation_error(channels, records, output, weights, trend: bool = False) -> float:
    """Sum of squared weighted residuals, each record's offset (and trend) taken out."""
    total = 0.0
    with np.errstate(all="ignore"):
        for r, w in zip(records, weights):
            e = r.output(output) - sum((_response(c, r) for c in channels), 0.0)
            total += w**2 * float(np.sum(free(e, r, trend) ** 2))
    return total if np.isfinite(total) else np.inf


def free(x: np.ndarray, r: Record, trend: bool) -> np.ndarray:
    """Columns over the scored samples without mean (and trend)."""
    x = x[r.start :] - x[r.start :].mean(0)
    if trend:
        line = np.linspace(-1.0, 1.0, len(x))
        x = x - np.multiply.outer(line, line @ x / (line @ line))
    return x


def _response(c: Channel, r: Record):
    if (
        c.input not in r.input_names
        or not any(c.b)
        or not np.ptp(r.input(c.input))
        and not r.input(c.input)[0]
    ):
        return np.zeros(len(r))
    return c.response(r.input(c.input), r.T, r.hold_of(c.input))


def _nothing(shape: Shape, τ: float) -> Channel:
    lag = np.poly1d([1.0])
    for _ in range(shape.lags):
        lag = lag * np.poly1d([1e-3, 1.0])
    return Channel(
        shape.input, (0.0,) * (shape.zeros + 1), tuple(lag.c[::-1][1:]), shape.integrators, τ
    )


def _cutoffs(records, count: int) -> np.ndarray:
    """Rates (rad/s) from a few over the record's length to a few samples."""
    longest = max(r.t[-1] - r.t[0] for r in records)
    T = min(r.T for r in records)
    low = 12.0 / longest
    high = 1.0 / T
    return np.geomspace(max(low, high / 3000), high, count)


def one_channel(
    shape: Shape,
    τ: float,
    records,
    outputs,
    weights,
    ω: float,
    trend: bool = False,
    passes: int = PASSES,
) -> Channel | None:
    """Channel from output samples of each record, first filter (1 + s/ω)^n; None when nothing moves or it fails."""
    moved = [
        (r, y, w)
        for r, y, w in zip(records, outputs, weights)
        if shape.input in r.input_names and np.ptp(r.input(shape.input))
    ]
    if not moved:
        return None
    a = np.poly1d([1 / ω, 1.0]) ** shape.lags if shape.lags else np.poly1d([1.0])
    a = a.c[::-1][1:]
    best = np.inf
    channel = None
    for k in range(passes if shape.lags else 1):
        try:
            with np.errstate(all="ignore"):
                made = _solved(shape, τ, moved, a, channel if k > 1 else None, trend)
                steady = made and mirrored(made)  # what the next pass filters with
                made = steady if shape.stable else made
                error = (
                    np.inf
                    if made is None
                    else sum(
                        w**2 * float(np.sum(free(y - _response(made, r), r, trend) ** 2))
                        for r, y, w in moved
                    )
                )
        except (ValueError, np.linalg.LinAlgError):  # coefficients beyond floating point
            break
        if not np.isfinite(error):
            break
        settled = k > 2 and np.allclose(steady.a, a, rtol=1e-4)
        a = np.array(steady.a)
        if error < best or k < 2:
            best = min(error, best)
            channel = made
        if settled:
            break
    return channel


def _solved(
    shape: Shape, τ: float, moved, a, before: Channel | None, trend: bool
) -> Channel | None:
    """One pass: least squares (before None) or instrumental variables with the response of `before`."""
    n = shape.lags
    m = shape.zeros
    A = np.concatenate([[1.0], a])
    unit = max((abs(A[j]) ** (1 / j) for j in range(1, n + 1)), default=1.0)
    rows = []
    for k, (r, y, w) in enumerate(moved):
        u = r.input(shape.input)
        hold = r.hold_of(shape.input)
        s = slice(r.start, None)
        force = Chain(A, shape.integrators, u, r.T, hold).outputs(
            [shifted([1.0], j) for j in range(m + 1)], τ
        )
        d = _derivatives(A, y - y[0], r.T)
        offsets = np.zeros((len(r), len(moved), 1 + trend))
        offsets[:, k, 0] = _derivatives(A, np.ones(len(r)), r.T)[:, 0]
        if trend:
            offsets[:, k, 1] = _derivatives(A, r.t - r.t[0], r.T)[:, 0]
        offsets = offsets.reshape(len(r), -1)
        Φ = np.hstack([force, -d[:, 1:], offsets])
        Z = (
            Φ
            if before is None
            else np.hstack([force, -_derivatives(A, _response(before, r), r.T)[:, 1:], offsets])
        )
        rows.append((w * Z[s], w * Φ[s], w * d[s, 0]))
    Z, Φ, d = (np.concatenate(part) for part in zip(*rows))
    size = np.linalg.norm(Φ, axis=0)
    size[size == 0] = 1.0
    if before is None:
        θ = np.linalg.lstsq(Φ / size, d, rcond=None)[0] / size
    else:
        grown = np.linalg.norm(Z, axis=0)
        grown[grown == 0] = 1.0
        θ = np.linalg.lstsq((Z / grown).T @ (Φ / size), (Z / grown).T @ d, rcond=None)[0] / size
    a = θ[m + 1 : m + 1 + n]
    if not np.isfinite(θ).all() or (n and abs(a[-1]) < 1e-9**n * unit**n):
        return None
    return Channel(shape.input, tuple(θ[: m + 1]), tuple(a), shape.integrators, τ)


def _derivatives(A, x, T) -> np.ndarray:
    """(N, n+1): s^j/A(s) x, x joined by straight lines."""
    return Chain(A, 0, x, T, "foh").outputs([shifted([1.0], j) for j in range(len(A))])


def mirrored(c: Channel) -> Channel:
    """Right half plane poles mirrored to the left."""
    if c.stable or not c.a:
        return c
    poles = c.poles
    poles = np.where(poles.real > 0, -poles.conj(), poles)
    poles = np.where(
        np.abs(poles.real) < 1e-3 * np.abs(poles), -1e-3 * np.abs(poles) + 1j * poles.imag, poles
    )
    rising = np.poly(poles).real[::-1]
    return Channel(c.input, c.b, tuple(rising[1:] / rising[0]), c.integrators, c.delay)
