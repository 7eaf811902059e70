"""A tube that leaves what its machine can do proves nothing about it: strokes and vacuum over every box that runs cross."""

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest

from tests.test_tube import ASKED, SINE, Integral, Throttled
from workbench import ClosedLoop, InputError, Sampled, Signal
from workbench.contract.machine_limits import Limit
from workbench.contract.parameters import Unit
from workbench.verification.run import run
from workbench.verification.tube import judged
from workbench.verification.tube import kept_limits as module
from workbench.verification.tube.claim_settings import free, widths
from workbench.verification.tube.posed import posed
from workbench.verification.verdict import Verdict


@dataclass(frozen=True)
class Walled(Throttled):
    """The chamber with a piston that has ends, whose length is told beside its states, and no vacuum in it."""

    stroke: Annotated[float, Unit("1")] = 1.0
    monitors = (Signal("length"),)

    def monitor(self, t, x, u):
        return [0.5 + 2 * x[1]]

    def machine_limits(self):
        return (
            Limit("length of piston", ("length",), low=0.0, high=self.stroke),
            Limit("vacuum in p", ("p",), low=-1.0),
            Limit("command", ("u",), low=-1e-9, high=1e-9, bearable=True),
        )


@pytest.fixture(scope="module")
def asked():
    """(run, question) of a loop whose plant has limits."""
    own = run(ClosedLoop(Walled(), Sampled(Integral(T=0.01), 0.01)), SINE)
    return own, posed(own, widths(ASKED, own.loop), 1, free(ASKED, own.loop))


def boxes(question, node, **ends):
    """What was seen of a tube: every state between −0.1 and 0.1, and at one node between these ends."""
    low = np.full((len(question.tube.z), question.tube.states), -0.1)
    high = -low
    for name, (least, most) in ends.items():
        i = question.states.index(name)
        low[node, i], high[node, i] = least, most
    return SimpleNamespace(low=low, high=high)


def beyond(asked, node=7, **ends):
    own, question = asked
    return module.beyond_limits(own, question, question.tube, boxes(question, node, **ends))


def test_limits_that_every_box_keeps_are_kept(asked):
    assert beyond(asked) == []
    assert beyond(asked, y=(-0.2499, 0.2499), p=(-0.9999, 50.0)) == []


@pytest.mark.parametrize("node", [0, 7, 300])
@pytest.mark.parametrize(
    "ends, name, edge",
    [
        ({"y": (-0.2501, 0.0)}, "length of piston", "0"),
        ({"y": (0.0, 0.2501)}, "length of piston", "1"),
        ({"p": (-1.001, 0.0)}, "vacuum in p", "-1"),
        ({"p": (-np.inf, np.inf)}, "vacuum in p", "-1"),
    ],
)
def test_one_box_that_leaves_a_limit_is_told(asked, node, ends, name, edge):
    (told,) = beyond(asked, node, **ends)
    assert told.startswith(f"{name} is only known to stay between")
    assert told.endswith(f"the machine's limit is {edge}")


@pytest.mark.parametrize("stroke, left", [((0.9, 1.2), 0), ((0.5, 1.0), 1), ((1.0, 1.0), 0)])
def test_a_limit_is_where_the_numbers_of_the_plant_leave_it_least(stroke, left):
    """The flow of the plant does not know its stroke: a range of it moves the limit alone."""
    own = run(ClosedLoop(Walled(), Sampled(Integral(T=0.01), 0.01)), SINE)
    claim = replace(ASKED, parameters={"stroke": stroke})
    question = posed(own, widths(claim, own.loop), 1, free(claim, own.loop))
    assert len(beyond((own, question), y=(0.0, 0.1))) == left


def test_numbers_that_no_machine_has_together_are_told(asked, monkeypatch):
    def refused(*_):
        raise InputError("p_s below p_r")

    monkeypatch.setattr(module, "tightest", refused)
    assert beyond(asked) == ["no machine has some of these numbers together: p_s below p_r"]


def test_a_node_that_no_sample_leaves_has_no_box(asked):
    """The last node of a tube that ends with the run."""
    assert beyond(asked, -1, y=(np.inf, -np.inf)) == []


def test_a_tube_that_leaves_a_limit_is_undecided(monkeypatch):
    c = SimpleNamespace(reach=np.ones((2, 1, 1)), section=np.array([0]))
    for name, value in {"beyond": [], "unconditional": [], "closing": 0.5, "notes": ()}.items():
        monkeypatch.setattr(
            judged, name, lambda *_, value=value: list(value) if value == [] else value
        )
    for name in ("told", "pace", "in_words", "bounds"):
        monkeypatch.setattr(judged, name, lambda *_, name=name: 1.0 if name == "pace" else {})
    said = partial(Verdict, "tube", "text")
    decided = partial(judged.decided, None, None, None, c, None, said)
    assert decided().holds
    left = decided(["length of piston may be 2 m"])
    assert left.holds is None and left.worst == "length of piston may be 2 m"


def test_both_ends_of_a_limit_are_those_of_the_worst_corner(monkeypatch):
    """Of two numbers, each at its two bounds: the highest low end, the lowest high end; what the machine bears is no limit."""

    def bound(loop, corner):
        a, b = corner["plant.a"], corner["plant.b"]
        limits = (Limit("s", ("s",), a, 10.0 + b), Limit("u", ("u",), bearable=True))
        return SimpleNamespace(plant=SimpleNamespace(machine_limits=lambda: limits))

    monkeypatch.setattr(module, "bind", bound)
    numbers = [SimpleNamespace(path="a", low=1.0, high=2.0), SimpleNamespace(path="b", low=-3.0, high=4.0)]  # fmt: skip
    (only,) = module.tightest(SimpleNamespace(plant=None), numbers)
    assert (only.name, only.low, only.high) == ("s", 2.0, 7.0)
