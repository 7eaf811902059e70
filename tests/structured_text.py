"""A reader of structured text, as far as exported laws go: the block as a Python object whose call is one sample."""

import math
import re

FUNCTIONS = {
    "SEL": lambda g, a, b: b if g else a,
    "SQRT": math.sqrt,
    "SIN": math.sin,
    "COS": math.cos,
    "TAN": math.tan,
    "ASIN": math.asin,
    "ACOS": math.acos,
    "ATAN": math.atan,
    "EXP": math.exp,
    "LN": math.log,
    "EXPT": math.pow,
    "ABS": abs,
    "TRUNC": math.trunc,
    "DINT_TO_LREAL": float,
    "MIN": min,
    "MAX": max,
    "LIMIT": lambda low, x, high: max(low, min(x, high)),
}
TOKEN = re.compile(
    r"\s*(:=|<>|<=|>=|[-+*/()<>=,;:]|[A-Za-z_]\w*|\d+\.\d+(?:E[-+]?\d+)?|\d+)", re.ASCII
)
LEVELS = (("OR",), ("AND",), ("=", "<>", "<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
ACTS = {
    "OR": lambda a, b: a or b,
    "AND": lambda a, b: a and b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def tokens(text):
    """Words, numbers and signs; comments are left out."""
    text = re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL).strip()
    at, found = 0, []
    while at < len(text):
        m = TOKEN.match(text, at)
        assert m, f"no structured text: {text[at : at + 40]!r}"
        found.append(m[1])
        at = m.end()
    return found


class Block:
    """A function block: `variables`, and a call with the inputs' values for one sample."""

    def __init__(self, text):
        self.left = tokens(text)
        self.variables, self.inputs, self.outputs, self.constants = {}, [], [], set()
        assert self.take() == "FUNCTION_BLOCK"
        self.name = self.take()
        while self.left[0].startswith("VAR"):
            self.declarations()
        self.body = self.left

    def take(self, expected=None):
        word = self.left.pop(0)
        assert expected in (None, word), f"expected {expected}, found {word}"
        return word

    def declarations(self):
        kind = self.take()
        if self.left[0] == "CONSTANT":
            kind = self.take()
        while self.left[0] != "END_VAR":
            name = self.take()
            assert name not in self.variables, f"{name} is declared twice"
            self.take(":")
            of = self.take()
            assert of in ("LREAL", "BOOL")
            self.variables[name] = 0.0 if of == "LREAL" else False
            if self.left[0] == ":=":
                self.take()
                self.variables[name] = self.expression(0)
            self.take(";")
            if kind == "CONSTANT":
                self.constants.add(name)
            {"VAR_INPUT": self.inputs, "VAR_OUTPUT": self.outputs}.get(kind, []).append(name)
        self.take("END_VAR")

    def __call__(self, *values):
        self.variables |= dict(zip(self.inputs, values, strict=True))
        self.left = list(self.body)
        self.statements(True, "END_FUNCTION_BLOCK")
        assert not self.left
        return [self.variables[name] for name in self.outputs]

    def statements(self, done, end):
        while self.left[0] != end:
            if self.left[0] == "IF":
                self.take()
                condition = self.expression(0)
                self.take("THEN")
                self.statements(done and condition, "END_IF")
                self.take(";")
                continue
            name = self.take()
            assert name in self.variables and name not in self.constants, name
            self.take(":=")
            value = self.expression(0)
            self.take(";")
            if done:
                self.variables[name] = value
        self.take(end)

    def expression(self, level):
        if level == len(LEVELS):
            return self.signed()
        value = self.expression(level + 1)
        while self.left and self.left[0] in LEVELS[level]:
            act = ACTS[self.take()]
            value = act(value, self.expression(level + 1))
        return value

    def signed(self):
        word = self.take()
        if word == "-":
            return -self.signed()
        if word == "NOT":
            return not self.signed()
        if word == "(":
            value = self.expression(0)
            self.take(")")
            return value
        if word in FUNCTIONS:
            return FUNCTIONS[word](*self.arguments())
        if word in ("TRUE", "FALSE"):
            return word == "TRUE"
        return float(word) if word[0].isdigit() else self.variables[word]

    def arguments(self):
        self.take("(")
        found = [self.expression(0)]
        while self.left[0] == ",":
            self.take()
            found.append(self.expression(0))
        self.take(")")
        return found
