"""Numbers of laws and their records by hand: a tuning's rows and table, first gains, what a PID makes of pressures, hypotheses."""

import math
from dataclasses import make_dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from test_circuit import ODD

from controllers.mpc import prepare
from controllers.mpc.verifiable import VerifiableMPC
from controllers.pid import first, hydraulic
from controllers.pid_tuning import command, record
from controllers.pid_tuning.record import Actuator
from controllers.vdc.part import USUAL_K_X, Part
from plants.components.circuit_checks import pressure_at_rest
from plants.components.friction import CoulombViscous
from plants.valve_circuits import stepping
from workbench.contract.errors import InputError

# ---- the record of a tuning --------------------------------------
FIELDS = dict(
    command="u", gains={"K_p": 2.0, "K_i": 0.5, "K_d": 0.1}, disk=0.8, gain_down=0.5, gain_up=3.0, phase=0.7,
    delay=2e-3, crossover=40.0, bandwidth=60.0, M_s=1.4, M_t=1.1, noise=3.0,
)  # fmt: skip


def law(**other):
    given = {"K_p": (2.0, 3.0), "K_i": (0.5,), "K_d": (0.1, 0.4), "τ": 0.02}
    each = lambda values: list(values) * 2 if len(values) == 1 else list(values)
    return SimpleNamespace(**given | {"each": each, "commands": signals("u", "v")} | other)


def signals(*names):
    return [SimpleNamespace(name=n) for n in names]


@pytest.fixture
def margins(monkeypatch):
    """Loops are numbers k: the margins of each are as given, of two sides of a valve."""
    table = {
        1: dict(
            down=0.3, up=4.0, phase=0.9, delay=3e-3, α=0.9, cross=[10.0, 50.0], M=(1.3, 1.2, 70.0)
        ),
        2: dict(down=0.5, up=3.0, phase=0.6, delay=5e-3, α=0.7, cross=[45.0], M=(1.5, 1.0, 60.0)),
        3: dict(down=0.2, up=9.0, phase=1.0, delay=9e-3, α=0.0, cross=[], M=(9.0, 9.0, 9.0)),
    }
    of = lambda L: SimpleNamespace(
        gain_down=table[L]["down"],
        gain_up=table[L]["up"],
        phase_margin=table[L]["phase"],
        delay_margin=table[L]["delay"],
    )
    monkeypatch.setattr(record, "innermost", lambda controller: controller)
    monkeypatch.setattr(record, "loop_margins", of)
    monkeypatch.setattr(record, "disk_margin", lambda L: SimpleNamespace(α=table[L]["α"]))
    monkeypatch.setattr(record, "gain_crossovers", lambda L: table[L]["cross"])
    monkeypatch.setattr(record, "_peaks", lambda L: record._Peaks(*table[L]["M"]))
    return table


def test_the_worst_of_both_sides_of_a_valve(margins):
    """And K_p + 2 K_d/(2τ + T_s) of the second actuator: 3 + 0.8/0.05."""
    loop = SimpleNamespace(controller=law(), period=0.01)
    found = record._actuator(loop, 1, "v", [1, 2])
    assert found.gains == {"K_p": 3.0, "K_i": 0.5, "K_d": 0.4} and found.noise == pytest.approx(
        19.0
    )
    worst = (found.disk, found.gain_down, found.gain_up, found.phase, found.delay)
    assert worst == (0.7, 0.5, 3.0, 0.6, 3e-3)
    assert (found.crossover, found.bandwidth, found.M_s, found.M_t) == (50.0, 60.0, 1.5, 1.2)
    assert record._actuator(loop, 1, "v", [2]).crossover == 45.0
    margins[2]["cross"] = []
    assert record._actuator(loop, 1, "v", [2]).crossover == 0.0


def test_a_loop_that_is_not_known_to_be_stable_has_no_margins(margins):
    loop = SimpleNamespace(controller=law(), period=0.01)
    found = record._actuator(loop, 0, "u", [1, 3])
    assert (found.disk, found.gain_down, found.gain_up, found.phase, found.delay) == (0, 1, 1, 0, 0)
    assert math.isnan(found.crossover) and math.isnan(found.bandwidth)
    assert (found.M_s, found.M_t) == (math.inf, math.inf) and found.noise == pytest.approx(
        2 + 0.2 / 0.05
    )


@pytest.mark.parametrize(
    "asked, holds, words, met",
    [
        (0.6, True, "disk margin ≥ 0.6 kept", True),
        (0.9, False, "disk margin ≥ 0.9 NOT met: 0.3", False),
        (None, True, "", False),
    ],
)
def test_a_record_of_a_loop(monkeypatch, asked, holds, words, met):
    """The slowest of two sides: 0.98 a sample of 0.01 s; together the lesser margin."""
    sides = [
        SimpleNamespace(M=np.diag([0.5, 0.98]), B=0, C=0, T=0, α=0.4),
        SimpleNamespace(M=np.diag([-0.9, 0.1]), B=0, C=0, T=0, α=0.2),
    ]
    monkeypatch.setattr(record, "matrices", lambda loop, at: sides)
    monkeypatch.setattr(record, "innermost", lambda controller: controller)
    monkeypatch.setattr(record, "break_loop", lambda M, B, C, i, T: (i, M[0, 0]))
    monkeypatch.setattr(record, "_together", lambda b: b.α)
    monkeypatch.setattr(record, "_kept", lambda L, asked: holds or L != (1, -0.9))
    made = []
    disks = {"u": 0.8, "v": 0.3}

    def actuator(loop, i, name, cuts):
        made.append((i, name, cuts))
        return Actuator(**FIELDS | {"command": name, "disk": disks[name]})

    monkeypatch.setattr(record, "_actuator", actuator)
    loop = SimpleNamespace(controller=law(), period=0.01)
    found = record.record(loop, asked, {}, ["K_p"])
    assert made == [(0, "u", [(0, 0.5), (0, -0.9)]), (1, "v", [(1, 0.5), (1, -0.9)])]
    assert (found.words, found.met, found.together) == (words, met, 0.2)
    assert found.settling == pytest.approx(-0.01 / math.log(0.98)) and found.disk == 0.3
    assert record.record(loop, asked, {}, [], "own words").words == "own words"
    for growing in (1.0, -1.2, 0.0):
        sides[:] = [SimpleNamespace(M=np.diag([growing]), B=0, C=0, T=0, α=0.4)]
        assert record.record(loop, asked, {}, []).settling == math.inf


def shown(monkeypatch, *actuators, dry=0.0, found=("K_p",)):
    monkeypatch.setattr(
        command, "units_of", lambda law: {"K_p": "V/m", "K_i": "V/(m s)", "K_d": "V s/m"}
    )
    loop = SimpleNamespace(plant=(CoulombViscous(F_c=0.0), CoulombViscous(F_c=dry)))
    tuning = SimpleNamespace(
        law=SimpleNamespace(τ=0.02),
        actuators=actuators,
        words="by a rule",
        found=found,
        loop=loop,
        together=0.25,
        settling=0.5,
    )
    return command.shown(tuning).splitlines()


def test_columns_of_the_table_stand_below_their_heads(monkeypatch):
    first_one = Actuator(**FIELDS)
    longer = Actuator(
        **FIELDS | {"command": "a long command", "gains": {"K_p": 123.4, "K_i": 0.0, "K_d": 0.0}}
    )
    head, one, two, *rest = shown(monkeypatch, first_one, longer, found=("K_p", "τ"))
    for name, value in (
        ("K_p", "2 V/m"),
        ("disk", "0.8"),
        ("gain", "× 0.5 … 3"),
        ("phase", "40.1°"),
        ("delay", "2 ms"),
        ("M_t", "1.1"),
    ):
        assert one[head.index(name) :].startswith(value), name
    assert two.startswith("a long command  123") and two[head.index("K_i") :].startswith("–")
    assert not any(line != line.rstrip() for line in (head, one, two))
    assert rest[0] == "by a rule; τ = 20 ms" and "disk margin is 0.25" in rest[1]
    assert rest[-1].startswith("slowest mode 0.5 s") and len(rest) == 3


def test_what_the_table_says_beside(monkeypatch):
    lines = shown(monkeypatch, Actuator(**FIELDS), dry=3.0)
    assert lines[2] == "by a rule" and "dry friction" in lines[3] and len(lines) == 5
    lost = shown(monkeypatch, Actuator(**FIELDS), Actuator(**FIELDS | {"disk": 0.0}))
    assert "none" in lost[2].split() and lost[2].split().count("–") == 7
    assert lost[-1] == "the loop linearised at rest is not known to be stable with these gains"


# ---- first gains --------------------------------------
@pytest.mark.parametrize("enough, tries", [(1, 1), (2, 2), (4, 4)])
def test_the_first_structure_that_keeps_the_margin(monkeypatch, enough, tries):
    tried = []

    def attempt(law, free):
        tried.append((law.K_p, law.τ, free))
        return replace(law, K_d=(float(len(tried)),)), 0.75 if len(tried) == enough else 0.7499

    monkeypatch.setattr(first, "_tried", attempt)
    found = first.first_gains(a_law())
    assert (
        len(tried) == tries
        and found["K_d"] == (float(tries),)
        and set(found) == {"K_p", "K_i", "K_d", "τ"}
    )
    own = [((9.0,), 0.5, ("K_p", "K_i")), ((0.0,), 0.5, ("K_i",))]
    own += [((9.0,), τ, ("K_p", "K_i", "K_d")) for τ in first.FILTERS]
    assert tried == own[:tries]


def test_nothing_simple_keeps_the_margin(monkeypatch):
    shares = iter([0.1, 0.4, 0.0, 0.2, 0.3])
    monkeypatch.setattr(first, "_tried", lambda law, free: (law, next(shares)))
    with pytest.raises(InputError, match="the largest found is 0.4"):
        first.first_gains(a_law())
    monkeypatch.setattr(first, "_tried", lambda law, free: (law, 0.0))
    with pytest.raises(InputError, match="nothing simple is stable"):
        first.first_gains(a_law())


def a_law():
    return make_dataclass("Gains", ["K_p", "K_i", "K_d", "τ"])((9.0,), (8.0,), (7.0,), 0.5)


# ---- what a PID makes of valves and pressures ------------------------------------------------------------------------
def cylinder(A_a, A_b, band=0.4):
    """F = A_a p_a − A_b p_b; a valve whose opening is the flow by a half of the supply, and its overlap."""
    valve = SimpleNamespace(
        dead_band=band,
        u_max=5.0,
        denominators=lambda g, l, p_a, p_b, p_s, p_r: (p_s / 2, p_r),
        invert=lambda u_f, D, p_r: u_f / D + p_r + band * np.sign(u_f),
    )
    return SimpleNamespace(
        valve=valve,
        force=lambda p_a, p_b: A_a * p_a - A_b * p_b,
        drift=lambda oil, x, v, p_a, p_b: 3 * v + x + 0 * oil,
        gains=lambda oil, x, p_a, p_b: (1.0, 2.0),
    )


def a_pid(**other):
    """With pistons whose positions are measured from 0 and from 1."""
    supplies = other.pop("supplies", (8.0, 8.0))
    model = None
    cylinders = cylinder(3.0, 2.0), cylinder(5.0, 4.0, 0.8)
    places = (lambda s: s), (lambda s: s - 1.0)
    chambers = [
        SimpleNamespace(chambers=c, oil=1.0, p_s=p_s, p_r=0.5, place=place)
        for c, p_s, place in zip(cylinders, supplies, places)
    ]
    given = {
        "chambers": chambers,
        "feed": "flow",
        "damping": "pressure",
        "K_f": (0.5, 2.0),
        "K_v": (7.0,),
        "n": 2,
        "δ": 0.5,
        "w": 0.2,
    }
    each = lambda values: list(values) * 2 if len(values) == 1 else list(values)
    return SimpleNamespace(model=model, each=each, **given | other)


PRESSURES, SLOW = [4.0, 3.0, 2.0, 1.0], [3.5, 2.0, 2.5, 2.0]


def test_dynamic_pressure_feedback():
    """K (A_a (p_a − p̄_a) − A_b (p_b − p̄_b)): 0.5 (1.5 − 2) and 2 (−2.5 + 4)."""
    assert hydraulic.pressure_feedback(a_pid(), PRESSURES, SLOW) == pytest.approx([-0.25, 3.0])
    assert hydraulic.pressure_feedback(a_pid(damping="none"), PRESSURES, SLOW) == [0.0, 0.0]


def test_feed_forward_of_flow_of_gain_and_none():
    """(3 v + x)/(p_s/2) + p_r without the overlap, as far as the valve opens."""
    found = hydraulic.feed_forward(a_pid(), [1.0, -2.0], [10.0, 21.0], SLOW)
    assert found == pytest.approx([(3 + 10) / 4 + 0.5, (-6 + 20) / 4 + 0.5])
    a = a_pid(supplies=(2.0, 16.0))
    found = hydraulic.feed_forward(a, [1.0, -9.0], [10.0, 4.0], SLOW)
    assert found == pytest.approx([5.0, (-27 + 3) / 8 + 0.5])
    still = hydraulic.feed_forward(a_pid(), [1.0, -2.0], [-3.0, 7.0], SLOW)
    assert still == [0.5, 0.5], "no flow, no overlap"
    assert hydraulic.feed_forward(a_pid(feed="gain"), [1.0, -2.0], [0, 0], SLOW) == [7.0, -14.0]
    assert hydraulic.feed_forward(a_pid(feed="none"), [1.0, -2.0], [0, 0], SLOW) == [0.0, 0.0]


def test_overlap_is_made_up_for_in_part():
    found = hydraulic.overlap_made_up_for(a_pid(), [0.1, -3.0])
    assert found == pytest.approx([0.5 * 0.4 * 0.5, -0.5 * 0.8])
    assert hydraulic.overlap_made_up_for(a_pid(chambers=()), [0.1, -3.0]) == [0.0, 0.0]


# ---- what a predictive law says of itself ----------------------------------------------------------------------------
def a_predictive_law(**other):
    given = {"terminal": "set", "blocks": (), "lengths": (1, 1, 1), "limits": (), "observer": None}
    given |= {
        "known": (),
        "relinearise": False,
        "extra": None,
        "prepared": SimpleNamespace(terminal="P"),
    }
    return SimpleNamespace(**given | other)


SOFT, HARD = SimpleNamespace(soft=True), SimpleNamespace(soft=False)


@pytest.mark.parametrize(
    "change, missing",
    [
        ({}, ""),
        ({"blocks": (1, 1, 1)}, ""),
        ({"limits": (HARD, HARD)}, ""),
        ({"prepared": SimpleNamespace(terminal=None)}, "terminal cost of the unconstrained law"),
        ({"terminal": "cost"}, "terminal set as a constraint"),
        ({"blocks": (1, 2)}, "every sample has its own move"),
        ({"blocks": (1, 1), "lengths": (1, 2)}, "every sample has its own move"),
        ({"blocks": (1, 2, 1)}, "every sample has its own move"),
        ({"limits": (HARD, SOFT)}, "limits on outputs are hard"),
        ({"observer": "Kalman"}, "full state measured"),
        ({"known": ("load",)}, "no known disturbance"),
        ({"relinearise": True}, "one model"),
        ({"extra": "a constraint"}, "nothing added by the user"),
    ],
)
def test_hypotheses_of_the_textbook_that_a_law_has(change, missing):
    found = VerifiableMPC.hypotheses(a_predictive_law(**change))
    assert len(found) == 8 and [name for name, met in found.items() if not met] == (
        [missing] if missing else []
    )


def test_parameters_of_a_predictive_law():
    """x, last command, disturbance, then r and v for every sample and a one."""
    model = SimpleNamespace(A=np.eye(3), B_d=np.zeros((3, 2)), E0=np.zeros((3, 1)))
    law = SimpleNamespace(
        prepared=SimpleNamespace(problem=SimpleNamespace(model=model, track=(0, 1), p=2)),
        commands=("u", "v"),
    )
    found = VerifiableMPC.parameter(law, [1, 2, 3], [4, 5], [6, 7], [8], [9, 10])
    assert found.tolist() == [1, 2, 3, 9, 10, 6, 7, *(4, 5) * 3, *(8,) * 3, 1]
    assert VerifiableMPC.parameter(law, 2.0, 3.0).tolist() == [
        2,
        2,
        2,
        0,
        0,
        0,
        0,
        *(3,) * 6,
        0,
        0,
        0,
        1,
    ]


# ---- sizes of a throttled circuit ------------------------------------------------------------------------------------
def test_sizes_of_a_throttled_circuit():
    c = replace(ODD, l_2min=0.05, l_3min=0.02)
    A_2, A_3 = math.pi / 4 * 0.071**2, math.pi / 4 * (0.071**2 - 0.029**2)
    assert (c.A_2, c.A_3) == pytest.approx((A_2, A_3))
    assert c.C_vd == pytest.approx(5.3e-4 / (9.1 * math.sqrt(31e5)))
    assert c.C_vt == pytest.approx(0.71 * math.pi / 4 * 5.3e-3**2 * math.sqrt(2 / 871.0))
    assert c.range == pytest.approx((1.61 - 0.37 + 0.05, 1.61 + 0.53 - 0.02))
    assert c.stroke == pytest.approx(0.37 + 0.53 - 0.07) and c.limit == 9.1
    assert c.bears() == pytest.approx((A_2 * 0.23e6 - A_3 * 8.3e6, A_2 * 8.3e6 - A_3 * 0.23e6))
    assert c.bears_by() == "2.3 and 83 bar"
    sizes = c.sizes()
    assert sizes[0] == 8.3e6 and sizes[2:5] == pytest.approx(
        (8.3e6 * A_2 * c.stroke, 8.3e6 * A_3, c.stroke)
    )
    assert sizes[5] == pytest.approx(c.velocity_gain * 9.1)


@pytest.mark.parametrize("end", [0, 1])
def test_a_cylinder_may_start_at_the_ends_of_its_range(end):
    """At either end, and nowhere beyond; 500 N and p_30 on the annulus are what p_2 carries."""
    s = ODD.range[end]
    p_2 = (500.0 + ODD.A_3 * ODD.p_30) / ODD.A_2
    assert pressure_at_rest(ODD, s, 500.0) == pytest.approx(p_2)
    with pytest.raises(InputError, match="the cylinder reaches"):
        pressure_at_rest(ODD, s + (1e-9 if end else -1e-9), 500.0)
    with pytest.raises(InputError, match="takes p_2 = -"):
        pressure_at_rest(ODD, s, -1.001 * ODD.A_3 * ODD.p_30)
    assert pressure_at_rest(ODD, s, -ODD.A_3 * ODD.p_30) == 0.0


def test_the_speed_that_a_volt_gives_an_unloaded_cylinder():
    """Flows through both edges of the valve at p_2 and p_3 that carry no force: extending and retracting, averaged."""
    c = ODD
    A_2, A_3, Δ = c.A_2, c.A_3, c.p_P - c.p_T
    speeds = []
    for inside, outside in ((A_2, A_3), (A_3, A_2)):
        # v A_in = C √(p_P − p_in), v A_out = C √(p_out − p_T), p_in A_in = p_out A_out of pressures above the tank's
        k = outside / inside
        p_in = Δ * k**3 / (1 + k**3)
        assert (Δ - p_in) / inside**2 == pytest.approx(p_in / k / outside**2)
        speeds.append(c.C_vd * math.sqrt(Δ - p_in) / inside)
    assert c.velocity_gain == pytest.approx(sum(speeds) / 2, rel=1e-12)


# ---- the model of a predictive law at a point ------------------------------------------------------------------------
def test_a_model_at_a_point_keeps_its_motion_there(monkeypatch):
    """c = f(x, w) − A x − B w over commands and known inputs, y − C x; a disturbance inside the plant has its column of B."""
    A = np.array([[-1.0, 0.5], [0.2, -3.0]])
    B = np.array([[2.0, 0.3, 7.0], [0.0, 1.0, 9.0]])
    C = np.array([[1.0, 0.0], [5.0, 5.0], [0.4, 2.0]])
    inputs = signals("v", "u", "d", "rest")
    plant = SimpleNamespace(
        inputs=inputs,
        outputs=signals("a", "b", "c"),
        defaults=lambda: {"rest": 4.0, "u": 99.0},
        rhs=lambda t, x, w: [10.0 + w[3], 20.0 - w[0] + x[1]],
        out=lambda t, x: [3.0, 100.0, -1.0],
    )
    model = SimpleNamespace(outputs=plant.outputs)
    law = SimpleNamespace(
        predicting=plant, model=model, commands=signals("u"), known=signals("v"), disturbances=("d", "c"),
        measured=signals("c", "a"), relinearise=False, T_s=0.01, delay=0.002,
    )  # fmt: skip
    monkeypatch.setattr(prepare, "_live", lambda law: ("u", "v", "d"))
    monkeypatch.setattr(
        prepare,
        "linearize",
        lambda plant, x, w, inputs: told.update(x=x, w=w) or SimpleNamespace(A=A, B=B, C=C),
    )
    monkeypatch.setattr(prepare, "sampled_model", lambda *given: given)
    told = {}
    x, u = np.array([0.5, -2.0]), (1.5, -0.5, 0.25)
    found = prepare.model_at(law, x, u)
    assert told == {"x": [0.5, -2.0], "w": [-0.5, 1.5, 0.25, 4.0]}
    c = np.array([14.0, 18.5]) - A @ x - B[:, :2] @ np.array([1.5, -0.5])
    assert (
        found[0] is A
        and found[1].tolist() == [[2.0], [0.0]]
        and found[2].tolist() == [[0.3], [1.0]]
    )
    assert found[3].tolist() == [[7.0, 0.0], [9.0, 0.0]], (
        "the output's own disturbance moves nothing"
    )
    assert found[4] == pytest.approx(c)
    assert found[5].tolist() == [[0.4, 2.0], [1.0, 0.0]] and found[6].tolist() == [
        [0.0, 1.0],
        [0.0, 0.0],
    ]
    assert found[7] == pytest.approx(np.array([-1.0, 3.0]) - C[[2, 0]] @ x) and found[8:] == (
        0.01,
        0.002,
    )


# ---- arms by the implicit step --------------------------------------
def refused(**given):
    arm = lambda limit: SimpleNamespace(step_limit=lambda: limit)
    plant = SimpleNamespace(arms=[arm(0.01), arm(0.005)])
    with pytest.raises(InputError) as why:
        stepping.stepped(plant, **{"T": 0.02, "h": 2e-3} | given)
    return why.value.message


@pytest.mark.parametrize(
    "given, said",
    [
        ({"h": 0.005}, "a step of 0.005 s"),
        ({"h": 0.0}, "a step of 0 s"),
        ({"T": 1e-3}, "0.001 s is less than one step"),
        ({"T": math.inf}, "or no time"),
        ({"u_c": 1.01}, "openings outside"),
        ({"u_c": [0.0, -1.01]}, "openings outside"),
        ({"u_a": -0.01}, "openings outside"),
        ({"u_a": [0.5, 1.01]}, "openings outside"),
        ({"u_a": [0.5, -0.01]}, "openings outside"),
        ({"u_c": np.zeros(3)}, "u_c of shape"),
        ({"f_ey": math.nan}, "f_ey is not finite"),
    ],
)
def test_steps_and_openings_that_are_refused(given, said):
    assert said in refused(**given)


def test_series_of_steps_and_arms():
    t = np.arange(4) * 0.1
    made = lambda given, N=2: stepping._series("u", given, t, N)
    assert made(3.0).tolist() == [[3.0, 3.0]] * 4 and made([1.0, 2.0]).tolist() == [[1.0, 2.0]] * 4
    assert made([1, 2, 3, 4]).tolist() == [[k, k] for k in (1, 2, 3, 4)]
    assert made(lambda t: t + 1).ravel() == pytest.approx(np.repeat(t + 1, 2))
    assert made([1, 2, 3, 4], 4).tolist() == [[1, 2, 3, 4]] * 4, "one for each arm"


def test_a_drive_without_friction_rubs_by_nothing():
    assert Part().rubbing(0.3, 0.2, []) == (0.0, []) and Part().usual_k_x(None) == USUAL_K_X
