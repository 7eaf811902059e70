"""The text of a function or class of a user's, by which a record of a run tells it from another."""

from __future__ import annotations

import hashlib
import inspect
import tokenize


def source_text(of: object) -> str:
    """What Python knows as its text; "" where it knows none: typed at a prompt, or its file is another by now."""
    try:
        return inspect.getsource(of)  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return ""


def source_hash(of: object) -> str:
    """Sixteen hexadecimal digits of the text, or "unknown"."""
    text = source_text(of)
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else "unknown"
