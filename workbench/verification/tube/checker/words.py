"""What a certificate is about and what it proves, in words and digests; digits are rounded to the safe side."""

from __future__ import annotations

import hashlib
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np

from .data import PARTS, PROGRAMS, Tube


def digests(c: Tube) -> tuple[str, str]:
    """SHA-256 of the loop (programs, the parameters that they read, names, sample time, lag) and of the run (references, start)."""
    texts = "\0".join(map(str, (*c.names, *c.told))).encode()
    numbers = [getattr(getattr(c, name), part) for name in PROGRAMS for part in PARTS]
    read = c.prelude.depends().any(axis=0)
    loop = [*numbers, np.where(read, c.parameters, 0.0), c.T, c.lag, c.states]
    return told(loop, texts), told([c.w, c.x0], b"")


def told(numbers: list, texts: bytes) -> str:
    """A digest of numbers in their order, each with its shape."""
    h = hashlib.sha256(texts)
    for x in map(np.asarray, numbers):
        h.update(
            f"|{x.shape}|".encode() + x.astype("<i8" if x.dtype.kind in "iu" else "<f8").tobytes()
        )
    return h.hexdigest()


def rounded(x: float, up: bool) -> str:
    """Six digits, not below x where `up`, not above it otherwise."""
    text = f"{x:.6g}"
    if float(text) == x or not np.isfinite(x) or (float(text) > x) == up:
        return text
    return (
        f"{Context(6, ROUND_CEILING if up else ROUND_FLOOR).create_decimal(Decimal(float(x))):.6g}"
    )


def proved(c: Tube) -> str:
    """What a certificate that was not refused proves, in words; digits are rounded to the safe side."""
    reach = c.reach[:, 0, c.section]
    moved = listed(c, c.half)
    last = int(c.after[-1])
    lap = len(c.z) - last
    if last < 0:
        ends = f"up to sample {len(c.z) - 1}"
    elif lap == 1:
        ends = "for all times, while the references stay as they are at the last sample"
    else:
        ends = f"for all times, while the references repeat the last {lap} samples"
    loop, run = digests(c)
    anew = f", moved by {listed(c, c.fresh)} before every sample," if c.fresh.any() else ""
    lines = [
        f"proved: every start within {moved or 'nothing'}{anew} stays in the tube, {ends}",
        f"of the loop {loop}",
        f"on the run {run}",
        f"samples {len(c.z)} of {c.T:g} s; state, nominal first and last, half-width first and last, bounds between samples:",
    ]
    for j, i in enumerate(c.section):
        numbers = [f"{v:.6g}" for v in (c.z[0, j], c.z[-1, j])]
        numbers += [rounded(v, True) for v in (reach[0, j], reach[-1, j])]
        numbers += [rounded(c.low[i], False), rounded(c.high[i], True)]
        lines.append(f"  {c.names[i]:16s}" + " ".join(f"{v:>13s}" for v in numbers))
    for i in np.setdiff1d(np.arange(c.states), c.section):
        low = rounded(c.low[i], False)
        high = rounded(c.high[i], True)
        lines.append(f"  {c.names[i]} between {low} and {high}")
    lines += [
        f"  {name} between {rounded(low, False)} and {rounded(high, True)} at every sample"
        for name, low, high in zip(c.told, c.least, c.most)
    ]
    return "\n".join(lines)


def listed(c: Tube, half: np.ndarray) -> str:
    """Half-widths of the states that have any."""
    return ", ".join(f"{c.names[i]} ± {rounded(half[i], False)}" for i in np.flatnonzero(half))
