"""Every controller with every machine from a file of two lines: it runs, or is refused with the reason and a way out."""

import pytest

from plants.machine_files import machines
from workbench import load, simulate
from workbench.cases.file import laws, loads
from workbench.contract.errors import InputError
from workbench.contract.system import innermost

LINEAR = "ieha-published-linear"
IEHA = ("ieha-control", "ieha-figures")
RUNS = {
    ("hiab-xs031", "VDC"),
    ("hiab-xs031", "PID"),
    ("hiab-xs031", "MPC"),
    *((name, "PID") for name in (*IEHA, LINEAR)),
    ("ieha-control", "VDC"),
}
REFUSED = {
    (LINEAR, "VDC"): "is no manipulator",
    ("ieha-figures", "VDC"): "is an open circuit",
    **{(name, "LQR"): "Q is missing" for name in ("hiab-xs031", *IEHA, LINEAR)},
    (LINEAR, "MPC"): "not positive definite",
}
WEIGHTED = {  # with the weights that nobody can guess
    ("hiab-xs031", "{law: LQR, Q: 1, R: 1}"): "exactly at its edge",
    ("ieha-control", "{law: LQR, Q: 1, R: 1}"): "linear at rest",
    (LINEAR, "{law: LQR, Q: 1, R: 1}"): "not measured",
    (LINEAR, "{law: MPC, S: 10}"): "give observer: {σ_y: …, σ_d: …}",
    (
        "hiab-xs031",
        "{law: MPC, observer: null}",
    ): "u_s_1, du_s_1, u_s_2, du_s_2, u_s_t2, du_s_t2 of Manipulator are not measured",
    ("hiab-xs031", "{law: MPC, relinearise: false}"): "or relinearise: true",
    ("ieha-control", "{law: MPC, working: {E: 0}}"): "no command moves Y",
    ("{machine: ieha-control, change: {detail: full}}", "MPC"): "depends on time itself",
    ("hiab-xs031", "{law: MPC, horizon: 0}"): "horizon",
    ("hiab-xs031", "{law: MPC, limits: {x_1: {low: 0.3, high: 0.2}}}"): "must be below high",
    ("hiab-xs031", "{law: MPC, observer: {σ_y: 0, σ_d: 1}}"): "greater than zero",
    ("hiab-xs031", "{law: MPC, terminal: set}"): "problem changes every sample",
}


def case(machine, controller, extra=""):
    return loads(
        f"plant: {machine}\ncontroller: {controller}\nscenario: {{duration: 60 ms}}\n{extra}",
        "pair.yaml",
    )


def test_the_matrix_is_whole():
    """Every shipped machine and law is in one of the tables; where MPC serves an IEHA has a test of its own below."""
    covered = {*RUNS, *REFUSED, *((name, "MPC") for name in IEHA)}
    asked = {
        (name, law)
        for name in ("hiab-xs031", *IEHA, LINEAR)
        for law in ("VDC", "PID", "MPC", "LQR")
    }
    assert (
        asked == covered
        and {"hiab-xs031", *IEHA, LINEAR} <= set(machines())
        and {"VDC", "PID", "MPC", "LQR"} <= set(laws())
    )


@pytest.mark.parametrize("machine, law", sorted(RUNS))
def test_serves(machine, law):
    made = case(machine, law)
    assert (
        type(made.controller).__name__ == "Sampled"
        and simulate(made.loop, made.scenario).status.completed
    )


def test_predictive_control_serves_the_nonlinear_actuator():
    """On its averaged self, linearised along the prediction; a machine with ripple keeps an averaged model."""
    reference = "{type: Sine, space: output, centre: start, amplitude: [2 mm], frequency: 5 Hz, ramp: 50 ms}"
    rippled = "{machine: ieha-control, change: {detail: ripple}}"
    for machine, model in (
        ("ieha-control", ""),
        (rippled, ", model: {change: {detail: averaged}}"),
    ):
        made = loads(
            f"plant: {machine}\ncontroller: {{law: MPC{model}}}\n"
            f"scenario: {{reference: {reference}, duration: 0.3 s}}\n",
            "pair.yaml",
        )
        log = simulate(made.loop, made.scenario)
        late = log.time > 0.1
        assert (
            abs(log.array("Y") - log.array("Y_d"))[late].max() < 5e-5 < 1e-3 < log.array("Y").max()
        )
        assert set(log.array("mpc_status")) == {1.0}


@pytest.mark.parametrize(
    "machine, law, words", [(*pair, words) for pair, words in (REFUSED | WEIGHTED).items()]
)
def test_refused_with_the_reason(machine, law, words):
    with pytest.raises(InputError) as caught:
        case(machine, law)
    text = str(caught.value)
    assert words in text and caught.value.line == 2 and caught.value.mend
    assert (
        "Observer(" not in text and "=True" not in text and "='" not in text
    )  # a file's words, not Python's


def test_a_file_that_says_mpc_gets_a_sample_time_and_a_horizon_that_suit():
    crane = loads("plant: hiab-xs031\ncontroller: MPC\n", "a.yaml")
    assert crane.loop.period == 0.02 and law(crane).N == 20 and law(crane).T_s == 0.02
    faster = loads("plant: hiab-xs031\ncontroller: MPC\nloop: {sample_time: 10 ms}\n", "a.yaml")
    assert faster.loop.period == 0.01 and law(faster).N == 40
    own = loads(
        "plant: hiab-xs031\ncontroller: {law: MPC, horizon: 13}\nloop: {sample_time: 10 ms}\n",
        "a.yaml",
    )
    assert law(own).N == 13
    told = loads("plant: hiab-xs031\ncontroller: {law: MPC, Q: 7}\n", "a.yaml")
    assert law(told).Q == (7.0,) and law(told).S == (20.0,) and law(told).relinearise
    assert load("examples/hiab-xs031-mpc.yaml").loop.period == 0.02


def law(made):
    """The predictive law inside a case's wrappers."""
    inner = innermost(made.controller)
    return getattr(inner, "law", inner)
