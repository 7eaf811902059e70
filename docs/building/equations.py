"""Equations of docstrings and pages, written in plain characters, as MathML: browsers set it without script and without network.

    m v̇  = A p_L − b v                     (1)
    Q_L  = k u √(p_s − sgn(u) p_L)         load flow

A line is an equation, columns stand two spaces or more apart: the equation, further ones, and last a remark or its number. Marks
above letters, indices (`p_L`, `Σ_{k<N}`), powers (`x²`, `Φᵀ`, `x^n`) and roots are set as such; everything else stays as it is
written, a fraction with its stroke. A block that is mostly no equations is left as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import escape

RELATIONS = "=≤≥<>∈⇔⇒→⪰⪯≻≺≈∝:"
POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ⅔ⁿ", ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "−", "T", "2/3", "n"]))  # fmt: skip
MARKS = {"\u0307": ".", "\u0308": "..", "\u0304": "‾", "\u0302": "^", "\u0303": "~"}
WORDS = 0.4  # of an equation's characters: more is a sentence
TOKEN = re.compile(
    r"(?P<code>`[^`]+`)|(?P<number>\d+(?:[.,]\d+)*)|(?P<word>(?:[a-z]{3,}|up|to|of|or|at|by|is|on|if)(?![\w\u0300-\u036f]))|(?P<space>\s+)"
    r"|(?P<letter>[^\W\d_][\u0300-\u036f]*[*′']?)|(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ⅔ⁿ]+)|(?P<other>.)"
)
PLAIN = r"[^\W_⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ⅔ⁿ]"
INDEX = re.compile(rf"\{{[^{{}}]*\}}|{PLAIN}+(?:,{PLAIN}+)*|[⁺⁻]")
NAMES = {
    *("min max lim sup inf exp sin cos tan sgn sign sat clip log det rank diag trace".split()),
    "atan",
    "slew",
}
CLOSING = {"(": ")", "|": "|", "[": "]", "{": "}"}


def mathml(text: str) -> str | None:
    """A block of equations as MathML; None where hardly a line of it is an equation."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_is_equation(line.strip()) for line in lines]
    if 2 * sum(found) <= len(lines):
        return None
    rows = "".join(_row(line.strip()) if one else _said(line) for line, one in zip(lines, found))
    return f'<math displaystyle="true" class="equations"><mtable>{rows}</mtable></math>'


def _is_equation(line: str) -> bool:
    """Whether a line has a relation, and is not mostly words."""
    first = _columns(line)[0]
    words = [w for w in re.findall(r"(?<![\w`])[a-z]{3,}(?![\w`])", first) if w not in NAMES]
    return any(mark in first for mark in RELATIONS) and sum(map(len, words)) < WORDS * len(first)


def _columns(line: str) -> list[str]:
    """Columns of a line; what a relation was moved away by, so that they stand below each other, is none."""
    return re.split(r" {2,}", re.sub(rf" +(?=[{RELATIONS.replace(':', '')}] )", " ", line, count=1))


def _said(line: str) -> str:
    """A line of words between equations; one that stands further in goes on with the remark above it."""
    cell = f"<mtext>{escape(line.strip().replace('`', ''))}</mtext>"
    if line.startswith(" " * 8):
        return f'<mtr><mtd></mtd><mtd><mspace width="4em"/>{cell}</mtd></mtr>'
    return f'<mtr><mtd columnspan="2" class="said">{cell}</mtd></mtr>'


def _row(line: str) -> str:
    """Cells of a line: left of its first relation, from there on, and the remark."""
    pieces = _columns(line)
    kept = [piece for i, piece in enumerate(pieces) if not i or not _is_remark(piece)]
    left, right = _parted(kept[0])
    further = "".join(f'<mspace width="1.5em"/>{_set(piece)}' for piece in kept[1:])
    said = "".join(f'<mspace width="2em"/>{_remark(p)}' for p in pieces[1:] if p not in kept)
    return f"<mtr><mtd>{_set(left)}</mtd><mtd>{_set(right)}{further}{said}</mtd></mtr>"


def _parted(piece: str) -> tuple[str, str]:
    """An equation cut before its first relation outside of brackets."""
    deep = 0
    for i, c in enumerate(piece):
        deep += (c in "([{") - (c in ")]}")
        if not deep and c in RELATIONS and i and (c != ":" or piece[i + 1 : i + 2] == " "):
            return piece[:i], piece[i:]
    return "", piece


def _is_remark(piece: str) -> bool:
    """Whether a column is words or the number of an equation: without a relation, or mostly words."""
    words = re.findall(r"[a-z]{3,}", re.sub(r"_\w+", "", piece))
    plain = not any(mark in piece for mark in RELATIONS.replace(":", ""))
    return plain or sum(map(len, words)) > 0.5 * len(piece)


def _remark(piece: str) -> str:
    return f'<mtext class="remark">{escape(piece.replace("`", ""))}</mtext>'


def _set(text: str) -> str:
    """A formula as a row of MathML."""
    return "<mrow>" + "".join(_atoms(text)) + "</mrow>"


def _atoms(text: str) -> Iterator[str]:
    at, after = 0, ""  # after: kind of what was set before
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found is not None and found.lastgroup is not None
        kind, token = found.lastgroup, found[0]
        at = found.end()
        if kind == "space":
            nothing = after == "operator" or re.match(r"[^\w(√|{\[`]", text[at : at + 1])
            yield "" if nothing else f'<mspace width="{_gap(after)}"/>'
            continue
        if token == "√":
            base, at = _under(text, at)
            kind = "letter"
        else:
            base = _base(kind, token)
        base, at = _dressed(base, text, at)
        after = "operator" if kind == "other" and token not in ")]}|" else kind
        yield base


def _gap(after: str) -> str:
    return "0.3em" if after == "word" else "0.17em"


def _base(kind: str, token: str) -> str:
    if kind == "code":
        return f'<mtext class="code">{escape(token.strip("`"))}</mtext>'
    if kind == "number":
        return f"<mn>{token}</mn>"
    if kind == "word":
        tag = "mi" if token in NAMES else "mtext"
        return f"<{tag}>{token}</{tag}>"
    if kind == "letter":
        return _letter(token)
    if kind == "power":
        return f"<msup><mrow/>{_power(token)}</msup>"
    room = ' lspace="0" rspace="0"' if token in "/|" else ""
    return f'<mo stretchy="false"{room}>{escape(token)}</mo>'


def _letter(token: str) -> str:
    """A letter with its marks."""
    first, *marks = unicodedata.normalize("NFD", token)
    star = "".join(m for m in marks if m in "*′'")
    base = f"<mi>{escape(first)}</mi>"
    for mark in marks:
        if mark in MARKS:
            base = f'<mover>{base}<mo stretchy="false">{MARKS[mark]}</mo></mover>'
    return f"<msup>{base}<mo>{star.replace(chr(39), '′')}</mo></msup>" if star else base


def _under(text: str, at: int) -> tuple[str, int]:
    """(a root with what is under it, where to go on): a bracket, a function with its bracket, or one letter or number."""
    called = re.match(r"[a-z]+(?=\()", text[at:])
    if called:
        end = _closes(text, at + called.end(), ")")
        return f"<msqrt>{_set(text[at : end + 1])}</msqrt>", end + 1
    closing = CLOSING.get(text[at : at + 1])
    if closing is None:
        found = TOKEN.match(text, at)
        assert found is not None and found.lastgroup is not None
        inner, at = _dressed(_base(found.lastgroup, found[0]), text, found.end())
        return f"<msqrt>{inner}</msqrt>", at
    end = _closes(text, at, closing)
    inner = text[at + 1 : end] if closing == ")" else text[at : end + 1]
    return f"<msqrt>{_set(inner)}</msqrt>", end + 1


def _closes(text: str, at: int, closing: str) -> int:
    """Where the bracket at `at` closes; the last character where it does not."""
    if closing == "|":
        return max(text.find("|", at + 1), at)
    deep = 0
    for i in range(at, len(text)):
        deep += (text[i] == text[at]) - (text[i] == closing)
        if not deep:
            return i
    return len(text) - 1


def _dressed(base: str, text: str, at: int) -> tuple[str, int]:
    """(the base with index and power, where to go on)."""
    below = above = ""
    while at < len(text):
        if text[at] == "_" and not below and (found := INDEX.match(text, at + 1)):
            below, at = _index(found[0]), found.end()
        elif text[at] in POWERS and not above:
            end = at + len(re.match(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ⅔ⁿ]+", text[at:])[0])  # type: ignore[index]
            above, at = _power(text[at:end]), end
        elif text[at] == "*" and below and not above:
            above, at = "<mo>*</mo>", at + 1
        elif text[at] == "^" and not above and (found := INDEX.match(text, at + 1)):
            above, at = _index(found[0]), found.end()
        else:
            break
    if below and above:
        return f"<msubsup>{base}{below}{above}</msubsup>", at
    if below:
        return f"<msub>{base}{below}</msub>", at
    return (f"<msup>{base}{above}</msup>" if above else base), at


def _index(text: str) -> str:
    """An index: a formula in braces, a letter, or a name that stands upright."""
    if text.startswith("{"):
        return _set(text[1:-1])
    if text.isdigit():
        return f"<mn>{text}</mn>"
    return f"<mi>{text}</mi>" if len(text) == 1 else f'<mi mathvariant="normal">{text}</mi>'


def _power(text: str) -> str:
    said = "".join(POWERS[c] for c in text)
    if said.isdigit():
        return f"<mn>{said}</mn>"
    return f'<mi mathvariant="normal">{said}</mi>' if said.isalpha() else f"<mn>{said}</mn>"
