"""A trace is never older than the text: globals, methods, closures, modules and partials that
change are seen.
"""

import functools
import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from plants import machine
from workbench import ClosedLoop, Controller, Scenario, Signal, System, linearize, simulate
from workbench.contract.own_text import own_version
from workbench.contract.parameters import digest, graph_key
from workbench.contract.reach import reached, steady
from workbench.numerics.calculus import trace

GAIN = 2.0
TABLE = {"gains": [1.0, 2.0]}
PARTS = SimpleNamespace(gain=2.0)
ROW = np.array([1.0, 2.0])


def helper(x):
    return GAIN * x


def twice(x):
    return 2 * x


@dataclass(frozen=True)
class Lag(System):
    """ẋ = u − x, measured x."""

    states = outputs = (Signal("x"),)
    inputs = (Signal("u"),)

    def initial(self):
        return [1.0]

    def rhs(self, t, x, u):
        return [u[0] - x[0]]

    def out(self, t, x):
        return list(x)


@dataclass(frozen=True)
class Law(Controller):
    """u = −f(x), f a function that the law holds."""

    f: object
    measured = (Signal("x"),)
    commands = (Signal("u"),)

    def command(self, t, z, y, r):
        return [-self.f(y[0])]


class Inherited(Law):
    """The same law, its method from the class above."""


def gain_of(law) -> float:
    """What the traced loop does: k of ẋ = −(1 + k) x."""
    return -1.0 - float(linearize(ClosedLoop(Lag(), law), [0.7]).A[0, 0])


def closing(values):
    return lambda x: values[-1] * x


def nested(x):
    def inner(y):
        return helper(y)

    return inner(x)


def comprehended(x):
    return sum([g * x for g in TABLE["gains"]])


def attributed(x):
    return PARTS.gain * x


def rowed(x):
    return ROW[1] * x


def scaled(x, by):
    return by[0] * x


def with_default(x, k=3.0):
    return k * x


def test_a_global_that_changes(monkeypatch):
    for law in (Law(helper), Law(nested), Inherited(helper), Law(functools.partial(helper))):
        monkeypatch.setitem(globals(), "GAIN", 2.0)
        assert gain_of(law) == pytest.approx(2.0)
        monkeypatch.setitem(globals(), "GAIN", 5.0)
        assert gain_of(law) == pytest.approx(5.0)
        monkeypatch.setitem(globals(), "GAIN", 2.0)
        assert gain_of(law) == pytest.approx(2.0)


def test_values_that_change_where_they_are(monkeypatch):
    monkeypatch.setitem(TABLE, "gains", [1.0, 2.0])
    assert gain_of(Law(comprehended)) == pytest.approx(3.0)
    TABLE["gains"].append(4.0)
    assert gain_of(Law(comprehended)) == pytest.approx(7.0)
    assert gain_of(Law(attributed)) == pytest.approx(2.0)
    monkeypatch.setattr(PARTS, "gain", 6.0)
    assert gain_of(Law(attributed)) == pytest.approx(6.0)
    assert gain_of(Law(rowed)) == pytest.approx(2.0)
    before = ROW[1]
    ROW[1] = 9.0
    assert gain_of(Law(rowed)) == pytest.approx(9.0)
    ROW[1] = before


def test_a_list_that_a_function_closes_over():
    values = [2.0]
    law = Law(closing(values))
    assert gain_of(law) == pytest.approx(2.0)
    values.append(3.5)
    assert gain_of(law) == pytest.approx(3.5)


def test_a_partial_and_a_default(monkeypatch):
    by = [2.0]
    law = Law(functools.partial(scaled, by=by))
    assert gain_of(law) == pytest.approx(2.0)
    by[0] = 4.0
    assert gain_of(law) == pytest.approx(4.0)
    assert gain_of(Law(with_default)) == pytest.approx(3.0)
    monkeypatch.setattr(with_default, "__defaults__", (8.0,))
    assert gain_of(Law(with_default)) == pytest.approx(8.0)


def test_a_helper_that_is_defined_again(monkeypatch):
    law = Law(lambda x: helper(x))
    assert gain_of(law) == pytest.approx(2.0)
    monkeypatch.setitem(globals(), "helper", twice)
    monkeypatch.setitem(globals(), "GAIN", 77.0)
    assert gain_of(law) == pytest.approx(2.0)
    monkeypatch.setattr(twice, "__code__", (lambda x: 11 * x).__code__)
    assert gain_of(law) == pytest.approx(11.0)


@pytest.mark.parametrize("kind", (Law, Inherited))
def test_a_method_replaced_on_the_class(monkeypatch, kind):
    law = kind(twice)
    assert gain_of(law) == pytest.approx(2.0)
    monkeypatch.setattr(Law, "command", lambda self, t, z, y, r: [-7.0 * y[0]])
    assert gain_of(law) == pytest.approx(7.0)
    monkeypatch.undo()
    assert gain_of(law) == pytest.approx(2.0)


def test_a_method_that_a_subclass_gains(monkeypatch):
    law = Inherited(twice)
    assert gain_of(law) == pytest.approx(2.0)
    monkeypatch.setattr(Inherited, "command", lambda self, t, z, y, r: [-7.0 * y[0]], raising=False)
    assert gain_of(law) == pytest.approx(7.0)


def test_an_attribute_of_a_module(monkeypatch):
    gains = ModuleType("gains_of_a_user")
    gains.inner = ModuleType("gains_of_a_user.inner")
    gains.inner.k = 2.0
    monkeypatch.setitem(globals(), "gains", gains)
    law = Law(lambda x: gains.inner.k * x)
    assert gain_of(law) == pytest.approx(2.0)
    gains.inner.k = 3.0
    assert gain_of(law) == pytest.approx(3.0)
    monkeypatch.setitem(sys.modules, "gains_of_a_user", gains)

    def importing(x):
        import gains_of_a_user

        return gains_of_a_user.inner.k * x

    assert gain_of(Law(importing)) == pytest.approx(3.0)
    gains.inner.k = 4.0
    assert gain_of(Law(importing)) == pytest.approx(4.0)


def test_a_plant_that_is_no_dataclass_and_changes():
    class Plain(System):
        states = (Signal("x"),)
        inputs = ()

        def __init__(self, k):
            self.k = k

        def initial(self):
            return [1.0]

        def rhs(self, t, x, u):
            return [-self.k * x[0]]

    plant = Plain(2.0)
    assert linearize(plant, [1.0]).A[0, 0] == pytest.approx(-2.0)
    plant.k = 3.0
    assert linearize(plant, [1.0]).A[0, 0] == pytest.approx(-3.0)


def test_arrays_inside_lists_are_told_apart():
    """Whose text is rounded and cut."""

    def holding(last):
        return Law([np.array([*range(2000), 1.0 + last])])

    assert graph_key(holding(0.0)) == graph_key(holding(0.0))
    assert graph_key(holding(0.0)) != graph_key(holding(1e-12))


def test_a_method_of_this_library_replaced(monkeypatch):
    """A shipped law patched in a notebook, and back."""
    crane = machine("hiab-xs031").plant.locked(extension=0.37)
    loop = ClosedLoop(crane, PID(crane))
    before, key = own_version(), graph_key(loop)
    monkeypatch.setattr(PID, "command", lambda self, t, z, y, r: [0.0] * len(self.commands))
    assert own_version() != before and graph_key(loop) != key
    monkeypatch.undo()
    assert own_version() == before and graph_key(loop) == key


def test_what_does_not_change_keeps_its_trace():
    """Nothing is traced again for nothing: equal laws, other numbers, modules imported later, a run
    in between.
    """
    loop = ClosedLoop(Lag(), Law(helper))
    first = trace(loop, ())
    simulate(loop, Scenario(0.01), compiled=False)
    sys.modules.setdefault("imported_later", ModuleType("imported_later"))
    assert trace(ClosedLoop(Lag(), Law(helper)), ()) is first
    assert own_version() == own_version()
    assert reached([helper]) == reached([helper]) != reached([twice])


def test_the_digest_of_a_run_is_free_of_addresses():
    """`digest` goes into logs: code, numbered by this process, is no part of it."""
    law = Law(helper)
    before = digest(law)
    assert graph_key(law) != graph_key(law, traced=False)
    assert digest(law) == before == digest(Law(helper))


def test_cycles_end():
    """A function that calls itself, objects that hold each other, a list that contains itself."""

    def falling(n):
        return 1.0 if n == 0 else falling(n - 1)

    one, other, ring = SimpleNamespace(), SimpleNamespace(), []
    one.other, other.one = other, one
    ring.append(ring)
    text = reached([falling, one, ring])
    assert text == reached([falling, one, ring])
    one.gain = 1.0
    assert text != reached([falling, one, ring])


def test_in_a_steady_block_code_is_looked_at_once(monkeypatch):
    law = Law(helper)
    before = graph_key(law)
    with steady():
        inside = graph_key(law)
        monkeypatch.setitem(globals(), "GAIN", 3.0)
        assert graph_key(law) == inside == before
        with steady():
            assert graph_key(law) == inside
        assert graph_key(law) == inside  # the inner block ends nothing
    assert graph_key(law) != before
