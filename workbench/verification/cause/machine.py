"""What makes a machine worse than it need be, where no shipped machine says what is usual: what a better one has in its place.

c_i, c_e        leakage of a cylinder or a motor       0
dead_band       overlap of a valve                     0
frequency       of a valve whose spool lags            FAST, where it is slower
F_c, F_s        dry friction                           a tenth
p_s, p_top      pressure of a supply                   double
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.contract.parameters import Leaf

FAST = 30.0  # Hz
LESS = 0.1
AMPLE = 20e5  # Pa
QUICK = 0.03  # s
NONE = ("c_i", "c_e", "dead_band")
DRY = ("F_c", "F_s")
PRESSURES = ("p_s", "p_top")


def imperfect(known: Mapping[str, Leaf]) -> dict[str, tuple[float, float]]:
    """Path below the plant → (value, value in a better machine), of the loop's numbers by path."""
    found = {}
    for path, leaf in known.items():
        if not path.startswith("plant.") or leaf.structural:
            continue
        value = float(leaf.value)
        better = _better(path, value)
        if better != value:
            found[path.removeprefix("plant.")] = (value, better)
    return found


def _better(path: str, value: float) -> float:
    name = path.rpartition(".")[2]
    if name in NONE:
        return 0.0
    if name in DRY:
        return LESS * value
    if name in PRESSURES:
        return 2.0 * value
    if name == "frequency":
        return max(value, FAST)
    if name == "margin":
        return max(value, AMPLE)
    return min(value, QUICK) if path.endswith(".supply.τ") else value
