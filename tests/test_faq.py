"""Questions and refusals: every sentence that the page quotes is one that the code prints today."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "help" / "faq.md").read_text("utf-8")
ASIDE = {"not refuted", "holds", "Is the loop stable?"}  # words of the page's own
QUOTED = [text for text in re.findall("“([^”]+)”", PAGE) if text not in ASIDE]


@cache
def printed():
    """Every text of the code, numbers and names in it left out; adjacent literals are one."""
    found = []
    for folder in ("workbench", "plants", "controllers"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                found.append(_text(node))
    return "\n".join(text for text in found if len(text) > 8)


def _text(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@pytest.mark.quick
def test_every_quoted_sentence_is_printed_by_the_code():
    assert len(QUOTED) > 20
    assert [text for text in QUOTED if text not in printed()] == []
