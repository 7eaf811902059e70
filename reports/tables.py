"""Tables as plain lists of text for the templates. Every number leaves here with its unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.contract.units import RAISED, format_quantity, pretty
from workbench.verification.verdict import (
    STRENGTHS,
    Assumption,
    Verdict,
    answers_stability,
    lost_for_information,
)

from .signals import actuator
from .style import clean

TAGS = {
    "V": "verbatim from the source",
    "D": "derived by arithmetic",
    "I": "inferred",
    "A": "our assumption",
}


def typeset(number: str) -> str:
    """'-1.2e-05' as people write it: '−1.2·10⁻⁵'."""
    number = re.sub(
        r"(?<=\d)e([+-]?)0*(\d+)\b",
        lambda m: "·10" + (m[1].replace("+", "") + m[2]).translate(RAISED),
        number,
    )
    return re.sub(r"(?<![\w⁰-⁹])-(?=[\d.∞i])", "−", number)


def unit_words(text: str) -> str:
    """'m³/(s*Pa^0.5)' as people write it: 'm³/(s √Pa)'."""
    return re.sub(r"([A-Za-z]+)\^0\.5", "√\\1", text).replace("*", "\u00a0")


def quantity(value: float | None, unit: str = "1", digits: int = 4) -> str:
    """'185 bar'; '–' when there is no number."""
    shown = format_quantity(None if value is None else float(value), unit or "1", digits)
    return unit_words(typeset(shown))


def percent(share: float, digits: int = 3) -> str:
    """'5.18 %'; what is not all never reads 100 %."""
    text = f"{100 * share:.{digits}g}"
    return f"{'more than 99.9' if share < 1 and float(text) == 100 else typeset(text)}\u00a0%"


def range_of(low: float, high: float, unit: str) -> str:
    """'± 0.5 mm', '1 … 3 bar', 'at least 1 bar'."""
    if np.isfinite(low) and np.isfinite(high):
        return (
            f"± {quantity(high, unit)}"
            if low == -high
            else f"{quantity(low, unit)} … {quantity(high, unit)}"
        )
    return (
        f"at most {quantity(high, unit)}"
        if np.isfinite(high)
        else f"at least {quantity(low, unit)}"
    )


def ratio(unit: str) -> str:
    """'m/m' as '1': the unit of a gain, cancelled."""
    top, _, below = unit.partition("/")
    return "1" if top == below else pretty(unit)


def wrapped(text: object, most: int = 2000) -> str:
    """Text that sets well: number and unit stay together, words too long for a line may be broken."""
    text = re.sub(r"(?<=\d) (?=[a-zA-Zµ%°]{1,4}(?![\w]))", "\u00a0", clean(text, most))
    text = re.sub(r"(\u00a0[a-zA-Zµ]{1,4}/)(?=\w)", "\\1\u2060", text)  # no line ends behind rad/
    return re.sub(r"\S{25,}", lambda m: re.sub(r"([._/\-]|\S{18})", "\\1\u200b", m[0]), text)


def told(text: str) -> str:
    """Words with numbers in them, these as people write them."""
    return wrapped(typeset(clean(text)))


def shortened(text: str, most: int = 220) -> str:
    """The beginning, up to a word's end, of what there is no room for; a word longer than that is cut."""
    text = clean(text)
    if len(text) <= most:
        return text
    words = text[: most - 1].rpartition(" ")[0].rstrip(" ·,;:–")
    return f"{words} …" if words else text[: most - 1] + "…"


def verdict_rows(verdicts: Iterable[Verdict]) -> list[dict]:
    """Counted claims first, in their order."""
    rows = [
        {
            "claim": wrapped(v.claim),
            "word": v.word,
            "strength": v.strength or "–",
            "counted": v.counted,
            "margin": quantity(v.margin, v.unit),
            "limit": "" if v.limit is None else quantity(v.limit, v.unit),
            "worst": told(v.worst),
            "short": told(shortened(v.worst)),
            "source": wrapped(v.source),
        }
        for v in verdicts
    ]
    return [r for r in rows if r["counted"]] + [r for r in rows if not r["counted"]]


def answer(verdicts: Iterable[Verdict]) -> dict:
    """The answer in a sentence: which counted claims hold, are violated, are undecided."""
    counted = [v for v in verdicts if v.counted]
    if not counted:
        return _said("undecided", "No answer.", "No claim counts, so nothing was decided.")
    words = ("holds", "violated", "undecided")
    by = {word: [v for v in counted if v.word == word] for word in words}
    if by["violated"]:
        return _said("violated", "No.", _failing(by))
    if by["undecided"]:
        return _said("undecided", "Not decided.", _failing(by))
    if answers_stability(counted):
        return _said("holds", _yes(counted), _holding(counted))
    lost = lost_for_information(verdicts)
    unasked = "Stability was not asked: none of the counted claims is about it."
    if lost:
        unasked = f"Stability does not count in this file, and {lost} is violated."
    return _said("holds", "The requirements hold.", f"{unasked} {_holding(counted)}")


def _yes(counted: list[Verdict]) -> str:
    """Yes, and how long where nothing but tubes that end with the run answers it."""
    stable = [v for v in counted if answers_stability([v])]
    ending = all(v.key == "tube" and v.data.get("ends") == "horizon" for v in stable)
    return "Yes, up to the end of the run." if ending else "Yes."


def _said(word: str, lead: str, text: str) -> dict:
    return {"word": word, "lead": lead, "text": wrapped(text)}


def _failing(by: dict[str, list[Verdict]]) -> str:
    """'2 of 9 counted claims are violated: …; 1 is undecided: …. The other 6 hold.'"""
    violated = by["violated"]
    undecided = by["undecided"]
    held = by["holds"]
    counted = sum(map(len, by.values()))
    parts = []
    if violated:
        parts.append(f"{_count(violated, counted)} violated: {_listed(violated)}")
    if undecided:
        many = _few(undecided) if violated else _count(undecided, counted)
        parts.append(f"{many} undecided: {_listed(undecided)}")
    text = "; ".join(parts) + "."
    if not held:
        return text
    return f"{text} The other {len(held)} {'hold' if len(held) > 1 else 'holds'}."


def _holding(counted: list[Verdict]) -> str:
    """'All 9 counted claims hold; the weakest rests on sampled runs.'"""
    weakest = max((v.strength for v in counted), key=STRENGTHS.index)
    if len(counted) == 1:
        return f"The one counted claim holds; {_alone[weakest]}."
    return f"All {len(counted)} counted claims hold; {_together[weakest]}."


_together = {
    "proof": "all are proven",
    "numerical": "the weakest rests on floating-point algebra",
    "sampled": "the weakest rests on sampled runs",
    "estimated": "the weakest is an estimate from sampled runs, no guarantee",
}
_alone = {
    "proof": "it is proven",
    "numerical": "it rests on floating-point algebra",
    "sampled": "it rests on sampled runs",
    "estimated": "it is an estimate from sampled runs, no guarantee",
}


def _count(some, n):
    return f"{len(some)} of {n} counted claims {'is' if len(some) == 1 else 'are'}"


def _few(some):
    return f"{len(some)} {'is' if len(some) == 1 else 'are'}"


def _listed(verdicts):
    shown = [v.claim for v in verdicts[:3]]
    return ", ".join(shown) + (f" and {len(verdicts) - 3} more" if len(verdicts) > 3 else "")


def assumption_rows(verdicts: Iterable[Verdict]) -> list[dict]:
    """Every hypothesis once, those not met first; also those a violated claim lists in its data."""
    found: dict = {}
    for v in verdicts:
        for a in (
            *v.assumptions,
            *(Assumption(**listed) for listed in v.data.get("assumptions", ())),
        ):
            status = {True: "met", False: "not met", None: "not known"}[a.holds]
            found.setdefault(
                (a.text, a.holds, a.margin),
                {
                    "text": wrapped(a.text),
                    "status": status,
                    "margin": quantity(a.margin, a.unit),
                    "worst": told(a.worst),
                    "source": wrapped(a.source),
                },
            )
    return sorted(found.values(), key=lambda r: ("not met", "not known", "met").index(r["status"]))


def statistics_rows(statistics: Mapping) -> list[list[str]]:
    """name → (value, unit)."""
    return [[wrapped(name), quantity(value, unit)] for name, (value, unit) in statistics.items()]


def energies_apart(statistics: Mapping, drawn: Iterable[str]) -> tuple[dict, dict]:
    """(the others, those of the energy account that a chapter of its own shows)."""
    own = (
        {name: v for name, v in statistics.items() if name.startswith("energy ")}
        if "energy" in drawn
        else {}
    )
    bars = [name for name in own if name.startswith("energy by ")]  # drawn with their numbers
    return (
        {name: v for name, v in statistics.items() if name not in own},
        {name: v for name, v in own.items() if name not in bars},
    )


def margin_rows(
    margins: Iterable[Mapping], plant: object = None, sensitivity: Mapping | None = None
) -> list[list[str]]:
    """Per actuator: gains (factors; the upper one in dB too), phase margin (rad; shown in °), delay, disk margin, peaks of |S|
    and |T|."""

    def cell(row, key, show):
        value = row.get(key)
        if value is None:
            return "–"
        return "∞" if np.isinf(value) else show(value)

    def gain(row):
        up = {"gain": row.get("gain_up"), **row}
        text = cell(
            up,
            "gain",
            lambda k: f"× {quantity(k, '1', 3)} ({quantity(20 * np.log10(k), '1', 3)} dB)",
        )
        down = row.get("gain_down")
        return text if down is None else f"× {quantity(down, '1', 3)} … {text.removeprefix('× ')}"

    rows = []
    for row in margins:
        peaks = (sensitivity or {}).get(row.get("actuator", ""), {})
        rows.append(
            [
                wrapped(actuator(plant, row.get("actuator", ""))),
                gain(row),
                cell(row, "phase", lambda φ: quantity(np.degrees(φ), "1", 3) + "°"),
                cell(row, "delay", lambda T: quantity(T, "s", 3)),
                cell(row, "disk", lambda α: quantity(α, "1", 3)),
                *(cell(peaks, key, lambda M: quantity(M, "1", 3)) for key in ("M_S", "M_T")),
            ]
        )
    return rows


# ---- parameters ----
