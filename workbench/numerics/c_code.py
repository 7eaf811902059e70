"""Graphs as text in C: CasADi's code generation, what stands before it, and the library that comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from workbench.numerics.compiler import library

MOST_OPERATIONS = 40_000  # beyond this a compiler takes minutes: stay in the virtual machine


def generated(
    functions: list[ca.Function], defines: dict[str, object], tail: str = "", numbers: str = ""
) -> str:
    """C source of the functions, named as given, preceded by #defines and what `numbers` are, and followed by `tail`."""
    generator = ca.CodeGenerator(
        "fluidproof_part", {"with_header": False, "casadi_int": "long long int"}
    )
    for f in functions:
        generator.add(f)
    text = generator.dump()
    head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return head + numbers + text + "\n" + tail


def library_of(
    functions: list[ca.Function], defines: dict[str, object], tail: str = "", numbers: str = ""
) -> Any:
    """The loaded library of what `generated` writes; None without a compiler."""
    return library(generated(functions, defines, tail, numbers))


def address(array: np.ndarray | None) -> int:
    """Address of a C-contiguous float64 array (0 for None)."""
    return 0 if array is None else array.ctypes.data


def own_text(name: str) -> str:
    """A file of C beside this one: lanes.h and functions.h, what a number is and its functions; driver.c, the loop over samples."""
    return (Path(__file__).parent / name).read_text("utf-8")


# What stands before the functions of a loop.
NUMBERS = own_text("lanes.h") + own_text("functions.h")


def together(*functions: ca.Function) -> ca.Function:
    """Functions of the same arguments as one, results one below the other: what they share is computed once."""
    f = functions[0]
    arguments = [ca.SX.sym(f.name_in(i), f.size1_in(i)) for i in range(f.n_in())]
    values = ca.cse(ca.vertcat(*[ca.densify(g(*arguments)) for g in functions]))
    return ca.Function("together", arguments, [values], f.name_in(), ["y"])


def renamed(f: ca.Function, name: str) -> ca.Function:
    """This function under another name."""
    arguments = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]
    return ca.Function(name, arguments, f.call(arguments), f.name_in(), f.name_out())
