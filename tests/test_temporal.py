"""The language of requirements: what is read, what is refused and with which words, and that hostile text ends in a sentence."""

import random

import pytest

from workbench.contract.dimensions import alike, multiplied, root
from workbench.contract.errors import InputError
from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.cursor import DEEPEST
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.terms import Units
from workbench.verification.temporal.tokens import LONGEST

TABLE = {
    "tool_error": "m",
    "p_a1": "Pa",
    "p_b1": "Pa",
    "q_1": "rad",
    "dq_1": "rad/s",
    "s": "m",
    "ds": "m/s",
    "f_1": "N",
    "u_1": "V",
    "n": "1",
    "odd name": "m",
}


def shape(part):
    """A formula as nested tuples, without places."""
    if isinstance(part, S.Comparison):
        return part.operator
    if isinstance(part, S.Not):
        return ("not", shape(part.part))
    if isinstance(part, S.Junction):
        return (part.kind, *map(shape, part.parts))
    if isinstance(part, S.Until):
        return (part.kind, shape(part.left), shape(part.right))
    return (part.kind, (part.interval.begin, part.interval.end), shape(part.part))


INF = float("inf")


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("always[2 s, 30 s] (tool_error < 5 mm)", ("always", (2, 30), "<")),
        ("always n < 1 and n > 0", ("and", ("always", (0, INF), "<"), ">")),
        ("n < 1 or n > 2 and n > 0", ("or", "<", ("and", ">", ">"))),
        ("n < 1 implies n < 2 implies n < 3", ("or", ("not", "<"), ("or", ("not", "<"), "<"))),
        ("not n < 1 and n > 0", ("and", ("not", "<"), ">")),
        ("n < 1 until[1 s, 500 ms + 0] n > 1", None),
        ("n < 1 until[500 ms, 1 s] always n > 1", ("until", "<", ("always", (0, INF), ">"))),
        ("n < 1 and n <= 2 until n > 1", ("and", "<", ("until", "<=", ">"))),
        ("(n < 1 since n > 1) until n >= 3", ("until", ("since", "<", ">"), ">=")),
        ("1 bar < p_a1 <= 200 bar", ("and", "<", "<=")),
        ("((p_a1 - p_b1)) < ((200 bar))", "<"),
        (
            "historically[0 s, start] once[1, 2 min] n < 1",
            ("historically", (0, INF), ("once", (1, 120), "<")),
        ),
        ("eventually[1 s, end] `odd name` ≤ 3 mm", ("eventually", (1, INF), "<=")),
    ],
)
def test_what_binds_how(text, wanted):
    if wanted is None:
        with pytest.raises(InputError):
            parse(text)
    else:
        assert shape(parse(text)) == wanted


@pytest.mark.parametrize(
    "text, right",
    [
        ("tool_error < 5 mm", 5e-3),
        ("p_a1 - p_b1 < 200 bar", 2e7),
        ("abs(dq_1) < 10 deg/s", 0.17453292519943295),
        ("abs(q_1) < 10 °", 0.17453292519943295),
        ("p_a1 < 2e7", 2e7),
        ("n < 5 %", 0.05),
        ("f_1 * ds < 3 kW", 3000.0),
        ("f_1 * tool_error < 350 N m", 350.0),
        ("ds / s < 2 1/s", 2.0),
        ("s < 5mm", 5e-3),
        ("sqrt(s*s + tool_error*tool_error) < 80 cm", 0.8),
        ("max(s, tool_error, 3 mm) < 1 m", 1.0),
        ("p_a1 * s * s / f_1 < 3", 3.0),
        ("ds < 5 mm/s", 5e-3),
        ("q_1 < 6", 6.0),
        ("q_1 < 20 rad", 20.0),
        ("2 * s < 5 m", 5.0),
    ],
)
def test_numbers_are_read_in_the_unit_of_their_signals(text, right):
    made = Units(text, TABLE).formula(parse(text))
    assert made.right.value == pytest.approx(right, rel=1e-15)


def test_a_plain_number_is_shown_with_the_unit_it_takes_where_a_sentence_can_have_it():
    """A sign that no sentence has, such as that of degrees Celsius, refuses no plain number."""
    for text, unit, shown in (
        ("always (x < 3)", "m/s", "always (x < 3 m/s)"),
        ("always (0.5 * x < 3)", "N m", "always (0.5 * x < 3 N m)"),
        ("always (x < 3)", "°C", "always (x < 3)"),
        ("always (x < 3)", "1", "always (x < 3)"),
    ):
        assert read(text, {"x": unit}).shown == shown


def test_units_of_products_are_worked_out():
    assert multiplied("Pa", "m^2") == "N" and multiplied("N", "m/s") == "W"
    assert multiplied("m", "s", -1) == "m/s" and multiplied("m", "m", -1) == "1"
    assert multiplied("m", "m") == "m^2" and root("m^2") == "m" and alike("rad/s", "1/s")
    assert alike("N m", "J") and not alike("rad", "1") and not alike("Pa", "N")
    assert multiplied("parsnips", "m") is None


@pytest.mark.parametrize(
    "text, column, words, mend",
    [
        (
            "always (tool_eror < 5 mm)",
            9,
            "there is no signal 'tool_eror'",
            "did you mean tool_error",
        ),
        ("always (tool_error < 5 bar)", 22, "a length was expected, in m", "80 mm"),
        ("always (p_a1 + q_1 > 0)", 16, "a pressure was expected, in Pa", "one kind"),
        ("always (f_1 * s < 3 bar)", 19, "was expected", ""),
        ("always (sqrt(s) < 3 m)", 19, "was expected", ""),
        ("always (s < 3 parsnip)", 13, "the unit of '3 parsnip' is not known", "80 mm"),
        ("always (1 < 2)", 9, "no signal", "compare a signal"),
        ("always (s < 10/2)", 13, "10/2 has no unit", "5 m"),
        ("always (p_a1 < -(2*3e5))", 18, "2*3e5 has no unit", "600000 Pa"),
        ("always (q_1 < 20)", 15, "which is 1146 deg", "write 20 deg, or 20 rad"),
        ("always (n > 2 and n < 1)", 19, "n < 1 contradicts n > 2", "exchange"),
        ("always (s < 1 m and n < 3 and 1000 mm < s)", 31, "contradicts s < 1 m", "or"),
        ("always n >= 2 and always (n <= 1)", 27, "contradicts n >= 2", ""),
        ("always (n > 2 and n <= 2)", 19, "n <= 2 contradicts n > 2", ""),
        ("always (n >= 2 and n < 2)", 20, "n < 2 contradicts n >= 2", ""),
        ("always (n < 2 and 3 < n)", 19, "3 < n contradicts n < 2", ""),
        ("always (n < 1 and (s < 3 m and n > 1))", 32, "n > 1 contradicts n < 1", ""),
        ("always (n < 5 and n < 1 and n > 4)", 29, "n > 4 contradicts n < 1", ""),
        ("always (s < 1 m or (n > 2 and n < 2))", 31, "n < 2 contradicts n > 2", ""),
        ("eventually[5 s, 2 s] n < 1", 11, "the interval is empty", "write [2 s, 5 s]"),
        ("eventually[5 m, 6 m] n < 1", 12, "a time was expected", "5 ms"),
        ("eventually[-1 s, 6 s] n < 1", 12, "expected a time", "[2 s, 30 s]"),
        ("eventually[1 s] n < 1", 15, "expected ','", "write , here"),
        ("eventually[1 s, start] n < 1", 17, "expected a time or end", ""),
        ("n", 1, "'n' is a quantity", "compare it"),
        ("n and n < 1", 1, "what stands before and", "compare it"),
        ("always (n < 1", 14, "expected ')'", "write ) here"),
        ("always n < 1)", 13, "expected an operator or the end", "join formulas"),
        ("n < 1 until n < 2 until n < 3", 19, "beside each other", "brackets"),
        ("(n < 1) < 2", 9, "a side of a comparison", "out of the brackets"),
        ("n + (n < 1) < 2", 5, "has to be a quantity", "comparison"),
        ("n == 1", 3, "equality", "abs(a - b)"),
        ("n < 1 && n > 0", 7, "'&&'", "write and"),
        ("n^2 < 1", 2, "powers", "x*x"),
        ("min(n) < 1", 1, "min takes two quantities or more, got 1", ""),
        ("abs(n, n) < 1", 1, "abs takes one quantity, got 2", ""),
        ("sin(n) < 1", 1, "no function 'sin'", "abs, sqrt, min, max"),
        ("n < 1 # note", 7, "'#' cannot be read", "use names"),
        ("n < 2 n", 5, "unit of '2 n' is not known", ""),
        ("n <", 4, "the end of the sentence", "write a signal"),
        ("", None, "expected a sentence", "text"),
        ("   ", None, "expected a sentence", "text"),
    ],
)
def test_what_is_refused_names_the_column_and_the_way_out(text, column, words, mend):
    with pytest.raises(InputError) as caught:
        read(text, TABLE)
    error = caught.value
    assert words in error.message and mend in error.mend, str(error)
    if column is not None:
        assert error.message.startswith(f"column {column}"), str(error)


HOSTILE = {
    "a hundred kilobytes": "n < 1 and " * 10_000 + "n < 1",
    "ten thousand brackets": "(" * 10_000 + "n < 1" + ")" * 10_000,
    "brackets that end": "(" * (LONGEST - 10) + "n < 1",
    "nots": "not " * (LONGEST // 4 - 10) + "n < 1",
    "minuses": "-" * (LONGEST - 10) + "n < 1",
    "always": "always " * (LONGEST // 7 - 10) + "n < 1",
    "implies": "n < 1 implies " * (LONGEST // 14 - 5) + "n < 1",
    "functions": "abs(" * (LONGEST // 4 - 10) + "n",
    "intervals": "always[" * 1000,
    "a number that is too large": "always (n < " + "9" * 400 + ")",
    "an instant that is too late": "always[0 s, " + "9" * 400 + " s] (n < 1)",
    "control characters": "always\0(n < 1)",
    "a name that is a book": "always (" + "n" * 9000 + " < 1)",
    "code": "__import__('os').system('true') < 1",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends_in_a_sentence(name):
    with pytest.raises(InputError) as caught:
        read(HOSTILE[name], TABLE)
    assert caught.value.mend and len(str(caught.value)) < 2000


def test_what_is_long_but_flat_is_read():
    for text in ("n < 1 and " * 900 + "always n < 1", "always (" + "n + " * 2000 + "n < 1)"):
        assert read(text, TABLE).names == ["n"]
    deep = read("always " + "(" * (DEEPEST - 2) + "n < 1" + ")" * (DEEPEST - 2), TABLE)
    assert deep.names == ["n"]


def test_conditions_are_found_however_deep_they_lie():
    """Of implications beside, inside and below each other, in the order of the sentence; `not` alone makes none."""
    found = lambda text: [shape(part) for part in S.conditions(parse(text))]
    assert found("n < 1 implies s > 2 mm") == ["<"]
    assert found("always (n <= 1 implies eventually[0 s, 1 s] (s > 2 mm implies n >= 3))") == [
        "<=",
        ">",
    ]
    assert found("always (n < 1 and (s > 2 mm implies n >= 3))") == [">"]
    assert found("(n < 1 implies n > 2) until (s >= 2 mm implies n < 3)") == ["<", ">="]
    assert found("always not n < 1") == [] and found("n < 1 or s > 2 mm") == []


def test_brackets_that_are_closed_again_are_no_depth():
    beside = "(n < 1) and " * 60
    deep = lambda levels: "(" * levels + "n < 1" + ")" * levels
    assert read(f"always ({beside}{deep(DEEPEST - 4)})", TABLE).names == ["n"]
    with pytest.raises(InputError, match="levels deep"):
        read(f"always ({beside}{deep(DEEPEST + 1)})", TABLE)


def test_text_at_random_is_read_or_refused():
    """Words of the language in any order: an InputError or a sentence, nothing else."""
    rng = random.Random(3)
    words = "always eventually until since not and or implies ( ) [ ] , < <= > + - * / n s p_a1 5 mm 2 s 1e3 abs max %".split()
    words += 8 * ["n", "<", "1"] + ["5 mm", "[0 s, 2 s]", "200 bar", "1/s", "`", "°", "·"]
    read_ones = 0
    for _ in range(4000):
        text = "always " + " ".join(rng.choices(words, k=rng.randint(1, 14)))
        try:
            read(text, TABLE)
            read_ones += 1
        except InputError as why:
            assert why.mend or why.message
    assert read_ones


@pytest.mark.parametrize(
    "text",
    (
        "always (n > 1 and n < 2)",
        "always (n >= 1 and n <= 1)",
        "always[1 s, 2 s] (n < 1) and always[3 s, 4 s] (n > 2)",
        "eventually (n < 1) and eventually (n > 2)",
        "always (n < 1 or n > 2)",
        "always (n < 1 and (n > 2 or s < 1 m))",
        "always (n + s / 1 m < 1 and n > 2)",
        "always (n > 1 and n > 2)",
        "always (n >= 2 and n <= 2 and n < 3)",
        "always (n < 1 and s > 2 m)",
        "always (n > s / 1 m and n < 2)",
    ),
)
def test_bounds_that_can_be_met_are_no_contradiction(text):
    read(text, {"n": "1", "s": "m"})
