"""Every field of every law and plant answers odd values with a sentence that names it, or what it was compared with."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from objects import classes, sound

import controllers
import plants
from workbench import InputError
from workbench.contract.kinds import declared, options
from workbench.contract.parameters import Bound

ODD = {
    "None": None,
    "text": "x",
    "no text": "",
    "NaN": math.nan,
    "infinite": math.inf,
    "negative": -1.0,
    "zero": 0.0,
    "no float holds it": 10**400,
    "array": np.array([1.0, 2.0]),
    "no entries": (),
    "too many": (1.0,) * 99,
    "a hole": (None, 1.0),
    "unequal": ((1.0, 2.0), (3.0,)),
    "mapping": {"x": None},
    "class": int,
    "object": object(),
}
OWN = {
    path: cls
    for path, cls in classes().items()
    if path.startswith(("controllers.", "plants.")) and sound(path, cls) is not None
}
# Words a refusal may begin with in place of a field's name.
SPEAKING = ("four-bar: ", "no linear–quadratic gain", "linearize: ", "MPC: ", "PID: ", "over ")


def never(hint) -> set[str]:
    """Names in ODD of what no field with this annotation may take."""
    possible = options(hint)
    if Any in possible:
        return set()
    refused = {"NaN", "no float holds it", "array", "a hole", "object"}
    if None not in possible:
        refused.add("None")
    if possible == (float,):
        refused |= {"text", "no text", "no entries", "too many", "mapping", "class", "infinite"}
    bounds = [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Bound)]
    if any(bound.low >= 0.0 for bound in bounds):
        refused.add("negative")
    if any(bound.low >= 0.0 and bound.strict for bound in bounds):
        refused.add("zero")
    return refused


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", OWN)
def test_a_field_takes_no_odd_value(path):
    cls = OWN[path]
    healthy = sound(path, cls)
    dataclasses.replace(healthy)
    known = [field.name for field in dataclasses.fields(cls)]
    for field, hint in declared(cls):
        for name, value in ODD.items():
            try:
                dataclasses.replace(healthy, **{field: value})
            except InputError as why:
                named = any(word in str(why) for word in known)
                assert named or str(why).startswith(SPEAKING), (field, name, str(why))
            else:
                assert name not in never(hint), f"{field} takes {name}"


def test_every_law_and_every_plant_is_among_them():
    """Public names that are classes with fields: none is left out, but results and functions."""
    left_out = {"PlanarCrane", "WholeCrane", "BaseMotion"}  # filled by functions; references
    tried = {cls for cls in OWN.values()}
    for package in (controllers, plants):
        for name in package.__all__:
            thing = getattr(package, name)
            fields = dataclasses.is_dataclass(thing) and dataclasses.fields(thing)
            if fields and name not in left_out:
                assert thing in tried, name


def test_a_gain_that_is_none_is_told_by_its_name():
    crane = plants.machine("hiab-xs031").plant.locked(extension=0.37)
    assert controllers.VDC(crane, λ=(3.0, 5.0)).λ == (3.0, 5.0)
    with pytest.raises(InputError, match="^λ: expected a finite number in 1/s, got None"):
        controllers.VDC(crane, λ=None)
    with pytest.raises(InputError, match="^model: expected System, got None"):
        controllers.PID(None)
