"""Whether a certificate is one at all: shapes, and what programs may depend on."""

from __future__ import annotations

import numpy as np

from .data import Tube
from .program import CODE, Program

MOST_STATES = 100  # the share that rounding is given in `steps` is for no more

MOST_FINER = 1000
MOST_SPLITS = 6  # of a node: each doubles the rows of its sample


class Refused(Exception):
    """The certificate does not prove what it says."""


def check_shape(c: Tube) -> None:
    """Raises Refused unless every array fits the others."""
    K, n = c.z.shape if c.z.ndim == 2 else (0, 0)
    wide = 1 + c.states + c.w.shape[-1] + len(c.prelude.outputs)
    for name, shape in shapes(c, K, n).items():
        if getattr(c, name).shape != shape:
            raise Refused(f"{name}: shape {getattr(c, name).shape}, expected {shape}")
    for name in (
        "z",
        "R",
        "σ",
        "reach",
        "segments",
        "balls",
        "w",
        "slack",
        "parameters",
        "x0",
        "half",
        "fresh",
        "paths",
    ):
        if not np.isfinite(getattr(c, name)).all():
            raise Refused(f"{name}: not a number")
    if not K or not n or n > c.states:
        raise Refused("there is no node, or no state")
    if c.states > MOST_STATES:
        raise Refused(f"states: {c.states}, and {MOST_STATES} are the most")
    for name in ("jump", "release", "flow", "start"):
        program = getattr(c, name)
        if program.inputs != wide or len(program.outputs) < c.states:
            raise Refused(f"{name}: {program.inputs} inputs, expected {wide}")
    if c.out.inputs != wide:
        raise Refused(f"out: {c.out.inputs} inputs, expected {wide}")
    if c.prelude.inputs != len(c.parameters):
        raise Refused("prelude: one input a parameter expected")
    check_numbers(c)


def shapes(c: Tube, K: int, n: int) -> dict[str, tuple]:
    """Shapes of the arrays of a certificate of K nodes with n states of the section."""
    expected = {
        "section": (n,),
        "R": (n, n),
        "reach": (K, c.stages + 1, c.states),
        "segments": (K, n, c.segments.shape[-1]),
        "balls": (K, n, n),
        "w": (K, c.w.shape[-1]),
        "slack": (c.w.shape[-1],),
        "after": (K,),
        "finer": (K,),
        "x0": (c.states,),
        "half": (c.states,),
        "fresh": (c.states,),
        "low": (c.states,),
        "high": (c.states,),
        "substeps": (2,),
        "names": (c.states,),
        "least": (len(c.out.outputs),),
        "most": (len(c.out.outputs),),
        "told": (len(c.out.outputs),),
    }
    if c.paths.size:
        most = int(c.substeps.sum()) * int(c.finer.max(initial=1))
        expected["paths"] = (K, most, c.order + 1, c.states)
    return expected


def check_numbers(c: Tube) -> None:
    """Raises Refused for numbers that have no meaning, or a section that leaves out what a sample reads."""
    check_ranges(c)
    check_reads(c)
    check_splits(c)


def check_ranges(c: Tube) -> None:
    """Raises Refused for numbers out of range."""
    K = len(c.z)
    if not ((c.after >= -1) & (c.after < K)).all() or c.after.dtype.kind not in "iu":
        raise Refused("after: a transition to a node that is not there")
    if (
        len(set(c.section.tolist())) != len(c.section)
        or not ((c.section >= 0) & (c.section < c.states)).all()
    ):
        raise Refused("section: not places of states")
    known = [*c.names.tolist(), *c.told.tolist()]
    if len(set(known)) != len(known):
        raise Refused("names, told: two of them are the same")
    if not (c.reach >= 0).all() or not c.σ > 0:
        raise Refused("reach, σ: expected reach ≥ 0 and σ > 0")
    if not (c.half >= 0).all() or not (c.slack >= 0).all() or not (c.fresh >= 0).all():
        raise Refused("half, slack, fresh: expected numbers ≥ 0")
    if not (c.T > 0 and 0 <= c.lag < c.T) or not 2 <= c.order <= 12:
        raise Refused("T, lag, order: expected 0 ≤ lag < T and an order from 2 to 12")
    if not ((c.substeps >= (c.lag > 0, 1)) & (c.substeps < 1000)).all():
        raise Refused("substeps: expected at least one")
    if c.lag == 0 and c.substeps[0]:
        raise Refused("substeps: there is no release before which to take steps")
    if not ((c.finer >= 1) & (c.finer <= MOST_FINER)).all():
        raise Refused(f"finer: expected 1 to {MOST_FINER}")


def check_reads(c: Tube) -> None:
    """Raises Refused where a sample, an output or the flow reads what the tube does not follow."""
    K = len(c.z)
    outside = np.setdiff1d(np.arange(c.states), c.section)
    if c.fresh[outside].any():
        raise Refused("fresh: of a state that no sample reads")
    reads = c.jump.depends()[: c.states]
    if reads[:, 1 + outside].any():
        raise Refused("section: a sample reads a state that it leaves out")
    if (c.after[:-1] != np.arange(K - 1) + 1).any():
        raise Refused("after: a node that is not the last leads to the next")
    measured = c.out.depends()
    if measured[:, 1 + outside].any():
        raise Refused("out: it reads a state that the section leaves out")
    timed = any(p.depends()[: c.states, 0].any() for p in (c.jump, c.release))
    if c.after[-1] >= 0 and (timed or measured[:, 0].any()):
        raise Refused("a loop that knows the time has no tube that repeats")
    driven = c.flow.depends()[: c.states]
    if driven[:, 0].any():
        raise Refused("flow: it depends on the time")
    drives = driven[:, 1 + c.states : 1 + c.states + len(c.slack)].any(axis=0)
    if (c.w[:, drives] != c.w[0, drives]).any() or c.slack[drives].any():
        raise Refused("flow: what disturbs it changes")


def check_splits(c: Tube) -> None:
    """Raises Refused for a split of what is not held over the sample."""
    K = len(c.z)
    if c.splits.size and c.splits.ndim != 2:
        raise Refused("splits: expected node, state, number")
    if c.splits.size:
        held = c.flow.still()[: c.states] & ~released(c)
        at = c.splits[:, 1].astype(int)
        nodes = c.splits[:, 0]
        if c.splits.shape[1] != 3 or not ((at >= 0) & (at < c.states)).all():
            raise Refused("splits: expected node, state, number")
        if np.unique(nodes, return_counts=True)[1].max() > MOST_SPLITS:
            raise Refused(f"splits: more than {MOST_SPLITS} of one node")
        if not held[at].all() or not ((nodes >= 0) & (nodes < K)).all():
            raise Refused("splits: a state that is not held over the sample")


def released(c: Tube) -> np.ndarray:
    """Whether a state may change when the command is released."""
    return ~handed_on(c.release, c.states) if c.lag > 0 else np.zeros(c.states, bool)


def constant(c: Tube) -> np.ndarray:
    """Whether a state stays as it starts, as a parameter does: jumps hand it on, and it does not flow."""
    return handed_on(c.jump, c.states) & ~released(c) & c.flow.still()[: c.states]


def handed_on(program: Program, states: int) -> np.ndarray:
    """Whether a jump's text leaves each state as it is."""
    nodes = program.outputs[:states]
    read = program.codes[nodes] == CODE["input"]
    return read & (program.left[nodes] == 1 + np.arange(states))
