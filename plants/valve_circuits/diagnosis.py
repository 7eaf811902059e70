"""Which element of a metered circuit does not do what its own characteristic says, at the pressures, speeds and forces of a log.

Quasistatic sections balance their oil at every instant. With flows by the orifices' laws (`accounts.section_flows`),

    o_h = q_ph − q_th + q_a − A_h v,   o_r = q_pr − q_tr − q_a + A_r v,   o_p = Q − k_b √P − Σ max(q_ph + q_pr, 0)

must be what limits allow: o > 0 only where the chamber is at its relief, o < 0 only where it is at its suction check; o_p ≥ 0, and
o_p > 0 only where the pump is at its relief. Beyond a limit no pressure may be; f = A_h P_h − A_r P_r; and under f the section
moves at v (f ∈ Γ(v), by `crossed.passed`). What is left over is tried on every element: an orifice that passes a share α of its
flow less leaves α q in the balances it joins, a leaking check its own flow, a weak pump a constant. The one that explains most is
named.

How large an imbalance is, is the change of pressure that would mend it, over the relief: near no drop orifices are steep, and
flows from pressures have few digits there. A chamber with all valves shut is measured by its flow over Q.

Source: ours; [Kikuuwe21] (39), (91) are the characteristics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits.crossed import passed

_AT = 1e-6  # share of a limit: nearer than that counts as at it
_ROUNDING = 1e-9
_LEAKING = "leaks"
_NAMED = 0.8  # share of what is left over that an element must explain to be named
_TRIED = 120  # instants at which f ∈ Γ(v) is asked
_SIDES = {"h": "head", "r": "rod"}
_ORIFICES = {
    "ph": "pump to head",
    "pr": "pump to rod",
    "th": "head to tank",
    "tr": "rod to tank",
    "a": "regeneration, rod to head",
}


class Suspect(NamedTuple):
    """An element, how large what it does is (1: a relief's pressure, or Q), and what that is in words, with its time."""

    element: str
    size: float
    words: str


class Left(NamedTuple):
    """What one balance leaves over: m³/s, and as a size; 0 where a limit allows it. known: where no limit is open."""

    oil: np.ndarray
    size: np.ndarray
    known: np.ndarray


def suspects(t, sections: dict, flows: dict, supply, P, held: bool) -> list[Suspect]:
    """Everything that is larger than rounding of 1e-9: elements, the largest first, then sections that would move otherwise.

    held: the pump's pressure is a state, and o_p is not asked.
    """
    Q = float(supply[0])
    found = [s for name, section in sections.items() for s in _limits(t, name, section)]
    if not held:
        top = _worst(P / supply[1] - 1.0)
        found.append(
            Suspect(
                "pR",
                top[1],
                f"the pump's relief stays shut at {P[top[0]] / 1e5:.4g} bar, it is set to "
                f"{supply[1] / 1e5:.4g} bar, t = {t[top[0]]:.2f} s",
            )
        )
    left = {
        (name, side): _chamber(sections[name], flows[name], side, Q)
        for name in sections
        for side in "hr"
    }
    if not held:
        left["pump"] = _pump(sections, flows, supply, P)
    found += _blamed(t, sections, flows, left, P, Q)
    moving = [_moving(t, name, section, P) for name, section in sections.items()]
    ranked = [sorted(part, key=lambda s: -s.size) for part in (found, moving)]
    return [s for part in ranked for s in part if s.size > _ROUNDING]


def _worst(x) -> tuple[int, float]:
    """Where x is largest, and how large; ∞ where it is no number."""
    sizes = np.where(np.isfinite(x), x, np.inf)
    k = int(np.argmax(sizes))
    return k, float(sizes[k])


def _limits(t, name, s) -> list[Suspect]:
    """Suspects: pressures beyond reliefs and suction checks, and a force that the pressures do not explain."""
    found = []
    for side, p, top in (("h", s.P_h, s.row[2]), ("r", s.P_r, s.row[3])):
        word = _SIDES[side]
        over = _worst(p / top - 1.0)
        under = _worst(-p / top)
        found.append(
            Suspect(
                f"{side}R_{name}",
                over[1],
                f"relief of the {word} side stays shut at {p[over[0]] / 1e5:.4g} bar, "
                f"it is set to {np.max(top) / 1e5:.4g} bar, t = {t[over[0]]:.2f} s",
            )
        )
        found.append(
            Suspect(
                f"{side}S_{name}",
                under[1],
                f"suction check of the {word} side stays shut at "
                f"{p[under[0]] / 1e5:.4g} bar, t = {t[under[0]]:.2f} s",
            )
        )
    full = s.row[0] * s.row[2] + s.row[1] * s.row[3]
    off = _worst(np.abs(s.f - s.row[0] * s.P_h + s.row[1] * s.P_r) / full)
    found.append(
        Suspect(f"rod_{name}", off[1], f"its sides do not give its force at t = {t[off[0]]:.2f} s")
    )
    return found


def _chamber(s, q, side: str, Q: float) -> Left:
    p, top, oil = (s.P_h, s.row[2], q.Q_ho) if side == "h" else (s.P_r, s.row[3], q.Q_ro)
    relieved = p >= top * (1 - _AT)
    sucking = p <= top * _AT
    oil = np.where(relieved & (oil > 0) | sucking & (oil < 0), 0.0, oil)
    k_p, k_t, drop = (
        (s.row[4], s.row[6], q.P_c - p) if side == "h" else (s.row[5], s.row[7], q.P_c - p)
    )
    steep = sum(
        _conductance(k, d, oil) for k, d in ((k_p, drop), (k_t, p), (s.row[8], s.P_r - s.P_h))
    )
    mended = np.where(steep > 0, np.abs(oil) / np.where(steep > 0, steep, 1.0) / top, np.inf)
    return Left(oil, np.minimum(np.abs(oil) / Q, mended), ~relieved & ~sucking)


def _conductance(k, drop, oil):
    """k/(2 √drop), the drop no less than what the imbalance itself would make."""
    k = np.asarray(k, float)
    least = np.square(oil / np.where(k > 0, k, 1.0))
    return np.where(
        k > 0, k / (2.0 * np.sqrt(np.maximum(np.maximum(np.abs(drop), least), 1e-12))), 0.0
    )


def _pump(sections, flows, supply, P) -> Left:
    Q, P_M, k_b = supply
    oil = (
        Q
        - k_b * np.sqrt(np.maximum(P, 0.0))
        - sum(np.maximum(q.Q_ph + q.Q_pr, 0.0) for q in flows.values())
    )
    relieved = P >= P_M * (1 - _AT)
    oil = np.where(relieved & (oil > 0), 0.0, oil)
    steep = _conductance(k_b, P, oil)
    for name, s in sections.items():
        q = flows[name]
        both = sum(
            _conductance(k, q.P_c - p, oil) for k, p in ((s.row[4], s.P_h), (s.row[5], s.P_r))
        )
        steep = steep + np.where(q.Q_ph + q.Q_pr > 0, both, 0.0)
    mended = np.where(steep > 0, np.abs(oil) / np.where(steep > 0, steep, 1.0) / P_M, np.inf)
    return Left(oil, np.minimum(np.abs(oil) / Q, mended), ~relieved)


# ---- who is to blame -------------------------------------------------------------------------------------------------------------
def _blamed(t, sections, flows, left, P, Q) -> list[Suspect]:
    """The element that explains most of what balances leave over; one entry, none where they leave nothing."""
    size, where = max(((_worst(x.size)[1], key) for key, x in left.items()), key=lambda e: e[0])
    if not size > 0:
        return []
    k = _worst(left[where].size)[0]
    at = f"t = {t[k]:.2f} s"
    tried = [
        (_explained(left, pattern), element, words)
        for element, words, pattern in _patterns(sections, flows, P, Q)
    ]
    tried = [e for e in tried if e[0][1] > 0 or not e[2].endswith(_LEAKING)]
    (share, α), element, words = max(tried, key=lambda e: e[0][0], default=((0.0, 0.0), "", ""))
    if share > _NAMED:
        return [Suspect(element, size, f"{words.format(100 * (1 - α), 100 * abs(α))}, {at}")]
    if where == "pump":
        oil = 6e4 * left[where].oil[k]
        bar = P[k] / 1e5
        words = "passes" if oil > 0 else "would have to take back"
        return [
            Suspect(
                "pR",
                size,
                f"the pump's relief (or a pump that gives less) {words} {abs(oil):.4g} l/min at "
                f"{bar:.4g} bar, {at}",
            )
        ]
    name, side = where
    oil = left[where].oil
    p = sections[name].P_h if side == "h" else sections[name].P_r
    if oil[k] > 0:
        return [
            Suspect(
                f"{side}R_{name}",
                size,
                f"relief (or suction check) of the {_SIDES[side]} side passes "
                f"{6e4 * oil[k]:.4g} l/min out at {p[k] / 1e5:.4g} bar, {at}",
            )
        ]
    return [
        Suspect(
            f"{side}S_{name}",
            size,
            f"{-6e4 * oil[k]:.4g} l/min come into the {_SIDES[side]} side from nowhere at "
            f"{p[k] / 1e5:.4g} bar, {at}",
        )
    ]


def _patterns(sections, flows, P, Q):
    """(element, words, balance → oil left over there were all of it missing)."""
    for name, s in sections.items():
        q = flows[name]
        h = (name, "h")
        r = (name, "r")
        passes = "orifice ({}) passes {{0:.3g}} % of what its coefficient and its drop give"
        joins = {
            "ph": {h: q.Q_ph, "pump": -q.Q_ph},
            "pr": {r: q.Q_pr, "pump": -q.Q_pr},
            "th": {h: -q.Q_th},
            "tr": {r: -q.Q_tr},
            "a": {h: q.Q_a, r: -q.Q_a},
        }
        for key, pattern in joins.items():
            yield f"{key}_{name}", passes.format(_ORIFICES[key]), pattern
        back = {
            h: s.row[4] * np.sqrt(np.maximum(s.P_h - P, 0.0)),
            r: s.row[5] * np.sqrt(np.maximum(s.P_r - P, 0.0)),
        }
        yield (
            f"check_{name}",
            f"the pump's check {_LEAKING}",
            {**back, "pump": -(back[h] + back[r])},
        )
        leaks = f"relief or suction check of the {{}} side, to the tank: it {_LEAKING}"
        yield f"hR_{name}", leaks.format("head"), {h: np.sqrt(np.maximum(s.P_h, 0.0))}
        yield f"rR_{name}", leaks.format("rod"), {r: np.sqrt(np.maximum(s.P_r, 0.0))}
    yield "pump", "gives {0:.3g} % of its flow", {"pump": np.full(len(P), Q)}
    yield (
        "bleed",
        "does not take what its coefficient and its drop give",
        {"pump": np.sqrt(np.maximum(P, 0.0))},
    )


def _explained(left: dict, pattern: dict) -> tuple[float, float]:
    """(share of what is left over that α times the pattern explains, α), where no limit is open."""
    inner = own = whole = 0.0
    for key, x in left.items():
        oil = np.where(x.known & np.isfinite(x.oil), x.oil, 0.0)
        whole += float(oil @ oil)
        if key in pattern:
            shape = np.where(x.known, pattern[key], 0.0)
            inner = inner + float(shape @ oil)
            own = own + float(shape @ shape)
    if not (own > 0 and whole > 0):
        return 0.0, 0.0
    return inner * inner / (own * whole), inner / own


def _moving(t, name, s, P) -> Suspect:
    """Whether the section moves at v under f, at the pump's pressure; ∞ apart where a velocity is no number."""
    row = [np.broadcast_to(np.asarray(e, float), P.shape) for e in s.row]
    found = np.zeros(9)
    worst = 0.0
    when = 0
    for k in np.unique(np.linspace(0, len(P) - 1, _TRIED).astype(int)):
        own = np.array([float(e[k]) for e in row])
        full = (own[4:].max() * np.sqrt(own[2]) + 1e-6) / own[0] + abs(s.v[k])
        β = (own[0] * own[2] + own[1] * own[3]) / full
        w, _ = passed(own, β, float(s.f[k] - β * s.v[k]), float(max(P[k], 0.0)), found)
        apart = float(abs(w - s.v[k]) / full)
        off = np.inf if np.isnan(apart) else apart
        if off > worst:
            worst = off
            when = k
    return Suspect(
        f"section {name}",
        worst,
        f"its force, {s.f[when] / 1e3:.4g} kN, is not one of those at which it moves at "
        f"{s.v[when]:.4g} m/s, t = {t[when]:.2f} s",
    )
