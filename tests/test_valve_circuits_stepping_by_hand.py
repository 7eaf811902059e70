"""Arms by the implicit step: what a step needs of an arm, series of commands, where steps begin, and which are refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.metered.arm import Arm, MotorArm
from plants.metered.arms import MeteredArms
from plants.valve_circuits import stepping
from plants.valve_circuits.stepping import stepped
from workbench.contract.errors import InputError

BOOM = Arm(
    "boom", L_g=1.25, L_m=0.7, L_f=2.75, M=900.0, J=650.0, r_bx=-1.1, r_by=-0.8, K=3e6, B=4e4
)
SLEW = MotorArm(
    i=21.0,
    name="slew",
    L_g=0.3,
    L_f=2.5,
    M=300.0,
    J=90.0,
    θ_0=0.2,
    K=5e3,
    B=70.0,
    regeneration="input",
)
ARMS = MeteredArms(arms=(BOOM, SLEW), g=9.7)
LEAST = min(a.step_limit() for a in ARMS.arms)


def test_what_a_step_needs_of_an_arm():
    """A motor's has its gear, a cylinder's its pins."""
    assert stepping._geometry(BOOM) == [
        1.25,
        2.75,
        900.0,
        BOOM.inertia,
        3e6,
        4e4,
        0.7,
        BOOM.α,
        -1.1,
        -0.8,
        0.0,
    ]
    assert stepping._geometry(SLEW) == [
        0.3,
        2.5,
        300.0,
        SLEW.inertia,
        5e3,
        70.0,
        0.0,
        0.0,
        0.0,
        0.0,
        21.0,
    ]


@pytest.mark.parametrize(
    "given, found",
    [
        (3.0, [[3.0, 3.0]] * 3),
        ([1.0, 2.0], [[1.0, 2.0]] * 3),
        ([1.0, 2.0, 3.0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]),
        (lambda t: 10 * t, [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    ],
)
def test_series_of_commands(given, found):
    t = np.array([0.0, 0.1, 0.2])
    assert stepping._series("u_c", given, t, 2) == pytest.approx(np.array(found))
    square = stepping._series("u_c", [1.0, 2.0], t[:2], 2)
    assert square.tolist() == [[1.0, 2.0], [1.0, 2.0]]  # one for each arm, not for each step
    with pytest.raises(InputError, match=r"u_c of shape \(4,\) for 3 steps of 2 arms"):
        stepping._series("u_c", [1.0] * 4, t, 2)
    with pytest.raises(InputError, match="u_c is not finite everywhere"):
        stepping._series("u_c", [1.0, np.nan], t, 2)


@pytest.fixture
def advanced(monkeypatch):
    """What the compiled steps are given, without them."""
    asked = {}
    keys = ("geometry", "rows", "supply", "g", "h", "f_ey", "θ", "dθ", "x", "v", "f")
    monkeypatch.setattr(stepping, "_advance", lambda *given: asked.update(zip(keys, given)))
    return asked


def test_steps_begin_at_rest_and_take_their_commands(advanced):
    """Regeneration is shut where it is an input and nothing is given, else as given, whatever the command."""
    h = 0.4 * LEAST
    found = stepped(ARMS, 3.4 * h, h, [0.5, -0.25], 70.0)
    assert found.t == pytest.approx([0.0, h, 2 * h, 3 * h]) and found.θ.shape == (4, 2)
    assert advanced["θ"][0].tolist() == [BOOM.θ_0, 0.2] and advanced["h"] == h
    assert advanced["x"][0] == pytest.approx([BOOM.length(BOOM.θ_0), 21.0 * 0.2])
    assert advanced["f_ey"].tolist() == [[70.0, 70.0]] * 3 and advanced["g"] == 9.7
    rows = [np.array(row, float) for row in ARMS.rows([0.5, -0.25, 0.0])]
    assert advanced["rows"][1] == pytest.approx(np.stack(rows)) and advanced["rows"].shape == (
        3,
        2,
        9,
    )
    assert advanced["supply"] == pytest.approx(ARMS.supply) and not advanced["dθ"].any()
    stepped(ARMS, 3 * h, h, [0.5, -0.25], u_a=[0.3, 0.6])
    assert advanced["rows"][2, :, 8] == pytest.approx(
        [0.3 * BOOM.section.c_a, 0.6 * SLEW.section.c_a]
    )
    assert not advanced["f_ey"].any()
    stepped(ARMS, 2 * h, h)
    assert not advanced["rows"][:, :, 4:].any()
    assert (
        len(
            stepped(
                SimpleNamespace(**{k: getattr(ARMS, k) for k in ("arms", "rows", "supply", "g")}),
                LEAST / 2,
                LEAST / 2,
            ).t
        )
        == 2
    )


@pytest.mark.parametrize(
    "T, h, given, words",
    [
        (1.0, LEAST, {}, "with these K and B it must be between 0 and"),
        (1.0, 0.0, {}, "a step of 0 s"),
        (0.29 * LEAST, 0.3 * LEAST, {}, "is less than one step of"),
        (np.inf, 0.3 * LEAST, {}, "or no time"),
        (0.3 * LEAST, 0.3 * LEAST, {"u_c": 1.001}, "openings outside"),
        (0.3 * LEAST, 0.3 * LEAST, {"u_c": [0.0, -1.001]}, "openings outside"),
        (0.3 * LEAST, 0.3 * LEAST, {"u_a": -0.001}, "openings outside"),
        (0.3 * LEAST, 0.3 * LEAST, {"u_a": [0.5, 1.001]}, "openings outside"),
    ],
)
def test_steps_that_are_none_are_refused(advanced, T, h, given, words):
    with pytest.raises(InputError, match=words):
        stepped(ARMS, T, h, **given)
    assert not advanced
    fine = {"u_c": [1.0, -1.0], "u_a": [0.0, 1.0]}
    assert len(stepped(ARMS, 0.3 * LEAST, 0.3 * LEAST, **fine).t) == 2
    assert len(stepped(ARMS, 5e-3, u_c=0.0).t) == 6 if LEAST > 1e-3 else True
