"""Trials of a machine that is no shipped one: a number that limits its performance is set to that of a better machine.

c_i, c_e        leakage of a cylinder or a motor       0
dead_band       overlap of a valve                     0
frequency       of a valve whose spool lags            FAST, where it is slower
slew            of a spool                             PROMPT, where it is slower
τ               of a supply or of a circuit's spool    QUICK, where it is slower
F_c, F_s        dry friction                           a tenth
p_s, p_top, P_M, p_P   pressure of a supply            double
p_r             return pressure                        SLACK, where it is higher
Q               flow of a metered machine's pump       tenfold
u_b             bleed of it                            0
P_hM, P_rM      reliefs of its chambers                double
d_t             diameter of a throttle                 OPEN times as wide

A supply of less than half of USUAL, which no hydraulic machine is built for, is put there (`starved`). A valve that is larger has
all its orifices WIDER times as wide (`wider`). An orifice below a third of the widest of its valve is put to that (`uneven`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contract.parameters import Leaf

FAST = 30.0  # Hz
LESS = 0.1
AMPLE = 20e5  # Pa
QUICK = 0.03  # s
PROMPT = 500.0  # V/s
SLACK = 5e5  # Pa
PLENTY = 10.0
WIDER = (3.0, 10.0)
THIN = 3.0
OPEN = 5.0
NONE = ("c_i", "c_e", "dead_band", "u_b")
DRY = ("F_c", "F_s")
USUAL = 100e5  # Pa
FED = ("p_s", "p_top", "P_M", "p_P")
DOUBLED = (*FED, "P_hM", "P_rM")
ORIFICES = ("c_p1", "c_n1", "c_p2", "c_n2", "c_ph", "c_pr", "c_th", "c_tr", "Q_n")
LAGS = (".supply.τ", ".drive.τ")


def imperfect(known: Mapping[str, Leaf]) -> dict[str, tuple[float, float]]:
    """Path below the plant → (value, value in a better machine), of the loop's numbers by path."""
    found = {}
    for path, leaf in known.items():
        if not path.startswith("plant.") or leaf.constant:
            continue
        value = float(leaf.value)
        better = _better(path, value)
        if better != value:
            found[path.removeprefix("plant.")] = (value, better)
    return found


def starved(known: Mapping[str, Leaf]) -> dict[str, tuple[float, float]]:
    """Path below the plant → (pressure of a supply, USUAL), where that is more than double."""
    found = {}
    for path, leaf in known.items():
        value = float(leaf.value)
        if path.startswith("plant.") and path.rpartition(".")[2] in FED and 0 < 2.0 * value < USUAL:
            found[path.removeprefix("plant.")] = (value, USUAL)
    return found


def wider(known: Mapping[str, Leaf]) -> Iterator[dict[str, tuple[float, float]]]:
    """Every valve alone, larger: path below the plant of its orifices → (value, value of the larger one)."""
    for values in _valves(known):
        for factor in WIDER:
            yield {path: (value, factor * value) for path, value in values.items()}


def uneven(known: Mapping[str, Leaf]) -> dict[str, tuple[float, float]]:
    """Path below the plant → (orifice, the widest one of its valve), where that is more than THIN times as wide."""
    found = {}
    for values in _valves(known):
        widest = max(values.values())
        found |= {path: (v, widest) for path, v in values.items() if 0 < THIN * v < widest}
    return found


def _valves(known: Mapping[str, Leaf]) -> Iterator[dict[str, float]]:
    """Path below the plant → its value, of the orifices of one valve after the other."""
    valves: dict[str, dict[str, float]] = {}
    for path, leaf in known.items():
        below = path.removeprefix("plant.")
        owner, _, name = below.rpartition(".")
        if below != path and name in ORIFICES and not leaf.constant:
            valves.setdefault(owner, {})[below] = float(leaf.value)
    yield from valves.values()


def _better(path: str, value: float) -> float:
    name = path.rpartition(".")[2]
    if name in NONE:
        return 0.0
    if name in DRY:
        return LESS * value
    if name in DOUBLED:
        return 2.0 * value
    if name == "d_t":
        return OPEN * value
    if path.endswith("pump.Q"):
        return PLENTY * value
    if name == "frequency":
        return max(value, FAST)
    if name == "margin":
        return max(value, AMPLE)
    if name == "slew":
        return max(value, PROMPT)
    if name == "p_r":
        return min(value, SLACK)
    return min(value, QUICK) if path.endswith(LAGS) else value
