"""A proportional gain that is 0, named as the cause where nothing else is found."""

from types import SimpleNamespace

import pytest

from controllers import OpenLoop
from workbench.cases.file import loads
from workbench.verification.cause.idle import without_gain

TWO = """
plant: hiab-xs031
controller: {{law: PID, K_p: {K_p}, K_i: {K_i}}}
"""


def caused(law):
    return without_gain(SimpleNamespace(loop=SimpleNamespace(controller=law)))


def crane(K_p, K_i):
    return loads(TWO.format(K_p=K_p, K_i=K_i), "case.yaml").controller


def test_every_command_without_a_proportional_gain_is_told_with_what_it_should_move():
    assert caused(crane("[40, 0, 100]", "5")).words == (
        "controller.K_p of u_2 is 0: integral action alone brings x_2 to its reference"
    )
    told = caused(crane("[0, 40, 0]", "[0, 0, 5]")).words
    assert told == (
        "controller.K_p of u_1 is 0: nothing brings x_1 to its reference; "
        "controller.K_p of u_t2 is 0: integral action alone brings x_t2 to its reference"
    )


@pytest.mark.parametrize("K_p", ["[40, 40, 100]", "40"])
def test_a_law_whose_gains_act_has_no_such_cause(K_p):
    assert caused(crane(K_p, "0")) is None


def test_other_laws_have_no_such_gain():
    assert caused(OpenLoop()) is None
