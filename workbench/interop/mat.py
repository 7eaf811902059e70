"""Linear systems as MAT-files: A, B, C, D, the sample time and the names, for MATLAB's `ss(A, B, C, D, Ts)`, and back."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.system import System
from workbench.files.atomic import check_writable, write_atomic
from workbench.interop.control import from_control, to_control

MARK = "fluidproof_names"
MATRICES = ("A", "B", "C", "D")


def to_mat(system: Any, path: str | os.PathLike, **point: Any) -> None:
    """A linear system as a MAT-file with A, B, C, D and Ts (s, 0: continuous).

    system: a python-control StateSpace, or a plant or loop, which is linearised as by `to_control(system, linear=True, **point)`.
    Raises InputError as that does, and where the file cannot be written.
    """
    import control
    from scipy.io import savemat

    check_writable(path)
    sys = to_control(system, linear=True, **point) if isinstance(system, System) else system
    if not isinstance(sys, control.StateSpace):
        raise InputError(
            f"to_mat: {type(sys).__name__} has no matrices A, B, C, D",
            mend="give a plant, a loop, or a control.StateSpace (control.ss(…))",
        )
    if sys.dt is True:
        raise InputError(
            f"to_mat: {sys.name} is sampled, and does not say how often",
            mend="give it a sample time: control.ss(A, B, C, D, dt)",
        )
    names = {
        "name": sys.name,
        "states": list(sys.state_labels),
        "inputs": list(sys.input_labels),
        "outputs": list(sys.output_labels),
    }
    content: dict[str, Any] = {key: np.atleast_2d(getattr(sys, key)) for key in MATRICES}
    content |= {"Ts": float(sys.dt or 0.0), MARK: json.dumps(names)}
    write_atomic(path, lambda stream: savemat(stream, content))


def from_mat(path: str | os.PathLike) -> System:
    """The plant of a MAT-file with matrices A, B, C and, if it likes, D, Ts and names, as `to_mat` writes them.

    Raises InputError for a file without them, for a sampled system, and as `from_control`; objects of MATLAB (`ss`) are not
    read: save their matrices.
    """
    import control

    from workbench.files.packed import read_packed

    where = os.fspath(path)
    found = read_packed(where, "matrices")
    missing = [key for key in "ABC" if key not in found.columns]
    if missing:
        raise InputError(
            f"there is no matrix {', '.join(missing)}; it holds {', '.join(sorted(found.columns)[:8]) or 'no numbers'}",
            file=where,
            mend="in MATLAB: [A,B,C,D] = ssdata(sys); Ts = sys.Ts; save('sys.mat','A','B','C','D','Ts')",
        )
    try:
        M = {key: v.reshape(found.shapes[key]) for key, (_, v) in found.columns.items()}
        sample_time = float(M["Ts"].ravel()[0]) if "Ts" in M and M["Ts"].size else 0.0
        D = M.get("D", np.zeros((len(M["C"]), M["B"].shape[1])))
        whole = {"remove_useless_states": False, **_names(found)}
        sys = control.StateSpace(M["A"], M["B"], M["C"], D, sample_time or 0, **whole)
    except (ValueError, TypeError, KeyError, RecursionError) as why:
        raise InputError(
            f"its matrices make no linear system ({short(' '.join(str(why).split()))})",
            file=where,
            mend="A is n×n, B n×m, C p×n, D p×m, with a name for each state, input and output",
        ) from None
    try:
        return from_control(sys)
    except InputError as why:
        raise InputError(why.message, file=where, mend=why.mend) from None


def _names(found: Any) -> dict[str, Any]:
    """Names as `to_mat` wrote them; none where there are none."""
    text = found.attributes.get(MARK)
    if not isinstance(text, str):
        return {}
    given = json.loads(text)
    lists = {key: [str(v) for v in given[key]] for key in ("states", "inputs", "outputs")}
    return {"name": str(given["name"]), **lists}
