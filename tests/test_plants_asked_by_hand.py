"""What is asked of plants and laws near rest and in searches, by hand: direct parts, numbers that may vary, laws that remember."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest
from small import Linear

from workbench import InputError, Scenario, Signal
from workbench.contract.parameters import Unit, positive
from workbench.contract.plain import Plain
from workbench.verification.cause import around
from workbench.verification.linear.loop import Point, flat
from workbench.verification.practical.later import timed
from workbench.verification.practical.switches.own_plant import OnOwnPlant
from workbench.verification.search.of_plant import Number, Scaled


@dataclass(frozen=True)
class Spring(Linear):
    """A mass on a spring, of which three numbers may vary."""

    spring: Annotated[float, Unit("N/m"), positive] = 7.0
    damper: Annotated[float, Unit("N s/m")] = 0.5
    third: Annotated[float, Unit("N/m"), positive] = 0.0

    @property
    def outputs(self):
        return (Signal("a", "m"), Signal("b", "m"))


PLANT = Spring(((0.0, 1.0), (-7.0, -0.5)), ((0.0,), (2.0,)), ((1.0, 0.0), (0.0, 1.0)))


def loop(measured, D):
    law = SimpleNamespace(
        commands=(Signal("u0", "1"),), measured=tuple(Signal(n, "m") for n in measured)
    )
    return SimpleNamespace(plant=PLANT, controller=law), np.array(D)


@pytest.mark.parametrize(
    "measured, D, refused",
    [
        (("a", "b"), [[0.0], [3.0]], True),
        (("b", "a"), [[0.0], [3.0]], True),
        (("a",), [[0.0], [3.0]], False),
        (("b",), [[0.0], [3.0]], True),
        (("a", "b"), [[0.0], [0.0]], False),
    ],
)
def test_one_measurement_that_follows_the_commands_at_once_is_refused(
    monkeypatch, measured, D, refused
):
    own, D = loop(measured, D)
    C = np.array([[1.0, 0.0], [0.0, 5.0]])
    found = SimpleNamespace(A="A", B="B", C=C, D=D)
    asked = []
    monkeypatch.setattr(
        "workbench.verification.linear.loop.linearize",
        lambda plant, x, u, inputs: asked.append((x, u, inputs)) or found,
    )
    where = Point([0.1, 0.2], [0.3], "")
    if refused:
        with pytest.raises(InputError, match="follows the commands directly"):
            flat(own, where)
        return
    A, B, rows = flat(own, where)
    assert (A, B) == ("A", "B") and rows.tolist() == [
        C[["a", "b"].index(n)].tolist() for n in measured
    ]
    assert asked == [([0.1, 0.2], [0.3], ["u0"])]


# ---- numbers of a plant that may vary ------------------------------------------------------------------------------------------
def test_a_number_that_may_vary_begins_where_it_is_and_has_no_range_yet():
    given = SimpleNamespace(plant=PLANT), Scenario(1.0)
    (found,) = Number().named(*given, "spring")
    assert (found.low, found.high, found.nominal, found.unit) == (0.0, 0.0, 7.0, "N/m")
    assert found.least == 0.0 and found.most == np.inf and not found.whole
    (scaled,) = Scaled().named(*given, "scale.spring")
    assert (scaled.low, scaled.high, scaled.nominal, scaled.unit) == (0.0, 0.0, 1.0, "1")
    assert scaled.least == 0.0 and scaled.kind.values(scaled, 2.0) == {"spring": 14.0}
    with pytest.raises(InputError, match="nothing of the plant is there to be multiplied"):
        Scaled().named(*given, "scale.third")


# ---- laws called from Python near rest -----------------------------------------------------------------------------------------
class Function:
    """Without memory."""

    def __call__(self, t, y, r):
        return [0.0]


class Steps(Function):
    def step(self, t, z, y, r):
        return z, [0.0]


class Remembers(Function):
    def initial(self):
        return (0.0,)


@pytest.mark.parametrize("law, examined", [(Function, True), (Steps, False), (Remembers, False)])
def test_a_called_law_with_memory_of_either_kind_is_not_examined(monkeypatch, law, examined):
    plain = object.__new__(Plain)
    object.__setattr__(plain, "law", law())
    monkeypatch.setattr(around, "innermost", lambda controller: plain)
    monkeypatch.setattr(around, "slopes", lambda run, measured: np.array([[2.0, -3.0]]))
    monkeypatch.setattr(around, "_delay", lambda loop: 0.25)
    own = SimpleNamespace(
        measured=(Signal("a", "m"), Signal("b", "m")), commands=(Signal("u", "V"),)
    )
    found = around._law(None, SimpleNamespace(period=0.5, controller=own))
    assert (found is not None) is examined
    if examined:
        assert found.D.tolist() == [[2.0, -3.0]] and (found.T, found.delay) == (0.5, 0.25)
        assert found.A.shape == (0, 0) and found.B.shape == (0, 2) and found.C.shape == (1, 0)
    monkeypatch.setattr(around, "slopes", lambda run, measured: None)
    assert around._law(None, SimpleNamespace(period=0.5, controller=own)) is None


# ---- loops that know the time --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize(
    "clocks, flow, jump, looked",
    [
        ({}, 0, 0, False),
        ({2: (0.0, 1.0)}, 0, 0, True),
        ({}, 1, 0, True),
        ({}, 0, 1, True),
        ({2: (0.0, 1.0)}, 1, 1, True),
    ],
)
def test_only_a_loop_with_a_clock_or_time_in_it_is_looked_at_later(
    monkeypatch, period, clocks, flow, jump, looked
):
    """A loop in continuous time is not asked for its jumps."""
    made = lambda n: SimpleNamespace(jac_sparsity=lambda i, k: SimpleNamespace(nnz=lambda: n))
    traced = SimpleNamespace(flow=made(flow), jump=made(jump))
    monkeypatch.setattr(timed, "trace", lambda loop, live: traced)
    asked = []
    monkeypatch.setattr(timed, "_clocks", lambda run, last: asked.append(last) or clocks)
    monkeypatch.setattr(timed, "of_time", lambda traced, maps, clocks: (maps, clocks))
    monkeypatch.setattr(timed, "_rows", lambda run: [])
    monkeypatch.setattr(timed, "_first", lambda run, asked, what: "later")
    demand = SimpleNamespace(live=())
    run = SimpleNamespace(loop=SimpleNamespace(period=period, states=()), demand=demand)
    there = looked if period or not jump else bool(clocks or flow)
    assert timed.of_traced(run) == ("later" if there else "")
    assert asked == [traced.flow if period is None else traced.jump]


def test_switches_of_a_plant_come_behind_those_of_its_law():
    """Two of the law, of which the second is a condition; then those of the plant."""
    notes = SimpleNamespace(texts=["a", "b"])
    law = SimpleNamespace(notes=notes, is_condition=lambda k: k in (1, 2), parts=lambda k: [0])
    own = OnOwnPlant(law, None)
    assert [own.is_condition(k) for k in range(4)] == [False, True, False, False]
    assert [own.parts(k) for k in range(3)] == [[], [0], []]
