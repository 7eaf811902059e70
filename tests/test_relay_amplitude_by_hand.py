"""How large a relay is switched, within the limits of a command that are not the same both ways."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid_tuning.experiment import RelayExperiment, _amplitude
from workbench.contract.errors import InputError

U = SimpleNamespace(name="u", unit="V")
UNEVEN = SimpleNamespace(limits=lambda: {"u": (-4.0, 10.0)})
FREE = SimpleNamespace(limits=dict)


@pytest.mark.parametrize(
    "plant, law, given, bias, found",
    [
        (UNEVEN, None, None, 0.0, 0.4),  # a tenth of the nearer limit
        (UNEVEN, SimpleNamespace(u_max=8.0), None, 0.0, 0.8),
        (UNEVEN, None, 3.5, 0.5, 3.5),
        (UNEVEN, None, 3.5, -0.5, 3.5),
        (FREE, None, 1e6, 1e6, 1e6),
    ],
)
def test_how_large_a_relay_is(plant, law, given, bias, found):
    assert _amplitude(plant, law, U, given, bias) == pytest.approx(found)


@pytest.mark.parametrize("given, bias", [(3.5, 0.51), (3.5, -0.51), (4.01, 0.0), (None, 3.7)])
def test_a_relay_that_leaves_the_limit_is_refused(given, bias):
    with pytest.raises(InputError, match="leave the limit of u, 4 V"):
        _amplitude(UNEVEN, None, U, given, bias)


def test_without_a_limit_it_must_be_said():
    with pytest.raises(InputError, match="relay: how large"):
        _amplitude(FREE, None, U, None, 0.0)


def test_a_record_is_told_without_its_run():
    log = SimpleNamespace(values=np.arange(1000.0))
    shown = repr(RelayExperiment(True, "", 0.5, 0.0, 0.0, 0.01, log))
    assert "values" not in shown and "d=0.5" in shown
