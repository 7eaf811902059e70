"""A regulator off its point with two commands, sample by sample; how a tuning follows its filter and rounds: numbers by hand."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import lqr as module
from controllers import tuned_file
from controllers.lqr import LQR, _flat, _times, _weight, gains, target_map
from controllers.pid_tuning import tune
from controllers.pid_tuning.tune import ByDiskMargin, ByRelay
from workbench import Signal, System
from workbench.contract.errors import InputError
from workbench.verification.linear.systems import LinearSystem


@dataclass(frozen=True)
class Rig(System):
    """Two states, two commands and a load; all states are measured, and a sum of them as well."""

    measured_too: bool = True
    states = (Signal("x", "m"), Signal("v", "m/s"))
    inputs = (Signal("u_1", "V"), Signal("F", "N", "", "disturbance"), Signal("u_2", "V"))

    @property
    def outputs(self):
        return (Signal("s", "m", "sum"), *(self.states if self.measured_too else self.states[:1]))

    def initial(self):
        return [0.5, -0.25]

    def rhs(self, t, x, u):
        return [x[1] + 2 * u[0] + u[2], -x[0] - 3 * x[1] + u[2] + u[1]]

    def out(self, t, x):
        return [x[0] + x[1], *(x if self.measured_too else x[:1])]


K = ((1.0, 2.0), (-0.5, 3.0))
F = ((4.0, 0.5), (0.25, -1.0))
K_I = ((0.1, 0.2), (0.3, -0.4))


def law(**other):
    flat = lambda M: tuple(v for row in M for v in row)
    given = {
        "model": Rig(), "K": flat(K), "F": flat(F), "K_i": flat(K_I), "tracked": ("s", "x"),
        "x_0": (0.5, -0.25), "y_0": (0.25, 0.5), "u_0": (0.7, -0.3),
    }  # fmt: skip
    return LQR(**given | other)


# ---- a regulator -----------------------------------------------------------------------------------------------------------
def by_hand(z, x, r):
    y = np.array([x[0] + x[1], x[0]])
    ahead, away = np.array(r) - [0.25, 0.5], np.array(x) - [0.5, -0.25]
    return np.array([0.7, -0.3]) + np.array(F) @ ahead - np.array(K) @ away - np.array(
        K_I
    ) @ z, np.array(r) - y


Z, X, REF = [1.5, -2.5], [0.9, 0.4], [1.0, 0.6]
Y = [*X, X[0] + X[1]]


def test_a_command_off_the_point_and_the_errors_summed():
    """ζ⁺ = ζ + y − r; measured are the states and what of the tracked outputs is none."""
    made = law()
    assert [s.name for s in made.measured] == ["x", "v", "s"] and made.errors(
        Y, REF
    ) == pytest.approx([-0.3, -0.3])
    u, e = by_hand(Z, X, REF)
    z, found = made.step(0.0, Z, Y, REF)
    assert found == pytest.approx(u) and z == pytest.approx(np.array(Z) - e)
    assert made.monitor(0.0, Z, Y, REF) == pytest.approx(e)
    plain = law(K_i=())
    assert plain.states == () and plain.step(0.0, [], Y, REF)[1] == pytest.approx(
        by_hand([0, 0], X, REF)[0]
    )


@pytest.mark.parametrize("u_max, limited", [(10.0, False), (0.5, True)])
def test_sums_stand_while_a_command_is_limited(u_max, limited):
    """About u_0, both ways; one command at its limit is enough."""
    u, e = by_hand(Z, X, REF)
    room = np.abs(u - [0.7, -0.3])
    z, found = law(u_max=float(room.min() + 0.01) if limited else u_max).step(0.0, Z, Y, REF)
    if not limited:
        assert found == pytest.approx(u) and z == pytest.approx(np.array(Z) - e)
        return
    k = int(room.argmax())
    top = room.min() + 0.01
    assert found[k] == pytest.approx([0.7, -0.3][k] + np.sign(u[k] - [0.7, -0.3][k]) * top)
    assert found[1 - k] == pytest.approx(u[1 - k]) and z == pytest.approx(Z)


def test_signals_of_a_regulator():
    made = law()
    assert [(s.name, s.unit, s.kind) for s in made.references] == [
        ("s_d", "m", "reference"),
        ("x_d", "m", "reference"),
    ]
    assert made.references[0].meaning == "desired sum"
    assert [s.name for s in made.states] == ["ζ_s", "ζ_x"] and [s.name for s in made.monitors] == [
        "e_s",
        "e_x",
    ]


@pytest.mark.parametrize(
    "field, given, said",
    [
        ("K", (1.0,) * 3, "K: expected 4"),
        ("F", (1.0,), "F: expected 4"),
        ("K_i", (1.0,) * 3, "K_i: expected 0 or 4"),
        ("x_0", (1.0,), "x_0: expected 2"),
        ("y_0", (1.0,), "y_0: expected 2"),
        ("u_0", (1.0,), "u_0: expected 2"),
    ],
)
def test_gains_of_another_length(field, given, said):
    with pytest.raises(InputError, match=said):
        law(**{field: given})


def test_a_state_that_is_not_measured():
    with pytest.raises(InputError, match="v of Rig are not measured"):
        law(model=Rig(False), tracked=("s", "x"))


def test_weights_and_rows():
    weight = lambda given: _weight("Q", given, 2).tolist()
    assert weight(2.0) == [[2, 0], [0, 2]] and weight([1.0, 3.0]) == [[1, 0], [0, 3]]
    assert weight([[1.0, 2.0], [2.0, 5.0]]) == [[1, 2], [2, 5]]
    with pytest.raises(InputError, match="Q: expected 1 or 2 numbers, got 3"):
        weight([1.0, 2.0, 3.0])
    assert _times((1.0, 2.0, 3.0, 4.0), [5.0, 6.0]) == [17.0, 39.0] and _times(
        (1.0, 2.0), [3.0]
    ) == [3.0, 6.0]
    assert _flat([[1, 2], [3, 4]]) == (1.0, 2.0, 3.0, 4.0)


def test_a_target_is_at_rest_and_the_smallest_of_several():
    """x = 0.5 x + u_1 + 2 u_2 + 0.1 p_0, x = p_1: of all commands the shortest."""
    M, miss = target_map(
        np.array([[0.5]]),
        np.array([[1.0, 2.0]]),
        np.array([[1.0]]),
        np.array([[0.1, 0.0], [0.0, 1.0]]),
    )
    assert miss < 1e-12 and M[0] == pytest.approx([0.0, 1.0])
    assert M[1] + 2 * M[2] == pytest.approx([-0.1, 0.5])
    _, miss = target_map(
        np.array([[0.5]]),
        np.array([[1.0]]),
        np.array([[1.0], [1.0]]),
        np.array([[0.0], [1.0], [2.0]]),
    )
    assert miss > 0.1


def test_gains_with_summed_errors_are_those_of_the_larger_loop(monkeypatch):
    asked = []
    monkeypatch.setattr(
        module,
        "riccati",
        lambda A, B, Q, R: asked.append((A, B, Q, R)) or SimpleNamespace(K=np.arange(3.0)[None, :]),
    )
    plant = LinearSystem(
        np.array([[0.5, 0.1], [0.0, 0.9]]),
        np.array([[0.0], [1.0]]),
        np.eye(2),
        np.zeros((2, 1)),
        0.1,
    )
    K_found, K_i = gains(plant, np.array([[2.0, 3.0]]), np.diag([4.0, 5.0]), np.eye(1), 7.0)
    A, B, Q, _ = asked[0]
    assert A.tolist() == [[0.5, 0.1, 0], [0, 0.9, 0], [2, 3, 1]] and B.ravel().tolist() == [0, 1, 0]
    assert Q.tolist() == [[4, 0, 0], [0, 5, 0], [0, 0, 7]]
    assert K_found.tolist() == [[0, 1]] and K_i.tolist() == [[2]]
    assert gains(plant, None, np.eye(2), np.eye(1))[1].size == 0


def test_a_design_is_made_where_it_is_asked():
    """x = (1, 0) is held by the commands that are given; a reference there moves nothing."""
    made = LQR.design(Rig(), 1.0, 1.0, 0.01, ("s", "x"), x=(1.0, 0.0), u=(0.2, -0.4))
    assert (
        made.x_0 == (1.0, 0.0)
        and made.y_0 == (1.0, 1.0)
        and made.u_0 == (0.2, -0.4)
        and made.K_i == ()
    )
    assert made.step(0.0, [], [1.0, 0.0, 1.0], [1.0, 1.0])[1] == pytest.approx([0.2, -0.4])
    assert LQR.design(Rig(), 1.0, 1.0, 0.01).tracked == ("s", "x"), "as many outputs as commands"
    begun = LQR.design(Rig(), 1.0, 1.0, 0.01)
    assert begun.x_0 == (0.5, -0.25) and begun.y_0 == (0.25, 0.5) and begun.u_0 == (0.0, 0.0)


# ---- a tuning --------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pid:
    K_p: tuple = (2.0, 4.0)
    K_i: tuple = (1.0,)
    K_d: tuple = (0.5, 0.2)
    τ: float = 0.1

    def each(self, values):
        return list(values) * 2 if len(values) == 1 else list(values)


def loop(**gains_of):
    return SimpleNamespace(plant="plant", controller=Pid(**gains_of), period=0.01)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(tune, "innermost", lambda controller: controller)
    monkeypatch.setattr(tune, "rewrapped", lambda controller, law: law)
    monkeypatch.setattr(
        tune,
        "ClosedLoop",
        lambda plant, law: SimpleNamespace(plant=plant, controller=law, period=0.01),
    )


@pytest.mark.parametrize(
    "own, N, τ",
    [
        ({}, 2.0, 0.025),
        ({}, 10.0, 0.01),
        ({"K_d": (0.0, 0.0)}, 2.0, 0.1),
        ({"K_p": (2.0, 0.0)}, 2.0, 0.12),
        ({"K_d": (0.123,), "K_p": (1.0,)}, 3.0, 0.041),
    ],
)
def test_the_filter_of_the_derivative(own, N, τ):
    """T_d/N of the quickest actuator, 0.05 of 0.25 and 0.05 s, in two digits; a sample or more."""
    assert tune._filter(loop(**own), N) == pytest.approx(τ)


def tuned(monkeypatch, filters, wish, met=(True,)):
    """Gains found again and again; the filters that follow from them."""
    goals, bases, records, told = [], [], [], []
    left, answers = iter(filters), iter(met)

    def best_gains(base, free, goal, at, noise, tell):
        goals.append(goal)
        bases.append(base.controller.τ)
        tell(0.5)
        return base

    monkeypatch.setattr(tune, "best_gains", best_gains)
    monkeypatch.setattr(tune, "_filter", lambda loop, N: next(left))
    monkeypatch.setattr(tune, "rounded", lambda loop, free: "rounded")
    monkeypatch.setattr(
        tune,
        "record",
        lambda *given: records.append(given[0]) or SimpleNamespace(met=next(answers)),
    )
    tune._by_disk_margin(loop(), wish, told.append)
    return goals, bases, records, told


def test_gains_are_found_again_while_their_filter_follows(monkeypatch):
    """Up to four times, or until it moves by less than a twentieth."""
    wish = ByDiskMargin(0.75, ("K_p", "K_i", "K_d"))
    goals, bases, records, told = tuned(monkeypatch, [0.2, 0.3, 0.314, 9.0], wish)
    assert bases == [0.1, 0.2, 0.3] and goals == pytest.approx([0.75 * 1.0005] * 3)
    assert records == ["rounded"] and told == pytest.approx([0.125, 0.375, 0.625])
    assert tuned(monkeypatch, [0.2, 0.4, 0.8, 1.6], wish)[1] == [0.1, 0.2, 0.4, 0.8]
    assert tuned(monkeypatch, [0.106, 0.2, 0.2, 0.2], wish)[1][:2] == [0.1, 0.106]
    assert tuned(monkeypatch, [0.104], wish)[1] == [0.1]


def test_without_a_derivative_once_and_unrounded_where_rounding_costs_the_margin(monkeypatch):
    goals, bases, records, told = tuned(monkeypatch, [9.0], ByDiskMargin(1.9999), (False, True))
    assert bases == [0.1] and told == [0.5] and goals == pytest.approx([0.5 * (1.9999 + 2)])
    assert records[0] == "rounded" and records[1].controller == Pid()


def test_gains_are_rounded_to_four_digits(monkeypatch):
    found = tune.rounded(loop(K_p=(1.23456, 2.34567), K_i=(0.123456,)), ("K_p", "K_i")).controller
    assert found.K_p == (1.235, 2.346) and found.K_i == (0.1235,) and found.K_d == (0.5, 0.2)


def test_fields_that_are_found():
    assert ByDiskMargin(free=("K_i", "K_p")).free == ("K_p", "K_i") and ByDiskMargin().finds == (
        "K_p",
        "K_i",
    )
    assert ByDiskMargin(free=("K_d", "K_p")).finds == ("K_p", "K_d", "τ")
    assert ByRelay().finds == ("K_p", "K_i", "K_d") and ByRelay(structure="PID").finds[-1] == "τ"
    for free in ((), ("K_p", "K_p")):
        with pytest.raises(InputError, match="each once"):
            ByDiskMargin(free=free)


# ---- the file with the gains in it ---------------------------------------------------------------------------------------------
CASE = """# a machine
plant: 'servo'
controller:
  law: PID  # ours
  tuning: {method: relay}
  u_max: 5
"""


def test_a_file_keeps_its_comments_and_quotes_and_takes_the_gains(monkeypatch):
    """Gains that it has stay where they are, others come where the tuning stood."""
    monkeypatch.setattr(tuned_file, "_check_read_back", lambda *given: None)
    monkeypatch.setattr(
        tuned_file, "units_of", lambda law: {"K_p": "V/m", "K_i": "V/(m s)", "τ": "s"}
    )
    monkeypatch.setattr(tuned_file, "law_form", lambda kind: None)
    monkeypatch.setattr(tuned_file.shape, "canonical", lambda form, key: key)
    law = Pid(K_p=(2.5,), K_i=(0.5, 0.0), τ=0.02)
    text = tuned_file.written(SimpleNamespace(text=CASE), law, ["K_p", "K_i", "τ"])
    lines = text.splitlines()
    assert lines[:4] == ["# a machine", "plant: 'servo'", "controller:", "  law: PID  # ours"]
    assert "tuning" not in text and lines[4] == "  K_p: 2.5 V/m" and lines[-1] == "  u_max: 5"
    assert [line.split(":")[0].strip() for line in lines[5:-1] if ":" in line] == ["K_i", "τ"]
    again = tuned_file.written(SimpleNamespace(text=text), Pid(K_p=(3.5,)), ["K_p"])
    assert again == text.replace("2.5 V/m", "3.5 V/m")
    bare = tuned_file.written(SimpleNamespace(text="controller: PID\n"), law, ["K_p"])
    assert bare == "controller:\n  law: PID\n  K_p: 2.5 V/m\n"


def test_numbers_as_a_file_has_them():
    made = tuned_file._yaml
    assert made((1.5,), "V/m") == "1.5 V/m" and made((1.5, 0.0), "V/m") == ["1.5 V/m", 0.0]
    assert made(3, "V/m") == 3 and made(1.5, "1") == 1.5


def test_a_file_that_would_not_mean_the_same(monkeypatch):
    read = Pid(K_p=(2.0,))
    monkeypatch.setattr(tuned_file, "loads", lambda text, path: SimpleNamespace(controller=read))
    monkeypatch.setattr(tuned_file, "innermost", lambda controller: controller)
    case = SimpleNamespace(path="case.yaml")
    tuned_file._check_read_back(case, "", Pid(K_p=(2.0,), K_i=(9.0,)), ["K_p"])
    with pytest.raises(InputError, match="would not mean the same"):
        tuned_file._check_read_back(case, "", Pid(K_p=(2.0,), K_i=(9.0,)), ["K_p", "K_i"])
