"""FMUs by co-simulation under PID: a mass on a spring, whose moods `tests/fmu/bench.h` lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from controllers import PID
from tests.fmus import bench
from workbench import FMU, ClosedLoop, Sampled, Scenario, Sine
from workbench.verification.judge import default_claims
from workbench.verification.run_claims import Tracking

PERIOD = 0.01  # s
WIRES = {"outputs": {"s": "q_mm"}, "disturbances": ["D"]}


def foreign(mood: int, duration: float = 15.0):
    """The loop, its scenario and its default claims; the path is ± 5 cm at 0.2 Hz."""
    plant = FMU(
        bench(Path(mkdtemp(prefix="fluidproof-fault-")), 2),
        trust=True,
        interface="co-simulation",
        connect=WIRES,
        ranges={"F": (-200, 200)},
        parameters={"mood": mood},
    )
    gains = {"K_p": (60.0,), "K_i": (150.0,), "K_d": (8.0,), "τ": 0.02, "u_max": 200.0}
    law = PID(plant, **gains, feed="none", damping="none")
    loop = ClosedLoop(plant, Sampled(law, T_s=PERIOD))
    run = Scenario(duration, Sine("output", (0.0,), (0.05,), 0.1))
    wide = lambda claim: replace(claim, error=0.02) if isinstance(claim, Tracking) else claim
    return loop, run, tuple(map(wide, default_claims(loop, run)))
