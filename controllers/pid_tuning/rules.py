"""From a critical gain and period to PID gains: named rules. None of them promises a margin; `record` says what came of it.

    rule              structure   K_p                 T_i              T_d
    ziegler-nichols   P           0.5 K_u
                      PI          0.45 K_u            T_u/1.2
                      PID         0.6 K_u             T_u/2            T_u/8
    tyreus-luyben     PI          K_u/3.2             2.2 T_u
                      PID         K_u/2.2             2.2 T_u          T_u/6.3
    astrom-hagglund   PI          0.22 K_u            1.375 T_u                            integrating plants
                      PID         0.3 K_u             0.6 T_u          0.15 T_u

K_i = K_p/T_i, K_d = K_p T_d, filter τ = T_d/N. The Åström–Hägglund rows are theirs for plants with an integrator (as a position
behind a valve is): the PI rule k_p = 0.22 k_c − 0.07/G(0), k_i = 0.16 k_c/T_c + 0.62/(G(0) T_c), and for PID
K_p = (0.3 − 0.1 κ⁴) K_u, T_i = 0.6 T_u/(1 + 2κ), T_d = 0.15 (1 − κ) T_u/(1 − 0.95 κ), with κ = 1/(G(0) K_u) = 0.

Source: [ZieglerNichols42]; [TyreusLuyben92]; [AstromMurray08] section 10.3 (PI), [Astrom06] chapter 7 (PID).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from workbench.contract.errors import InputError

Rule = Literal["ziegler-nichols", "tyreus-luyben", "astrom-hagglund"]
Structure = Literal["P", "PI", "PID"]

# (K_p/K_u, T_i/T_u, T_d/T_u)
_RULES: dict[tuple[str, str], tuple[float, float, float]] = {
    ("ziegler-nichols", "P"): (0.5, float("inf"), 0.0),
    ("ziegler-nichols", "PI"): (0.45, 1 / 1.2, 0.0),
    ("ziegler-nichols", "PID"): (0.6, 1 / 2, 1 / 8),
    ("tyreus-luyben", "PI"): (1 / 3.2, 2.2, 0.0),
    ("tyreus-luyben", "PID"): (1 / 2.2, 2.2, 1 / 6.3),
    ("astrom-hagglund", "PI"): (0.22, 0.22 / 0.16, 0.0),
    ("astrom-hagglund", "PID"): (0.3, 0.6, 0.15),
}


class Gains(NamedTuple):
    """Gains of the parallel form K_p + K_i/s + K_d s/(τ s + 1); τ is 0 where there is no derivative."""

    K_p: float
    K_i: float
    K_d: float
    τ: float


def gains(
    K_u: float,
    T_u: float,
    rule: Rule = "tyreus-luyben",
    structure: Structure = "PI",
    N: float = 10.0,
) -> Gains:
    """Gains by a rule, see `controllers.pid_tuning.rules`.

    Raises InputError for rules that do not exist, and K_u, T_u, N that are not positive.
    """
    if rule not in get_args(Rule) or (rule, structure) not in _RULES:
        known = ", ".join(f"{r} {s}" for r, s in _RULES)
        raise InputError(f"there is no rule {rule!r} for {structure}", mend=f"choose from {known}")
    for name, value in (("K_u", K_u), ("T_u", T_u), ("N", N)):
        if not 0 < value < float("inf"):
            raise InputError(
                f"{name}: {value}; expected a number above 0",
                mend="take it from a relay experiment that settled",
            )
    share, T_i, T_d = _RULES[rule, structure]
    K_p = share * K_u
    return Gains(K_p, K_p / (T_i * T_u), K_p * T_d * T_u, T_d * T_u / N)
