"""The shorter ways of a valve section against the general one: same motion, same flow, same slope, and nearly always taken."""

import os
import subprocess
import sys

import metering_cases as cases
import numpy as np
import pytest

from plants.valve_circuits import Openings
from plants.valve_circuits.crossed import crossed, passed
from plants.valve_circuits.quick import DONE, quick

DRAWS = 500


def drawn(seed, regeneration):
    """Rows, loads and pressures of sections open one way, with some valves shut or fully open."""
    rng = np.random.default_rng(seed)
    while True:
        circuit = cases.circuit(rng)
        way = 1 if regeneration else int(rng.choice((-1, 0, 1)))
        row = circuit.rows(cases.openings(rng, way, regeneration))[0]
        (β,), (f,) = cases.load(rng, 1)
        yield np.array([float(e) for e in row]), β, f, rng.uniform(0.0, 1.2) * circuit.pump.P_M


def compared(seed, regeneration):
    """(row, β, f, P, what the shorter way says) of DRAWS sections."""
    for _, (row, β, f, P) in zip(range(DRAWS), drawn(seed, regeneration)):
        yield row, β, f, P, quick(row, β, f, P, 0.0, 0.0)


def left_to_the_general_one(row) -> bool:
    """Regeneration open while the section does not extend, or draining the larger of two sides alone."""
    A_h, A_r, k_ph, k_tr, k_a = row[[0, 1, 4, 7, 8]]
    return k_a > 0.0 and k_tr == 0.0 and (k_ph == 0.0 or A_h <= A_r)


def speed(row, β, f, P) -> float:
    """What a speed of this section is compared with: its valves fully used, or what its load makes of β."""
    return row[4:].max() * np.sqrt(max(P, row[2], row[3])) / min(row[0], row[1])


@pytest.mark.parametrize("regeneration", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_shorter_way_moves_as_the_general_one(regeneration):
    handed_over = 0
    for row, β, f, P, (state, v, _, Q_p, _) in compared(3, regeneration):
        if state != DONE:
            handed_over += not left_to_the_general_one(row)
            continue
        w, Q_w, _ = crossed(row, β, f, P)
        size = speed(row, β, f, P)
        assert v == pytest.approx(w, rel=1e-6, abs=1e-7 * size), (row, β, f, P)
        assert Q_p == pytest.approx(Q_w, rel=1e-5, abs=1e-6 * size * max(row[0], row[1]))
    assert handed_over <= (0.01 if regeneration else 0.0) * DRAWS


@pytest.mark.parametrize("regeneration", [False, True])
def test_the_slope_of_the_flow_is_its_derivative(regeneration):
    """By P, where the flow is smooth from one side of the step to the other."""
    seen = 0
    for row, β, f, P, (state, _, _, _, slope) in compared(4, regeneration):
        if state != DONE or P <= 0.0:
            continue
        h = 1e-5 * P
        states, flows, slopes = zip(
            *(
                (found[0], found[3], found[4])
                for found in (quick(row, β, f, P + s * h, 0.0, 0.0) for s in (-1.0, 1.0))
            )
        )
        if states != (DONE, DONE) or abs(slopes[1] - slopes[0]) > 1e-3 * abs(slope):
            continue
        seen += 1
        assert (flows[1] - flows[0]) / (2 * h) == pytest.approx(slope, rel=2e-3, abs=1e-16)
    assert seen > 0.5 * DRAWS


def any_openings(rng) -> Openings:
    """Every valve shut, fully open or between."""
    return Openings(*(float(rng.choice([0.0, 1.0, rng.uniform(0.02, 1.0)])) for _ in range(5)))


def test_the_general_way_obeys_every_element():
    """Orifices, chamber balances with reliefs and suction checks at their limits only, the rod's force; slopes by differences."""
    rng = np.random.default_rng(6)
    moved = slopes = 0
    for _ in range(DRAWS):
        circuit = cases.circuit(rng)
        row = np.array([float(e) for e in circuit.rows(any_openings(rng))[0]])
        A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a = row
        ((β,), (f,)), P = cases.load(rng, 1), rng.uniform(0.05, 1.2) * circuit.pump.P_M
        found = np.zeros(9)
        v, Q_p = passed(row, β, f, P, found)
        x, y, q_ph, q_pr, q_th, q_tr, q_a, q_ho, q_ro = found
        small = 1e-7 * speed(row, β, f, P) * max(A_h, A_r)
        assert 0.0 <= x <= P_hM * (1 + 1e-12) and -1e-6 * P_rM <= y <= P_rM * (1 + 1e-12)
        assert β * v + f == pytest.approx(A_h * x - A_r * y, abs=1e-7 * (A_h * P_hM + A_r * P_rM))
        assert q_th == pytest.approx(k_th * np.sqrt(x), abs=small)
        assert q_tr == pytest.approx(k_tr * np.sqrt(max(y, 0.0)), abs=small)
        assert q_a == pytest.approx(k_a * np.sqrt(max(y - x, 0.0)), rel=1e-3, abs=10 * small)
        assert q_ph - q_th + q_a - A_h * v == pytest.approx(q_ho, abs=10 * small)
        assert q_pr - q_tr - q_a + A_r * v == pytest.approx(q_ro, abs=10 * small)
        assert q_ho >= -small or x <= 1e-9 * P_hM
        assert q_ro >= -small or y <= 1e-9 * P_rM
        assert Q_p == pytest.approx(max(q_ph + q_pr, 0.0), abs=small)
        assert crossed(row, β, f, P)[:2] == pytest.approx((v, Q_p), abs=small)
        moved += abs(v) > small
        h = 1e-5 * P
        around = [crossed(row, β, f, P + s * h) for s in (-1.0, 1.0)]
        slope = crossed(row, β, f, P)[2]
        if slope > 0.0 and abs(around[1][2] - around[0][2]) < 1e-3 * slope:
            slopes += 1
            assert (around[1][1] - around[0][1]) / (2 * h) == pytest.approx(slope, rel=5e-3)
    assert moved > 0.8 * DRAWS and slopes > 0.4 * DRAWS


ALONE = """
from plants.valve_circuits import closed, compiled
side = closed.Side(*[1.0] * 8)
print(compiled._standing(side), compiled._rising(side, 1.0, -1.0))
"""


def test_what_another_process_compiled_is_read_back_part_by_part(tmp_path):
    """A process that was ended, or runs beside this one, may have kept the parts of a function and not yet the function."""
    around = os.environ | {"FLUIDPROOF_CACHE": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, "-c", ALONE], env=around, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said[0] == said[1] == "1.0 0.6180339887498948\n"
