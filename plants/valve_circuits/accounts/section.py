"""One section along a run: the flows through its valves, what they take, and the pressures that balance.

    Q = k sign(Δp) √|Δp| of an orifice,   loss Q Δp;   a relief takes what the oil balance of its chamber leaves it

Only where the pressure is at its limit does a relief take something. All arrays are (N,), one number an instant.
Source: [Kikuuwe21] (15), (16), (39)–(43).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_EDGE = 1e-6  # share of a relief's pressure: nearer than that counts as at it
_SHUT = 1e-12  # share of Q: a rod that moves less oil stands


class Section(NamedTuple):
    """One section along a run: its row, velocity [m/s] and force [N] of its rod, pressures of its chambers [Pa]."""

    row: list
    v: np.ndarray
    f: np.ndarray
    P_h: np.ndarray
    P_r: np.ndarray


class Flows(NamedTuple):
    """Through the valves of one section, m³/s; Q_ho, Q_ro out through reliefs, negative in through suction checks. P_c: behind the
    pump's check, Pa."""

    Q_ph: np.ndarray
    Q_pr: np.ndarray
    Q_th: np.ndarray
    Q_tr: np.ndarray
    Q_a: np.ndarray
    Q_ho: np.ndarray
    Q_ro: np.ndarray
    P_c: np.ndarray


# ---- by law ---------------------------------------------------------------------------------------------------------
def _signed(x):
    return np.sign(x) * np.sqrt(np.abs(x))


def section_flows(s: Section, P) -> Flows:
    """By the orifices' laws and the chambers' oil balances, whichever way the section is open."""
    _, _, _, _, k_ph, k_pr, k_th, k_tr, k_a = s.row
    a = np.square(k_ph)
    b = np.square(k_pr)
    both = (a > 0) & (b > 0)  # else no rounding: orifices are steep at no drop
    meet = np.where(
        both,
        (a * s.P_h + b * s.P_r) / np.where(both, a + b, 1.0),
        np.where(a > 0, s.P_h, np.where(b > 0, s.P_r, P)),
    )
    P_c = np.maximum(P, meet)  # the check is shut where no flow through it needs more than P
    q_ph = k_ph * _signed(P_c - s.P_h)
    q_pr = k_pr * _signed(P_c - s.P_r)
    q_th = k_th * _signed(s.P_h)
    q_tr = k_tr * _signed(s.P_r)
    q_a = k_a * np.sqrt(np.maximum(s.P_r - s.P_h, 0.0))
    return Flows(
        Q_ph=q_ph,
        Q_pr=q_pr,
        Q_th=q_th,
        Q_tr=q_tr,
        Q_a=q_a,
        Q_ho=q_ph - q_th + q_a - s.row[0] * s.v,
        Q_ro=q_pr - q_tr - q_a + s.row[1] * s.v,
        P_c=P_c,
    )


def losses(s: Section, q: Flows) -> dict[str, np.ndarray]:
    """valve → W; a relief takes something at its limit only."""
    open_h = s.P_h >= s.row[2] * (1 - _EDGE)
    open_r = s.P_r >= s.row[3] * (1 - _EDGE)
    return {
        "ph": q.Q_ph * (q.P_c - s.P_h),
        "pr": q.Q_pr * (q.P_c - s.P_r),
        "th": q.Q_th * s.P_h,
        "tr": q.Q_tr * s.P_r,
        "a": q.Q_a * (s.P_r - s.P_h),
        "hR": np.where(open_h, q.Q_ho * s.P_h, 0.0),
        "rR": np.where(open_r, q.Q_ro * s.P_r, 0.0),
    }


def drawn_in(s: Section, q: Flows) -> tuple[np.ndarray, np.ndarray]:
    """Flow through the suction checks of head and rod side: the oil that a chamber at the tank's pressure lacks."""
    return tuple(
        np.where(p <= top * _EDGE, np.maximum(-Q, 0.0), 0.0)
        for p, top, Q in ((s.P_h, s.row[2], q.Q_ho), (s.P_r, s.row[3], q.Q_ro))
    )


def open_ranges(s: Section, P, Q: float):
    """Least and greatest P_h, and P_r, that agree with force and flows: one number each while the rod moves.

    A standing rod leaves both open up to the reliefs. A chamber open to the tank has the tank's pressure, one open to the pump has
    at least the pump's, and the force f ties the two chambers together.
    """
    A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, _ = s.row
    # The pump's oil runs through a chamber: it is determined.
    crossed = ((k_ph > 0) & (k_th > 0)) | ((k_pr > 0) & (k_tr > 0))
    stands = (np.abs(s.v) * max(A_h, A_r) <= _SHUT * Q) & ~crossed
    h = np.where(k_ph > 0, np.minimum(P, P_hM), 0.0), np.where(k_th > 0, 0.0, P_hM)
    r = np.where(k_pr > 0, np.minimum(P, P_rM), 0.0), np.where(k_tr > 0, 0.0, P_rM)
    heads = [
        np.where(stands, np.clip((s.f + A_r * e) / A_h, h[0], np.maximum(*h)), s.P_h) for e in r
    ]
    rods = [
        np.where(stands, np.clip((A_h * e - s.f) / A_r, r[0], np.maximum(*r)), s.P_r) for e in h
    ]
    rounded = lambda p, top: np.where(np.abs(p) < 1e-12 * top, 0.0, p)
    return [
        (rounded(np.minimum(low, p), top), np.maximum(high, p))
        for (low, high), p, top in ((heads, s.P_h, P_hM), (rods, s.P_r, P_rM))
    ]


def own_rows(circuit, commands, regeneration) -> list[list]:
    """As `Circuit.rows`, an array an entry, for commands u_c and openings u_a over time: by the circuit's numbers alone."""
    found = []
    for s, u_c, u_a in zip(circuit.sections, commands, regeneration):
        out = np.clip(u_c, 0.0, 1.0)
        back = np.clip(-np.asarray(u_c), 0.0, 1.0)
        found.append(
            [
                s.A_h,
                s.A_r,
                s.P_hM,
                s.P_rM,
                s.c_ph * out,
                s.c_pr * back,
                s.c_th * back,
                s.c_tr * out,
                s.c_a * u_a,
            ]
        )
    return found
