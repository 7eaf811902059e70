"""Tuning of PID loops: matrices affine in the gains, optima against brute force, margins against python-control, refusals."""

from dataclasses import replace
from pathlib import Path

import control
import numpy as np
import pytest
from small import Linear
from test_relay import INTEGRATING, THREE, plant

from controllers import PID
from controllers.pid_tuning import ByDiskMargin, tuned
from controllers.pid_tuning.linear import family, gains, matrices, with_gains
from controllers.pid_tuning.record import _actuator, record
from controllers.pid_tuning.search import Search, _first
from workbench import ClosedLoop, Delayed, Filtered, InputError, Sampled, Scenario, load, simulate
from workbench.cases.file import loads
from workbench.commands.cli import main
from workbench.contract.parameters import leaves
from workbench.contract.system import innermost
from workbench.verification.linear.systems import LinearSystem

ROOT = Path(__file__).parents[1]
TWO = Linear(
    ((-1.7, 0.4, 0.9), (0.0, 0.0, 0.6), (-0.5, 0.0, -3.1)),
    ((2.2, 0.3), (0.1, 0.0), (0.0, 4.7)),
    ((1.0, 0.0, 0.0), (0.0, 1.3, 0.0)),
    x0=(0.0, 0.0, 0.0),
)
CRANE = loads(
    "plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}\ncontroller: {law: PID}\n"
).loop
ACTUATOR = load(ROOT / "examples" / "ieha-pid.yaml").loop


def sampled(p, T=0.01, delay=0.0, **fields):
    """A PID loop around p."""
    law = Sampled(
        PID(
            p,
            **{"K_p": (0.4,), "K_i": (0.2,), "feed": "none", "damping": "none", "u_max": 5.0}
            | fields,
        ),
        T,
    )
    return ClosedLoop(p, Delayed(law, delay) if delay else law)


# ---- the loop as a function of its gains -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "loop", [sampled(TWO, 0.02, 0.033), CRANE, ACTUATOR], ids=["two", "crane", "actuator"]
)
def test_the_loop_is_affine_in_its_gains(loop):
    rng, free = np.random.default_rng(3), ("K_p", "K_i", "K_d")
    found = family(loop, free, {})
    K = gains(loop, free) * rng.uniform(0.2, 3.0, (innermost(loop.controller).n, 3)) + np.array(
        [0.0, 0.0, 1e-3]
    )
    for mine, own in zip(found.at(K), matrices(with_gains(loop, free, K), {}), strict=True):
        for name in "MBC":
            np.testing.assert_allclose(
                getattr(mine, name), getattr(own, name), rtol=1e-9, atol=1e-9 * np.abs(own.M).max()
            )


def law_at(ω, T, K_p, K_i, K_d, τ):
    """The sampled PID on the unit circle: backward Euler for the filter, forward for the sum."""
    z = np.exp(1j * ω * T)
    return K_p + K_i * T / (z - 1) + K_d * (z - 1) / ((τ + T) * z - τ)


def discrete(G, T, K_p, K_i):
    """L(z) of the sampled PI and the held plant, by python-control."""
    return (K_p + K_i * T / (control.tf([1, 0], [1], T) - 1)) * control.c2d(control.ss(G), T, "zoh")


def test_the_cut_loop_is_python_controls():
    T, K = 0.013, np.array([[0.62, 0.37, 0.11]])
    loop = sampled(plant(THREE), T, τ=0.041)
    (L,) = family(loop, ("K_p", "K_i", "K_d"), {}).loops(K, 0)
    P = control.c2d(control.ss(THREE), T, "zoh")
    for ω in (0.13, 1.7, 22.0, 150.0):
        theirs = complex(P(np.exp(1j * ω * T))) * law_at(ω, T, *K[0], 0.041)
        assert complex(L.at(ω)[0, 0]) == pytest.approx(theirs, rel=1e-9)


# ---- optima -------------------------------------------------------------------------------------------------------------
def by_force(G, T, m, K_p):
    """Largest K_i for which a dense grid shows a disk margin of m, and the loop is stable, for every K_p."""
    ω = np.concatenate([np.geomspace(1e-3, 0.999 * np.pi / T, 1500)])
    z = np.exp(1j * ω * T)
    P = control.c2d(control.ss(G), T, "zoh")(z)
    sum_ = T / (z - 1)

    def good(k_p, k_i):
        L = P * (k_p + k_i * sum_)
        if np.abs((1 - L) / (1 + L)).max() > 2 / m:
            return False
        return bool((np.abs(control.feedback(discrete(G, T, k_p, k_i), 1).poles()) < 1).all())

    best = 0.0
    for k_p in K_p:
        low, high = 0.0, 10.0
        if not good(k_p, 1e-6):
            continue
        for _ in range(16):
            mid = (low + high) / 2
            low, high = (mid, high) if good(k_p, mid) else (low, mid)
        best = max(best, low)
    return best


@pytest.mark.parametrize("G, m", [(THREE, 0.75), (THREE, 0.4), (INTEGRATING, 0.9)])
def test_the_largest_integral_gain_is_found(G, m):
    T = 0.02
    found = ByDiskMargin(disk_margin=m).tune(sampled(plant(G), T))
    best = by_force(G, T, m, np.linspace(0.4, 1.8, 29) * found.law.K_p[0])
    assert found.met and found.law.K_i[0] == pytest.approx(best, rel=4e-3)
    theirs = control.disk_margins(
        discrete(G, T, found.law.K_p[0], found.law.K_i[0]), np.geomspace(1e-3, np.pi / T, 20000)
    )[0]
    assert m <= found.disk <= theirs * (1 + 1e-9) and theirs == pytest.approx(m, rel=2e-3)


def test_gains_that_are_good_already_do_not_mislead_the_search():
    def first(loop, m):
        return _first(Search(loop, family(loop, free, {}), m, (None, None)))

    bare, free = sampled(TWO, 0.02, 0.033), ("K_p", "K_i")
    slow, _, α = first(bare, 1.5)
    fast, _, β = first(bare, 0.8)
    again, _, γ = first(with_gains(bare, free, slow), 0.8)
    assert α >= 1.5 > β >= 0.8 and γ == pytest.approx(β, rel=1e-6)
    np.testing.assert_allclose(again, fast, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:stability_margins")
def test_figures_are_python_controls():
    T = 0.02
    found = ByDiskMargin(disk_margin=0.6).tune(sampled(plant(THREE), T))
    a, law = found.actuators[0], found.law
    L = discrete(THREE, T, law.K_p[0], law.K_i[0])
    k, φ, _, ω_c = control.margin(L)
    assert a.gain_up == pytest.approx(k, rel=1e-6) and np.degrees(a.phase) == pytest.approx(
        φ, rel=1e-6
    )
    assert a.crossover == pytest.approx(ω_c, rel=1e-6)
    ω = np.linspace(0.01, 20, 40001)
    S = 1 / (1 + L(np.exp(1j * ω * T)))
    assert a.M_s == pytest.approx(np.abs(S).max(), rel=1e-6) and a.M_t == pytest.approx(
        np.abs(1 - S).max(), rel=1e-6
    )
    assert a.bandwidth == pytest.approx(ω[np.argmax(np.abs(1 - S) < np.sqrt(0.5))], abs=1e-3)
    assert found.settling == pytest.approx(
        -T / np.log(np.abs(control.feedback(L, 1).poles()).max()), rel=1e-6
    )
    assert a.noise == law.K_p[0] and found.together == pytest.approx(a.disk)


def test_the_integral_of_a_load_steps_error_is_one_over_the_gain():
    p = Linear(
        ((-1.7, 0.4), (0.3, -2.9)),
        ((2.2,), (0.9,)),
        ((1.0, 0.7),),
        E=((2.2,), (0.9,)),
        x0=(0.0, 0.0),
    )
    law = tuned(sampled(p, 0.02), 0.6)
    log = simulate(ClosedLoop(p, Sampled(law, 0.02)), Scenario(60.0, disturbances={"w0": 0.8}))
    assert -0.02 * log.array("e_y0").sum() == pytest.approx(0.8 / law.K_i[0], rel=1e-3)


def test_derivative_action_pays_and_its_zeros_stay_real():
    loop = sampled(plant(INTEGRATING), 0.02)
    pi, pid = (
        ByDiskMargin(0.75, free=free).tune(loop) for free in (("K_p", "K_i"), ("K_p", "K_i", "K_d"))
    )
    law = pid.law
    assert pid.met and law.K_i[0] > 1.5 * pi.law.K_i[0]
    assert law.K_p[0] ** 2 >= 4 * law.K_i[0] * law.K_d[0] * (1 - 1e-3)
    assert law.τ == pytest.approx(max(law.K_d[0] / law.K_p[0] / 10, 0.02), rel=0.1)


def test_noise_gain_is_a_limit():
    loop = sampled(plant(INTEGRATING), 0.02)
    free = ByDiskMargin(0.6, free=("K_p", "K_i", "K_d")).tune(loop)
    held = ByDiskMargin(
        0.6, free=("K_p", "K_i", "K_d"), noise_gain=0.3 * free.actuators[0].noise
    ).tune(loop)
    assert held.met and held.actuators[0].noise <= 0.3 * free.actuators[0].noise
    assert held.law.K_i[0] < free.law.K_i[0]
    with pytest.raises(InputError, match="the gains that are not searched use 0.4 already"):
        ByDiskMargin(0.6, free=("K_i",), noise_gain=0.3).tune(loop)


def test_what_is_not_free_stays():
    loop = sampled(plant(THREE), 0.02, K_p=(0.31,), K_d=(0.12,))
    found = ByDiskMargin(0.7, free=("K_i",)).tune(loop)
    assert found.met and found.law == replace(innermost(loop.controller), K_i=found.law.K_i)


# ---- several actuators, real machines ---------------------------------------------------------------------------------------
def test_every_loop_keeps_the_margin_with_the_others_closed():
    found = ByDiskMargin(0.8).tune(sampled(TWO, 0.02, 0.033))
    assert found.met and len(found.law.K_p) == 2
    assert (
        all(a.disk >= 0.8 for a in found.actuators) and min(a.disk for a in found.actuators) < 0.81
    )
    for i in range(2):  # each K_i is as large as the others leave it
        more = [k * (1.05 if j == i else 1.0) for j, k in enumerate(found.law.K_i)]
        assert not record(
            ClosedLoop(TWO, Delayed(Sampled(replace(found.law, K_i=tuple(more)), 0.02), 0.033)),
            0.8,
            {},
            (),
        ).met
    assert found.together <= min(a.disk for a in found.actuators) + 1e-9


def test_of_several_linearisations_the_worst_number_is_told():
    """Each number of two loops together is that of the one that has it worse, whichever comes first."""
    loop = sampled(TWO, 0.02)
    loops = []
    for gain, lag in ((3.0, 0.04), (1.1, 0.3)):
        s = control.tf("s")
        g = control.c2d(control.ss(gain / (s * (lag * s + 1) * (0.03 * s + 1))), 0.02)
        loops.append(LinearSystem(g.A, g.B, g.C, g.D, 0.02))
    fast, slow = loops
    alone = [_actuator(loop, 0, "u0", [L]) for L in (fast, slow)]
    worst = dict.fromkeys(("disk", "gain_up", "phase", "delay", "bandwidth"), min)
    worst |= dict.fromkeys(("gain_down", "crossover", "M_s", "M_t"), max)
    for order in ([fast, slow], [slow, fast]):
        both = _actuator(loop, 0, "u0", order)
        for name, pick in worst.items():
            values = [getattr(a, name) for a in alone]
            assert getattr(both, name) == pick(values), name
    told_apart = [n for n in worst if getattr(alone[0], n) != getattr(alone[1], n)]
    assert set(told_apart) >= {"disk", "gain_up", "phase", "delay", "bandwidth", "M_s", "crossover"}


@pytest.mark.long
def test_the_crane_at_rest():
    """A sum faster than the oil relaxes against dry friction is not stable at rest, linearised; the default gains and tuned ones
    are, on both sides of every valve."""
    fast = with_gains(CRANE, ("K_p", "K_i"), np.array([[70.0, 120.0], [70.0, 120.0]]))
    assert record(fast, 0.75, {}, ()).disk == 0.0
    assert record(CRANE, 0.75, {}, ()).disk > 0.75
    found = ByDiskMargin(0.75).tune(CRANE)
    assert found.met and all(a.disk >= 0.75 for a in found.actuators)
    for b in matrices(found.loop, {}):
        assert np.abs(np.linalg.eigvals(b.M)).max() < 1
    assert len(matrices(found.loop, {})) == 4


def test_pressure_filters_do_not_hide_the_common_mode():
    """The common mode of a cylinder's pressures is taken out at low gains too, with the law's own filters of them."""
    slow = with_gains(CRANE, ("K_p", "K_i"), np.array([[5.0, 0.3], [4.0, 0.2]]))
    for b in matrices(slow, {}):
        assert np.abs(np.linalg.eigvals(b.M)).max() < 1 - 1e-7


def test_at_a_point_of_the_nonlinear_actuator():
    text = "plant: ieha-control\ncontroller: {law: PID}\nloop: {sample_time: 1 ms, delay: 0.3 ms}\n"
    loop = loads(text).loop
    found = ByDiskMargin(0.6, at={"E": "0.1 mm", "X": "0.1 mm"}).tune(loop)
    assert found.met and found.actuators[0].crossover > 100
    with pytest.raises(InputError, match="X has no effect.*\n.*distributor is shut"):
        ByDiskMargin(0.6).tune(loop)


def test_filter_and_delay_cost_gain():
    p = plant(INTEGRATING)
    bare = tuned(sampled(p, 0.02), 0.75)
    late = tuned(sampled(p, 0.02, 0.05), 0.75)
    slow = tuned(
        ClosedLoop(p, Sampled(Filtered(innermost(sampled(p).controller), 3.0, 0.8), 0.02)), 0.75
    )
    assert late.K_i[0] < 0.95 * bare.K_i[0] and slow.K_i[0] < 0.95 * bare.K_i[0]


# ---- both sides --------------------------------------------------------------------------------------------------------------
def test_more_gain_than_found_is_refused():
    loop = sampled(plant(THREE), 0.02)
    found = ByDiskMargin(0.7).tune(loop)
    assert record(found.loop, 0.7, {}, ("K_p", "K_i")).met
    for factor in (1.02, 1.5, 50.0):
        law = replace(found.law, K_i=(found.law.K_i[0] * factor,))
        planted = record(ClosedLoop(loop.plant, Sampled(law, 0.02)), 0.7, {}, ("K_p", "K_i"))
        assert not planted.met and "NOT met" in planted.words
    assert planted.disk == 0.0  # 50 times: unstable, and nothing is claimed


def test_an_unstable_plant_is_stabilised_but_not_beyond_what_can_be():
    p = plant(control.tf([1.3], [1, 0.4, -2.0]))
    found = ByDiskMargin(0.5, free=("K_p", "K_i", "K_d")).tune(sampled(p, 0.02))
    assert found.met
    loop = sampled(p, 0.02, 0.2)
    short = ByDiskMargin(1.9, free=("K_p", "K_i", "K_d")).tune(loop)
    assert not short.met and 0 <= short.disk < 1.9 and "NOT met" in short.words
    with pytest.raises(InputError, match="1.9 is not reached; the largest found is"):
        tuned(loop, 1.9, free=("K_p", "K_i", "K_d"))


def test_gains_that_are_there_can_be_what_stabilises():
    """A plant no simple guess stabilises: conditionally stable around the loop's own gains."""
    p = plant(control.tf([1.0], [1, 0.0, 0.0, 0.0]) * control.tf([1, 1.2, 0.6], [1.0]))
    own = sampled(p, 0.02, K_p=(9.0,), K_i=(0.1,))
    assert record(own, 0.3, {}, ()).disk > 0.3
    found = ByDiskMargin(0.3).tune(own)
    assert found.met and found.law.K_i[0] > 0.1


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tuned(sampled(plant(-THREE))), "goes down when the command goes up"),
        (
            lambda: tuned(sampled(plant(control.tf([1.0], [1, -9.0])), 0.02, 0.4)),
            "no gains that make the loop stable were found",
        ),
        (
            lambda: tuned(
                sampled(
                    Linear(
                        ((-1.0, 0.0), (0.0, -2.0)), ((1.0,), (0.0,)), ((0.0, 1.0),), x0=(0.0, 0.0)
                    )
                )
            ),
            "has no effect",
        ),
        (
            lambda: tuned(sampled(plant(THREE)), 2.0),
            "disk_margin: 2; it must be between 0 and 2",
        ),
        (lambda: tuned(sampled(plant(THREE)), 0.0), "disk_margin: 0;"),
        (lambda: tuned(sampled(plant(THREE)), free=("K_x",)), "free: "),
        (lambda: tuned(sampled(plant(THREE)), free=()), "free: "),
        (lambda: tuned(sampled(plant(THREE)), at={"Q": 1.0}), "there is no signal 'Q'"),
        (
            lambda: tuned(ClosedLoop(plant(THREE), innermost(sampled(plant(THREE)).controller))),
            "the law is continuous",
        ),
        (
            lambda: tuned(ClosedLoop(plant(THREE), Sampled(lambda t, y, r: [0.0], 0.01))),
            "tuning is for PID loops",
        ),
        (lambda: tuned(CRANE, at={"p_a1": 1e6}), "'p_a1' is no joint"),
    ],
)
def test_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_pid_alone_is_tuned_on_its_model():
    law = innermost(sampled(plant(THREE)).controller)
    assert tuned(law, 0.6, T_s=0.02) == tuned(sampled(plant(THREE), 0.02), 0.6)


# ---- files and the command --------------------------------------------------------------------------------------------------
FILE = """\
# kept
plant: ieha-published-linear
controller:
  law: PID                 # kept too
  tuning: {method: disk-margin, disk_margin: 0.6}
  feed: none               # and this
loop: {sample_time: 1 ms}
"""


def test_a_file_finds_its_gains(tmp_path, capsys):
    case = loads(FILE, "f.yaml")
    law = innermost(case.controller)
    assert record(case.loop, 0.6, {}, ()).met and law.feed == "none"
    for name in ("K_p", "K_i"):
        assert case.provenance[f"controller.{name}"].note.startswith(
            "found by tuning: disk margin ≥ 0.6"
        )
    (tmp_path / "a.yaml").write_text(FILE, "utf-8")
    assert main(["tune", str(tmp_path / "a.yaml"), "--write", str(tmp_path / "b.yaml")]) == 0
    said = capsys.readouterr().out
    assert f"{law.K_p[0]:g}" in said and "disk margin ≥ 0.6 kept" in said
    text = (tmp_path / "b.yaml").read_text("utf-8")
    assert "tuning" not in text and all(
        f"# {word}" in text for word in ("kept", "kept too", "and this")
    )
    assert innermost(load(tmp_path / "b.yaml").controller) == law


def test_what_is_written_is_verified_and_the_exit_code_says_what_came_of_it(tmp_path, capsys):
    """A tracking claim that no gains within the margin can keep: the file is written, and refused by its own verification."""
    asked = "scenario: {duration: 4 s}\nclaims: {tracking: {error: ERROR, settle: 1 s}, practical-stability: false}\n"
    for error, code, words in (
        ("1 nm", 1, "does not pass its own verification: tracking"),
        ("5 mm", 0, ""),
    ):
        (tmp_path / "a.yaml").write_text(FILE + asked.replace("ERROR", error), "utf-8")
        given = ["tune", str(tmp_path / "a.yaml"), "--write", str(tmp_path / f"{code}.yaml")]
        assert main(given) == code
        told = capsys.readouterr()
        assert words in told.err and f"exit {code}" in told.out
        assert (tmp_path / f"{code}.yaml").exists()
    assert main([*given[:-1], str(tmp_path / "c.yaml"), "--no-verify"]) == 0
    assert "exit" not in capsys.readouterr().out


def test_a_machine_with_dry_friction_is_tuned_without_it():
    """A file without the model's friction asks for it to be left out; one that states it is taken at its word."""
    from controllers.pid_tuning.command import FRICTIONLESS, _without_friction

    crane = "plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}\ncontroller: {law: PID}\n"
    asked = []
    case = loads(crane)
    assert any(c.friction.F_c > 0 for c in case.plant.cylinders)
    _without_friction(case, asked.append)
    assert asked == [[FRICTIONLESS]]
    stated = loads(crane.replace("PID", "PID, model: {friction: {law: LuGre}}"))
    assert _without_friction(stated, asked.append) is stated and len(asked) == 1
    assert _without_friction(loads(FILE), asked.append).text == FILE


def test_gains_are_found_on_what_the_law_believes():
    believed = FILE.replace("  feed", "  model: {change: {K: 60 1/s}}\n  feed")
    truly = FILE.replace(
        "plant: ieha-published-linear",
        "plant: {machine: ieha-published-linear, change: {K: 60 1/s}}",
    )
    one, other, plain = (innermost(loads(text).controller) for text in (believed, truly, FILE))
    assert (one.K_p, one.K_i) == (other.K_p, other.K_i) and one.K_p[0] > 1.5 * plain.K_p[0]


def test_the_command_writes_into_the_shortest_file(tmp_path):
    (tmp_path / "a.yaml").write_text("plant: ieha-published-linear  # only\n", "utf-8")
    arguments = [
        "tune",
        str(tmp_path / "a.yaml"),
        "--quiet",
        "--free",
        "K_p",
        "K_i",
        "K_d",
        "--write",
        str(tmp_path / "b.yaml"),
    ]
    assert main(arguments) == 0
    law = innermost(load(tmp_path / "b.yaml").controller)
    assert (
        law.K_d[0] > 0
        and law.feed == "gain"
        and "# only" in (tmp_path / "b.yaml").read_text("utf-8")
    )


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["--disk-margin", "2.5"], 3, "between 0 and 2"),
        (
            ["--method", "relay", "--disk-margin", "0.5"],
            3,
            "--disk-margin is for --method disk-margin",
        ),
        (["--at", "E"], 3, "expected NAME=VALUE"),
        (["--at", "E=5"], 3, "there is no signal 'E'"),
        (["--method", "relay", "--amplitude", "3 V"], 3, "a length was expected, in m"),
        (["--write", "SAME"], 3, "would overwrite the case file"),
        (["--rule", "zn"], 3, "invalid choice"),
        (["--method", "relay", "--hysteresis", "10 cm"], 3, "relay on X: no limit cycle"),
    ],
)
def test_the_command_refuses(tmp_path, capsys, arguments, code, words):
    path = tmp_path / "a.yaml"
    path.write_text("plant: ieha-published-linear\n", "utf-8")
    try:
        answer = main(["tune", str(path), *[str(path) if a == "SAME" else a for a in arguments]])
    except SystemExit as end:
        answer = end.code
    assert (
        answer == code
        and words in capsys.readouterr().err
        and path.read_text("utf-8") == "plant: ieha-published-linear\n"
    )


@pytest.mark.parametrize(
    "line, key, words",
    [
        ("tuning: disk-margn", "controller.tuning.method", "no method 'disk-margn'"),
        ("tuning: 5", "controller.tuning", "expected the method"),
        (
            "tuning: disk-margin, K_i: 3",
            "controller.tuning",
            "K_i is given, and the tuning finds it",
        ),
        (
            "tuning: {method: disk-margin, disk_margin: 2}",
            "controller.tuning.disk_margin",
            "between 0 and 2",
        ),
        ("tuning: {method: disk-margin, fre: [K_p]}", "controller.tuning.fre", "did you mean free"),
        (
            "tuning: {method: relay, amplitude: 5 V}",
            "controller.tuning.amplitude",
            "a length was expected, in m",
        ),
        (
            "tuning: {method: relay, rule: tyreus-luyben, structure: P}",
            "controller.tuning",
            "no rule 'tyreus-luyben' for P",
        ),
    ],
)
def test_files_refused(line, key, words):
    with pytest.raises(InputError, match=words) as caught:
        loads(f"plant: ieha-published-linear\ncontroller: {{law: PID, {line}}}\n", "f.yaml")
    assert caught.value.key == key and caught.value.line == 2 and caught.value.file == "f.yaml"
    with pytest.raises(InputError, match="VDC has no tuning"):
        loads("plant: hiab-xs031\ncontroller: {law: VDC, tuning: disk-margin}\n")


# ---- units follow the plant ----------------------------------------------------------------------------------------------
def test_gains_take_the_units_of_their_plant():
    law = innermost(
        loads(
            "plant: ieha-control\ncontroller: {law: PID, K_p: 0.4 mm/mm, K_i: 2 1/s, u_max: 0.3 mm}\n"
        ).controller
    )
    assert (law.K_p, law.K_i, law.u_max) == ((0.4,), (2.0,), 0.3e-3)
    law = innermost(
        loads(
            "plant: ieha-control\ncontroller: {law: PID, signals: [P_A], K_p: 3 mm/bar}\n"
        ).controller
    )
    assert law.K_p == (pytest.approx(3e-8),)
    units = {leaf.path: leaf.info.unit for leaf in leaves(law)}
    assert (
        units["K_p.0"] == "m/Pa"
        and units["K_i.0"] == "m/(Pa s)"
        and units["K_d.0"] == "m s/Pa"
        and units["u_max"] == "m"
    )
    crane = {leaf.path: leaf.info.unit for leaf in leaves(innermost(CRANE.controller))}
    assert (crane["K_p.0"], crane["K_i.0"], crane["K_d.0"], crane["K_f.0"]) == (
        "V/m",
        "V/(m s)",
        "V s/m",
        "V/N",
    )


@pytest.mark.parametrize(
    "line, words",
    [
        ("K_p: 45 V/m", "a plain number was expected.*got a quantity in V/m"),
        ("u_max: 5 V", "a length was expected, in m"),
        ("K_i: 3 V/(m s)", "a rate was expected, in 1/s"),
        ("signals: [P_A], K_p: 3 1/s", "a quantity in m/Pa was expected"),
    ],
)
def test_other_units_are_refused(line, words):
    with pytest.raises(InputError, match=words):
        loads(f"plant: ieha-control\ncontroller: {{law: PID, {line}}}\n")
