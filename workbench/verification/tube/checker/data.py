"""What a certificate holds: programs of a sampled loop, its nominal run at the samples, and the tube around it.

    z            state of the loop just before a sample, as far as the sample reads it (`section`: which states these are)
    jump         x⁺ = J(t, z, w) at the sample, w the references of that sample
    flow         ẋ = f(t, x, w) from then on;  release: x⁺ once more, `lag` after the sample
    tube         node k: |z − z_k| ≤ reach[k, 0]; reach[k, s]: the same of every state, s stages of the sample later
    segments     z − z_k = Gζ + Bu, |ζ_i|, |u| ≤ 1: G of node k, ζ what the run starts with; B is its `balls`
    stages       the sample's jump, the release, `substeps` × `finer[k]` steps of the flow; later ones are the last once more
    transitions  from node i to node `after[i]` with references w_i: every node has one where the tube never ends
    R, σ         the ball |R⁻¹(z − z_i)| ≤ σ at i = after[−1], where laps begin
    out          what is told of a sample, as `told` names it: a function of the state before it and of its references
    least, most  between which numbers each of these is at every sample
    starts       z(0) = start(0, x_0 + δ, w_0), |δ| ≤ `half`;  before every later sample z becomes z + ν, |ν| ≤ `fresh`

Splits (node, state, number): where the sample's held state crosses a kink, both sides are looked at by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .program import Program

FORMAT = "tube-certificate-8"
PROGRAMS = ("prelude", "jump", "release", "flow", "start", "out")
WHOLE = ("section", "substeps", "finer", "after", "codes", "left", "right", "outputs")
TEXT = ("names", "told")
PARTS = ("codes", "left", "right", "number", "outputs", "inputs")


@dataclass(frozen=True, eq=False)
class Tube:
    """See the module. All arrays of floats but for `section`, `after` and `substeps`."""

    prelude: Program
    jump: Program
    release: Program
    flow: Program
    start: Program
    out: Program
    parameters: np.ndarray
    states: int
    section: np.ndarray
    T: float
    lag: float
    substeps: np.ndarray  # of the flow before and after the release
    finer: np.ndarray  # how many steps a node has in place of each of these
    order: int
    z: np.ndarray
    R: np.ndarray
    σ: float
    reach: np.ndarray
    # (node, section, ·) and `balls` (node, section, section): what holds z − z_k.
    segments: np.ndarray
    balls: np.ndarray
    w: np.ndarray
    slack: np.ndarray  # of every reference: how far the stored numbers may be off
    after: np.ndarray
    splits: np.ndarray
    paths: np.ndarray  # (node, step, power of time, state): polynomials near the nominal run; none: steps without them
    x0: np.ndarray
    half: np.ndarray
    fresh: np.ndarray  # of every state: how far it may be moved before every sample, as noise is
    low: np.ndarray  # bounds of the states that are claimed, over all times
    high: np.ndarray
    least: np.ndarray  # bounds of what is told, at all samples
    most: np.ndarray
    told: np.ndarray  # names of the outputs of `out`
    names: np.ndarray  # of the states

    @property
    def stages(self) -> int:
        """How many stages the sample with the finest steps has."""
        return self.stages_of(int(self.finer.max(initial=1)))

    def stages_of(self, finer: int) -> int:
        """How many stages a sample has: its jump, the release, and steps of the flow."""
        jumps = 2 if self.lag > 0 else 1
        return jumps + int(self.substeps.sum()) * finer

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays by name, for a file."""
        found: dict[str, Any] = {"format": np.array(FORMAT)}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in PROGRAMS:
                found |= {f"{f.name}.{part}": np.asarray(getattr(value, part)) for part in PARTS}
            else:
                found[f.name] = np.asarray(value)
        return found

    @staticmethod
    def of(arrays: Any) -> Tube:
        """From arrays by name. Raises ValueError for what is no certificate."""
        try:
            if str(arrays["format"]) != FORMAT:
                raise ValueError(f"format {arrays['format']}, expected {FORMAT}")
            given: dict[str, Any] = {}
            for f in fields(Tube):
                if f.name in PROGRAMS:
                    parts = {part: kept(part, arrays[f"{f.name}.{part}"]) for part in PARTS}
                    given[f.name] = Program(**{**parts, "inputs": int(parts["inputs"])})
                else:
                    given[f.name] = kept(f.name, arrays[f.name])
        except KeyError as missing:
            raise ValueError(f"the certificate has no {missing}") from None
        whole = ("states", "order")
        given |= {name: int(given[name]) for name in whole}
        return Tube(**given | {name: float(given[name]) for name in ("T", "lag", "σ")})


def kept(name: str, value: Any) -> np.ndarray:
    """An array as whole numbers, text or floats of 64 bits: the bounds of rounding are for these alone."""
    value = np.asarray(value)
    if name in TEXT:
        return value.astype(str)
    wanted = "iu" if name in WHOLE and value.size else "iuf"
    if value.dtype.kind not in wanted:
        raise ValueError(f"{name}: {value.dtype}, expected numbers")
    return value.astype(np.int64 if name in WHOLE else np.float64)
