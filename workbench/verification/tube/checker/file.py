"""A certificate of a tube as a file, and its check: NumPy, nothing else. Usage: workbench check file.npz.

Exit 0 and what is proved, exit 1 and why it is refused, exit 3 for a file that is no certificate.
"""

from __future__ import annotations

import os
import sys
import zipfile

import numpy as np

from .data import Tube
from .judge import judge
from .section import Refused

MOST_BYTES = 1_000_000_000


def load(path: str) -> Tube:
    """The certificate in a file. Raises ValueError for what is none, OSError for what cannot be read."""
    if os.path.getsize(path) > MOST_BYTES:
        raise ValueError("the file is larger than a certificate can be")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Tube.of({name: arrays[name] for name in arrays.files})
    except (zipfile.BadZipFile, EOFError, TypeError, AttributeError, IndexError) as why:
        raise ValueError(f"not a certificate: {why}") from None


def proved(c: Tube) -> str:
    """What a certificate that was not refused proves, in words."""
    reach = c.ρ[:, None] * np.linalg.norm(c.R, axis=-1)
    moved = ", ".join(f"{c.names[i]} ± {c.half[i]:.6g}" for i in np.flatnonzero(c.half))
    last = int(c.after[-1])
    lap = len(c.z) - last
    if last < 0:
        ends = f"up to sample {len(c.z) - 1}"
    elif lap == 1:
        ends = "for all times, while the references stay as they are at the last sample"
    else:
        ends = f"for all times, while the references repeat the last {lap} samples"
    lines = [
        f"proved: every start within {moved} stays in the tube, {ends}",
        f"samples {len(c.z)} of {c.T:g} s; state, nominal first and last, half-width first and last, bounds between samples:",
    ]
    for j, i in enumerate(c.section):
        ends = (c.z[0, j], c.z[-1, j], reach[0, j], reach[-1, j], c.low[i], c.high[i])
        lines.append(f"  {c.names[i]:16s}" + " ".join(f"{v:13.6g}" for v in ends))
    lines += [
        f"  output {i} within {e:.6g} of its reference" for (i, _), e in zip(c.pairs, c.error)
    ]
    return "\n".join(lines)


def main(path: str, quiet: bool = False) -> int:
    """Check a file; what comes of it is printed unless `quiet`."""

    def say(text: str) -> None:
        if not quiet:
            print(text)

    try:
        c = load(path)
        judge(c)
    except (ValueError, OSError) as why:
        print(f"{path}: {why}", file=sys.stderr)
        return 3
    except Refused as why:
        say(f"refused: {why}")
        return 1
    say(proved(c))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
