"""Re-check an exported certificate: Python's own integers and fractions, nothing else. Usage: python recheck.py file.json

Exit 0 and what is proved, or exit 1 and why not. Nothing here is shared with the program that wrote the file, and all of it
stands on this one page, so that somebody else can read it whole and take it elsewhere.

The file is one JSON object. Numbers are strings, so that nothing is rounded: hexadecimal floats ("0x1.8p+1") or fractions
("3/2"). Matrices are lists of rows. "≻ 0" is decided by exact elimination.

"format": "quadratic-certificate-1"
    time "continuous" | "sampled", matrices [A_1, A_2, …], P, rate, radius (matrix or null), X (matrix or null)
    Proves for every A with |A − A_i| ≤ radius, entry by entry: P = Pᵀ ≻ 0, and −AᵀP − PA − 2 rate P ≻ 0, or
    (1 − rate)²P − AᵀPA ≻ 0. With a radius both are taken as Xᵀ(…)X, XᵀPX ≻ 0, less row sums of what the radius can do.
"format": "sector-certificate-1"
    time, criterion "circle" | "popov" | "jury-lee", A, B, C, low, high, slope (or null), P, tau, lambda (rows)
    Proves global asymptotic stability of ẋ = A x − B φ(C x) (or x⁺) for every φ_i between low_i y and high_i y; popov and
    jury-lee: for φ that do not change with time, jury-lee with slope at most `slope`.
"format": "saturation-certificate-1"
    time, A, B, K, limit, P, G, tau (rows), inside: states, rows
    Proves for ẋ = A x + B sat(K x) (or x⁺), |sat_i| ≤ limit_i: every start with xᵀPx ≤ 1 goes to 0, all of `inside` among them.
"format": "terminal-certificate-1"
    A, B, Q, R, S, P, K, E, F, g, H, h, W, c, duals {radius, kept, limits}: multipliers, one row an inequality
    Proves for u = −K x: P ≻ 0 falls by ℓ = xᵀQx + 2xᵀSu + uᵀRu; {Hx ≤ h} is bounded, kept, and E x + F u ≤ g on it;
    ℓ ⪰ 0 and cℓ − ΔxᵀWx ≻ 0 in (x, u), W ≻ 0.
"""

import json
import sys
from fractions import Fraction

MOST_BYTES = 100_000_000  # of a file
LONGEST_NUMBER = 2000  # characters


class Refused(Exception):
    """The certificate does not prove what it says."""


def number(text):
    if not isinstance(text, str):
        raise Refused(f"a number must be a string, not {text!r:.60}")
    if len(text) > LONGEST_NUMBER:
        raise Refused(f"a number of {len(text)} characters")
    if "x" not in text and not set(text) <= set("-0123456789/"):
        raise Refused(f"not a number: {text!r:.60}")
    try:
        return Fraction(float.fromhex(text)) if "x" in text else Fraction(text)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise Refused(f"not a number: {text!r:.60}") from None


def matrix(data, rows=None, columns=None):
    M = [[number(v) for v in row] for row in data]
    if (
        not M
        or not M[0]
        or any(len(row) != len(M[0]) for row in M)
        or (rows or len(M)) != len(M)
        or (columns or len(M[0])) != len(M[0])
    ):
        raise Refused(f"a matrix of the wrong shape: {len(M)} rows, expected {rows}×{columns}")
    return M


def T(M):
    return [list(c) for c in zip(*M)]


def mul(A, B):
    columns = T(B)
    return [
        [sum((a * b for a, b in zip(row, c) if a and b), Fraction(0)) for c in columns] for row in A
    ]


def add(A, B, s=1):
    return [[a + s * b for a, b in zip(x, y)] for x, y in zip(A, B)]


def times(s, A):
    return [[s * a for a in row] for row in A]


def size(A):
    return [[abs(a) for a in row] for row in A]


def diagonal(v):
    return [[v[i] if i == j else Fraction(0) for j in range(len(v))] for i in range(len(v))]


def beside(A, B):
    return [x + y for x, y in zip(A, B)]


def definite(M, strict=True):
    """Exact elimination of the symmetric part."""
    A = add(M, T(M))
    for k in range(len(A)):
        p = A[k][k]
        if p < 0 or (strict and p == 0):
            return False
        if p == 0:
            if any(A[k][j] for j in range(k + 1, len(A))):
                return False
            continue
        for i in range(k + 1, len(A)):
            if A[i][k]:
                f = A[i][k] / p
                A[i] = [a - f * b for a, b in zip(A[i], A[k])]
    return True


def scaled(M, error):
    """Both between the same powers of two, M with a diagonal near 1: what M needs, its error's row sums see alike."""
    half = [
        Fraction(2) ** ((v.denominator.bit_length() - v.numerator.bit_length()) // 2)
        if (v := M[i][i]) > 0
        else 1
        for i in range(len(M))
    ]
    return [[[v * a * b for v, b in zip(row, half)] for row, a in zip(X, half)] for X in (M, error)]


def need(condition, why):
    if not condition:
        raise Refused(why)


def quadratic(d):
    n = len(d["P"])
    rate = number(d["rate"])
    P = matrix(d["P"], n, n)
    need(P == T(P) and definite(P), "P is not symmetric and positive definite")
    need(d["time"] in ("continuous", "sampled"), "time is neither continuous nor sampled")
    sampled = d["time"] == "sampled"
    need(rate >= 0 and (rate < 1 or not sampled), "the rate is out of range")
    need(d["matrices"], "no matrices")
    radius = None if d.get("radius") is None else size(matrix(d["radius"], n, n))
    X = diagonal([Fraction(1)] * n) if radius is None else matrix(d["X"], n, n)
    own = mul(mul(T(X), P), X)
    need(definite(own), "X is not invertible")
    for A in (matrix(M, n, n) for M in d["matrices"]):
        AX = mul(A, X)
        move = times(0, own) if radius is None else mul(radius, size(X))
        if sampled:
            fall = add(times((1 - rate) ** 2, own), mul(T(AX), mul(P, AX)), -1)
            half = add(
                mul(size(T(mul(P, AX))), move),
                times(Fraction(1, 2), mul(T(move), mul(size(P), move))),
            )
        else:
            cross = mul(T(X), mul(P, AX))
            fall = times(-1, add(add(cross, T(cross)), times(2 * rate, own)))
            half = mul(size(mul(T(X), P)), move)
        spent = add(half, T(half))
        fall, spent = scaled(fall, spent)
        need(
            definite(add(fall, diagonal([sum(row) for row in spent]), -1)),
            "V = xᵀPx does not fall at the rate stated",
        )
    unit = f"(1 − {float(rate):.6g})² a sample" if sampled else f"e^(−2·{float(rate):.6g} t)"
    return f"V = xᵀPx falls like {unit} for {len(d['matrices'])} stored matrices" + (
        " ± radius" if radius else ""
    )


def sector(d):
    n = len(d["A"])
    m = len(d["C"])
    A = matrix(d["A"], n, n)
    B = matrix(d["B"], n, m)
    C = matrix(d["C"], m, n)
    P = matrix(d["P"], n, n)
    need(d["time"] in ("continuous", "sampled"), "time is neither continuous nor sampled")
    sampled = d["time"] == "sampled"
    kind = d["criterion"]
    low, high, τ, λ = (matrix(d[k], 1, m)[0] for k in ("low", "high", "tau", "lambda"))
    need(P == T(P) and definite(P), "P is not symmetric and positive definite")
    need(all(v > 0 for v in τ) and all(v >= 0 for v in λ), "a multiplier has the wrong sign")
    need(all(a < b for a, b in zip(low, high)), "the sector is empty")
    need(
        kind == "circle" or (kind == "popov") != sampled and kind in ("popov", "jury-lee"),
        "criterion and time do not fit",
    )
    need(kind != "circle" or not any(λ), "the circle criterion has no λ")
    if kind != "circle":
        A = add(A, mul(mul(B, diagonal(low)), C), -1)
        slope = [s - a for s, a in zip(matrix(d["slope"], 1, m)[0], low)] if sampled else None
        low, high = [Fraction(0)] * m, [b - a for a, b in zip(low, high)]
    zero = [[Fraction(0)] * m for _ in range(n)]
    one = diagonal([Fraction(1)] * m)
    step = beside(A, times(-1, B))
    state = beside(diagonal([Fraction(1)] * n), zero)
    y = beside(C, diagonal([Fraction(0)] * m))
    w = beside(T(zero), one)
    form = mul(
        T(add(w, mul(diagonal(low), y), -1)), mul(diagonal(τ), add(mul(diagonal(high), y), w, -1))
    )
    if sampled:
        form = add(add(form, mul(T(step), mul(P, step))), mul(T(state), mul(P, state)), -1)
        if kind == "jury-lee":
            move = mul(C, add(step, state, -1))
            form = add(form, times(2, mul(T(w), mul(diagonal(λ), move))))
            form = add(form, mul(T(move), mul(diagonal([a * b for a, b in zip(λ, slope)]), move)))
    else:
        form = add(form, times(2, mul(T(state), mul(P, step))))
        form = add(form, times(2, mul(T(w), mul(diagonal(λ), mul(C, step)))))
    need(definite(times(-1, form)), "the Lyapunov function does not fall on the sector")
    return f"globally asymptotically stable for every nonlinearity in the sector ({kind})"


def saturation(d):
    n = len(d["A"])
    m = len(d["K"])
    A, B, K, P, G = (
        matrix(d[k], *size)
        for k, size in (("A", (n, n)), ("B", (n, m)), ("K", (m, n)), ("P", (n, n)), ("G", (m, n)))
    )
    limit = matrix(d["limit"], 1, m)[0]
    τ = matrix(d["tau"], 1, m)[0]
    need(d["time"] in ("continuous", "sampled"), "time is neither continuous nor sampled")
    need(P == T(P) and definite(P), "P is not symmetric and positive definite")
    need(all(v > 0 for v in (*limit, *τ)), "a limit or multiplier is not positive")
    own = add(A, mul(B, K))
    weigh = diagonal(τ)
    if d["time"] == "sampled":
        own_P = mul(T(own), P)
        fall = add(P, mul(own_P, own), -1)
        cross = add(mul(own_P, B), mul(T(G), weigh), -1)
        corner = add(times(2, weigh), mul(T(B), mul(P, B)), -1)
    else:
        half = mul(T(own), P)
        fall = times(-1, add(half, T(half)))
        cross = add(mul(P, B), mul(T(G), weigh), -1)
        corner = times(2, weigh)
    need(
        definite(beside(fall, cross) + beside(T(cross), corner)),
        "V = xᵀPx does not fall beyond the limits",
    )
    for row, u in zip(add(K, G, -1), limit):
        need(
            definite([[u * u, *row]] + [[a, *p] for a, p in zip(row, P)], strict=False),
            "the region reaches past its planes",
        )
    for x in d["inside"]:
        x = matrix([x], 1, n)
        need(mul(mul(x, P), T(x))[0][0] <= 1, "a state named is not inside")
    return f"every start with xᵀPx ≤ 1 goes to rest; {len(d['inside'])} named states are inside"


def terminal(d):
    n = len(d["A"])
    m = len(d["R"])
    A = matrix(d["A"], n, n)
    B = matrix(d["B"], n, m)
    K = matrix(d["K"], m, n)
    P = matrix(d["P"], n, n)
    Q = matrix(d["Q"], n, n)
    R = matrix(d["R"], m, m)
    S = matrix(d["S"], n, m)
    stage = beside(Q, S) + beside(T(S), R)
    own = add(A, mul(B, K), -1)
    cost_falls(P, own, K, stage)
    set_is_kept(d, own, K)
    state_is_seen(d, A, B, stage)
    return "the terminal cost falls by the stage cost, the terminal set is invariant and admissible"


def cost_falls(P, own, K, stage):
    """P ≻ 0 and P − (A − BK)ᵀP(A − BK) ⪰ ℓ under u = −K x."""
    law = diagonal([Fraction(1)] * len(P)) + times(-1, K)
    after = mul(T(own), mul(P, own))
    fall = add(add(P, after, -1), mul(T(law), mul(stage, law)), -1)
    need(
        definite(P) and definite(fall, strict=False),
        "the terminal cost does not fall by the stage cost",
    )


def set_is_kept(d, own, K):
    """{Hx ≤ h} is bounded, contains the origin, is kept by x⁺ = (A − BK) x, and the limits E x − F K x ≤ g stand on it."""
    n = len(own)
    E = matrix(d["E"], None, n)
    F = matrix(d["F"], None, len(K))
    H = matrix(d["H"], None, n)
    g = [number(v) for v in d["g"]]
    h = [number(v) for v in d["h"]]
    need(len(H) == len(h) and len(E) == len(F) == len(g), "limits and rows differ in number")
    need(all(v > 0 for v in h) and all(v >= 0 for v in g), "the origin is not inside")
    radius = radius_of(H, h, d["duals"]["radius"])
    for key, rows, limits in (("kept", mul(H, own), h), ("limits", add(E, mul(F, K), -1), g)):
        need(len(d["duals"][key]) == len(rows), f"{key}: a row without multipliers")
        for row, limit, y in zip(rows, limits, d["duals"][key]):
            value, left = bound(row, H, h, y)
            need(
                value + left * radius <= limit,
                f"{key}: a row is not shown kept on the terminal set",
            )


def radius_of(H, h, multipliers):
    """r with |x_i| ≤ r on {Hx ≤ h}: from ±x_i ≤ a + b max |x|, b < 1."""
    n = len(H[0])
    units = [[Fraction((1 - 2 * s) * (i == j)) for j in range(n)] for i in range(n) for s in (0, 1)]
    need(len(multipliers) == 2 * n, "a direction without multipliers")
    plain = [bound(e, H, h, y) for e, y in zip(units, multipliers)]
    a = max(v for v, _ in plain)
    b = max(v for _, v in plain)
    need(b < 1, "the terminal set is not shown bounded")
    return max(a, 0) / (1 - b)


def state_is_seen(d, A, B, stage):
    """ℓ ⪰ 0 and c ℓ − x⁺ᵀWx⁺ + xᵀWx ≻ 0 in (x, u), W ≻ 0, with x⁺ = A x + B u."""
    n = len(A)
    W = matrix(d["W"], n, n)
    c = number(d["c"])
    step = beside(A, B)
    state = [[Fraction(i == j) for j in range(len(stage))] for i in range(n)]
    after = mul(T(step), mul(W, step))
    before = mul(T(state), mul(W, state))
    seen = add(add(times(c, stage), after, -1), before)
    need(
        c > 0 and definite(W) and definite(stage, strict=False) and definite(seen),
        "the stage cost does not see the state",
    )


def bound(c, H, h, y):
    """(yᵀh, |c − Hᵀy|₁) for y ≥ 0: cᵀx ≤ their sum where |x_i| ≤ 1."""
    y = [number(v) for v in y]
    need(len(y) == len(H) and all(v >= 0 for v in y), "multipliers of the wrong number or sign")
    left = [
        v - sum((a * row[j] for a, row in zip(y, H) if a), Fraction(0)) for j, v in enumerate(c)
    ]
    return sum((a * b for a, b in zip(y, h) if a), Fraction(0)), sum(
        (abs(v) for v in left), Fraction(0)
    )


FORMATS = {
    "quadratic-certificate-1": quadratic,
    "sector-certificate-1": sector,
    "saturation-certificate-1": saturation,
    "terminal-certificate-1": terminal,
}


def recheck(document):
    """(accepted, what is proved or why not) for a parsed document."""
    try:
        kind = document.get("format") if isinstance(document, dict) else None
        if kind not in FORMATS:
            raise Refused(f"unknown format {kind!r:.60}")
        return True, FORMATS[kind](document)
    except Refused as reason:
        return False, str(reason)
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    ) as reason:
        return False, f"not a certificate of its format: {reason!r:.200}"


def content(path):
    """The text of a file, MOST_BYTES of it at most, whatever it is."""
    with open(path, encoding="utf-8") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES / 1e6:g} MB")
    return text


def main(arguments):
    if len(arguments) != 1:
        print("usage: python recheck.py file.json", file=sys.stderr)
        return 2
    try:
        document = json.loads(content(arguments[0]))
    except (OSError, ValueError, RecursionError) as reason:
        print(f"cannot read {arguments[0]}: {reason!s:.200}", file=sys.stderr)
        return 1
    accepted, words = recheck(document)
    print(("accepted: " if accepted else "refused: ") + words)
    return 0 if accepted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
