"""What a report is told of a run beside its verdicts, from numbers written down: limits, and the model beside the plant."""

from types import SimpleNamespace

import numpy as np
import pytest
from small import Linear

from workbench import Sine
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.results import limits as module
from workbench.verification.results import model

T = np.array([0.0, 0.1, 0.2, 0.3])


def logged(time=T, **signals):
    told = tuple(Signal(name, "V" if name.startswith("u") else "m") for name in signals)
    values = np.column_stack([np.array(v, float) for v in signals.values()])
    return Log(time, values, told, {}, Status(True, "ended", float(time[-1])))


# ---- limits -------------------------------------------------------------------------------------
class Foresees:
    """A predictive law with two commands."""

    limits = (
        SimpleNamespace(name="y", low=None, high=3.0, soft=True),
        SimpleNamespace(name="y", low=-2.0, high=None, soft=False),
        SimpleNamespace(name="not logged", low=0.0, high=1.0, soft=False),
    )
    own = {"slew": (20.0, np.inf), "u_min": (-1.0, -np.inf), "u_max": (4.0, np.inf)}

    def ingredients(self, r, lost=()):
        return None

    def each(self, name):
        return self.own[name]


def limited(monkeypatch, law, ranges=None, period=0.1, time=T, **signals):
    monkeypatch.setattr(module, "law_of", lambda loop: law)
    given = {"u_a": (0.0, 1.0, 1.5, 4.0), "u_b": (0.0, 7.0, 9.0, 8.0), "y": (0.0, 3.0, -2.0, 1.0)}
    commands = tuple(Signal(name, "V") for name in ("u_a", "u_b"))
    controller = SimpleNamespace(commands=commands, inner=None)
    plant = SimpleNamespace(limits=lambda: ranges or {})
    loop = SimpleNamespace(period=period, controller=controller, plant=plant)
    return module.limits(SimpleNamespace(loop=loop, log=logged(time, **(given | signals))))


def brief(found):
    return [(one["name"], one["kind"], one["low"], one["high"], one["share"]) for one in found]


def test_limits_of_a_predictive_law(monkeypatch):
    """Its commands', how fast they may change, and its outputs'; what has no limit is left out."""
    found = limited(monkeypatch, Foresees(), {"u_a": (-0.5, 9.0)})
    assert brief(found) == [
        ("u_a", "command", -0.5, 4.0, 0.25),
        ("u_a", "slew", -20.0, 20.0, 0.25),
        ("y", "output", -np.inf, 3.0, 0.25),
        ("y", "output", -2.0, np.inf, 0.25),
    ]
    assert [one["unit"] for one in found] == ["V", "V/s", "m", "m"]
    assert [one["soft"] for one in found] == [False, False, True, False]
    assert found[1]["value"] == pytest.approx([0.0, 10.0, 5.0, 25.0])
    assert [list(one["active"]) for one in found] == [
        [False, False, False, True],
        [False, False, False, True],
        [False, True, False, False],
        [False, False, True, False],
    ]
    assert all(one["t"] is not None and len(one["t"]) == 4 for one in found)


@pytest.mark.parametrize("period, time", [(0.05, T), (None, T), (0.1, T[:1])])
def test_steps_of_commands_are_told_where_the_log_has_every_sample(monkeypatch, period, time):
    cut = {name: (0.5,) * len(time) for name in ("u_a", "u_b", "y")}
    found = limited(monkeypatch, Foresees(), period=period, time=time, **cut)
    assert "slew" not in [one["kind"] for one in found]


def test_a_log_need_not_begin_at_zero(monkeypatch):
    assert [one["kind"] for one in limited(monkeypatch, Foresees(), time=T + 5.0)].count(
        "slew"
    ) == 1


def test_limits_of_any_other_law(monkeypatch):
    """A number is the same for every command; the machine's own range is narrowed by it, on each side by what is nearer."""
    law = SimpleNamespace(u_max=5.0, limits=())
    ranges = {"u_a": (-9.0, 3.0), "u_b": (-2.0, np.inf)}
    assert brief(limited(monkeypatch, law, ranges)) == [
        ("u_a", "command", -5.0, 3.0, 0.25),
        ("u_b", "command", -2.0, 5.0, 0.75),
    ]
    assert brief(limited(monkeypatch, law))[0] == ("u_a", "command", -5.0, 5.0, 0.0)
    free = SimpleNamespace(u_max=None, limits=())
    assert limited(monkeypatch, free) == []
    only = limited(monkeypatch, free, {"u_b": (-np.inf, 9.0)})
    assert brief(only) == [("u_b", "command", -np.inf, 9.0, 0.25)]


@pytest.mark.parametrize(
    "kind, low, high, off, active",
    [
        ("command", -1.0, 3.0, 3.9e-9, True),
        ("command", -1.0, 3.0, 4.1e-9, False),
        ("output", -1.0, 3.0, 3.9e-6, True),
        ("output", -1.0, 3.0, 4.1e-6, False),
        ("slew", -np.inf, 3.0, 2.9e-6, True),
        ("slew", -np.inf, 3.0, 3.1e-6, False),
    ],
)
def test_a_limit_is_active_near_it(kind, low, high, off, active):
    """Within a billionth of a command's range, a millionth of another's; of one side, of its size. On both sides."""
    at = np.array([high - off, 0.0])
    found = module._limit(T[:2], "s", "m", kind, at, low, high, False)
    assert list(found["active"]) == [active, False] and found["share"] == 0.5 * active
    down = module._limit(T[:2], "s", "m", kind, -at, -high, -low, False)
    assert list(down["active"]) == [active, False]


def test_a_limit_is_active_at_the_edge_of_what_is_near():
    at = np.array([-1.0, -1.5, 1.0 - 1e9, 2.0 - 1e9])
    found = module._limit(T, "s", "m", "command", at, -1e9, 0.0, False)
    assert list(found["active"]) == [True, False, True, False]


def test_a_step_goes_through_a_feedthrough_at_once():
    """y = 2 u + x, ẋ = −x + 3 u: 2 + 3 (1 − e^{−t})."""
    found = model.step_response(LinearSystem(-1.0, 3.0, 1.0, 2.0), 1.0, 5)[:, 0]
    assert found == pytest.approx(2 + 3 * (1 - np.exp(-np.linspace(0, 1, 5))))


# ---- the model beside the plant ---------------------------------------------------------------------
def a_signal(name, kind=""):
    return SimpleNamespace(name=name, kind=kind)


def test_inputs_of_both_begin_with_commands_and_are_three_at_most():
    plant = SimpleNamespace(
        inputs=[a_signal("F", "disturbance"), a_signal("a"), a_signal("b"), a_signal("c")]
    )
    known = SimpleNamespace(inputs=[a_signal(n) for n in "abF"])
    assert model._shared(plant, known) == ["a", "b", "F"]
    known.inputs.append(a_signal("c"))
    assert model._shared(plant, known) == ["a", "b", "c"]


TRUTH = Linear(((-2.0, 0.0), (1.0, -5.0)), ((3.0, 0.0), (0.0, 4.0)), ((1.0, 0.0), (0.0, 1.0)))
BELIEF = Linear(((-4.0, 0.0), (0.0, -5.0)), ((2.0, 0.0), (0.0, 1.0)), ((1.0, 0.0), (0.0, 1.0)))


def channel(name, follows=("y1",), period=0.01, law=None, **signals):
    law = law or SimpleNamespace(follows=[a_signal(n) for n in follows])
    loop = SimpleNamespace(plant=TRUTH, period=period)
    log = logged(**(signals or {"u1": (0.0, -0.25, np.nan, 0.2)}))
    run = SimpleNamespace(loop=loop, log=log)
    linear = [model._linear(of, [0.0, 0.0], [0.0, 0.0]) for of in (TRUTH, BELIEF)]
    return model._channel(run, law, *linear, name)


def test_one_input_of_plant_and_model():
    """y₁ of ẋ₁ = x₀ − 5 x₁ + 4 u₁: 4/(s + 5) of the plant, 1/(s + 5) of the model; a step as large as in the run."""
    found = channel("u1")
    s = 1j * found["ω"]
    assert found["truth"] == pytest.approx(4 / (s + 5))
    assert found["model"] == pytest.approx(1 / (s + 5))
    assert (found["output"], found["unit"], found["size"]) == ("y1", "1/1", 0.25)
    assert found["ω"][0] == pytest.approx(1.0) and found["ω"][-1] == pytest.approx(np.pi / 0.01)
    assert len(found["t"]) == 240 and found["t"][-1] == pytest.approx(1.0)
    rise = 1 - np.exp(-5 * found["t"])
    assert found["steps"]["y1"]["truth"] == pytest.approx(0.25 * 4 / 5 * rise)
    assert found["steps"]["y1"]["model"] == pytest.approx(0.25 / 5 * rise)
    assert found["steps"]["y0"]["truth"] == pytest.approx(np.zeros(240))
    assert found["steps"]["y0"]["unit"] == "1" == found["size_unit"]


def test_an_input_that_follows_nothing_and_never_moves():
    """The first output that both have, a step of one, up to 1000 rad/s and over 100 ms in continuous time."""
    found = channel("u0", follows=("other",), period=None)
    assert (found["output"], found["size"], found["input"]) == ("y0", 1.0, "u0")
    assert found["ω"][-1] == pytest.approx(1e3) and found["t"][-1] == pytest.approx(0.1)
    s = 1j * found["ω"]
    assert found["truth"] == pytest.approx(3 / (s + 2))
    assert found["model"] == pytest.approx(2 / (s + 4))
    assert found["steps"]["y1"]["truth"][-1] > 0 == found["steps"]["y1"]["model"][-1]
    ahead = Foresees()
    ahead.follows, ahead.N = [a_signal("y0")], 30
    assert channel("u0", law=ahead)["t"][-1] == pytest.approx(0.3)


def posed(monkeypatch, words="", **signals):
    at = SimpleNamespace(x=[7.0], u=[8.0], words=words)
    monkeypatch.setattr(model, "where", lambda run, claims: at)
    commands = (Signal("u", "V"), Signal("v", "V"))
    plant = SimpleNamespace(
        states=(Signal("x", "m"), Signal("z", "m")), inputs=(*commands, Signal("w", "N"))
    )
    loop = SimpleNamespace(plant=plant, controller=SimpleNamespace(commands=commands))
    import workbench.verification.linear.loop as linear

    monkeypatch.setattr(linear, "refuse_turning", lambda plant: None)
    return model._point(SimpleNamespace(loop=loop, log=logged(**signals)), ())


def test_a_model_is_compared_where_the_command_is_nearest_its_usual_size(monkeypatch):
    """u = 0, −1, 2, 5: rms √7.5 = 2.74, nearest at the third; what the log has not is 0."""
    signals = {"u": (0.0, -1.0, 2.0, 5.0), "x": (1.0, 2.0, 3.0, 4.0), "v": (0.1, 0.2, 0.3, 0.4)}
    x, u, words = posed(monkeypatch, **signals)
    assert (x, u) == ([3.0, 0.0], [2.0, 0.3, 0.0])
    assert words == "its state in the run at t = 0.2 s"
    lost = signals | {"x": (1.0, 2.0, np.nan, 4.0)}
    assert posed(monkeypatch, **lost)[0] == [2.0, 0.0]  # 0, −1, 5: rms 2.94
    lost = signals | {"u": (np.nan, -1.0, np.inf, 5.0)}
    assert posed(monkeypatch, **lost)[0] == [4.0, 0.0]  # −1, 5: rms 3.6
    assert posed(monkeypatch, "where it was said", **signals) == ([7.0], [8.0], "where it was said")
    with pytest.raises(InputError, match="no state at which it could be linearised"):
        posed(monkeypatch, **(signals | {"x": (np.nan,) * 4}))


def test_outputs_with_a_path_of_their_own():
    wanted = (("y", 0), ("y", 1), ("z", 0), ("gone", 0))
    log = logged(y=T, y_d=T, z=T, gone_d=T)
    given = lambda reference: SimpleNamespace(
        demand=SimpleNamespace(reference=reference, wanted=wanted), log=log
    )
    path = lambda space: Sine(space, "start", (0.1,), 1.0)
    assert model.followed(given(path("output"))) == ["y"]
    assert model.followed(given(path("joint"))) == model.followed(given(None)) == []
