"""How far quasistatic valves are from oil that can be compressed: the gap, its order, and when it does not matter.

    python -m reports.studies.metering_gap

One arm behind metering valves [Kikuuwe21], raised and stopped, as `MeteredArms` (no pressure dynamics) and as `MeteredTwin` (the
same valves, oil in volumes). Model, specification, analysis and result follow in this order. `results()` computes, `check()`
asserts, `main()` prints.

The law: with all volumes over the bulk modulus V/β scaled by s, the largest gap of the angle is C s as s → 0: of first order in the
compliance 1/k_oil, k_oil = β (A_h²/V_h + A_r²/V_r), and it does not matter whether β or V is what changes. A gap of a given size
thus belongs to a share κ = K/k_oil, the oil's compliance against that which the quasistatic model has between rod and arm anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plants.metered.twin import MeteredTwin
from workbench import Scenario, Steps, simulate

# ---- model ----------------------------------------------------------------------------------------------------------
TWIN = MeteredTwin(G=2.5e-4)  # reliefs so steep that their own gap is far below that of the oil


# ---- specification --------------------------------------------------------------------------------------------------
# Raised at half opening for a second and a half, then shut: fast parts, a steady speed, and a stop.
RAISE = Steps("output", (0.0, 0.5, 2.0), (0.0, -0.5, 0.0))
SOFT = tuple(2.0**-k for k in range(7))  # s: V/β of the default and less
SLOPES = (2.5e-7, 5e-7, 1e-6)  # G, m³/(s Pa)


# ---- analysis -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Gaps:
    """Scale s of V/β; κ; largest gap of the angle by β and by volume, that at the end, travel; slopes G, what they change. rad"""

    scale: np.ndarray
    share: np.ndarray
    by_β: np.ndarray
    by_volume: np.ndarray
    resting: np.ndarray
    travel: float
    slopes: np.ndarray
    by_slope: np.ndarray

    def orders(self, gaps: np.ndarray) -> np.ndarray:
        """Observed order from one scale to the next."""
        return np.log2(gaps[:-1] / gaps[1:])


def oil_stiffness(twin: MeteredTwin) -> float:
    """k_oil of the first arm with both chambers shut, N/m."""
    s = twin.of.arms[0].section
    return twin.β * (s.A_h**2 / twin.V_h + s.A_r**2 / twin.V_r)


def softened(s: float, of: MeteredTwin = TWIN) -> MeteredTwin:
    """All volumes times s."""
    return replace(of, V_h=of.V_h * s, V_r=of.V_r * s, V_p=of.V_p * s)


def angles(plant, duration: float) -> np.ndarray:
    """θ at every 2 ms from where the arm hangs at rest."""
    step = (
        {}
        if isinstance(plant, MeteredTwin)
        else {
            "offset": {f"x_{a.name}": TWIN.carried(a) / a.K for a in plant.arms},
            "max_step": 2.5e-4,
        }
    )
    return simulate(
        plant, Scenario(duration, disturbances={"u_c_1": RAISE}, log_period=2e-3, **step)
    ).array("θ_1")


def results(scales=SOFT, slopes=SLOPES, duration: float = 3.0) -> Gaps:
    """Everything; fewer scales take less time."""
    still = angles(TWIN.of, duration)
    gap = lambda twin: np.abs(angles(twin, duration) - still)
    by_β = [gap(replace(TWIN, β=TWIN.β / s)) for s in scales]
    by_volume = [gap(softened(s)) for s in scales]
    stiff = angles(TWIN, duration)
    return Gaps(
        scale=np.array(scales),
        share=np.array([TWIN.of.arms[0].K / oil_stiffness(softened(s)) for s in scales]),
        by_β=np.array([g.max() for g in by_β]),
        by_volume=np.array([g.max() for g in by_volume]),
        resting=np.array([g[-1] for g in by_β]),
        travel=float(np.ptp(still)),
        slopes=np.array(slopes),
        by_slope=np.array(
            [np.abs(angles(replace(TWIN, G=G), duration) - stiff)[-1] for G in slopes]
        ),
    )


# ---- result ---------------------------------------------------------------------------------------------------------
def check(found: Gaps) -> None:
    """What the study says, as assertions."""
    # First order in V/β, once the oil is ten times as stiff as the element; sooner, what is beyond first order still shows.
    late = found.share[1:] < 0.1
    assert late.sum() >= 2 and np.abs(found.orders(found.by_β)[late] - 1).max() < 0.05
    # It is V/β that counts, not β or V.
    assert np.abs(found.by_volume / found.by_β - 1).max() < 1e-3
    # When it is good enough: the gap is below 2 % of κ times the travel, 0.1 % of the travel for oil twenty times as stiff as K.
    assert (found.by_β < 0.02 * found.share * found.travel).all()
    # Most of it is on the way: at rest a sixth is left.
    assert (found.resting < 0.2 * found.by_β).all()
    # Reliefs' slopes: first order in 1/G, and below the oil's gap.
    assert (
        np.abs(np.log2(found.by_slope[:-1] / found.by_slope[1:]) - 1).max() < 0.15
        and found.by_slope[0] < 0.05 * found.by_β[0]
    )


def main() -> None:
    """Print the table."""
    found = results()
    print(
        f"{'V/β':>8s}{'κ':>8s}{'largest gap':>14s}{'of travel':>12s}{'at rest':>12s}{'order':>8s}{'by volume':>13s}"
    )
    for k, s in enumerate(found.scale):
        order = f"{found.orders(found.by_β)[k - 1]:8.3f}" if k else " " * 8
        print(
            f"{s:8.4f}{found.share[k]:8.4f}{found.by_β[k]:10.2e} rad{100 * found.by_β[k] / found.travel:10.3f} %"
            f"{found.resting[k]:8.1e} rad{order}{found.by_volume[k]:9.2e} rad"
        )
    for G, gap in zip(found.slopes, found.by_slope):
        print(f"  G = {G:.2g} m³/(s Pa) changes {gap:.2e} rad")
    check(found)


if __name__ == "__main__":
    main()
