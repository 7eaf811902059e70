"""Random valve circuits: areas, reliefs in any order (rod side larger than head side too), openings shut, partial and full."""

from __future__ import annotations

from plants.valve_circuits import Circuit, Openings, Pump, Section

C = 2.91e-6


def openings(rng, direction, regeneration=False, edges=0.3):
    """Openings of a direction; each is 0 or 1 with probability `edges`/2."""

    def one():
        return float(rng.choice([0.0, 1.0])) if rng.uniform() < edges else rng.uniform(0.02, 1.0)

    u_a = one() if regeneration else 0.0
    if direction is None:
        return Openings(*(rng.uniform(0.05, 1.0) for _ in range(4)), u_a=u_a)
    if direction == 0:
        return Openings(u_a=u_a)
    return (
        Openings(u_ph=one(), u_tr=one(), u_a=u_a)
        if direction > 0
        else Openings(u_pr=one(), u_th=one(), u_a=u_a)
    )


def circuit(rng, N=1):
    """Sections with areas, reliefs and coefficients of their own on one pump."""

    def section(name):
        c = dict(zip(("c_ph", "c_pr", "c_th", "c_tr", "c_a"), C * rng.uniform(0.4, 2.0, 5)))
        A_h, A_r = rng.uniform(0.004, 0.03, 2)
        P_hM, P_rM = rng.uniform(15e6, 45e6, 2)
        return Section(name, A_h, A_r, P_hM, P_rM, **c)

    pump = Pump(rng.uniform(1e-3, 1.2e-2), rng.uniform(12e6, 48e6), C * rng.uniform(0.5, 1.5))
    return Circuit(tuple(section(f"{j}") for j in range(N)), pump)


def bleed(rng):
    """u_b: shut, open, or between."""
    return float(rng.choice([0.0, 1.0, rng.uniform(0.01, 1.0)]))


def load(rng, N, low=4.0, high=8.0):
    """β and f̄ of N sections."""
    return 10 ** rng.uniform(low, high, N), rng.uniform(-1.3e6, 1.3e6, N)


# Openings to pump and tank, head and rod (k_ph, k_pr, k_th, k_tr), of a section that moves out, back, or not at all.
WAYS = {
    "out": [2.0, 0.0, 0.0, 1.5],
    "back": [0.0, 1.1, 1.7, 0.0],
    "out, shut to tank": [2.0, 0.0, 0.0, 0.0],
    "out, shut to pump": [0.0, 0.0, 0.0, 1.5],
    "back, shut to tank": [0.0, 1.1, 0.0, 0.0],
    "back, shut to pump": [0.0, 0.0, 1.7, 0.0],
    "shut": [0.0, 0.0, 0.0, 0.0],
}
