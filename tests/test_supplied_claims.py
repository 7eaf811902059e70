"""A V of one's own as a claim of a loop: proven and re-checked, refused with a counter-example; bounds of second derivatives."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from tests.small import Feedback, Linear
from workbench import ClosedLoop, Sampled, Saturated, Scenario
from workbench.cases.file import loads
from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification.rigorous.claims import check_supplied
from workbench.verification.rigorous.curvature import Curvature
from workbench.verification.run import Run

EXAMPLES = Path(__file__).parents[1] / "examples"
ONE = Linear(
    A=((0.5,),), B=((1.0,),), C=((1.0,),), x0=(0.1,)
)  # |u| ≤ 1: attracted exactly for |x| < 2


def limited_feedback(plant=ONE, K=((1.3,),), limit=1.0, T=0.1):
    law = Saturated(Feedback(plant, K), -limit, limit)
    return ClosedLoop(plant, law if T is None else Sampled(law, T))


# ---- a V of one's own ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def certificates():
    return (EXAMPLES / "ieha-certificates.yaml").read_text()


def supplied(text, **changes):
    case = loads(text, "case.yaml")
    claim = replace(next(c for c in case.claims if isinstance(c, C.Supplied)), **changes)
    return case.loop, check_supplied(claim, Run(case.loop, case.scenario, None))


def test_the_examples_certificate_holds_for_every_gain_in_its_range(certificates):
    loop, v = supplied(certificates)
    assert (
        v.holds
        and v.strength == "proof"
        and v.data["boxes"] == 1
        and 0 < v.data["ball"] < v.data["level"]
    )
    assert any("plant.K" in a.text for a in v.assumptions)


def rises(loop, formula, at, h=1e-9):
    """V̇ at a counter-example along the loop's own flow, by a central difference."""
    names = [s.name for s in loop.states]
    V = lambda x: eval(formula, {}, dict(zip(names, x)))  # the test's own text, not the program's
    plant = replace(loop.plant, K=at.get("plant.K", loop.plant.K))
    own = ClosedLoop(plant, loop.controller)
    x = np.array([at.get(n, 0.0) for n in names])
    ẋ = np.array(own.rhs(0.0, list(x), [0.0] * len(own.inputs)))
    return (V(x + h * ẋ) - V(x - h * ẋ)) / (2 * h), V(x)


def test_planted_faults_are_refused_with_a_counter_example(certificates):
    gain = "K_p: 0.4                                 #"
    assert gain in certificates
    loop, unstable = supplied(certificates.replace(gain, "K_p: 9  #"), budget=1500)
    assert unstable.holds is False
    slope, V = rises(loop, unstable.data["V"], unstable.data["at"])
    assert slope >= 0 or V <= 0
    text = next(c for c in loads(certificates).claims if isinstance(c, C.Supplied)).V
    assert supplied(certificates, V=f"-({text})", budget=1500)[1].holds is False  # not positive
    assert (
        supplied(certificates, V=text.replace("- (0.018", "+ (0.018"), budget=1500)[1].holds
        is not True
    )
    assert (
        supplied(certificates, V=f"{text} + 1", budget=1500)[1].holds is False
    )  # not 0 at the centre
    wide = supplied(certificates, parameters={"plant.K": ("30 1/s", "1500 1/s")}, budget=1500)[1]
    assert wide.holds is not True
    assert (
        supplied(
            certificates,
            ball={n: b for n, b in wide.data["box"].items()}
            and {n: 0.7 * b[1] for n, b in wide.data["box"].items()},
            budget=1500,
        )[1].holds
        is None
    )  # the ball reaches the level
    beyond = supplied(certificates, level=10.0, budget=1500)[1]
    assert beyond.holds is not True  # {V ≤ γ} is cut by the box


@pytest.mark.long
def test_a_saturating_box_is_not_called_smooth(certificates):
    """Where the command may saturate in the box, second derivatives settle a smaller part, or nothing."""
    box = {n: tuple(8 * e for e in b) for n, b in supplied(certificates)[1].data["box"].items()}
    _, v = supplied(certificates, box=box, parameters={}, budget=300)
    assert v.data.get("boxes", 0) != 1 and v.holds is not True


@pytest.mark.parametrize(
    "old, new, words, key",
    [
        ("0.661*(Y/0.0005)**2", "0.661*(W/0.0005)**2", "unknown signal 'W'", "claims.supplied.V"),
        ("0.661*(Y/0.0005)**2", "0.661*(Y/0.0005)^2", "cannot have", "claims.supplied.V"),
        ("0.661*(Y/0.0005)**2", "open('x')", "not allowed", "claims.supplied.V"),
        (
            "Y: [-0.5 mm, 0.5 mm]",
            "Y: [-0.5 bar, 0.5 mm]",
            "a length was expected",
            "claims.supplied.box.Y",
        ),
        ("Y: [-0.5 mm, 0.5 mm]", "Y: [0.5 mm, -0.5 mm]", "low < high", "claims.supplied.box"),
        (
            "      e_Y_slow: [-0.5 mm, 0.5 mm]\n",
            "",
            "unknown signal 'e_Y_slow'",
            "claims.supplied.V",
        ),
        ("Y: 10 um, I_Y", "Y: 10 mm, I_Y", "not inside the box", "claims.supplied.ball"),
        ("Y: 10 um, I_Y", "Z: 10 um, I_Y", "no signal 'Z'", "claims.supplied.ball"),
        ("plant.K: [104", "plant.k: [104", "no number 'plant.k'", "claims.supplied.parameters"),
        (
            "contains: [{Y: 5 mm}",
            "contains: [{Y: 5 s}",
            "a length was expected",
            "claims.region-of-attraction.contains",
        ),
        (
            "contains: [{Y: 5 mm}",
            "contains: [{Q: 5 mm}",
            "no signal 'Q'",
            "claims.region-of-attraction.contains",
        ),
        ("{low: 0.5, high: 2}", "{low: 2, high: 0.5}", "not above low", "claims.sector.high"),
        (
            "{low: 0.5, high: 2}",
            "{criterion: jury-lee}",
            "sampled loops",
            "claims.sector.criterion",
        ),
        ("{low: 0.5, high: 2}", "{commands: [Xx]}", "no signal 'Xx'", "claims.sector.commands"),
        (
            "{error: 20 um, settle: 1 s}",
            "{error: 20 um}\n  settled: {floor: 1 s}",
            "a length was expected",
            "claims.settled.floor",
        ),
        (
            "{error: 20 um, settle: 1 s}",
            "{error: 20 um}\n  settled: {floor: -1 um}",
            "greater than zero",
            "claims.settled.floor",
        ),
    ],
)
def test_bad_claims_are_refused_with_line_and_key(certificates, old, new, words, key):
    assert old in certificates
    text = certificates.replace(old, new)
    with pytest.raises(InputError, match=words) as caught:
        loads(text, "case.yaml")
    assert caught.value.file == "case.yaml" and caught.value.key == key and caught.value.mend
    last = key.split(".")[-1]
    assert last in text.splitlines()[caught.value.line - 1]


@pytest.mark.long
def test_a_sampled_loop_is_judged_from_sample_to_sample():
    asked = lambda V="x0**2", K=1.3, box=1.0, **more: check_supplied(
        C.Supplied(V, {"x0": (-box, box)}, 0.05, **more),
        Run(limited_feedback(K=((K,),)), Scenario(), None),
    )
    assert asked().holds and "ΔV" in asked().claim
    assert asked(box=1.9).holds  # the command saturates, the loop still returns
    assert asked(box=2.1).holds is not True  # beyond x = 2 it does not
    assert (
        asked(K=0.4).holds is False and asked(K=0.4).data["at"]["x0"] ** 2 > 0.05**2
    )  # too little gain
    assert asked(K=25.0).holds is not True  # too much for the sample time
    assert asked(V="x0").holds is False and asked(V="-x0**2").holds is False
    assert asked(box=0.06, level=0.001).holds is not True  # the ball's level is above


def test_a_state_that_matters_must_be_in_the_box(certificates):
    text = (
        certificates.replace("      e_Y_slow: [-0.5 mm, 0.5 mm]\n", "")
        .replace(", e_Y_slow: 10 um", "")
        .replace(" + 0.04*(e_Y_slow/0.0005)**2", "")
        .replace("K_i: 2 ", "K_i: 2\n  K_d: 0.01\n")
    )
    with pytest.raises(InputError, match="e_Y_slow, which the box gives no range") as caught:
        loads(text, "case.yaml")
    assert caught.value.key == "claims.supplied.box"


# ---- second derivatives ----------------------------------------------------------------------------------------------------
def test_curvature_bounds_are_bounds():
    rng = np.random.default_rng(11)
    z, w = ca.SX.sym("z", 2), ca.SX.sym("w")
    g = 3 * z[0] ** 2 + w * z[1] ** 2 + 0.3 * np.sin(z[0] * z[1]) + 0.2 * z[0] ** 3 + 0.01 * z[1]
    own = Curvature(ca.vertcat(z, w), 2, g, ca.SX(0, 1), [])
    low, high = np.array([-0.6, -0.8, 1.5]), np.array([0.5, 0.9, 2.5])
    f = ca.Function("g", [z, w], [g])
    c, r = np.array([0.002, -0.001]), np.array([0.3, 0.2])
    least, most = own.outside(low, high, c, r), own.inside(low, high, c, r)
    seen_out, seen_in = [], []
    for _ in range(4000):
        x = rng.uniform(low, high)
        value, s = float(f(x[:2], x[2])), np.sum(((x[:2] - c) / r) ** 2)
        (seen_out if s >= 1 else seen_in).append(value)
    assert 0 < least <= min(seen_out) and max(seen_in) <= most < 3 * max(seen_in)
    assert own.outside(low, high, c, r, -1.0) == -np.inf  # not the other sign
    bent = Curvature(ca.vertcat(z, w), 2, g + ca.fmax(z[0], 0.1), ca.SX(0, 1), [])
    assert bent.outside(low, high, c, r) == -np.inf and bent.inside(low, high, c, r) == np.inf
    root = Curvature(ca.vertcat(z, w), 2, g + np.sqrt(z[0] + 0.5), ca.SX(0, 1), [])
    assert root.outside(low, high, c, r) == -np.inf
