"""A loop that is open: the scenario drives the controls, from Python and from a case file."""

import numpy as np
import pytest

from controllers import OpenLoop
from plants import machine
from workbench import ClosedLoop, InputError, Sampled, Scenario, Steps, simulate
from workbench.cases.file import loads
from workbench.verification import default_claims, run_claims, verify
from workbench.verification.verdict import answers_stability, exit_code

PLANT = machine("four-bar").plant
CYCLE = """
plant: four-bar
controller: OpenLoop
loop: {sample_time: continuous}
scenario:
  disturbances:
    U_ref: {type: Steps, times: [0 s, 100 ms, 150 ms], values: [0 V, 8 V, -2000 mV]}
  duration: 0.2 s
"""


def test_the_scenario_drives_the_controls():
    case = loads(CYCLE)
    jumps = case.scenario.disturbances["U_ref"]
    assert jumps.times == (0.0, 0.1, 0.15) and jumps.values == ((0.0,), (8.0,), (-2.0,))
    assert case.scenario.reference is None  # nothing follows one
    log = simulate(case.loop, case.scenario)
    alone = simulate(PLANT, Scenario(0.2, disturbances={"U_ref": jumps}))
    assert np.array_equal(log.array("z_1"), alone.array("z_1")) and log.array("U").max() > 7.9
    sampled = simulate(ClosedLoop(PLANT, Sampled(OpenLoop(PLANT), 1e-3)), case.scenario)
    assert np.abs(sampled.array("z_1") - alone.array("z_1")).max() < 1e-12
    assert (
        np.ptp(simulate(ClosedLoop(PLANT, OpenLoop(PLANT)), Scenario(0.1)).array("z_1")) < 1e-12
    )  # 0 where nothing is given


def test_only_what_makes_sense_is_claimed():
    case = loads(CYCLE)
    assert [type(c).__name__ for c in default_claims(case.loop, case.scenario)] == [
        "Pressures",
        "MachineLimits",
        "HoldsWeight",
        "EnergyBalance",
        "Unasked",
    ]


SINKING = """
plant: ieha-control
controller: OpenLoop
loop: {sample_time: continuous}
scenario: {disturbances: {F_ext: 300}, duration: 1 s}
"""


@pytest.mark.parametrize(
    "asked, code",
    (
        ("", 2),  # nothing asked: whether an open loop is stable cannot be told
        ("claims: {saturation: false}\n", 2),  # nothing asked for, something left out
        ("claims: {energy-balance: {share: 1e-6}}\n", 0),  # the requirements alone
    ),
)
def test_an_open_loop_is_stable_to_nobody(asked, code):
    """The load sinks, the books close and no limit is met: stability stays open unless requirements alone are asked for."""
    case = loads(SINKING + asked)
    verdicts = verify(case.loop, case.scenario, case.claims)
    assert exit_code(verdicts) == code and not answers_stability(verdicts)
    (unasked,) = (v for v in verdicts if v.key == "unasked")
    assert "practical-stability" in unasked.claim and "claims:" in unasked.worst
    assert unasked.counted is (code == 2)


def test_an_open_loop_from_python():
    case = loads(SINKING)
    assert exit_code(verify(case.loop, case.scenario)) == 2
    assert exit_code(verify(case.loop, case.scenario, [run_claims.EnergyBalance()])) == 0


@pytest.mark.parametrize(
    "text, words",
    (
        (CYCLE.replace("U_ref:", "U_red:"), "U_ref"),
        (CYCLE.replace("8 V", "8 bar"), "V"),
        (CYCLE.replace("100 ms", "200 ms"), "comes after"),
        (CYCLE.replace("-2000 mV", "1 V, 2 V"), "4 for 3 times"),
        (CYCLE.replace("controller: OpenLoop\n", ""), "OpenLoop"),
        (CYCLE.replace("100 ms", "0.1414213562 s"), "no step can end"),
    ),
)
def test_bad_input(text, words):
    with pytest.raises(InputError) as refusal:
        case = loads(text)
        simulate(case.loop, case.scenario)
    assert words in str(refusal.value)


def test_a_jump_is_a_jump():
    jumps = Steps("output", (0.3, 0.7), (2.0, -1.0))
    assert jumps.sample([0.0, 0.3, 0.7 - 1e-9, 0.1 * 7, 5.0], 1)[:, :, 0].tolist() == [
        [2.0, 2.0, 2.0, -1.0, -1.0],
        [0.0] * 5,
    ]
    assert jumps.jumps() == (0.7,) and jumps.duration == 0.7


@pytest.mark.parametrize("law, volts, holds", [("OpenLoop", 10, True), ("PID", 0, False)])
def test_a_valve_opened_fully_by_the_scenario_is_no_limit_broken(law, volts, holds):
    """A work cycle asks for full opening; a law that leaves its valve at the end asks for more than there is."""
    text = "plant: four-bar\n"
    if law == "OpenLoop":
        text += (
            "controller: OpenLoop\nloop: {sample_time: continuous}\nscenario:\n  duration: 2 s\n"
        )
        text += f"  disturbances: {{U_ref: {{type: Steps, times: [0 s, 0.5 s, 1.5 s], values: [0 V, {volts} V, 0 V]}}}}\n"
    else:
        text += "controller: {law: PID, K_p: 8940 V/m}\nscenario: {duration: 2 s, reference: {type: Sine, space: output, "
        text += "centre: start, amplitude: [60 mm], frequency: 0.5 Hz}}\n"
    case = loads(text)
    (verdict,) = verify(case.loop, case.scenario, [run_claims.MachineLimits()])
    assert verdict.holds is holds, verdict.worst
