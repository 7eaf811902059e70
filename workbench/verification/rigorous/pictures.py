"""What a report draws of certificates: regions in the plane of two signals, the linear part against its sector.

region   list of {x, y: names; unit_x, unit_y; boundary (N, 2), SI; kind "projection" | "section"; box ((low, high), (low,
         high)) or None; path (M, 2) of the run or None; title}
sector   {ω rad/s, G(jω) of the linear part, k: (low, high), criterion}
"""

from __future__ import annotations

import numpy as np

from workbench.verification.observed.expression import formula
from workbench.verification.verdict import Verdict

POINTS = 181  # of a boundary
STEPS = 400  # on every ray to it


def certificate_arrays(run, verdicts: list[Verdict]) -> dict:
    """The arrays named above, of the verdicts that have them."""
    by = {v.key: v for v in verdicts}
    regions = [
        draw(run, by[key])
        for key, draw in (("region-of-attraction", _ellipsoid), ("supplied", _level_set))
        if key in by
    ]
    found = {"region": kept} if (kept := [r for r in regions if r]) else {}
    drawn = by["sector"].data if "sector" in by else {}
    if drawn.get("response"):
        ω, G = drawn["response"]
        found["sector"] = {
            "ω": ω,
            "G": G,
            "k": (drawn["low"], drawn["high"]),
            "criterion": drawn["criterion"],
        }
    return found


def _ellipsoid(run, verdict: Verdict) -> dict | None:
    """The shadow of {(x − centre)ᵀP(x − centre) ≤ 1} on two plant states: the first asked about, and the one that drives it."""
    data = verdict.data
    plant = run.loop.plant
    own = [s.name for s in plant.states]
    if "P" not in data or len(own) < 2:
        return None
    Q = np.linalg.inv(np.array(data["P"]))
    first = own.index(data["along"][0])
    pair = [first, _driver(run, own, first, np.sqrt(np.diag(Q)))]
    w, X = np.linalg.eigh(Q[np.ix_(pair, pair)])
    angle = np.linspace(0, 2 * np.pi, POINTS)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    boundary = (X * np.sqrt(np.maximum(w, 0))) @ circle + np.array(data["centre"])[pair][:, None]
    names = [own[i] for i in pair]
    return _picture(
        run,
        names,
        [data["units"][i] for i in pair],
        boundary.T,
        "projection",
        None,
        "region of attraction with saturated commands",
    )


def _driver(run, own, first: int, size) -> int:
    """The state that moves state `first` most: by its rate's dependence on it, times how far it goes in the run (or may go)."""
    from workbench.numerics.linearisation import linearize

    A = np.abs(linearize(run.loop.plant, list(run.loop.plant.initial())).A[first])
    far = np.array([np.ptp(run.log.array(n)) if n in run.log else 0.0 for n in own])
    weight = A * (far if (A * far).sum() - (A * far)[first] > 0 else size[: len(own)])
    weight[first] = -1.0
    return int(weight.argmax())


def _level_set(run, verdict: Verdict) -> dict | None:
    """{V = γ} in the plane of the box's first two states through the centre, as far as it goes out from there."""
    data = verdict.data
    names = list(data.get("box", ()))[:2]
    if len(names) < 2 or not data.get("level") or data["level"] <= 0:
        return None
    V = formula(data["V"], list(data["box"]))
    all_ = list(data["box"])
    centre = [data["centre"][n] for n in all_]
    low, high = (np.array([data["box"][n][i] for n in names]) for i in (0, 1))
    start = np.array(centre[:2])
    angle = np.linspace(0, 2 * np.pi, POINTS)
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1) * (high - low) / 2
    with np.errstate(all="ignore"):
        ends = np.where(
            way > 0, (high - start) / way, np.where(way < 0, (low - start) / way, np.inf)
        ).min(axis=1)
        s = np.linspace(0, 1, STEPS)[:, None] * ends
        rays = start[:, None, None] + s * way.T[:, None, :]
        values = V([*rays, *(np.full(s.shape, c) for c in centre[2:])]) + np.zeros(s.shape)
    over = ~(values <= data["level"])
    k = np.where(over.any(axis=0), over.argmax(axis=0), STEPS - 1)
    every = np.arange(POINTS)
    before = np.maximum(k - 1, 0)
    rise = values[k, every] - values[before, every]
    share = np.where(
        over[k, every] & (rise > 0),
        (data["level"] - values[before, every]) / np.where(rise > 0, rise, 1.0),
        1.0,
    )
    at = s[before, every] + share * (s[k, every] - s[before, every])
    boundary = start + at[:, None] * way
    box = tuple((float(a), float(b)) for a, b in zip(low, high))
    return _picture(
        run,
        names,
        [data["units"][n] for n in names],
        boundary,
        "section",
        box,
        f"V = {data['V'][:60]} at its level {data['level']:.4g}",
    )


def _picture(run, names, units, boundary, kind, box, title) -> dict:
    path = (
        np.column_stack([run.log.array(n) for n in names])
        if all(n in run.log for n in names)
        else None
    )
    return {
        "x": names[0],
        "y": names[1],
        "unit_x": units[0],
        "unit_y": units[1],
        "boundary": boundary,
        "kind": kind,
        "box": box,
        "path": path,
        "title": title,
    }
