"""Causes read off G = Δy/Δu and K = ∂u/∂y: wiring, signs and sizes of two loops whose matrices are given."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.plain import Plain
from workbench.verification.cause import feedback as module
from workbench.verification.cause.feedback import feedback, negative

NAMES = ("a", "b")
G = np.array([[2.0, 0.3], [-0.4, 5.0]])
K = np.array([[-3.0, 0.2], [0.1, -0.5]])


class Law:
    """u = K y, whatever the reference."""

    references = ("a_d", "b_d")

    def step(self, t, z, y, r):
        return z, [0.0, 0.0]


def proportional(t, y, r):
    return [0.0, 0.0]


def signals(*names, kind=""):
    return tuple(SimpleNamespace(name=n, kind=kind) for n in names)


def a_loop(law=None, commands=("u", "v"), period=0.01):
    references = signals("a_d", "b_d", "da_d", "c_d", kind="reference")
    controller = SimpleNamespace(
        commands=signals(*commands),
        references=(*references, *signals("b_d@0.1", kind="preview")),
        measured=signals("x", "a", "b", "da"),
        law=law,
    )
    return SimpleNamespace(controller=controller, plant=None, period=period)


def told(monkeypatch, G, K, law=None, length=10.0, sized=True, **loop):
    run = SimpleNamespace(loop=a_loop(**loop), scenario=SimpleNamespace(length=lambda: length))
    own = Plain(law or Law(), references=("a_d", "b_d"))
    monkeypatch.setattr(module, "innermost", lambda controller: own)
    monkeypatch.setattr(module, "controls", lambda plant: signals("u", "v", "w"))
    monkeypatch.setattr(module, "response", lambda run, commands, outputs: G)
    monkeypatch.setattr(module, "slopes", lambda run, position: K)
    return feedback(run, sized)


@pytest.mark.parametrize(
    "M, found",
    [
        ([[-1.0]], True),
        ([[1.0]], False),
        ([[0.0]], False),
        ([[-2.0, 1.9], [1.9, -2.0]], True),
        ([[-2.0, 0.0], [2.1, -3.0]], False),
        ([[-3.0, 2.1], [0.0, -2.0]], False),  # the second output moves the first more than itself
        ([[-2.0, 0.0], [0.0, 3.0]], False),
        ([[-2.0, 2.0], [0.0, -2.0]], False),
        ([[-2.0, -2.1], [0.0, -2.0]], False),
    ],
)
def test_negative_feedback_on_every_output_and_less_across(M, found):
    assert negative(np.array(M)) is found


def test_a_sound_loop_has_no_cause(monkeypatch):
    assert negative(G @ K) and told(monkeypatch, G, K) == ""


def test_swapped_commands_are_told(monkeypatch):
    said = told(monkeypatch, G, K[::-1])
    assert said.startswith("commands u and v swapped")
    assert told(monkeypatch, G[:, ::-1], K).startswith("commands u and v swapped")


@pytest.mark.parametrize("i, command, output", [(0, "u", "a"), (1, "v", "b")])
def test_the_command_of_the_wrong_sign_is_told(monkeypatch, i, command, output):
    turned = K.copy()
    turned[i] *= -1
    said = told(monkeypatch, G, turned)
    assert said.startswith(f"sign of the command {command} (positive feedback: {output} is driven")


def test_all_signs_wrong_are_told_and_what_nothing_explains_is_not(monkeypatch):
    said = told(monkeypatch, G, -K)
    assert said == "sign of the commands u, v (positive feedback on a, b)"
    assert told(monkeypatch, G, np.array([[-1.0, -1.0], [-1.0, -1.0]])) == ""


@pytest.mark.parametrize("law, said", [(Law(), False), (proportional, True)])
def test_an_output_that_the_law_does_not_act_on_is_told_of_a_law_that_forgets(
    monkeypatch, law, said
):
    idle = K * [[1.0, 0.0]]
    found = told(monkeypatch, G, idle, law)
    expected = "the law does not act on b: its gain from there to u, v is zero"
    assert (found == expected) is said
    assert told(monkeypatch, np.eye(2), np.diag([1.0, 0.0]), law, sized=False) == (
        expected if said else ""
    )


@pytest.mark.parametrize(
    "scale, length, period, what",
    [
        (1.0, 10.0, 0.01, ""),
        (
            4.0,
            10.0,
            0.01,
            "gain from a to u: it closes the loop at 100 1/s, and a sample time of 10 ms bears 50 1/s",
        ),
        (1.9, 10.0, 0.01, ""),
        (2.1, 10.0, 0.01, "gain from a to u: it closes the loop at 52.5 1/s"),
        (15.0, 10.0, None, ""),
        (
            21.0,
            10.0,
            None,
            "gain from a to u: it closes the loop at 525 1/s, and a sample time of 1 ms bears 500 1/s",
        ),
        (0.011, 12.2, 0.01, ""),
        (
            0.011,
            12.0,
            0.01,
            "gain from b to v: it closes the loop at 0.0825 1/s, which in a run of 12 s gets nowhere",
        ),
    ],
)
def test_a_gain_far_from_what_samples_or_the_run_bear(monkeypatch, scale, length, period, what):
    """−diag(G K)/0.2 s: 25 and 7.5 1/s at scale 1; half a rate of samples bears it, a time constant within the run needs it."""
    G, K = np.diag([1.0, 3.0]), -scale * np.diag([5.0, 0.5])
    found = told(monkeypatch, G, K, length=length, period=period)
    assert found.startswith(what) and bool(found) is bool(what)
    assert told(monkeypatch, G, K, length=length, period=period, sized=False) == ""


@pytest.mark.parametrize("hidden", ["G", "K"])
def test_what_is_not_known_says_nothing(monkeypatch, hidden):
    known = {"G": G, "K": -K}
    for missing in (None, np.full((2, 2), np.nan)):
        assert told(monkeypatch, **(known | {hidden: missing})) == ""
    assert told(monkeypatch, G, -K, commands=("u",)) == ""
    assert told(monkeypatch, G, -K, commands=("u", "other")) == ""


def test_positions_that_are_measured_and_wanted():
    """Not rates, nor what is not measured, nor a preview; each once."""
    assert module._followed(a_loop()) == ["a", "b"]


# ---- asked of plant and law ------------------------------------------------------------------------------------------------
def test_the_machine_alone_is_pushed_both_ways(monkeypatch):
    """By a tenth of its range, or of 1: y = (2 + 3 u², u v) differs by nothing of an even answer, and by 3 u of an odd one."""
    asked = []

    def simulate(plant, scenario):
        ((name, push),) = scenario.items()
        asked.append((name, push))
        u, v = (push if name == n else 0.0 for n in "uv")
        x = [2 + 3 * u + 7 * u * u, 5 * v - u]
        array = dict(zip("xw", np.array([[99.0, k] for k in x]))).get
        return SimpleNamespace(array=array, time=np.array([0.0, 0.2]))

    plant = SimpleNamespace(
        limits=lambda: {"u": (-4.0, 8.0)},
        states=signals("x", "w"),
        outputs=signals("b", "a"),
        out=lambda t, x: [10 * x[1], x[0] + t],
    )
    scenario = SimpleNamespace()
    monkeypatch.setattr(module, "simulate", simulate)
    monkeypatch.setattr(
        module, "replace", lambda old, **new: new["disturbances"] or SimpleNamespace()
    )
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario=scenario)
    found = module.response(run, ["u", "v"], ["a", "b"])
    assert asked == [("u", 0.8), ("u", -0.8), ("v", 0.1), ("v", -0.1)]
    assert found == pytest.approx(np.array([[3.0, 0.0], [-10.0, 50.0]]))

    def refuses(plant, scenario):
        raise ValueError

    monkeypatch.setattr(module, "simulate", refuses)
    assert module.response(run, ["u"], ["a"]) is None


def test_slopes_of_a_law_at_its_first_sample(monkeypatch):
    """A step is 1e-5 of what is measured, or of 1; the law is one of Python."""
    asked = []

    def law(t, y, r):
        asked.append(list(y))
        return [3 * y[1] - y[3] ** 2, y[1] * y[3]]

    own = Plain(law, references=("a_d", "b_d"))
    monkeypatch.setattr(module, "innermost", lambda controller: own)
    monkeypatch.setattr(module, "instant", lambda controller: None)
    y = [9.0, 0.5, -7.0, 40.0]
    monkeypatch.setattr(module, "samples", lambda run: iter([(0.0, [], y, [0.0, 0.0])]))
    measured = signals("x", "a", "c", "b")
    run = SimpleNamespace(loop=SimpleNamespace(controller=SimpleNamespace(measured=measured)))
    found = module.slopes(run, ["b", "a"])
    assert found == pytest.approx(np.array([[-80.0, 3.0], [0.5, 40.0]]))
    assert np.array(asked) - y == pytest.approx(
        np.array([[0, 0, 0, 4e-4], [0, 0, 0, -4e-4], [0, 1e-5, 0, 0], [0, -1e-5, 0, 0]])
    )
    monkeypatch.setattr(module, "samples", lambda run: iter([]))
    assert module.slopes(run, ["a"]) is None


class Remembers:
    """Its memory begins at 5, or where `start` puts it, and changes with a sample."""

    def initial(self):
        return 5.0

    def step(self, t, z, y, r):
        self.seen = y
        return z + 1, [z + y[0], t]


class Starts(Remembers):
    def start(self, t, z, y, r):
        return z + r[0]


class Commands:
    def command(self, t, z, y, r):
        return y[0] - (1.0 if z is None else z)


def test_a_law_is_asked_once_of_a_copy():
    law = Remembers()
    assert module.asked(law, 0.5, [2.0], [10.0]) == [7.0, 0.5] and not hasattr(law, "seen")
    assert module.asked(Starts(), 0.5, [2.0], [10.0]) == [17.0, 0.5]
    assert module.asked(Commands(), 0.5, [2.0], [10.0]) == [1.0]
    assert module.asked(lambda t, y, r: [y[0] * r[0]], 0.5, [2.0], [10.0]) == [20.0]
