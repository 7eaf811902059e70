"""How runs come back and settle, other starts, sentences and searches on known courses: held by a table, see `stored`."""

import numpy as np
import pytest
from stored import held
from test_returning import line, regulated

from workbench import Hold, Scenario
from workbench.verification import oscillation
from workbench.verification.returning import Judged, returns, thinned
from workbench.verification.run import run
from workbench.verification.search.minimise import minimise
from workbench.verification.search.shrink import shrunk
from workbench.verification.settled import _rest
from workbench.verification.starts import drawn, pose, positions, scenario_from, sizes
from workbench.verification.temporal.sentence import read

TIME = np.linspace(0.0, 12.0, 3000)


def coming_back() -> dict:
    """How far two runs are apart, and how that falls."""
    found = {}
    for name, plant in {"falls": line(-0.8, 2.0), "slow": line(-0.05), "grows": line(0.1)}.items():
        loop = regulated(plant)
        still = run(loop, Scenario(6.0))
        moved = run(loop, Scenario(6.0, offset={"x0": 0.1, "x1": -0.05}))
        asked = [Judged("y0", ("y0",), "1", 1e-3), Judged("y1", ("y1",), "1", 1e-2)]
        found[name] = returns(moved, still, asked)
    t, d = np.linspace(0, 5, 1003), np.abs(np.sin(np.linspace(0, 40, 1003)))
    return found | {"thinned": thinned(t, d)}


def tails() -> list:
    """What tails of many kinds are called, with their numbers."""
    return [
        _rest("x", TIME, error, 1e-4, noise)
        for error in (
            1e-3 * np.exp(-2 * TIME),
            np.exp(-0.2 * TIME),
            2e-2 * np.exp(-0.15 * TIME) * np.sin(5 * TIME),
            2.6e-3 * np.sin(2 * np.pi * 0.3 * TIME),
            1e-3 * TIME,
            1e-2 * np.sin(0.4 * TIME),
            3e-4 * np.sin(9 * TIME) + 2e-3,
        )
        for noise in (False, True)
    ]


def swings() -> list:
    """Ranges of commands that are used, and what is left of them without the slow part."""
    t = np.arange(0.0, 4.0, 2e-3)
    found = []
    for fast, size in ((40.0, 0.3), (9.0, 0.1), (200.0, 0.02)):
        u = np.sin(1.3 * t) + size * np.sin(2 * np.pi * fast * t)
        found.append(
            [
                oscillation.smoothed(u, 2e-3),
                oscillation.swinging(u - np.sin(1.3 * t), 2e-3),
                oscillation.range_used(u, 2e-3, -10.0, 10.0),
            ]
        )
    return found


def starts() -> dict:
    """Other starts of a loop."""
    plant = line(-0.8, 2.0)
    own = run(regulated(plant), Scenario(2.0, Hold("output", (0.0, 0.0))))
    listed = drawn(own, 4, 0.1)
    return {
        "positions": positions(plant),
        "sizes": sizes(own, 0.1),
        "drawn": listed,
        "poses": [pose(own, s) for s in listed],
        "scenarios": [scenario_from(own, s, own.scenario) for s in listed],
    }


def sentences() -> list:
    """Robustness of sentences on a known course, at every kind of window."""
    t = np.linspace(0.0, 5.0, 251)
    units = {"x": "m", "v": "m/s", "time": "s"}
    columns = {"x": np.sin(2 * t) * np.exp(-0.3 * t), "v": np.cos(2 * t), "time": t}
    found = []
    for text in (
        "always[1 s, 3 s] (x < 0.7 m)",
        "eventually[0.5 s, end] (abs(x) < 0.1 m and v > 0 m/s)",
        "always (x > 0.1 m -> eventually[0 s, 2 s] (x < 0 m))",
        "(x < 0.9 m) until[0.2 s, 2 s] (v < -0.5 m/s)",
        "not (always[0 s, 1 s] (x^2 + 0.1 m^2 < 0.5 m^2))",
        "historically[0 s, 1 s] (x > -1 m)",
        "once[0.1 s, 0.4 s] (v > 0.9 m/s)",
        "always[4 s, 7 s] (x < 1 m)",
    ):
        try:
            found.append([text, read(text, units).on(t, columns)])
        except Exception as why:  # noqa: BLE001 - what is refused is said in words
            found.append([text, str(why)])
    return found


def searched() -> list:
    """Where a search goes, and what is left of a counter-example."""
    seen = []

    def value(x):
        seen.append(list(map(float, x)))
        return float((x[0] - 0.3) ** 2 + abs(x[1] + 0.2))

    values = lambda rows: np.array([value(r) for r in rows])
    minimise(2, values, 40, 3, lambda scores: min(scores) < 1e-3)
    near = shrunk(np.array([0.8, -0.6, 0.3]), lambda x: x[0] - x[1] > 0.5)
    return [len(seen), seen[:16], near]


CASES = {
    "coming back": coming_back,
    "tails": tails,
    "swings": swings,
    "starts": starts,
    "sentences": sentences,
    "searched": searched,
}


def within(case: str) -> float:
    return 1e-7


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_runs_are_those_of_the_table(case):
    held("runs", case, CASES[case], within(case))
