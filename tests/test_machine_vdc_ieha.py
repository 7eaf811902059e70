"""Virtual decomposition control of mechanisms that electro-hydraulic actuators drive: the pump's ring is the valve."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced

from controllers import MachineVDC
from controllers.machine_vdc import ieha
from plants import LuGre
from workbench import InputError
from workbench.cases.file import load

EXAMPLE = Path(__file__).parents[1] / "examples" / "ieha-arm.yaml"
ARM = load(EXAMPLE).plant


def with_drives(**changes):
    """The arm with other drives."""
    actuators = tuple(replace(a, drive=replace(a.drive, **changes)) for a in ARM.actuators)
    return replace(ARM, actuators=actuators)


def test_its_ledger_closes_and_every_cut_cancels():
    """With bristles of friction that are observed, too."""
    law = MachineVDC(with_drives(friction=LuGre(F_c=9.0, F_s=14.0, v_s=0.01, b=20.0, σ_0=1e5)))
    b = at_random(loop_of(law), 7)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()
    assert all(
        np.abs(d).max() < 1e-9
        for (_, _, name), d in b.perturbations.items()
        if name in ("valve inverse", "parameters", "model")
    )


def test_a_pump_that_turns_slower_than_the_law_knows_is_named():
    slower = with_drives(pump=replace(ARM.actuators[0].drive.pump, ω=0.8 * 314.0))
    b = at_random(loop_of(MachineVDC(ARM), slower), 7)
    assert not unbalanced(b) and not open_cuts(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert "parameters" in named and "model" not in named


def test_the_ring_is_where_the_pump_gives_the_flow():
    drive, rng = ARM.actuators[0].drive, np.random.default_rng(2)
    for _ in range(20):
        P_A, P_B = (float(v) for v in rng.uniform(-5e5, 4e6, 2))
        Q = float(1e-5 * rng.normal())
        E = ieha.eccentricity(drive, Q, P_A, P_B)
        assert ieha.pumped(drive, E, P_A, P_B) == pytest.approx(Q, rel=1e-12)
        # Beyond the overlap, and where the side that is fed loses oil, it is the averaged pump itself.
        fed = P_A if Q >= 0 else P_B
        if abs(E) > 1e-5 and drive.pump.mean_loss(0.0, fed, drive.oil.β) <= 0:
            made = drive.delivery(0.0, drive.whole([E, 0.0, 0.0, P_A, P_B], drive.middle, 0.0))
            assert made.Q_A - made.Q_B == pytest.approx(Q, rel=0.02, abs=1e-8)


def test_an_open_circuit_is_refused():
    with pytest.raises(InputError, match="actuator shoulder is an open circuit"):
        MachineVDC(with_drives(circuit="open"))
