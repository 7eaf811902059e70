"""Plain data: what JSON holds, that is dicts with text keys, lists, numbers, text, truth values and null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from workbench.contract.errors import InputError

SIMPLE = frozenset((type(None), bool, int, float, str))


def plain(value: Any, where: str) -> Any:
    """`value` as JSON holds it (dicts with text keys, lists, numbers, text), or InputError naming the place."""
    if type(value) in SIMPLE:
        return value
    if type(value) is dict or isinstance(value, Mapping):  # the second takes long
        if odd := [k for k in value if type(k) is not str and not isinstance(k, str)]:
            raise InputError(f"{where}: key {odd[0]!r} is not text", mend="use text keys")
        return {
            str(k): v if type(v) in SIMPLE else plain(v, f"{where}.{k}") for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [v if type(v) in SIMPLE else plain(v, f"{where}.{i}") for i, v in enumerate(value)]
    if isinstance(value, (np.ndarray, np.generic)):
        return (
            plain(value.tolist(), where) if value.dtype.kind in "biufU" else _refuse(value, where)
        )
    for kind in (int, float, str):  # subclasses: enumerations, text with line numbers
        if isinstance(value, kind):
            return kind(value)
    return _refuse(value, where)


def _refuse(value, where) -> NoReturn:
    raise InputError(
        f"{where}: {type(value).__name__} is not plain data",
        mend="give numbers, text, lists and dictionaries of them",
    )
